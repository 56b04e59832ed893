#include "common/fault.h"

#if PINION_FAULTS

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 64 };

/* What PINION_FAULT asks for. */
struct fault {
    char name[NAME_MAX_BYTES];
    unsigned long nth; /* 0: each time */
    bool kills;
};

/* A text that is no fault is a mistake of the test: loudly. */
static bool read_fault(struct fault *f)
{
    const char *text = getenv("PINION_FAULT");
    char what[8];
    if (!text)
        return false;
    if (sscanf(text, "%63[^:]:%lu:%7s", f->name, &f->nth, what) != 3)
        abort();
    f->kills = strcmp(what, "kill") == 0;
    return true;
}

static void trace(const char *name)
{
    const char *path = getenv("PINION_FAULT_TRACE");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    char line[NAME_MAX_BYTES + 2];
    int n = snprintf(line, sizeof line, "%s\n", name);
    if (write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

static bool is_the_one(void)
{
    const char *token = getenv("PINION_FAULT_ONCE");
    return !token || unlink(token) == 0;
}

bool fault_point(const char *name)
{
    static _Atomic unsigned long passed;
    struct fault f;
    trace(name);
    if (!read_fault(&f) || strcmp(f.name, name) != 0)
        return false;
    unsigned long n = 1 + atomic_fetch_add_explicit(&passed, 1, memory_order_relaxed);
    if ((f.nth != 0 && n != f.nth) || !is_the_one())
        return false;
    if (f.kills) {
        (void)kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    return true;
}

#else
/* A translation unit is not empty. */
typedef int fault_none;
#endif
