/* Points on the curves that are not in the prime-order subgroups, and points on no curve. */
#ifndef PINION_TESTS_STRAY_POINTS_H
#define PINION_TESTS_STRAY_POINTS_H

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/ff/fr.h"
#include "tests/unit/test.h"

/* A square root for q = 3 mod 4: a^((q + 1) / 4). False if a is no square. */
static inline bool stray_fq_sqrt(fq *r, const fq *a)
{
    fq e = fq_modulus, square;
    e.l[0] += 1; /* q is odd and not all ones */
    for (int i = 0; i < FQ_LIMBS; i++)
        e.l[i] = e.l[i] >> 2 | (i + 1 < FQ_LIMBS ? e.l[i + 1] << 62 : 0);
    fq_pow(&square, a, e.l, FQ_LIMBS);
    *r = square;
    fq_sqr(&square, &square);
    return fq_equal(&square, a);
}

/* A square root in Fq2 by norms: with n^2 = c0^2 + c1^2, x = sqrt((c0 + n) / 2), y = c1 / 2x. */
static inline bool stray_fq2_sqrt(fq2 *r, const fq2 *a)
{
    fq norm, n, t, half;
    fq_sqr(&norm, &a->c0);
    fq_sqr(&t, &a->c1);
    fq_add(&norm, &norm, &t);
    if (!stray_fq_sqrt(&n, &norm))
        return false;
    fq_from_u64(&half, 2);
    fq_inv(&half, &half);
    for (int sign = 0; sign < 2; sign++) {
        fq_add(&t, &a->c0, &n);
        fq_mul(&t, &t, &half);
        fq_neg(&n, &n);
        if (!stray_fq_sqrt(&r->c0, &t) || fq_is_zero(&r->c0))
            continue;
        fq_double(&t, &r->c0);
        fq_inv(&t, &t);
        fq_mul(&r->c1, &a->c1, &t);
        fq2 square;
        fq2_sqr(&square, r);
        if (fq2_equal(&square, a))
            return true;
    }
    return false;
}

/* False if the curve has no such point: its cofactor is 1. */
static inline bool stray_g1(g1_affine *p)
{
    for (uint64_t x = 1; x < 100; x++) {
        fq t;
        fq_from_u64(&p->x, x);
        fq_sqr(&t, &p->x);
        fq_mul(&t, &t, &p->x);
        fq_add(&t, &t, &g1_b);
        if (!stray_fq_sqrt(&p->y, &t) || fq_is_zero(&p->y))
            continue;
        assert_true(g1_affine_is_on_curve(p));
        g1 q;
        g1_from_affine(&q, p);
        g1_mul(&q, &q, fr_modulus.l, FR_LIMBS);
        if (!g1_is_infinity(&q))
            return true;
    }
    return false;
}

static inline void stray_g2(g2_affine *p)
{
    for (uint64_t x = 1;; x++) {
        assert_true(x < 1000);
        fq2 t;
        fq_from_u64(&p->x.c0, x);
        p->x.c1 = fq_one;
        fq2_sqr(&t, &p->x);
        fq2_mul(&t, &t, &p->x);
        fq2_add(&t, &t, &g2_b);
        if (!stray_fq2_sqrt(&p->y, &t))
            continue;
        assert_true(g2_affine_is_on_curve(p));
        g2 q;
        g2_from_affine(&q, p);
        g2_mul(&q, &q, fr_modulus.l, FR_LIMBS);
        if (!g2_is_infinity(&q))
            return;
    }
}

#endif
