#include "common/file/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the SIGBUS handler knows. begin is 0 for a free slot; it is stored last and cleared first,
 * so that a handler that sees it sees the rest. */
struct guarded {
    atomic_uintptr_t begin, end;
    _Atomic(const char *) path;
};
static struct guarded guarded[64];
enum { GUARDED = sizeof guarded / sizeof guarded[0] };

/* Marks a slot that is being filled: no mapping begins there. */
static const uintptr_t slot_claimed = UINTPTR_MAX;

static void guard_add(const struct file_map *map)
{
    for (size_t i = 0; i < GUARDED; i++) {
        uintptr_t expected = 0;
        if (!atomic_compare_exchange_strong_explicit(&guarded[i].begin, &expected, slot_claimed,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        atomic_store_explicit(&guarded[i].end, (uintptr_t)map->data + map->size,
                              memory_order_relaxed);
        atomic_store_explicit(&guarded[i].path, map->path, memory_order_relaxed);
        /* release: pairs with the acquire load in guard_find */
        atomic_store_explicit(&guarded[i].begin, (uintptr_t)map->data, memory_order_release);
        return;
    }
}

static void guard_remove(const struct file_map *map)
{
    for (size_t i = 0; i < GUARDED; i++) {
        uintptr_t expected = (uintptr_t)map->data;
        /* release: pairs with the acquire of the next guard_add of this slot */
        if (atomic_compare_exchange_strong_explicit(&guarded[i].begin, &expected, 0,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
}

/* The path of the map that holds the address, NULL if none does. The last page of a map belongs to
 * it up to its end. */
static const char *guard_find(uintptr_t address)
{
    uintptr_t page = (uintptr_t)getpagesize() - 1;
    for (size_t i = 0; i < GUARDED; i++) {
        /* acquire: pairs with the release store in guard_add */
        uintptr_t begin = atomic_load_explicit(&guarded[i].begin, memory_order_acquire);
        uintptr_t end = atomic_load_explicit(&guarded[i].end, memory_order_relaxed);
        if (begin != 0 && begin <= address && address < ((end + page) & ~page))
            return atomic_load_explicit(&guarded[i].path, memory_order_relaxed);
    }
    return NULL;
}

/* Appends to a text of that size; returns the new length. */
static size_t append(char *text, size_t size, size_t length, const char *part)
{
    size_t n = strnlen(part, size - 1 - length);
    memcpy(text + length, part, n);
    text[length + n] = '\0';
    return length + n;
}

/* One line, in one write. */
static void say_unreadable(const char *path)
{
    char text[PATH_MAX + 128];
    size_t length = append(text, PATH_MAX, 0, "pinion: ");
    length = append(text, PATH_MAX, length, path);
    length = append(text, sizeof text, length,
                    ": the file became shorter, or could not be read, while it was in use");
    status_clean(text);
    text[length++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, text, length);
    (void)ignored;
}

/* Async-signal-safe. */
static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    (void)context;
    const char *path = guard_find((uintptr_t)info->si_addr);
    if (!path) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* blocked here: ends the process when this returns */
        return;
    }
    /* relaxed: the first thread speaks and ends all others */
    while (atomic_flag_test_and_set_explicit(&told, memory_order_relaxed))
        pause();
    say_unreadable(path);
    _exit(status_exit_code(ST_INPUT));
}

void file_map_guard(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGBUS, &action, NULL) == 0);
}

static enum status check_kind(const struct stat *st, const char *path)
{
    if (S_ISDIR(st->st_mode))
        return fail(ST_INPUT, "%s: is a directory", path);
    if (!S_ISREG(st->st_mode))
        return fail(ST_INPUT, "%s: is not a regular file (files are mapped, pipes cannot be)",
                    path);
    if (st->st_size == 0)
        return fail(ST_INPUT, "%s: is empty", path);
    return ST_OK;
}

static enum status map_fd(struct file_map *out, int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail(ST_INPUT, "%s: %m", path);
    enum status status = check_kind(&st, path);
    if (status != ST_OK)
        return status;

    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return fail(errno == ENOMEM ? ST_RESOURCE : ST_INPUT, "%s: cannot map %lld bytes: %m", path,
                    (long long)st.st_size);
    *out = (struct file_map){path, data, (size_t)st.st_size};
    return ST_OK;
}

enum status file_map(struct file_map *out, const char *path)
{
    /* O_NONBLOCK: opening a pipe that nobody writes to must not hang */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return fail(exhausted ? ST_RESOURCE : ST_INPUT, "%s: cannot open: %m", path);
    }
    enum status st = map_fd(out, fd, path);
    close(fd);
    if (st == ST_OK)
        guard_add(out);
    return st;
}

/* For munmap and madvise, which do not write but take no pointer to const. */
static void *without_const(const void *p)
{
    void *address;
    memcpy(&address, &p, sizeof address);
    return address;
}

void file_unmap(struct file_map *map)
{
    if (!map->data)
        return;
    guard_remove(map);
    munmap(without_const(map->data), map->size);
    *map = (struct file_map){0};
}

void file_map_prefetch(const void *begin, size_t size)
{
    size_t into_page = (uintptr_t)begin & ((uintptr_t)getpagesize() - 1);
    const uint8_t *page = (const uint8_t *)begin - into_page;
    /* a hint: failure changes nothing */
    (void)madvise(without_const(page), into_page + size, MADV_WILLNEED);
}
