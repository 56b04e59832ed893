/* Fq6 = Fq2[v] / (v^3 - xi), xi = FQ_XI0 + u. Same contracts as field.inc: Montgomery, reduced,
 * outputs may alias inputs. */
#ifndef PINION_FF_FQ6_H
#define PINION_FF_FQ6_H

#include "common/ff/fq2.h"

typedef struct {
    fq2 c0, c1, c2;
} fq6;

/* r = k a for a small constant k. */
static inline void fq_mul_small(fq *r, const fq *a, unsigned k)
{
    fq acc = {{0}}, power = *a;
    for (; k != 0; k >>= 1) {
        if (k & 1)
            fq_add(&acc, &acc, &power);
        if (k > 1)
            fq_double(&power, &power);
    }
    *r = acc;
}

/* r = xi a. */
static inline void fq2_mul_xi(fq2 *r, const fq2 *a)
{
    fq t0, t1;
    fq_mul_small(&t0, &a->c0, CURVE_PARAM(FQ_XI0));
    fq_mul_small(&t1, &a->c1, CURVE_PARAM(FQ_XI0));
    fq_sub(&t0, &t0, &a->c1);
    fq_add(&r->c1, &t1, &a->c0);
    r->c0 = t0;
}

static inline bool fq6_is_zero(const fq6 *a)
{
    return fq2_is_zero(&a->c0) && fq2_is_zero(&a->c1) && fq2_is_zero(&a->c2);
}

static inline bool fq6_equal(const fq6 *a, const fq6 *b)
{
    return fq2_equal(&a->c0, &b->c0) && fq2_equal(&a->c1, &b->c1) && fq2_equal(&a->c2, &b->c2);
}

static inline void fq6_add(fq6 *r, const fq6 *a, const fq6 *b)
{
    fq2_add(&r->c0, &a->c0, &b->c0);
    fq2_add(&r->c1, &a->c1, &b->c1);
    fq2_add(&r->c2, &a->c2, &b->c2);
}

static inline void fq6_sub(fq6 *r, const fq6 *a, const fq6 *b)
{
    fq2_sub(&r->c0, &a->c0, &b->c0);
    fq2_sub(&r->c1, &a->c1, &b->c1);
    fq2_sub(&r->c2, &a->c2, &b->c2);
}

static inline void fq6_neg(fq6 *r, const fq6 *a)
{
    fq2_neg(&r->c0, &a->c0);
    fq2_neg(&r->c1, &a->c1);
    fq2_neg(&r->c2, &a->c2);
}

/* r = v a. */
static inline void fq6_mul_v(fq6 *r, const fq6 *a)
{
    fq2 t;
    fq2_mul_xi(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

/* r = (a + b)(c + d) - m - n, a Karatsuba term. */
static inline void fq2_mul_cross(fq2 *r, const fq2 *a, const fq2 *b, const fq2 *c, const fq2 *d,
                                 const fq2 *m, const fq2 *n)
{
    fq2 s, t;
    fq2_add(&s, a, b);
    fq2_add(&t, c, d);
    fq2_mul(&s, &s, &t);
    fq2_sub(&s, &s, m);
    fq2_sub(r, &s, n);
}

/* Karatsuba: six products (Devegili, O hEigeartaigh, Scott, Dahab, "Multiplication and squaring on
 * pairing-friendly fields", 2006, section 4). */
static inline void fq6_mul(fq6 *r, const fq6 *a, const fq6 *b)
{
    fq2 m0, m1, m2, x12, x01, x02;
    fq2_mul(&m0, &a->c0, &b->c0);
    fq2_mul(&m1, &a->c1, &b->c1);
    fq2_mul(&m2, &a->c2, &b->c2);
    fq2_mul_cross(&x12, &a->c1, &a->c2, &b->c1, &b->c2, &m1, &m2);
    fq2_mul_cross(&x01, &a->c0, &a->c1, &b->c0, &b->c1, &m0, &m1);
    fq2_mul_cross(&x02, &a->c0, &a->c2, &b->c0, &b->c2, &m0, &m2);
    fq2_mul_xi(&x12, &x12);
    fq2_add(&r->c0, &m0, &x12);
    fq2_mul_xi(&m2, &m2);
    fq2_add(&r->c1, &x01, &m2);
    fq2_add(&r->c2, &x02, &m1);
}

static inline void fq6_sqr(fq6 *r, const fq6 *a)
{
    fq6_mul(r, a, a);
}

/* r = a (b0 + b1 v). */
static inline void fq6_mul_01(fq6 *r, const fq6 *a, const fq2 *b0, const fq2 *b1)
{
    fq2 m0, m1, x01, t0, t2;
    fq2_mul(&m0, &a->c0, b0);
    fq2_mul(&m1, &a->c1, b1);
    fq2_mul_cross(&x01, &a->c0, &a->c1, b0, b1, &m0, &m1);
    fq2_mul(&t0, &a->c2, b1);
    fq2_mul(&t2, &a->c2, b0);
    fq2_mul_xi(&t0, &t0);
    fq2_add(&r->c0, &m0, &t0);
    r->c1 = x01;
    fq2_add(&r->c2, &t2, &m1);
}

/* r = a b. */
static inline void fq6_mul_0(fq6 *r, const fq6 *a, const fq2 *b)
{
    fq2_mul(&r->c0, &a->c0, b);
    fq2_mul(&r->c1, &a->c1, b);
    fq2_mul(&r->c2, &a->c2, b);
}

/* r = a b v. */
static inline void fq6_mul_1(fq6 *r, const fq6 *a, const fq2 *b)
{
    fq6_mul_0(r, a, b);
    fq6_mul_v(r, r);
}

/* r = a b - xi c d. */
static inline void fq6_inv_minor(fq2 *r, const fq2 *a, const fq2 *b, const fq2 *c, const fq2 *d)
{
    fq2 t;
    fq2_mul(&t, c, d);
    fq2_mul_xi(&t, &t);
    fq2_mul(r, a, b);
    fq2_sub(r, r, &t);
}

/* r = 1/a; 0 for a = 0. The adjugate over the norm. */
static inline void fq6_inv(fq6 *r, const fq6 *a)
{
    fq2 m0, m1, m2, n, t;
    fq6_inv_minor(&m0, &a->c0, &a->c0, &a->c1, &a->c2);
    fq2_mul(&t, &a->c0, &a->c1);
    fq2_sqr(&m1, &a->c2);
    fq2_mul_xi(&m1, &m1);
    fq2_sub(&m1, &m1, &t);
    fq2_mul(&t, &a->c0, &a->c2);
    fq2_sqr(&m2, &a->c1);
    fq2_sub(&m2, &m2, &t);
    fq2_mul(&n, &a->c2, &m1);
    fq2_mul(&t, &a->c1, &m2);
    fq2_add(&n, &n, &t);
    fq2_mul_xi(&n, &n);
    fq2_mul(&t, &a->c0, &m0);
    fq2_add(&n, &n, &t);
    fq2_inv(&n, &n);
    fq2_mul(&r->c0, &m0, &n);
    fq2_mul(&r->c1, &m1, &n);
    fq2_mul(&r->c2, &m2, &n);
}

#endif
