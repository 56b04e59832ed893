/* The journal's mutations. */
#include <string.h>

#include "shm/journal_private.h"

static enum status check_request(const struct job_request *r)
{
    enum status st = r->id != NULL ? job_id_check(r->id) : ST_OK;
    if (st != ST_OK)
        return st;
    if (!job_id_valid(r->circuit))
        return fail(ST_INPUT, "circuit: malformed name");
    if (r->seed != NULL && (strlen(r->seed) != JOURNAL_SEED_DIGITS ||
                            strspn(r->seed, "0123456789abcdefABCDEF") != JOURNAL_SEED_DIGITS))
        return fail(ST_INPUT, "seed: must be %d hex digits", JOURNAL_SEED_DIGITS);
    if (r->spool_bytes > INT64_MAX)
        return fail(ST_INPUT, "job: an input of %llu bytes", (unsigned long long)r->spool_bytes);
    return ST_OK;
}

static enum status insert(struct journal *j, const char *id, const struct job_request *r,
                          int64_t now)
{
    enum status st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, SQL_INSERT);
    query_text(&q, 1, id);
    query_int(&q, 2, r->uid);
    query_text(&q, 3, r->circuit);
    query_blob(&q, 4, r->request, sizeof r->request);
    query_int(&q, 5, r->priority);
    query_int(&q, 6, r->deadline);
    query_int(&q, 7, now);
    query_int(&q, 8, (int64_t)r->spool_bytes);
    query_text(&q, 9, r->seed != NULL ? r->seed : "");
    return query_run(&q, NULL);
}

enum status journal_submit(struct journal *j, struct job *out, bool *fresh,
                           const struct job_request *request, int64_t now)
{
    char id[JOB_ID_MAX + 1];
    struct job job;
    bool found = false;
    enum status st = check_request(request);
    if (st != ST_OK)
        return st;
    if (request->id == NULL)
        st = job_id_generate(id);
    else
        memcpy(id, request->id, strlen(request->id) + 1);
    if (st == ST_OK)
        st = journal_lookup(j, &job, &found, id);
    if (st != ST_OK)
        return st;
    if (found &&
        (job.uid != request->uid || memcmp(job.request, request->request, sizeof job.request) != 0))
        return fail(ST_INPUT, "job %s: this id belongs to another request: choose another", id);
    if (!found) {
        st = insert(j, id, request, now);
        if (st == ST_OK)
            st = journal_find(j, &job, id);
        if (st != ST_OK)
            return st;
    }
    *out = job;
    *fresh = !found;
    return ST_OK;
}

/* Why an update changed nothing: no such job, or it is in another state. */
static enum status explain(struct journal *j, uint64_t number)
{
    struct job job;
    enum status st = journal_get(j, &job, number);
    if (st != ST_OK)
        return st;
    return fail(ST_INVALID, "job %s: is %s already", job.id, job_state_name(job.state));
}

/* Runs an update that must change the row of number. */
static enum status update(struct query *q, uint64_t number)
{
    int changed;
    struct journal *j = q->j;
    enum status st = query_run(q, &changed);
    if (st != ST_OK)
        return st;
    return changed == 1 ? ST_OK : explain(j, number);
}

enum status journal_start(struct journal *j, uint64_t number, int64_t now)
{
    enum status st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, SQL_START);
    query_int(&q, 1, (int64_t)number);
    query_int(&q, 2, now);
    return update(&q, number);
}

static enum status charge(struct journal *j, enum journal_statement which, uint64_t number,
                          struct job_blame blame)
{
    enum status st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, which);
    query_int(&q, 1, (int64_t)number);
    query_int(&q, 2, blame.synth_death);
    query_int(&q, 3, blame.gpud_death_alone);
    query_int(&q, 4, blame.suspect);
    return update(&q, number);
}

enum status journal_requeue(struct journal *j, uint64_t number, struct job_blame blame)
{
    return charge(j, SQL_REQUEUE, number, blame);
}

enum status journal_blame(struct journal *j, uint64_t number, struct job_blame blame)
{
    return charge(j, SQL_BLAME, number, blame);
}

static enum status put_result(struct journal *j, uint64_t number, const struct job_result *r)
{
    struct query q = query_start(j, SQL_PUT_RESULT);
    query_int(&q, 1, (int64_t)number);
    query_text(&q, 2, r->proof);
    query_text(&q, 3, r->publics);
    query_text(&q, 4, r->stages);
    query_text(&q, 5, r->error);
    return query_run(&q, NULL);
}

static enum status check_length(const char *what, const char *text)
{
    if (text == NULL || strnlen(text, JOURNAL_RESULT_MAX + 1) <= JOURNAL_RESULT_MAX)
        return ST_OK;
    return fail(ST_INPUT, "result: %s is longer than %d bytes", what, JOURNAL_RESULT_MAX);
}

enum status journal_hold(struct journal *j, uint64_t number, const char *evidence)
{
    struct job_result result = {.error = evidence};
    enum status st = check_length("error", evidence);
    if (st == ST_OK)
        st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, SQL_HOLD);
    query_int(&q, 1, (int64_t)number);
    st = update(&q, number);
    return st == ST_OK ? put_result(j, number, &result) : st;
}

enum status journal_retry(struct journal *j, uint64_t number)
{
    enum status st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, SQL_RETRY);
    query_int(&q, 1, (int64_t)number);
    st = update(&q, number);
    if (st != ST_OK)
        return st;
    q = query_start(j, SQL_DROP_RESULT);
    query_int(&q, 1, (int64_t)number);
    return query_run(&q, NULL);
}

static enum status check_result(const struct job_result *r)
{
    enum status st = check_length("proof", r->proof);
    if (st == ST_OK)
        st = check_length("public", r->publics);
    if (st == ST_OK)
        st = check_length("stages", r->stages);
    if (st == ST_OK)
        st = check_length("error", r->error);
    return st;
}

enum status journal_finish(struct journal *j, uint64_t number, enum job_state state,
                           const struct job_result *result, int64_t now)
{
    CHECK(job_state_ended(state));
    enum status st = check_result(result);
    if (st == ST_OK)
        st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, SQL_FINISH);
    query_int(&q, 1, (int64_t)number);
    query_int(&q, 2, state);
    query_int(&q, 3, now);
    st = update(&q, number);
    return st == ST_OK ? put_result(j, number, result) : st;
}

/* The highest number among the ended jobs that keep does not protect, 0 if none. */
static enum status newest_to_prune(struct journal *j, int64_t *number, uint64_t keep)
{
    bool row;
    struct query q = query_start(j, SQL_NEWEST_TO_PRUNE);
    query_int(&q, 1, keep < INT64_MAX ? (int64_t)keep : INT64_MAX);
    enum status st = query_step(&q, &row);
    *number = st == ST_OK && row ? sqlite3_column_int64(q.s, 0) : 0;
    query_end(&q);
    return st;
}

enum status journal_prune(struct journal *j, size_t *removed, uint64_t keep, int64_t ended_before)
{
    int changed = 0;
    int64_t number;
    enum status st = newest_to_prune(j, &number, keep);
    if (st == ST_OK)
        st = journal_begin(j);
    if (st != ST_OK)
        return st;
    struct query q = query_start(j, SQL_PRUNE);
    query_int(&q, 1, number);
    query_int(&q, 2, ended_before);
    query_int(&q, 3, JOURNAL_PRUNE_MAX);
    st = query_run(&q, &changed);
    if (st == ST_OK)
        *removed = (size_t)changed;
    return st;
}
