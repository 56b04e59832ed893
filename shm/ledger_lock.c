#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/ledger_write.h"

struct ledger_lock {
    int fd;
};

static enum status refuse_held(int fd, const char *path)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0)
        return fail(ST_RESOURCE,
                    "%s: a coordinator runs already (pid %ld): stop it, or use another directory",
                    path, pid);
    return fail(ST_RESOURCE, "%s: a coordinator is just starting: use it, or another directory",
                path);
}

static enum status take(int fd, const char *path)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return refuse_held(fd, path);
        return fail(ST_RESOURCE, "%s: lock: %m", path);
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return fail(ST_RESOURCE, "%s: writing the pid: %m", path);
    return ST_OK;
}

enum status ledger_lock_acquire(struct ledger_lock **out, const char *path)
{
    enum status st;
    struct ledger_lock *lock = malloc(sizeof *lock);
    if (!lock)
        return fail(ST_RESOURCE, "%s: no memory", path);
    lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock->fd < 0) {
        st = fail(ST_RESOURCE, "%s: %m: the directory must exist and be this user's", path);
        goto free_lock;
    }
    /* whoever can open it, even to read, can hold the lock and keep every coordinator out */
    st = fchmod(lock->fd, 0600) == 0 ? take(lock->fd, path) : fail(ST_RESOURCE, "%s: %m", path);
    if (st != ST_OK)
        goto close_fd;
    *out = lock;
    return ST_OK;

close_fd:
    close(lock->fd);
free_lock:
    free(lock);
    return st;
}

void ledger_lock_release(struct ledger_lock *lock)
{
    if (!lock)
        return;
    close(lock->fd);
    free(lock);
}
