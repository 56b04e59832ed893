/* Fq12 = Fq6[w] / (w^2 - v), where pairings take their values. Same contracts as field.inc:
 * Montgomery, reduced, outputs may alias inputs.
 *
 * In powers of w, w^6 = xi: c0 = w^0, w^2, w^4 and c1 = w^1, w^3, w^5.
 */
#ifndef PINION_FF_FQ12_H
#define PINION_FF_FQ12_H

#include "common/ff/fq6.h"

typedef struct {
    fq6 c0, c1;
} fq12;

static const fq12 fq12_one = {.c0 = {.c0 = {.c0 = {{CURVE_PARAM(FQ_ONE)}}}}};

/* xi^(i (q - 1)/6): w^i to the power q is w^i times this. The first stands for i = 1. */
static const fq2 fq12_frobenius_factors[5] = {
    {{{CURVE_PARAM(FQ_FROBENIUS_1_C0)}}, {{CURVE_PARAM(FQ_FROBENIUS_1_C1)}}},
    {{{CURVE_PARAM(FQ_FROBENIUS_2_C0)}}, {{CURVE_PARAM(FQ_FROBENIUS_2_C1)}}},
    {{{CURVE_PARAM(FQ_FROBENIUS_3_C0)}}, {{CURVE_PARAM(FQ_FROBENIUS_3_C1)}}},
    {{{CURVE_PARAM(FQ_FROBENIUS_4_C0)}}, {{CURVE_PARAM(FQ_FROBENIUS_4_C1)}}},
    {{{CURVE_PARAM(FQ_FROBENIUS_5_C0)}}, {{CURVE_PARAM(FQ_FROBENIUS_5_C1)}}},
};

static inline bool fq12_is_zero(const fq12 *a)
{
    return fq6_is_zero(&a->c0) && fq6_is_zero(&a->c1);
}

static inline bool fq12_equal(const fq12 *a, const fq12 *b)
{
    return fq6_equal(&a->c0, &b->c0) && fq6_equal(&a->c1, &b->c1);
}

static inline void fq12_add(fq12 *r, const fq12 *a, const fq12 *b)
{
    fq6_add(&r->c0, &a->c0, &b->c0);
    fq6_add(&r->c1, &a->c1, &b->c1);
}

/* r = a^(q^6); on the cyclotomic subgroup 1/a. */
static inline void fq12_conjugate(fq12 *r, const fq12 *a)
{
    r->c0 = a->c0;
    fq6_neg(&r->c1, &a->c1);
}

/* r = {m0 + v m1, cross - m0 - m1}, the end of a Karatsuba product. */
static inline void fq12_join(fq12 *r, const fq6 *m0, const fq6 *m1, const fq6 *cross)
{
    fq6 t;
    fq6_sub(&t, cross, m0);
    fq6_sub(&r->c1, &t, m1);
    fq6_mul_v(&t, m1);
    fq6_add(&r->c0, m0, &t);
}

static inline void fq12_mul(fq12 *r, const fq12 *a, const fq12 *b)
{
    fq6 m0, m1, s, t;
    fq6_mul(&m0, &a->c0, &b->c0);
    fq6_mul(&m1, &a->c1, &b->c1);
    fq6_add(&s, &a->c0, &a->c1);
    fq6_add(&t, &b->c0, &b->c1);
    fq6_mul(&s, &s, &t);
    fq12_join(r, &m0, &m1, &s);
}

/* c0^2 + v c1^2 = (c0 + c1)(c0 + v c1) - c0 c1 - v c0 c1. */
static inline void fq12_sqr(fq12 *r, const fq12 *a)
{
    fq6 m, s, t;
    fq6_mul(&m, &a->c0, &a->c1);
    fq6_add(&s, &a->c0, &a->c1);
    fq6_mul_v(&t, &a->c1);
    fq6_add(&t, &t, &a->c0);
    fq6_mul(&s, &s, &t);
    fq6_sub(&s, &s, &m);
    fq6_add(&r->c1, &m, &m);
    fq6_mul_v(&m, &m);
    fq6_sub(&r->c0, &s, &m);
}

/* r = a (x + y w + z w^3): a line on a twist of type D. */
static inline void fq12_mul_013(fq12 *r, const fq12 *a, const fq2 *x, const fq2 *y, const fq2 *z)
{
    fq6 m0, m1, s;
    fq2 t;
    fq6_mul_0(&m0, &a->c0, x);
    fq6_mul_01(&m1, &a->c1, y, z);
    fq6_add(&s, &a->c0, &a->c1);
    fq2_add(&t, x, y);
    fq6_mul_01(&s, &s, &t, z);
    fq12_join(r, &m0, &m1, &s);
}

/* r = a (x + y w^2 + z w^3): a line on a twist of type M. */
static inline void fq12_mul_023(fq12 *r, const fq12 *a, const fq2 *x, const fq2 *y, const fq2 *z)
{
    fq6 m0, m1, s;
    fq2 t;
    fq6_mul_01(&m0, &a->c0, x, y);
    fq6_mul_1(&m1, &a->c1, z);
    fq6_add(&s, &a->c0, &a->c1);
    fq2_add(&t, y, z);
    fq6_mul_01(&s, &s, x, &t);
    fq12_join(r, &m0, &m1, &s);
}

/* r = 1/a; 0 for a = 0. */
static inline void fq12_inv(fq12 *r, const fq12 *a)
{
    fq6 n, t;
    fq6_sqr(&n, &a->c0);
    fq6_sqr(&t, &a->c1);
    fq6_mul_v(&t, &t);
    fq6_sub(&n, &n, &t);
    fq6_inv(&n, &n);
    fq6_mul(&r->c0, &a->c0, &n);
    fq6_mul(&t, &a->c1, &n);
    fq6_neg(&r->c1, &t);
}

/* r = conjugate(a) times the factor of w^i, or the conjugate alone for i = 0. */
static inline void fq2_frobenius(fq2 *r, const fq2 *a, int i)
{
    fq2_conjugate(r, a);
    if (i > 0)
        fq2_mul(r, r, &fq12_frobenius_factors[i - 1]);
}

/* r = a^q. */
static inline void fq12_frobenius(fq12 *r, const fq12 *a)
{
    fq2_frobenius(&r->c0.c0, &a->c0.c0, 0);
    fq2_frobenius(&r->c1.c0, &a->c1.c0, 1);
    fq2_frobenius(&r->c0.c1, &a->c0.c1, 2);
    fq2_frobenius(&r->c1.c1, &a->c1.c1, 3);
    fq2_frobenius(&r->c0.c2, &a->c0.c2, 4);
    fq2_frobenius(&r->c1.c2, &a->c1.c2, 5);
}

/* (x, y) = (x + y s)^2 in Fq4 = Fq2[s] / (s^2 - xi). */
static inline void fq4_sqr(fq2 *x, fq2 *y, const fq2 *a, const fq2 *b)
{
    fq2 aa, bb, t;
    fq2_sqr(&aa, a);
    fq2_sqr(&bb, b);
    fq2_add(&t, a, b);
    fq2_sqr(&t, &t);
    fq2_sub(&t, &t, &aa);
    fq2_sub(y, &t, &bb);
    fq2_mul_xi(&bb, &bb);
    fq2_add(x, &aa, &bb);
}

/* r = 3 t - 2 a and 3 t + 2 a. */
static inline void fq2_triple_minus(fq2 *r, const fq2 *t, const fq2 *a)
{
    fq2 d;
    fq2_sub(&d, t, a);
    fq2_double(&d, &d);
    fq2_add(r, &d, t);
}

static inline void fq2_triple_plus(fq2 *r, const fq2 *t, const fq2 *a)
{
    fq2 d;
    fq2_add(&d, t, a);
    fq2_double(&d, &d);
    fq2_add(r, &d, t);
}

/* r = a^2 for a in the cyclotomic subgroup, a^(q^4 - q^2 + 1) = 1. Granger, Scott, "Faster squaring
 * in the cyclotomic subgroup of sixth degree extensions" (2010), section 3.2: with s = w^3 and a =
 * A + B w + C w^2 over Fq4 it is (3 A^2 - 2 A') + (3 s C^2 + 2 B') w + (3 B^2 - 2 C') w^2, where '
 * negates s. */
static inline void fq12_cyclotomic_sqr(fq12 *r, const fq12 *a)
{
    fq2 a0, a1, b0, b1, c0, c1;
    fq4_sqr(&a0, &a1, &a->c0.c0, &a->c1.c1);
    fq4_sqr(&b0, &b1, &a->c1.c0, &a->c0.c2);
    fq4_sqr(&c0, &c1, &a->c0.c1, &a->c1.c2);
    fq2_triple_minus(&r->c0.c0, &a0, &a->c0.c0);
    fq2_triple_plus(&r->c1.c1, &a1, &a->c1.c1);
    fq2_mul_xi(&c1, &c1);
    fq2_triple_plus(&r->c1.c0, &c1, &a->c1.c0);
    fq2_triple_minus(&r->c0.c2, &c0, &a->c0.c2);
    fq2_triple_minus(&r->c0.c1, &b0, &a->c0.c1);
    fq2_triple_plus(&r->c1.c2, &b1, &a->c1.c2);
}

/* r = a^e, e an integer of n little-endian limbs. */
static inline void fq12_pow(fq12 *r, const fq12 *a, const uint64_t *e, size_t n)
{
    fq12 base = *a, acc = fq12_one;
    for (size_t i = limbs_bits(e, n); i-- > 0;) {
        fq12_sqr(&acc, &acc);
        if (e[i / 64] >> (i % 64) & 1)
            fq12_mul(&acc, &acc, &base);
    }
    *r = acc;
}

#endif
