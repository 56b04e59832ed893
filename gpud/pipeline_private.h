/* What the parts of the pipeline share: pipeline.c (jobs and threads) and stages.c (what is done in
 * each stage). */
#ifndef PINION_GPUD_PIPELINE_PRIVATE_H
#define PINION_GPUD_PIPELINE_PRIVATE_H

#include "gpud/pipeline.h"

enum { JOB_MESSAGE_BYTES = 512 };

enum job_stage {
    STAGE_NONE, /* an unused place */
    STAGE_QUEUED,
    STAGE_COPYING,
    STAGE_COPIED,
    STAGE_PROVING,
    STAGE_PROVED,
    STAGE_VERIFYING,
    STAGE_ENDED,
};

/* A job. The thread of its stage alone uses it, but for what is under the pipeline's lock. */
struct job {
    /* under the lock */
    enum job_stage stage;
    uint64_t ticket; /* order of arrival */
    bool copied, copy_told, end_told;
    bool lean;     /* a, b, c are given back */
    bool remaking; /* the proof is being made again, from a, b, c */
    unsigned estimate_ms;
    /* from pipeline_add on */
    struct handle handle;
    char id[JOB_ID_MAX + 1], circuit[JOB_ID_MAX + 1];
    char seed[PIPELINE_SEED_DIGITS + 1]; /* "" for fresh randomness */
    char *key_path;                      /* owned */
    struct slice_vectors slice;
    double arrived_ms;
    /* from copying on */
    struct key *key; /* acquired */
    unsigned lane;
    struct groth16_randomness rs;
    /* from proving on */
    struct groth16_proof proof;
    uint8_t *publics; /* owned, n_public values */
    /* the end */
    enum pipeline_outcome outcome;
    bool device_fault;
    char message[JOB_MESSAGE_BYTES];
    char *proof_text, *public_text; /* owned */
    struct pipeline_times times;
};

/* Each does a stage's work on a job and reports ST_OK or why the job has failed; the second and
 * third want the first to have succeeded. */
enum status stage_copy(const struct pipeline_parts *parts, struct job *j) MUST_CHECK;
enum status stage_prove(const struct pipeline_parts *parts, struct job *j) MUST_CHECK;
/* ST_INVALID: the proof is wrong; else as stage_copy. */
enum status stage_verify(struct job *j) MUST_CHECK;
/* Makes a proof that was wrong again and judges who was: sets device_fault. lean: from w alone. */
enum status stage_remake(const struct pipeline_parts *parts, struct job *j, bool lean) MUST_CHECK;
/* The texts of a verified proof. */
enum status stage_format(struct job *j) MUST_CHECK;

#endif
