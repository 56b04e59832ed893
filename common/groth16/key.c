#include "common/groth16/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void groth16_vkey_fini(struct groth16_vkey *vk)
{
    free(vk->ic);
    vk->ic = NULL;
}

/* Uniform below the modulus: bytes masked to its length, until they are below it. */
static enum status random_below(uint8_t *out, const uint8_t *modulus, size_t n)
{
    size_t top = n - 1;
    while (modulus[top] == 0)
        top--;
    uint8_t mask = (uint8_t)((1U << (32 - __builtin_clz(modulus[top]))) - 1);
    memset(out, 0, n);
    do {
        for (size_t got = 0; got <= top;) {
            ssize_t r = getrandom(out + got, top + 1 - got, 0);
            if (r < 0 && errno != EINTR)
                return fail(ST_RESOURCE, "no randomness from the kernel: %m");
            got += r > 0 ? (size_t)r : 0;
        }
        out[top] &= mask;
    } while (!curve_below(out, modulus, n));
    return ST_OK;
}

enum status groth16_randomness_fresh(struct groth16_randomness *out, const struct curve *curve)
{
    struct groth16_randomness rs = {{0}, {0}};
    enum status st = random_below(rs.r, curve->fr_modulus, curve->fr_bytes);
    if (st == ST_OK)
        st = random_below(rs.s, curve->fr_modulus, curve->fr_bytes);
    if (st == ST_OK)
        *out = rs;
    return st;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum { SEED_DIGITS = 2 * CURVE_MAX_FR_BYTES };

/* A factor from SEED_DIGITS big-endian digits. */
static enum status factor_from_hex(uint8_t *out, const struct curve *curve, const char *hex,
                                   const char *name)
{
    for (size_t i = 0; i < CURVE_MAX_FR_BYTES; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return fail(ST_USAGE, "--seed: only hexadecimal digits are allowed");
        out[CURVE_MAX_FR_BYTES - 1 - i] = (uint8_t)(high << 4 | low);
    }
    bool below = curve_below(out, curve->fr_modulus, curve->fr_bytes);
    for (size_t i = curve->fr_bytes; i < CURVE_MAX_FR_BYTES; i++)
        below &= out[i] == 0;
    if (!below)
        return fail(ST_USAGE, "--seed: %s is not below the group order of %s", name, curve->name);
    return ST_OK;
}

enum status groth16_randomness_from_hex(struct groth16_randomness *out, const struct curve *curve,
                                        const char *hex)
{
    struct groth16_randomness rs = {{0}, {0}};
    size_t n = strlen(hex);
    if (n != (size_t)2 * SEED_DIGITS)
        return fail(ST_USAGE, "--seed: %d hexadecimal digits are needed (r, then s), not %zu",
                    2 * SEED_DIGITS, n);
    enum status st = factor_from_hex(rs.r, curve, hex, "r");
    if (st == ST_OK)
        st = factor_from_hex(rs.s, curve, hex + SEED_DIGITS, "s");
    if (st == ST_OK)
        *out = rs;
    return st;
}
