#include "shm/coord/coord.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "shm/journal.h"
#include "shm/ledger_write.h"
#include "shm/process.h"
#include "shm/spool.h"

static enum status path_in(char *out, size_t size, const struct coord *c, const char *name)
{
    if (snprintf(out, size, "%s/%s", c->dir, name) >= (int)size)
        return fail(ST_RESOURCE, "%s: the path is too long", c->dir);
    return ST_OK;
}

/* Whoever can write to it can put another journal there. */
static enum status check_directory(const char *dir)
{
    struct stat s;
    if (stat(dir, &s) != 0)
        return fail(ST_RESOURCE, "directory %s: %m", dir);
    if (!S_ISDIR(s.st_mode))
        return fail(ST_RESOURCE, "%s: is not a directory: name another --dir", dir);
    if (s.st_uid != geteuid())
        return fail(ST_RESOURCE,
                    "directory %s: belongs to user %u, this is user %u: run as that user, or name "
                    "another --dir",
                    dir, s.st_uid, geteuid());
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return fail(ST_RESOURCE, "directory %s: others may write to it (mode %03o): chmod go-w it",
                    dir, s.st_mode & 0777);
    return ST_OK;
}

static enum status open_directory(struct coord *c)
{
    const char *dir = c->options.dir;
    if (mkdir(dir, 0755) != 0 && errno != EEXIST)
        return fail(ST_RESOURCE, "directory %s: %m: make it, or name another --dir", dir);
    c->dir = realpath(dir, NULL);
    if (!c->dir)
        return fail(ST_RESOURCE, "directory %s: %m", dir);
    enum status st = check_directory(c->dir);
    return st == ST_OK ? names_derive(&c->names, c->dir) : st;
}

static enum status take_lock(struct coord *c)
{
    char path[PATH_MAX];
    enum status st = path_in(path, sizeof path, c, "coord.lock");
    return st == ST_OK ? ledger_lock_acquire(&c->lock, path) : st;
}

/* ---- ledger and arena ---- */

static bool anyone_lives(const struct ledger *l)
{
    for (uint32_t i = 0; i < ledger_clients(l); i++) {
        struct client client;
        if (ledger_client_read(l, (uint16_t)i, &client) == ST_OK && client.state != CLIENT_FREE &&
            process_is_alive(client.pid, client.start_time))
            return true;
    }
    status_clear();
    return false;
}

static bool is_in_use(const struct ledger *l)
{
    for (uint32_t i = 0; i < ledger_slots(l); i++) {
        struct slice_record r;
        if (ledger_read_slot(l, i, &r) != ST_OK || r.state != SLOT_FREE)
            return true;
    }
    return anyone_lives(l);
}

static bool has_the_shape(const struct coord *c, const struct ledger *l)
{
    const struct coord_options *o = &c->options;
    const struct arena_desc *a = ledger_arena(l);
    return a->bytes == o->arena_bytes && ledger_slots(l) == o->slots &&
           ledger_clients(l) == o->clients &&
           (o->arena_kind == ARENA_AUTO || a->kind == o->arena_kind) &&
           (o->arena_chunk == 0 || a->chunk == o->arena_chunk);
}

/* What an earlier coordinator left is gone on with, unless nobody needs it and the configuration
 * now says something else, or its arena is gone. *adopted: c->ledger and c->arena are open. */
static enum status adopt(struct coord *c, bool *adopted)
{
    struct ledger *l;
    *adopted = false;
    enum status st = ledger_adopt(&l, c->lock, c->names.ledger);
    if (st == ST_NO_DAEMON) {
        status_clear();
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    bool same = has_the_shape(c, l);
    if (!same && !is_in_use(l)) {
        ledger_detach(l);
        return ST_OK;
    }
    st = arena_attach(&c->arena, ledger_arena(l), ARENA_WRITE);
    if (st != ST_OK) {
        bool lives = anyone_lives(l);
        ledger_detach(l);
        if (lives)
            return st;
        log_event(LEVEL_WARN, NULL, "arena made anew", log_string("reason", status_message()));
        status_clear();
        return ST_OK;
    }
    if (!same)
        log_event(LEVEL_WARN, NULL, "arena in use: its new size, kind and counts wait for a drain");
    c->ledger = l;
    *adopted = true;
    return ST_OK;
}

static enum status make(struct coord *c)
{
    const struct coord_options *o = &c->options;
    struct arena_options arena = {.kind = o->arena_kind,
                                  .bytes = o->arena_bytes,
                                  .chunk = o->arena_chunk,
                                  .name = c->names.arena,
                                  .mount = o->huge_mount};
    enum status st = arena_create(&c->arena, &arena);
    if (st != ST_OK)
        return st;
    if (arena_warning(c->arena)[0])
        log_event(LEVEL_WARN, NULL, "arena without huge pages",
                  log_string("reason", arena_warning(c->arena)));
    st = ledger_create(&c->ledger, c->lock, c->names.ledger, o->clients, o->slots,
                       arena_desc(c->arena));
    c->arena_is_new = st == ST_OK;
    if (st != ST_OK) {
        enum status ignored = arena_unlink(c->arena); /* found and removed at the next start */
        (void)ignored;
    }
    return st;
}

/* ---- the rest ---- */

static void set_budget(struct coord *c)
{
    struct desk_config *d = &c->options.desk;
    uint64_t arena = arena_desc(c->arena)->bytes;
    if (d->host_memory == 0)
        d->host_memory = coord_host_memory() / 10 * 9;
    if (d->key_budget == 0)
        d->key_budget = d->host_memory > arena ? (d->host_memory - arena) / 2 : 0;
    d->ledger_name = c->names.ledger;
    d->owner = geteuid();
}

static enum status open_files(struct coord *c, void (*wake)(void *arg), void *arg)
{
    char path[PATH_MAX];
    enum status st = path_in(path, sizeof path, c, "journal.db");
    if (st == ST_OK)
        st = journal_open(&c->journal, NULL, path);
    if (st == ST_OK)
        st = path_in(path, sizeof path, c, "spool");
    if (st == ST_OK)
        st = spool_open(&c->spool, path, c->options.upload_max);
    if (st == ST_OK)
        st = path_in(path, sizeof path, c, "circuits");
    if (st == ST_OK)
        st = store_open(&c->store, path, c->options.inspect, wake, arg);
    return st;
}

static enum status open_all(struct coord *c, void (*wake)(void *arg), void *arg)
{
    bool adopted = false;
    enum status st = open_directory(c);
    if (st == ST_OK)
        st = take_lock(c);
    if (st == ST_OK)
        st = adopt(c, &adopted);
    if (st == ST_OK && !adopted)
        st = make(c);
    if (st != ST_OK)
        return st;
    set_budget(c);
    return open_files(c, wake, arg);
}

enum status coord_open(struct coord *out, const struct coord_options *options,
                       void (*wake)(void *arg), void *arg)
{
    *out = (struct coord){.options = *options};
    enum status st = open_all(out, wake, arg);
    if (st != ST_OK)
        coord_close(out, out->arena_is_new);
    return st;
}

static void remove_objects(struct coord *c)
{
    enum status st = arena_unlink(c->arena);
    if (st == ST_OK)
        st = ledger_unlink(c->names.ledger);
    if (st != ST_OK) {
        log_event(LEVEL_WARN, NULL, "shared memory not removed",
                  log_string("reason", status_message()));
        status_clear();
    }
}

void coord_close(struct coord *c, bool remove)
{
    if (remove && c->arena && c->ledger)
        remove_objects(c);
    store_close(c->store);
    spool_close(c->spool);
    journal_close(c->journal);
    arena_detach(c->arena);
    ledger_detach(c->ledger);
    ledger_lock_release(c->lock);
    free(c->dir);
    *c = (struct coord){.dir = NULL};
}
