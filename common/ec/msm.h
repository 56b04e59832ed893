/* Multi-scalar multiplication: r = sum k[i] P[i], over G1 and G2 of this instance's curve.
 *
 * Pippenger with signed digits; buckets are summed by batched affine addition. Built for proving,
 * where most scalars of a witness are 0, 1 or short: a zero digit costs nothing and a bucket that
 * everyone shares is split over the threads. Not constant time. Keeps no state.
 *
 * Bernstein, Doumen, Lange, Oosterwijk, "Faster batch forgery identification" (2012), section 4;
 * batched inversion after Montgomery (1987).
 */
#ifndef PINION_EC_MSM_H
#define PINION_EC_MSM_H

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/ff/fr.h"
#include "common/pool.h"

#define msm_g1 CURVE_SYMBOL(msm_g1)
#define msm_g2 CURVE_SYMBOL(msm_g2)
#define msm_g1_scratch CURVE_SYMBOL(msm_g1_scratch)
#define msm_g2_scratch CURVE_SYMBOL(msm_g2_scratch)

/* Terms at most. */
#define MSM_MAX_TERMS ((size_t)1 << 31)

/* r = sum of scalars[i] * bases[i], i < n <= MSM_MAX_TERMS.
 *
 * bases    n stored affine points (group.inc: Montgomery x, y; g1_bytes each) of order r, any
 *          alignment. Infinity, repetitions and inverses are ordinary. Anything else (not on the
 *          curve, not in the subgroup, coordinates >= q) gives an unspecified reduced r, but stays
 *          in bounds and terminates.
 * scalars  n canonical integers below the group order, FR_BYTES little-endian bytes each, any
 *          alignment. The caller has checked them; a larger one gives an unspecified r.
 * scratch  at least msm_g1_scratch(n, pool) bytes, 64-byte aligned, any content, owned by the
 *          caller.
 */
void msm_g1(g1 *r, const uint8_t *bases, const uint8_t *scalars, size_t n, void *scratch,
            struct pool *pool);
void msm_g2(g2 *r, const uint8_t *bases, const uint8_t *scalars, size_t n, void *scratch,
            struct pool *pool);

/* Bytes of scratch for n points on this pool. Monotone in n. At most MSM_SCRATCH_TERM * n +
 * MSM_SCRATCH_FIXED + MSM_SCRATCH_THREAD * threads for either group. */
size_t msm_g1_scratch(size_t n, const struct pool *pool);
size_t msm_g2_scratch(size_t n, const struct pool *pool);

enum {
    MSM_SCRATCH_TERM = 48,
    MSM_SCRATCH_FIXED = 24 << 20,
    MSM_SCRATCH_THREAD = 1 << 20,
};

#endif
