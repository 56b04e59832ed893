/* How a circuit gets into the store, on a thread of its own: copied, checked, published. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sha256.h"
#include "shm/store_private.h"

enum { COPY_BYTES = 1 << 20 };

bool store_cancelled(struct addition *a)
{
    pthread_mutex_lock(&a->lock);
    bool cancelled = a->cancelled;
    pthread_mutex_unlock(&a->lock);
    return cancelled;
}

/* Never waits at a pipe, never takes a directory or device for a key. */
static enum status open_regular(int *out, const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(ST_INPUT, "%s: %m (the coordinator's user must be able to read it)", path);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *out = fd;
        return ST_OK;
    }
    close(fd);
    return fail(ST_INPUT, "%s: is not a regular file", path);
}

static enum status write_all(int fd, const uint8_t *bytes, size_t len, const char *path)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(ST_RESOURCE, "%s: %m", path);
        bytes += n;
        len -= (size_t)n;
    }
    return ST_OK;
}

/* The loop of copy_file: to the end of `in`, digesting. */
static enum status copy_bytes(struct addition *a, uint64_t *bytes, struct sha256 *h, int out,
                              int in, const char *from, const char *to)
{
    uint8_t *buffer = malloc(COPY_BYTES);
    if (!buffer)
        return fail(ST_RESOURCE, "%s: out of memory", to);
    enum status st = ST_OK;
    for (*bytes = 0; st == ST_OK;) {
        ssize_t n = read(in, buffer, COPY_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = fail(ST_INPUT, "%s: %m", from);
        if (n <= 0)
            break;
        sha256_update(h, buffer, (size_t)n);
        *bytes += (uint64_t)n;
        st = store_cancelled(a) ? fail(ST_RESOURCE, "%s: broken off", from)
                                : write_all(out, buffer, (size_t)n, to);
    }
    free(buffer);
    return st;
}

/* Copies from to a new file, 0444 and on disk. digest may be NULL. */
static enum status copy_file(struct addition *a, uint64_t *bytes, uint8_t digest[32],
                             const char *from, const char *to)
{
    int in;
    struct sha256 h;
    enum status st = open_regular(&in, from);
    if (st != ST_OK)
        return st;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0) {
        st = fail(ST_RESOURCE, "%s: %m", to);
        close(in);
        return st;
    }
    sha256_init(&h);
    st = copy_bytes(a, bytes, &h, out, in, from, to);
    if (st == ST_OK && (fchmod(out, 0444) != 0 || fsync(out) != 0))
        st = fail(ST_RESOURCE, "%s: %m", to);
    if (st == ST_OK && digest)
        sha256_final(&h, digest);
    close(out);
    close(in);
    return st;
}

static enum status sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail(ST_RESOURCE, "%s: %m", path);
    enum status st = fsync(fd) == 0 ? ST_OK : fail(ST_RESOURCE, "%s: %m", path);
    close(fd);
    return st;
}

static enum status copy_both(struct addition *a)
{
    struct circuit *c = &a->entry.circuit;
    char key[PATH_MAX], r1cs[PATH_MAX];
    uint64_t r1cs_bytes;
    enum status st = store_path(key, sizeof key, a->dir, c->name, true, "key.zkey");
    if (st == ST_OK)
        st = store_path(r1cs, sizeof r1cs, a->dir, c->name, true, "circuit.r1cs");
    if (st == ST_OK)
        st = copy_file(a, &c->key_bytes, c->sha256, a->entry.source.key, key);
    if (st == ST_OK && c->has_r1cs)
        st = copy_file(a, &r1cs_bytes, NULL, a->entry.source.r1cs, r1cs);
    if (st == ST_OK)
        st = a->inspect(&c->shape, key, c->has_r1cs ? r1cs : NULL);
    memcpy(&c->tag, c->sha256, sizeof c->tag);
    return st;
}

static enum status publish(struct addition *a, const char *building)
{
    char meta[PATH_MAX] = "", final[PATH_MAX] = "";
    const char *name = a->entry.circuit.name;
    enum status st = store_path(meta, sizeof meta, a->dir, name, true, "meta.json");
    if (st == ST_OK)
        st = store_path(final, sizeof final, a->dir, name, false, "");
    if (st == ST_OK)
        st = store_meta_write(&a->entry, meta);
    if (st == ST_OK && chmod(meta, 0444) != 0)
        st = fail(ST_RESOURCE, "%s: %m", meta);
    if (st == ST_OK && chmod(building, 0755) != 0)
        st = fail(ST_RESOURCE, "%s: %m", building);
    if (st == ST_OK)
        st = sync_directory(building);
    if (st == ST_OK && rename(building, final) != 0)
        st = fail(ST_RESOURCE, "%s: %m", final);
    return st == ST_OK ? sync_directory(a->dir) : st;
}

/* Until it is known to be a key the copy is nobody else's to read: it may be any file that the
 * coordinator's user can. */
enum status store_build(struct addition *a)
{
    char building[PATH_MAX];
    enum status st = store_path(building, sizeof building, a->dir, a->entry.circuit.name, true, "");
    const char *entry = strrchr(building, '/') + 1;
    if (st == ST_OK)
        st = store_remove_directory(a->dir, entry);
    if (st == ST_OK && mkdir(building, 0700) != 0)
        st = fail(ST_RESOURCE, "%s: %m", building);
    if (st != ST_OK)
        return st;
    st = copy_both(a);
    if (st == ST_OK)
        st = publish(a, building);
    if (st != ST_OK) {
        enum status ignored = store_remove_directory(a->dir, entry); /* swept at the next start */
        (void)ignored;
    }
    return st;
}
