/* Whether points of the curve and its twist have the order r of the pairing groups, by
 * endomorphisms: one or two multiplications by the 64-bit parameter x in place of one by r. */
#include "common/ec/pairing.h"
#include "common/ec/psi.h"

static const uint64_t x_abs = CURVE_PARAM(X_ABS);

/* r = |x| p. Plain doubling and adding: a table would cost more than the few bits of x. */
static void g2_mul_x(g2 *r, const g2_affine *p)
{
    g2_from_affine(r, p);
    for (size_t i = limbs_bits(&x_abs, 1) - 1; i-- > 0;) {
        g2_double(r, r);
        if (x_abs >> i & 1)
            g2_add_affine(r, r, p);
    }
}

#if CURVE_PARAM(FAMILY_BN)
/* The curve over Fq has exactly r points. */
bool g1_in_subgroup(const g1_affine *p)
{
    (void)p;
    return true;
}

/* (x + 1) p + psi(x p) + psi^2(x p) = psi^3(2x p). Dai, Lin, Zhao, Zhou, "Fast subgroup membership
 * testings for G1, G2 and GT on pairing-friendly curves" (2022), section 4.2. With z(psi) = (x + 1)
 * + x psi + x psi^2 - 2x psi^3 and psi^2 - t psi + q = 0 such a point is killed by the norm of z
 * and by the order of the twist; their greatest common divisor is r for BN254 and for the toy
 * curve. */
bool g2_in_subgroup(const g2_affine *p)
{
    g2 twice, sum;
    g2_affine a;
    g2_mul_x(&sum, p);
    g2_to_affine(&a, &sum);
    g2_add_affine(&sum, &sum, p);
    for (int i = 0; i < 2; i++) {
        g2_psi(&a, &a);
        g2_add_affine(&sum, &sum, &a);
    }
    g2_psi(&a, &a);
    g2_from_affine(&twice, &a);
    g2_double(&twice, &twice);
    return g2_equal(&sum, &twice);
}
#else
/* r = |x| r. */
static void g1_mul_x(g1 *r)
{
    const g1 base = *r;
    for (size_t i = limbs_bits(&x_abs, 1) - 1; i-- > 0;) {
        g1_double(r, r);
        if (x_abs >> i & 1)
            g1_add(r, r, &base);
    }
}

/* phi(p) = -x^2 p, phi(x, y) = (beta x, y). Scott, "A note on group membership tests for G1, G2 and
 * GT on BLS pairing-friendly curves" (2021). phi^2 + phi + 1 = 0 on the whole curve, so such a
 * point is killed by x^4 - x^2 + 1 = r. */
bool g1_in_subgroup(const g1_affine *p)
{
    static const fq beta = {{CURVE_PARAM(FQ_CUBE_ROOT)}};
    g1_affine a = *p;
    g1 t;
    fq_mul(&a.x, &a.x, &beta);
    g1_from_affine(&t, p);
    for (int i = 0; i < 2; i++)
        g1_mul_x(&t);
    g1_add_affine(&t, &t, &a);
    return g1_is_infinity(&t);
}

/* psi(p) = x p. Same source. psi^2 - t psi + q = 0, so such a point is killed by q - x = (x -
 * 1)^2/3 r; the twist's cofactor has no divisor in common with (x - 1)^2/3, for BLS12-381 and for
 * the toy curve. */
bool g2_in_subgroup(const g2_affine *p)
{
    g2_affine a;
    g2 t;
    g2_psi(&a, p);
    if (!CURVE_PARAM(X_NEGATIVE))
        g2_affine_neg(&a, &a);
    g2_mul_x(&t, p);
    g2_add_affine(&t, &t, &a);
    return g2_is_infinity(&t);
}
#endif
