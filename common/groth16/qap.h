/* The quadratic arithmetic program of a constraint system at one point: what key generation needs.
 */
#ifndef PINION_GROTH16_QAP_H
#define PINION_GROTH16_QAP_H

#include "common/ff/fr.h"
#include "common/groth16/r1cs.h"
#include "common/poly/ntt.h"

#define lagrange_at CURVE_SYMBOL(lagrange_at)
#define qap_at CURVE_SYMBOL(qap_at)

/* out[i] = factor * L_i(t), i < d->n: the Lagrange polynomials of the domain. t is not in it. */
void lagrange_at(fr *out, const struct ntt_domain *d, const fr *t, const fr *factor,
                 struct pool *pool);

/* m[k][s] = sum over constraints j of M_k[j][s] lagrange[j], for k = A, B, C and every wire s;
 * n_public + 1 extra rows behind the constraints give A coefficient 1 at wire s. coefs: the entries
 * of A and B and the extra rows, as records of a zkey in snarkjs' order; n_coefs of them, as
 * qap_count_coefs said. False if it would not say so now: the circuit has changed. */
bool qap_at(const struct r1cs *r1cs, const fr *lagrange, fr *const m[3], uint8_t *coefs,
            uint64_t n_coefs) MUST_CHECK;

/* Terms of A and B in all constraints, and the n_public + 1 extra ones. */
static inline uint64_t qap_count_coefs(const struct r1cs *r1cs)
{
    uint64_t n = (uint64_t)r1cs_n_public(r1cs) + 1;
    const uint8_t *cursor = r1cs->constraints;
    for (uint32_t i = 0; i < r1cs->n_constraints; i++) {
        n += r1cs_next(r1cs, &cursor).count;
        n += r1cs_next(r1cs, &cursor).count;
        r1cs_next(r1cs, &cursor);
    }
    return n;
}

#endif
