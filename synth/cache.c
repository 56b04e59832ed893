#include "synth/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Which very file stood under a name. */
struct identity {
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

struct entry {
    char *key, *r1cs; /* owned; key NULL: unused. r1cs NULL: none */
    struct identity of_key, of_r1cs;
    struct synthesis synthesis; /* borrows the paths */
    uint64_t used;
};

struct cache {
    struct pool *pool;
    uint64_t uses;
    struct entry entry[CACHE_CIRCUITS];
};

enum status cache_create(struct cache **out, struct pool *pool)
{
    struct cache *c = calloc(1, sizeof *c);
    if (!c)
        return fail(ST_RESOURCE, "no memory");
    c->pool = pool;
    *out = c;
    return ST_OK;
}

static void drop(struct entry *e)
{
    synthesis_close(&e->synthesis);
    free(e->key);
    free(e->r1cs);
    *e = (struct entry){.used = 0};
}

void cache_destroy(struct cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CACHE_CIRCUITS; i++)
        drop(&c->entry[i]);
    free(c);
}

/* All zero for a file that is not there: opening it then says so. */
static struct identity identify(const char *path)
{
    struct stat s;
    if (!path || stat(path, &s) != 0)
        return (struct identity){.device = 0};
    return (struct identity){s.st_dev, s.st_ino, s.st_ctim};
}

static bool same_file(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool same_path(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct entry *find(struct cache *c, const char *key, const char *r1cs)
{
    for (size_t i = 0; i < CACHE_CIRCUITS; i++) {
        struct entry *e = &c->entry[i];
        if (e->key && same_path(e->key, key) && same_path(e->r1cs, r1cs))
            return e;
    }
    return NULL;
}

static struct entry *victim(struct cache *c)
{
    struct entry *oldest = &c->entry[0];
    for (size_t i = 1; i < CACHE_CIRCUITS; i++)
        if (c->entry[i].used < oldest->used)
            oldest = &c->entry[i];
    return oldest;
}

static enum status open_entry(struct cache *c, struct entry *e, const char *key, const char *r1cs)
{
    /* identified before it is opened: a file replaced in between is opened again next time */
    e->of_key = identify(key);
    e->of_r1cs = identify(r1cs);
    e->key = strdup(key);
    e->r1cs = r1cs ? strdup(r1cs) : NULL;
    enum status st = ST_OK;
    if (!e->key || (r1cs && !e->r1cs))
        st = fail(ST_RESOURCE, "no memory");
    if (st == ST_OK)
        st = synthesis_open(&e->synthesis, e->key, e->r1cs, c->pool);
    if (st != ST_OK)
        drop(e);
    return st;
}

enum status cache_get(struct cache *c, const struct synthesis **out, const char *key,
                      const char *r1cs)
{
    struct entry *e = find(c, key, r1cs);
    struct identity k = identify(key), r = identify(r1cs);
    if (!e || !same_file(&e->of_key, &k) || !same_file(&e->of_r1cs, &r)) {
        if (!e)
            e = victim(c);
        drop(e);
        enum status st = open_entry(c, e, key, r1cs);
        if (st != ST_OK)
            return st;
    }
    e->used = ++c->uses;
    *out = &e->synthesis;
    return ST_OK;
}
