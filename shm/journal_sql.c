#include <errno.h>
#include <stdlib.h>

#include "shm/journal_private.h"

#define JOB_COLUMNS                                                                                \
    "number, id, uid, circuit, request, priority, state, deadline, submitted, started, ended, "    \
    "attempts, synth_deaths, gpud_deaths_alone, suspect, spool_bytes, seed"

static const char *const sql[SQL_STATEMENTS] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_INSERT] = "INSERT INTO jobs (id, uid, circuit, request, priority, deadline, submitted, "
                   "spool_bytes, seed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [SQL_BY_ID] = "SELECT " JOB_COLUMNS " FROM jobs WHERE id = ?1",
    [SQL_BY_NUMBER] = "SELECT " JOB_COLUMNS " FROM jobs WHERE number = ?1",
    [SQL_START] = "UPDATE jobs SET state = " SQL_RUNNING ", attempts = attempts + 1, started = ?2 "
                  "WHERE number = ?1 AND state = " SQL_WAITING,
    [SQL_REQUEUE] = "UPDATE jobs SET state = " SQL_WAITING ", synth_deaths = synth_deaths + ?2, "
                    "gpud_deaths_alone = gpud_deaths_alone + ?3, suspect = suspect | ?4 "
                    "WHERE number = ?1 AND state = " SQL_RUNNING,
    [SQL_BLAME] = "UPDATE jobs SET synth_deaths = synth_deaths + ?2, "
                  "gpud_deaths_alone = gpud_deaths_alone + ?3, suspect = suspect | ?4 "
                  "WHERE number = ?1 AND state IN " SQL_OPEN,
    [SQL_HOLD] = "UPDATE jobs SET state = " SQL_HELD " WHERE number = ?1 AND state IN "
                 "(" SQL_WAITING ", " SQL_RUNNING ")",
    [SQL_RETRY] = "UPDATE jobs SET state = " SQL_WAITING ", synth_deaths = 0, "
                  "gpud_deaths_alone = 0, suspect = 0 WHERE number = ?1 AND state = " SQL_HELD,
    [SQL_FINISH] = "UPDATE jobs SET state = ?2, ended = ?3, seed = '' "
                   "WHERE number = ?1 AND state IN " SQL_OPEN,
    [SQL_PUT_RESULT] = "REPLACE INTO results (number, proof, publics, stages, error) "
                       "VALUES (?1, ?2, ?3, ?4, ?5)",
    [SQL_DROP_RESULT] = "DELETE FROM results WHERE number = ?1",
    [SQL_GET_RESULT] = "SELECT proof, publics, stages, error FROM results WHERE number = ?1",
    [SQL_NEWEST_TO_PRUNE] = "SELECT number FROM jobs WHERE state IN " SQL_ENDED
                            " ORDER BY number DESC LIMIT 1 OFFSET ?1",
    [SQL_PRUNE] =
        "DELETE FROM jobs WHERE number IN (SELECT number FROM jobs WHERE state IN " SQL_ENDED
        " AND (number <= ?1 OR ended < ?2) ORDER BY number LIMIT ?3)",
    [SQL_EACH_OPEN] =
        "SELECT " JOB_COLUMNS " FROM jobs WHERE state IN " SQL_OPEN " ORDER BY number",
    [SQL_LIST] = "SELECT " JOB_COLUMNS " FROM jobs WHERE number < ?1 AND (?2 OR uid = ?3) "
                 "ORDER BY number DESC LIMIT ?4",
    [SQL_COUNT] = "SELECT state, count(*) FROM jobs GROUP BY state",
    [SQL_COUNT_OF] = "SELECT state, count(*) FROM jobs WHERE uid = ?1 GROUP BY state",
};

enum status journal_prepare(struct journal *j)
{
    for (int i = 0; i < SQL_STATEMENTS; i++) {
        int rc = sqlite3_prepare_v3(j->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &j->statements[i],
                                    NULL);
        if (rc != SQLITE_OK)
            return journal_fail(j, rc);
    }
    return ST_OK;
}

static enum journal_fault fault_of(int rc)
{
    int error = errno; /* of the call that failed: sqlite3_system_errno learns it at the reset */
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return JOURNAL_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return JOURNAL_READ_ONLY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return JOURNAL_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return JOURNAL_CORRUPT;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (error == ENOSPC || error == EDQUOT)
            return JOURNAL_FULL;
        if (error == EROFS || error == EACCES || error == EPERM)
            return JOURNAL_READ_ONLY;
        break;
    default:
        break;
    }
    return JOURNAL_BROKEN;
}

enum status journal_fail(struct journal *j, int rc)
{
    const char *why = sqlite3_errstr(rc);
    j->fault = fault_of(rc);
    switch (j->fault) {
    case JOURNAL_FULL:
        return fail(ST_RESOURCE, "journal %s: no space left on its disk: free some", j->path);
    case JOURNAL_READ_ONLY:
        return fail(ST_RESOURCE,
                    "journal %s: not writable (%s): check owner, mode and mount of it and its "
                    "directory",
                    j->path, why);
    case JOURNAL_BUSY:
        return fail(ST_RESOURCE, "journal %s: in use by another process: stop that one first",
                    j->path);
    case JOURNAL_CORRUPT:
        return journal_damaged(j, why);
    default:
        return fail(ST_RESOURCE, "journal %s: %s", j->path, why);
    }
}

enum status journal_damaged(struct journal *j, const char *what)
{
    j->fault = JOURNAL_CORRUPT;
    return fail(ST_INPUT,
                "journal %s: damaged (%s): restore a backup, or move it away and submit the "
                "waiting jobs again",
                j->path, what);
}

struct query query_start(struct journal *j, enum journal_statement which)
{
    return (struct query){.j = j, .s = j->statements[which], .rc = SQLITE_OK};
}

static void keep_error(struct query *q, int rc)
{
    if (q->rc == SQLITE_OK)
        q->rc = rc;
}

void query_int(struct query *q, int at, int64_t value)
{
    keep_error(q, sqlite3_bind_int64(q->s, at, value));
}

void query_text(struct query *q, int at, const char *text)
{
    keep_error(q, sqlite3_bind_text(q->s, at, text, -1, SQLITE_STATIC));
}

void query_blob(struct query *q, int at, const void *bytes, size_t len)
{
    keep_error(q, sqlite3_bind_blob64(q->s, at, bytes, len, SQLITE_STATIC));
}

enum status query_step(struct query *q, bool *row)
{
    int rc = q->rc == SQLITE_OK ? sqlite3_step(q->s) : q->rc;
    *row = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return ST_OK;
    if (q->j->batch && q->j->lost == SQLITE_OK)
        q->j->lost = rc;
    return journal_fail(q->j, rc);
}

void query_end(struct query *q)
{
    sqlite3_reset(q->s); /* repeats the error of the last step */
    sqlite3_clear_bindings(q->s);
}

enum status query_run(struct query *q, int *changed)
{
    bool row;
    enum status st = query_step(q, &row);
    query_end(q);
    if (st == ST_OK && changed != NULL)
        *changed = sqlite3_changes(q->j->db);
    return st;
}
