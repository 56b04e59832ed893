/* Number-theoretic transform over Fr, in place.
 *
 * The inverse transform takes natural order and leaves bit-reversed order, the forward transform
 * goes back, so a coset extension never permutes. A twiddle is shared by a whole block of
 * butterflies: with the table in bit-reversed order every layer reads a prefix of it. Layers are
 * done in groups on tiles that fit the cache, so that a transform passes over memory once for every
 * eight layers or so. The tiles are spread over the pool.
 *
 * Gentleman, Sande (1966) and Cooley, Tukey (1965) butterflies in the ordering of Longa, Naehrig,
 * "Speeding up the number theoretic transform" (2016); tiles after Bailey, "FFTs in external or
 * hierarchical memory" (1990). Keeps no state beyond the table. */
#ifndef PINION_POLY_NTT_H
#define PINION_POLY_NTT_H

#include "common/ff/fr.h"
#include "common/pool.h"

/* A subgroup of order n = 2^log2n of Fr*, with its root and table. */
struct ntt_domain {
    unsigned log2n;
    size_t n;
    fr root;            /* primitive n-th root of unity */
    fr n_inv;           /* 1/n */
    const fr *twiddles; /* root^reverse(i), i < n/2, reverse of log2n - 1 bits; borrowed */
};

enum ntt_root {
    NTT_ROOT_SNARKJS, /* (smallest non-residue)^t: zkey */
    NTT_ROOT_BELLMAN, /* generator^t: bellman parameters; on BN254 the same */
};

#define ntt_domain_init CURVE_SYMBOL(ntt_domain_init)
#define ntt_coset_shift CURVE_SYMBOL(ntt_coset_shift)
#define ntt_inverse CURVE_SYMBOL(ntt_inverse)
#define ntt_forward CURVE_SYMBOL(ntt_forward)
#define ntt_coset_extend CURVE_SYMBOL(ntt_coset_extend)
#define ntt_reverse CURVE_SYMBOL(ntt_reverse)

/* Elements of the twiddle table, at least 1. */
static inline size_t ntt_table_elements(unsigned log2n)
{
    return log2n ? (size_t)1 << (log2n - 1) : 1;
}

/* table: ntt_table_elements(log2n) elements, owned by the caller, in use as long as d; NULL for a
 * domain that is not transformed on. ST_INPUT if log2n > FR_TWO_ADICITY. */
enum status ntt_domain_init(struct ntt_domain *d, unsigned log2n, enum ntt_root root, fr *table,
                            struct pool *pool) MUST_CHECK;

/* The shift g of the coset on which zkeys hold H: the primitive 2n-th root whose square is d->root,
 * or at the field's 2-adicity limit the square of the smallest non-residue. g^n is never 1. */
void ntt_coset_shift(fr *g, const struct ntt_domain *d, enum ntt_root root);

/* Values a[i] = p(root^i) to coefficients of p, 1/n included: natural order to bit-reversed. */
void ntt_inverse(const struct ntt_domain *d, fr *a, struct pool *pool);

/* Coefficients of p in bit-reversed order to values p(root^i) in natural order. */
void ntt_forward(const struct ntt_domain *d, fr *a, struct pool *pool);

/* For each of count vectors, values on the domain to values on the coset g * domain, both in
 * natural order. */
void ntt_coset_extend(const struct ntt_domain *d, fr *const vectors[], size_t count, const fr *g,
                      struct pool *pool);

/* Swaps natural and bit-reversed order. For tests: not blocked, not parallel. */
void ntt_reverse(const struct ntt_domain *d, fr *a);

#endif
