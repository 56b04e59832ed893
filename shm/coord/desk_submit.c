/* How a job is submitted: announced (submit), its input uploaded (upload), accepted (commit). Only
 * the last makes it a job; what is lost before has to be announced again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sha256.h"
#include "shm/coord/desk_private.h"

/* ---- announcements ---- */

static struct upload *find_upload(struct desk *d, const char *id)
{
    struct upload *u = d->uploads;
    while (u && strcmp(u->id, id) != 0)
        u = u->next;
    return u;
}

void uploads_remove(struct desk *d, const char *id)
{
    for (struct upload **at = &d->uploads; *at; at = &(*at)->next) {
        struct upload *u = *at;
        if (strcmp(u->id, id) != 0)
            continue;
        *at = u->next;
        explicit_bzero(u->seed, sizeof u->seed);
        free(u);
        d->upload_count--;
        return;
    }
}

/* The spool forgets an upload by the same clock, after the same time. */
void uploads_expire(struct desk *d)
{
    for (struct upload **at = &d->uploads; *at;) {
        struct upload *u = *at;
        if (desk_now(d) - u->touched <= d->config->upload_idle_ms) {
            at = &u->next;
            continue;
        }
        log_event(LEVEL_INFO, u->id, "upload dropped: nothing came");
        spool_abandon(d->spool, u->id);
        *at = u->next;
        free(u);
        d->upload_count--;
    }
    (void)spool_expire(d->spool, desk_now(d), d->config->upload_idle_ms);
}

/* ---- submit ---- */

static void digest_text(struct sha256 *h, const char *text)
{
    sha256_update(h, text, strlen(text) + 1);
}

/* What makes two requests the same. Not the deadline: a submission that is repeated a moment later
 * reckons it from then. */
static void digest_request(struct upload *u)
{
    struct sha256 h;
    int64_t numbers[2] = {u->priority, (int64_t)u->size};
    sha256_init(&h);
    digest_text(&h, u->circuit);
    digest_text(&h, u->seed);
    sha256_update(&h, numbers, sizeof numbers);
    sha256_update(&h, u->sha256, sizeof u->sha256);
    sha256_final(&h, u->request);
}

static enum status read_names(struct upload *u, const json_t *body)
{
    const char *id, *circuit = "", *seed, *priority;
    enum status st = msg_string_opt(&id, body, "id", JOB_ID_MAX, NULL);
    if (st == ST_OK && id)
        st = job_id_check(id);
    if (st == ST_OK)
        st = msg_string(&circuit, body, "circuit", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_string_opt(&seed, body, "seed", JOURNAL_SEED_DIGITS, "");
    if (st == ST_OK)
        st = msg_string_opt(&priority, body, "priority", 16, "normal");
    if (st == ST_OK)
        st = job_priority_parse(&u->priority, priority);
    if (st != ST_OK)
        return st;
    if (*seed && (strlen(seed) != JOURNAL_SEED_DIGITS ||
                  strspn(seed, "0123456789abcdefABCDEF") != JOURNAL_SEED_DIGITS))
        return fail(ST_INPUT, "member \"seed\": must be %d hex digits", JOURNAL_SEED_DIGITS);
    snprintf(u->id, sizeof u->id, "%s", id ? id : "");
    snprintf(u->circuit, sizeof u->circuit, "%s", circuit);
    snprintf(u->seed, sizeof u->seed, "%s", seed);
    return ST_OK;
}

static enum status read_submit(struct upload *u, const struct request *r)
{
    int64_t size = 0;
    enum status st = read_names(u, r->message.body);
    if (st == ST_OK)
        st = msg_int_opt(&u->deadline, r->message.body, "deadline", 0, INT64_MAX, 0);
    if (st == ST_OK)
        st = msg_int(&size, r->message.body, "size", 1, INT64_MAX);
    if (st == ST_OK)
        st = msg_hex(u->sha256, sizeof u->sha256, r->message.body, "sha256");
    if (st != ST_OK)
        return st;
    u->uid = r->peer.uid;
    u->size = (uint64_t)size;
    digest_request(u);
    return ST_OK;
}

/* Refuses what can never run: it would wait for ever. */
static enum status check_runnable(struct desk *d, const struct upload *u)
{
    struct slice_plan plan;
    if (u->seed[0] && !d->config->allow_seed)
        return fail(ST_INVALID, "seed: is refused unless allow_seed is configured: two proofs with "
                                "equal randomness give the witness away");
    enum status st = jobs_plan(d, &plan, u->circuit);
    if (st != ST_OK)
        return st;
    if (!freemap_ever_fits(d->map, plan.w_mapped, plan.abc_mapped))
        return fail(ST_INVALID,
                    "circuit %s: its jobs need %llu bytes of the arena, which has %llu: raise "
                    "arena.size",
                    u->circuit, (unsigned long long)(plan.w_mapped + plan.abc_mapped),
                    (unsigned long long)d->arena->bytes);
    uint64_t memory = store_find(d->store, u->circuit)->shape.memory;
    if (memory > d->config->host_memory - d->arena->bytes)
        return fail(ST_INVALID,
                    "circuit %s: its synthesis needs %llu bytes beside the arena, the budget has "
                    "%llu: raise budget.host_memory",
                    u->circuit, (unsigned long long)memory,
                    (unsigned long long)(d->config->host_memory - d->arena->bytes));
    return ST_OK;
}

static struct answer another_request(const char *id)
{
    return answer_error("refused", "job %s: this id belongs to another request: choose another",
                        id);
}

/* The answer for an id that is a job already; false when it is none. */
static bool known_job(struct desk *d, const struct upload *u, struct answer *a)
{
    struct job job;
    if (!u->id[0])
        return false;
    enum status st = journal_find(d->journal, &job, u->id);
    if (st == ST_INPUT) {
        status_clear();
        return false;
    }
    if (st != ST_OK)
        *a = answer_failure(d, st);
    else if (job.uid != u->uid || memcmp(job.request, u->request, sizeof job.request) != 0)
        *a = another_request(u->id);
    else
        *a = answer_durable(json_pack("{s:s, s:s, s:n}", "id", job.id, "state",
                                      job_state_name(job.state), "upload"));
    return true;
}

static enum status begin(struct desk *d, const struct upload *u, uint64_t *offset)
{
    struct spool_upload announced = {.id = u->id, .uid = u->uid, .size = u->size};
    memcpy(announced.sha256, u->sha256, sizeof announced.sha256);
    return spool_begin(d->spool, offset, &announced, desk_now(d));
}

static struct answer say_offset(const struct upload *u, uint64_t offset)
{
    if (offset == u->size)
        return answer_ok(json_pack("{s:s, s:s, s:n}", "id", u->id, "state", "uploading", "upload"));
    return answer_ok(json_pack("{s:s, s:s, s:{s:I, s:I}}", "id", u->id, "state", "uploading",
                               "upload", "offset", (json_int_t)offset, "size",
                               (json_int_t)u->size));
}

/* Records the announcement, or finds it. */
static struct answer announce(struct desk *d, struct upload *u)
{
    uint64_t offset = 0;
    enum status st = u->id[0] ? ST_OK : job_id_generate(u->id);
    if (st != ST_OK)
        return answer_failure(d, st);
    struct upload *known = find_upload(d, u->id);
    if (known &&
        (known->uid != u->uid || memcmp(known->request, u->request, sizeof u->request) != 0))
        return another_request(u->id);
    if (!known && d->upload_count >= SPOOL_UPLOADS)
        return answer_error("full", "%d uploads are under way: try again", SPOOL_UPLOADS);
    st = begin(d, u, &offset);
    if (st != ST_OK)
        return answer_failure(d, st);
    if (!known) {
        known = malloc(sizeof *known);
        CHECK(known);
        *known = *u;
        known->next = d->uploads;
        d->uploads = known;
        d->upload_count++;
    }
    known->touched = desk_now(d);
    return say_offset(known, offset);
}

struct answer handle_submit(struct desk *d, struct request *r)
{
    struct upload u = {.next = NULL};
    struct answer a;
    enum status st = read_submit(&u, r);
    if (st != ST_OK)
        return answer_failure(d, st);
    if (!known_job(d, &u, &a)) {
        st = check_runnable(d, &u);
        a = st == ST_OK ? announce(d, &u) : answer_failure(d, st);
    }
    explicit_bzero(u.seed, sizeof u.seed);
    return a;
}

/* ---- upload ---- */

struct answer handle_upload(struct desk *d, struct request *r)
{
    const char *id = "";
    int64_t offset;
    uint64_t next;
    enum status st = msg_string(&id, r->message.body, "id", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_int(&offset, r->message.body, "offset", 0, INT64_MAX);
    if (st == ST_OK && !r->message.payload)
        st = fail(ST_INPUT, "upload: has no payload");
    if (st != ST_OK)
        return answer_failure(d, st);
    struct upload *u = find_upload(d, id);
    if (!u || u->uid != r->peer.uid)
        return answer_error("unknown", "upload %s: was not announced: submit again", id);
    u->touched = desk_now(d);
    st = spool_write(d->spool, &next, id, u->uid, (uint64_t)offset, r->message.payload,
                     r->message.payload_len, desk_now(d));
    return st == ST_OK ? answer_ok(json_pack("{s:I}", "offset", (json_int_t)next))
                       : answer_failure(d, st);
}

/* ---- commit ---- */

static struct answer accept_upload(struct desk *d, struct upload *u)
{
    struct job job;
    bool fresh;
    struct job_request request = {.id = u->id,
                                  .uid = u->uid,
                                  .circuit = u->circuit,
                                  .priority = u->priority,
                                  .deadline = u->deadline,
                                  .spool_bytes = u->size,
                                  .seed = u->seed[0] ? u->seed : NULL};
    memcpy(request.request, u->request, sizeof request.request);
    u->touched = desk_now(d);
    enum status st = check_runnable(d, u); /* the circuit may be gone by now */
    if (st == ST_OK)
        st = spool_commit(d->spool, u->id, u->uid);
    if (st == ST_OK)
        st = journal_submit(d->journal, &job, &fresh, &request, desk_wall(d));
    if (st != ST_OK)
        return answer_failure(d, st);
    if (fresh)
        desk_effect(d, EFFECT_QUEUE, &job);
    return answer_durable(
        json_pack("{s:s, s:s}", "id", job.id, "state", job_state_name(job.state)));
}

struct answer handle_commit(struct desk *d, struct request *r)
{
    const char *id = "";
    struct job job;
    enum status st = msg_string(&id, r->message.body, "id", 1, JOB_ID_MAX);
    if (st != ST_OK)
        return answer_failure(d, st);
    struct upload *u = find_upload(d, id);
    if (u && u->uid == r->peer.uid)
        return accept_upload(d, u);
    st = journal_find(d->journal, &job, id);
    if (st == ST_OK && job.uid == r->peer.uid)
        return answer_durable(
            json_pack("{s:s, s:s}", "id", job.id, "state", job_state_name(job.state)));
    if (st == ST_RESOURCE)
        return answer_failure(d, st);
    status_clear();
    return answer_error("unknown", "upload %s: was not announced: submit again", id);
}
