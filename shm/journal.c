#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shm/journal_private.h"

enum { APPLICATION_ID = 0x50696e4a }; /* "PinJ", in the database's header */

_Static_assert(JOB_WAITING == 0 && JOB_RUNNING == 1 && JOB_DONE == 2 && JOB_FAILED == 3 &&
                   JOB_CANCELLED == 4 && JOB_HELD == 5,
               "the numbers are on disk and in SQL");
_Static_assert(PRIORITY_LOW == 0 && PRIORITY_CRITICAL == 3, "the numbers are on disk");

static const char schema[] = "CREATE TABLE meta (instance INTEGER NOT NULL) STRICT;"
                             "CREATE TABLE jobs ("
                             " number INTEGER PRIMARY KEY AUTOINCREMENT,"
                             " id TEXT NOT NULL UNIQUE,"
                             " uid INTEGER NOT NULL,"
                             " circuit TEXT NOT NULL,"
                             " request BLOB NOT NULL,"
                             " priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),"
                             " state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 5),"
                             " deadline INTEGER NOT NULL,"
                             " submitted INTEGER NOT NULL,"
                             " started INTEGER NOT NULL DEFAULT 0,"
                             " ended INTEGER NOT NULL DEFAULT 0,"
                             " attempts INTEGER NOT NULL DEFAULT 0,"
                             " synth_deaths INTEGER NOT NULL DEFAULT 0,"
                             " gpud_deaths_alone INTEGER NOT NULL DEFAULT 0,"
                             " suspect INTEGER NOT NULL DEFAULT 0,"
                             " spool_bytes INTEGER NOT NULL,"
                             " seed TEXT NOT NULL) STRICT;"
                             "CREATE INDEX jobs_by_state ON jobs (state, number, ended);"
                             "CREATE INDEX jobs_by_uid ON jobs (uid, number, state);"
                             "CREATE TABLE results ("
                             " number INTEGER PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,"
                             " proof TEXT, publics TEXT, stages TEXT, error TEXT) STRICT;";

static enum status run_sql(struct journal *j, const char *text)
{
    int rc = sqlite3_exec(j->db, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? ST_OK : journal_fail(j, rc);
}

/* The one integer that a query gives. */
static enum status ask(struct journal *j, int64_t *out, const char *text)
{
    sqlite3_stmt *s;
    int rc = sqlite3_prepare_v2(j->db, text, -1, &s, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    if (rc == SQLITE_DONE)
        return journal_damaged(j, "an answer is missing");
    return rc == SQLITE_ROW ? ST_OK : journal_fail(j, rc);
}

static enum status not_a_file(struct journal *j)
{
    j->fault = JOURNAL_FOREIGN;
    return fail(ST_INPUT, "journal %s: is not a regular file: move it away", j->path);
}

/* Creates or opens the file itself first: SQLite would follow links and use the umask's mode, which
 * its -wal file then inherits. */
static enum status touch(struct journal *j)
{
    struct stat info;
    int fd = open(j->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0 && (errno == EISDIR || errno == ELOOP || errno == ENXIO))
        return not_a_file(j);
    if (fd < 0) {
        j->fault = errno == ENOSPC || errno == EDQUOT                    ? JOURNAL_FULL
                   : errno == EACCES || errno == EPERM || errno == EROFS ? JOURNAL_READ_ONLY
                                                                         : JOURNAL_BROKEN;
        return fail(ST_RESOURCE, "journal %s: cannot be opened for writing: %m", j->path);
    }
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    close(fd);
    return regular ? ST_OK : not_a_file(j);
}

static enum status create_schema(struct journal *j)
{
    char text[256];
    int64_t instance;
    if (getrandom(&instance, sizeof instance, 0) != (ssize_t)sizeof instance)
        return fail(ST_RESOURCE, "journal %s: the kernel gives no random bytes: %m", j->path);
    snprintf(text, sizeof text,
             "INSERT INTO meta VALUES (%lld); PRAGMA application_id = %d; "
             "PRAGMA user_version = %d; COMMIT;",
             (long long)instance, APPLICATION_ID, JOURNAL_SCHEMA);
    enum status st = run_sql(j, "BEGIN IMMEDIATE");
    if (st == ST_OK)
        st = run_sql(j, schema);
    if (st == ST_OK)
        st = run_sql(j, text);
    return st;
}

/* Refuses what another program or another version has written; creates what is empty. */
static enum status check_schema(struct journal *j)
{
    int64_t application = 0, version = 0, objects = 0;
    enum status st = ask(j, &application, "PRAGMA application_id");
    if (st == ST_OK)
        st = ask(j, &version, "PRAGMA user_version");
    if (st == ST_OK)
        st = ask(j, &objects, "SELECT count(*) FROM sqlite_schema");
    if (st != ST_OK)
        return st;
    if (application == 0 && version == 0 && objects == 0)
        return create_schema(j);
    if (application == APPLICATION_ID && version == JOURNAL_SCHEMA)
        return ST_OK;
    j->fault = JOURNAL_FOREIGN;
    if (application != APPLICATION_ID)
        return fail(ST_INPUT, "journal %s: is the database of another program", j->path);
    return fail(ST_INPUT,
                "journal %s: has schema version %lld, this program reads %d: use the version that "
                "wrote it, or let that one finish its jobs and move the file away",
                j->path, (long long)version, JOURNAL_SCHEMA);
}

/* The order matters: the locking mode first, so that the wal index is never in shared memory. */
static enum status configure(struct journal *j)
{
    int64_t on = 0, instance = 0;
    sqlite3_limit(j->db, SQLITE_LIMIT_ATTACHED, 0);
    enum status st = run_sql(j, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; "
                                "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;");
    if (st == ST_OK)
        st = check_schema(j);
    if (st == ST_OK)
        st = run_sql(j, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; "
                        "PRAGMA journal_size_limit = 67108864;");
    if (st == ST_OK)
        st = ask(j, &on, "SELECT journal_mode = 'wal' FROM pragma_journal_mode");
    if (st == ST_OK && !on)
        st = fail(ST_RESOURCE, "journal %s: write-ahead logging does not work where it lies",
                  j->path);
    if (st == ST_OK)
        st = ask(j, &instance, "SELECT instance FROM meta");
    j->instance = (uint64_t)instance;
    return st;
}

static enum status open_database(struct journal *j)
{
    enum status st = touch(j);
    if (st != ST_OK)
        return st;
    int rc = sqlite3_open_v2(
        j->path, &j->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc != SQLITE_OK)
        return journal_fail(j, rc);
    st = configure(j);
    return st == ST_OK ? journal_prepare(j) : st;
}

enum status journal_open(struct journal **out, enum journal_fault *fault, const char *path)
{
    struct journal *j = calloc(1, sizeof *j);
    char *copy = strdup(path);
    if (j == NULL || copy == NULL) {
        free(j);
        free(copy);
        if (fault != NULL)
            *fault = JOURNAL_BROKEN;
        return fail(ST_RESOURCE, "journal %s: out of memory", path);
    }
    j->path = copy;
    enum status st = open_database(j);
    if (st != ST_OK && j->fault == JOURNAL_SOUND)
        j->fault = JOURNAL_BROKEN;
    if (fault != NULL)
        *fault = j->fault;
    if (st != ST_OK) {
        journal_close(j);
        return st;
    }
    *out = j;
    return ST_OK;
}

void journal_close(struct journal *j)
{
    if (j == NULL)
        return;
    for (int i = 0; i < SQL_STATEMENTS; i++)
        sqlite3_finalize(j->statements[i]);
    sqlite3_close(j->db); /* rolls the open batch back */
    free(j->waiters);
    free(j->path);
    free(j);
}

uint64_t journal_instance(const struct journal *j)
{
    return j->instance;
}

enum journal_fault journal_fault(const struct journal *j)
{
    return j->fault;
}

/* --- group commit --- */

static void set_due(struct journal *j)
{
    struct timespec now;
    if (j->due != 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    j->due = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + JOURNAL_COMMIT_MS;
}

enum status journal_begin(struct journal *j)
{
    if (j->lost != SQLITE_OK)
        return journal_fail(j, j->lost);
    if (j->batch)
        return ST_OK;
    struct query q = query_start(j, SQL_BEGIN);
    set_due(j);
    j->batch = true; /* before: a BEGIN that fails loses the batch too */
    return query_run(&q, NULL);
}

int64_t journal_due(const struct journal *j)
{
    return j->due;
}

enum status journal_after_commit(struct journal *j, void (*done)(void *arg, enum status st),
                                 void *arg)
{
    if (j->waiter_count == j->waiter_capacity) {
        size_t capacity = j->waiter_capacity == 0 ? 64 : 2 * j->waiter_capacity;
        struct journal_waiter *waiters = reallocarray(j->waiters, capacity, sizeof *waiters);
        if (waiters == NULL)
            return fail(ST_RESOURCE, "journal %s: out of memory", j->path);
        j->waiters = waiters;
        j->waiter_capacity = capacity;
    }
    j->waiters[j->waiter_count++] = (struct journal_waiter){.done = done, .arg = arg};
    set_due(j);
    return ST_OK;
}

/* Ends the transaction: on disk, or as if it had never been. */
static enum status end_batch(struct journal *j)
{
    enum status st = ST_OK;
    if (!j->batch)
        return ST_OK;
    if (j->lost != SQLITE_OK) {
        st = journal_fail(j, j->lost);
    } else {
        struct query commit = query_start(j, SQL_COMMIT);
        st = query_run(&commit, NULL);
    }
    j->batch = false;
    j->lost = SQLITE_OK;
    if (st == ST_OK)
        j->fault = JOURNAL_SOUND;
    else if (!sqlite3_get_autocommit(j->db)) {
        enum journal_fault fault = j->fault;
        struct query rollback = query_start(j, SQL_ROLLBACK);
        if (query_run(&rollback, NULL) == ST_OK) /* a failure adds nothing to the first */
            j->fault = fault;
    }
    return st;
}

enum status journal_commit(struct journal *j)
{
    char reason[1024];
    struct journal_waiter *waiters = j->waiters;
    size_t count = j->waiter_count;
    enum status st = end_batch(j);
    snprintf(reason, sizeof reason, "%s", status_message());
    j->waiters = NULL;
    j->waiter_count = j->waiter_capacity = 0;
    j->due = 0;
    for (size_t i = 0; i < count; i++) {
        if (st != ST_OK)
            st = fail(st, "%s", reason); /* again: the one before may have cleared it */
        waiters[i].done(waiters[i].arg, st);
    }
    free(waiters);
    return st == ST_OK ? ST_OK : fail(st, "%s", reason);
}
