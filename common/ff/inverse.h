/* The inverse modulo an odd number by divsteps, 62 at a time. Any thread; no state; not constant
 * time.
 *
 * Bernstein, Yang, "Fast constant-time gcd computation and modular inversion" (2019): a batch of
 * steps depends on the low bits alone and acts on the full numbers as one 2 x 2 matrix. In variable
 * time zeros are skipped at once and several bits of g cancelled by one multiple of f. Integers are
 * signed: limbs of 62 bits, all but the top one nonnegative.
 */
#ifndef PINION_FF_INVERSE_H
#define PINION_FF_INVERSE_H

#include <stdint.h>

/* The device's twin of a field takes these functions too: nvcc wants them marked and has no
 * builtin for trailing zeros there. */
#ifndef INVERSE_CALL
#define INVERSE_CALL static inline
#endif
#ifdef __CUDA_ARCH__
#define INVERSE_ZEROS(x) (__ffsll((long long)(x)) - 1)
#else
#define INVERSE_ZEROS(x) __builtin_ctzll(x)
#endif

enum { INVERSE_BITS = 62, INVERSE_MAX = 7 };
#define INVERSE_MASK (((uint64_t)1 << INVERSE_BITS) - 1)

struct inverse_number {
    int64_t l[INVERSE_MAX];
};

/* (f, g) -> (u f + v g, q f + r g) / 2^62. Absolute values in a row sum to at most 2^62. */
struct inverse_matrix {
    int64_t u, v, q, r;
};

/* The number of signed limbs for values below 2p in absolute value. */
#define INVERSE_LENGTH(bits) (((bits) + 2 + INVERSE_BITS - 1) / INVERSE_BITS)

INVERSE_CALL void inverse_import(struct inverse_number *r, const uint64_t *a, int limbs, int n)
{
    unsigned __int128 window = 0;
    int have = 0, next = 0;
    for (int i = 0; i < n; i++) {
        if (have < INVERSE_BITS && next < limbs) {
            window |= (unsigned __int128)a[next++] << have;
            have += 64;
        }
        r->l[i] = (int64_t)((uint64_t)window & INVERSE_MASK);
        window >>= INVERSE_BITS;
        have = have > INVERSE_BITS ? have - INVERSE_BITS : 0;
    }
}

INVERSE_CALL void inverse_export(uint64_t *r, const struct inverse_number *a, int limbs, int n)
{
    unsigned __int128 window = 0;
    int have = 0, next = 0;
    for (int i = 0; i < limbs; i++) {
        while (have < 64 && next < n) {
            window |= (unsigned __int128)(uint64_t)a->l[next++] << have;
            have += INVERSE_BITS;
        }
        r[i] = (uint64_t)window;
        window >>= 64;
        have = have > 64 ? have - 64 : 0;
    }
}

/* 62 steps on the low bits of f (odd) and g. Returns the new eta = -delta. */
INVERSE_CALL int64_t inverse_steps(struct inverse_matrix *m, int64_t eta, uint64_t f, uint64_t g)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = INVERSE_BITS;
    for (;;) {
        int zeros = INVERSE_ZEROS(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0)
            break;
        if (eta < 0) {
            uint64_t t = f;
            eta = -eta;
            f = g, g = 0 - t;
            t = u, u = q, q = 0 - t;
            t = v, v = r, r = 0 - t;
        }
        /* The next eta + 1 steps only add f to g or not. f (2 - f^2) = 1/f mod 64. */
        int limit = eta + 1 < left ? (int)eta + 1 : left;
        uint64_t w = f * g * (f * f - 2) & (UINT64_MAX >> (64 - limit)) & 63;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    m->u = (int64_t)u, m->v = (int64_t)v;
    m->q = (int64_t)q, m->r = (int64_t)r;
    return eta;
}

/* (f, g) = m (f, g): exact. */
INVERSE_CALL void inverse_apply(struct inverse_number *f, struct inverse_number *g,
                                const struct inverse_matrix *m, int n)
{
    __int128 x = 0, y = 0;
    for (int i = 0; i < n; i++) {
        int64_t fi = f->l[i], gi = g->l[i];
        x += (__int128)m->u * fi + (__int128)m->v * gi;
        y += (__int128)m->q * fi + (__int128)m->r * gi;
        if (i > 0) {
            f->l[i - 1] = (int64_t)((uint64_t)x & INVERSE_MASK);
            g->l[i - 1] = (int64_t)((uint64_t)y & INVERSE_MASK);
        }
        x >>= INVERSE_BITS;
        y >>= INVERSE_BITS;
    }
    f->l[n - 1] = (int64_t)x;
    g->l[n - 1] = (int64_t)y;
}

/* The multiple of p, in (-2^62, 0] beyond the one that lifts negative operands, whose sum with
 * x = u d + v e is divisible by 2^62. */
INVERSE_CALL int64_t inverse_multiple(int64_t u, int64_t v, int64_t d_sign, int64_t e_sign,
                                      __int128 x, uint64_t p_inv)
{
    uint64_t lift = (uint64_t)(u & d_sign) + (uint64_t)(v & e_sign);
    return (int64_t)(lift - ((p_inv * (uint64_t)x + lift) & INVERSE_MASK));
}

/* (d, e) = m (d, e) modulo p. Both stay in (-2p, p): lifted by p where negative they are in
 * (-p, p), so the sums are in (-2^62 p, 2^62 p), less a multiple of p below 2^62. */
INVERSE_CALL void inverse_apply_mod(struct inverse_number *d, struct inverse_number *e,
                                    const struct inverse_matrix *m, const struct inverse_number *p,
                                    uint64_t p_inv, int n)
{
    int64_t d_sign = d->l[n - 1] >> 63, e_sign = e->l[n - 1] >> 63;
    __int128 x = (__int128)m->u * d->l[0] + (__int128)m->v * e->l[0];
    __int128 y = (__int128)m->q * d->l[0] + (__int128)m->r * e->l[0];
    int64_t kx = inverse_multiple(m->u, m->v, d_sign, e_sign, x, p_inv);
    int64_t ky = inverse_multiple(m->q, m->r, d_sign, e_sign, y, p_inv);
    x = (x + (__int128)p->l[0] * kx) >> INVERSE_BITS;
    y = (y + (__int128)p->l[0] * ky) >> INVERSE_BITS;
    for (int i = 1; i < n; i++) {
        int64_t di = d->l[i], ei = e->l[i];
        x += (__int128)m->u * di + (__int128)m->v * ei + (__int128)p->l[i] * kx;
        y += (__int128)m->q * di + (__int128)m->r * ei + (__int128)p->l[i] * ky;
        d->l[i - 1] = (int64_t)((uint64_t)x & INVERSE_MASK);
        e->l[i - 1] = (int64_t)((uint64_t)y & INVERSE_MASK);
        x >>= INVERSE_BITS;
        y >>= INVERSE_BITS;
    }
    d->l[n - 1] = (int64_t)x;
    e->l[n - 1] = (int64_t)y;
}

/* r = (r ^ sign) - sign + (p where the result is negative); sign is 0 or -1. */
INVERSE_CALL void inverse_normalize(struct inverse_number *r, int64_t sign,
                                    const struct inverse_number *p, int n)
{
    int64_t carry = 0;
    for (int i = 0; i < n; i++) {
        carry += (r->l[i] ^ sign) - sign;
        r->l[i] = i == n - 1 ? carry : (int64_t)((uint64_t)carry & INVERSE_MASK);
        carry >>= INVERSE_BITS;
    }
    int64_t lift = r->l[n - 1] >> 63;
    carry = 0;
    for (int i = 0; i < n; i++) {
        carry += r->l[i] + (p->l[i] & lift);
        r->l[i] = i == n - 1 ? carry : (int64_t)((uint64_t)carry & INVERSE_MASK);
        carry >>= INVERSE_BITS;
    }
}

/* r = 1/a modulo p, plain integers of so many limbs and a < p; 0 for a = 0. p is an odd prime of
 * so many bits, neg_inv = -1/p mod 2^64. */
INVERSE_CALL void inverse_compute(uint64_t *r, const uint64_t *a, const uint64_t *p,
                                  uint64_t neg_inv, int limbs, int bits)
{
    const int n = INVERSE_LENGTH(bits);
    struct inverse_number modulus, f, g, d = {{0}}, e = {{1}};
    struct inverse_matrix m;
    inverse_import(&modulus, p, limbs, n);
    inverse_import(&g, a, limbs, n);
    f = modulus;
    for (int64_t eta = -1;;) {
        int64_t any = 0;
        for (int i = 0; i < n; i++)
            any |= g.l[i];
        if (any == 0)
            break;
        eta = inverse_steps(&m, eta, (uint64_t)f.l[0], (uint64_t)g.l[0]);
        inverse_apply(&f, &g, &m, n);
        inverse_apply_mod(&d, &e, &m, &modulus, 0 - neg_inv, n);
    }
    /* f = 1 or -1, and d a = f. */
    inverse_normalize(&d, 0, &modulus, n);
    inverse_normalize(&d, f.l[n - 1] >> 63, &modulus, n);
    inverse_export(r, &d, limbs, n);
}

#endif
