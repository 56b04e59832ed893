/* Laws of the tower Fq2, Fq6, Fq12: products against their definition, inverses, Frobenius against
 * the q-th power, sparse and cyclotomic shortcuts against the general ones. */
#include "tests/unit/test.h"

#include "common/ff/fq12.h"
#include "tests/unit/random.h"

static const uint64_t seed = 20250705;

static fq any_fq(uint64_t *rng)
{
    fq r;
    for (int i = 0; i < FQ_LIMBS; i++)
        r.l[i] = random_biased_u64(rng);
    fq_from_canonical(&r, &r);
    /* raw values of long runs too, where they are below q */
    fq raw = {{0}};
    for (int i = 0; i < FQ_LIMBS; i++)
        raw.l[i] = random_biased_u64(rng);
    return fq_is_reduced(&raw) ? raw : r;
}

static fq2 any_fq2(uint64_t *rng)
{
    fq2 r;
    r.c0 = any_fq(rng);
    r.c1 = any_fq(rng);
    if (random_u64(rng) % 8 == 0)
        memset(&r.c1, 0, sizeof r.c1);
    return r;
}

static fq6 any_fq6(uint64_t *rng)
{
    fq6 r;
    r.c0 = any_fq2(rng);
    r.c1 = any_fq2(rng);
    r.c2 = any_fq2(rng);
    return r;
}

static fq12 any_fq12(uint64_t *rng)
{
    fq12 r;
    r.c0 = any_fq6(rng);
    r.c1 = any_fq6(rng);
    return r;
}

static void fq2_laws(void **state)
{
    (void)state;
    uint64_t rng = seed;
    for (int i = 0; i < 2000; i++) {
        fq2 a = any_fq2(&rng), b = any_fq2(&rng), r, t;
        fq x, y;
        fq2_mul(&r, &a, &b);
        fq_mul(&x, &a.c0, &b.c0);
        fq_mul(&y, &a.c1, &b.c1);
        fq_sub(&t.c0, &x, &y);
        fq_mul(&x, &a.c0, &b.c1);
        fq_mul(&y, &a.c1, &b.c0);
        fq_add(&t.c1, &x, &y);
        assert_true(fq2_is_reduced(&r));
        assert_true(fq2_equal(&r, &t));
        t = a;
        fq2_mul(&t, &t, &b);
        assert_true(fq2_equal(&r, &t));
        t = b;
        fq2_mul(&t, &a, &t);
        assert_true(fq2_equal(&r, &t));
        fq2_sqr(&r, &a);
        fq2_mul(&t, &a, &a);
        assert_true(fq2_equal(&r, &t));
        fq2_inv(&r, &a);
        fq2_mul(&t, &r, &a);
        assert_true(fq2_is_zero(&a) ? fq2_is_zero(&r) : fq2_equal(&t, &fq2_one));
        fq2_triple(&r, &a);
        fq2_sub(&r, &r, &a);
        fq2_double(&t, &a);
        assert_true(fq2_equal(&r, &t));
        fq2 xi = fq2_one;
        fq_from_u64(&xi.c0, CURVE_PARAM(FQ_XI0));
        xi.c1 = fq_one;
        fq2_mul(&r, &a, &xi);
        fq2_mul_xi(&t, &a);
        assert_true(fq2_equal(&r, &t));
    }
}

static fq2 *coefficient(fq6 *a, int i)
{
    return i == 0 ? &a->c0 : i == 1 ? &a->c1 : &a->c2;
}

/* Term by term with v^3 = xi. */
static fq6 product_by_terms(const fq6 *a, const fq6 *b)
{
    fq6 r = {0}, x = *a, y = *b;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            fq2 t;
            fq2_mul(&t, coefficient(&x, i), coefficient(&y, j));
            if (i + j >= 3)
                fq2_mul_xi(&t, &t);
            fq2_add(coefficient(&r, (i + j) % 3), coefficient(&r, (i + j) % 3), &t);
        }
    }
    return r;
}

static void fq6_laws(void **state)
{
    (void)state;
    uint64_t rng = seed;
    fq6 one = {.c0 = fq2_one};
    for (int i = 0; i < 500; i++) {
        fq6 a = any_fq6(&rng), b = any_fq6(&rng), r, t, sparse = {0};
        fq6_mul(&r, &a, &b);
        t = product_by_terms(&a, &b);
        assert_true(fq6_equal(&r, &t));
        t = a;
        fq6_mul(&t, &t, &b);
        assert_true(fq6_equal(&r, &t));
        sparse.c0 = b.c0;
        sparse.c1 = b.c1;
        fq6_mul(&r, &a, &sparse);
        fq6_mul_01(&t, &a, &b.c0, &b.c1);
        assert_true(fq6_equal(&r, &t));
        memset(&sparse.c0, 0, sizeof sparse.c0);
        fq6_mul(&r, &a, &sparse);
        fq6_mul_1(&t, &a, &b.c1);
        assert_true(fq6_equal(&r, &t));
        fq6_inv(&r, &a);
        fq6_mul(&t, &r, &a);
        assert_true(fq6_is_zero(&a) ? fq6_is_zero(&r) : fq6_equal(&t, &one));
    }
}

static void fq12_laws(void **state)
{
    (void)state;
    uint64_t rng = seed;
    for (int i = 0; i < 300; i++) {
        fq12 a = any_fq12(&rng), b = any_fq12(&rng), r, t, line = {0};
        fq6 x, y;
        fq12_mul(&r, &a, &b);
        x = product_by_terms(&a.c0, &b.c0);
        y = product_by_terms(&a.c1, &b.c1);
        fq6_mul_v(&y, &y);
        fq6_add(&t.c0, &x, &y);
        x = product_by_terms(&a.c0, &b.c1);
        y = product_by_terms(&a.c1, &b.c0);
        fq6_add(&t.c1, &x, &y);
        assert_true(fq12_equal(&r, &t));
        fq12_mul(&r, &a, &a);
        fq12_sqr(&t, &a);
        assert_true(fq12_equal(&r, &t));
        fq12_inv(&r, &a);
        fq12_mul(&t, &r, &a);
        assert_true(fq12_is_zero(&a) ? fq12_is_zero(&r) : fq12_equal(&t, &fq12_one));
        line.c0.c0 = b.c0.c0; /* w^0, w^1, w^3 */
        line.c1.c0 = b.c1.c0;
        line.c1.c1 = b.c1.c1;
        fq12_mul(&r, &a, &line);
        fq12_mul_013(&t, &a, &line.c0.c0, &line.c1.c0, &line.c1.c1);
        assert_true(fq12_equal(&r, &t));
        memset(&line.c1.c0, 0, sizeof line.c1.c0); /* w^0, w^2, w^3 */
        line.c0.c1 = b.c0.c1;
        fq12_mul(&r, &a, &line);
        fq12_mul_023(&t, &a, &line.c0.c0, &line.c0.c1, &line.c1.c1);
        assert_true(fq12_equal(&r, &t));
    }
}

static void frobenius_is_the_power(void **state)
{
    (void)state;
    uint64_t rng = seed;
    for (int i = 0; i < 3; i++) {
        fq12 a = any_fq12(&rng), r, t;
        fq12_frobenius(&r, &a);
        fq12_pow(&t, &a, fq_modulus.l, FQ_LIMBS);
        assert_true(fq12_equal(&r, &t));
        for (int j = 1; j < 6; j++)
            fq12_frobenius(&r, &r);
        fq12_conjugate(&t, &a);
        assert_true(fq12_equal(&r, &t));
    }
}

/* a^((q^6 - 1)(q^2 + 1)) is in the subgroup: there conjugates are inverses, squares have a
 * shortcut. */
static void cyclotomic_squares(void **state)
{
    (void)state;
    uint64_t rng = seed;
    for (int i = 0; i < 100; i++) {
        fq12 a, r, t;
        do
            a = any_fq12(&rng);
        while (fq12_is_zero(&a));
        fq12_inv(&t, &a);
        fq12_conjugate(&a, &a);
        fq12_mul(&a, &a, &t);
        fq12_frobenius(&t, &a);
        fq12_frobenius(&t, &t);
        fq12_mul(&a, &a, &t);
        fq12_cyclotomic_sqr(&r, &a);
        fq12_sqr(&t, &a);
        assert_true(fq12_equal(&r, &t));
        fq12_cyclotomic_sqr(&a, &a);
        assert_true(fq12_equal(&r, &a));
        fq12_conjugate(&t, &a);
        fq12_mul(&t, &t, &a);
        assert_true(fq12_equal(&t, &fq12_one));
    }
}

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fq2_laws),           cmocka_unit_test(fq6_laws),
        cmocka_unit_test(fq12_laws),          cmocka_unit_test(frobenius_is_the_power),
        cmocka_unit_test(cyclotomic_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
