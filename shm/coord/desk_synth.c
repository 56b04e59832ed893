/* What synthesis asks: take, submitted, failed. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "shm/coord/desk_private.h"

/* ---- take ---- */

struct answer synth_nothing(void)
{
    return answer_ok(json_pack("{s:n}", "job"));
}

static bool fits(void *arg, const struct queue_entry *e)
{
    return slots_fit(arg, e->w_bytes, e->abc_bytes);
}

static struct answer describe_grant(struct desk *d, uint32_t i, const struct job *job)
{
    char key[PATH_MAX], r1cs[PATH_MAX], witness[PATH_MAX];
    const struct circuit *c = store_find(d->store, job->circuit);
    enum status st = store_key_path(d->store, key, sizeof key, job->circuit);
    if (st == ST_OK)
        st = store_r1cs_path(d->store, r1cs, sizeof r1cs, job->circuit);
    if (st == ST_OK)
        st = spool_path(d->spool, witness, sizeof witness, job->id);
    if (st != ST_OK)
        return answer_failure(d, st);
    const struct desk_slot *s = &d->slots[i];
    return answer_ok(json_pack(
        "{s:{s:s, s:s, s:s, s:s?, s:s?, s:b, s:I}, s:[I, I]}", "job", "id", job->id, "circuit",
        job->circuit, "key", key, "r1cs", c && c->has_r1cs ? r1cs : NULL, "witness",
        job->spool_bytes > 0 ? witness : NULL, "seed_present", job->seed[0] != '\0', "attempt",
        (json_int_t)job->attempts, "handle", (json_int_t)i, (json_int_t)s->generation));
}

/* Takes the next job and grants it a slice; false when there is none. */
static bool grant_next(struct desk *d, uint16_t client, uint32_t *slot, struct job *job)
{
    struct queue_entry e;
    struct queue_room room = {.bytes = freemap_free_bytes(d->map),
                              .memory = slots_memory_free(d),
                              .slots = d->slot_count - d->used_slots,
                              .running = d->used_slots,
                              .fits = fits,
                              .arg = d};
    if (!queue_take(d->queue, &e, &room, desk_now(d)))
        return false;
    enum status st = journal_get(d->journal, job, e.number);
    const struct circuit *c = st == ST_OK ? store_find(d->store, job->circuit) : NULL;
    if (st == ST_OK && !c)
        st = fail(ST_INTERNAL, "circuit %s: is gone", job->circuit);
    if (st == ST_OK)
        st = journal_start(d->journal, e.number, desk_wall(d));
    if (st == ST_OK)
        st = slots_grant(d, slot, client, job, c);
    if (st == ST_OK) {
        job->attempts++;
        return true;
    }
    log_event(LEVEL_ERROR, NULL, "grant failed", log_u64("number", e.number),
              log_string("reason", status_message()));
    status_clear();
    d->sick = true; /* journal and queue disagree: start over from the journal */
    return false;
}

bool synth_serve(struct desk *d, const struct waiting *w, struct answer *a)
{
    struct job job;
    uint32_t slot;
    if (d->draining || d->sick || d->clients[w->client].dying ||
        !grant_next(d, w->client, &slot, &job))
        return false;
    log_event(LEVEL_INFO, job.id, "slice granted", log_u64("slot", slot),
              log_u64("generation", d->slots[slot].generation),
              log_i64("pid", d->clients[w->client].pid));
    view_note(d, "granted", job.id, job.uid);
    *a = describe_grant(d, slot, &job);
    return true;
}

/* The grant whose reply was lost, d->slot_count if there was none. */
static uint32_t lost_grant(const struct desk *d, const struct request *r)
{
    uint32_t i = 0;
    while (i < d->slot_count &&
           !(d->slots[i].state == SLOT_WRITING && d->slots[i].client == r->client &&
             !d->slots[i].ended && !clients_lists(d, r, i)))
        i++;
    return i;
}

struct answer handle_take(struct desk *d, struct request *r)
{
    int64_t wait;
    struct job job;
    enum status st = msg_int_opt(&wait, r->message.body, "wait_ms", 0, DESK_WAIT_MAX_MS, 0);
    if (st != ST_OK)
        return answer_failure(d, st);
    uint32_t slot = r->repeated ? lost_grant(d, r) : d->slot_count;
    if (slot < d->slot_count) {
        st = journal_get(d->journal, &job, d->slots[slot].number);
        return st == ST_OK ? describe_grant(d, slot, &job) : answer_failure(d, st);
    }
    desk_park(d, &(struct waiting){.token = r->token,
                                   .what = WAIT_TAKE,
                                   .client = r->client,
                                   .seq = r->head.seq,
                                   .until = desk_now(d) + wait});
    return (struct answer){.when = ANSWER_PARKED};
}

/* ---- submitted, failed ---- */

static struct answer stale(const struct request *r)
{
    return answer_error("stale", "slot %u, generation %u: is not yours any more", r->handle.slot,
                        r->handle.generation);
}

struct answer handle_submitted(struct desk *d, struct request *r)
{
    uint32_t i = slots_find(d, r->handle);
    if (i == d->slot_count)
        return stale(r);
    struct desk_slot *s = &d->slots[i];
    if (s->state >= SLOT_SUBMITTED && s->state <= SLOT_LEAN)
        return answer_done(ANSWER_NOW); /* again: its reply was lost */
    if (s->state != SLOT_WRITING || s->client != r->client)
        return stale(r);
    if (s->ended) {
        slots_free(d, i);
        return stale(r);
    }
    json_t *stages = json_object_get(r->message.body, "stages");
    slots_publish(d, i, SLOT_SUBMITTED, s->flags & SLOT_SUSPECT, CLIENT_NONE);
    json_decref(s->stages);
    s->stages = json_is_object(stages) ? json_incref(stages) : NULL;
    log_event(LEVEL_INFO, NULL, "slice submitted", log_u64("slot", i),
              log_u64("generation", s->generation));
    return answer_done(ANSWER_NOW);
}

static struct answer fail_job(struct desk *d, uint32_t i, const char *message)
{
    struct job job;
    struct desk_slot *s = &d->slots[i];
    struct job_result result = {.error = message};
    enum status st = journal_get(d->journal, &job, s->number);
    if (st == ST_OK)
        st = jobs_finish(d, &job, JOB_FAILED, &result);
    if (st != ST_OK && st != ST_INVALID)
        return answer_failure(d, st);
    status_clear();
    s->ended = s->acknowledged = true;
    return answer_done(ANSWER_DURABLE);
}

struct answer handle_failed(struct desk *d, struct request *r)
{
    const char *kind = "", *message = "";
    enum status st = msg_string(&kind, r->message.body, "kind", 1, 16);
    if (st == ST_OK)
        st = msg_string_opt(&message, r->message.body, "message", 4096, "");
    if (st != ST_OK)
        return answer_failure(d, st);
    uint32_t i = slots_find(d, r->handle);
    if (i == d->slot_count || d->slots[i].client != r->client)
        return stale(r);
    struct desk_slot *s = &d->slots[i];
    if (s->state != SLOT_WRITING || s->ended) {
        slots_free(d, i); /* quarantined or of an ended job, and now let go */
        return answer_done(ANSWER_NOW);
    }
    if (strcmp(kind, "input") == 0)
        return fail_job(d, i, message);
    uint64_t number = s->number;
    slots_free(d, i);
    jobs_requeue(d, number, (struct job_blame){.synth_death = true}, message);
    return answer_done(ANSWER_DURABLE);
}
