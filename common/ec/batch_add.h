/* Many independent additions of affine points that share one inversion.
 *
 * The innermost loop of the MSM, and where an instance with vector instructions has its own source
 * file. No state; any thread.
 */
#ifndef PINION_EC_BATCH_ADD_H
#define PINION_EC_BATCH_ADD_H

#include "common/ec/g1.h"
#include "common/ec/g2.h"

#define g1_batch_add CURVE_SYMBOL(g1_batch_add)
#define g2_batch_add CURVE_SYMBOL(g2_batch_add)

/* BATCH_ADD_MAX additions share an inversion; BATCH_ADD_LANES chains of products run side by side,
 * because a single one would wait for the latency of each product. */
enum { BATCH_ADD_MAX = 1024, BATCH_ADD_LANES = 4 };

struct point_pair {
    uint32_t to, from;
};

/* Workspace, any content. */
struct g1_batch {
    fq denominator[BATCH_ADD_MAX + BATCH_ADD_LANES], product[BATCH_ADD_MAX + 2 * BATCH_ADD_LANES];
};

struct g2_batch {
    fq2 denominator[BATCH_ADD_MAX + BATCH_ADD_LANES], product[BATCH_ADD_MAX + 2 * BATCH_ADD_LANES];
};

/* p[to] += p[from] for each of n <= BATCH_ADD_MAX pairs.
 *
 * Requires that no point is the target of two pairs, or the target of one and the source of
 * another. The pairs are clobbered. Complete: infinite, equal and opposite operands are right.
 * Coordinates that are not reduced or not on the curve give unspecified points, no more. */
void g1_batch_add(g1_affine *p, struct point_pair *pairs, size_t n, struct g1_batch *batch);
void g2_batch_add(g2_affine *p, struct point_pair *pairs, size_t n, struct g2_batch *batch);

#endif
