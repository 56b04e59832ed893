/* Development keys: a Groth16 setup whose randomness anyone can recompute. Never for production. */
#ifndef PINION_GROTH16_SETUP_H
#define PINION_GROTH16_SETUP_H

#include "common/groth16/key.h"
#include "common/groth16/ops.h"

/* Canonical, non-zero, below the group order. tau is neither in the domain nor in its coset: with n
 * the size of the domain and g the coset's shift, tau^n != 1 and tau^n != g^n. */
struct groth16_setup_secrets {
    uint8_t tau[CURVE_MAX_FR_BYTES], alpha[CURVE_MAX_FR_BYTES], beta[CURVE_MAX_FR_BYTES],
        gamma[CURVE_MAX_FR_BYTES], delta[CURVE_MAX_FR_BYTES];
};

/* A key in memory: key borrows from storage. */
struct groth16_setup_output {
    struct groth16_key key;
    void *storage; /* owned */
};

void groth16_setup_output_fini(struct groth16_setup_output *out);

/* The domain that snarkjs chooses: 2^(floor(log2(constraints + n_public)) + 1), and 2 for an empty
 * circuit. */
uint64_t groth16_domain_size(uint64_t constraints, uint32_t n_public);

/* A key for r1cs whose secrets anyone can recompute. Points follow from the secrets, coefficients
 * are in snarkjs' order, and n_public + 1 extra rows of A tie the public values to the proof.
 *
 * ST_INPUT: custom gates, no wires, more public values than wires, or more constraints than the
 * field has roots of unity for. ST_RESOURCE: no memory. out is untouched then; else owned by the
 * caller, who calls groth16_setup_output_fini. out->key.path is r1cs->path. */
enum status groth16_setup_insecure(const struct r1cs *r1cs, struct pool *pool,
                                   struct progress *progress,
                                   struct groth16_setup_output *out) MUST_CHECK;

/* Known secrets of that curve for a domain of that size, the same on every machine; gamma is 1, as
 * in snarkjs. */
void groth16_setup_known_secrets(const struct curve *curve, uint64_t domain,
                                 struct groth16_setup_secrets *out);

#endif
