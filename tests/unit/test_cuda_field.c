/* The device's fields, compiled for the host, against common/ff: all pairs of a toy field, biased
 * random values of a real one. */
#include "tests/unit/test.h"

#include "common/ff/fq2.h"
#include "common/ff/fr.h"
#include "tests/unit/cuda_twin.h"
#include "tests/unit/random.h"

static const uint64_t seed = 20251129;

enum { RANDOM_PAIRS = 3000 };

#define TWIN_CHECKS(field, FIELD)                                                                  \
    static void field##_compare(enum twin_op op, const field *a, const field *b,                   \
                                const field *expected)                                             \
    {                                                                                              \
        field r;                                                                                   \
        twin_compute(FIELD, op, &r, a, b);                                                         \
        assert_memory_equal(&r, expected, sizeof r);                                               \
    }                                                                                              \
                                                                                                   \
    static void field##_compare_all(const field *a, const field *b)                                \
    {                                                                                              \
        field r;                                                                                   \
        field##_add(&r, a, b);                                                                     \
        field##_compare(TWIN_ADD, a, b, &r);                                                       \
        field##_sub(&r, a, b);                                                                     \
        field##_compare(TWIN_SUB, a, b, &r);                                                       \
        field##_mul(&r, a, b);                                                                     \
        field##_compare(TWIN_MUL, a, b, &r);                                                       \
        field##_double(&r, a);                                                                     \
        field##_compare(TWIN_DBL, a, NULL, &r);                                                    \
        field##_neg(&r, a);                                                                        \
        field##_compare(TWIN_NEG, a, NULL, &r);                                                    \
        field##_sqr(&r, a);                                                                        \
        field##_compare(TWIN_SQR, a, NULL, &r);                                                    \
        field##_inv(&r, a);                                                                        \
        field##_compare(TWIN_INV, a, NULL, &r);                                                    \
        field##_from_canonical(&r, a);                                                             \
        field##_compare(TWIN_FROM_CANONICAL, a, NULL, &r);                                         \
        field##_to_canonical(&r, a);                                                               \
        field##_compare(TWIN_TO_CANONICAL, a, NULL, &r);                                           \
        unsigned relations = field##_is_zero(a) | field##_equal(a, b) << 1 | 4U;                   \
        assert_int_equal(twin_test(FIELD, a, b), relations);                                       \
        assert_int_equal(twin_test(FIELD, a, a) & 2, 2);                                           \
    }

TWIN_CHECKS(fr, TWIN_FR)
TWIN_CHECKS(fq, TWIN_FQ)
TWIN_CHECKS(fq2, TWIN_FQ2)

/* Integers that are not reduced: as the second factor, and in the test for it. */
#define TWIN_PRIME_CHECKS(field, FIELD)                                                            \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */                                       \
    static field field##_biased(uint64_t *rng, field *raw)                                         \
    {                                                                                              \
        field r;                                                                                   \
        for (size_t i = 0; i < sizeof r.l / sizeof r.l[0]; i++)                                    \
            raw->l[i] = random_biased_u64(rng);                                                    \
        field##_from_canonical(&r, raw);                                                           \
        if (random_u64(rng) % 2)                                                                   \
            field##_to_canonical(&r, &r);                                                          \
        return r;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void field##_compare_raw(const field *a, const field *raw)                              \
    {                                                                                              \
        field r;                                                                                   \
        field##_mul(&r, a, raw);                                                                   \
        field##_compare(TWIN_MUL, a, raw, &r);                                                     \
        field##_from_canonical(&r, raw);                                                           \
        field##_compare(TWIN_FROM_CANONICAL, raw, NULL, &r);                                       \
        assert_int_equal(twin_test(FIELD, raw, raw) >> 2, field##_is_reduced(raw));                \
        assert_int_equal(twin_test(FIELD, &field##_modulus, raw) >> 2, 0);                         \
    }

TWIN_PRIME_CHECKS(fr, TWIN_FR)
TWIN_PRIME_CHECKS(fq, TWIN_FQ)

/* a b + c d, and with p instead of a zero: what neg_lazy gives. */
static void fq_compare_mul_add(const fq *a, const fq *b, const fq *c, const fq *d)
{
    fq r, t, expected;
    fq_mul(&expected, a, b);
    fq_mul(&t, c, d);
    fq_add(&expected, &expected, &t);
    twin_mul_add(TWIN_FQ, &r, a, b, c, d);
    assert_memory_equal(&r, &expected, sizeof r);
    fq_mul(&expected, a, b);
    twin_mul_add(TWIN_FQ, &r, a, b, &fq_modulus, d);
    assert_memory_equal(&r, &expected, sizeof r);
}

/* a + p, below 2p. */
static fr fr_lifted(const fr *a)
{
    fr r;
    unsigned char carry = 0;
    for (int i = 0; i < FR_LIMBS; i++)
        carry = limb_add(carry, a->l[i], fr_modulus.l[i], &r.l[i]);
    return r;
}

static void fr_compare_lazy_op(enum twin_lazy op, const fr *a, const fr *b, const fr *expected)
{
    fr r;
    assert_true(twin_lazy(op, &r, a, b));
    assert_memory_equal(&r, expected, sizeof r);
}

/* Each operand as it is and lifted by p. */
static void fr_compare_lazy(const fr *a, const fr *b)
{
    fr product, sum, difference;
    fr_mul(&product, a, b);
    fr_add(&sum, a, b);
    fr_sub(&difference, a, b);
    const fr as[2] = {*a, fr_lifted(a)}, bs[2] = {*b, fr_lifted(b)};
    for (int i = 0; i < 2; i++) {
        fr_compare_lazy_op(TWIN_LAZY_MUL, &as[i], b, &product);
        for (int j = 0; j < 2; j++) {
            fr_compare_lazy_op(TWIN_LAZY_ADD, &as[i], &bs[j], &sum);
            fr_compare_lazy_op(TWIN_LAZY_SUB, &as[i], &bs[j], &difference);
        }
    }
}

static void random_values(void **state)
{
    (void)state;
    uint64_t rng = seed;
    fr fr_raw, zero = {{0}};
    fq raw;
    for (int i = 0; i < RANDOM_PAIRS; i++) {
        fr a = fr_biased(&rng, &fr_raw), b = fr_biased(&rng, &fr_raw);
        fr_compare_all(&a, &b);
        fr_compare_raw(&a, &fr_raw);
        fr_compare_all(&zero, &a);
        fr_compare_lazy(&a, &b);
        fr_compare_lazy(&zero, &b);
        fq c = fq_biased(&rng, &raw), d = fq_biased(&rng, &raw);
        fq_compare_all(&c, &d);
        fq_compare_raw(&c, &raw);
        fq2 x = {c, d}, y = {fq_biased(&rng, &raw), fq_biased(&rng, &raw)};
        fq2_compare_all(&x, &y);
        fq_compare_mul_add(&c, &d, &y.c0, &y.c1);
    }
}

/* The largest operands: p - 1, and all ones. */
static void largest_values(void **state)
{
    (void)state;
    fr a, ones, zero = {{0}};
    fq b, fq_ones, fq_zero = {{0}};
    memset(&ones, 0xff, sizeof ones);
    memset(&fq_ones, 0xff, sizeof fq_ones);
    fr_neg(&a, &fr_one);
    fr_to_canonical(&a, &a);
    fq_neg(&b, &fq_one);
    fq_to_canonical(&b, &b);
    fr_compare_all(&a, &a);
    fr_compare_all(&a, &zero);
    fr_compare_raw(&a, &ones);
    fr_compare_lazy(&a, &a);
    fr_compare_lazy(&a, &zero);
    fq_compare_all(&b, &b);
    fq_compare_all(&fq_zero, &b);
    fq_compare_raw(&b, &fq_ones);
    fq_compare_mul_add(&b, &b, &b, &b);
    fq2 x = {b, b}, y = {fq_zero, b};
    fq2_compare_all(&x, &x);
    fq2_compare_all(&x, &y);
    fq2_compare_all(&y, &x);
}

#if CURVE_PARAM(FQ_LIMBS) == 1
static void all_pairs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < fr_modulus.l[0]; i++)
        for (uint64_t j = 0; j < fr_modulus.l[0]; j++) {
            fr_compare_all(&(fr){{i}}, &(fr){{j}});
            fr_compare_lazy(&(fr){{i}}, &(fr){{j}});
        }
    for (uint64_t i = 0; i < fq_modulus.l[0]; i++)
        for (uint64_t j = 0; j < fq_modulus.l[0]; j++)
            fq_compare_all(&(fq){{i}}, &(fq){{j}});
}
#endif

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_values),
        cmocka_unit_test(largest_values),
#if CURVE_PARAM(FQ_LIMBS) == 1
        cmocka_unit_test(all_pairs),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
