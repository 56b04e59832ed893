/* Scalars of an MSM as signed digits. Private to the MSM.
 *
 * A scalar k is taken as the shorter of k and -(r - k). Terms that contribute nothing are dropped,
 * the rest is ordered by bit length, longest first: window j concerns a prefix, so that a short
 * scalar costs nothing in the windows that it does not reach.
 */
#ifndef PINION_EC_MSM_DIGITS_H
#define PINION_EC_MSM_DIGITS_H

#include "common/ff/fq.h"
#include "common/ff/fr.h"
#include "common/pool.h"

#define msm_measure CURVE_SYMBOL(msm_measure)
#define msm_recode CURVE_SYMBOL(msm_recode)
#define msm_digits_plan CURVE_SYMBOL(msm_digits_plan)

enum {
    MSM_MIN_WIDTH = 2,
    MSM_MAX_WIDTH = 16, /* a digit fills 16 bits */
    MSM_MAX_WINDOWS = FR_BITS / MSM_MIN_WIDTH + 1,
    MSM_MAX_SLICES = 64,
};

/* Windows of width bits that an integer of that many bits takes: with the sign it needs one bit
 * more, and one is spared so that the last digit never carries. 0 for 0. */
static inline unsigned msm_windows(unsigned bits, unsigned width)
{
    return bits == 0 ? 0 : (bits + 1) / width + 1;
}

/* How many of the terms have each bit length; 0 is a term without contribution. In all, and by
 * slice: part of the terms as in pool_chunk. */
struct msm_lengths {
    size_t at_least[FR_BITS];
    size_t slices;
    uint32_t count[MSM_MAX_SLICES][FR_BITS];
};

/* The terms. Window j holds the entries i < count[j]; digit[j][i] - 2^(width - 1) is the digit of
 * entry[i], which is the index of the term, with MSM_NEGATIVE if the scalar was negated. */
enum { MSM_NEGATIVE_BIT = 31 };
struct msm_digits {
    unsigned width, windows;
    size_t count[MSM_MAX_WINDOWS];
    uint16_t *digit[MSM_MAX_WINDOWS];
    uint32_t *entry;
};

/* Bit lengths of n terms to bits[i], and their counts. A term has length 0 if its scalar is 0 or
 * its base, of base_bytes, is infinity or has a coordinate >= q: all that is computed with is
 * reduced. Scalars >= r are given some length below FR_BITS. */
void msm_measure(struct msm_lengths *lengths, uint8_t *bits, const uint8_t *bases,
                 size_t base_bytes, const uint8_t *scalars, size_t n, struct pool *pool);

/* Fills width, windows and count; returns the number of digits, the sum of count. */
size_t msm_digits_plan(struct msm_digits *digits, const struct msm_lengths *lengths,
                       unsigned width);

/* Recodes into entry[count[0]] and planes[sum of count], both the caller's. Needs a plan, and bits
 * and lengths of the same scalars; lengths is clobbered. */
void msm_recode(struct msm_digits *digits, uint32_t *entry, uint16_t *planes,
                struct msm_lengths *lengths, const uint8_t *bits, const uint8_t *scalars, size_t n,
                struct pool *pool);

#endif
