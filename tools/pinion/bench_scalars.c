#include <stdlib.h>
#include <string.h>

#include "tools/pinion/bench.h"

enum { MAX_LIMBS = CURVE_MAX_FR_BYTES / 8 };

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014): SplitMix64. */
static uint64_t random_u64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void bench_scalar(const struct curve *curve, uint64_t *state, uint8_t *out)
{
    size_t n = curve->fr_bytes, top = n - 1;
    while (top > 0 && curve->fr_modulus[top] == 0)
        top--;
    unsigned mask = 1; /* as many bits as the modulus has, so half of the tries or more succeed */
    while (mask < curve->fr_modulus[top])
        mask = 2 * mask + 1;
    memset(out, 0, n);
    do {
        for (size_t i = 0; i <= top; i += 8) {
            uint64_t v = random_u64(state);
            memcpy(out + i, &v, top - i < 8 ? top - i + 1 : 8);
        }
        out[top] &= (uint8_t)mask;
    } while (!curve_below(out, curve->fr_modulus, n));
}

void bench_witness_scalar(const struct curve *curve, uint64_t *state, uint8_t *out)
{
    uint64_t dice = random_u64(state), kind = (dice >> 40) % 100;
    if (kind >= 95) {
        bench_scalar(curve, state, out);
        return;
    }
    memset(out, 0, curve->fr_bytes);
    uint32_t v = kind >= 90 ? (uint32_t)dice : (uint32_t)dice & 1;
    memcpy(out, &v, sizeof v);
}

/* r = a + b mod m, in limbs; a, b < m < 2^(64 n - 1). */
static void add_limbs(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                      size_t n)
{
    uint64_t sum[MAX_LIMBS], diff[MAX_LIMBS];
    unsigned carry = 0, borrow = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 s = (unsigned __int128)a[i] + b[i] + carry;
        sum[i] = (uint64_t)s;
        carry = (unsigned)(s >> 64);
        unsigned __int128 d = (unsigned __int128)sum[i] - m[i] - borrow;
        diff[i] = (uint64_t)d;
        borrow = (unsigned)(d >> 64) & 1;
    }
    memcpy(r, borrow ? sum : diff, n * sizeof *r);
}

/* r = a b mod m, b of bits bits. */
static void mul_limbs(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t bits,
                      const uint64_t *m, size_t n)
{
    uint64_t product[MAX_LIMBS] = {0};
    for (size_t i = bits; i-- > 0;) {
        add_limbs(product, product, product, m, n);
        if (b[i / 64] >> (i % 64) & 1)
            add_limbs(product, product, a, m, n);
    }
    memcpy(r, product, n * sizeof *r);
}

void bench_add(const struct curve *curve, uint8_t *r, const uint8_t *a, const uint8_t *b)
{
    uint64_t x[MAX_LIMBS], y[MAX_LIMBS], m[MAX_LIMBS];
    size_t n = curve->fr_bytes;
    memcpy(x, a, n);
    memcpy(y, b, n);
    memcpy(m, curve->fr_modulus, n);
    add_limbs(x, x, y, m, n / 8);
    memcpy(r, x, n);
}

void bench_mul(const struct curve *curve, uint8_t *r, const uint8_t *a, const uint8_t *b)
{
    uint64_t x[MAX_LIMBS], y[MAX_LIMBS], m[MAX_LIMBS];
    size_t n = curve->fr_bytes;
    memcpy(x, a, n);
    memcpy(y, b, n);
    memcpy(m, curve->fr_modulus, n);
    mul_limbs(x, x, y, 8 * n, m, n / 8);
    memcpy(r, x, n);
}

void bench_mul_u64(const struct curve *curve, uint8_t *r, const uint8_t *a, uint64_t b)
{
    uint64_t x[MAX_LIMBS], m[MAX_LIMBS];
    size_t n = curve->fr_bytes, bits = b ? 64 - (size_t)__builtin_clzll(b) : 0;
    memcpy(x, a, n);
    memcpy(m, curve->fr_modulus, n);
    mul_limbs(x, x, &b, bits, m, n / 8);
    memcpy(r, x, n);
}

enum status bench_alloc(void **out, size_t n, size_t size)
{
    if (n > (SIZE_MAX - 63) / size)
        return fail(ST_RESOURCE, "no memory for %zu elements; use a smaller --log2", n);
    size_t bytes = (n * size + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (!p)
        return fail(ST_RESOURCE, "no memory for %zu bytes; use a smaller --log2", bytes);
    memset(p, 0, bytes);
    *out = p;
    return ST_OK;
}
