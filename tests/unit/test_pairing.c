/* The pairing is bilinear and not degenerate: for all pairs of a toy curve, for random multiples of
 * a real one. */
#include "tests/unit/test.h"

#include "common/ec/pairing.h"
#include "common/ff/fr.h"
#include "tests/unit/random.h"

static const uint64_t seed = 20250702;

static void multiple_g1(g1_affine *r, const uint64_t *k, size_t n)
{
    g1 p;
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, k, n);
    g1_to_affine(r, &p);
}

static void multiple_g2(g2_affine *r, const uint64_t *k, size_t n)
{
    g2 p;
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, k, n);
    g2_to_affine(r, &p);
}

static void value_has_order_r(void **state)
{
    (void)state;
    fq12 e, t;
    pairing(&e, &g1_generator, &g2_generator);
    assert_false(fq12_equal(&e, &fq12_one));
    fq12_pow(&t, &e, fr_modulus.l, FR_LIMBS);
    assert_true(fq12_equal(&t, &fq12_one));
}

static void infinity_gives_one(void **state)
{
    (void)state;
    const g1_affine o1 = {0};
    const g2_affine o2 = {0};
    fq12 e;
    pairing(&e, &o1, &g2_generator);
    assert_true(fq12_equal(&e, &fq12_one));
    pairing(&e, &g1_generator, &o2);
    assert_true(fq12_equal(&e, &fq12_one));
    pairing(&e, &o1, &o2);
    assert_true(fq12_equal(&e, &fq12_one));
    assert_true(pairing_product_is_one(&o1, &o2, 1));
    assert_true(pairing_product_is_one(NULL, NULL, 0));
    assert_false(pairing_product_is_one(&g1_generator, &g2_generator, 1));
}

/* e(a G, b H) = e(G, H)^(a b) for random a, b. */
static void bilinear(void **state)
{
    (void)state;
    uint64_t rng = seed;
    fq12 e, one, power;
    pairing(&one, &g1_generator, &g2_generator);
    for (int i = 0; i < 8; i++) {
        fr a, b;
        for (int j = 0; j < FR_LIMBS; j++) {
            a.l[j] = random_u64(&rng);
            b.l[j] = random_u64(&rng);
        }
        fr_from_canonical(&a, &a); /* reduces */
        fr_from_canonical(&b, &b);
        fr ka, kb, kab;
        fr_to_canonical(&ka, &a);
        fr_to_canonical(&kb, &b);
        fr_mul(&kab, &a, &b);
        fr_to_canonical(&kab, &kab);
        g1_affine p;
        g2_affine q;
        multiple_g1(&p, ka.l, FR_LIMBS);
        multiple_g2(&q, kb.l, FR_LIMBS);
        pairing(&e, &p, &q);
        fq12_pow(&power, &one, kab.l, FR_LIMBS);
        assert_true(fq12_equal(&e, &power));
    }
}

/* Eight pairs whose exponents sum to zero, to one, and with one pair left out. */
static void products(void **state)
{
    (void)state;
    const uint64_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {9, 1, 7, 2, 6, 3, 5, 1};
    g1_affine p[8];
    g2_affine q[8];
    uint64_t sum = 0;
    for (int i = 0; i < 7; i++) {
        multiple_g1(&p[i], &a[i], 1);
        multiple_g2(&q[i], &b[i], 1);
        sum += a[i] * b[i];
    }
    multiple_g1(&p[7], &sum, 1);
    g1_affine_neg(&p[7], &p[7]);
    q[7] = g2_generator;
    assert_true(pairing_product_is_one(p, q, 8));
    assert_false(pairing_product_is_one(p, q, 7));
    assert_false(pairing_product_is_one(p + 1, q + 1, 7));
    memset(&p[3], 0, sizeof p[3]);
    assert_false(pairing_product_is_one(p, q, 8));
    memset(&q[7], 0, sizeof q[7]);
    assert_false(pairing_product_is_one(p, q, 8));
}

#if CURVE_PARAM(FQ_LIMBS) == 1
enum { ORDER_LIMIT = 256 };

/* All pairs: e(a G, b H) = e(G, H)^(a b), and the powers are r different values. */
static void exhaustive(void **state)
{
    (void)state;
    const size_t r = (size_t)fr_modulus.l[0];
    static fq12 power[ORDER_LIMIT];
    static g1_affine p[ORDER_LIMIT];
    static g2_affine q[ORDER_LIMIT];
    assert_true(r <= ORDER_LIMIT);
    pairing(&power[1], &g1_generator, &g2_generator);
    power[0] = fq12_one;
    for (uint64_t i = 0; i < r; i++) {
        if (i > 1)
            fq12_mul(&power[i], &power[i - 1], &power[1]);
        assert_true(i == 0 || !fq12_equal(&power[i], &fq12_one));
        multiple_g1(&p[i], &i, 1);
        multiple_g2(&q[i], &i, 1);
    }
    for (size_t a = 0; a < r; a++) {
        for (size_t b = 0; b < r; b++) {
            fq12 e;
            pairing(&e, &p[a], &q[b]);
            assert_true(fq12_equal(&e, &power[a * b % r]));
        }
    }
}
#endif

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_has_order_r),
        cmocka_unit_test(infinity_gives_one),
        cmocka_unit_test(bilinear),
        cmocka_unit_test(products),
#if CURVE_PARAM(FQ_LIMBS) == 1
        cmocka_unit_test(exhaustive),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
