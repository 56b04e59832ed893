/* The requests of users and operators about jobs and circuits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"

enum {
    LIST_MAX = 200,
    LIST_BYTES = MSG_TEXT_MAX - 4096,
    WAITS_MAX = 128, /* requests that may wait for jobs at the same time */
    WAITS_OF_USER = 32,
};

/* ---- one job ---- */

static bool is_admin(const struct desk *d, const struct request *r)
{
    return d->host->is_admin(d->host->arg, r->peer.uid);
}

/* The job named by the request, if its sender may know of it. */
static enum status find_job(struct desk *d, struct job *job, const struct request *r)
{
    const char *id = "";
    enum status st = msg_string(&id, r->message.body, "id", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = job_id_check(id);
    if (st == ST_OK)
        st = journal_find(d->journal, job, id);
    if (st == ST_OK && job->uid != r->peer.uid && !is_admin(d, r))
        st = fail(ST_INPUT, "job %s: there is none of this id", id);
    return st;
}

static json_t *say_state(const struct job *job)
{
    return json_pack("{s:s, s:s}", "id", job->id, "state", job_state_name(job->state));
}

/* ---- wait ---- */

static bool has_come_to_rest(const struct job *job)
{
    return job_state_ended(job->state) || job->state == JOB_HELD;
}

static char *join_proof(const struct job_result *result)
{
    char *text = NULL;
    if (!result->proof || !result->publics ||
        asprintf(&text, "{\"proof\":%s,\"public\":%s}", result->proof, result->publics) < 0)
        return NULL;
    return text;
}

static json_t *describe_wait(struct desk *d, const struct job *job, const struct job_result *result)
{
    size_t position;
    json_t *place = NULL, *stages = NULL;
    if (job->state == JOB_WAITING && queue_position(d->queue, &position, job->number, desk_now(d)))
        place = json_integer((json_int_t)position);
    if (result->stages)
        stages = json_loads(result->stages, 0, NULL);
    json_t *error = result->error ? msg_json_text(result->error) : NULL;
    return json_pack("{s:s, s:s, s:I, s:o?, s:o?, s:o?, s:b}", "id", job->id, "state",
                     job_state_name(job->state), "attempts", (json_int_t)job->attempts, "stages",
                     stages, "error", error, "position", place, "suspect", job->suspect);
}

static struct answer say_job(struct desk *d, uint64_t number, bool proof)
{
    struct job job;
    struct job_result result;
    enum status st = journal_get(d->journal, &job, number);
    if (st == ST_OK)
        st = journal_result(d->journal, &result, number);
    if (st != ST_OK)
        return answer_failure(d, st);
    struct answer a = answer_durable(describe_wait(d, &job, &result));
    if (proof && job.state == JOB_DONE)
        a.payload = join_proof(&result);
    job_result_fini(&result);
    return a;
}

bool wait_serve(struct desk *d, const struct waiting *w, bool due, struct answer *a)
{
    if (!due && !w->ready)
        return false;
    *a = say_job(d, w->number, w->proof);
    return true;
}

/* So that those who wait, however many, leave room for others at the desk. */
static bool may_park(const struct desk *d, uint32_t uid)
{
    size_t all = 0, own = 0;
    for (size_t i = 0; i < d->waiting_count; i++) {
        bool waits = d->waiting[i].what == WAIT_JOB;
        all += waits;
        own += waits && d->waiting[i].uid == uid;
    }
    return all < WAITS_MAX && own < WAITS_OF_USER;
}

struct answer handle_wait(struct desk *d, struct request *r)
{
    struct job job;
    int64_t wait = 0;
    bool proof = false;
    enum status st = find_job(d, &job, r);
    if (st == ST_OK)
        st = msg_int_opt(&wait, r->message.body, "wait_ms", 0, DESK_WAIT_MAX_MS, 0);
    if (st == ST_OK)
        st = msg_bool_opt(&proof, r->message.body, "proof", false);
    if (st != ST_OK)
        return answer_failure(d, st);
    if (wait == 0 || has_come_to_rest(&job) || !may_park(d, r->peer.uid))
        return say_job(d, job.number, proof);
    desk_park(d, &(struct waiting){.token = r->token,
                                   .what = WAIT_JOB,
                                   .client = CLIENT_NONE,
                                   .until = desk_now(d) + wait,
                                   .number = job.number,
                                   .uid = r->peer.uid,
                                   .proof = proof});
    return (struct answer){.when = ANSWER_PARKED};
}

/* ---- list ---- */

struct listing {
    json_t *jobs;
    size_t bytes;
    bool full;
};

static enum status list_job(void *arg, const struct job *job)
{
    struct listing *l = arg;
    if (l->full)
        return ST_OK;
    json_t *entry = json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "number", (json_int_t)job->number,
        "id", job->id, "circuit", job->circuit, "state", job_state_name(job->state), "priority",
        job_priority_name(job->priority), "attempts", (json_int_t)job->attempts, "submitted",
        (json_int_t)job->submitted, "started", (json_int_t)job->started, "ended",
        (json_int_t)job->ended, "uid", (json_int_t)job->uid);
    char *text = entry ? json_dumps(entry, JSON_COMPACT) : NULL;
    size_t size = text ? strlen(text) + 1 : LIST_BYTES;
    free(text);
    if (l->bytes + size > LIST_BYTES) {
        l->full = true;
        json_decref(entry);
        return ST_OK;
    }
    l->bytes += size;
    json_array_append_new(l->jobs, entry);
    return ST_OK;
}

struct answer handle_list(struct desk *d, struct request *r)
{
    int64_t before = 0, limit = 0;
    struct listing l = {.jobs = json_array()};
    enum status st = msg_int_opt(&before, r->message.body, "before", 0, INT64_MAX, 0);
    if (st == ST_OK)
        st = msg_int_opt(&limit, r->message.body, "limit", 1, LIST_MAX, LIST_MAX);
    if (st == ST_OK && !l.jobs)
        st = fail(ST_RESOURCE, "coordinator: out of memory");
    if (st == ST_OK)
        st = journal_list(d->journal, list_job, &l, (uint64_t)before, (size_t)limit, is_admin(d, r),
                          r->peer.uid);
    if (st != ST_OK) {
        json_decref(l.jobs);
        return answer_failure(d, st);
    }
    return answer_ok(json_pack("{s:o}", "jobs", l.jobs));
}

/* ---- cancel, retry, drain ---- */

struct answer handle_cancel(struct desk *d, struct request *r)
{
    struct job job;
    struct job_result result = {.error = "cancelled"};
    enum status st = find_job(d, &job, r);
    if (st == ST_OK && !job_state_ended(job.state)) {
        st = jobs_finish(d, &job, JOB_CANCELLED, &result);
        job.state = JOB_CANCELLED;
    }
    return st == ST_OK ? answer_durable(say_state(&job)) : answer_failure(d, st);
}

struct answer handle_retry(struct desk *d, struct request *r)
{
    struct job job;
    enum status st = find_job(d, &job, r);
    if (st == ST_OK && job_state_ended(job.state))
        st = fail(ST_INVALID, "job %s: is %s, only held jobs can be tried again", job.id,
                  job_state_name(job.state));
    if (st == ST_OK && job.state == JOB_HELD) {
        st = journal_retry(d->journal, job.number);
        job.state = JOB_WAITING;
        if (st == ST_OK)
            desk_effect(d, EFFECT_QUEUE, &job);
    }
    return st == ST_OK ? answer_durable(say_state(&job)) : answer_failure(d, st);
}

struct answer handle_drain(struct desk *d, struct request *r)
{
    bool on;
    enum status st = msg_bool_opt(&on, r->message.body, "on", true);
    if (st != ST_OK)
        return answer_failure(d, st);
    desk_drain(d, on);
    return answer_ok(json_pack("{s:b, s:b}", "draining", d->draining, "drained",
                               d->draining && desk_is_idle(d)));
}

/* ---- circuits ---- */

static json_t *describe_circuit(const struct circuit *c, const char *state)
{
    const struct circuit_shape *s = &c->shape;
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:b, s:s}", "name", c->name, "curve",
                     s->curve, "constraints", (json_int_t)s->constraints, "variables",
                     (json_int_t)s->variables, "public", (json_int_t)s->publics, "domain",
                     (json_int_t)s->domain, "sha256", msg_json_hex(c->sha256, sizeof c->sha256),
                     "bytes", (json_int_t)c->key_bytes, "r1cs", c->has_r1cs, "state", state);
}

struct answer handle_circuit_add(struct desk *d, struct request *r)
{
    const char *name = "", *key = "", *r1cs;
    enum store_progress progress;
    enum status st = msg_string(&name, r->message.body, "name", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_string(&key, r->message.body, "key", 1, 4095);
    if (st == ST_OK)
        st = msg_string_opt(&r1cs, r->message.body, "r1cs", 4095, NULL);
    if (st == ST_OK)
        st = store_add(d->store, &progress, name, key, r1cs);
    if (st != ST_OK)
        return answer_failure(d, st);
    if (progress == STORE_ADDING)
        return answer_ok(json_pack("{s:s, s:s}", "name", name, "state", "adding"));
    return answer_ok(describe_circuit(store_find(d->store, name), "ready"));
}

struct answer handle_circuit_list(struct desk *d, struct request *r)
{
    (void)r;
    json_t *list = json_array();
    const struct circuit *c;
    for (size_t i = 0; (c = store_at(d->store, i)) != NULL; i++)
        json_array_append_new(list, describe_circuit(c, "ready"));
    return answer_ok(json_pack("{s:o}", "circuits", list));
}

struct use {
    const char *circuit;
    size_t jobs;
};

static enum status count_use(void *arg, const struct job *job)
{
    struct use *use = arg;
    use->jobs += strcmp(job->circuit, use->circuit) == 0;
    return ST_OK;
}

struct answer handle_circuit_remove(struct desk *d, struct request *r)
{
    struct use use = {.circuit = ""};
    enum status st = msg_string(&use.circuit, r->message.body, "name", 1, JOB_ID_MAX);
    if (st == ST_OK && !store_find(d->store, use.circuit))
        st = fail(ST_INPUT, "circuit %s: there is none of this name", use.circuit);
    if (st == ST_OK)
        st = journal_each_open(d->journal, count_use, &use);
    if (st == ST_OK && use.jobs > 0)
        st = fail(ST_INVALID, "circuit %s: %zu of its jobs are open: cancel them or let them end",
                  use.circuit, use.jobs);
    if (st == ST_OK)
        st = store_remove(d->store, use.circuit);
    if (st != ST_OK)
        return answer_failure(d, st);
    keys_entry(d, use.circuit)->evict = true;
    return answer_done(ANSWER_NOW);
}
