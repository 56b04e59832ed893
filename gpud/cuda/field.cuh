/* Prime fields on 32-bit limbs, device twins of common/ff: the same Montgomery representation with
 * R = 2^(32 N), so that bytes are exchanged unchanged. The same lines run on the host.
 *
 * Operands are taken by value: the compiler reads memory again after each of the volatile
 * instructions of carry.cuh. A value is below p and kept as a R mod p, except where a function says
 * lazy. Products keep two accumulators, one of the columns of even and one of odd weight: then the
 * 64-bit products of a row line up without overlap and each row is one carry chain. Koc, Acar,
 * Kaliski, "Analyzing and comparing Montgomery multiplication algorithms" (1996), CIOS; the split
 * after Emmart, Zheng, Weems, "Faster modular exponentiation using double precision floating point
 * arithmetic on the GPU" (2018), section II. */
#ifndef PINION_CUDA_FIELD_CUH
#define PINION_CUDA_FIELD_CUH

#include "gpud/cuda/carry.cuh"

#define INVERSE_CALL static INLINE
#include "common/ff/inverse.h"

template <class P>
struct alignas(P::N % 4 == 0 ? 16 : 8) field {
    using params = P;
    static constexpr int N = P::N;
    uint32_t l[P::N];
};

using fr_bn254 = field<params_fr_bn254>;
using fq_bn254 = field<params_fq_bn254>;
using fr_bls12_381 = field<params_fr_bls12_381>;
using fq_bls12_381 = field<params_fq_bls12_381>;

template <class P>
INLINE void set_zero(field<P> &r)
{
    UNROLL
    for (int i = 0; i < P::N; i++)
        r.l[i] = 0;
}

template <class P>
INLINE void set_one(field<P> &r)
{
    UNROLL
    for (int i = 0; i < P::N; i++)
        r.l[i] = P::one(i);
}

template <class P>
INLINE bool is_zero(field<P> a)
{
    uint32_t x = 0;
    UNROLL
    for (int i = 0; i < P::N; i++)
        x |= a.l[i];
    return x == 0;
}

template <class P>
INLINE bool equal(field<P> a, field<P> b)
{
    uint32_t x = 0;
    UNROLL
    for (int i = 0; i < P::N; i++)
        x |= a.l[i] ^ b.l[i];
    return x == 0;
}

/* Whether the limbs, read as an integer, are below p. */
template <class P>
INLINE bool is_reduced(field<P> a)
{
    sub_cc(a.l[0], P::modulus(0));
    UNROLL
    for (int i = 1; i < P::N; i++)
        subc_cc(a.l[i], P::modulus(i));
    return subc(0, 0) != 0;
}

/* a - p where that is not negative, else a. For a < 2p: reduced. */
template <class P>
INLINE field<P> reduce_once(field<P> a)
{
    field<P> d;
    d.l[0] = sub_cc(a.l[0], P::modulus(0));
    UNROLL
    for (int i = 1; i < P::N; i++)
        d.l[i] = subc_cc(a.l[i], P::modulus(i));
    uint32_t keep = subc(0, 0);
    UNROLL
    for (int i = 0; i < P::N; i++)
        d.l[i] = keep ? a.l[i] : d.l[i];
    return d;
}

/* a + b as integers: lazy, below 2^(32 N) where the sum is. */
template <class P>
INLINE field<P> add_lazy(field<P> a, field<P> b)
{
    field<P> s;
    s.l[0] = add_cc(a.l[0], b.l[0]);
    UNROLL
    for (int i = 1; i < P::N - 1; i++)
        s.l[i] = addc_cc(a.l[i], b.l[i]);
    s.l[P::N - 1] = addc(a.l[P::N - 1], b.l[P::N - 1]);
    return s;
}

template <class P>
INLINE field<P> add(field<P> a, field<P> b)
{
    return reduce_once(add_lazy(a, b));
}

template <class P>
INLINE field<P> dbl(field<P> a)
{
    return add(a, a);
}

template <class P>
INLINE field<P> sub(field<P> a, field<P> b)
{
    field<P> d;
    d.l[0] = sub_cc(a.l[0], b.l[0]);
    UNROLL
    for (int i = 1; i < P::N; i++)
        d.l[i] = subc_cc(a.l[i], b.l[i]);
    uint32_t back = subc(0, 0);
    d.l[0] = add_cc(d.l[0], back & P::modulus(0));
    UNROLL
    for (int i = 1; i < P::N - 1; i++)
        d.l[i] = addc_cc(d.l[i], back & P::modulus(i));
    d.l[P::N - 1] = addc(d.l[P::N - 1], back & P::modulus(P::N - 1));
    return d;
}

/* p - a: below or, for a = 0, equal to p; lazy. Good as a factor. */
template <class P>
INLINE field<P> neg_lazy(field<P> a)
{
    field<P> d;
    d.l[0] = sub_cc(P::modulus(0), a.l[0]);
    UNROLL
    for (int i = 1; i < P::N - 1; i++)
        d.l[i] = subc_cc(P::modulus(i), a.l[i]);
    d.l[P::N - 1] = subc(P::modulus(P::N - 1), a.l[P::N - 1]);
    return d;
}

template <class P>
INLINE field<P> neg(field<P> a)
{
    field<P> d = neg_lazy(a);
    bool zero = is_zero(a);
    UNROLL
    for (int i = 0; i < P::N; i++)
        d.l[i] = zero ? 0 : d.l[i];
    return d;
}

/* Rows of a product. acc is a run of columns, two a product; a(j) the limb of weight j. */

/* The modulus, from limb first on, as a row's operand; and limbs in registers. */
template <class P>
struct row_modulus {
    int first;
    INLINE uint32_t operator()(int j) const
    {
        return P::modulus(first + j);
    }
};

struct row_limbs {
    const uint32_t *l;
    INLINE uint32_t operator()(int j) const
    {
        return l[j];
    }
};

/* acc = sum of a(j) b 2^(32 j) over even j < N. */
template <int N, class A>
INLINE void row_set(uint32_t *acc, A a, uint32_t b)
{
    UNROLL
    for (int j = 0; j < N; j += 2) {
        acc[j] = mul_lo(a(j), b);
        acc[j + 1] = mul_hi(a(j), b);
    }
}

/* The same added to acc; sets the carry flag. */
template <int N, class A>
INLINE void row_add(uint32_t *acc, A a, uint32_t b)
{
    acc[0] = mad_lo_cc(a(0), b, acc[0]);
    acc[1] = madc_hi_cc(a(0), b, acc[1]);
    UNROLL
    for (int j = 2; j < N; j += 2) {
        acc[j] = madc_lo_cc(a(j), b, acc[j]);
        acc[j + 1] = madc_hi_cc(a(j), b, acc[j + 1]);
    }
}

/* acc = (acc >> 64) + the row + the carry flag. */
template <int N, class A>
INLINE void row_shift_add(uint32_t *acc, A a, uint32_t b)
{
    UNROLL
    for (int j = 0; j < N - 2; j += 2) {
        acc[j] = madc_lo_cc(a(j), b, acc[j + 2]);
        acc[j + 1] = madc_hi_cc(a(j), b, acc[j + 3]);
    }
    acc[N - 2] = madc_lo_cc(a(N - 2), b, 0);
    acc[N - 1] = madc_hi(a(N - 2), b, 0);
}

/* Adds a multiple of p that clears even[0]. even + odd 2^32 is the accumulator. */
template <class P>
INLINE void row_reduce(uint32_t *even, uint32_t *odd)
{
    uint32_t m = mul_lo(even[0], P::NEG_INV);
    row_add<P::N>(odd, row_modulus<P>{1}, m);
    row_add<P::N>(even, row_modulus<P>{0}, m);
    odd[P::N - 1] = addc(odd[P::N - 1], 0);
}

/* Accumulator / 2^32, which swaps the parts, plus a b. */
template <class P>
INLINE void row_product(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    even[0] = add_cc(even[0], odd[1]);
    row_shift_add<P::N>(odd, row_limbs{a + 1}, b);
    row_add<P::N>(even, row_limbs{a}, b);
    odd[P::N - 1] = addc(odd[P::N - 1], 0);
}

/* Adds a b without shifting. */
template <class P>
INLINE void row_product_more(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    row_add<P::N>(odd, row_limbs{a + 1}, b);
    row_add<P::N>(even, row_limbs{a}, b);
    odd[P::N - 1] = addc(odd[P::N - 1], 0);
}

/* The accumulator after N rows: odd is the part of weight 1, even has its lowest limb cleared. */
template <class P>
INLINE field<P> row_merge(const uint32_t *low, const uint32_t *cleared)
{
    field<P> r;
    r.l[0] = add_cc(low[0], cleared[1]);
    UNROLL
    for (int i = 1; i < P::N - 1; i++)
        r.l[i] = addc_cc(low[i], cleared[i + 1]);
    r.l[P::N - 1] = addc(low[P::N - 1], 0);
    return r;
}

/* a b / R: lazy, below p + a b / R. Requires a + p < R. */
template <class P>
INLINE field<P> mul_lazy(field<P> a, field<P> b)
{
    uint32_t x[P::N], y[P::N];
    row_set<P::N>(y, row_limbs{a.l + 1}, b.l[0]);
    row_set<P::N>(x, row_limbs{a.l}, b.l[0]);
    row_reduce<P>(x, y);
    UNROLL
    for (int i = 1; i < P::N; i += 2) {
        row_product<P>(y, x, a.l, b.l[i]);
        row_reduce<P>(y, x);
        if (i + 1 < P::N) {
            row_product<P>(x, y, a.l, b.l[i + 1]);
            row_reduce<P>(x, y);
        }
    }
    return row_merge<P>(x, y);
}

/* a b / R, reduced. Requires a + p < R and a b < p R: b may be any integer below R where a is
 * reduced; both may be below 2p where 4 p < R. */
template <class P>
INLINE field<P> mul(field<P> a, field<P> b)
{
    return reduce_once(mul_lazy(a, b));
}

/* (a b + c d) / R under one reduction: lazy, below p + (a b + c d) / R. Requires
 * a + c + p < R. */
template <class P>
INLINE field<P> mul_add_lazy(field<P> a, field<P> b, field<P> c, field<P> d)
{
    uint32_t x[P::N], y[P::N];
    row_set<P::N>(y, row_limbs{a.l + 1}, b.l[0]);
    row_set<P::N>(x, row_limbs{a.l}, b.l[0]);
    row_product_more<P>(x, y, c.l, d.l[0]);
    row_reduce<P>(x, y);
    UNROLL
    for (int i = 1; i < P::N; i += 2) {
        row_product<P>(y, x, a.l, b.l[i]);
        row_product_more<P>(y, x, c.l, d.l[i]);
        row_reduce<P>(y, x);
        if (i + 1 < P::N) {
            row_product<P>(x, y, a.l, b.l[i + 1]);
            row_product_more<P>(x, y, c.l, d.l[i + 1]);
            row_reduce<P>(x, y);
        }
    }
    return row_merge<P>(x, y);
}

/* (a b + c d) / R, reduced: factors at most p, and 3 p < R (not the scalar field of BLS12-381). */
template <class P>
INLINE field<P> mul_add(field<P> a, field<P> b, field<P> c, field<P> d)
{
    return reduce_once(mul_add_lazy(a, b, c, d));
}

/* The products a_i a_j, i < j, of odd (first = 1) or even (first = 2) column, in w[2 N], which is
 * zero before. A row's last carry meets a column that is still empty. */
template <int N>
INLINE void square_cross(uint32_t *w, const uint32_t *a, int first)
{
    UNROLL
    for (int i = 0; i < N - first; i++) {
        bool fresh = true;
        UNROLL
        for (int j = i + first; j < N; j += 2) {
            w[i + j] = fresh ? mad_lo_cc(a[i], a[j], w[i + j]) : madc_lo_cc(a[i], a[j], w[i + j]);
            w[i + j + 1] = madc_hi_cc(a[i], a[j], w[i + j + 1]);
            fresh = false;
        }
        int top = i + first + (N - 1 - i - first) / 2 * 2 + i + 2;
        if (top < 2 * N)
            w[top] = addc(w[top], 0);
    }
}

/* w = a^2, 2 N limbs: every cross product once. */
template <int N>
INLINE void square_wide(uint32_t *w, const uint32_t *a)
{
    uint32_t odd[2 * N];
    UNROLL
    for (int i = 0; i < 2 * N; i++)
        w[i] = odd[i] = 0;
    square_cross<N>(w, a, 2);
    square_cross<N>(odd, a, 1);
    w[1] = add_cc(w[1], odd[1]);
    UNROLL
    for (int i = 2; i < 2 * N - 1; i++)
        w[i] = addc_cc(w[i], odd[i]);
    w[2 * N - 1] = addc(w[2 * N - 1], odd[2 * N - 1]);
    w[1] = add_cc(w[1], w[1]);
    UNROLL
    for (int i = 2; i < 2 * N - 1; i++)
        w[i] = addc_cc(w[i], w[i]);
    w[2 * N - 1] = addc(w[2 * N - 1], w[2 * N - 1]);
    w[0] = mad_lo_cc(a[0], a[0], w[0]);
    w[1] = madc_hi_cc(a[0], a[0], w[1]);
    UNROLL
    for (int i = 1; i < N - 1; i++) {
        w[2 * i] = madc_lo_cc(a[i], a[i], w[2 * i]);
        w[2 * i + 1] = madc_hi_cc(a[i], a[i], w[2 * i + 1]);
    }
    w[2 * N - 2] = madc_lo_cc(a[N - 1], a[N - 1], w[2 * N - 2]);
    w[2 * N - 1] = madc_hi(a[N - 1], a[N - 1], w[2 * N - 1]);
}

/* Accumulator / 2^32 plus the multiple of p that clears its lowest limb. */
template <class P>
INLINE void row_shift_reduce(uint32_t *even, uint32_t *odd)
{
    even[0] = add_cc(even[0], odd[1]);
    uint32_t m = mul_lo(even[0], P::NEG_INV);
    row_shift_add<P::N>(odd, row_modulus<P>{1}, m);
    row_add<P::N>(even, row_modulus<P>{0}, m);
    odd[P::N - 1] = addc(odd[P::N - 1], 0);
}

/* w / R for 2 N limbs w: lazy, at most p + w / R, which must be below 2^(32 N). */
template <class P>
INLINE field<P> reduce_wide_lazy(const uint32_t *w)
{
    uint32_t x[P::N], y[P::N];
    UNROLL
    for (int i = 0; i < P::N; i++)
        x[i] = w[i];
    uint32_t m = mul_lo(x[0], P::NEG_INV);
    row_set<P::N>(y, row_modulus<P>{1}, m);
    row_add<P::N>(x, row_modulus<P>{0}, m);
    y[P::N - 1] = addc(y[P::N - 1], 0);
    UNROLL
    for (int i = 1; i < P::N; i += 2) {
        row_shift_reduce<P>(y, x);
        if (i + 1 < P::N)
            row_shift_reduce<P>(x, y);
    }
    field<P> low = row_merge<P>(x, y), high;
    UNROLL
    for (int i = 0; i < P::N; i++)
        high.l[i] = w[P::N + i];
    return add_lazy(low, high);
}

/* a^2 / R: lazy, as mul_lazy. */
template <class P>
INLINE field<P> sqr_lazy(field<P> a)
{
    uint32_t w[2 * P::N];
    square_wide<P::N>(w, a.l);
    return reduce_wide_lazy<P>(w);
}

template <class P>
INLINE field<P> sqr(field<P> a)
{
    return reduce_once(sqr_lazy(a));
}

/* The element of the integer a; any a below R. */
template <class P>
INLINE field<P> from_canonical(field<P> a)
{
    field<P> r2;
    UNROLL
    for (int i = 0; i < P::N; i++)
        r2.l[i] = P::r2(i);
    return mul(r2, a);
}

/* a / R, the integer of the element a, below p: a reduction without a product. */
template <class P>
INLINE field<P> to_canonical(field<P> a)
{
    uint32_t w[2 * P::N];
    UNROLL
    for (int i = 0; i < P::N; i++) {
        w[i] = a.l[i];
        w[P::N + i] = 0;
    }
    return reduce_once(reduce_wide_lazy<P>(w));
}

/* 1/a; 0 for a = 0. Divsteps: rarely run, long, never inlined. */
template <class P>
OUTLINE field<P> inv(field<P> a)
{
    uint64_t p[P::LIMBS64], x[P::LIMBS64], y[P::LIMBS64];
    field<P> r3, t;
    for (int i = 0; i < P::LIMBS64; i++) {
        p[i] = P::modulus64(i);
        x[i] = (uint64_t)a.l[2 * i + 1] << 32 | a.l[2 * i];
        y[i] = 0;
    }
    inverse_compute(y, x, p, P::NEG_INV64, P::LIMBS64, P::BITS);
    UNROLL
    for (int i = 0; i < P::N; i++) {
        t.l[i] = (uint32_t)(y[i / 2] >> (32 * (i % 2)));
        r3.l[i] = P::r3(i);
    }
    return mul(t, r3);
}

#endif
