/* Vercauteren, "Optimal pairings" (2010). Twists as in fq12_mul_013 and fq12_mul_023: a point (x,
 * y) of the twist is (w^2 x, w^3 y) on the curve for type D, (x / w^2, y / w^3) for type M. Factors
 * in proper subfields, which the final exponentiation removes, are left in the lines. */
#include "common/ec/pairing.h"

#include "common/ec/psi.h"
#include "common/status.h"

enum { PAIRING_MAX = 8 };

/* x = X/Z, y = Y/Z on the twist. */
struct projective {
    fq2 x, y, z;
};

/* The line constant + x_coeff x_P + y_coeff y_P, before the powers of w that line_multiply adds. */
struct line {
    fq2 constant, x_coeff, y_coeff;
};

struct pairs {
    size_t n;
    const g1_affine *p[PAIRING_MAX];
    const g2_affine *q[PAIRING_MAX];
    struct projective t[PAIRING_MAX];
};

/* t = 2 t and the tangent at t. Aranha, Karabina, Longa, Gebotys, Lopez, "Faster explicit formulas
 * for computing pairings over ordinary curves" (2011), section 4, times 4 to save the halvings. */
static void line_double(struct line *l, struct projective *t)
{
    fq2 xy, yy, zz, e, h, s, d;
    fq2_mul(&xy, &t->x, &t->y);
    fq2_sqr(&yy, &t->y);
    fq2_sqr(&zz, &t->z);
    fq2_triple(&e, &zz);
    fq2_mul(&e, &e, &g2_b);
    fq2_mul(&h, &t->y, &t->z);
    fq2_double(&h, &h);
    fq2_sqr(&s, &t->x);
    fq2_triple(&l->x_coeff, &s);
    fq2_sub(&l->constant, &e, &yy);
    fq2_neg(&l->y_coeff, &h);
    fq2_triple(&s, &e);
    fq2_sub(&d, &yy, &s);
    fq2_mul(&t->x, &xy, &d);
    fq2_double(&t->x, &t->x);
    fq2_add(&s, &s, &yy);
    fq2_sqr(&s, &s);
    fq2_sqr(&e, &e);
    fq2_triple(&e, &e);
    fq2_double(&e, &e);
    fq2_double(&e, &e);
    fq2_sub(&t->y, &s, &e);
    fq2_mul(&t->z, &yy, &h);
    fq2_double(&t->z, &t->z);
    fq2_double(&t->z, &t->z);
}

/* t = t + q and the line through both; t is neither q nor -q. Same source. */
static void line_add(struct line *l, struct projective *t, const g2_affine *q)
{
    fq2 theta, lambda, c, d, e, g, h;
    fq2_mul(&theta, &q->y, &t->z);
    fq2_sub(&theta, &t->y, &theta);
    fq2_mul(&lambda, &q->x, &t->z);
    fq2_sub(&lambda, &t->x, &lambda);
    fq2_mul(&c, &theta, &q->x);
    fq2_mul(&d, &lambda, &q->y);
    fq2_sub(&l->constant, &c, &d);
    fq2_neg(&l->x_coeff, &theta);
    l->y_coeff = lambda;
    fq2_sqr(&c, &theta);
    fq2_sqr(&d, &lambda);
    fq2_mul(&e, &d, &lambda);
    fq2_mul(&g, &t->x, &d);
    fq2_mul(&h, &t->z, &c);
    fq2_add(&h, &h, &e);
    fq2_sub(&h, &h, &g);
    fq2_sub(&h, &h, &g);
    fq2_mul(&t->x, &lambda, &h);
    fq2_sub(&g, &g, &h);
    fq2_mul(&g, &g, &theta);
    fq2_mul(&h, &e, &t->y);
    fq2_sub(&t->y, &g, &h);
    fq2_mul(&t->z, &t->z, &e);
}

static void line_multiply(fq12 *f, const struct line *l, const g1_affine *p)
{
    fq2 x, y;
    fq2_mul_fq(&x, &l->x_coeff, &p->x);
    fq2_mul_fq(&y, &l->y_coeff, &p->y);
#if CURVE_PARAM(TWIST_D)
    fq12_mul_013(f, f, &y, &x, &l->constant);
#else
    fq12_mul_023(f, f, &l->constant, &x, &y);
#endif
}

static void pairs_init(struct pairs *s, const g1_affine *p, const g2_affine *q, size_t n)
{
    CHECK(n <= PAIRING_MAX);
    s->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (g1_affine_is_infinity(&p[i]) || g2_affine_is_infinity(&q[i]))
            continue;
        s->p[s->n] = &p[i];
        s->q[s->n] = &q[i];
        s->t[s->n++] = (struct projective){q[i].x, q[i].y, fq2_one};
    }
}

static void pairs_double(fq12 *f, struct pairs *s)
{
    struct line l;
    for (size_t i = 0; i < s->n; i++) {
        line_double(&l, &s->t[i]);
        line_multiply(f, &l, s->p[i]);
    }
}

static void pairs_add(fq12 *f, struct pairs *s)
{
    struct line l;
    for (size_t i = 0; i < s->n; i++) {
        line_add(&l, &s->t[i], s->q[i]);
        line_multiply(f, &l, s->p[i]);
    }
}

#if CURVE_PARAM(FAMILY_BN)
_Static_assert(!CURVE_PARAM(X_NEGATIVE), "the loop over 6x + 2 is written for positive x");

/* The lines that add psi(q) and then -psi^2(q). */
static void pairs_finish(fq12 *f, struct pairs *s)
{
    struct line l;
    g2_affine q;
    for (size_t i = 0; i < s->n; i++) {
        g2_psi(&q, s->q[i]);
        line_add(&l, &s->t[i], &q);
        line_multiply(f, &l, s->p[i]);
        g2_psi(&q, &q);
        g2_affine_neg(&q, &q);
        line_add(&l, &s->t[i], &q);
        line_multiply(f, &l, s->p[i]);
    }
}
#else
/* A negative loop inverts f, which after the final exponentiation is conjugation. */
static void pairs_finish(fq12 *f, struct pairs *s)
{
    (void)s;
    if (CURVE_PARAM(X_NEGATIVE))
        fq12_conjugate(f, f);
}
#endif

static void miller(fq12 *f, struct pairs *s)
{
    static const uint64_t loop[] = {CURVE_PARAM(LOOP_ABS)};
    *f = fq12_one;
    for (size_t i = limbs_bits(loop, CURVE_PARAM(LOOP_LIMBS)) - 1; i-- > 0;) {
        fq12_sqr(f, f);
        pairs_double(f, s);
        if (loop[i / 64] >> (i % 64) & 1)
            pairs_add(f, s);
    }
    pairs_finish(f, s);
}

/* r = a^x, x the curve's parameter, a in the cyclotomic subgroup. */
static void pow_x(fq12 *r, const fq12 *a)
{
    const uint64_t x = CURVE_PARAM(X_ABS);
    fq12 base = *a;
    *r = base;
    for (int i = 63 - __builtin_clzll(x); i-- > 0;) {
        fq12_cyclotomic_sqr(r, r);
        if (x >> i & 1)
            fq12_mul(r, r, &base);
    }
    if (CURVE_PARAM(X_NEGATIVE))
        fq12_conjugate(r, r);
}

/* f = f^((q^6 - 1)(q^2 + 1)): into the cyclotomic subgroup. */
static void exponentiate_easy(fq12 *f)
{
    fq12 t;
    fq12_inv(&t, f);
    fq12_conjugate(f, f);
    fq12_mul(f, f, &t);
    fq12_frobenius(&t, f);
    fq12_frobenius(&t, &t);
    fq12_mul(f, f, &t);
}

#if CURVE_PARAM(FAMILY_BN)
/* f = f^(2x (6x^2 + 3x + 1) (q^4 - q^2 + 1)/r). Fuentes-Castaneda, Knapp, Rodriguez-Henriquez,
 * "Faster hashing to G2" (2012), section 5. */
static void exponentiate_hard(fq12 *f)
{
    fq12 f2x, f6x, f6xx, a, b, t;
    pow_x(&t, f);
    fq12_cyclotomic_sqr(&f2x, &t);
    fq12_cyclotomic_sqr(&t, &f2x);
    fq12_mul(&f6x, &t, &f2x);
    pow_x(&f6xx, &f6x);
    fq12_cyclotomic_sqr(&t, &f6xx);
    pow_x(&t, &t);
    fq12_mul(&a, &t, &f6xx);
    fq12_mul(&a, &a, &f6x); /* 12 x^3 + 6 x^2 + 6 x */
    fq12_conjugate(&t, &f2x);
    fq12_mul(&b, &a, &t); /* 12 x^3 + 6 x^2 + 4 x */
    fq12_mul(&t, &a, &f6xx);
    fq12_mul(&t, &t, f); /* 12 x^3 + 12 x^2 + 6 x + 1 */
    fq12_conjugate(f, f);
    fq12_mul(f, f, &b); /* 12 x^3 + 6 x^2 + 4 x - 1 */
    fq12_frobenius(f, f);
    fq12_mul(f, f, &a);
    fq12_frobenius(f, f);
    fq12_mul(f, f, &b);
    fq12_frobenius(f, f);
    fq12_mul(f, f, &t);
}
#else
/* f = f^(3 (q^4 - q^2 + 1)/r), where that exponent is (x - 1)^2 (x + q) (x^2 + q^2 - 1) + 3.
 * Hayashida, Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic structure for
 * pairings over families of elliptic curves" (2020). */
static void exponentiate_hard(fq12 *f)
{
    fq12 y, t;
    y = *f;
    for (int i = 0; i < 2; i++) {
        pow_x(&t, &y);
        fq12_conjugate(&y, &y);
        fq12_mul(&y, &y, &t);
    }
    pow_x(&t, &y);
    fq12_frobenius(&y, &y);
    fq12_mul(&y, &y, &t);
    pow_x(&t, &y);
    pow_x(&t, &t);
    fq12 z;
    fq12_frobenius(&z, &y);
    fq12_frobenius(&z, &z);
    fq12_mul(&t, &t, &z);
    fq12_conjugate(&y, &y);
    fq12_mul(&y, &y, &t);
    fq12_cyclotomic_sqr(&t, f);
    fq12_mul(&t, &t, f);
    fq12_mul(f, &y, &t);
}
#endif

static void product(fq12 *f, const g1_affine *p, const g2_affine *q, size_t n)
{
    struct pairs s;
    pairs_init(&s, p, q, n);
    miller(f, &s);
    exponentiate_easy(f);
    exponentiate_hard(f);
}

void pairing(fq12 *r, const g1_affine *p, const g2_affine *q)
{
    product(r, p, q, 1);
}

bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n)
{
    fq12 f;
    product(&f, p, q, n);
    return fq12_equal(&f, &fq12_one);
}
