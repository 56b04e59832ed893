/* What the coordinator asks of the machine. */
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/coord/coord.h"

enum { GROUPS_MAX = 1024, NSS_BYTES = 1 << 16 };

/* ---- memory ---- */

/* The number in a small file, UINT64_MAX when there is none ("max" is none). */
static uint64_t read_limit(const char *path)
{
    char text[32] = "";
    FILE *f = fopen(path, "re");
    if (!f)
        return UINT64_MAX;
    bool got = fgets(text, sizeof text, f) != NULL;
    (void)fclose(f);
    if (!got || text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

/* The path of this process's cgroup (v2), "" when there is none. */
static void read_cgroup(char *out, size_t size)
{
    char line[PATH_MAX];
    FILE *f = fopen("/proc/self/cgroup", "re");
    out[0] = '\0';
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, size, "%s", line + 3);
        }
    if (f)
        (void)fclose(f);
}

/* The smallest limit from the cgroup up to the root. */
static uint64_t cgroup_limit(void)
{
    char group[PATH_MAX], path[PATH_MAX + 64];
    uint64_t least = read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"); /* v1 */
    read_cgroup(group, sizeof group);
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        uint64_t limit = read_limit(path);
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

uint64_t coord_host_memory(void)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t limit = cgroup_limit();
    return limit < machine ? limit : machine;
}

/* ---- admins ---- */

static bool is_member(uint32_t uid, gid_t group)
{
    char buffer[NSS_BYTES];
    struct passwd entry, *user = NULL;
    gid_t groups[GROUPS_MAX];
    int n = GROUPS_MAX;
    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &user) != 0 || !user ||
        getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0)
        return false;
    for (int i = 0; i < n; i++)
        if (groups[i] == group)
            return true;
    return false;
}

bool coord_is_admin(uint32_t uid, uint32_t owner, const char *group)
{
    char buffer[NSS_BYTES];
    struct group entry, *found = NULL;
    if (uid == 0 || uid == owner)
        return true;
    if (!group[0] || getgrnam_r(group, &entry, buffer, sizeof buffer, &found) != 0 || !found)
        return false;
    return is_member(uid, found->gr_gid);
}
