#include "shm/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "shm/store_private.h"

/* ---- paths ---- */

enum status store_path(char *out, size_t size, const char *dir, const char *name, bool adding,
                       const char *file)
{
    int n = snprintf(out, size, adding ? "%s/.%s~%s%s" : "%s/%s%s%s", dir, name, *file ? "/" : "",
                     file);
    return n > 0 && (size_t)n < size ? ST_OK : fail(ST_INTERNAL, "%s: path is too long", dir);
}

enum status store_key_path(const struct store *s, char *out, size_t size, const char *name)
{
    return store_path(out, size, s->dir, name, false, "key.zkey");
}

enum status store_r1cs_path(const struct store *s, char *out, size_t size, const char *name)
{
    return store_path(out, size, s->dir, name, false, "circuit.r1cs");
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes the plain files of an open directory; d is closed. */
static void remove_files(DIR *d)
{
    struct dirent *e;
    while ((e = readdir(d)) != NULL)
        if (!is_dot(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

enum status store_remove_directory(const char *dir, const char *entry)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", dir, entry) >= (int)sizeof path)
        return fail(ST_INTERNAL, "%s: path is too long", dir);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return ST_OK;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return fail(ST_RESOURCE, "%s: %m", path);
    remove_files(d);
    return rmdir(path) == 0 ? ST_OK : fail(ST_RESOURCE, "%s: %m", path);
}

/* ---- the table ---- */

/* The place of name: of the first entry that is not below it. */
static size_t lower_bound(const struct store *s, const char *name)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->entries[middle].circuit.name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct store_entry *find(const struct store *s, const char *name)
{
    size_t i = lower_bound(s, name);
    bool found = i < s->count && strcmp(s->entries[i].circuit.name, name) == 0;
    return found ? &s->entries[i] : NULL;
}

static enum status insert(struct store *s, const struct store_entry *e)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 16;
        struct store_entry *entries = reallocarray(s->entries, capacity, sizeof *entries);
        if (!entries)
            return fail(ST_RESOURCE, "circuit store %s: out of memory", s->dir);
        s->entries = entries;
        s->capacity = capacity;
    }
    size_t i = lower_bound(s, e->circuit.name);
    memmove(&s->entries[i + 1], &s->entries[i], (s->count - i) * sizeof *s->entries);
    s->entries[i] = *e;
    s->count++;
    return ST_OK;
}

const struct circuit *store_find(const struct store *s, const char *name)
{
    const struct store_entry *e = find(s, name);
    return e ? &e->circuit : NULL;
}

const struct circuit *store_at(const struct store *s, size_t i)
{
    return i < s->count ? &s->entries[i].circuit : NULL;
}

/* Gives up the name in one step, so that no crash leaves half a circuit under it; what then is not
 * deleted goes at the next start, like an addition that was broken off. */
static enum status set_aside(struct store *s, const char *name)
{
    char path[PATH_MAX] = "", aside[PATH_MAX] = "";
    enum status st = store_path(path, sizeof path, s->dir, name, false, "");
    if (st == ST_OK)
        st = store_path(aside, sizeof aside, s->dir, name, true, "");
    if (st == ST_OK)
        st = store_remove_directory(s->dir, strrchr(aside, '/') + 1);
    if (st == ST_OK && rename(path, aside) != 0 && errno != ENOENT)
        st = fail(ST_RESOURCE, "%s: %m", path);
    if (st != ST_OK)
        return st;
    if (store_remove_directory(s->dir, strrchr(aside, '/') + 1) != ST_OK) {
        log_event(LEVEL_WARN, NULL, "circuit not deleted", log_string("reason", status_message()));
        status_clear();
    }
    return ST_OK;
}

enum status store_remove(struct store *s, const char *name)
{
    struct store_entry *e = find(s, name);
    if (!e)
        return fail(ST_INPUT, "circuit %s: there is none of this name", name);
    enum status st = set_aside(s, e->circuit.name);
    if (st != ST_OK)
        return st;
    size_t i = (size_t)(e - s->entries);
    s->count--;
    memmove(&s->entries[i], &s->entries[i + 1], (s->count - i) * sizeof *s->entries);
    return ST_OK;
}

/* ---- opening ---- */

static void skip(const char *name)
{
    log_event(LEVEL_WARN, NULL, "circuit left out", log_string("circuit", name),
              log_string("reason", status_message()));
    status_clear();
}

static enum status load(struct store *s, const char *name)
{
    struct store_entry e;
    enum status st = ST_OK;
    if (name[0] == '.' && !is_dot(name)) {
        st = store_remove_directory(s->dir, name);
    } else if (job_id_valid(name)) {
        st = store_meta_read(&e, s->dir, name);
        if (st == ST_OK)
            return insert(s, &e);
    }
    if (st != ST_OK)
        skip(name);
    return ST_OK;
}

static enum status load_all(struct store *s)
{
    if (mkdir(s->dir, 0755) != 0 && errno != EEXIST)
        return fail(ST_RESOURCE, "circuit store %s: %m", s->dir);
    DIR *d = opendir(s->dir);
    if (!d)
        return fail(ST_RESOURCE, "circuit store %s: %m", s->dir);
    enum status st = ST_OK;
    struct dirent *e;
    while (st == ST_OK && (e = readdir(d)) != NULL)
        st = load(s, e->d_name);
    closedir(d);
    return st;
}

enum status store_open(struct store **out, const char *dir, store_inspector *inspect,
                       void (*wake)(void *arg), void *arg)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s || !(s->dir = strdup(dir))) {
        free(s);
        return fail(ST_RESOURCE, "circuit store %s: out of memory", dir);
    }
    s->inspect = inspect;
    s->addition.wake = wake;
    s->addition.arg = arg;
    CHECK(pthread_mutex_init(&s->addition.lock, NULL) == 0);
    enum status st = load_all(s);
    if (st != ST_OK) {
        store_close(s);
        return st;
    }
    *out = s;
    return ST_OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    if (s->addition.running) {
        pthread_mutex_lock(&s->addition.lock);
        s->addition.cancelled = true;
        pthread_mutex_unlock(&s->addition.lock);
        pthread_join(s->addition.thread, NULL);
    }
    pthread_mutex_destroy(&s->addition.lock);
    free(s->entries);
    free(s->dir);
    free(s);
}

/* ---- adding ---- */

static void *run(void *arg)
{
    struct addition *a = arg;
    a->status = store_build(a);
    snprintf(a->message, sizeof a->message, "%s", status_message());
    pthread_mutex_lock(&a->lock);
    a->ended = true;
    pthread_mutex_unlock(&a->lock);
    if (a->wake)
        a->wake(a->arg);
    return NULL;
}

static enum status identify(struct store_source *out, const char *key, const char *r1cs)
{
    struct stat info;
    if (key[0] != '/' || (r1cs && r1cs[0] != '/'))
        return fail(ST_INPUT, "%s: must be an absolute path", key[0] != '/' ? key : r1cs);
    if (stat(key, &info) != 0)
        return fail(ST_INPUT, "%s: %m (the coordinator's user must be able to read it)", key);
    *out = (struct store_source){.bytes = (uint64_t)info.st_size,
                                 .changed = info.st_mtim.tv_sec * INT64_C(1000000000) +
                                            info.st_mtim.tv_nsec};
    if (snprintf(out->key, sizeof out->key, "%s", key) >= (int)sizeof out->key ||
        snprintf(out->r1cs, sizeof out->r1cs, "%s", r1cs ? r1cs : "") >= (int)sizeof out->r1cs)
        return fail(ST_INPUT, "path of %zu characters is too long", strlen(key));
    return ST_OK;
}

static bool same_source(const struct store_source *a, const struct store_source *b)
{
    return a->bytes == b->bytes && a->changed == b->changed && strcmp(a->key, b->key) == 0 &&
           strcmp(a->r1cs, b->r1cs) == 0;
}

static enum status start(struct store *s, const char *name, const struct store_source *source)
{
    struct addition *a = &s->addition;
    a->entry = (struct store_entry){.source = *source};
    memcpy(a->entry.circuit.name, name, strlen(name) + 1);
    a->entry.circuit.has_r1cs = source->r1cs[0] != '\0';
    a->dir = s->dir;
    a->inspect = s->inspect;
    a->ended = a->cancelled = false;
    if (pthread_create(&a->thread, NULL, run, a) != 0)
        return fail(ST_RESOURCE, "circuit %s: no thread to copy its key: %m", name);
    a->running = true;
    return ST_OK;
}

bool store_poll(struct store *s)
{
    struct addition *a = &s->addition;
    pthread_mutex_lock(&a->lock);
    bool ended = a->ended;
    pthread_mutex_unlock(&a->lock);
    if (!a->running || !ended)
        return false;
    pthread_join(a->thread, NULL);
    a->running = false;
    if (a->status == ST_OK)
        a->status = insert(s, &a->entry);
    a->failed = a->status != ST_OK;
    return !a->failed;
}

enum status store_add(struct store *s, enum store_progress *progress, const char *name,
                      const char *key, const char *r1cs)
{
    struct addition *a = &s->addition;
    struct store_source source;
    if (!job_id_valid(name))
        return fail(ST_INPUT,
                    "circuit name: must have 1 to %d characters of A-Z a-z 0-9 . _ -, the first "
                    "not a dot",
                    JOB_ID_MAX);
    enum status st = identify(&source, key, r1cs);
    if (st != ST_OK)
        return st;
    store_poll(s);
    const struct store_entry *e = find(s, name);
    if (e && !same_source(&e->source, &source))
        return fail(ST_INPUT, "circuit %s: exists with another key: remove it first", name);
    *progress = e ? STORE_READY : STORE_ADDING;
    if (e || a->running)
        return ST_OK;
    if (a->failed && strcmp(a->entry.circuit.name, name) == 0 &&
        same_source(&a->entry.source, &source)) {
        a->failed = false;
        return fail(a->status, "%s", a->message);
    }
    return start(s, name, &source);
}
