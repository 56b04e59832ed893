#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/ledger_view.h"
#include "shm/ledger_write.h"
#include "shm/process.h"

/* Another user's object is not ours to remove, not even for root. */
static enum status remove_leftover(const char *name)
{
    struct stat s;
    int fd = shm_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 && errno == ENOENT)
        return ST_OK;
    bool mine = fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid();
    if (fd >= 0)
        close(fd);
    if (!mine)
        return fail(ST_RESOURCE,
                    "ledger %s: another user's object has this name: remove /dev/shm%s, or run "
                    "as that user",
                    name, name);
    return ledger_unlink(name);
}

enum status ledger_unlink(const char *name)
{
    if (shm_unlink(name) != 0 && errno != ENOENT)
        return fail(ST_RESOURCE, "ledger %s: removing it: %m", name);
    return ST_OK;
}

static enum status fill_header(struct ledger_header *h, uint32_t clients, uint32_t slots,
                               const struct arena_desc *arena)
{
    uint64_t start;
    enum status st = process_boot_id(h->boot_id);
    if (st == ST_OK)
        st = process_random(&h->instance);
    if (st == ST_OK)
        st = process_start_time(&start, getpid());
    if (st != ST_OK)
        return st;
    h->version = LEDGER_VERSION;
    h->header_bytes = LEDGER_HEADER_BYTES;
    h->total_bytes = ledger_total_bytes(clients, slots);
    h->owner_uid = geteuid();
    h->clients_offset = LEDGER_HEADER_BYTES;
    h->client_bytes = LEDGER_CLIENT_BYTES;
    h->client_count = clients;
    h->slots_offset = (uint32_t)ledger_slots_offset(clients);
    h->slot_bytes = LEDGER_SLOT_BYTES;
    h->slot_count = slots;
    h->arena = *arena;
    /* relaxed: the store of the magic publishes them */
    atomic_store_explicit(&h->coord_pid, (uint64_t)getpid(), memory_order_relaxed);
    atomic_store_explicit(&h->coord_start, start, memory_order_relaxed);
    return ST_OK;
}

/* Sizes the object for certain: without room in /dev/shm the touch would be a SIGBUS. */
static enum status reserve(int fd, uint64_t bytes, const char *name)
{
    if (fchmod(fd, 0600) != 0)
        return fail(ST_RESOURCE, "ledger %s: %m", name);
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    if (error == 0)
        return ST_OK;
    errno = error;
    return fail(ST_RESOURCE,
                "ledger %s: no room for %" PRIu64 " bytes: %m (df /dev/shm; enlarge it with mount "
                "-o remount,size=... /dev/shm)",
                name, bytes);
}

static enum status fill(struct ledger *l, const struct arena_desc *arena)
{
    enum status st = fill_header(l->header, l->clients, l->slots, arena);
    if (st == ST_OK)
        st = ledger_header_check(l->header, l->bytes, l->name);
    if (st != ST_OK)
        return st;
    l->client = (struct client_entry *)((char *)l->header + LEDGER_HEADER_BYTES);
    l->slot = (struct slot_entry *)((char *)l->header + ledger_slots_offset(l->clients));
    l->instance = l->header->instance;
    l->arena = *arena;
    l->writer = true;
    /* a random start, so that handles of an earlier object under this name are stale too */
    uint32_t generation = GENERATION_FIRST + (uint32_t)(l->instance & 0x3fffffff);
    /* relaxed: nobody may look before the magic */
    for (uint32_t i = 0; i < l->slots; i++)
        atomic_store_explicit(&l->slot[i].word, word_make(SLOT_FREE, 0, CLIENT_NONE, generation),
                              memory_order_relaxed);
    /* release: pairs with the acquire load when attaching */
    atomic_store_explicit(&l->header->magic, LEDGER_MAGIC, memory_order_release);
    return ST_OK;
}

static enum status make_object(struct ledger *l, const struct arena_desc *arena)
{
    int fd = shm_open(l->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(ST_RESOURCE, "ledger %s: making it: %m", l->name);
    enum status st = reserve(fd, l->bytes, l->name);
    if (st != ST_OK)
        goto unlink;
    l->header = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (l->header == MAP_FAILED) {
        st = fail(ST_RESOURCE, "ledger %s: mapping %zu bytes: %m", l->name, l->bytes);
        goto unlink;
    }
    st = fill(l, arena);
    if (st != ST_OK)
        goto unmap;
    close(fd);
    return ST_OK;

unmap:
    munmap(l->header, l->bytes);
unlink:
    shm_unlink(l->name);
    close(fd);
    return st;
}

enum status ledger_create(struct ledger **out, const struct ledger_lock *lock, const char *name,
                          uint32_t clients, uint32_t slots, const struct arena_desc *arena)
{
    CHECK(lock);
    if (clients == 0 || clients > LEDGER_MAX_CLIENTS || slots == 0 || slots > LEDGER_MAX_SLOTS)
        return fail(ST_INPUT, "ledger: %u clients (1 to %d), %u slots (1 to %d)", clients,
                    LEDGER_MAX_CLIENTS, slots, LEDGER_MAX_SLOTS);
    struct ledger *l = calloc(1, sizeof *l);
    if (!l)
        return fail(ST_RESOURCE, "ledger %s: no memory", name);
    enum status st;
    if (strlen(name) >= sizeof l->name) {
        st = fail(ST_INPUT, "ledger %s: the name is too long", name);
        goto free_view;
    }
    memcpy(l->name, name, strlen(name) + 1);
    l->clients = clients;
    l->slots = slots;
    l->bytes = ledger_total_bytes(clients, slots);
    st = remove_leftover(name);
    if (st == ST_OK)
        st = make_object(l, arena);
    if (st != ST_OK)
        goto free_view;
    *out = l;
    return ST_OK;

free_view:
    free(l);
    return st;
}
