/* Points of y^2 = x^3 + b over a field F (field.cuh, fq2.cuh), device twins of common/ec/group.inc.
 * b is never needed. The same lines run on the host.
 *
 * xyzz: x = X/ZZ, y = Y/ZZZ with ZZ^3 = ZZZ^2; infinity has ZZ = 0. Formulas: Sutherland's extended
 * Jacobian coordinates, add-2008-s, madd-2008-s, dbl-2008-s-1 of the Explicit-Formulas Database.
 * All of them are complete: infinite, equal and opposite operands are right. Affine infinity is
 * (0, 0), which is on no curve here. */
#ifndef PINION_CUDA_CURVE_CUH
#define PINION_CUDA_CURVE_CUH

#include "gpud/cuda/inverse.cuh"

/* Products inside the functions here are calls: code of a hundred products does not fit the
 * instruction cache, and takes minutes to compile. */
template <class P>
OUTLINE field<P> times(field<P> a, field<P> b)
{
    return mul(a, b);
}

template <class P>
OUTLINE field<P> square(field<P> a)
{
    return sqr(a);
}

template <class P>
OUTLINE field2<P> times(field2<P> a, field2<P> b)
{
    return mul(a, b);
}

template <class P>
OUTLINE field2<P> square(field2<P> a)
{
    return sqr(a);
}

/* Two independent products. */
template <class F>
struct products {
    F ab, cd;
};

template <class F>
INLINE products<F> times(const F &a, const F &b, const F &c, const F &d)
{
    return {times(a, b), times(c, d)};
}

template <class F>
struct affine {
    F x, y;
};

template <class F>
struct xyzz {
    F x, y, zz, zzz;
};

template <class F>
INLINE void set_infinity(affine<F> &r)
{
    set_zero(r.x);
    set_zero(r.y);
}

template <class F>
INLINE void set_infinity(xyzz<F> &r)
{
    set_zero(r.x);
    set_zero(r.y);
    set_zero(r.zz);
    set_zero(r.zzz);
}

template <class F>
INLINE bool is_infinity(const affine<F> &p)
{
    return is_zero(p.x) && is_zero(p.y);
}

template <class F>
INLINE bool is_infinity(const xyzz<F> &p)
{
    return is_zero(p.zz);
}

template <class F>
INLINE xyzz<F> to_xyzz(const affine<F> &p)
{
    xyzz<F> r;
    if (is_infinity(p)) {
        set_infinity(r);
        return r;
    }
    r.x = p.x;
    r.y = p.y;
    set_one(r.zz);
    set_one(r.zzz);
    return r;
}

/* With 1/ZZZ at hand: 1/Z = ZZ/ZZZ. */
template <class F>
INLINE affine<F> to_affine(const xyzz<F> &p, const F &zzz_inverse)
{
    F z = times(p.zz, zzz_inverse);
    return {times(p.x, square(z)), times(p.y, zzz_inverse)};
}

template <class F>
OUTLINE affine<F> to_affine(const xyzz<F> &p)
{
    return to_affine(p, inverse(p.zzz)); /* infinity: 1/0 is 0 */
}

/* r = 2 p; 9 products. */
template <class F>
OUTLINE void point_double(xyzz<F> &r, const xyzz<F> &p)
{
    F u = dbl(p.y);
    products<F> squares = times(u, u, p.x, p.x);            /* V, x^2 */
    products<F> ws = times(u, squares.ab, p.x, squares.ab); /* W, S */
    F m = add(dbl(squares.cd), squares.cd);
    products<F> next = times(m, m, squares.ab, p.zz);
    F x = sub(next.ab, dbl(ws.cd));
    products<F> y = times(m, sub(ws.cd, x), ws.ab, p.y);
    r.zzz = times(ws.ab, p.zzz);
    r.zz = next.cd;
    r.x = x;
    r.y = sub(y.ab, y.cd);
}

/* The end of an addition: operands on a common denominator, (u1, s1) and its differences h and d to
 * the other one. zz, zzz are the denominators. h is not 0. 8 products. */
template <class F>
INLINE void point_add_end(xyzz<F> &r, const F &u1, const F &s1, const F &h, const F &d, const F &zz,
                          const F &zzz)
{
    products<F> squares = times(h, h, d, d);
    products<F> hq = times(squares.ab, h, squares.ab, u1); /* h^3, Q */
    F x = sub(sub(squares.cd, hq.ab), dbl(hq.cd));
    products<F> denominators = times(zz, squares.ab, zzz, hq.ab);
    products<F> y = times(d, sub(hq.cd, x), s1, hq.ab);
    r.zz = denominators.ab;
    r.zzz = denominators.cd;
    r.x = x;
    r.y = sub(y.ab, y.cd);
}

/* r += q; 10 products. */
template <class F>
OUTLINE void point_add(xyzz<F> &r, const affine<F> &q)
{
    if (is_infinity(q))
        return;
    if (is_infinity(r)) {
        r = to_xyzz(q);
        return;
    }
    products<F> other = times(q.x, r.zz, q.y, r.zzz);
    F h = sub(other.ab, r.x), d = sub(other.cd, r.y);
    if (!is_zero(h))
        point_add_end(r, F(r.x), F(r.y), h, d, F(r.zz), F(r.zzz));
    else if (is_zero(d))
        point_double(r, xyzz<F>(r));
    else
        set_infinity(r);
}

/* r += q; 14 products. */
template <class F>
OUTLINE void point_add(xyzz<F> &r, const xyzz<F> &q)
{
    if (is_infinity(q))
        return;
    if (is_infinity(r)) {
        r = q;
        return;
    }
    products<F> u = times(r.x, q.zz, q.x, r.zz), s = times(r.y, q.zzz, q.y, r.zzz);
    F h = sub(u.cd, u.ab), d = sub(s.cd, s.ab);
    if (!is_zero(h)) {
        products<F> denominators = times(r.zz, q.zz, r.zzz, q.zzz);
        point_add_end(r, u.ab, s.ab, h, d, denominators.ab, denominators.cd);
    } else if (is_zero(d)) {
        point_double(r, xyzz<F>(r));
    } else {
        set_infinity(r);
    }
}

/* Affine additions with a shared inversion, Montgomery (1987): slope_denominator gives what is to
 * be inverted, never 0; add_with_inverse takes its inverse. */

template <class F>
OUTLINE F slope_denominator_same_x(const F &y1, const F &y2)
{
    F d;
    if (equal(y1, y2) && !is_zero(y1))
        d = dbl(y1);
    else
        set_one(d);
    return d;
}

/* p + q, x equal. */
template <class F>
OUTLINE affine<F> add_same_x(const affine<F> &p, const affine<F> &q, const F &inverse)
{
    affine<F> r;
    if (is_infinity(p))
        return q;
    if (is_infinity(q))
        return p;
    if (!equal(p.y, q.y) || is_zero(p.y)) {
        set_infinity(r);
        return r;
    }
    F xx = square(p.x), slope = times(add(dbl(xx), xx), inverse);
    r.x = sub(square(slope), dbl(p.x));
    r.y = sub(times(slope, sub(p.x, r.x)), p.y);
    return r;
}

/* p + q; inverse of q.x - p.x, which is d. 2 M + 1 S. */
template <class F>
INLINE affine<F> add_with_inverse(const affine<F> &p, const affine<F> &q, const F &d,
                                  const F &inverse)
{
    if (is_zero(d))
        return add_same_x(p, q, inverse);
    if (is_infinity(p))
        return q;
    if (is_infinity(q))
        return p;
    affine<F> r;
    F slope = mul(sub(q.y, p.y), inverse);
    r.x = sub(sub(sqr(slope), p.x), q.x);
    r.y = sub(mul(slope, sub(p.x, r.x)), p.y);
    return r;
}

#endif
