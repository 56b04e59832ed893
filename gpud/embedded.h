/* Proving in one process: a key loaded into a backend, and vectors in memory that it can copy from
 * at full rate. One thread. */
#ifndef PINION_GPUD_EMBEDDED_H
#define PINION_GPUD_EMBEDDED_H

#include "gpud/backend.h"

struct embedded {
    struct backend *backend; /* borrowed */
    const struct groth16_key *key;
    struct backend_key *loaded; /* owned */
    struct groth16_vkey vk;     /* owned */
    uint8_t *block;             /* owned: w | a | b, added to the backend */
    uint64_t bytes, a_offset, b_offset;
    uint8_t *publics; /* owned */
};

/* Checks the key's header points and loads it. key is borrowed until embedded_close. ST_INPUT as
 * groth16_prove; ST_RESOURCE. */
enum status embedded_open(struct embedded *out, struct backend *backend,
                          const struct groth16_key *key) MUST_CHECK;
void embedded_close(struct embedded *e); /* zeroed: nothing happens */

/* Computes a and b from w, as groth16_prove requires it. pool: not used by the backend meanwhile.
 */
void embedded_evaluate(struct embedded *e, const uint8_t *w, struct pool *pool,
                       struct groth16_timings *timings);

/* The proof of what was evaluated last, as often as wanted; not verified. *copy_ms: of the copy to
 * the device. */
enum status embedded_prove(struct embedded *e, const struct groth16_randomness *rs,
                           struct progress *progress, struct groth16_timings *timings,
                           double *copy_ms, struct groth16_proof *out) MUST_CHECK;

/* ST_INPUT with groth16_prove's message if the proof is wrong. */
enum status embedded_verify(const struct embedded *e, const struct groth16_proof *proof) MUST_CHECK;

#endif
