/* The slow arithmetic that checks benchmarks: everything modulo 97 and 241, and random scalars
 * below their modulus. */
#include "tests/unit/test.h"

#include <string.h>

#include "tools/pinion/bench.h"

static const uint8_t r97[8] = {97}, r241[8] = {241};
static const struct curve small[] = {
    {.fr_bytes = 8, .fr_modulus = r97},
    {.fr_bytes = 8, .fr_modulus = r241},
};

static uint64_t value(const uint8_t *bytes)
{
    uint64_t v;
    memcpy(&v, bytes, sizeof v);
    return v;
}

static void all_sums_and_products(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof small / sizeof small[0]; c++) {
        const uint64_t r = small[c].fr_modulus[0];
        for (uint64_t a = 0; a < r; a++) {
            for (uint64_t b = 0; b < r; b++) {
                uint8_t x[8], y[8], z[8];
                memcpy(x, &a, 8);
                memcpy(y, &b, 8);
                bench_add(&small[c], z, x, y);
                assert_int_equal(value(z), (a + b) % r);
                bench_mul(&small[c], z, x, y);
                assert_int_equal(value(z), a * b % r);
                bench_mul_u64(&small[c], z, x, b << 20);
                assert_int_equal(value(z), a * (b << 20) % r);
                bench_mul(&small[c], x, x, x);
                assert_int_equal(value(x), a * a % r);
            }
        }
    }
}

/* 2^255 - 19, as wide as a group order gets. */
static void wide_modulus(void **state)
{
    (void)state;
    uint8_t p[32], minus_one[32], one[32] = {1}, z[32];
    memset(p, 0xff, sizeof p);
    p[0] = 0xed;
    p[31] = 0x7f;
    memcpy(minus_one, p, sizeof p);
    minus_one[0]--;
    const struct curve wide = {.fr_bytes = 32, .fr_modulus = p};
    bench_mul(&wide, z, minus_one, minus_one);
    assert_memory_equal(z, one, 32);
    /* -1 (2^64 - 1) + (2^64 - 1) = 0 */
    uint8_t max[32] = {0}, zero[32] = {0};
    memset(max, 0xff, 8);
    bench_mul_u64(&wide, z, minus_one, UINT64_MAX);
    bench_add(&wide, z, z, max);
    assert_memory_equal(z, zero, 32);
}

static void random_scalars(void **state)
{
    (void)state;
    uint64_t rng = 7;
    bool seen[97] = {false};
    for (int i = 0; i < 5000; i++) {
        uint8_t k[8];
        bench_scalar(&small[0], &rng, k);
        assert_true(value(k) < 97);
        seen[value(k)] = true;
    }
    for (int i = 0; i < 97; i++)
        assert_true(seen[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sums_and_products),
        cmocka_unit_test(wide_modulus),
        cmocka_unit_test(random_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
