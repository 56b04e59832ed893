/* Optimal ate pairing of this instance's curve: BN (Vercauteren 2010) or BLS12 family.
 *
 * Fq12 = Fq6[w]/(w^2 - v), Fq6 = Fq2[v]/(v^3 - xi), xi = FQ_XI0 + u. The value of a pairing is
 * raised to the same multiple of (q^12 - 1)/r as snarkjs' vk_alphabeta_12, so that the two agree to
 * the bit.
 */
#ifndef PINION_EC_PAIRING_H
#define PINION_EC_PAIRING_H

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/ff/fq12.h"

#define pairing CURVE_SYMBOL(pairing)
#define pairing_product_is_one CURVE_SYMBOL(pairing_product_is_one)
#define g1_in_subgroup CURVE_SYMBOL(g1_in_subgroup)
#define g2_in_subgroup CURVE_SYMBOL(g2_in_subgroup)

/* r = e(p, q). p, q in their subgroups; infinity gives 1. */
void pairing(fq12 *r, const g1_affine *p, const g2_affine *q);

/* Whether the product of e(p[i], q[i]) over i < n is 1. One final exponentiation. n <= 8. */
bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n);

/* Whether a point on the curve has order r or is infinity. */
bool g1_in_subgroup(const g1_affine *p);
bool g2_in_subgroup(const g2_affine *p);

#endif
