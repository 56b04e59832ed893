/* What the points of a proof must be, from the known secrets: their discrete logarithms, with
 * Lagrange polynomials by definition. Shares nothing with evaluation, transforms, sums or setup. */
#ifndef PINION_TESTS_ORACLE_H
#define PINION_TESTS_ORACLE_H

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/poly/ntt.h"
#include "tests/unit/circuit.h"

/* A(tau), B(tau), C(tau) over the wires from first on, without the extra public rows. */
struct oracle_values {
    fr m[3];
};

/* L_j(tau) on the domain of size n, all j, in O(n^2). */
static inline fr *oracle_lagrange(size_t n, const fr *tau)
{
    struct ntt_domain d;
    struct pool *pool = test_pool(1);
    assert_int_equal(
        ntt_domain_init(&d, (unsigned)__builtin_ctzll(n), NTT_ROOT_SNARKJS, NULL, pool), ST_OK);
    pool_destroy(pool);
    fr *l = malloc(n * sizeof *l), *x = malloc(n * sizeof *x);
    assert_non_null(l);
    assert_non_null(x);
    x[0] = fr_one;
    for (size_t i = 1; i < n; i++)
        fr_mul(&x[i], &x[i - 1], &d.root);
    for (size_t j = 0; j < n; j++) {
        fr up = fr_one, down = fr_one, t;
        for (size_t k = 0; k < n; k++) {
            if (k == j)
                continue;
            fr_sub(&t, tau, &x[k]);
            fr_mul(&up, &up, &t);
            fr_sub(&t, &x[j], &x[k]);
            fr_mul(&down, &down, &t);
        }
        fr_inv(&down, &down);
        fr_mul(&l[j], &up, &down);
    }
    free(x);
    return l;
}

static inline struct oracle_values oracle_at_tau(const struct circuit *c, const fr *lagrange,
                                                 uint32_t first)
{
    struct oracle_values v = {{{{0}}}};
    const uint8_t *cursor = c->r1cs.constraints;
    for (uint32_t j = 0; j < c->r1cs.n_constraints; j++)
        for (int k = 0; k < 3; k++) {
            fr t = circuit_lc(c, r1cs_next(&c->r1cs, &cursor), first);
            fr_mul(&t, &t, &lagrange[j]);
            fr_add(&v.m[k], &v.m[k], &t);
        }
    return v;
}

static inline fr oracle_load(const uint8_t *canonical)
{
    fr r;
    fr_load(&r, canonical);
    fr_from_canonical(&r, &r);
    return r;
}

static inline void oracle_put_g1(uint8_t *out, const fr *k)
{
    fr canonical;
    g1 p;
    g1_affine a;
    fr_to_canonical(&canonical, k);
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, canonical.l, FR_LIMBS);
    g1_to_affine(&a, &p);
    fq_to_canonical(&a.x, &a.x);
    fq_to_canonical(&a.y, &a.y);
    g1_store(out, &a);
}

static inline void oracle_put_g2(uint8_t *out, const fr *k)
{
    fr canonical;
    g2 p;
    g2_affine a;
    fr_to_canonical(&canonical, k);
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, canonical.l, FR_LIMBS);
    g2_to_affine(&a, &p);
    fq2_to_canonical(&a.x, &a.x);
    fq2_to_canonical(&a.y, &a.y);
    g2_store(out, &a);
}

/* sum += x * y */
static inline void oracle_add_product(fr *sum, const fr *x, const fr *y)
{
    fr t;
    fr_mul(&t, x, y);
    fr_add(sum, sum, &t);
}

/* The proof of the circuit's witness, which satisfies it. */
static inline struct groth16_proof oracle_prove(const struct circuit *c, size_t domain,
                                                const struct groth16_setup_secrets *secrets,
                                                const struct groth16_randomness *rs)
{
    fr tau = oracle_load(secrets->tau), alpha = oracle_load(secrets->alpha);
    fr beta = oracle_load(secrets->beta), delta = oracle_load(secrets->delta);
    fr r = oracle_load(rs->r), s = oracle_load(rs->s);
    fr *lagrange = oracle_lagrange(domain, &tau);
    uint32_t n_public = r1cs_n_public(&c->r1cs);
    struct oracle_values all = oracle_at_tau(c, lagrange, 0);
    struct oracle_values inner = oracle_at_tau(c, lagrange, n_public + 1);
    for (uint32_t i = 0; i <= n_public; i++) {
        fr w = oracle_load(c->w + (size_t)i * FR_BYTES);
        oracle_add_product(&all.m[0], &w, &lagrange[c->r1cs.n_constraints + i]);
    }
    free(lagrange);

    fr a, b, x, t;
    fr_add(&a, &all.m[0], &alpha);
    oracle_add_product(&a, &r, &delta);
    fr_add(&b, &all.m[1], &beta);
    oracle_add_product(&b, &s, &delta);
    /* delta x = beta A' + alpha B' + C' + A(tau) B(tau) - C(tau), primes over the private wires */
    fr_sub(&x, &inner.m[2], &all.m[2]);
    oracle_add_product(&x, &all.m[0], &all.m[1]);
    oracle_add_product(&x, &beta, &inner.m[0]);
    oracle_add_product(&x, &alpha, &inner.m[1]);
    fr_inv(&t, &delta);
    fr_mul(&x, &x, &t);
    oracle_add_product(&x, &s, &a);
    oracle_add_product(&x, &r, &b);
    fr_mul(&t, &r, &s);
    fr_neg(&t, &t);
    oracle_add_product(&x, &t, &delta);

    struct groth16_proof proof = {.curve = &instance_curve};
    oracle_put_g1(proof.a, &a);
    oracle_put_g2(proof.b, &b);
    oracle_put_g1(proof.c, &x);
    return proof;
}

#endif
