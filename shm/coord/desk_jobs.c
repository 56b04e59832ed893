/* What happens to jobs: journal and queue together. A failed mutation has lost the journal's whole
 * batch; the commit that follows fails and the desk recovers, so nothing is undone here. */
#include <stdio.h>

#include "shm/coord/desk_private.h"

/* Whether the mutation took place. A job that is in another state by now is left as it is. */
static bool took_place(struct desk *d, enum status st)
{
    if (st == ST_OK)
        return true;
    if (st != ST_INVALID) {
        log_event(LEVEL_ERROR, NULL, "journal failed", log_string("reason", status_message()));
        d->sick = true;
    }
    status_clear();
    return false;
}

enum status jobs_plan(struct desk *d, struct slice_plan *plan, const char *circuit)
{
    const struct circuit *c = store_find(d->store, circuit);
    if (!c)
        return fail(ST_INPUT, "circuit %s: there is none of this name (pinion circuit list)",
                    circuit);
    *plan = (struct slice_plan){.w_bytes = c->shape.w_bytes,
                                .a_bytes = c->shape.a_bytes,
                                .b_bytes = c->shape.b_bytes,
                                .c_bytes = c->shape.c_bytes};
    return slice_plan(plan, d->arena->page);
}

static void hold(struct desk *d, const struct job *job, const char *evidence)
{
    if (!took_place(d, journal_hold(d->journal, job->number, evidence)))
        return;
    uint32_t slot = slots_of_job(d, job->number);
    if (slot < d->slot_count)
        d->slots[slot].ended = true;
    queue_remove(d->queue, job->number);
    desk_effect(d, EFFECT_HELD, job);
    view_note(d, "held", job->id, job->uid);
    log_event(LEVEL_WARN, job->id, "job held", log_string("reason", evidence));
}

static void add_deadline(struct desk *d, const struct job *job)
{
    for (size_t i = 0; i < d->deadline_count; i++)
        if (d->deadlines[i].number == job->number)
            return;
    d->deadlines =
        desk_grow(d->deadlines, d->deadline_count, &d->deadline_capacity, sizeof *d->deadlines);
    d->deadlines[d->deadline_count++] =
        (struct deadline){.number = job->number, .at = job->deadline};
}

void jobs_queue(struct desk *d, const struct job *job)
{
    struct slice_plan plan;
    if (jobs_plan(d, &plan, job->circuit) != ST_OK) {
        char reason[256];
        snprintf(reason, sizeof reason, "%s", status_message());
        status_clear();
        hold(d, job, reason);
        return;
    }
    int64_t waited = desk_wall(d) - job->submitted;
    struct queue_entry e = {.number = job->number,
                            .priority = job->priority,
                            .w_bytes = plan.w_mapped,
                            .abc_bytes = plan.abc_mapped,
                            .memory = store_find(d->store, job->circuit)->shape.memory,
                            .since = desk_now(d) - (waited > 0 ? waited : 0)};
    if (queue_push(d->queue, &e) != ST_OK) {
        log_event(LEVEL_ERROR, job->id, "not queued", log_string("reason", status_message()));
        status_clear();
        return;
    }
    if (job->deadline != 0)
        add_deadline(d, job);
}

static bool too_many(const struct job *job)
{
    return job->synth_deaths >= DESK_DEATHS || job->gpud_deaths_alone >= DESK_DEATHS;
}

bool jobs_blame(struct desk *d, uint64_t number, struct job_blame blame, const char *evidence)
{
    struct job job;
    if (!took_place(d, journal_blame(d->journal, number, blame)) ||
        !took_place(d, journal_get(d->journal, &job, number)) || !too_many(&job))
        return false;
    hold(d, &job, evidence);
    return true;
}

void jobs_requeue(struct desk *d, uint64_t number, struct job_blame blame, const char *evidence)
{
    struct job job;
    if (!took_place(d, journal_requeue(d->journal, number, blame)) ||
        !took_place(d, journal_get(d->journal, &job, number)))
        return;
    if (too_many(&job)) {
        hold(d, &job, evidence);
        return;
    }
    view_note(d, "waits again", job.id, job.uid);
    log_event(LEVEL_INFO, job.id, "job queued again", log_string("reason", evidence));
    jobs_queue(d, &job);
}

enum status jobs_finish(struct desk *d, const struct job *job, enum job_state state,
                        const struct job_result *result)
{
    enum status st = journal_finish(d->journal, job->number, state, result, desk_wall(d));
    if (st != ST_OK)
        return st;
    uint32_t slot = slots_of_job(d, job->number);
    if (slot < d->slot_count)
        d->slots[slot].ended = true;
    queue_remove(d->queue, job->number);
    desk_effect(d, EFFECT_ENDED, job);
    view_note(d, job_state_name(state), job->id, job->uid);
    log_event(LEVEL_INFO, job->id, "job ended", log_string("state", job_state_name(state)),
              log_string("reason", result->error));
    return ST_OK;
}

void jobs_release(struct desk *d, uint64_t number)
{
    for (uint32_t i = 0; i < d->slot_count; i++) {
        struct desk_slot *s = &d->slots[i];
        if (s->state == SLOT_FREE || !s->ended || s->number != number)
            continue;
        s->settled = true;
        if (s->acknowledged || s->client == CLIENT_NONE)
            slots_free(d, i);
    }
}

static void expire(struct desk *d, uint64_t number)
{
    struct job job;
    struct job_result result = {.error = "its deadline passed before it was started"};
    if (took_place(d, journal_get(d->journal, &job, number)) && job.state == JOB_WAITING)
        took_place(d, jobs_finish(d, &job, JOB_FAILED, &result));
}

void jobs_expire(struct desk *d)
{
    int64_t now = desk_wall(d);
    for (size_t i = 0; i < d->deadline_count;) {
        struct deadline passed = d->deadlines[i];
        if (passed.at > now) {
            i++;
            continue;
        }
        d->deadlines[i] = d->deadlines[--d->deadline_count];
        expire(d, passed.number);
    }
}
