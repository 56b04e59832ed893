/* What a view of the arena is made of, and the parts of making one; for the arena's own sources. */
#ifndef PINION_SHM_ARENA_VIEW_H
#define PINION_SHM_ARENA_VIEW_H

#include <sys/types.h>

#include "shm/arena.h"

struct arena {
    int fd; /* holds the shared lock */
    bool writable;
    struct arena_desc desc;
    char warning[1024];
};

/* Maps [offset, offset + bytes) at address (MAP_FIXED) or anywhere (NULL), not forked, not dumped.
 * NULL with errno on failure. */
void *arena_map_range(const struct arena *a, void *address, uint64_t offset, size_t bytes,
                      int prot);

/* Makes every page exist and touches it. Writes the reason as a failure. */
enum status arena_reserve(const struct arena *a) MUST_CHECK;

/* ---- arena_host.c: what the system has ---- */

/* Path of the hugetlbfs mount to use: `wanted`, or a writable one, that of 2 MiB pages first; and
 * its page's size. ST_RESOURCE, saying what to do, if there is none or it may not be written. */
enum status host_hugetlb_mount(char *path, size_t size, uint64_t *page,
                               const char *wanted) MUST_CHECK;

/* Free and all huge pages of a size; false when the system has none of it. */
bool host_huge_pages(uint64_t page, uint64_t *unused, uint64_t *all);

/* MemAvailable in bytes, UINT64_MAX when unknown. */
uint64_t host_memory_available(void);

/* Writes " PID PID ..." of the processes that lock the file (at most a few) and returns how many
 * there are; 0 also when the system does not tell. */
unsigned host_lock_holders(char *out, size_t size, dev_t device, ino_t inode);

#endif
