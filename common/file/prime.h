/* What the readers of binary files share about the scalar field. */
#ifndef PINION_FILE_PRIME_H
#define PINION_FILE_PRIME_H

#include <string.h>

#include "common/curve.h"
#include "common/file/sections.h"

/* The curve whose group order r the bytes at `at` give as {u32 size, size bytes}; left: how many
 * bytes there are. ST_INPUT names path and section. */
enum status prime_read(const struct curve **out, const char *path, unsigned section,
                       const uint8_t *at, uint64_t left) MUST_CHECK;

/* Whether the scalar a is below the group order: curve_below, but fast unless a shares the order's
 * top limb. */
static inline bool prime_is_canonical(const struct curve *curve, const uint8_t *a)
{
    size_t top = curve->fr_bytes - 8;
    uint64_t high = section_u64(a + top), limit = section_u64(curve->fr_modulus + top);
    return high < limit || (high == limit && curve_below(a, curve->fr_modulus, curve->fr_bytes));
}

#endif
