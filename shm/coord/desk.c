#include "shm/coord/desk.h"

#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"

enum { PRUNE_MS = 60000 };

int64_t desk_now(const struct desk *d)
{
    return d->host->monotonic(d->host->arg);
}

int64_t desk_wall(const struct desk *d)
{
    return d->host->wall(d->host->arg);
}

void *desk_grow(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity ? 2 * *capacity : 16;
    list = reallocarray(list, *capacity, size);
    CHECK(list);
    return list;
}

/* ---- commits and what follows them ---- */

void desk_effect(struct desk *d, int what, const struct job *job)
{
    d->effects = desk_grow(d->effects, d->effect_count, &d->effect_capacity, sizeof *d->effects);
    struct effect *e = &d->effects[d->effect_count++];
    *e = (struct effect){.what = what, .number = job->number};
    memcpy(e->id, job->id, sizeof e->id);
}

static void queue_job(struct desk *d, const struct effect *e)
{
    struct job job;
    uploads_remove(d, e->id);
    if (journal_get(d->journal, &job, e->number) != ST_OK) {
        status_clear();
        return;
    }
    log_event(LEVEL_INFO, job.id, "job accepted", log_string("circuit", job.circuit),
              log_string("priority", job_priority_name(job.priority)));
    view_note(d, "accepted", job.id, job.uid);
    if (job.state == JOB_WAITING)
        jobs_queue(d, &job);
}

static void end_job(struct desk *d, const struct effect *e)
{
    jobs_release(d, e->number);
    for (size_t i = 0; i < d->waiting_count; i++)
        d->waiting[i].ready |= d->waiting[i].what == WAIT_JOB && d->waiting[i].number == e->number;
    if (e->what != EFFECT_ENDED)
        return;
    if (spool_remove(d->spool, e->id) != ST_OK) {
        log_event(LEVEL_WARN, e->id, "input not removed", log_string("reason", status_message()));
        status_clear();
    }
}

/* What follows may cause more of it, for the next commit. */
static void follow_up(struct desk *d)
{
    struct effect *effects = d->effects;
    size_t count = d->effect_count;
    d->effects = NULL;
    d->effect_count = d->effect_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        if (effects[i].what == EFFECT_QUEUE)
            queue_job(d, &effects[i]);
        else
            end_job(d, &effects[i]);
    }
    free(effects);
}

/* A journal that cannot be read says nothing of a job. */
static bool may_be_open(void *arg, const char *id)
{
    struct desk *d = arg;
    struct job job;
    enum status st = journal_find(d->journal, &job, id);
    bool unknown = st == ST_INPUT && journal_fault(d->journal) != JOURNAL_CORRUPT;
    status_clear();
    return st == ST_OK ? !job_state_ended(job.state) : !unknown;
}

static enum status sweep_spool(struct desk *d)
{
    size_t removed;
    return spool_sweep(d->spool, &removed, may_be_open, d);
}

/* Nothing of the batch has happened: nobody is answered, and the mirror is made anew. */
static void start_over(struct desk *d, const char *reason)
{
    log_event(LEVEL_ERROR, NULL, "journal failed: starting over from what is on disk",
              log_string("reason", reason));
    status_clear();
    desk_release_unsent(d, ST_RESOURCE);
    d->effect_count = 0;
    /* an upload may be ready for a commit that was lost, an input belong to a job that has ended */
    while (d->uploads)
        uploads_remove(d, d->uploads->id);
    if (desk_recover(d) != ST_OK || sweep_spool(d) != ST_OK) {
        log_event(LEVEL_ERROR, NULL, "not recovered", log_string("reason", status_message()));
        status_clear();
    }
}

static void commit(struct desk *d)
{
    enum status st = journal_commit(d->journal);
    if (st != ST_OK || d->sick) {
        start_over(d, status_message());
        return;
    }
    follow_up(d);
    desk_release_unsent(d, ST_OK);
}

/* ---- time ---- */

static void prune(struct desk *d)
{
    size_t removed;
    int64_t before = desk_wall(d) - d->config->journal_keep_ms;
    d->pruned = desk_now(d);
    if (journal_prune(d->journal, &removed, (uint64_t)d->config->journal_keep, before) != ST_OK) {
        log_event(LEVEL_WARN, NULL, "journal not pruned", log_string("reason", status_message()));
        status_clear();
        d->sick = true;
    } else if (removed >= JOURNAL_PRUNE_MAX) {
        d->pruned -= PRUNE_MS; /* there may be more */
    }
}

static void sweep(struct desk *d)
{
    d->swept = desk_now(d);
    jobs_expire(d);
    uploads_expire(d);
    lease_tick(d);
    if (desk_now(d) - d->pruned >= PRUNE_MS)
        prune(d);
}

void desk_tick(struct desk *d)
{
    status_clear();
    store_poll(d->store);
    bool sweeping = desk_now(d) - d->swept >= SWEEP_MS;
    if (sweeping && !d->sick)
        sweep(d);
    int64_t due = journal_due(d->journal);
    if ((due != 0 && due <= desk_now(d)) || (d->sick && sweeping))
        commit(d);
    if (d->sick && sweeping)
        d->swept = desk_now(d);
    desk_serve(d);
}

void desk_reconfigured(struct desk *d)
{
    queue_set_ageing(d->queue, d->config->ageing_ms);
    view_note(d, "configuration reread", NULL, 0);
}

bool desk_is_awaited(const struct desk *d)
{
    return d->unsent_count > 0;
}

void desk_commit(struct desk *d)
{
    status_clear();
    commit(d);
    desk_serve(d);
}

void desk_was_away(struct desk *d)
{
    int64_t now = desk_now(d);
    for (uint32_t i = 0; i < d->client_count; i++)
        d->clients[i].heard = d->clients[i].lease_since = now;
    for (uint32_t i = 0; i < d->slot_count; i++)
        d->slots[i].stage_since = now;
    for (struct upload *u = d->uploads; u; u = u->next)
        u->touched = now;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t desk_due(const struct desk *d)
{
    int64_t due = d->swept + SWEEP_MS, commit_due = journal_due(d->journal);
    if (commit_due != 0)
        due = earlier(due, commit_due);
    for (size_t i = 0; i < d->waiting_count; i++)
        due = d->waiting[i].ready ? desk_now(d) : earlier(due, d->waiting[i].until);
    return due;
}

void desk_died(struct desk *d, uint16_t client)
{
    status_clear();
    clients_died(d, client);
    desk_serve(d);
}

void desk_drain(struct desk *d, bool on)
{
    if (d->draining != on) {
        log_event(LEVEL_INFO, NULL, on ? "draining" : "draining no more");
        view_note(d, on ? "draining" : "draining no more", NULL, 0);
    }
    d->draining = on;
}

/* What can still come to an end: a slice in somebody's hands, or one that a daemon may take. */
bool desk_is_idle(const struct desk *d)
{
    bool daemon = clients_gpud(d) != CLIENT_NONE;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        enum slot_state state = d->slots[i].state;
        if (state != SLOT_FREE && state != SLOT_QUARANTINE && (state != SLOT_SUBMITTED || daemon))
            return false;
    }
    return d->unsent_count == 0 && journal_due(d->journal) == 0;
}

bool desk_is_empty(const struct desk *d)
{
    for (uint32_t i = 0; i < d->client_count; i++)
        if (d->clients[i].used)
            return false;
    return d->used_slots == 0;
}

/* ---- creation ---- */

static enum status check_budget(const struct desk *d)
{
    if (d->config->host_memory > d->arena->bytes)
        return ST_OK;
    return fail(ST_RESOURCE,
                "budget.host_memory is %llu bytes, and the arena alone has %llu: raise the one or "
                "lower the other",
                (unsigned long long)d->config->host_memory, (unsigned long long)d->arena->bytes);
}

static enum status open_desk(struct desk *d, bool clean)
{
    enum status st = check_budget(d);
    if (st != ST_OK)
        return st;
    d->client_count = ledger_clients(d->ledger);
    d->clients = calloc(d->client_count, sizeof *d->clients);
    if (!d->clients)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    st = owners_create(&d->owners, d->arena, clean);
    if (st == ST_OK)
        st = desk_recover(d);
    if (st == ST_OK)
        st = journal_commit(d->journal);
    if (st == ST_OK) {
        follow_up(d);
        st = sweep_spool(d);
    }
    return st;
}

enum status desk_create(struct desk **out, const struct desk_parts *parts)
{
    struct desk *d = calloc(1, sizeof *d);
    if (!d)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    d->ledger = parts->ledger;
    d->journal = parts->journal;
    d->spool = parts->spool;
    d->store = parts->store;
    d->host = parts->host;
    d->config = parts->config;
    d->arena = ledger_arena(d->ledger);
    d->started = d->swept = d->pruned = desk_now(d);
    enum status st = open_desk(d, parts->arena_is_new);
    if (st != ST_OK) {
        desk_destroy(d);
        return st;
    }
    *out = d;
    return ST_OK;
}

static void drop_waiting(struct desk *d)
{
    for (size_t i = 0; i < d->waiting_count; i++)
        d->host->drop(d->host->arg, d->waiting[i].token);
    free(d->waiting);
    desk_release_unsent(d, ST_RESOURCE);
}

void desk_destroy(struct desk *d)
{
    if (!d)
        return;
    drop_waiting(d);
    for (uint32_t i = 0; i < d->client_count && d->clients; i++) {
        if (d->clients[i].used)
            d->host->unwatch(d->host->arg, (uint16_t)i);
        free(d->clients[i].reply);
    }
    while (d->uploads)
        uploads_remove(d, d->uploads->id);
    slots_destroy(d);
    queue_destroy(d->queue);
    freemap_destroy(d->map);
    owners_destroy(d->owners);
    json_decref(d->devices);
    free(d->clients);
    free(d->effects);
    free(d->deadlines);
    free(d->keys);
    free(d);
}
