/* A worker's membership: how synthesis processes and the daemon are known to the coordinator.
 *
 * Joins by a hello, numbers the requests, says with each which slices it holds, and says hello
 * again when a restarted coordinator does not know it any more. Opens the ledger and the arena that
 * the coordinator names. One thread; ledger and arena may be read from others. */
#ifndef PINION_SHM_MEMBER_H
#define PINION_SHM_MEMBER_H

#include "common/client.h"
#include "shm/arena.h"
#include "shm/ledger.h"

struct member;

struct member_options {
    const char *where;       /* directory of the state, or an address; borrowed for the call */
    enum client_role role;   /* a synthesis process attaches to write, a daemon to read */
    const atomic_bool *stop; /* borrowed until member_leave: true once the process is to end */
    unsigned ms_after_stop;  /* how long an unanswered request is still repeated then */
};

/* Waits for a coordinator. ST_RESOURCE when it refuses, as a second daemon is; else as
 * client_call, ledger_attach and arena_attach. */
enum status member_join(struct member **out, const struct member_options *options) MUST_CHECK;

/* Says goodbye if a coordinator answers, and closes everything. NULL is fine. */
void member_leave(struct member *m);

/* One request: op, its own members (stolen, NULL for none) and payload. As client_call; a refusal
 * for being unknown is met with a hello and a repetition. ST_NO_DAEMON only after stop.
 * ST_STALE also when the arena was made anew: member_orphaned then, and the process should end. */
enum status member_call(struct member *m, struct client_reply *reply, const char *op,
                        json_t *members, const void *payload, size_t payload_len) MUST_CHECK;

/* Whether ledger and arena are no longer those of the coordinator. */
bool member_orphaned(const struct member *m);

/* What the next requests say is held; at most MSG_HOLDING_MAX at a time. */
void member_hold(struct member *m, struct handle h);
void member_drop(struct member *m, struct handle h);

uint64_t member_incarnation(const struct member *m);

/* Borrowed until member_leave. */
const struct ledger *member_ledger(const struct member *m);
const struct arena *member_arena(const struct member *m);
/* What the first hello brought for this role: an object. */
const json_t *member_config(const struct member *m);
bool member_seed_allowed(const struct member *m);

/* "handle": [slot, generation] */
json_t *member_handle_json(struct handle h);
enum status member_handle_read(struct handle *out, const json_t *body, const char *name) MUST_CHECK;

#endif
