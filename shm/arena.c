#include "shm/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "shm/arena_view.h"

#define RESTART "restart pinion-coord"

static int open_object(const struct arena_desc *d, enum arena_access access)
{
    int flags = (access == ARENA_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;
    if (d->kind == ARENA_HUGETLB)
        return open(d->name, flags);
    return shm_open(d->name, flags, 0);
}

static enum status check_object(const struct arena *a, const struct arena_desc *d)
{
    struct stat s;
    if (fstat(a->fd, &s) != 0)
        return fail(ST_RESOURCE, "arena %s: %m", d->name);
    if (s.st_uid != geteuid())
        return fail(ST_RESOURCE,
                    "arena %s: belongs to user %u, this process is user %u: run all pinion "
                    "processes of a directory as one user",
                    d->name, s.st_uid, geteuid());
    if (!S_ISREG(s.st_mode) || s.st_mode & (S_IRWXG | S_IRWXO))
        return fail(ST_RESOURCE, "arena %s: mode %04o, only its owner may have access: " RESTART,
                    d->name, s.st_mode & 07777);
    if (s.st_dev != d->device || s.st_ino != d->inode || s.st_nlink == 0)
        return fail(ST_RESOURCE,
                    "arena %s: not the object of this ledger: it was deleted or made again; stop "
                    "all pinion processes of this directory and start again",
                    d->name);
    if ((uint64_t)s.st_size != d->bytes)
        return fail(ST_RESOURCE,
                    "arena %s: %lld bytes, the ledger says %" PRIu64 ": it was truncated; stop all "
                    "pinion processes of this directory and start again",
                    d->name, (long long)s.st_size, d->bytes);
    return ST_OK;
}

static enum status check_filesystem(const struct arena *a, const struct arena_desc *d)
{
    struct statfs f;
    if (fstatfs(a->fd, &f) != 0)
        return fail(ST_RESOURCE, "arena %s: %m", d->name);
    bool huge = f.f_type == HUGETLBFS_MAGIC;
    if (huge != (d->kind == ARENA_HUGETLB) || (huge && (uint64_t)f.f_bsize != d->page))
        return fail(ST_RESOURCE, "arena %s: its pages of %lld bytes are not the ledger's %" PRIu64,
                    d->name, (long long)f.f_bsize, d->page);
    return ST_OK;
}

static enum status open_and_check(struct arena *a, const struct arena_desc *d,
                                  enum arena_access access)
{
    a->fd = open_object(d, access);
    if (a->fd < 0 && errno == EACCES)
        return fail(ST_RESOURCE,
                    "arena %s: %m: it belongs to another user; run all pinion processes of a "
                    "directory as one user",
                    d->name);
    if (a->fd < 0)
        return fail(ST_RESOURCE, "arena %s: %m: " RESTART, d->name);
    /* locked before it is looked at: a coordinator that removes leftovers asks for this lock */
    if (flock(a->fd, LOCK_SH | LOCK_NB) != 0) {
        enum status st = fail(ST_RESOURCE, "arena %s: lock: %m: it is being removed", d->name);
        close(a->fd);
        return st;
    }
    enum status st = check_object(a, d);
    if (st == ST_OK)
        st = check_filesystem(a, d);
    if (st != ST_OK)
        close(a->fd);
    return st;
}

enum status arena_attach(struct arena **out, const struct arena_desc *desc,
                         enum arena_access access)
{
    if (desc->kind != ARENA_HUGETLB && desc->kind != ARENA_POSIX)
        return fail(ST_INPUT, "arena of kind %u cannot be attached", desc->kind);
    struct arena *a = calloc(1, sizeof *a);
    if (!a)
        return fail(ST_RESOURCE, "arena %s: no memory", desc->name);
    enum status st = open_and_check(a, desc, access);
    if (st != ST_OK) {
        free(a);
        return st;
    }
    a->writable = access == ARENA_WRITE;
    a->desc = *desc;
    *out = a;
    return ST_OK;
}

void arena_detach(struct arena *a)
{
    if (!a)
        return;
    close(a->fd);
    free(a);
}

enum status arena_unlink(const struct arena *a)
{
    const struct arena_desc *d = &a->desc;
    if (d->kind == ARENA_PRIVATE)
        return ST_OK;
    int rc = d->kind == ARENA_HUGETLB ? unlink(d->name) : shm_unlink(d->name);
    if (rc != 0 && errno != ENOENT)
        return fail(ST_RESOURCE, "arena %s: removing it: %m", d->name);
    return ST_OK;
}

const char *arena_warning(const struct arena *a)
{
    return a->warning;
}

const struct arena_desc *arena_desc(const struct arena *a)
{
    return &a->desc;
}

/* ---- mapping ---- */

void *arena_map_range(const struct arena *a, void *address, uint64_t offset, size_t bytes, int prot)
{
    int flags = MAP_SHARED | (address ? MAP_FIXED : 0);
    void *p = mmap(address, bytes, prot, flags, a->fd, (off_t)offset);
    if (p == MAP_FAILED)
        return NULL;
    if (madvise(p, bytes, MADV_DONTFORK) == 0 && madvise(p, bytes, MADV_DONTDUMP) == 0)
        return p;
    int saved = errno;
    if (!address) /* a hole in the caller's range would be open to other threads */
        munmap(p, bytes);
    errno = saved;
    return NULL;
}

/* Total of the extents, all of them checked. */
static enum status sum_extents(uint64_t *total, const struct arena *a, const struct extent *extents,
                               uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct extent *e = &extents[i];
        if (e->bytes == 0 || ((e->offset | e->bytes) & (a->desc.page - 1)) ||
            e->offset >= a->desc.bytes || e->bytes > a->desc.bytes - e->offset ||
            e->bytes > INT64_MAX - sum)
            return fail(ST_INPUT,
                        "arena %s: extent %u (%" PRIu64 " bytes at %" PRIu64
                        ") is not in whole pages inside its %" PRIu64 " bytes",
                        a->desc.name, i, e->bytes, e->offset, a->desc.bytes);
        sum += e->bytes;
    }
    if (sum == 0)
        return fail(ST_INPUT, "arena %s: no extents to map", a->desc.name);
    *total = sum;
    return ST_OK;
}

/* Reserves addresses, aligned to the page, of which nothing is accessible yet. */
static void *reserve_addresses(size_t bytes, size_t page)
{
    char *p =
        mmap(NULL, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = (page - (uintptr_t)p % page) % page;
    if (before)
        munmap(p, before);
    if (page - before)
        munmap(p + before + bytes, page - before);
    return p + before;
}

enum status arena_map_slice(struct arena_map *out, const struct arena *a,
                            const struct extent *extents, uint32_t n, enum arena_access access)
{
    uint64_t total = 0;
    if (access == ARENA_WRITE && !a->writable)
        return fail(ST_INTERNAL, "arena %s: attached read-only", a->desc.name);
    enum status st = sum_extents(&total, a, extents, n);
    if (st != ST_OK)
        return st;
    char *base = reserve_addresses(total, a->desc.page);
    if (!base)
        return fail(ST_RESOURCE, "arena %s: addresses for %" PRIu64 " bytes: %m", a->desc.name,
                    total);
    int prot = access == ARENA_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    char *at = base;
    for (uint32_t i = 0; i < n; i++) {
        if (!arena_map_range(a, at, extents[i].offset, extents[i].bytes, prot)) {
            st = fail(ST_RESOURCE, "arena %s: mapping %" PRIu64 " bytes: %m", a->desc.name,
                      extents[i].bytes);
            munmap(base, total);
            return st;
        }
        at += extents[i].bytes;
    }
    *out = (struct arena_map){.base = base, .bytes = total};
    return ST_OK;
}

enum status arena_map_all(struct arena_map *out, const struct arena *a)
{
    struct extent all = {.offset = 0, .bytes = a->desc.bytes};
    return arena_map_slice(out, a, &all, 1, ARENA_READ);
}

void arena_unmap(struct arena_map *map)
{
    if (map->base)
        munmap(map->base, map->bytes);
    *map = (struct arena_map){0};
}

enum status arena_scrub(const struct arena *a, const struct extent *extents, uint32_t n)
{
    struct arena_map map;
    enum status st = arena_map_slice(&map, a, extents, n, ARENA_WRITE);
    if (st != ST_OK)
        return st;
    memset(map.base, 0, map.bytes);
    arena_unmap(&map);
    return ST_OK;
}
