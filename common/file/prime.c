#include "common/file/prime.h"

#include <inttypes.h>

enum status prime_read(const struct curve **out, const char *path, unsigned section,
                       const uint8_t *at, uint64_t left)
{
    uint32_t size = left < 4 ? 0 : section_u32(at);
    if (size == 0 || size > CURVE_MAX_FR_BYTES)
        return fail(ST_INPUT,
                    "%s: section %u (header): the group order r has %" PRIu32
                    " bytes, no known curve has that",
                    path, section, size);
    if (left - 4 < size)
        return fail(ST_INPUT, "%s: section %u (header): ends inside the group order r", path,
                    section);
    const struct curve *curve = curve_by_fr_modulus(at + 4, size);
    if (!curve)
        return fail(ST_INPUT,
                    "%s: section %u (header): r is the group order of no known curve (bn254 and "
                    "bls12_381 are)",
                    path, section);
    *out = curve;
    return ST_OK;
}
