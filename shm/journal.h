/* The journal: what a job is, on disk before anybody hears of it.
 *
 * One SQLite database (WAL, synchronous=FULL, exclusively locked) with one owner, the coordinator,
 * and one thread. Mutations collect in an open transaction that the owner's event loop ends with
 * journal_commit() before journal_due(); they are visible to reads of this journal at once and
 * durable when the commit has returned. So nobody may be told of a mutation before the callback
 * given to journal_after_commit() has run with ST_OK.
 *
 * A mutation or commit that fails takes its whole batch with it: each callback of the batch gets
 * the failure, nothing of the batch is on disk, and the journal accepts a new batch. Since requests
 * are repeated until they are answered, the owner answers nothing, rereads and goes on, or exits.
 *
 * Failures: ST_RESOURCE (disk full, read-only, I/O error, held by another process), ST_INPUT
 * (damaged, foreign or of another schema version); journal_fault() says which. The message names
 * the file and what to do.
 *
 * Times are milliseconds since 1970 (CLOCK_REALTIME), given by the caller, 0 for never: they are
 * for people, nothing here depends on their order. Never holds witness data. */
#ifndef PINION_SHM_JOURNAL_H
#define PINION_SHM_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/job.h"

struct journal;

enum {
    JOURNAL_SCHEMA = 1,           /* version of the tables; others are refused */
    JOURNAL_COMMIT_MS = 5,        /* the longest a mutation may wait for its commit */
    JOURNAL_SEED_DIGITS = 128,    /* r then s in hex */
    JOURNAL_RESULT_MAX = 1 << 20, /* bytes of each text of a result */
    JOURNAL_PRUNE_MAX = 256,      /* jobs */
};

enum journal_fault {
    JOURNAL_SOUND,
    JOURNAL_FULL,      /* no space left on the disk */
    JOURNAL_READ_ONLY, /* file, directory or mount not writable */
    JOURNAL_BUSY,      /* another process holds it */
    JOURNAL_CORRUPT,   /* damaged, or not a database */
    JOURNAL_FOREIGN,   /* a database of another program or of another schema version */
    JOURNAL_BROKEN,    /* anything else: I/O error, out of memory */
};

struct job {
    uint64_t number; /* order of submission, from 1, never reused */
    char id[JOB_ID_MAX + 1];
    uint32_t uid;
    char circuit[JOB_ID_MAX + 1];
    uint8_t request[32]; /* SHA-256 of what was asked for */
    enum job_priority priority;
    enum job_state state;
    int64_t deadline, submitted, started, ended;
    uint32_t attempts;                  /* times started */
    uint32_t synth_deaths;              /* synthesis processes that died with it */
    uint32_t gpud_deaths_alone;         /* daemons that died while it ran alone */
    bool suspect;                       /* was there when a daemon died: runs alone */
    uint64_t spool_bytes;               /* size of its file in the spool, 0 for none */
    char seed[JOURNAL_SEED_DIGITS + 1]; /* "" for none; forgotten when the job ends */
};

/* Texts of a result, each NULL for none. Borrowed by journal_finish; owned after journal_result. */
struct job_result {
    const char *proof;
    const char *publics; /* public.json */
    const char *stages;  /* milliseconds by stage */
    const char *error;
};

/* Opens or creates path (0600). The faults: *fault (may be NULL) says why it failed. */
enum status journal_open(struct journal **out, enum journal_fault *fault,
                         const char *path) MUST_CHECK;
void journal_close(struct journal *j); /* drops what was not committed; NULL is fine */

/* A random number made with the database: with a job's number it names the job among all journals.
 */
uint64_t journal_instance(const struct journal *j);

/* The last failure's kind, JOURNAL_SOUND after a success of a commit. */
enum journal_fault journal_fault(const struct journal *j);

/* --- submitting --- */

struct job_request {
    const char *id; /* NULL: generate one */
    uint32_t uid;
    const char *circuit;
    uint8_t request[32];
    enum job_priority priority;
    int64_t deadline;
    uint64_t spool_bytes;
    const char *seed; /* NULL for none */
};

/* Records a new job in waiting, or finds the one that has this id. *out is the job as it is now,
 * *fresh whether it is new. Durable after the next commit, an old job included: it may be in the
 * open batch. ST_INPUT when id, circuit or seed is malformed, and when the id belongs to another
 * request or another user; that message never says whose. */
enum status journal_submit(struct journal *j, struct job *out, bool *fresh,
                           const struct job_request *request, int64_t now) MUST_CHECK;

/* --- transitions ---
 * Each checks the state it leaves: ST_INVALID, naming job and state, when the job is in another
 * (a late duplicate), with nothing changed and the batch intact; ST_INPUT for an unknown number. */

/* waiting -> running, attempts + 1. */
enum status journal_start(struct journal *j, uint64_t number, int64_t now) MUST_CHECK;

/* What a job that comes back is charged with. */
struct job_blame {
    bool synth_death;
    bool gpud_death_alone;
    bool suspect; /* set once, it stays */
};
/* running -> waiting. */
enum status journal_requeue(struct journal *j, uint64_t number, struct job_blame blame) MUST_CHECK;

/* Charges without a change of state (a daemon died, the slice is still there). Any open state. */
enum status journal_blame(struct journal *j, uint64_t number, struct job_blame blame) MUST_CHECK;

/* waiting or running -> held, with the evidence. */
enum status journal_hold(struct journal *j, uint64_t number, const char *evidence) MUST_CHECK;

/* held -> waiting; deaths, suspicion and evidence forgotten. */
enum status journal_retry(struct journal *j, uint64_t number) MUST_CHECK;

/* Any open state -> state (done, failed or cancelled), with its result; forgets the seed. ST_INPUT
 * when a text is longer than JOURNAL_RESULT_MAX. */
enum status journal_finish(struct journal *j, uint64_t number, enum job_state state,
                           const struct job_result *result, int64_t now) MUST_CHECK;

/* Deletes ended jobs: all but the newest keep, and those that ended before ended_before. At most
 * JOURNAL_PRUNE_MAX a call, so that the loop is never held up; fewer means that it was all. An id
 * is free again once its job is pruned. */
enum status journal_prune(struct journal *j, size_t *removed, uint64_t keep,
                          int64_t ended_before) MUST_CHECK;

/* --- group commit --- */

/* CLOCK_MONOTONIC milliseconds by which journal_commit is due; 0 when nothing waits for it. */
int64_t journal_due(const struct journal *j);

/* Has done(arg, st) called by the next journal_commit, in order of registration, after the batch
 * is on disk (ST_OK) or lost; status_message() is then the reason. done may start the next batch.
 */
enum status journal_after_commit(struct journal *j, void (*done)(void *arg, enum status st),
                                 void *arg) MUST_CHECK;

/* Ends the batch and tells everybody who waits. */
enum status journal_commit(struct journal *j) MUST_CHECK;

/* --- reading; the open batch included --- */

/* ST_INPUT: no such job. */
enum status journal_find(struct journal *j, struct job *out, const char *id) MUST_CHECK;
enum status journal_get(struct journal *j, struct job *out, uint64_t number) MUST_CHECK;

/* The texts recorded so far, empty (all NULL) before the end. */
enum status journal_result(struct journal *j, struct job_result *out, uint64_t number) MUST_CHECK;
void job_result_fini(struct job_result *result);

/* Calls visit for every unfinished job (waiting, running, held) by number; visit must not call the
 * journal. Stops at a status other than ST_OK and returns it. */
enum status journal_each_open(struct journal *j,
                              enum status (*visit)(void *arg, const struct job *),
                              void *arg) MUST_CHECK;

/* Up to limit jobs with number < before (0: from the newest), newest first; of uid only unless
 * everyone. */
enum status journal_list(struct journal *j, enum status (*visit)(void *arg, const struct job *),
                         void *arg, uint64_t before, size_t limit, bool everyone,
                         uint32_t uid) MUST_CHECK;

/* Number of jobs by state; of uid only unless everyone. */
enum status journal_count(struct journal *j, uint64_t counts[JOB_STATES], bool everyone,
                          uint32_t uid) MUST_CHECK;

#endif
