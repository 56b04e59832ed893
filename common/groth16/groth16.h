/* Groth16 for any curve: prove, verify. Jens Groth, "On the size of pairing-based non-interactive
 * arguments" (2016).
 *
 * Everything is in memory here; files are common/file. Proving allocates what it needs before it
 * starts; the verification that follows allocates only when proving has freed all. */
#ifndef PINION_GROTH16_GROTH16_H
#define PINION_GROTH16_GROTH16_H

#include "common/groth16/key.h"
#include "common/pool.h"
#include "common/progress.h"

/* Wall time of each stage, milliseconds. */
struct groth16_timings {
    double check, evaluate, ntt, msm_h, msm_a, msm_b1, msm_b2, msm_c, assemble, verify;
};

/* Proves and verifies the proof before it is returned.
 *
 * w: n_vars canonical values below the group order, w[0] = 1 (checked by the reader of the
 * witness), fr_bytes each, any alignment. timings may be NULL, progress too. ST_INPUT: a header
 * point of the key is not on the curve or is infinity, or the proof does not verify, which means
 * that the witness does not satisfy the circuit or that the key is damaged. ST_RESOURCE: no memory.
 * out is untouched then. */
enum status groth16_prove(const struct groth16_key *key, const uint8_t *w,
                          const struct groth16_randomness *rs, struct pool *pool,
                          struct progress *progress, struct groth16_timings *timings,
                          struct groth16_proof *out) MUST_CHECK;

/* publics: vk->n_public canonical integers of fr_bytes each. ST_OK: valid. ST_INVALID: not, and
 * why. */
enum status groth16_verify(const struct groth16_vkey *vk, const uint8_t *publics,
                           const struct groth16_proof *proof) MUST_CHECK;

/* Whether a proof of ours, for the public values of its witness, verifies: ST_INPUT, with the
 * message of groth16_prove, if not. */
enum status groth16_own_proof(const struct groth16_key *key, const struct groth16_vkey *vk,
                              const uint8_t *publics, const struct groth16_proof *proof) MUST_CHECK;

/* Upper bound of the bytes that groth16_prove allocates for this key. */
size_t groth16_prove_memory(const struct groth16_key *key, const struct pool *pool);

#endif
