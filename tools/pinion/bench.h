/* The benchmarks: what one measures, and what they share. Each makes its own input, from a fixed
 * seed, and checks its result in another way than it was computed. */
#ifndef PINION_TOOLS_BENCH_H
#define PINION_TOOLS_BENCH_H

#include "common/curve.h"
#include "common/groth16/ops.h"
#include "common/groth16/r1cs.h"
#include "gpud/backend.h"
#include "tools/pinion/session.h"

enum { BENCH_MAX_REPEAT = 1000, BENCH_MAX_LOG2 = 28 };

struct bench_job {
    const struct curve *curve;
    enum msm_group group;
    unsigned log2;
    bool witness; /* scalars like a witness: mostly 0 and 1 */
    unsigned repeat;
    struct session *session;
    struct backend *backend;
    const char *source; /* h2d */
    unsigned hogs;      /* h2d: threads that keep the memory busy */
    unsigned synths;    /* pipeline: threads that fill slices */
    unsigned seconds;   /* pipeline: how long */
};

struct bench_result {
    double ms[BENCH_MAX_REPEAT]; /* of each repetition; sorted by whoever prints it */
    bool correct;
    json_t *stages; /* of the last repetition; NULL if there are none; owned */
};

/* ST_RESOURCE without memory. */
enum status bench_msm(const struct bench_job *job, struct bench_result *out) MUST_CHECK;
enum status bench_ntt(const struct bench_job *job, struct bench_result *out) MUST_CHECK;
/* A circuit that fills a domain of 2^log2, 2 <= log2. */
enum status bench_prove(const struct bench_job *job, struct bench_result *out) MUST_CHECK;

/* A circuit that fills a domain of 2^log2, and its witness. */
struct bench_circuit {
    struct r1cs r1cs;
    uint8_t *constraints; /* owned; r1cs borrows it */
    uint8_t *witness;     /* owned */
};

enum status bench_circuit_make(const struct bench_job *job, struct bench_circuit *c) MUST_CHECK;
void bench_circuit_free(struct bench_circuit *c); /* after a failure too */

/* Proofs of that circuit as a daemon makes them: threads do nothing but fill slices of an arena,
 * the pipeline copies, proves and verifies. ms: per proof, one value; stages: what it prints. */
enum status bench_pipeline(const struct bench_job *job, struct bench_result *out) MUST_CHECK;

/* Copies of 32 * 2^log2 bytes to the device, from `source`: heap memory; heap memory through a
 * pinned buffer; a pinned arena; memory that the driver allocated. Needs a device. */
enum status bench_h2d(const struct bench_job *job, struct bench_result *out) MUST_CHECK;

/* Uniform below the group order, the same for the same state; *state is any number, advanced. out:
 * fr_bytes. */
void bench_scalar(const struct curve *curve, uint64_t *state, uint8_t *out);

/* One value of a witness: 90 of 100 are 0 or 1, 5 below 2^32, 5 uniform. */
void bench_witness_scalar(const struct curve *curve, uint64_t *state, uint8_t *out);

/* r = a + b and r = a b modulo the group order; all canonical, fr_bytes; r may alias a and b. By
 * doubling and adding: independent of the arithmetic under test, and slow. */
void bench_add(const struct curve *curve, uint8_t *r, const uint8_t *a, const uint8_t *b);
void bench_mul(const struct curve *curve, uint8_t *r, const uint8_t *a, const uint8_t *b);
/* The same for a 64-bit b, in proportion to its length. */
void bench_mul_u64(const struct curve *curve, uint8_t *r, const uint8_t *a, uint64_t b);

/* n * size bytes, 64-byte aligned, zeroed; free() releases it. */
enum status bench_alloc(void **out, size_t n, size_t size) MUST_CHECK;

#endif
