/* Fq2 = Fq[u] / (u^2 + 1), the field of G2's coordinates. Same contracts as field.inc: Montgomery,
 * reduced, outputs may alias inputs. In memory c0 comes before c1. */
#ifndef PINION_FF_FQ2_H
#define PINION_FF_FQ2_H

#include "common/ff/fq.h"

typedef struct {
    fq c0, c1;
} fq2;

static const fq2 fq2_one = {.c0 = {{CURVE_PARAM(FQ_ONE)}}};

static inline bool fq2_is_zero(const fq2 *a)
{
    return fq_is_zero(&a->c0) && fq_is_zero(&a->c1);
}

static inline bool fq2_equal(const fq2 *a, const fq2 *b)
{
    return fq_equal(&a->c0, &b->c0) && fq_equal(&a->c1, &b->c1);
}

static inline bool fq2_is_reduced(const fq2 *a)
{
    return fq_is_reduced(&a->c0) && fq_is_reduced(&a->c1);
}

static inline void fq2_add(fq2 *r, const fq2 *a, const fq2 *b)
{
    fq_add(&r->c0, &a->c0, &b->c0);
    fq_add(&r->c1, &a->c1, &b->c1);
}

static inline void fq2_double(fq2 *r, const fq2 *a)
{
    fq2_add(r, a, a);
}

/* r = 3 a. */
static inline void fq2_triple(fq2 *r, const fq2 *a)
{
    fq2 t;
    fq2_double(&t, a);
    fq2_add(r, &t, a);
}

static inline void fq2_sub(fq2 *r, const fq2 *a, const fq2 *b)
{
    fq_sub(&r->c0, &a->c0, &b->c0);
    fq_sub(&r->c1, &a->c1, &b->c1);
}

static inline void fq2_neg(fq2 *r, const fq2 *a)
{
    fq_neg(&r->c0, &a->c0);
    fq_neg(&r->c1, &a->c1);
}

static inline void fq2_conjugate(fq2 *r, const fq2 *a)
{
    r->c0 = a->c0;
    fq_neg(&r->c1, &a->c1);
}

#if PINION_ISA_ADX
_Static_assert(sizeof(fq2) == 2 * FQ_BYTES, "adx_dot and adx_cross take c0 and c1 as one array");
_Static_assert(FQ_BITS <= 64 * FQ_LIMBS - 2, "sums of two products need two spare bits");

#if CURVE_PARAM(FQ_LIMBS) == 4
#define FQ2_ADX(name) adx_##name##_4
#else
#define FQ2_ADX(name) adx_##name##_6
#endif

/* Four products under two reductions. */
static inline void fq2_mul(fq2 *r, const fq2 *a, const fq2 *b)
{
    fq2 conjugate, t;
    conjugate.c0 = a->c0;
    fq_neg(&conjugate.c1, &a->c1);
    FQ2_ADX(dot)(t.c0.l, (const void *)&conjugate, (const void *)b, fq_modulus_inv);
    FQ2_ADX(cross)(t.c1.l, (const void *)a, (const void *)b, fq_modulus_inv);
    *r = t;
}
#else
/* Karatsuba: three products. */
static inline void fq2_mul(fq2 *r, const fq2 *a, const fq2 *b)
{
    fq t0, t1, s, t;
    fq_mul(&t0, &a->c0, &b->c0);
    fq_mul(&t1, &a->c1, &b->c1);
    fq_add(&s, &a->c0, &a->c1);
    fq_add(&t, &b->c0, &b->c1);
    fq_mul(&s, &s, &t);
    fq_sub(&r->c0, &t0, &t1);
    fq_sub(&s, &s, &t0);
    fq_sub(&r->c1, &s, &t1);
}
#endif

/* (c0 + c1)(c0 - c1), 2 c0 c1. */
static inline void fq2_sqr(fq2 *r, const fq2 *a)
{
    fq s, d, m;
    fq_add(&s, &a->c0, &a->c1);
    fq_sub(&d, &a->c0, &a->c1);
    fq_mul(&m, &a->c0, &a->c1);
    fq_mul(&r->c0, &s, &d);
    fq_double(&r->c1, &m);
}

static inline void fq2_mul_fq(fq2 *r, const fq2 *a, const fq *k)
{
    fq_mul(&r->c0, &a->c0, k);
    fq_mul(&r->c1, &a->c1, k);
}

/* r = 1/a; 0 for a = 0. */
static inline void fq2_inv(fq2 *r, const fq2 *a)
{
    fq n, t;
    fq_sqr(&n, &a->c0);
    fq_sqr(&t, &a->c1);
    fq_add(&n, &n, &t);
    fq_inv(&n, &n);
    fq_mul(&r->c0, &a->c0, &n);
    fq_mul(&t, &a->c1, &n);
    fq_neg(&r->c1, &t);
}

static inline void fq2_load(fq2 *r, const uint8_t bytes[2 * FQ_BYTES])
{
    fq_load(&r->c0, bytes);
    fq_load(&r->c1, bytes + FQ_BYTES);
}

static inline void fq2_store(uint8_t bytes[2 * FQ_BYTES], const fq2 *a)
{
    fq_store(bytes, &a->c0);
    fq_store(bytes + FQ_BYTES, &a->c1);
}

static inline void fq2_from_canonical(fq2 *r, const fq2 *a)
{
    fq_from_canonical(&r->c0, &a->c0);
    fq_from_canonical(&r->c1, &a->c1);
}

static inline void fq2_to_canonical(fq2 *r, const fq2 *a)
{
    fq_to_canonical(&r->c0, &a->c0);
    fq_to_canonical(&r->c1, &a->c1);
}

#endif
