/* One device at work: the vectors of a job are copied while the job before is proved and the proof
 * of the one before that is verified, each stage on a thread of its own.
 *
 *   pipeline_add -> [copy, 2 lanes] -> [prove] -> [verify] -> pipeline_event -> pipeline_forget
 *
 * No proof leaves without having been verified. One that fails is made again from the same slice
 * with the same r and s on the second backend. Equal bytes: the witness does not satisfy the
 * circuit, or the key is damaged. Different bytes: a device fault; the second proof is returned if
 * it verifies.
 *
 * One thread calls, but for pipeline_add's workers inside. At most PIPELINE_JOBS jobs at a time,
 * counted until they are forgotten. */
#ifndef PINION_GPUD_PIPELINE_H
#define PINION_GPUD_PIPELINE_H

#include "gpud/keys.h"
#include "gpud/vectors.h"

struct pipeline;

enum { PIPELINE_JOBS = 4, PIPELINE_SEED_DIGITS = 128 };

/* All borrowed until pipeline_destroy. Nobody else uses device, second or pool meanwhile. */
struct pipeline_parts {
    struct backend *device, *second; /* second: for proofs made again; may be of the same kind */
    struct keys *keys;               /* of device */
    struct pool *pool;               /* for evaluating again; not one that device or second use */
};

enum status pipeline_create(struct pipeline **out, const struct pipeline_parts *parts) MUST_CHECK;

/* Waits for what is being copied, proved or verified at the moment; the rest is dropped. */
void pipeline_destroy(struct pipeline *p);

struct pipeline_job {
    struct handle handle;
    const char *id, *circuit, *key_path; /* copied */
    const char *seed;                    /* 128 hex digits, copied; NULL: fresh randomness */
    const struct slice_record *record;   /* from the ledger; copied */
    const void *base;                    /* of the mapped arena; borrowed until forgotten */
};

/* ST_RESOURCE when there is no room or no memory. A job that is there already is fine. */
enum status pipeline_add(struct pipeline *p, const struct pipeline_job *job) MUST_CHECK;

/* How many more jobs may be added. */
unsigned pipeline_room(struct pipeline *p);

/* From now on no new job is copied; those that are go on. pipeline_busy: whether any does. */
void pipeline_drain(struct pipeline *p);
bool pipeline_busy(struct pipeline *p);

enum pipeline_outcome {
    PIPELINE_PROVED,   /* texts are set */
    PIPELINE_INPUT,    /* witness or key: never again */
    PIPELINE_DEVICE,   /* the device gave a wrong proof, and so did the second backend */
    PIPELINE_RESOURCE, /* no memory, or the key exceeds its budget */
    PIPELINE_INTERNAL,
};

struct pipeline_event {
    enum { PIPELINE_COPIED, PIPELINE_ENDED } kind;
    struct handle handle;
    const char *id; /* this and the texts below: borrowed until pipeline_forget */
    /* of ENDED */
    enum pipeline_outcome outcome;
    bool device_fault;           /* the device's proof was wrong; set beside any outcome */
    const char *message;         /* why it failed; "" if it did not */
    const char *proof, *publics; /* snarkjs' texts; NULL if it failed */
    const struct pipeline_times *times;
};

/* Milliseconds. */
struct pipeline_times {
    double queue, key, copy, verify;
    struct groth16_timings prove;
};

/* Takes the next event, each once: COPIED for a job, if it got so far, then ENDED. False when there
 * is none. */
bool pipeline_event(struct pipeline *p, struct pipeline_event *out);

/* Waits until there is an event or ms have passed. */
void pipeline_wait(struct pipeline *p, unsigned ms);

/* Frees a job that has ended. */
void pipeline_forget(struct pipeline *p, struct handle h);

/* Whether a, b and c of the slice may be given back: the copy is done and reported, and the proof
 * is not being made again from the slice. True binds: they are not read again. */
bool pipeline_give_back(struct pipeline *p, struct handle h);

/* A circuit's key is to go as soon as it is idle. */
void pipeline_evict(struct pipeline *p, const char *circuit);

/* For the progress report. */
struct pipeline_running {
    struct handle handle;
    const char *stage; /* static: "queue", "copy", "copied", "prove", "proved", "verify",
                          "ended" */
    unsigned estimate_ms;
};
unsigned pipeline_list(struct pipeline *p, struct pipeline_running out[PIPELINE_JOBS]);

/* Since it was created. */
struct pipeline_totals {
    uint64_t proved, failed, device_faults, copied_bytes;
    double busy_ms, copy_ms; /* of proving, of copying */
};
struct pipeline_totals pipeline_totals(struct pipeline *p);

#endif
