/* The desk: everything the coordinator decides, as an object without sockets, clocks and signals of
 * its own. Events go in (a request, a death, the passing of time), replies come out through the
 * host. One thread.
 *
 * Truths, in this order: the journal decides what a job is, the ledger who may touch which bytes.
 * The desk keeps a mirror of both, made from them when it is created and again when a commit has
 * failed; it changes the ledger first and its mirror after. A desk may be destroyed at any moment,
 * another one made over the same parts goes on: that is how a coordinator restarts.
 *
 * Replies: those that promise durability are held until the batch they are in is on disk, and
 * dropped when it is lost (the client asks again). The last reply of each client is kept for a
 * repeated request; a request that can have no effect yet waits here, at most a second. */
#ifndef PINION_SHM_COORD_DESK_H
#define PINION_SHM_COORD_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct desk;
struct journal;
struct ledger;
struct spool;
struct store;

enum {
    DESK_PROTOCOL = 1,
    DESK_WAIT_MAX_MS = 1000, /* the longest a request waits for its reply */
    DESK_DEATHS = 3,         /* after so many a job is held */
};

/* What is around the desk. Every call gets arg. Times are milliseconds. */
struct desk_host {
    void *arg;
    int64_t (*monotonic)(void *arg); /* CLOCK_MONOTONIC, that of the ledger */
    int64_t (*wall)(void *arg);      /* since 1970 */
    /* The one reply to the request of this token; bytes are moved and for free(). */
    void (*reply)(void *arg, void *token, void *bytes, size_t len);
    /* There will be no reply: the request came again, or has to come again. */
    void (*drop)(void *arg, void *token);
    /* From now on desk_died(client) when that very process ends; false when it is not alive. */
    bool (*watch)(void *arg, uint16_t client, int32_t pid, uint64_t start_time);
    void (*unwatch)(void *arg, uint16_t client);
    void (*signal)(void *arg, uint16_t client, int signal);
    bool (*is_alive)(void *arg, int32_t pid, uint64_t start_time);
    /* Whether this user may drain, evict and add circuits. */
    bool (*is_admin)(void *arg, uint32_t uid);
};

struct desk_config {
    const char *ledger_name; /* for workers; borrowed, like all texts here */
    const char *version;
    const char *source; /* the configuration file, "" for the defaults */
    const char *backend, *devices;
    uint32_t owner; /* the user whose processes may be workers */
    bool allow_seed;
    int64_t ageing_ms;
    int64_t lease_ms, term_ms, kill_ms;
    uint64_t host_memory, key_budget; /* bytes; the first is above the arena's */
    int64_t stuck_factor, stuck_ms;
    int64_t upload_idle_ms;
    int64_t journal_keep, journal_keep_ms;
    int64_t synth_threads, gpud_threads;
};

/* All borrowed until desk_destroy; the ledger writable. */
struct desk_parts {
    struct ledger *ledger;
    struct journal *journal;
    struct spool *spool;
    struct store *store;
    const struct desk_host *host;
    const struct desk_config *config;
    bool arena_is_new; /* all zero: nobody's bytes are in it */
};

/* Makes a desk and recovers: brings journal and ledger into agreement and watches every client that
 * lives. Failures are those of the parts. */
enum status desk_create(struct desk **out, const struct desk_parts *parts) MUST_CHECK;

/* Drops whatever waits for a reply. What was not committed is lost. NULL is fine. */
void desk_destroy(struct desk *d);

struct desk_peer {
    uint32_t uid;
    int32_t pid; /* 0: not known */
};

/* A request has come. bytes are not kept. token means nothing here but to the host. */
void desk_request(struct desk *d, void *token, const struct desk_peer *peer, const void *bytes,
                  size_t len);

/* A watched process is dead, beyond doubt. */
void desk_died(struct desk *d, uint16_t client);

/* Time has passed, or the store woke: commits, answers, expires, warns, kills. */
void desk_tick(struct desk *d);

/* The configuration, which the desk borrows, has changed; ledger_name, owner and host_memory have
 * not. */
void desk_reconfigured(struct desk *d);

/* Whether a reply waits for a commit, and the commit itself, ahead of its time. */
bool desk_is_awaited(const struct desk *d);
void desk_commit(struct desk *d);

/* The desk was not asked for a while: nobody's silence in that time counts against him. To be
 * called before desk_tick. */
void desk_was_away(struct desk *d);

/* When desk_tick is due at the latest, ms of the monotonic clock. */
int64_t desk_due(const struct desk *d);

/* As the request of that name does. */
void desk_drain(struct desk *d, bool on);

/* Nothing that can come to an end by itself is under way. */
bool desk_is_idle(const struct desk *d);

/* No slice is held and no client known: ledger and arena mean nothing any more. */
bool desk_is_empty(const struct desk *d);

/* Aborts unless mirror, free map and ledger agree and granted + free = bytes. */
void desk_check(const struct desk *d);

#endif
