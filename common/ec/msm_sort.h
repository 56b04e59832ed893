/* Orders the terms of some windows of an MSM by bucket. Private to the MSM.
 *
 * Bucket b of the w-th window of the group collects the digits b + 1 and -(b + 1); its key is
 * w * buckets + b. A counting sort over all keys at once.
 */
#ifndef PINION_EC_MSM_SORT_H
#define PINION_EC_MSM_SORT_H

#include "common/ec/msm_digits.h"

#define msm_sort CURVE_SYMBOL(msm_sort)
#define msm_sort_slices CURVE_SYMBOL(msm_sort_slices)

struct msm_sort {
    const struct msm_digits *digits;
    unsigned first, group; /* windows first ... first + group - 1 */
    size_t buckets;        /* per window */
    size_t slices;
    uint32_t *sorted; /* room for the counts of these windows: entries, sign in MSM_NEGATIVE_BIT */
    uint32_t *position;  /* slices * group * buckets */
    const uint32_t *end; /* of each key in sorted */
    size_t total;        /* length of sorted */
};

/* Slices that each window is cut into, so that group * slices tasks keep the threads busy. */
size_t msm_sort_slices(unsigned group, unsigned threads);

/* Requires everything but end and total, which it sets; fills sorted. */
void msm_sort(struct msm_sort *sort, struct pool *pool);

#endif
