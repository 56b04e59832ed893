/* Inside the journal: its state, its statements and how they are run. For shm/journal*.c only. */
#ifndef PINION_SHM_JOURNAL_PRIVATE_H
#define PINION_SHM_JOURNAL_PRIVATE_H

#include <sqlite3.h>

#include "shm/journal.h"

/* What SQL calls the states; checked against enum job_state in journal.c. */
#define SQL_WAITING "0"
#define SQL_RUNNING "1"
#define SQL_HELD "5"
#define SQL_OPEN "(0, 1, 5)"
#define SQL_ENDED "(2, 3, 4)"

enum journal_statement {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_INSERT,
    SQL_BY_ID,
    SQL_BY_NUMBER,
    SQL_START,
    SQL_REQUEUE,
    SQL_BLAME,
    SQL_HOLD,
    SQL_RETRY,
    SQL_FINISH,
    SQL_PUT_RESULT,
    SQL_DROP_RESULT,
    SQL_GET_RESULT,
    SQL_NEWEST_TO_PRUNE,
    SQL_PRUNE,
    SQL_EACH_OPEN,
    SQL_LIST,
    SQL_COUNT,
    SQL_COUNT_OF,
    SQL_STATEMENTS,
};

struct journal_waiter {
    void (*done)(void *arg, enum status st);
    void *arg;
};

struct journal {
    sqlite3 *db;
    char *path;
    uint64_t instance;
    sqlite3_stmt *statements[SQL_STATEMENTS];
    enum journal_fault fault;
    bool batch;  /* a transaction is open */
    int lost;    /* SQLite's code of the statement that lost the batch; commit reports it */
    int64_t due; /* of the first mutation or waiter since the last commit; 0 without one */
    struct journal_waiter *waiters;
    size_t waiter_count, waiter_capacity;
};

/* One use of a prepared statement. Binding errors are kept and reported by the first step. */
struct query {
    struct journal *j;
    sqlite3_stmt *s;
    int rc;
};

struct query query_start(struct journal *j, enum journal_statement which);
void query_int(struct query *q, int at, int64_t value);
void query_text(struct query *q, int at,
                const char *text); /* NULL binds NULL; borrowed until end */
void query_blob(struct query *q, int at, const void *bytes, size_t len);
/* Whether there is a row, in *row. A failure is recorded, and loses the open batch. */
enum status query_step(struct query *q, bool *row) MUST_CHECK;
void query_end(struct query *q);
/* For a statement without rows: steps, ends; *changed (may be NULL) is the number of rows changed.
 */
enum status query_run(struct query *q, int *changed) MUST_CHECK;

/* Opens a batch for a mutation, if none is open. Refuses while the batch is lost. */
enum status journal_begin(struct journal *j) MUST_CHECK;

/* Records SQLite's failure rc: sets j->fault and the message. */
enum status journal_fail(struct journal *j, int rc) MUST_CHECK;
/* A row that no version of this program has written. */
enum status journal_damaged(struct journal *j, const char *what) MUST_CHECK;

/* The job with this id, if there is one. */
enum status journal_lookup(struct journal *j, struct job *out, bool *found,
                           const char *id) MUST_CHECK;

/* Prepares every statement, once. */
enum status journal_prepare(struct journal *j) MUST_CHECK;

#endif
