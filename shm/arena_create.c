#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "shm/arena_view.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static uint64_t small_page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* At most 16 chunks, so that the largest slice (24 extents) fits the empty arena. */
static uint64_t default_chunk(uint64_t bytes)
{
    uint64_t chunk = GIB;
    while (chunk < ARENA_MAX_CHUNK && bytes / 16 > chunk)
        chunk *= 2;
    return chunk;
}

static enum status check_shape(const struct arena_desc *d)
{
    if (d->bytes == 0 || d->bytes > INT64_MAX || d->bytes % d->page != 0)
        return fail(ST_INPUT,
                    "arena of %" PRIu64 " bytes: must be a multiple of its page, %" PRIu64 " bytes",
                    d->bytes, d->page);
    if (d->chunk < d->page || d->chunk > ARENA_MAX_CHUNK || (d->chunk & (d->chunk - 1)) != 0)
        return fail(ST_INPUT,
                    "registration chunk of %" PRIu64 " bytes: must be a power of two from %" PRIu64
                    " bytes to 64 GiB",
                    d->chunk, d->page);
    return ST_OK;
}

/* ---- room ---- */

static enum status check_huge_pages(const struct arena_desc *d)
{
    uint64_t unused = 0, all = 0, need = d->bytes / d->page;
    if (!host_huge_pages(d->page, &unused, &all) || unused >= need)
        return ST_OK; /* the reservation decides */
    if (d->page == 2 * MIB)
        return fail(ST_RESOURCE,
                    "huge pages: %" PRIu64 " of 2 MiB needed, %" PRIu64 " of %" PRIu64
                    " are free (sysctl -w vm.nr_hugepages=%" PRIu64 ")",
                    need, unused, all, all - unused + need);
    return fail(ST_RESOURCE,
                "huge pages: %" PRIu64 " of %" PRIu64 " KiB needed, %" PRIu64 " of %" PRIu64
                " are free (echo %" PRIu64 " > /sys/kernel/mm/hugepages/hugepages-%" PRIu64
                "kB/nr_hugepages)",
                need, d->page / KIB, unused, all, all - unused + need, d->page / KIB);
}

static enum status no_room(const struct arena_desc *d, uint64_t unused, uint64_t all)
{
    return fail(ST_RESOURCE,
                "arena: %" PRIu64 " MiB needed, /dev/shm has %" PRIu64 " of %" PRIu64
                " MiB free (df /dev/shm; enlarge it: mount -o remount,size=%" PRIu64
                "M /dev/shm, in a container --shm-size=%" PRIu64
                "m; or use huge pages, or a smaller arena)",
                d->bytes / MIB, unused / MIB, all / MIB, (all - unused + d->bytes) / MIB + 1,
                (all - unused + d->bytes) / MIB + 1);
}

static enum status check_dev_shm(const struct arena_desc *d)
{
    struct statvfs f;
    if (statvfs("/dev/shm", &f) != 0)
        return fail(ST_RESOURCE, "arena: /dev/shm: %m (mount -t tmpfs none /dev/shm)");
    uint64_t unused = (uint64_t)f.f_bavail * f.f_frsize, all = (uint64_t)f.f_blocks * f.f_frsize;
    return all != 0 && unused < d->bytes ? no_room(d, unused, all) : ST_OK;
}

static enum status check_memory(const struct arena_desc *d)
{
    uint64_t available = host_memory_available();
    if (available >= d->bytes)
        return ST_OK;
    return fail(ST_RESOURCE,
                "arena: %" PRIu64 " MiB needed, %" PRIu64
                " MiB of memory are available (a smaller arena, or end other programs)",
                d->bytes / MIB, available / MIB);
}

/* The reservation itself said no, in a race or by a limit that does not show. */
static enum status explain(const struct arena_desc *d, int error)
{
    if (error == ENOSPC && d->kind == ARENA_POSIX) {
        enum status st = check_dev_shm(d);
        if (st != ST_OK)
            return st;
    } else if (error == ENOSPC || error == ENOMEM) {
        enum status st = d->page > small_page() ? check_huge_pages(d) : check_memory(d);
        if (st != ST_OK)
            return st;
    }
    errno = error;
    return fail(ST_RESOURCE,
                "arena%s%s: reserving %" PRIu64 " MiB: %m (a limit of the mount's size or of this "
                "control group?)",
                d->name[0] ? " " : "", d->name, d->bytes / MIB);
}

/* Touches every page. The kernel that can say no instead of sending SIGBUS is asked to. */
static int touch(char *base, uint64_t bytes, uint64_t page)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(base, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return errno == EFAULT || errno == EHWPOISON ? ENOSPC : errno;
#endif
    /* relaxed and atomic, so that the store stays; the object is new and nobody else has it */
    for (uint64_t i = 0; i < bytes; i += page)
        atomic_store_explicit((_Atomic char *)(base + i), 0, memory_order_relaxed);
    return 0;
}

enum status arena_reserve(const struct arena *a)
{
    const struct arena_desc *d = &a->desc;
    int error = posix_fallocate(a->fd, 0, (off_t)d->bytes);
    if (error != 0)
        return explain(d, error);
    /* piecewise, so that the page tables of a large arena are not held all at once */
    for (uint64_t at = 0; at < d->bytes && error == 0;) {
        uint64_t bytes = d->bytes - at < GIB ? d->bytes - at : GIB;
        char *base = arena_map_range(a, NULL, at, bytes, PROT_READ | PROT_WRITE);
        if (!base)
            return explain(d, errno);
        error = touch(base, bytes, d->page);
        munmap(base, bytes);
        at += bytes;
    }
    return error == 0 ? ST_OK : explain(d, error);
}

/* ---- leftovers ---- */

static int object_open(const struct arena_desc *d, int flags)
{
    flags |= O_CLOEXEC | O_NOFOLLOW;
    return d->kind == ARENA_HUGETLB ? open(d->name, flags, 0600) : shm_open(d->name, flags, 0600);
}

static int object_unlink(const struct arena_desc *d)
{
    return d->kind == ARENA_HUGETLB ? unlink(d->name) : shm_unlink(d->name);
}

static enum status refuse_used(const struct arena_desc *d, const struct stat *s)
{
    char pids[128];
    unsigned n = host_lock_holders(pids, sizeof pids, s->st_dev, s->st_ino);
    if (n == 0)
        return fail(ST_RESOURCE, "arena %s: processes of an earlier run still use it: stop them",
                    d->name);
    return fail(ST_RESOURCE, "arena %s: %u process%s of an earlier run still use%s it: stop pid%s",
                d->name, n, n == 1 ? "" : "es", n == 1 ? "s" : "", pids);
}

static enum status remove_object(const struct arena_desc *d)
{
    struct stat s;
    int fd = object_open(d, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        return ST_OK;
    if (fd < 0)
        return fail(ST_RESOURCE, "arena %s: %m: remove it, or run as its owner", d->name);
    enum status st = ST_OK;
    if (fstat(fd, &s) != 0)
        st = fail(ST_RESOURCE, "arena %s: %m", d->name);
    else if (s.st_uid != geteuid())
        st = fail(ST_RESOURCE, "arena %s: belongs to user %u: remove it, or run as that user",
                  d->name, s.st_uid);
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        st = refuse_used(d, &s);
    else if (object_unlink(d) != 0)
        st = fail(ST_RESOURCE, "arena %s: removing it: %m", d->name);
    close(fd);
    return st;
}

static enum status set_name(struct arena_desc *d, const char *directory, const char *name)
{
    int n = snprintf(d->name, sizeof d->name, "%s%s", directory, name);
    if (n < 0 || (size_t)n >= sizeof d->name)
        return fail(ST_INPUT, "arena %s%s: the name is too long", directory, name);
    return ST_OK;
}

/* Removes what a dead run left under the name, of either kind: it would keep its memory. Refuses
 * what a living one uses. */
static enum status remove_leftovers(const struct arena_options *o)
{
    struct arena_desc d = {.kind = ARENA_POSIX};
    char mount[ARENA_NAME_BYTES];
    enum status st = set_name(&d, "", o->name);
    if (st == ST_OK)
        st = remove_object(&d);
    if (st != ST_OK)
        return st;
    if (host_hugetlb_mount(mount, sizeof mount, &d.page, o->mount) != ST_OK) {
        status_clear(); /* without a mount there is nothing to remove */
        return ST_OK;
    }
    d.kind = ARENA_HUGETLB;
    st = set_name(&d, mount, o->name);
    return st == ST_OK ? remove_object(&d) : st;
}

/* ---- making ---- */

static enum status open_new(struct arena *a)
{
    struct arena_desc *d = &a->desc;
    if (d->kind == ARENA_PRIVATE)
        a->fd =
            memfd_create("pinion-arena", MFD_CLOEXEC | (d->page > small_page() ? MFD_HUGETLB : 0));
    else
        a->fd = object_open(d, O_RDWR | O_CREAT | O_EXCL);
    if (a->fd < 0)
        return fail(ST_RESOURCE, "arena %s: making it: %m", d->name);
    if (d->kind != ARENA_PRIVATE && flock(a->fd, LOCK_SH | LOCK_NB) != 0)
        return fail(ST_RESOURCE, "arena %s: lock: %m", d->name);
    struct stat s;
    if (fchmod(a->fd, 0600) != 0 || ftruncate(a->fd, (off_t)d->bytes) != 0 || fstat(a->fd, &s) != 0)
        return fail(ST_RESOURCE, "arena %s: %m", d->name);
    d->device = s.st_dev;
    d->inode = s.st_ino;
    a->writable = true;
    return ST_OK;
}

static enum status make_object(struct arena *a)
{
    a->fd = -1;
    enum status st = open_new(a);
    if (st == ST_OK)
        st = arena_reserve(a);
    if (st == ST_OK)
        return ST_OK;
    if (a->fd >= 0) {
        if (a->desc.kind != ARENA_PRIVATE)
            object_unlink(&a->desc);
        close(a->fd);
    }
    return st;
}

static enum status make_hugetlb(struct arena *a, const struct arena_options *o)
{
    struct arena_desc *d = &a->desc;
    char mount[ARENA_NAME_BYTES];
    d->kind = ARENA_HUGETLB;
    enum status st = host_hugetlb_mount(mount, sizeof mount, &d->page, o->mount);
    if (st == ST_OK)
        st = set_name(d, mount, o->name);
    if (st == ST_OK)
        st = check_shape(d);
    if (st == ST_OK)
        st = check_huge_pages(d);
    return st == ST_OK ? make_object(a) : st;
}

static enum status make_posix(struct arena *a, const struct arena_options *o)
{
    struct arena_desc *d = &a->desc;
    d->kind = ARENA_POSIX;
    d->page = small_page();
    enum status st = set_name(d, "", o->name);
    if (st == ST_OK)
        st = check_shape(d);
    if (st == ST_OK)
        st = check_dev_shm(d);
    if (st == ST_OK)
        st = check_memory(d);
    return st == ST_OK ? make_object(a) : st;
}

static enum status make_private(struct arena *a)
{
    struct arena_desc *d = &a->desc;
    uint64_t unused, all;
    d->kind = ARENA_PRIVATE;
    d->page = 2 * MIB;
    if (d->bytes % d->page == 0 && d->chunk >= d->page && host_huge_pages(d->page, &unused, &all) &&
        unused >= d->bytes / d->page) {
        if (check_shape(d) == ST_OK && make_object(a) == ST_OK)
            return ST_OK;
        status_clear(); /* somebody was faster: small pages do */
    }
    d->page = small_page();
    enum status st = check_shape(d);
    if (st == ST_OK)
        st = check_memory(d);
    return st == ST_OK ? make_object(a) : st;
}

/* Huge pages, else POSIX shared memory with a warning. */
static enum status make_auto(struct arena *a, const struct arena_options *o)
{
    enum status st = make_hugetlb(a, o);
    if (st == ST_OK)
        return ST_OK;
    char reason[512];
    snprintf(reason, sizeof reason, "%s", status_message());
    status_clear();
    st = make_posix(a, o);
    if (st == ST_OK)
        snprintf(a->warning, sizeof a->warning,
                 "the arena has pages of 4 KiB: vectors are written up to 4 times slower and a "
                 "daemon pins it more slowly; %s",
                 reason);
    return st;
}

static enum status make(struct arena *a, const struct arena_options *o)
{
    if (o->kind == ARENA_PRIVATE)
        return make_private(a);
    if (!o->name || o->name[0] != '/' || strchr(o->name + 1, '/') || !o->name[1])
        return fail(ST_INPUT, "arena %s: the name must be a slash and a word",
                    o->name ? o->name : "without a name");
    enum status st = remove_leftovers(o);
    if (st != ST_OK)
        return st;
    switch (o->kind) {
    case ARENA_HUGETLB:
        return make_hugetlb(a, o);
    case ARENA_POSIX:
        return make_posix(a, o);
    case ARENA_AUTO:
        return make_auto(a, o);
    default:
        return fail(ST_INPUT, "arena of kind %u", (unsigned)o->kind);
    }
}

enum status arena_create(struct arena **out, const struct arena_options *options)
{
    struct arena *a = calloc(1, sizeof *a);
    if (!a)
        return fail(ST_RESOURCE, "arena: no memory");
    a->desc.bytes = options->bytes;
    a->desc.chunk = options->chunk ? options->chunk : default_chunk(options->bytes);
    enum status st = make(a, options);
    if (st != ST_OK) {
        free(a);
        return st;
    }
    *out = a;
    return ST_OK;
}
