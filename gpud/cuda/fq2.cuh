/* Fq2 = Fq[u] / (u^2 + 1), device twin of common/ff/fq2.h: c0 before c1 in memory. The names and
 * contracts of field.cuh, so that curves are written once for both. */
#ifndef PINION_CUDA_FQ2_CUH
#define PINION_CUDA_FQ2_CUH

#include "gpud/cuda/field.cuh"

template <class P>
struct field2 {
    using params = P;
    field<P> c0, c1;
};

using fq2_bn254 = field2<params_fq_bn254>;
using fq2_bls12_381 = field2<params_fq_bls12_381>;

template <class P>
INLINE void set_zero(field2<P> &r)
{
    set_zero(r.c0);
    set_zero(r.c1);
}

template <class P>
INLINE void set_one(field2<P> &r)
{
    set_one(r.c0);
    set_zero(r.c1);
}

template <class P>
INLINE bool is_zero(field2<P> a)
{
    return is_zero(a.c0) && is_zero(a.c1);
}

template <class P>
INLINE bool equal(field2<P> a, field2<P> b)
{
    return equal(a.c0, b.c0) && equal(a.c1, b.c1);
}

template <class P>
INLINE field2<P> add(field2<P> a, field2<P> b)
{
    return {add(a.c0, b.c0), add(a.c1, b.c1)};
}

template <class P>
INLINE field2<P> dbl(field2<P> a)
{
    return add(a, a);
}

template <class P>
INLINE field2<P> sub(field2<P> a, field2<P> b)
{
    return {sub(a.c0, b.c0), sub(a.c1, b.c1)};
}

template <class P>
INLINE field2<P> neg(field2<P> a)
{
    return {neg(a.c0), neg(a.c1)};
}

/* Four products under two reductions: as many multiplications as Karatsuba on reduced products, and
 * two sums instead of five. */
template <class P>
INLINE field2<P> mul(field2<P> a, field2<P> b)
{
    return {mul_add(a.c0, b.c0, neg_lazy(a.c1), b.c1), mul_add(a.c0, b.c1, a.c1, b.c0)};
}

/* (c0 + c1)(c0 - c1), 2 c0 c1. */
template <class P>
INLINE field2<P> sqr(field2<P> a)
{
    return {mul(add_lazy(a.c0, a.c1), sub(a.c0, a.c1)), dbl(mul(a.c0, a.c1))};
}

template <class P>
INLINE field2<P> from_canonical(field2<P> a)
{
    return {from_canonical(a.c0), from_canonical(a.c1)};
}

template <class P>
INLINE field2<P> to_canonical(field2<P> a)
{
    return {to_canonical(a.c0), to_canonical(a.c1)};
}

/* 1/a; 0 for a = 0. */
template <class P>
OUTLINE field2<P> inv(field2<P> a)
{
    field<P> n = inv(add(sqr(a.c0), sqr(a.c1)));
    return {mul(a.c0, n), neg(mul(a.c1, n))};
}

#endif
