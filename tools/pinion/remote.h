/* What the commands share that talk to the daemons. */
#ifndef PINION_TOOLS_REMOTE_H
#define PINION_TOOLS_REMOTE_H

#include "common/client.h"
#include "common/progress.h"
#include "tools/pinion/options.h"

/* Options of every such command; the first member of its struct. */
struct remote_options {
    const char *dir; /* NULL: client_default_where */
    bool json;
};

#define REMOTE_DIR_OPTION                                                                          \
    {                                                                                              \
        "dir", "DIR", "state of the daemons (default: $PINION_DIR, else /var/lib/pinion)",         \
            OPTION_TEXT, offsetof(struct remote_options, dir), 0, 0                                \
    }
#define REMOTE_OPTIONS                                                                             \
    {"json", NULL, "print JSON", OPTION_FLAG, offsetof(struct remote_options, json), 0, 0},        \
        REMOTE_DIR_OPTION

/* ST_NO_DAEMON when nobody listens. where: a directory, an address, or NULL. */
enum status remote_dial(struct client **out, const char *where) MUST_CHECK;

/* One control request; members stolen, NULL for none. As client_call; gives up after half a
 * minute. */
enum status remote_call(struct client *c, struct client_reply *reply, const char *op,
                        json_t *members, const void *payload, size_t payload_len) MUST_CHECK;

/* dial, call, close: for commands of one request. */
enum status remote_ask(const char *where, struct client_reply *reply, const char *op,
                       json_t *members) MUST_CHECK;

/* ---- jobs ---- */

struct remote_job {
    const char *id; /* the client's own: a request that is repeated is the same job */
    const char *circuit, *witness;
    const char *priority; /* NULL: normal */
    const char *seed;     /* NULL: none */
    int64_t deadline_ms;  /* of the wall clock, since 1970; 0: none */
};

/* Streams the witness file and waits until the coordinator has the job on disk. ST_INPUT, also for
 * an id that was used for another request; ST_RESOURCE when the coordinator has no room for it. */
enum status remote_submit(struct client *c, const struct remote_job *job,
                          struct progress *progress) MUST_CHECK;

/* How a job stands; all owned, remote_result_fini frees. */
struct remote_result {
    json_t *body;              /* of the reply */
    const char *state, *error; /* borrow from body; error "" for none */
    json_t *outcome;           /* {"proof": ..., "public": ...}; NULL unless it is done */
};
void remote_result_fini(struct remote_result *r);

/* Waits until the job has ended or is held, or timeout_ms have passed (0: for ever): ST_RESOURCE
 * then. */
enum status remote_wait(struct client *c, struct remote_result *out, const char *id,
                        uint64_t timeout_ms) MUST_CHECK;

/* ST_OK for a job that is done; ST_INVALID with its error else. */
enum status remote_verdict(const struct remote_result *r, const char *id) MUST_CHECK;

/* {id, state, attempts, error, stages, proof, public}; NULL without memory. */
json_t *remote_result_json(const struct remote_result *r, const char *id);

/* Writes the two files byte for byte as snarkjs does, both or neither; either path may be NULL. */
enum status remote_write(const struct remote_result *r, const char *proof_path,
                         const char *public_path) MUST_CHECK;

/* Where a name may come from outside: "DIR is no directory" and the like. The absolute path of an
 * existing file, for free(). */
enum status remote_absolute(char **out, const char *path) MUST_CHECK;

#endif
