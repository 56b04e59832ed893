/* Development keys: a Groth16 setup whose randomness anyone can recompute. Never for production. */
#ifndef PINION_GROTH16_SETUP_H
#define PINION_GROTH16_SETUP_H

#include "common/groth16/key.h"
#include "common/groth16/ops.h"

/* Canonical, non-zero, below the group order. tau is not in the domain (tau^n != 1). */
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

/* Known secrets of that curve for a domain of that size, the same on every machine; gamma is 1, as
 * in snarkjs. */
void groth16_setup_known_secrets(const struct curve *curve, uint64_t domain,
                                 struct groth16_setup_secrets *out);

#endif
