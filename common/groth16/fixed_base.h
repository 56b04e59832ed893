/* Many multiples of the generators of G1 and G2, for key generation and test data.
 *
 * A table holds 256^w d G for every byte position w of a scalar and every byte d, so a multiple is
 * one addition for each byte that is not zero (Brickell, Gordon, McCurley, Wilson 1992). */
#ifndef PINION_GROTH16_FIXED_BASE_H
#define PINION_GROTH16_FIXED_BASE_H

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/ff/fr.h"
#include "common/pool.h"

#define fixed_base_g1_init CURVE_SYMBOL(fixed_base_g1_init)
#define fixed_base_g2_init CURVE_SYMBOL(fixed_base_g2_init)
#define fixed_base_g1_multiples CURVE_SYMBOL(fixed_base_g1_multiples)
#define fixed_base_g2_multiples CURVE_SYMBOL(fixed_base_g2_multiples)

enum { FIXED_BASE_DIGITS = 255 };

/* [w][d - 1] is 256^w d G. Large: keep it on the heap. */
struct fixed_base_g1 {
    g1_affine multiple[FR_BYTES][FIXED_BASE_DIGITS];
};
struct fixed_base_g2 {
    g2_affine multiple[FR_BYTES][FIXED_BASE_DIGITS];
};

void fixed_base_g1_init(struct fixed_base_g1 *t, struct pool *pool);
void fixed_base_g2_init(struct fixed_base_g2 *t, struct pool *pool);

/* out[i] = k[i] G as a stored affine point, i < n; out at any alignment, k in Montgomery form. */
void fixed_base_g1_multiples(const struct fixed_base_g1 *t, uint8_t *out, const fr *k, size_t n,
                             struct pool *pool);
void fixed_base_g2_multiples(const struct fixed_base_g2 *t, uint8_t *out, const fr *k, size_t n,
                             struct pool *pool);

#endif
