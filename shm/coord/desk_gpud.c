/* What the daemon that proves asks and says. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"

enum { ROOM_MAX = MSG_HOLDING_MAX, ASK_AGAIN_MS = 1000 };

/* ---- give back, evict ---- */

static bool may_be_asked(const struct desk_slot *s)
{
    return s->state == SLOT_PROVING && !s->ended && s->abc_bytes > 0;
}

/* The slot that would give back most of those not asked yet; d->slot_count if none. */
static uint32_t largest_unasked(const struct desk *d, const bool *chosen)
{
    uint32_t best = d->slot_count;
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (may_be_asked(&d->slots[i]) && !chosen[i] &&
            (best == d->slot_count || d->slots[i].abc_bytes > d->slots[best].abc_bytes))
            best = i;
    return best;
}

/* Asks for as much as the queue's head lacks: [[slot, generation], ...]. *news: something in it was
 * not asked a moment ago. */
static json_t *ask_back(struct desk *d, bool *news)
{
    json_t *list = json_array();
    const struct queue_entry *head = queue_head(d->queue);
    *news = false;
    if (!list || !head || d->draining || slots_fit(d, head->w_bytes, head->abc_bytes))
        return list;
    uint64_t coming = freemap_free_bytes(d->map), need = head->w_bytes + head->abc_bytes;
    bool fragmented = coming >= need;
    bool *chosen = calloc(d->slot_count, sizeof *chosen);
    uint32_t i;
    while (chosen && (coming < need || fragmented) &&
           (i = largest_unasked(d, chosen)) < d->slot_count) {
        struct desk_slot *s = &d->slots[i];
        chosen[i] = true;
        coming += s->abc_bytes;
        *news = *news || s->asked == 0 || desk_now(d) - s->asked >= ASK_AGAIN_MS;
        json_array_append_new(list, json_pack("[I, I]", (json_int_t)i, (json_int_t)s->generation));
    }
    for (i = 0; *news && i < d->slot_count; i++)
        if (chosen[i])
            d->slots[i].asked = desk_now(d);
    free(chosen);
    return list;
}

static bool is_resident(const struct desk_key *k)
{
    return k->resident[0] != '\0' && strcmp(k->resident, "no") != 0;
}

/* When the head of the queue lacks memory, the idle key that was longest without use goes. */
static void evict_for_head(struct desk *d)
{
    const struct queue_entry *head = queue_head(d->queue);
    struct desk_key *oldest = NULL;
    if (!head || head->memory <= slots_memory_free(d))
        return;
    for (size_t i = 0; i < d->key_count; i++) {
        struct desk_key *k = &d->keys[i];
        if (is_resident(k) && !keys_in_use(d, k->circuit) && (!oldest || k->used < oldest->used))
            oldest = k;
    }
    if (oldest)
        oldest->evict = true;
}

static json_t *list_evictions(struct desk *d)
{
    json_t *list = json_array();
    evict_for_head(d);
    for (size_t i = 0; list && i < d->key_count; i++)
        if (d->keys[i].evict && !keys_in_use(d, d->keys[i].circuit)) {
            d->keys[i].evict = false;
            json_array_append_new(list, json_string(d->keys[i].circuit));
        }
    return list;
}

/* ---- next ---- */

/* Whether slice a goes before slice b: class with ageing, then order of submission. */
static bool goes_before(const struct desk *d, const struct desk_slot *a, const struct desk_slot *b)
{
    struct queue_entry x = {.priority = a->priority, .since = a->since};
    struct queue_entry y = {.priority = b->priority, .since = b->since};
    enum job_priority p = queue_class(d->queue, &x, desk_now(d));
    enum job_priority q = queue_class(d->queue, &y, desk_now(d));
    return p != q ? p > q : a->number < b->number;
}

/* The submitted slice that is next; d->slot_count if none may be handed out now. A suspect runs
 * alone: it waits for the daemon to be empty, and everything behind it waits for it. */
static uint32_t find_next(const struct desk *d)
{
    uint32_t best = d->slot_count, in_flight = 0;
    bool suspect_runs = false;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const struct desk_slot *s = &d->slots[i];
        if (s->state >= SLOT_COPYING && s->state <= SLOT_LEAN) {
            in_flight++;
            suspect_runs = suspect_runs || s->flags & SLOT_SUSPECT;
        }
        if (s->state == SLOT_SUBMITTED && !s->ended &&
            (best == d->slot_count || goes_before(d, s, &d->slots[best])))
            best = i;
    }
    if (best == d->slot_count || suspect_runs)
        return d->slot_count;
    return in_flight > 0 && d->slots[best].flags & SLOT_SUSPECT ? d->slot_count : best;
}

static json_t *describe_job(struct desk *d, uint32_t i)
{
    struct job job;
    char key[PATH_MAX];
    const struct desk_slot *s = &d->slots[i];
    if (journal_get(d->journal, &job, s->number) != ST_OK ||
        store_key_path(d->store, key, sizeof key, s->circuit) != ST_OK) {
        status_clear();
        return NULL;
    }
    const char *seed = d->config->allow_seed && job.seed[0] ? job.seed : NULL;
    return json_pack("{s:s, s:s, s:s, s:[I, I], s:I, s:s?, s:b}", "id", job.id, "circuit",
                     job.circuit, "key", key, "handle", (json_int_t)i, (json_int_t)s->generation,
                     "number", (json_int_t)job.number, "randomness", seed, "suspect",
                     (s->flags & SLOT_SUSPECT) != 0);
}

/* Publishes COPYING, then tells. */
static bool hand_out(struct desk *d, json_t *jobs, uint16_t client)
{
    uint32_t i = find_next(d);
    if (i == d->slot_count)
        return false;
    json_t *job = describe_job(d, i);
    if (!job) {
        d->sick = true; /* a slice without its job */
        return false;
    }
    slots_publish(d, i, SLOT_COPYING, d->slots[i].flags, client);
    keys_entry(d, d->slots[i].circuit)->used = desk_now(d);
    json_array_append_new(jobs, job);
    return true;
}

static struct answer say_next(struct desk *d, json_t *jobs, json_t *back)
{
    return answer_ok(json_pack("{s:o, s:o, s:o, s:b}", "jobs", jobs, "give_back", back, "evict",
                               list_evictions(d), "drain", d->draining));
}

struct answer gpud_nothing(struct desk *d)
{
    bool news;
    return say_next(d, json_array(), ask_back(d, &news));
}

static bool has_evictions(const struct desk *d)
{
    for (size_t i = 0; i < d->key_count; i++)
        if (d->keys[i].evict && !keys_in_use(d, d->keys[i].circuit))
            return true;
    return false;
}

bool gpud_serve(struct desk *d, const struct waiting *w, struct answer *a)
{
    bool news;
    json_t *jobs = json_array();
    CHECK(jobs);
    if (!d->sick && !d->clients[w->client].dying)
        for (uint32_t n = 0; n < w->room && hand_out(d, jobs, w->client); n++)
            ;
    json_t *back = ask_back(d, &news);
    if (json_array_size(jobs) == 0 && !news && !has_evictions(d)) {
        json_decref(jobs);
        json_decref(back);
        return false;
    }
    *a = say_next(d, jobs, back);
    return true;
}

/* The jobs handed out by a request whose reply was lost. */
static json_t *lost_jobs(struct desk *d, const struct request *r)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; jobs && i < d->slot_count; i++)
        if (d->slots[i].state == SLOT_COPYING && d->slots[i].client == r->client &&
            !d->slots[i].ended && !clients_lists(d, r, i))
            json_array_append_new(jobs, describe_job(d, i));
    return jobs;
}

struct answer handle_next(struct desk *d, struct request *r)
{
    int64_t wait, room = 0;
    bool news;
    enum status st = msg_int_opt(&wait, r->message.body, "wait_ms", 0, DESK_WAIT_MAX_MS, 0);
    if (st == ST_OK)
        st = msg_int(&room, r->message.body, "room", 0, ROOM_MAX);
    if (st != ST_OK)
        return answer_failure(d, st);
    if (r->repeated) {
        json_t *jobs = lost_jobs(d, r);
        if (json_array_size(jobs) > 0)
            return say_next(d, jobs, ask_back(d, &news));
        json_decref(jobs);
    }
    desk_park(d, &(struct waiting){.token = r->token,
                                   .what = WAIT_NEXT,
                                   .client = r->client,
                                   .seq = r->head.seq,
                                   .until = desk_now(d) + wait,
                                   .room = (uint32_t)room});
    return (struct answer){.when = ANSWER_PARKED};
}

/* ---- copied, gave_back ---- */

static struct answer stale(const struct request *r)
{
    return answer_error("stale", "slot %u, generation %u: is not yours any more", r->handle.slot,
                        r->handle.generation);
}

/* The slot of a handle that this daemon holds; false when it is stale or of another epoch. */
static bool find_own(const struct desk *d, const struct request *r, uint32_t *i)
{
    *i = slots_find(d, r->handle);
    return *i < d->slot_count && d->slots[*i].client == r->client &&
           d->slots[*i].state >= SLOT_COPYING && d->slots[*i].state <= SLOT_LEAN;
}

struct answer handle_copied(struct desk *d, struct request *r)
{
    uint32_t i;
    if (!find_own(d, r, &i))
        return stale(r);
    if (d->slots[i].state == SLOT_COPYING)
        slots_publish(d, i, SLOT_PROVING, d->slots[i].flags, r->client);
    return answer_done(ANSWER_NOW);
}

struct answer handle_gave_back(struct desk *d, struct request *r)
{
    uint32_t i;
    if (!find_own(d, r, &i))
        return stale(r);
    if (d->slots[i].state == SLOT_COPYING)
        return answer_error("usage", "slot %u: is not copied yet", i);
    if (d->slots[i].state == SLOT_PROVING)
        slots_publish(d, i, SLOT_LEAN, d->slots[i].flags, r->client);
    return answer_done(ANSWER_NOW);
}

/* ---- done ---- */

struct proof_texts {
    char *proof, *publics, *stages; /* owned */
};

static void texts_fini(struct proof_texts *t)
{
    free(t->proof);
    free(t->publics);
    free(t->stages);
}

static enum status read_proof(struct proof_texts *t, const struct msg *m)
{
    json_error_t error;
    json_t *result = m->payload ? json_loadb((const char *)m->payload, m->payload_len,
                                             JSON_REJECT_DUPLICATES, &error)
                                : NULL;
    const json_t *proof = json_object_get(result, "proof");
    const json_t *publics = json_object_get(result, "public");
    enum status st = ST_OK;
    if (!proof || !publics) {
        st = fail(ST_INPUT, "done: the payload must be {\"proof\": ..., \"public\": ...}");
    } else {
        t->proof = json_dumps(proof, JSON_COMPACT | JSON_ENCODE_ANY);
        t->publics = json_dumps(publics, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!t->proof || !t->publics)
            st = fail(ST_RESOURCE, "coordinator: out of memory");
    }
    json_decref(result);
    return st;
}

/* The times of synthesis and of proving together. */
static void merge_stages(struct desk *d, struct proof_texts *t, const struct desk_slot *s,
                         const json_t *body)
{
    json_t *all = s->stages ? json_copy(s->stages) : json_object();
    json_t *own = json_object_get(body, "stages");
    if (all && json_is_object(own))
        json_object_update(all, own);
    view_learn(d, all);
    t->stages = json_dumps(all, JSON_COMPACT);
    json_decref(all);
}

static struct answer finish(struct desk *d, uint32_t i, enum job_state state,
                            const struct job_result *result)
{
    struct job job;
    struct desk_slot *s = &d->slots[i];
    enum status st = journal_get(d->journal, &job, s->number);
    if (st == ST_OK)
        st = jobs_finish(d, &job, state, result);
    if (st != ST_OK && st != ST_INVALID)
        return answer_failure(d, st);
    status_clear();
    s->ended = s->acknowledged = true;
    return answer_done(ANSWER_DURABLE);
}

/* A slice of a job that has ended otherwise: the daemon lets go of it. */
static struct answer let_go(struct desk *d, uint32_t i)
{
    d->slots[i].acknowledged = true;
    if (d->slots[i].settled)
        slots_free(d, i);
    return answer_done(ANSWER_NOW);
}

struct answer handle_done(struct desk *d, struct request *r)
{
    uint32_t i;
    struct proof_texts t = {0};
    if (!find_own(d, r, &i))
        return stale(r);
    if (d->slots[i].ended && !d->slots[i].acknowledged)
        return let_go(d, i);
    enum status st = read_proof(&t, &r->message);
    struct answer a;
    if (st == ST_OK) {
        merge_stages(d, &t, &d->slots[i], r->message.body);
        struct job_result result = {.proof = t.proof, .publics = t.publics, .stages = t.stages};
        a = finish(d, i, JOB_DONE, &result);
    } else {
        a = answer_failure(d, st);
    }
    texts_fini(&t);
    return a;
}

/* ---- failure ---- */

void gpud_return_slot(struct desk *d, uint32_t i, struct job_blame blame, const char *evidence)
{
    struct desk_slot *s = &d->slots[i];
    uint64_t number = s->number;
    uint8_t flags = s->flags | (blame.suspect ? SLOT_SUSPECT : 0);
    if (s->settled || number == 0 || (s->ended && s->state == SLOT_LEAN)) {
        slots_free(d, i);
    } else if (s->ended) { /* free once that is on disk: were it lost, the slice would be needed */
        slots_publish(d, i, SLOT_SUBMITTED, s->flags & SLOT_SUSPECT, CLIENT_NONE);
    } else if (s->state == SLOT_LEAN) {
        log_event(LEVEL_WARN, NULL, "lean slice lost", log_u64("slot", i),
                  log_u64("generation", s->generation));
        slots_free(d, i);
        d->resynthesized++;
        jobs_requeue(d, number, blame, evidence);
    } else {
        slots_publish(d, i, SLOT_SUBMITTED, flags & SLOT_SUSPECT, CLIENT_NONE);
        if (blame.suspect || blame.gpud_death_alone)
            jobs_blame(d, number, blame, evidence);
    }
}

struct answer handle_proof_failed(struct desk *d, struct request *r)
{
    uint32_t i;
    const char *kind = "", *message = "";
    enum status st = msg_string(&kind, r->message.body, "kind", 1, 16);
    if (st == ST_OK)
        st = msg_string_opt(&message, r->message.body, "message", 4096, "");
    if (st != ST_OK)
        return answer_failure(d, st);
    if (!find_own(d, r, &i))
        return stale(r);
    if (d->slots[i].ended && !d->slots[i].acknowledged)
        return let_go(d, i);
    if (strcmp(kind, "input") == 0) {
        struct job_result result = {.error = message};
        return finish(d, i, JOB_FAILED, &result);
    }
    /* three failures of devices, like three deaths, are the job's */
    gpud_return_slot(d, i, (struct job_blame){.gpud_death_alone = true}, message);
    return answer_done(ANSWER_DURABLE);
}
