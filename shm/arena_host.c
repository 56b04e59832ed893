#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "shm/arena_view.h"

#define MIB (UINT64_C(1) << 20)

static bool is_hugetlb(const char *path, uint64_t *page)
{
    struct statfs f;
    if (statfs(path, &f) != 0 || f.f_type != HUGETLBFS_MAGIC)
        return false;
    *page = (uint64_t)f.f_bsize;
    return true;
}

static bool is_writable(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

/* The best mount in the table: writable before not, 2 MiB pages before others. False if none. */
static bool best_mount(char *path, size_t size, uint64_t *page)
{
    FILE *table = setmntent("/proc/self/mounts", "re");
    if (!table)
        return false;
    int best = -1;
    struct mntent entry;
    char buffer[4096];
    while (getmntent_r(table, &entry, buffer, sizeof buffer)) {
        uint64_t p;
        if (strcmp(entry.mnt_type, "hugetlbfs") != 0 || !is_hugetlb(entry.mnt_dir, &p) ||
            strlen(entry.mnt_dir) >= size)
            continue;
        int score = 2 * (is_writable(entry.mnt_dir)) + (p == 2 * MIB);
        if (score > best) {
            best = score;
            *page = p;
            snprintf(path, size, "%s", entry.mnt_dir);
        }
    }
    endmntent(table);
    return best >= 0;
}

enum status host_hugetlb_mount(char *path, size_t size, uint64_t *page, const char *wanted)
{
    if (wanted) {
        if (!is_hugetlb(wanted, page))
            return fail(ST_RESOURCE,
                        "huge pages: %s is not a hugetlbfs mount (mount -t hugetlbfs "
                        "none %s)",
                        wanted, wanted);
        if (strlen(wanted) >= size)
            return fail(ST_INPUT, "huge pages: %s: the path is too long", wanted);
        snprintf(path, size, "%s", wanted);
    } else if (!best_mount(path, size, page)) {
        return fail(ST_RESOURCE, "huge pages: no hugetlbfs is mounted (mkdir -p /dev/hugepages; "
                                 "mount -t hugetlbfs none /dev/hugepages)");
    }
    if (!is_writable(path))
        return fail(ST_RESOURCE,
                    "huge pages: %s: %m for user %u (mount -o remount,uid=%u,mode=700 "
                    "%s, or mount another hugetlbfs with these options)",
                    path, geteuid(), geteuid(), path);
    return ST_OK;
}

static bool read_number(const char *path, uint64_t *out)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool ok = fscanf(f, "%" SCNu64, out) == 1;
    fclose(f);
    return ok;
}

bool host_huge_pages(uint64_t page, uint64_t *unused, uint64_t *all)
{
    char path[128];
    uint64_t reserved;
    static const char directory[] = "/sys/kernel/mm/hugepages/hugepages";
    snprintf(path, sizeof path, "%s-%" PRIu64 "kB/nr_hugepages", directory, page / 1024);
    if (!read_number(path, all))
        return false;
    snprintf(path, sizeof path, "%s-%" PRIu64 "kB/free_hugepages", directory, page / 1024);
    if (!read_number(path, unused))
        return false;
    /* free ones that are promised to others */
    snprintf(path, sizeof path, "%s-%" PRIu64 "kB/resv_hugepages", directory, page / 1024);
    if (read_number(path, &reserved))
        *unused = *unused > reserved ? *unused - reserved : 0;
    return true;
}

uint64_t host_memory_available(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    if (!f)
        return UINT64_MAX;
    char line[256];
    uint64_t kib = UINT64_MAX / 1024;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
            break;
    fclose(f);
    return kib >= UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
}

unsigned host_lock_holders(char *out, size_t size, dev_t device, ino_t inode)
{
    out[0] = '\0';
    FILE *f = fopen("/proc/locks", "re");
    if (!f)
        return 0;
    char line[256];
    unsigned holders = 0;
    size_t used = 0;
    while (fgets(line, sizeof line, f)) {
        /* "1: FLOCK  ADVISORY  READ 4711 00:1a:42 0 EOF"; a process of another pid namespace is 0
         */
        unsigned major_number, minor_number;
        unsigned long long node;
        long pid;
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%llu", &pid, &major_number, &minor_number,
                   &node) != 4 ||
            node != inode || major_number != major(device) || minor_number != minor(device))
            continue;
        holders++;
        if (used + 24 < size)
            used += (size_t)snprintf(out + used, size - used, " %ld", pid);
    }
    fclose(f);
    return holders;
}
