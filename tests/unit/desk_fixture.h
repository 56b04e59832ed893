/* A desk with everything around it, for tests: parts in a directory of their own, a clock that
 * moves when told, processes that exist and die when told, and requests as text. After every event
 * the books are checked. */
#ifndef PINION_TESTS_DESK_FIXTURE_H
#define PINION_TESTS_DESK_FIXTURE_H

#include "tests/unit/shm_fixture.h"

#include <jansson.h>

#include "shm/coord/desk.h"
#include "shm/journal.h"
#include "shm/spool.h"
#include "shm/store.h"

enum { OWNER = 1000, ALICE = 2001, BOB = 2002, OFFICE_PAGES = 64, OFFICE_SLOTS = 16 };

struct process {
    int32_t pid;
    bool dead, watched;
    int signals[8];
    size_t signal_count;
};

struct reply {
    bool come, dropped;
    json_t *body; /* owned by the office until its end */
    char *payload;
};

struct office {
    char *dir;
    struct ledger_lock *lock;
    struct ledger *ledger;
    struct journal *journal;
    struct spool *spool;
    struct store *store;
    struct desk_host host;
    struct desk_config config;
    struct desk *desk;
    int64_t clock; /* ms ahead of the real one */
    struct process processes[64];
    size_t process_count;
    int32_t watched[FIXTURE_CLIENTS]; /* pid by client, 0 for none */
    struct reply *replies;            /* by token - 1 */
    size_t reply_count, reply_capacity;
    int32_t next_pid;
    bool arena_is_new;
};

/* cmocka's setup and teardown; *state is the office. Circuits: "small" (3 pages: w, a, b),
 * "medium" (12 pages), "big" (48 pages of 64). */
int office_setup(void **state);
int office_teardown(void **state);

/* The coordinator dies: what was not committed is lost. Then another one starts. */
void office_crash(struct office *o);
void office_start(struct office *o);
void office_restart(struct office *o);

/* Time passes, and the desk notices. */
void office_pass(struct office *o, int64_t ms);

/* Sends a request; its token. pid 0 for a user. */
size_t office_send(struct office *o, uint32_t uid, int32_t pid, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
size_t office_send_bytes(struct office *o, uint32_t uid, int32_t pid, const char *text,
                         const char *payload);
/* The reply, after at most 1.2 s of the office's time; a request that was dropped fails the test.
 * Valid until the office ends. */
json_t *office_reply(struct office *o, size_t token);
const char *office_payload(struct office *o, size_t token);
bool office_has_reply(const struct office *o, size_t token);
bool office_was_dropped(const struct office *o, size_t token);

/* office_send and office_reply. */
json_t *office_ask(struct office *o, uint32_t uid, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- workers ---- */

struct worker {
    int32_t pid;
    uint64_t incarnation;
    unsigned client;
    uint64_t seq;
    struct handle held[16];
    size_t held_count;
};

struct worker office_hire(struct office *o, const char *role);
void office_kill(struct office *o, const struct worker *w);

/* Sends op with the head that the worker's state gives, seq + 1, and the members (", \"a\": 1" or
 * ""). */
size_t worker_send(struct office *o, struct worker *w, const char *op, const char *members,
                   const char *payload);
json_t *worker_ask(struct office *o, struct worker *w, const char *op, const char *members);

/* take; the handle granted is kept in held. {0, 0} when there was no job. */
struct handle worker_take(struct office *o, struct worker *w);
/* Whether the op about that handle was accepted; the handle is let go for submitted, failed, done,
 * proof_failed. */
bool worker_says(struct office *o, struct worker *w, const char *op, struct handle h,
                 const char *members);
bool worker_done(struct office *o, struct worker *w, struct handle h);
/* next; how many jobs came, with their handles kept in held. */
size_t worker_next(struct office *o, struct worker *w, unsigned room);
void worker_let_go(struct worker *w, struct handle h);

/* ---- jobs ---- */

/* Submits and uploads. */
void office_announce(struct office *o, uint32_t uid, const char *id, const char *circuit,
                     const char *members);
/* Announces and commits; waits for "accepted". */
void office_submit(struct office *o, uint32_t uid, const char *id, const char *circuit,
                   const char *members);
struct job office_job(struct office *o, const char *id);
enum slot_state office_slot_state(struct office *o, struct handle h);
uint64_t office_free_bytes(struct office *o);

const char *error_code(const json_t *reply); /* "" when it is none */
bool is_ok(const json_t *reply);

/* A job in each state of its slice: the worker that got it there. */
struct scene {
    struct worker synth, gpud;
    struct handle h;
};
/* Brings a fresh small job "j" of ALICE to the state, SLOT_WRITING to SLOT_LEAN. */
struct scene office_stage(struct office *o, enum slot_state state);

#endif
