/* What the readers of binary files share about the scalar field. */
#ifndef PINION_FILE_PRIME_H
#define PINION_FILE_PRIME_H

#include "common/curve.h"
#include "common/file/sections.h"

/* The curve whose group order r the bytes at `at` give as {u32 size, size bytes}; left: how many
 * bytes there are. ST_INPUT names path and section. */
enum status prime_read(const struct curve **out, const char *path, unsigned section,
                       const uint8_t *at, uint64_t left) MUST_CHECK;

/* Whether the scalar a is below the group order: curve_below a limb at a time, inline, for the
 * scans that look at every value of a file. */
static inline bool prime_is_canonical(const struct curve *curve, const uint8_t *a)
{
    for (size_t i = curve->fr_bytes; i >= 8; i -= 8) {
        uint64_t limb = section_u64(a + i - 8), limit = section_u64(curve->fr_modulus + i - 8);
        if (limb != limit)
            return limb < limit;
    }
    return false;
}

#endif
