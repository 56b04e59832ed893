#include "shm/ledger_view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/process.h"

/* What helps against a damaged object: nothing in it is needed, the journal has every job. */
#define REMEDY "stop all pinion processes of this directory, rm /dev/shm%s and start again"

static enum status check_arena(const struct arena_desc *a, const char *name)
{
    bool kind = a->kind == ARENA_HUGETLB || a->kind == ARENA_POSIX;
    bool page = a->page >= LEDGER_ALIGN && (a->page & (a->page - 1)) == 0;
    bool chunk = page && a->chunk >= a->page && (a->chunk & (a->chunk - 1)) == 0 &&
                 a->chunk <= ARENA_MAX_CHUNK;
    bool bytes = chunk && a->bytes != 0 && a->bytes % a->page == 0 && a->bytes <= INT64_MAX;
    if (!kind || !bytes || a->reserved != 0)
        return fail(ST_INPUT,
                    "ledger %s: arena of kind %" PRIu32 ", %" PRIu64 " bytes, page %" PRIu64
                    ", chunk %" PRIu64 ": damaged; " REMEDY,
                    name, a->kind, a->bytes, a->page, a->chunk, name);
    if (memchr(a->name, '\0', sizeof a->name) == NULL)
        return fail(ST_INPUT, "ledger %s: arena name without an end: damaged; " REMEDY, name, name);
    return ST_OK;
}

static enum status check_counts(const struct ledger_header *h, uint64_t bytes, const char *name)
{
    const char *wrong = NULL;
    uint64_t value = 0;
    if (h->client_count == 0 || h->client_count > LEDGER_MAX_CLIENTS) {
        wrong = "client count", value = h->client_count;
    } else if (h->slot_count == 0 || h->slot_count > LEDGER_MAX_SLOTS) {
        wrong = "slot count", value = h->slot_count;
    } else if (h->header_bytes != LEDGER_HEADER_BYTES) {
        wrong = "header size", value = h->header_bytes;
    } else if (h->client_bytes != LEDGER_CLIENT_BYTES) {
        wrong = "client size", value = h->client_bytes;
    } else if (h->slot_bytes != LEDGER_SLOT_BYTES) {
        wrong = "slot size", value = h->slot_bytes;
    } else if (h->clients_offset != LEDGER_HEADER_BYTES) {
        wrong = "client table's offset", value = h->clients_offset;
    } else if (h->slots_offset != ledger_slots_offset(h->client_count)) {
        wrong = "slot table's offset", value = h->slots_offset;
    } else if (h->total_bytes != ledger_total_bytes(h->client_count, h->slot_count)) {
        wrong = "total size", value = h->total_bytes;
    } else if (h->instance == 0) {
        wrong = "instance", value = 0;
    }
    if (wrong)
        return fail(ST_INPUT, "ledger %s: %s %" PRIu64 ": damaged; " REMEDY, name, wrong, value,
                    name);
    if (bytes != h->total_bytes)
        return fail(ST_INPUT,
                    "ledger %s: %" PRIu64 " bytes, its header says %" PRIu64 ": truncated; " REMEDY,
                    name, bytes, h->total_bytes, name);
    return ST_OK;
}

enum status ledger_header_check(const struct ledger_header *h, uint64_t bytes, const char *name)
{
    enum status st = check_counts(h, bytes, name);
    return st == ST_OK ? check_arena(&h->arena, name) : st;
}

static enum status check_file(const struct stat *s, const char *name)
{
    if (s->st_uid != geteuid())
        return fail(ST_RESOURCE,
                    "ledger %s: belongs to user %u, this process is user %u: run all pinion "
                    "processes of a directory as one user",
                    name, s->st_uid, geteuid());
    if (!S_ISREG(s->st_mode) || s->st_mode & (S_IRWXG | S_IRWXO))
        return fail(ST_RESOURCE,
                    "ledger %s: mode %04o, only its owner may have access: chmod 600 /dev/shm%s",
                    name, s->st_mode & 07777, name);
    if (s->st_size == 0)
        return fail(ST_NO_DAEMON,
                    "ledger %s: not complete: its coordinator is starting or died while it did; "
                    "start pinion-coord",
                    name);
    if (s->st_size < LEDGER_HEADER_BYTES || s->st_size > INT64_MAX / 2)
        return fail(ST_INPUT, "ledger %s: %lld bytes: truncated; " REMEDY, name,
                    (long long)s->st_size, name);
    return ST_OK;
}

static enum status check_magic(const struct ledger_header *h, const char *name)
{
    /* acquire: pairs with the release store of the magic in ledger_create, which came last */
    uint64_t magic = atomic_load_explicit(&h->magic, memory_order_acquire);
    if (magic == 0)
        return fail(ST_NO_DAEMON,
                    "ledger %s: not complete: its coordinator is starting or died while it did; "
                    "start pinion-coord",
                    name);
    if (magic != LEDGER_MAGIC)
        return fail(ST_INPUT, "ledger %s: magic %016" PRIx64 ": not a ledger; " REMEDY, name, magic,
                    name);
    return ST_OK;
}

static enum status check_origin(const struct ledger_header *h, const char *name)
{
    uint8_t boot[BOOT_ID_BYTES];
    enum status st = process_boot_id(boot);
    if (st != ST_OK)
        return st;
    if (memcmp(boot, h->boot_id, sizeof boot) != 0)
        return fail(ST_NO_DAEMON,
                    "ledger %s: left by an earlier boot of this machine; start pinion-coord", name);
    if (h->owner_uid != geteuid())
        return fail(ST_RESOURCE,
                    "ledger %s: its coordinator runs as user %u, this process as %u: run all "
                    "pinion processes of a directory as one user",
                    name, h->owner_uid, geteuid());
    return ST_OK;
}

/* Copies the plain fields: what is checked is then what is used, whatever another process does. */
static void copy_header(struct ledger_header *out, const struct ledger_header *h)
{
    static const size_t coord = offsetof(struct ledger_header, coord_pid);
    static const size_t rest = offsetof(struct ledger_header, slots_offset);
    static const size_t plain = offsetof(struct ledger_header, version);
    const char *from = (const char *)h;
    char *to = (char *)out;
    memcpy(to + plain, from + plain, coord - plain);
    memcpy(to + rest, from + rest, sizeof *h - rest);
}

static enum status check_view(struct ledger *l, bool *version_differs)
{
    struct ledger_header h;
    enum status st = check_magic(l->header, l->name);
    if (st != ST_OK)
        return st;
    copy_header(&h, l->header);
    st = check_origin(&h, l->name);
    if (st != ST_OK)
        return st;
    *version_differs = h.version != LEDGER_VERSION;
    if (*version_differs)
        return ST_OK;
    st = ledger_header_check(&h, l->bytes, l->name);
    if (st != ST_OK)
        return st;
    l->clients = h.client_count;
    l->slots = h.slot_count;
    l->client = (struct client_entry *)((char *)l->header + LEDGER_HEADER_BYTES);
    l->slot = (struct slot_entry *)((char *)l->header + ledger_slots_offset(l->clients));
    l->instance = h.instance;
    l->arena = h.arena;
    return ST_OK;
}

static enum status map_and_check(struct ledger *l, int fd, enum ledger_access access,
                                 bool *version_differs)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return fail(ST_RESOURCE, "ledger %s: %m", l->name);
    enum status st = check_file(&s, l->name);
    if (st != ST_OK)
        return st;
    int prot = access == LEDGER_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    l->bytes = (size_t)s.st_size;
    l->header = mmap(NULL, l->bytes, prot, MAP_SHARED, fd, 0);
    if (l->header == MAP_FAILED)
        return fail(ST_RESOURCE, "ledger %s: mapping %zu bytes: %m", l->name, l->bytes);
    l->writer = access == LEDGER_WRITE;
    st = check_view(l, version_differs);
    if (st != ST_OK)
        munmap(l->header, l->bytes);
    return st;
}

static enum status open_object(int *fd, const char *name, enum ledger_access access)
{
    *fd = shm_open(name, (access == LEDGER_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC, 0);
    if (*fd >= 0)
        return ST_OK;
    if (errno == ENOENT)
        return fail(ST_NO_DAEMON, "ledger %s: there is none: is pinion-coord running?", name);
    if (errno == EACCES)
        return fail(ST_RESOURCE,
                    "ledger %s: %m: it belongs to another user; run all pinion processes of a "
                    "directory as one user",
                    name);
    return fail(ST_RESOURCE, "ledger %s: %m", name);
}

enum status ledger_view_open(struct ledger **out, const char *name, enum ledger_access access,
                             bool *version_differs)
{
    int fd;
    enum status st = open_object(&fd, name, access);
    if (st != ST_OK)
        return st;
    struct ledger *l = calloc(1, sizeof *l);
    if (!l) {
        st = fail(ST_RESOURCE, "ledger %s: no memory", name);
        goto close_fd;
    }
    if (strlen(name) >= sizeof l->name) {
        st = fail(ST_INPUT, "ledger %s: the name is too long", name);
        goto free_view;
    }
    memcpy(l->name, name, strlen(name) + 1);
    st = map_and_check(l, fd, access, version_differs);
    if (st != ST_OK)
        goto free_view;
    *out = l;
    close(fd);
    return ST_OK;

free_view:
    free(l);
close_fd:
    close(fd);
    return st;
}
