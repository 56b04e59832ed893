#include "shm/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fault.h"
#include "common/sha256.h"

struct upload {
    char id[JOB_ID_MAX + 1]; /* "" when the place is free */
    uint32_t uid;
    uint64_t size, written;
    uint8_t sha256[32];
    struct sha256 running; /* of what is written */
    int fd;
    int64_t touched;
};

struct spool {
    char *dir;
    int fd;
    uint64_t max_bytes;
    struct upload uploads[SPOOL_UPLOADS];
};

/* "ID~": no id has a tilde. */
struct partial {
    char name[JOB_ID_MAX + 2];
};

static struct partial partial_name(const char *id)
{
    struct partial p;
    snprintf(p.name, sizeof p.name, "%s~", id);
    return p;
}

/* --- the directory --- */

static enum status open_directory(struct spool *s)
{
    struct stat info;
    if (mkdir(s->dir, 0700) != 0 && errno != EEXIST)
        return fail(ST_RESOURCE, "spool %s: cannot be created: %m", s->dir);
    s->fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &info) != 0)
        return fail(ST_RESOURCE, "spool %s: cannot be opened as a directory: %m", s->dir);
    if (info.st_uid != geteuid())
        return fail(ST_RESOURCE, "spool %s: belongs to user %u, not to %u, who runs this", s->dir,
                    info.st_uid, geteuid());
    if ((info.st_mode & 077) != 0)
        return fail(ST_RESOURCE, "spool %s: is open to others (mode %03o): chmod 700 it", s->dir,
                    info.st_mode & 0777);
    return ST_OK;
}

enum status spool_open(struct spool **out, const char *dir, uint64_t max_bytes)
{
    struct spool *s = calloc(1, sizeof *s);
    char *copy = strdup(dir);
    if (s == NULL || copy == NULL) {
        free(s);
        free(copy);
        return fail(ST_RESOURCE, "spool %s: out of memory", dir);
    }
    s->dir = copy;
    s->fd = -1;
    s->max_bytes = max_bytes;
    enum status st = open_directory(s);
    if (st != ST_OK) {
        spool_close(s);
        return st;
    }
    *out = s;
    return ST_OK;
}

static void drop(struct spool *s, struct upload *u)
{
    unlinkat(s->fd, partial_name(u->id).name, 0);
    close(u->fd);
    u->id[0] = '\0';
}

void spool_close(struct spool *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < SPOOL_UPLOADS; i++)
        if (s->uploads[i].id[0] != '\0')
            drop(s, &s->uploads[i]);
    if (s->fd >= 0)
        close(s->fd);
    free(s->dir);
    free(s);
}

/* --- uploads --- */

static struct upload *find(struct spool *s, const char *id)
{
    for (int i = 0; i < SPOOL_UPLOADS; i++)
        if (strcmp(s->uploads[i].id, id) == 0)
            return &s->uploads[i];
    return NULL;
}

/* Size of the job's file; *there false when there is none. */
static enum status file_size(struct spool *s, const char *id, bool *there, uint64_t *size)
{
    struct stat info;
    *there = fstatat(s->fd, id, &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*there)
        return errno == ENOENT ? ST_OK : fail(ST_RESOURCE, "spool %s: %s: %m", s->dir, id);
    if (!S_ISREG(info.st_mode))
        return fail(ST_RESOURCE, "spool %s: %s is not a regular file: remove it", s->dir, id);
    *size = (uint64_t)info.st_size;
    return ST_OK;
}

/* A free place, if this user may have one more. */
static enum status find_place(struct spool *s, struct upload **out, const struct spool_upload *new)
{
    unsigned of_user = 0;
    struct upload *place = NULL;
    for (int i = 0; i < SPOOL_UPLOADS; i++) {
        struct upload *u = &s->uploads[i];
        if (u->id[0] == '\0')
            place = u;
        else if (u->uid == new->uid)
            of_user++;
    }
    if (of_user >= SPOOL_UPLOADS_OF_USER)
        return fail(ST_RESOURCE, "job %s: %u uploads of user %u are open: finish one first",
                    new->id, of_user, new->uid);
    if (place == NULL)
        return fail(ST_RESOURCE, "job %s: %d uploads are open: try again later", new->id,
                    SPOOL_UPLOADS);
    *out = place;
    return ST_OK;
}

static enum status create_partial(struct spool *s, int *fd, const char *id)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    struct partial p = partial_name(id);
    *fd = openat(s->fd, p.name, flags, 0600);
    if (*fd < 0 && errno == EEXIST && unlinkat(s->fd, p.name, 0) == 0)
        *fd = openat(s->fd, p.name, flags, 0600);
    return *fd >= 0 ? ST_OK : fail(ST_RESOURCE, "spool %s: %s: %m", s->dir, p.name);
}

static enum status begin_new(struct spool *s, const struct spool_upload *new, int64_t now)
{
    struct upload *u = NULL;
    int fd = -1;
    enum status st = find_place(s, &u, new);
    if (st == ST_OK)
        st = create_partial(s, &fd, new->id);
    if (st != ST_OK)
        return st;
    *u = (struct upload){.uid = new->uid, .size = new->size, .fd = fd, .touched = now};
    memcpy(u->id, new->id, strlen(new->id) + 1);
    memcpy(u->sha256, new->sha256, sizeof u->sha256);
    sha256_init(&u->running);
    return ST_OK;
}

static enum status check_announced(const struct spool *s, const struct spool_upload *upload)
{
    enum status st = job_id_check(upload->id);
    if (st != ST_OK)
        return st;
    if (upload->size == 0 || upload->size > s->max_bytes)
        return fail(ST_INPUT,
                    "job %s: an input of %llu bytes: 1 to %llu are allowed "
                    "(upload.max_bytes)",
                    upload->id, (unsigned long long)upload->size, (unsigned long long)s->max_bytes);
    return ST_OK;
}

enum status spool_begin(struct spool *s, uint64_t *offset, const struct spool_upload *upload,
                        int64_t now)
{
    bool there;
    uint64_t size = 0;
    enum status st = check_announced(s, upload);
    if (st != ST_OK)
        return st;
    struct upload *u = find(s, upload->id);
    if (u != NULL) {
        if (u->uid != upload->uid || u->size != upload->size ||
            memcmp(u->sha256, upload->sha256, sizeof u->sha256) != 0)
            return fail(ST_INPUT, "job %s: another upload has this id: choose another", upload->id);
        u->touched = now;
        *offset = u->written;
        return ST_OK;
    }
    st = file_size(s, upload->id, &there, &size);
    if (st != ST_OK)
        return st;
    if (there && size != upload->size)
        return fail(ST_INPUT, "job %s: this id belongs to another request: choose another",
                    upload->id);
    if (!there)
        st = begin_new(s, upload, now);
    if (st == ST_OK)
        *offset = there ? size : 0;
    return st;
}

/* The open upload of id, checked for its user; *out is NULL when the file is complete instead. */
static enum status find_open(struct spool *s, struct upload **out, uint64_t *size, const char *id,
                             uint32_t uid)
{
    bool there = true;
    enum status st = job_id_check(id);
    if (st != ST_OK)
        return st;
    *out = find(s, id);
    if (*out != NULL && (*out)->uid != uid)
        return fail(ST_INPUT, "job %s: another user's upload", id);
    if (*out == NULL)
        st = file_size(s, id, &there, size);
    if (st != ST_OK)
        return st;
    return there ? ST_OK : fail(ST_INPUT, "job %s: no upload is open: begin again", id);
}

static enum status write_all(struct spool *s, struct upload *u, const uint8_t *bytes, size_t len)
{
    size_t done = 0;
    if (FAULT_FAILS("spool.write"))
        return fail(ST_RESOURCE, "spool %s: %s~: fault", s->dir, u->id);
    while (done < len) {
        ssize_t n = pwrite(u->fd, bytes + done, len - done, (off_t)(u->written + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(ST_RESOURCE, "spool %s: %s~ at byte %llu: %m", s->dir, u->id,
                        (unsigned long long)u->written + done);
        done += (size_t)n;
    }
    return ST_OK;
}

enum status spool_write(struct spool *s, uint64_t *next, const char *id, uint32_t uid,
                        uint64_t offset, const void *bytes, size_t len, int64_t now)
{
    struct upload *u;
    uint64_t size = 0;
    enum status st = find_open(s, &u, &size, id, uid);
    if (st != ST_OK)
        return st;
    uint64_t written = u != NULL ? u->written : size;
    if (u != NULL)
        size = u->size;
    if (offset > size || len > size - offset)
        return fail(ST_INPUT, "job %s: a chunk of %zu bytes at %llu passes the announced %llu", id,
                    len, (unsigned long long)offset, (unsigned long long)size);
    if (u != NULL && offset == written) {
        st = write_all(s, u, bytes, len);
        if (st != ST_OK)
            return st;
        sha256_update(&u->running, bytes, len);
        u->written = written += len;
    } else if (offset > written || len > written - offset) {
        return fail(ST_INPUT, "job %s: a chunk at %llu: the next one goes to %llu", id,
                    (unsigned long long)offset, (unsigned long long)written);
    }
    if (u != NULL)
        u->touched = now;
    *next = written;
    return ST_OK;
}

static enum status check_complete(struct upload *u)
{
    uint8_t digest[32];
    struct sha256 copy = u->running;
    if (u->written != u->size)
        return fail(ST_INPUT, "job %s: incomplete: the next chunk goes to %llu of %llu", u->id,
                    (unsigned long long)u->written, (unsigned long long)u->size);
    sha256_final(&copy, digest);
    if (memcmp(digest, u->sha256, sizeof digest) != 0)
        return fail(ST_INPUT, "job %s: the bytes uploaded do not have the announced SHA-256",
                    u->id);
    return ST_OK;
}

/* First the bytes, then the name, then the directory: a crash leaves a partial file or a whole one.
 */
static enum status make_file(struct spool *s, struct upload *u)
{
    if (FAULT_FAILS("spool.sync") || fsync(u->fd) != 0)
        return fail(ST_RESOURCE, "spool %s: %s~: cannot be synced: %m", s->dir, u->id);
    if (renameat(s->fd, partial_name(u->id).name, s->fd, u->id) != 0)
        return fail(ST_RESOURCE, "spool %s: %s~: cannot be renamed: %m", s->dir, u->id);
    FAULT_POINT("spool.renamed");
    if (fsync(s->fd) != 0)
        return fail(ST_RESOURCE, "spool %s: cannot be synced: %m", s->dir);
    FAULT_POINT("spool.accepted");
    return ST_OK;
}

enum status spool_commit(struct spool *s, const char *id, uint32_t uid)
{
    struct upload *u;
    uint64_t size;
    enum status st = find_open(s, &u, &size, id, uid);
    if (st != ST_OK || u == NULL)
        return st;
    bool complete = u->written == u->size;
    st = check_complete(u);
    if (st == ST_OK)
        st = make_file(s, u);
    if (st == ST_OK) {
        close(u->fd);
        u->id[0] = '\0';
    } else if (complete) {
        drop(s, u); /* after a failed sync nobody knows what is on disk */
    }
    return st;
}

void spool_abandon(struct spool *s, const char *id)
{
    struct upload *u = job_id_valid(id) ? find(s, id) : NULL;
    if (u != NULL)
        drop(s, u);
}

size_t spool_expire(struct spool *s, int64_t now, int64_t idle_ms)
{
    size_t count = 0;
    for (int i = 0; i < SPOOL_UPLOADS; i++) {
        struct upload *u = &s->uploads[i];
        if (u->id[0] != '\0' && now - u->touched >= idle_ms) {
            drop(s, u);
            count++;
        }
    }
    return count;
}

/* --- files --- */

enum status spool_remove(struct spool *s, const char *id)
{
    enum status st = job_id_check(id);
    if (st != ST_OK)
        return st;
    FAULT_POINT("spool.remove");
    if (unlinkat(s->fd, id, 0) != 0 && errno != ENOENT)
        return fail(ST_RESOURCE, "spool %s: %s: cannot be removed: %m", s->dir, id);
    return ST_OK;
}

enum status spool_size(struct spool *s, uint64_t *size, const char *id)
{
    bool there;
    enum status st = job_id_check(id);
    if (st == ST_OK)
        st = file_size(s, id, &there, size);
    if (st != ST_OK)
        return st;
    return there ? ST_OK : fail(ST_INPUT, "job %s: has no file in the spool", id);
}

enum status spool_path(const struct spool *s, char *out, size_t cap, const char *id)
{
    enum status st = job_id_check(id);
    if (st != ST_OK)
        return st;
    if (strlen(s->dir) + 1 + strlen(id) >= cap)
        return fail(ST_INPUT, "spool %s: this path is too long", s->dir);
    snprintf(out, cap, "%s/%s", s->dir, id);
    return ST_OK;
}

/* Removes name unless it is a directory; counts it. */
static enum status sweep_one(struct spool *s, const char *name, size_t *removed)
{
    struct stat info;
    if (fstatat(s->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
        return ST_OK;
    if (unlinkat(s->fd, name, 0) != 0)
        return fail(ST_RESOURCE, "spool %s: cannot be swept: %m", s->dir);
    ++*removed;
    return ST_OK;
}

enum status spool_sweep(struct spool *s, size_t *removed, bool (*keep)(void *arg, const char *id),
                        void *arg)
{
    enum status st = ST_OK;
    size_t count = 0;
    int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        st = fail(ST_RESOURCE, "spool %s: cannot be listed: %m", s->dir);
        if (fd >= 0)
            close(fd);
        return st;
    }
    for (int i = 0; i < SPOOL_UPLOADS; i++)
        if (s->uploads[i].id[0] != '\0')
            drop(s, &s->uploads[i]);
    for (struct dirent *e = readdir(dir); e != NULL && st == ST_OK; e = readdir(dir))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !(job_id_valid(e->d_name) && keep(arg, e->d_name)))
            st = sweep_one(s, e->d_name, &count);
    closedir(dir);
    if (st == ST_OK)
        *removed = count;
    return st;
}
