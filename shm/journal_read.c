/* The journal's reads. Rows are checked: a damaged file is not trusted with sizes. */
#include <stdlib.h>
#include <string.h>

#include "shm/journal_private.h"

/* Column at of the row, as text of at most cap - 1 bytes. */
static bool read_text(sqlite3_stmt *s, int at, char *out, size_t cap)
{
    const unsigned char *text = sqlite3_column_text(s, at);
    size_t len = (size_t)sqlite3_column_bytes(s, at);
    if (text == NULL || len >= cap || memchr(text, 0, len) != NULL)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

static bool read_u32(sqlite3_stmt *s, int at, uint32_t *out)
{
    int64_t value = sqlite3_column_int64(s, at);
    *out = (uint32_t)value;
    return value >= 0 && value <= UINT32_MAX;
}

static bool read_names(sqlite3_stmt *s, struct job *job)
{
    const void *request = sqlite3_column_blob(s, 4);
    if (request == NULL || sqlite3_column_bytes(s, 4) != (int)sizeof job->request)
        return false;
    memcpy(job->request, request, sizeof job->request);
    return read_text(s, 1, job->id, sizeof job->id) && job_id_valid(job->id) &&
           read_text(s, 3, job->circuit, sizeof job->circuit) && job_id_valid(job->circuit) &&
           read_text(s, 16, job->seed, sizeof job->seed);
}

/* The columns as JOB_COLUMNS lists them. */
static enum status read_job(struct query *q, struct job *out)
{
    struct job job = {0};
    uint32_t priority, state, suspect;
    sqlite3_stmt *s = q->s;
    int64_t number = sqlite3_column_int64(s, 0), spool_bytes = sqlite3_column_int64(s, 15);
    bool sound = number > 0 && spool_bytes >= 0 && read_names(s, &job) &&
                 read_u32(s, 2, &job.uid) && read_u32(s, 5, &priority) && read_u32(s, 6, &state) &&
                 priority < JOB_PRIORITIES && state < JOB_STATES &&
                 read_u32(s, 11, &job.attempts) && read_u32(s, 12, &job.synth_deaths) &&
                 read_u32(s, 13, &job.gpud_deaths_alone) && read_u32(s, 14, &suspect);
    if (!sound)
        return journal_damaged(q->j, "a job's record");
    job.number = (uint64_t)number;
    job.spool_bytes = (uint64_t)spool_bytes;
    job.priority = (enum job_priority)priority;
    job.state = (enum job_state)state;
    job.suspect = suspect != 0;
    job.deadline = sqlite3_column_int64(s, 7);
    job.submitted = sqlite3_column_int64(s, 8);
    job.started = sqlite3_column_int64(s, 9);
    job.ended = sqlite3_column_int64(s, 10);
    *out = job;
    return ST_OK;
}

/* The one row of a query, if it has one; ends it. */
static enum status read_one(struct query *q, struct job *out, bool *found)
{
    enum status st = query_step(q, found);
    if (st == ST_OK && *found)
        st = read_job(q, out);
    query_end(q);
    return st;
}

enum status journal_lookup(struct journal *j, struct job *out, bool *found, const char *id)
{
    struct query q = query_start(j, SQL_BY_ID);
    query_text(&q, 1, id);
    return read_one(&q, out, found);
}

enum status journal_find(struct journal *j, struct job *out, const char *id)
{
    bool found;
    enum status st = job_id_check(id);
    if (st == ST_OK)
        st = journal_lookup(j, out, &found, id);
    if (st != ST_OK)
        return st;
    return found ? ST_OK : fail(ST_INPUT, "job %s: there is none of this id", id);
}

enum status journal_get(struct journal *j, struct job *out, uint64_t number)
{
    bool found;
    struct query q = query_start(j, SQL_BY_NUMBER);
    query_int(&q, 1, (int64_t)number);
    enum status st = read_one(&q, out, &found);
    if (st != ST_OK)
        return st;
    return found ? ST_OK
                 : fail(ST_INPUT, "job number %llu: there is none of this id",
                        (unsigned long long)number);
}

/* An owned copy of a text column, NULL for NULL. */
static enum status copy_text(struct query *q, int at, const char **out)
{
    const char *text = (const char *)sqlite3_column_text(q->s, at);
    if (text == NULL)
        return ST_OK;
    *out = strdup(text);
    return *out != NULL ? ST_OK : fail(ST_RESOURCE, "journal: out of memory for a result");
}

enum status journal_result(struct journal *j, struct job_result *out, uint64_t number)
{
    bool row;
    struct job_result r = {0};
    struct query q = query_start(j, SQL_GET_RESULT);
    query_int(&q, 1, (int64_t)number);
    enum status st = query_step(&q, &row);
    if (st == ST_OK && row) {
        st = copy_text(&q, 0, &r.proof);
        if (st == ST_OK)
            st = copy_text(&q, 1, &r.publics);
        if (st == ST_OK)
            st = copy_text(&q, 2, &r.stages);
        if (st == ST_OK)
            st = copy_text(&q, 3, &r.error);
    }
    query_end(&q);
    if (st != ST_OK) {
        job_result_fini(&r);
        return st;
    }
    *out = r;
    return ST_OK;
}

/* The members are const for those who lend them; here they are our own copies. */
static void drop(const char *text)
{
    free((void *)(uintptr_t)text); // NOLINT(performance-no-int-to-ptr): to take const away
}

void job_result_fini(struct job_result *result)
{
    drop(result->proof);
    drop(result->publics);
    drop(result->stages);
    drop(result->error);
    *result = (struct job_result){0};
}

static enum status visit_all(struct query *q, enum status (*visit)(void *arg, const struct job *),
                             void *arg)
{
    bool row = true;
    enum status st = ST_OK;
    while (st == ST_OK) {
        struct job job;
        st = query_step(q, &row);
        if (st != ST_OK || !row)
            break;
        st = read_job(q, &job);
        if (st == ST_OK)
            st = visit(arg, &job);
    }
    query_end(q);
    return st;
}

enum status journal_each_open(struct journal *j,
                              enum status (*visit)(void *arg, const struct job *), void *arg)
{
    struct query q = query_start(j, SQL_EACH_OPEN);
    return visit_all(&q, visit, arg);
}

enum status journal_list(struct journal *j, enum status (*visit)(void *arg, const struct job *),
                         void *arg, uint64_t before, size_t limit, bool everyone, uint32_t uid)
{
    struct query q = query_start(j, SQL_LIST);
    query_int(&q, 1, before == 0 || before > INT64_MAX ? INT64_MAX : (int64_t)before);
    query_int(&q, 2, everyone);
    query_int(&q, 3, uid);
    query_int(&q, 4, limit < INT64_MAX ? (int64_t)limit : INT64_MAX);
    return visit_all(&q, visit, arg);
}

enum status journal_count(struct journal *j, uint64_t counts[JOB_STATES], bool everyone,
                          uint32_t uid)
{
    bool row = true;
    uint64_t found[JOB_STATES] = {0};
    struct query q = query_start(j, everyone ? SQL_COUNT : SQL_COUNT_OF);
    if (!everyone)
        query_int(&q, 1, uid);
    enum status st = query_step(&q, &row);
    while (st == ST_OK && row) {
        uint32_t state;
        if (!read_u32(q.s, 0, &state) || state >= JOB_STATES) {
            st = journal_damaged(j, "a job's state");
            break;
        }
        found[state] = (uint64_t)sqlite3_column_int64(q.s, 1);
        st = query_step(&q, &row);
    }
    query_end(&q);
    if (st == ST_OK)
        memcpy(counts, found, sizeof found);
    return st;
}
