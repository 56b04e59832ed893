/* Products by constants, for transforms: with the quotient of the constant by the modulus known in
 * advance, a product costs three halves of a full one instead of two full ones. Values are lazy:
 * integers below 2p, any representation; the factor is plain, so that products keep the
 * representation. Requires 4 p < 2^(32 N + 1), which every field here satisfies.
 *
 * Shoup, NTL; Harvey, "Faster arithmetic for number-theoretic transforms" (2014), section 3. */
#ifndef PINION_CUDA_SHOUP_CUH
#define PINION_CUDA_SHOUP_CUH

#include "gpud/cuda/field.cuh"

/* w below p, and q = floor(w R / p). */
template <class P>
struct shoup {
    field<P> w, q;
};

/* From the Montgomery form m = w R mod p: reducing m adds multiples of p that make up
 * -m / p mod R, which is q, and leaves w. */
template <class P>
OUTLINE shoup<P> shoup_prepare(field<P> m)
{
    shoup<P> s;
    uint32_t x[P::N + 1];
    for (int i = 0; i < P::N; i++)
        x[i] = m.l[i];
    x[P::N] = 0;
    for (int i = 0; i < P::N; i++) {
        uint32_t f = x[0] * P::NEG_INV;
        uint64_t t = (uint64_t)f * P::modulus(0) + x[0];
        s.q.l[i] = f;
        for (int j = 1; j < P::N; j++) {
            t = (uint64_t)f * P::modulus(j) + x[j] + (t >> 32);
            x[j - 1] = (uint32_t)t;
        }
        t = (uint64_t)x[P::N] + (t >> 32);
        x[P::N - 1] = (uint32_t)t;
        x[P::N] = (uint32_t)(t >> 32);
    }
    for (int i = 0; i < P::N; i++)
        s.w.l[i] = x[i];
    return s;
}

/* Multiples of the modulus, for constexpr variables: as such each limb is an immediate operand. */
template <class P>
HOST_DEVICE constexpr field<P> modulus_twice()
{
    field<P> r = {};
    uint64_t t = 0;
    for (int i = 0; i < P::N; i++) {
        t = (t >> 32) + (uint64_t)P::modulus(i) * 2;
        r.l[i] = (uint32_t)t;
    }
    return r;
}

/* R - p. p is odd: the carry ends in the first limb. */
template <class P>
HOST_DEVICE constexpr field<P> modulus_complement()
{
    field<P> r = {};
    for (int i = 0; i < P::N; i++)
        r.l[i] = ~P::modulus(i) + (i == 0 ? 1U : 0U);
    return r;
}

/* One row of a chain: acc[at..] += a[from] b, a[from + 2] b, ... while the index stays below end;
 * sets the flag. */
INLINE void chain_add(uint32_t *acc, int at, const uint32_t *a, int from, int end, uint32_t b)
{
    UNROLL
    for (int j = from; j < end; j += 2) {
        int k = at + j - from;
        acc[k] = j == from ? mad_lo_cc(a[j], b, acc[k]) : madc_lo_cc(a[j], b, acc[k]);
        acc[k + 1] = madc_hi_cc(a[j], b, acc[k + 1]);
    }
}

/* floor(a b / R), or one less where the columns that are left out would have carried: they weigh
 * less than R / 2^28. */
template <int N>
INLINE void multiply_high(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    uint32_t even[N], odd[N + 1]; /* columns from N and from N - 1 on */
    uint64_t carried = 0;         /* high halves of column N - 2 */
    UNROLL
    for (int i = 0; i < N - 1; i++)
        carried += mul_hi(a[N - 2 - i], b[i]);
    UNROLL
    for (int i = 0; i < N; i++)
        even[i] = odd[i + 1] = 0;
    odd[0] = (uint32_t)carried;
    odd[1] = (uint32_t)(carried >> 32);
    UNROLL
    for (int i = 0; i < N; i++) {
        chain_add(odd, 0, a, N - 1 - i, N, b[i]);
        int top = i / 2 * 2 + 2;
        odd[top] = addc(odd[top], 0);
    }
    UNROLL
    for (int i = 1; i < N; i++) {
        chain_add(even, 0, a, N - i, N, b[i]);
        int top = (i - 1) / 2 * 2 + 2;
        if (top < N)
            even[top] = addc(even[top], 0);
    }
    r[0] = add_cc(even[0], odd[1]);
    UNROLL
    for (int i = 1; i < N - 1; i++)
        r[i] = addc_cc(even[i], odd[i + 1]);
    r[N - 1] = addc(even[N - 1], odd[N]);
}

/* Adds a b 2^(32 i) mod R to the columns of even and of odd place. */
template <int N>
INLINE void multiply_low_row(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b, int i)
{
    int to_even = i & 1, to_odd = 1 - to_even; /* the first limb of a for each */
    chain_add(even, i + to_even, a, to_even, N - 1 - i, b);
    chain_add(odd, i + to_odd, a, to_odd, N - 1 - i, b);
    /* the top column has no room for a high half */
    if (i + to_odd < N - 1)
        odd[N - 1] = madc_lo(a[N - 1 - i], b, odd[N - 1]);
    else
        odd[N - 1] += a[N - 1 - i] * b;
}

/* a w mod p, up to p: below 2p for a below 2p. */
template <class P>
INLINE field<P> mul(field<P> a, shoup<P> s)
{
    constexpr int N = P::N;
    constexpr field<P> complement = modulus_complement<P>();
    constexpr bool ones = complement.l[0] == UINT32_MAX;
    uint32_t q[N], even[N], odd[N];
    multiply_high<N>(q, a.l, s.q.l);
    UNROLL
    for (int i = 0; i < N; i++)
        even[i] = odd[i] = 0;
    UNROLL
    for (int i = 0; i < N; i++)
        multiply_low_row<N>(even, odd, a.l, s.w.l[i], i);
    UNROLL
    for (int i = 0; i < N; i++)
        if (complement.l[i] != 0 && (i > 0 || !ones))
            multiply_low_row<N>(even, odd, q, complement.l[i], i);

    field<P> r;
    r.l[0] = even[0];
    r.l[1] = add_cc(even[1], odd[1]);
    UNROLL
    for (int i = 2; i < N - 1; i++)
        r.l[i] = addc_cc(even[i], odd[i]);
    if (N > 2)
        r.l[N - 1] = addc(even[N - 1], odd[N - 1]);
    if (ones) { /* q (2^32 - 1) */
        r.l[0] = sub_cc(r.l[0], q[0]);
        UNROLL
        for (int i = 1; i < N - 1; i++)
            r.l[i] = subc_cc(r.l[i], q[i]);
        r.l[N - 1] = subc(r.l[N - 1], q[N - 1]);
        r.l[1] = add_cc(r.l[1], q[0]);
        UNROLL
        for (int i = 2; i < N - 1; i++)
            r.l[i] = addc_cc(r.l[i], q[i - 1]);
        r.l[N - 1] = addc(r.l[N - 1], q[N - 2]);
    }
    return r;
}

/* a + 2p where back, a mask, is set. On the device the whole sum is conditional: nothing has to be
 * masked. */
template <class P>
INLINE field<P> lift_twice(field<P> a, uint32_t back)
{
    constexpr field<P> twice = modulus_twice<P>();
#ifdef __CUDA_ARCH__
    static_assert(P::N == 8, "written out for eight limbs");
    asm volatile("{\n\t.reg .pred lift;\n\t"
                 "setp.ne.u32 lift, %8, 0;\n\t"
                 "@lift add.cc.u32 %0, %0, %9;\n\t"
                 "@lift addc.cc.u32 %1, %1, %10;\n\t"
                 "@lift addc.cc.u32 %2, %2, %11;\n\t"
                 "@lift addc.cc.u32 %3, %3, %12;\n\t"
                 "@lift addc.cc.u32 %4, %4, %13;\n\t"
                 "@lift addc.cc.u32 %5, %5, %14;\n\t"
                 "@lift addc.cc.u32 %6, %6, %15;\n\t"
                 "@lift addc.u32 %7, %7, %16;\n\t}"
                 : "+r"(a.l[0]), "+r"(a.l[1]), "+r"(a.l[2]), "+r"(a.l[3]), "+r"(a.l[4]),
                   "+r"(a.l[5]), "+r"(a.l[6]), "+r"(a.l[7])
                 : "r"(back), "n"(twice.l[0]), "n"(twice.l[1]), "n"(twice.l[2]), "n"(twice.l[3]),
                   "n"(twice.l[4]), "n"(twice.l[5]), "n"(twice.l[6]), "n"(twice.l[7]));
    return a;
#else
    field<P> r;
    r.l[0] = add_cc(a.l[0], back & twice.l[0]);
    for (int i = 1; i < P::N - 1; i++)
        r.l[i] = addc_cc(a.l[i], back & twice.l[i]);
    r.l[P::N - 1] = addc(a.l[P::N - 1], back & twice.l[P::N - 1]);
    return r;
#endif
}

/* a - b modulo 2p, of values below 2p. */
template <class P>
INLINE field<P> sub_twice(field<P> a, field<P> b)
{
    field<P> d;
    d.l[0] = sub_cc(a.l[0], b.l[0]);
    UNROLL
    for (int i = 1; i < P::N; i++)
        d.l[i] = subc_cc(a.l[i], b.l[i]);
    uint32_t back = subc(0, 0);
    return lift_twice(d, back);
}

/* a + b modulo 2p, of values below 2p: a - (2p - b). */
template <class P>
INLINE field<P> add_twice(field<P> a, field<P> b)
{
    constexpr field<P> twice = modulus_twice<P>();
    field<P> c;
    c.l[0] = sub_cc(twice.l[0], b.l[0]);
    UNROLL
    for (int i = 1; i < P::N - 1; i++)
        c.l[i] = subc_cc(twice.l[i], b.l[i]);
    c.l[P::N - 1] = subc(twice.l[P::N - 1], b.l[P::N - 1]);
    return sub_twice(a, c);
}

#endif
