/* Number-theoretic transform over Fr, in place, without permutation: one direction leaves
 * bit-reversed order, the other takes it. Cache-blocked, parallel over the pool. Keeps no state
 * beyond the domain's twiddle table. */
#ifndef PINION_POLY_NTT_H
#define PINION_POLY_NTT_H

#include "common/ff/fr.h"
#include "common/pool.h"

/* A subgroup of order n = 2^log2n of Fr*, with its root and table. */
struct ntt_domain {
    unsigned log2n;
    size_t n;
    fr root;      /* primitive n-th root of unity */
    fr n_inv;     /* 1/n */
    fr *twiddles; /* root^i, i < n/2, owned */
};

enum ntt_root {
    NTT_ROOT_SNARKJS, /* (smallest non-residue)^t: zkey */
    NTT_ROOT_BELLMAN, /* generator^t: bellman parameters; on BN254 the same */
};

#define ntt_domain_init CURVE_SYMBOL(ntt_domain_init)
#define ntt_domain_fini CURVE_SYMBOL(ntt_domain_fini)
#define ntt_coset_shift CURVE_SYMBOL(ntt_coset_shift)
#define ntt_forward CURVE_SYMBOL(ntt_forward)
#define ntt_inverse CURVE_SYMBOL(ntt_inverse)
#define ntt_coset_extend CURVE_SYMBOL(ntt_coset_extend)

/* ST_INPUT if log2n > FR_TWO_ADICITY, ST_RESOURCE without memory. Memory: n/2 elements. */
enum status ntt_domain_init(struct ntt_domain *d, unsigned log2n, enum ntt_root root,
                            struct pool *pool) MUST_CHECK;
void ntt_domain_fini(struct ntt_domain *d);

/* The shift g of the coset on which zkeys hold H: the primitive 2n-th root whose square is d->root,
 * or at the field's 2-adicity limit the square of the smallest non-residue. */
void ntt_coset_shift(fr *g, const struct ntt_domain *d, enum ntt_root root);

/* a[i] = sum_j a[j] root^(i j): natural order in, natural order out. For tests, setup and small
 * things. */
void ntt_forward(const struct ntt_domain *d, fr *a, struct pool *pool);

/* The inverse, 1/n included: natural order in, natural order out. */
void ntt_inverse(const struct ntt_domain *d, fr *a, struct pool *pool);

/* Values on the domain to values on the coset g * domain, both in natural order: inverse transform,
 * coefficient i times g^i, forward transform; the middle is in bit-reversed order and nothing is
 * permuted. */
void ntt_coset_extend(const struct ntt_domain *d, fr *a, const fr *g, struct pool *pool);

#endif
