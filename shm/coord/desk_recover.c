/* Journal and ledger brought into agreement: at start, and again after a commit that failed.
 *
 *   slice            its job waits or runs         its job has ended, or is held
 *   WRITING          stays; the job runs           stays until its client lets go or dies
 *   SUBMITTED        stays; the job runs           freed
 *   COPYING .. LEAN  stays; the job runs           stays until the daemon lets go or dies
 *   QUARANTINE       stays until its client is dead; is not the job's any more
 *
 * A slice of a job that the journal does not know, and a second one of the same job, is
 * quarantined. A job that runs without a slice waits again. Then every client that has died in the
 * meantime dies as usual. */
#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"

/* The job of a record; false when this journal does not know it. */
static bool find_job(struct desk *d, struct job *job, const struct slice_record *r)
{
    uint64_t id[2];
    memcpy(id, r->job, sizeof id);
    if (id[0] != journal_instance(d->journal))
        return false;
    bool found = journal_get(d->journal, job, id[1]) == ST_OK;
    status_clear();
    return found;
}

static enum status quarantine(struct desk *d, uint32_t i, const struct slice_record *r)
{
    slots_adopt(d, i, r, NULL);
    if (r->state != SLOT_QUARANTINE)
        slots_publish(d, i, SLOT_QUARANTINE, r->flags, r->client);
    log_event(LEVEL_WARN, NULL, "slice of an unknown job quarantined", log_u64("slot", i));
    return ST_OK;
}

/* The journal lost the start of a job that the ledger has. */
static enum status keep_running(struct desk *d, const struct job *job)
{
    return job->state == JOB_WAITING ? journal_start(d->journal, job->number, desk_wall(d)) : ST_OK;
}

static enum status adopt_slot(struct desk *d, uint32_t i, const struct slice_record *r)
{
    struct job job;
    if (!find_job(d, &job, r))
        return quarantine(d, i, r);
    bool open = job.state == JOB_WAITING || job.state == JOB_RUNNING;
    if (open && r->state != SLOT_QUARANTINE && slots_of_job(d, job.number) < d->slot_count)
        return quarantine(d, i, r);
    slots_adopt(d, i, r, &job);
    if (r->state == SLOT_QUARANTINE)
        return ST_OK;
    if (open)
        return keep_running(d, &job);
    d->slots[i].ended = d->slots[i].settled = true;
    if (r->state == SLOT_SUBMITTED)
        slots_free(d, i);
    return ST_OK;
}

/* A record of a daemon that is not in the client table goes the way of a dead daemon's. */
static void return_orphan(struct desk *d, uint32_t i)
{
    struct desk_slot *s = &d->slots[i];
    bool daemons = s->state >= SLOT_COPYING && s->state <= SLOT_LEAN;
    if (daemons && (s->client == CLIENT_NONE || d->clients[s->client].role != CLIENT_GPUD))
        gpud_return_slot(d, i, (struct job_blame){.suspect = true},
                         "its daemon was gone when the coordinator started");
}

static enum status adopt_slots(struct desk *d)
{
    enum status st = ST_OK;
    for (uint32_t i = 0; i < d->slot_count && st == ST_OK; i++) {
        struct slice_record r;
        st = ledger_read_slot(d->ledger, i, &r);
        if (st == ST_OK && r.state != SLOT_FREE)
            st = adopt_slot(d, i, &r);
    }
    for (uint32_t i = 0; i < d->slot_count && st == ST_OK; i++)
        return_orphan(d, i);
    return st;
}

/* ---- jobs ---- */

struct open_jobs {
    struct job *list;
    size_t count, capacity;
};

static enum status collect(void *arg, const struct job *job)
{
    struct open_jobs *o = arg;
    o->list = desk_grow(o->list, o->count, &o->capacity, sizeof *o->list);
    o->list[o->count++] = *job;
    return ST_OK;
}

/* return_orphan may have queued some already. */
static void place_job(struct desk *d, const struct job *job)
{
    if (job->state == JOB_WAITING) {
        queue_remove(d->queue, job->number);
        jobs_queue(d, job);
    }
    if (job->state == JOB_RUNNING && slots_of_job(d, job->number) == d->slot_count)
        jobs_requeue(d, job->number, (struct job_blame){0}, "its slice was gone");
}

static enum status place_jobs(struct desk *d)
{
    struct open_jobs open = {0};
    enum status st = journal_each_open(d->journal, collect, &open);
    for (size_t i = 0; st == ST_OK && i < open.count; i++)
        place_job(d, &open.list[i]);
    if (open.list)
        explicit_bzero(open.list, open.count * sizeof *open.list); /* seeds */
    free(open.list);
    return st;
}

/* ---- clients ---- */

static void watch_clients(struct desk *d, const bool *known)
{
    for (uint32_t i = 0; i < d->client_count; i++) {
        const struct desk_client *c = &d->clients[i];
        if (c->used && !known[i] &&
            !d->host->watch(d->host->arg, (uint16_t)i, c->pid, c->start_time))
            clients_died(d, (uint16_t)i);
    }
}

/* ---- all ---- */

static enum status start_over(struct desk *d)
{
    slots_destroy(d);
    queue_destroy(d->queue);
    freemap_destroy(d->map);
    d->queue = NULL;
    d->map = NULL;
    d->used_slots = 0;
    d->memory_reserved = 0;
    d->deadline_count = d->effect_count = 0;
    enum status st = slots_create(d);
    if (st == ST_OK)
        st = queue_create(&d->queue, d->config->ageing_ms);
    return st == ST_OK ? freemap_derive(&d->map, d->ledger) : st;
}

enum status desk_recover(struct desk *d)
{
    bool *known = calloc(d->client_count, sizeof *known);
    if (!known)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    for (uint32_t i = 0; i < d->client_count; i++)
        known[i] = d->clients[i].used;
    d->sick = false;
    enum status st = start_over(d);
    if (st == ST_OK)
        st = clients_load(d);
    if (st == ST_OK)
        st = adopt_slots(d);
    if (st == ST_OK)
        st = place_jobs(d);
    if (st == ST_OK) {
        watch_clients(d, known);
        clients_clear_quarantine(d);
    } else {
        d->sick = true;
    }
    free(known);
    return st;
}
