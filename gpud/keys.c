#include "gpud/keys.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/clock.h"
#include "common/file/zkey.h"
#include "common/groth16/ops.h"

/* Which very file a key came from. */
struct identity {
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

struct resident {
    struct key key; /* what callers hold; first, see resident_of */
    char *path;     /* owned; the zkey borrows it */
    struct identity file;
    struct zkey zkey;
    struct groth16_vkey vk;
    uint64_t bytes;
    /* under the lock */
    unsigned users;
    uint64_t used; /* when last, by the count of uses */
    bool doomed;   /* goes when nobody uses it, and is not found any more */
    struct resident *next;
};

struct keys {
    struct backend *device;
    uint64_t budget;
    pthread_mutex_t lock;
    pthread_cond_t released;
    bool stopped;
    uint64_t bytes, uses;
    struct resident *all;
};

static struct resident *resident_of(struct key *key)
{
    static_assert(offsetof(struct resident, key) == 0, "a key is the begin of its resident");
    return (struct resident *)key;
}

enum status keys_create(struct keys **out, struct backend *device, uint64_t budget)
{
    struct keys *k = calloc(1, sizeof *k);
    if (!k)
        return fail(ST_RESOURCE, "no memory");
    k->device = device;
    k->budget = budget;
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->released, NULL);
    *out = k;
    return ST_OK;
}

static void close_resident(struct keys *k, struct resident *r)
{
    if (r->key.loaded)
        k->device->ops->key_unload(k->device, r->key.loaded);
    groth16_vkey_fini(&r->vk);
    if (r->zkey.map.data)
        zkey_close(&r->zkey);
    free(r->path);
    free(r);
}

/* Takes *at out of the list and closes it. Locked. */
static void remove_resident(struct keys *k, struct resident **at)
{
    struct resident *r = *at;
    *at = r->next;
    k->bytes -= r->bytes;
    close_resident(k, r);
}

void keys_destroy(struct keys *k)
{
    if (!k)
        return;
    while (k->all) {
        CHECK(k->all->users == 0);
        remove_resident(k, &k->all);
    }
    pthread_cond_destroy(&k->released);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

static struct identity identify(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return (struct identity){.device = 0};
    return (struct identity){s.st_dev, s.st_ino, s.st_ctim};
}

static bool same_file(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* The resident key of that file; others of the circuit are of a file that is no more. Locked. */
static struct resident *find(struct keys *k, const char *circuit, const char *path,
                             const struct identity *file)
{
    struct resident *found = NULL;
    for (struct resident *r = k->all; r; r = r->next) {
        if (r->doomed || strcmp(r->key.circuit, circuit) != 0)
            continue;
        if (strcmp(r->path, path) == 0 && same_file(&r->file, file))
            found = r;
        else
            r->doomed = true;
    }
    return found;
}

static void drop_doomed(struct keys *k)
{
    for (struct resident **at = &k->all; *at;)
        if ((*at)->doomed && (*at)->users == 0)
            remove_resident(k, at);
        else
            at = &(*at)->next;
}

/* Removes the key that was not used for longest; false if all are in use. Locked. */
static bool drop_oldest(struct keys *k)
{
    struct resident **oldest = NULL;
    for (struct resident **at = &k->all; *at; at = &(*at)->next)
        if ((*at)->users == 0 && (!oldest || (*at)->used < (*oldest)->used))
            oldest = at;
    if (!oldest)
        return false;
    remove_resident(k, oldest);
    return true;
}

static enum status open_resident(struct keys *k, struct resident **out, const char *circuit,
                                 const char *path, const struct identity *file)
{
    struct resident *r = calloc(1, sizeof *r);
    if (r)
        r->path = strdup(path);
    if (!r || !r->path) {
        free(r);
        return fail(ST_RESOURCE, "no memory");
    }
    snprintf(r->key.circuit, sizeof r->key.circuit, "%s", circuit);
    r->file = *file;
    enum status st = zkey_open(&r->zkey, r->path, NULL);
    const struct groth16_key *key = &r->zkey.key;
    if (st == ST_OK)
        st = key->curve->ops->key_check(key, false, NULL, NULL);
    if (st == ST_OK)
        st = key->curve->ops->vkey(key, &r->vk);
    if (st == ST_OK) {
        r->bytes = k->device->ops->key_bytes(k->device, key);
        r->key.key = key;
        r->key.vk = &r->vk;
        if (r->bytes > k->budget)
            st = fail(ST_RESOURCE,
                      "%s: the key takes %" PRIu64 " MiB, the budget for keys is %" PRIu64
                      " MiB: raise gpud.key_budget",
                      path, (r->bytes >> 20) + 1, k->budget >> 20);
    }
    if (st == ST_OK)
        *out = r;
    else
        close_resident(k, r);
    return st;
}

/* Makes room for bytes, waiting for keys in use if it must. Locked. */
static enum status make_room(struct keys *k, uint64_t bytes)
{
    while (k->budget - bytes < k->bytes) {
        if (drop_oldest(k))
            continue;
        if (k->stopped)
            return fail(ST_NO_DAEMON, "stopped");
        pthread_cond_wait(&k->released, &k->lock);
    }
    return ST_OK;
}

/* Loads into the device, giving up idle keys while that has no room. Unlocked: loading is long. */
static enum status load(struct keys *k, struct resident *r)
{
    for (;;) {
        enum status st = k->device->ops->key_load(k->device, &r->key.loaded, r->key.key);
        if (st != ST_RESOURCE)
            return st;
        pthread_mutex_lock(&k->lock);
        bool more = drop_oldest(k);
        pthread_mutex_unlock(&k->lock);
        if (!more)
            return st;
        status_clear();
    }
}

static enum status bring_in(struct keys *k, struct resident **out, const char *circuit,
                            const char *path, const struct identity *file)
{
    struct resident *r = NULL;
    enum status st = open_resident(k, &r, circuit, path, file);
    if (st != ST_OK)
        return st;
    pthread_mutex_lock(&k->lock);
    st = make_room(k, r->bytes);
    if (st == ST_OK)
        k->bytes += r->bytes;
    pthread_mutex_unlock(&k->lock);
    if (st != ST_OK) {
        close_resident(k, r);
        return st;
    }
    st = load(k, r);
    pthread_mutex_lock(&k->lock);
    if (st == ST_OK) {
        r->next = k->all;
        k->all = r;
        r->users = 1;
        r->used = ++k->uses;
    } else {
        k->bytes -= r->bytes;
    }
    pthread_mutex_unlock(&k->lock);
    if (st == ST_OK)
        *out = r;
    else
        close_resident(k, r);
    return st;
}

enum status keys_acquire(struct keys *k, struct key **out, double *loading_ms, const char *circuit,
                         const char *path)
{
    struct identity file = identify(path);
    double start = clock_ms();
    pthread_mutex_lock(&k->lock);
    struct resident *r = find(k, circuit, path, &file);
    drop_doomed(k);
    if (r) {
        r->users++;
        r->used = ++k->uses;
    }
    pthread_mutex_unlock(&k->lock);
    *loading_ms = 0;
    if (!r) {
        enum status st = bring_in(k, &r, circuit, path, &file);
        if (st != ST_OK)
            return st;
        *loading_ms = clock_ms() - start;
    }
    *out = &r->key;
    return ST_OK;
}

void keys_release(struct keys *k, struct key *key)
{
    struct resident *r = resident_of(key);
    pthread_mutex_lock(&k->lock);
    CHECK(r->users > 0);
    r->users--;
    pthread_cond_broadcast(&k->released);
    pthread_mutex_unlock(&k->lock);
}

void keys_evict(struct keys *k, const char *circuit)
{
    pthread_mutex_lock(&k->lock);
    for (struct resident *r = k->all; r; r = r->next)
        if (strcmp(r->key.circuit, circuit) == 0)
            r->doomed = true;
    pthread_mutex_unlock(&k->lock);
}

void keys_sweep(struct keys *k)
{
    pthread_mutex_lock(&k->lock);
    drop_doomed(k);
    pthread_mutex_unlock(&k->lock);
}

void keys_stop(struct keys *k)
{
    pthread_mutex_lock(&k->lock);
    k->stopped = true;
    pthread_cond_broadcast(&k->released);
    pthread_mutex_unlock(&k->lock);
}

size_t keys_list(struct keys *k, struct key_status *out, size_t cap)
{
    size_t n = 0;
    pthread_mutex_lock(&k->lock);
    for (const struct resident *r = k->all; r; r = r->next, n++)
        if (n < cap) {
            out[n] = (struct key_status){.bytes = r->bytes, .users = r->users};
            memcpy(out[n].circuit, r->key.circuit, sizeof out[n].circuit);
        }
    pthread_mutex_unlock(&k->lock);
    return n;
}

uint64_t keys_bytes(struct keys *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t bytes = k->bytes;
    pthread_mutex_unlock(&k->lock);
    return bytes;
}
