/* The MSM against sums of known multiples and against double-and-add: sizes around everything that
 * changes with size, scalars and bases that defeat a naive bucket method, several thread counts, no
 * alignment, and garbage. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/ec/msm.h"
#include "tests/unit/random.h"

/* Multiples of the generator at hand; sizes go up to that. */
enum { MULTIPLES = (1 << 13) + 1, SMALL = 513 };

static const unsigned thread_counts[] = {1, 2, 5};
static struct pool *pools[3];

/* Buffers start this far from any alignment. */
enum { SKEW = 4 };

static uint8_t *new_skewed(size_t bytes)
{
    uint8_t *p = malloc(bytes + SKEW);
    assert_non_null(p);
    return p + SKEW;
}

static void free_skewed(uint8_t *p)
{
    free(p - SKEW);
}

enum scalar_kind {
    SCALARS_ZERO,
    SCALARS_ONE,
    SCALARS_MINUS_ONE,
    SCALARS_EQUAL,
    SCALARS_ONE_HOT,
    SCALARS_ALL_BUT_ZERO, /* 99 % zero */
    SCALARS_BITS,         /* 70 % zero or one */
    SCALARS_SHORT,        /* 1 ... 64 bits, either sign */
    SCALARS_CARRIES,      /* at the limits of digits, of all widths */
    SCALARS_HALF,         /* around r/2 */
    SCALARS_UNIFORM,
    SCALAR_KINDS,
};

static fr scalar_small(uint64_t v)
{
    fr k = {{v}};
    return k;
}

static fr scalar_negative(const fr *k)
{
    fr t;
    fr_neg(&t, k); /* on plain integers too */
    return t;
}

static fr scalar_uniform(uint64_t *seed)
{
    fr k, t;
    for (int i = 0; i < FR_LIMBS; i++)
        t.l[i] = random_biased_u64(seed);
    fr_from_canonical(&k, &t); /* any value below r */
    return k;
}

/* 2^(c j) - 1, 2^(c j - 1) - 1, + 0, + 1, reduced. */
static fr scalar_carry(uint64_t *seed)
{
    uint64_t r = random_u64(seed);
    enum { WIDTHS = (FR_BITS < 16 ? FR_BITS : 16) - 1 };
    unsigned width = 2 + r % WIDTHS, exponent = width * (1 + (r >> 8) % (FR_BITS / width));
    fr two, k, delta;
    bool whole = r >> 16 & 1;
    fr_from_u64(&two, 2);
    uint64_t e = exponent - !whole;
    fr_pow(&k, &two, &e, 1);
    fr_from_u64(&delta, whole ? 1 : r >> 17 & 1);
    if (whole || (r >> 18 & 1))
        fr_sub(&k, &k, &delta);
    else
        fr_add(&k, &k, &delta);
    fr_to_canonical(&k, &k);
    return k;
}

/* (r - 1) / 2 + -2 ... 2 */
static fr scalar_half(uint64_t *seed)
{
    fr two, k, delta;
    fr_from_u64(&two, 2);
    fr_inv(&k, &two); /* (r + 1) / 2 */
    fr_from_u64(&delta, 2);
    fr_sub(&k, &k, &delta);
    fr_from_u64(&delta, random_u64(seed) % 5);
    fr_add(&k, &k, &delta);
    fr_to_canonical(&k, &k);
    return k;
}

static fr scalar_short(uint64_t *seed)
{
    uint64_t v = random_u64(seed) >> random_u64(seed) % 64;
#if CURVE_PARAM(FR_LIMBS) == 1
    v %= fr_modulus.l[0];
#endif
    fr k = scalar_small(v);
    return random_u64(seed) & 1 ? k : scalar_negative(&k);
}

static fr scalar_of_kind(enum scalar_kind kind, size_t i, size_t n, uint64_t *seed)
{
    uint64_t percent = random_u64(seed) % 100;
    switch (kind) {
    case SCALARS_ZERO:
        return scalar_small(0);
    case SCALARS_ONE:
        return scalar_small(1);
    case SCALARS_MINUS_ONE: {
        fr one = scalar_small(1);
        return scalar_negative(&one);
    }
    case SCALARS_EQUAL: {
        uint64_t fixed = n;
        return scalar_uniform(&fixed);
    }
    case SCALARS_ONE_HOT:
        return i == n / 2 ? scalar_uniform(seed) : scalar_small(0);
    case SCALARS_ALL_BUT_ZERO:
        return percent == 0 ? scalar_uniform(seed) : scalar_small(0);
    case SCALARS_BITS:
        return percent < 70 ? scalar_small(percent & 1) : scalar_uniform(seed);
    case SCALARS_SHORT:
        return scalar_short(seed);
    case SCALARS_CARRIES:
        return scalar_carry(seed);
    case SCALARS_HALF:
        return scalar_half(seed);
    default:
        return scalar_uniform(seed);
    }
}

static uint8_t *new_scalars(enum scalar_kind kind, size_t n, uint64_t seed)
{
    uint8_t *scalars = new_skewed(n * FR_BYTES);
    for (size_t i = 0; i < n; i++) {
        fr k = scalar_of_kind(kind, i, n, &seed);
        fr_store(scalars + i * FR_BYTES, &k);
    }
    return scalars;
}

enum base_kind {
    BASES_DISTINCT,
    BASES_INFINITE,
    BASES_SOMETIMES_INFINITE,
    BASES_EQUAL,
    BASES_OPPOSITE, /* P, -P, P, ... */
    BASES_CANCEL,   /* P1, P2, ..., -P2, -P1: with equal scalars the sum is infinity */
    BASE_KINDS,
};

/* The base i of n is this multiple of the generator. */
static int64_t base_multiple(enum base_kind kind, size_t i, size_t n)
{
    switch (kind) {
    case BASES_INFINITE:
        return 0;
    case BASES_SOMETIMES_INFINITE:
        return i % 3 == 0 ? 0 : (int64_t)i + 1;
    case BASES_EQUAL:
        return 7;
    case BASES_OPPOSITE:
        return i % 2 ? -7 : 7;
    case BASES_CANCEL:
        return i < n / 2 ? (int64_t)i + 1 : -(int64_t)(n - i);
    default:
        return (int64_t)i + 1;
    }
}

/* Sum of the scalars times the multiples, canonical. */
static fr expected_multiple(enum base_kind kind, const uint8_t *scalars, size_t n)
{
    fr sum = {{0}};
    for (size_t i = 0; i < n; i++) {
        int64_t m = base_multiple(kind, i, n);
        fr k, f;
        fr_load(&k, scalars + i * FR_BYTES);
        fr_from_canonical(&k, &k);
        fr_from_u64(&f, (uint64_t)(m < 0 ? -m : m));
        fr_mul(&k, &k, &f);
        if (m < 0)
            fr_sub(&sum, &sum, &k);
        else
            fr_add(&sum, &sum, &k);
    }
    fr_to_canonical(&sum, &sum);
    return sum;
}

#define GROUP g1
#define COORD fq
#define MSM msm_g1
#define MSM_SCRATCH msm_g1_scratch
#define LARGEST MULTIPLES
#define STEP 1
#include "tests/unit/msm_cases.inc"

#define GROUP g2
#define COORD fq2
#define MSM msm_g2
#define MSM_SCRATCH msm_g2_scratch
#define LARGEST ((1 << 11) + 1)
#define STEP 6
#include "tests/unit/msm_cases.inc"

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pool_create(&pools[i], thread_counts[i]), ST_OK);
    g1_set_up();
    g2_set_up();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        pool_destroy(pools[i]);
    free(g1_multiples);
    free(g2_multiples);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_naive),        cmocka_unit_test(g2_naive),
        cmocka_unit_test(g1_exhaustive),   cmocka_unit_test(g2_exhaustive),
        cmocka_unit_test(g1_every_size),   cmocka_unit_test(g2_every_size),
        cmocka_unit_test(g1_every_kind),   cmocka_unit_test(g2_every_kind),
        cmocka_unit_test(g1_powers_of_2),  cmocka_unit_test(g2_powers_of_2),
        cmocka_unit_test(g1_any_garbage),  cmocka_unit_test(g2_any_garbage),
        cmocka_unit_test(g1_scratch_size), cmocka_unit_test(g2_scratch_size),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
