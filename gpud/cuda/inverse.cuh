/* The inverse in a prime field, for threads in step: no branch depends on the value but the end.
 *
 * Bernstein, Yang, "Fast constant-time gcd computation and modular inversion" (2019), in batches of
 * 30 divsteps whose effect is one 2 x 2 matrix; delta starts at 1/2, which takes fewer steps
 * (Wuille, "Bounds on divsteps iterations in safegcd", 2021). Integers are signed: limbs of 30
 * bits, all but the top one nonnegative. common/ff/inverse.h is the host's, which skips zeros
 * instead. */
#ifndef PINION_CUDA_INVERSE_CUH
#define PINION_CUDA_INVERSE_CUH

#include "gpud/cuda/fq2.cuh"

namespace divsteps
{

enum { BITS = 30 };
constexpr int32_t MASK = (1 << BITS) - 1;

/* Limbs for values below 2p in absolute value. */
template <class P>
HOST_DEVICE constexpr int limbs()
{
    return (P::BITS + 2 + BITS - 1) / BITS;
}

/* Limb i of p. */
template <class P>
HOST_DEVICE constexpr int32_t modulus(int i)
{
    int at = BITS * i, word = at / 64, shift = at % 64;
    uint64_t low = word < P::LIMBS64 ? P::modulus64(word) >> shift : 0;
    uint64_t high =
        shift > 64 - BITS && word + 1 < P::LIMBS64 ? P::modulus64(word + 1) << (64 - shift) : 0;
    return (int32_t)((low | high) & MASK);
}

/* (f, g) -> (u f + v g, q f + r g) / 2^30; the absolute values of a row sum to at most 2^30. */
struct matrix {
    int32_t u, v, q, r;
};

/* 30 steps on the low bits of f, odd, and g. eta is -delta - 1/2. */
INLINE int32_t steps(matrix &m, int32_t eta, uint32_t f, uint32_t g)
{
    uint32_t u = 1, v = 0, q = 0, r = 1;
    UNROLL
    for (int i = 0; i < BITS; i++) {
        /* g odd: g + f or, where delta is positive, g - f, and then the old g takes the place of f
         */
        uint32_t odd = g & 1, positive = (uint32_t)eta >> 31;
        uint32_t swap = odd & positive, sign = odd - 2 * swap;
        g += f * sign;
        q += u * sign;
        r += v * sign;
        f += g * swap;
        u += q * swap;
        v += r * swap;
        eta = (int32_t)((uint32_t)eta ^ (0u - swap)) - 1;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    m = {(int32_t)u, (int32_t)v, (int32_t)q, (int32_t)r};
    return eta;
}

/* (f, g) = m (f, g): exact. */
template <int N>
INLINE void apply(int32_t *f, int32_t *g, const matrix &m)
{
    int64_t x = 0, y = 0;
    UNROLL
    for (int i = 0; i < N; i++) {
        x += (int64_t)m.u * f[i] + (int64_t)m.v * g[i];
        y += (int64_t)m.q * f[i] + (int64_t)m.r * g[i];
        if (i > 0) {
            f[i - 1] = (int32_t)x & MASK;
            g[i - 1] = (int32_t)y & MASK;
        }
        x >>= BITS;
        y >>= BITS;
    }
    f[N - 1] = (int32_t)x;
    g[N - 1] = (int32_t)y;
}

/* (d, e) = m (d, e) modulo p. Both stay in (-2p, p): lifted by p where negative they are in (-p,
 * p), and a multiple of p in (-2^30 p, 0] makes the sums divisible. */
template <class P>
INLINE void apply_mod(int32_t *d, int32_t *e, const matrix &m)
{
    constexpr int N = limbs<P>();
    const uint32_t inverse = 0u - P::NEG_INV;
    int32_t ds = d[N - 1] >> 31, es = e[N - 1] >> 31;
    int32_t kx = (m.u & ds) + (m.v & es), ky = (m.q & ds) + (m.r & es);
    int64_t x = (int64_t)m.u * d[0] + (int64_t)m.v * e[0];
    int64_t y = (int64_t)m.q * d[0] + (int64_t)m.r * e[0];
    kx -= (int32_t)(inverse * (uint32_t)x + (uint32_t)kx) & MASK;
    ky -= (int32_t)(inverse * (uint32_t)y + (uint32_t)ky) & MASK;
    x = (x + (int64_t)modulus<P>(0) * kx) >> BITS;
    y = (y + (int64_t)modulus<P>(0) * ky) >> BITS;
    UNROLL
    for (int i = 1; i < N; i++) {
        x += (int64_t)m.u * d[i] + (int64_t)m.v * e[i] + (int64_t)modulus<P>(i) * kx;
        y += (int64_t)m.q * d[i] + (int64_t)m.r * e[i] + (int64_t)modulus<P>(i) * ky;
        d[i - 1] = (int32_t)x & MASK;
        e[i - 1] = (int32_t)y & MASK;
        x >>= BITS;
        y >>= BITS;
    }
    d[N - 1] = (int32_t)x;
    e[N - 1] = (int32_t)y;
}

/* r = -r where sign is -1, r where it is 0, and p more where that is negative. */
template <class P>
INLINE void normalize(int32_t *r, int32_t sign)
{
    constexpr int N = limbs<P>();
    int32_t carry = 0;
    UNROLL
    for (int i = 0; i < N; i++) {
        carry += (r[i] ^ sign) - sign;
        r[i] = i == N - 1 ? carry : carry & MASK;
        carry >>= BITS;
    }
    int32_t lift = r[N - 1] >> 31;
    carry = 0;
    UNROLL
    for (int i = 0; i < N; i++) {
        carry += r[i] + (modulus<P>(i) & lift);
        r[i] = i == N - 1 ? carry : carry & MASK;
        carry >>= BITS;
    }
}

template <class P>
INLINE void import(int32_t *r, const field<P> &a)
{
    UNROLL
    for (int i = 0; i < limbs<P>(); i++) {
        int at = BITS * i, word = at / 32, shift = at % 32;
        uint32_t x = word < P::N ? a.l[word] >> shift : 0;
        if (shift > 32 - BITS && word + 1 < P::N)
            x |= a.l[word + 1] << (32 - shift);
        r[i] = (int32_t)(x & MASK);
    }
}

template <class P>
INLINE field<P> to_field(const int32_t *a)
{
    field<P> r;
    UNROLL
    for (int i = 0; i < P::N; i++) {
        int at = 32 * i, limb = at / BITS, shift = at % BITS;
        uint32_t x = (uint32_t)a[limb] >> shift;
        x |= (uint32_t)a[limb + 1] << (BITS - shift);
        if (2 * BITS - shift < 32 && limb + 2 < limbs<P>())
            x |= (uint32_t)a[limb + 2] << (2 * BITS - shift);
        r.l[i] = x;
    }
    return r;
}

} // namespace divsteps

/* 1/a; 0 for a = 0. */
template <class P>
OUTLINE field<P> inverse(const field<P> &a)
{
    constexpr int N = divsteps::limbs<P>();
    int32_t f[N], g[N], d[N], e[N], eta = -1, any = 1;
    divsteps::import(g, a);
    UNROLL
    for (int i = 0; i < N; i++) {
        f[i] = divsteps::modulus<P>(i);
        d[i] = 0;
        e[i] = i == 0;
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    while (any != 0) {
        divsteps::matrix m;
        eta = divsteps::steps(m, eta, (uint32_t)f[0] | (uint32_t)f[1] << divsteps::BITS,
                              (uint32_t)g[0] | (uint32_t)g[1] << divsteps::BITS);
        divsteps::apply<N>(f, g, m);
        divsteps::apply_mod<P>(d, e, m);
        any = 0;
        UNROLL
        for (int i = 0; i < N; i++)
            any |= g[i];
    }
    /* f is 1 or -1, and d a = f. */
    divsteps::normalize<P>(d, 0);
    divsteps::normalize<P>(d, f[N - 1] >> 31);
    field<P> r3;
    UNROLL
    for (int i = 0; i < P::N; i++)
        r3.l[i] = P::r3(i);
    return mul(divsteps::to_field<P>(d), r3);
}

template <class P>
OUTLINE field2<P> inverse(const field2<P> &a)
{
    field<P> n = inverse(add(sqr(a.c0), sqr(a.c1)));
    return {mul(a.c0, n), neg(mul(a.c1, n))};
}

#endif
