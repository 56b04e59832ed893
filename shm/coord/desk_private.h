/* What the parts of the desk share. Who does what:
 *
 *   desk.c          creation, time, commits and what follows them
 *   desk_request.c  a request's way to its handler and the reply's way back
 *   desk_clients.c  hello, bye, idempotence, holding lists, deaths
 *   desk_lease.c    leases and the stuck rule
 *   desk_slots.c    the mirror of the ledger and the free map
 *   desk_owners.c   whose bytes lie where, for scrubbing
 *   desk_jobs.c     what happens to a job: queued, blamed, held, ended
 *   desk_view.c     what the status shows beyond counts
 *   desk_synth.c desk_gpud.c desk_submit.c desk_control.c desk_status.c   the requests
 *   desk_recover.c  journal and ledger brought into agreement */
#ifndef PINION_SHM_COORD_DESK_PRIVATE_H
#define PINION_SHM_COORD_DESK_PRIVATE_H

#include "common/log.h"
#include "common/msg.h"
#include "shm/coord/desk.h"
#include "shm/freemap.h"
#include "shm/journal.h"
#include "shm/ledger_write.h"
#include "shm/queue.h"
#include "shm/spool.h"
#include "shm/store.h"

enum { STAGE_NAME_MAX = 23, DEVICES_MAX = 64, SWEEP_MS = 1000 };

/* ---- replies ---- */

enum answer_when {
    ANSWER_NOW,
    ANSWER_DURABLE, /* once everything so far is on disk */
    ANSWER_PARKED,  /* the handler has put the request among the waiting */
    ANSWER_DROPPED, /* none: it has to come again */
};

struct answer {
    enum answer_when when;
    json_t *body;  /* owned; NULL: out of memory, answered as such */
    char *payload; /* owned; text, or NULL */
};

/* {"ok": true} with members, which are owned; NULL: they could not be made. */
struct answer answer_ok(json_t *members);
struct answer answer_durable(json_t *members);
/* {"ok": true} */
struct answer answer_done(enum answer_when when);

/* The recorded failure, which is cleared; dropped instead when the journal's batch is lost. */
struct answer answer_failure(struct desk *d, enum status st);

/* {"ok": false} with a code of the protocol. */
struct answer answer_error(const char *code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- requests ---- */

struct request {
    void *token;
    struct desk_peer peer;
    struct msg message;
    struct msg_head head;
    uint16_t client;      /* of a worker's request */
    struct handle handle; /* of a request that has one, generation 0 otherwise */
    bool repeated;        /* seen before, but its reply is lost: its effect may be there already */
};

enum waiting_for { WAIT_TAKE, WAIT_NEXT, WAIT_JOB };

/* A request without a reply. */
struct waiting {
    void *token;
    enum waiting_for what;
    uint16_t client; /* CLIENT_NONE for a control request */
    uint64_t seq;
    int64_t until;
    uint32_t room;   /* NEXT */
    uint64_t number; /* JOB */
    uint32_t uid;    /* JOB: who waits */
    bool proof;      /* JOB */
    bool ready;      /* JOB: it has ended or is held, and that is on disk */
};

/* A reply that waits for the commit. */
struct unsent {
    void *token;
    uint16_t client; /* CLIENT_NONE for a control request */
    uint64_t seq;
    void *bytes;
    size_t len;
};

/* What follows a commit. */
struct effect {
    enum { EFFECT_QUEUE, EFFECT_ENDED, EFFECT_HELD } what;
    uint64_t number;
    char id[JOB_ID_MAX + 1];
};

/* ---- mirrors ---- */

enum lease_stage { LEASE_GOOD, LEASE_WARNED, LEASE_TERMINATED, LEASE_KILLED };

struct desk_client {
    bool used, dying;
    enum client_role role;
    int32_t pid;
    uint64_t start_time, incarnation, sequence;
    uint64_t added_ns;
    int64_t heard; /* when it last sent anything */
    enum lease_stage lease;
    int64_t lease_since;
    void *reply; /* the last one sent, to sequence reply_seq; NULL for none */
    size_t reply_len;
    uint64_t reply_seq;
};

struct desk_slot {
    enum slot_state state; /* all else means something unless FREE */
    uint8_t flags;
    uint16_t client;
    uint32_t generation;
    uint64_t number; /* of its job, 0 when the journal does not know it */
    uint32_t uid;
    char circuit[JOB_ID_MAX + 1];
    enum job_priority priority;
    int64_t since;       /* when the job began to wait */
    uint64_t held_bytes; /* of the arena */
    uint64_t abc_bytes;  /* of them, what LEAN would give back */
    uint64_t memory;     /* reserved working memory, until its writer is done */
    uint64_t granted_ns;
    bool ended;                     /* its job needs it no more ... */
    bool settled;                   /* ... which is on disk */
    bool acknowledged;              /* ... and its user said that it has let go */
    int64_t asked;                  /* when its a, b, c were last asked back, 0 for never */
    char stage[STAGE_NAME_MAX + 1]; /* as the daemon reports it */
    int64_t stage_since, stage_estimate;
    json_t *stages; /* synthesis' times, owned; NULL for none */
};

struct upload {
    struct upload *next;
    char id[JOB_ID_MAX + 1], circuit[JOB_ID_MAX + 1];
    uint32_t uid;
    uint8_t sha256[32], request[32];
    uint64_t size;
    enum job_priority priority;
    int64_t deadline, touched;
    char seed[JOURNAL_SEED_DIGITS + 1];
};

struct deadline {
    uint64_t number;
    int64_t at; /* wall ms */
};

/* A circuit's key, as the daemon reports it. */
struct desk_key {
    char circuit[JOB_ID_MAX + 1];
    char resident[STAGE_NAME_MAX + 1];
    uint64_t bytes;
    int64_t used; /* when a job with it was last handed out */
    bool evict;   /* to be told to the daemon */
};

enum { NOTES = 16, MEANS_MAX = 24, MEAN_OF = 32, MAP_CELLS = 64 };

/* Something that happened. */
struct desk_note {
    int64_t at;              /* wall ms */
    const char *event;       /* static */
    char id[JOB_ID_MAX + 1]; /* of the job, "" for none */
    uint32_t uid;            /* of its owner */
};

/* Of the last MEAN_OF results or so. */
struct desk_mean {
    char stage[STAGE_NAME_MAX + 1];
    double ms;
    unsigned count;
};

struct desk {
    struct ledger *ledger;
    struct journal *journal;
    struct spool *spool;
    struct store *store;
    const struct desk_host *host;
    const struct desk_config *config;
    const struct arena_desc *arena;

    struct freemap *map;
    struct queue *queue;
    struct owners *owners;
    struct desk_slot *slots;
    uint32_t slot_count, used_slots;
    struct desk_client *clients;
    uint32_t client_count;
    uint64_t memory_reserved; /* sum of the slots' */

    struct waiting *waiting;
    size_t waiting_count, waiting_capacity;
    struct unsent *unsent;
    size_t unsent_count, unsent_capacity;
    struct effect *effects;
    size_t effect_count, effect_capacity;
    struct deadline *deadlines;
    size_t deadline_count, deadline_capacity;
    struct upload *uploads;
    size_t upload_count;

    struct desk_key *keys;
    size_t key_count, key_capacity;
    json_t *devices; /* as reported; NULL for none */

    bool draining;
    bool sick; /* the mirror is not to be trusted: the journal failed */
    int64_t swept, pruned;
    int64_t started;
    uint64_t deaths, resynthesized;

    struct desk_note notes[NOTES]; /* note i in i % NOTES */
    size_t note_count;
    struct desk_mean means[MEANS_MAX];
    size_t mean_count;
};

/* ---- desk.c ---- */

int64_t desk_now(const struct desk *d);
int64_t desk_wall(const struct desk *d);
void desk_effect(struct desk *d, int what, const struct job *job);

/* Room for one more element of `size` bytes; aborts without memory for so small a list. */
void *desk_grow(void *list, size_t count, size_t *capacity, size_t size);

/* ---- desk_request.c ---- */

void desk_answer(struct desk *d, void *token, uint16_t client, uint64_t seq, struct answer a);
void desk_park(struct desk *d, const struct waiting *w);
/* Gives every waiting request whose reply has become possible, or due, that reply. */
void desk_serve(struct desk *d);
/* Sends (st OK) or drops the replies that waited for a commit. */
void desk_release_unsent(struct desk *d, enum status st);
/* Drops whatever waits for a reply to that client. */
void desk_forget_pending(struct desk *d, uint16_t client);

/* ---- desk_clients.c ---- */

/* Finds the client of a worker's request, records its sequence number and takes in its holding
 * list. False when the request is answered already: *a says how. */
bool clients_admit(struct desk *d, struct request *r, struct answer *a);
/* Whether the request's sender says that it holds slot i; its own handle counts. */
bool clients_lists(const struct desk *d, const struct request *r, uint32_t i);
struct answer handle_hello(struct desk *d, struct request *r);
struct answer handle_bye(struct desk *d, struct request *r);
/* The live daemon, CLIENT_NONE if there is none. */
uint16_t clients_gpud(const struct desk *d);
void clients_died(struct desk *d, uint16_t index);
enum status clients_load(struct desk *d) MUST_CHECK;
/* Frees quarantined slices that no process can know any more. */
void clients_clear_quarantine(struct desk *d);

/* ---- desk_lease.c ---- */

void lease_tick(struct desk *d);

/* ---- desk_slots.c ---- */

enum status slots_create(struct desk *d) MUST_CHECK;
void slots_destroy(struct desk *d);
/* Takes slot i of the ledger into the mirror; `job` NULL when the journal does not know it. */
void slots_adopt(struct desk *d, uint32_t i, const struct slice_record *r, const struct job *job);
/* The slot behind a handle; d->slot_count when it is stale. */
uint32_t slots_find(const struct desk *d, struct handle h);
/* The slot in use for a job, not a quarantined one; d->slot_count when it has none. */
uint32_t slots_of_job(const struct desk *d, uint64_t number);
struct handle slots_handle(const struct desk *d, uint32_t i);
/* Whether a slice of w + abc bytes could be granted now. */
bool slots_fit(const struct desk *d, uint64_t w, uint64_t abc);
/* Grants a slice for the job to a live client; *slot is it. ST_RESOURCE when it does not fit. */
enum status slots_grant(struct desk *d, uint32_t *slot, uint16_t client, const struct job *job,
                        const struct circuit *circuit) MUST_CHECK;
/* Publishes; what LEAN gives back is free after it. */
void slots_publish(struct desk *d, uint32_t i, enum slot_state state, uint8_t flags,
                   uint16_t client);
void slots_free(struct desk *d, uint32_t i);
/* Number of slots that the daemon works on. */
uint32_t slots_in_flight(const struct desk *d);
uint64_t slots_memory_free(const struct desk *d);

/* ---- desk_owners.c ---- */

struct owners;
enum status owners_create(struct owners **out, const struct arena_desc *arena,
                          bool clean) MUST_CHECK;
void owners_destroy(struct owners *o);
/* Whether the extents hold bytes of anybody but uid; they are uid's from now on. */
bool owners_take(struct owners *o, const struct extent *extents, uint32_t n, uint32_t uid);

/* ---- desk_jobs.c ---- */

/* The sizes a circuit's jobs need. ST_INPUT when the circuit is not there. */
enum status jobs_plan(struct desk *d, struct slice_plan *plan, const char *circuit) MUST_CHECK;
/* Puts a waiting job into the queue; one whose circuit is gone is held. */
void jobs_queue(struct desk *d, const struct job *job);
/* running -> waiting with blame and back into the queue, or held after the third death. */
void jobs_requeue(struct desk *d, uint64_t number, struct job_blame blame, const char *evidence);
/* Blames a running job that keeps its slice; true when it is held now. */
bool jobs_blame(struct desk *d, uint64_t number, struct job_blame blame, const char *evidence);
/* Ends a job; the slot, if any, is free once that is on disk and its user has let go. */
enum status jobs_finish(struct desk *d, const struct job *job, enum job_state state,
                        const struct job_result *result) MUST_CHECK;
/* Frees the slots of an ended or held job that nobody uses. */
void jobs_release(struct desk *d, uint64_t number);
void jobs_expire(struct desk *d);

/* ---- desk_view.c ---- */

/* event is static; id NULL for none. */
void view_note(struct desk *d, const char *event, const char *id, uint32_t uid);
void view_learn(struct desk *d, json_t *stages);
json_t *view_events(const struct desk *d, const struct request *r);
json_t *view_means(const struct desk *d);
json_t *view_map(const struct desk *d);

/* ---- handlers ---- */

struct answer handle_take(struct desk *d, struct request *r);
struct answer handle_submitted(struct desk *d, struct request *r);
struct answer handle_failed(struct desk *d, struct request *r);
/* The reply to a waiting take or next: false when there is nothing to say yet. */
bool synth_serve(struct desk *d, const struct waiting *w, struct answer *a);
bool gpud_serve(struct desk *d, const struct waiting *w, struct answer *a);
struct answer synth_nothing(void);
struct answer gpud_nothing(struct desk *d);

struct answer handle_next(struct desk *d, struct request *r);
struct answer handle_copied(struct desk *d, struct request *r);
struct answer handle_gave_back(struct desk *d, struct request *r);
struct answer handle_done(struct desk *d, struct request *r);
struct answer handle_proof_failed(struct desk *d, struct request *r);
struct answer handle_progress(struct desk *d, struct request *r);
/* The daemon's slice goes back for another try, or to a new synthesis when it is LEAN. */
void gpud_return_slot(struct desk *d, uint32_t i, struct job_blame blame, const char *evidence);

struct answer handle_submit(struct desk *d, struct request *r);
struct answer handle_upload(struct desk *d, struct request *r);
struct answer handle_commit(struct desk *d, struct request *r);
void uploads_expire(struct desk *d);
void uploads_remove(struct desk *d, const char *id);

struct answer handle_wait(struct desk *d, struct request *r);
bool wait_serve(struct desk *d, const struct waiting *w, bool due, struct answer *a);
struct answer handle_list(struct desk *d, struct request *r);
struct answer handle_cancel(struct desk *d, struct request *r);
struct answer handle_retry(struct desk *d, struct request *r);
struct answer handle_drain(struct desk *d, struct request *r);
struct answer handle_circuit_add(struct desk *d, struct request *r);
struct answer handle_circuit_list(struct desk *d, struct request *r);
struct answer handle_circuit_remove(struct desk *d, struct request *r);
struct answer handle_keys(struct desk *d, struct request *r);
struct answer handle_status(struct desk *d, struct request *r);
/* The entry of a circuit's key, made if there is none. */
struct desk_key *keys_entry(struct desk *d, const char *circuit);
/* Whether a slice of that circuit is on its way to or in the daemon. */
bool keys_in_use(const struct desk *d, const char *circuit);

/* ---- desk_recover.c ---- */

enum status desk_recover(struct desk *d) MUST_CHECK;

#endif
