/* The tests for the order of a point agree with multiplication by r: for every point of the toy
 * curves and their twists, for random points of the real ones. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/ec/pairing.h"
#include "common/ff/fr.h"
#include "tests/unit/random.h"

static const uint64_t seed = 20250703;

static bool killed_by_r_g1(const g1_affine *a)
{
    g1 p;
    g1_from_affine(&p, a);
    g1_mul(&p, &p, fr_modulus.l, FR_LIMBS);
    return g1_is_infinity(&p);
}

static bool killed_by_r_g2(const g2_affine *a)
{
    g2 p;
    g2_from_affine(&p, a);
    g2_mul(&p, &p, fr_modulus.l, FR_LIMBS);
    return g2_is_infinity(&p);
}

static void infinity_and_multiples(void **state)
{
    (void)state;
    const g1_affine o1 = {0};
    const g2_affine o2 = {0};
    assert_true(g1_in_subgroup(&o1));
    assert_true(g2_in_subgroup(&o2));
    uint64_t rng = seed;
    for (int i = 0; i < 20; i++) {
        uint64_t k = random_biased_u64(&rng);
        g1 p;
        g2 q;
        g1_affine a;
        g2_affine b;
        g1_from_affine(&p, &g1_generator);
        g2_from_affine(&q, &g2_generator);
        g1_mul(&p, &p, &k, 1);
        g2_mul(&q, &q, &k, 1);
        g1_to_affine(&a, &p);
        g2_to_affine(&b, &q);
        assert_true(g1_in_subgroup(&a));
        assert_true(g2_in_subgroup(&b));
    }
}

/* r = sqrt(a), q = 3 mod 4; false if there is none. */
static bool sqrt_fq(fq *r, const fq *a)
{
    fq e = fq_modulus, of = *a, s;
    e.l[0] += 1; /* q = 3 mod 4: no carry */
    for (int i = 0; i < FQ_LIMBS; i++)
        e.l[i] = e.l[i] >> 2 | (i + 1 < FQ_LIMBS ? e.l[i + 1] << 62 : 0);
    fq_pow(r, &of, e.l, FQ_LIMBS);
    fq_sqr(&s, r);
    return fq_equal(&s, &of);
}

/* The complex method: c0^2 = (a0 + |a|)/2 or (a0 - |a|)/2, c1 = a1 / (2 c0). For c0 != 0. */
static bool sqrt_fq2(fq2 *r, const fq2 *a)
{
    fq n, t, half, two;
    fq2 of = *a, s;
    fq_double(&two, &fq_one);
    fq_inv(&half, &two);
    fq_sqr(&n, &of.c0);
    fq_sqr(&t, &of.c1);
    fq_add(&n, &n, &t);
    if (!sqrt_fq(&n, &n))
        return false;
    fq_add(&t, &of.c0, &n);
    fq_mul(&t, &t, &half);
    if (!sqrt_fq(&r->c0, &t)) {
        fq_sub(&t, &t, &n);
        if (!sqrt_fq(&r->c0, &t))
            return false;
    }
    fq_double(&t, &r->c0);
    fq_inv(&t, &t);
    fq_mul(&r->c1, &of.c1, &t);
    fq2_sqr(&s, r);
    return fq2_equal(&s, &of);
}

static void random_fq(fq *r, uint64_t *rng)
{
    for (int i = 0; i < FQ_LIMBS; i++)
        r->l[i] = random_u64(rng);
    fq_from_canonical(r, r);
}

/* Random points of the whole curve and twist, and what r leaves of them: the cofactor's torsion. */
static void random_points(void **state)
{
    (void)state;
    uint64_t rng = seed;
    int found = 0, outside = 0;
    while (found < 40) {
        g1_affine a = {0};
        g2_affine b = {0};
        random_fq(&a.x, &rng);
        random_fq(&b.x.c0, &rng);
        random_fq(&b.x.c1, &rng);
        fq_sqr(&a.y, &a.x);
        fq_mul(&a.y, &a.y, &a.x);
        fq_add(&a.y, &a.y, &g1_b);
        fq2_sqr(&b.y, &b.x);
        fq2_mul(&b.y, &b.y, &b.x);
        fq2_add(&b.y, &b.y, &g2_b);
        if (!sqrt_fq(&a.y, &a.y) || !sqrt_fq2(&b.y, &b.y))
            continue;
        found++;
        assert_true(g1_affine_is_on_curve(&a));
        assert_true(g2_affine_is_on_curve(&b));
        assert_int_equal(g1_in_subgroup(&a), killed_by_r_g1(&a));
        assert_int_equal(g2_in_subgroup(&b), killed_by_r_g2(&b));
        g2 q;
        g2_from_affine(&q, &b);
        g2_mul(&q, &q, fr_modulus.l, FR_LIMBS);
        g2_to_affine(&b, &q);
        assert_int_equal(g2_in_subgroup(&b), killed_by_r_g2(&b));
        outside += !g2_in_subgroup(&b);
    }
    assert_true(outside > 0);
}

#if CURVE_PARAM(FQ_LIMBS) == 1
static void every_point_of_the_curve(void **state)
{
    (void)state;
    const uint64_t q = fq_modulus.l[0], r = fr_modulus.l[0];
    uint64_t all = 1, members = 1; /* infinity */
    for (uint64_t x = 0; x < q; x++) {
        for (uint64_t y = 0; y < q; y++) {
            g1_affine p = {{{x}}, {{y}}};
            if (g1_affine_is_infinity(&p) || !g1_affine_is_on_curve(&p))
                continue;
            bool member = killed_by_r_g1(&p);
            assert_int_equal(g1_in_subgroup(&p), member);
            all++;
            members += member;
        }
    }
    assert_int_equal(members, r);
    assert_int_equal(all % r, 0);
}

static fq2 fq2_at(uint64_t i)
{
    const uint64_t q = fq_modulus.l[0];
    return (fq2){{{i / q}}, {{i % q}}};
}

static uint64_t fq2_index(const fq2 *a)
{
    return a->c0.l[0] * fq_modulus.l[0] + a->c1.l[0];
}

/* root[i] = 1 + the index of a square root of the element with index i, or 0. */
static uint32_t *all_roots(uint64_t n)
{
    uint32_t *root = calloc(n, sizeof *root);
    assert_non_null(root);
    for (uint64_t i = 0; i < n; i++) {
        fq2 a = fq2_at(i);
        fq2_sqr(&a, &a);
        root[fq2_index(&a)] = (uint32_t)i + 1;
    }
    return root;
}

static void every_point_of_the_twist(void **state)
{
    (void)state;
    const uint64_t n = fq_modulus.l[0] * fq_modulus.l[0], r = fr_modulus.l[0];
    uint32_t *root = all_roots(n);
    uint64_t all = 1, members = 1; /* infinity */
    for (uint64_t i = 0; i < n; i++) {
        g2_affine p = {.x = fq2_at(i)};
        fq2 rhs;
        fq2_sqr(&rhs, &p.x);
        fq2_mul(&rhs, &rhs, &p.x);
        fq2_add(&rhs, &rhs, &g2_b);
        uint32_t y = root[fq2_index(&rhs)];
        if (y == 0)
            continue;
        p.y = fq2_at(y - 1);
        unsigned twice = fq2_is_zero(&p.y) ? 1 : 2; /* p and -p */
        bool member = killed_by_r_g2(&p);
        assert_int_equal(g2_in_subgroup(&p), member);
        all += twice;
        members += member ? twice : 0;
    }
    free(root);
    assert_int_equal(members, r);
    assert_int_equal(all % r, 0);
    assert_true(all > r);
}
#endif

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infinity_and_multiples),
        cmocka_unit_test(random_points),
#if CURVE_PARAM(FQ_LIMBS) == 1
        cmocka_unit_test(every_point_of_the_curve),
        cmocka_unit_test(every_point_of_the_twist),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
