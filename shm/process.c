#include "shm/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reads a small file of /proc whole, NUL-terminated; its length or -1 with errno. */
static ssize_t read_small(char *out, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, out, size - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    out[n < 0 ? 0 : n] = '\0';
    return n;
}

/* The start time in the text of /proc/PID/stat. The second field, the name, is in parentheses and
 * may hold any character, so fields are counted from the last one. */
static bool parse_start_time(uint64_t *out, const char *stat)
{
    enum { AFTER_NAME = 2, START = 22 };
    const char *p = strrchr(stat, ')');
    if (!p)
        return false;
    for (int field = AFTER_NAME; field < START; field++) {
        p = strchr(p + 1, ' ');
        if (!p)
            return false;
    }
    char *end;
    errno = 0;
    unsigned long long value = strtoull(p + 1, &end, 10);
    if (errno || end == p + 1 || *end != ' ')
        return false;
    *out = value;
    return true;
}

enum status process_start_time(uint64_t *out, pid_t pid)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (read_small(text, sizeof text, path) < 0)
        return fail(ST_RESOURCE, "process %ld: %s: %m", (long)pid, path);
    if (!parse_start_time(out, text))
        return fail(ST_RESOURCE, "process %ld: %s: no start time in it", (long)pid, path);
    return ST_OK;
}

bool process_is_alive(pid_t pid, uint64_t start_time)
{
    if (pid <= 0)
        return false;
    /* the descriptor holds the process, so that the pid cannot change its meaning in between */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return errno != ESRCH && errno != EINVAL && errno != ENOENT; /* a thread by now */
    char path[64], text[2048];
    uint64_t started;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    bool known = read_small(text, sizeof text, path) > 0 && parse_start_time(&started, text);
    /* readable once its last thread has ended; a zombie leader with threads is not */
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool ended = poll(&p, 1, 0) == 1;
    close(fd);
    return !ended && (!known || started == start_time);
}

enum status process_boot_id(uint8_t out[BOOT_ID_BYTES])
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    char text[64];
    uint8_t id[BOOT_ID_BYTES] = {0};
    if (read_small(text, sizeof text, path) < 0)
        return fail(ST_RESOURCE, "%s: %m", path);
    int digits = 0;
    for (const char *p = text; *p && *p != '\n'; p++) {
        if (*p == '-')
            continue;
        int value = *p >= '0' && *p <= '9' ? *p - '0' : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 : -1;
        if (value < 0 || digits == 2 * BOOT_ID_BYTES)
            return fail(ST_RESOURCE, "%s: not an id: %s", path, text);
        id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | value);
        digits++;
    }
    if (digits != 2 * BOOT_ID_BYTES)
        return fail(ST_RESOURCE, "%s: not an id: %s", path, text);
    memcpy(out, id, sizeof id);
    return ST_OK;
}

uint64_t process_monotonic_ns(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

enum status process_random(uint64_t *out)
{
    uint64_t value;
    do {
        if (getrandom(&value, sizeof value, 0) != sizeof value)
            return fail(ST_RESOURCE, "getrandom: %m");
    } while (value == 0);
    *out = value;
    return ST_OK;
}
