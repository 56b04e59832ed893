/* Proving key, verification key and proof, as views that no file format shows through. */
#ifndef PINION_GROTH16_KEY_H
#define PINION_GROTH16_KEY_H

#include "common/curve.h"

/* One entry of the matrices A or B as a zkey stores it: 12 bytes of header and fr_bytes of value, n
 * R^2 mod r, so that a Montgomery product with a canonical witness value gives Montgomery(n w). */
enum { GROTH16_COEF_HEADER = 12 };

/* A proving key. All pointers are borrowed (usually from a mapped file) and of any alignment;
 * points are stored affine points (Montgomery; infinity all zero), G1 2 * fq_bytes each, G2 4 *
 * fq_bytes. Invariants that whoever fills it in guarantees: n_public < n_vars; domain a power of
 * two, at most 2^two_adicity; every coefficient names matrix 0 or 1, constraint < domain, signal <
 * n_vars. Points are not checked unless said. */
struct groth16_key {
    const struct curve *curve;
    const char *path; /* for messages; borrowed */
    uint32_t n_vars, n_public;
    uint64_t domain;
    const uint8_t *alpha1, *beta1, *delta1; /* G1 */
    const uint8_t *beta2, *gamma2, *delta2; /* G2 */
    const uint8_t *ic;                      /* G1 [n_public + 1] */
    const uint8_t *a, *b1;                  /* G1 [n_vars] */
    const uint8_t *b2;                      /* G2 [n_vars] */
    const uint8_t *c;                       /* G1 [n_vars - n_public - 1] */
    const uint8_t *h; /* G1 [domain]: odd-index Lagrange points of the doubled domain over delta */
    const uint8_t *coefs; /* n_coefs records of GROTH16_COEF_HEADER + fr_bytes */
    uint64_t n_coefs;
};

/* A verification key. Coordinates are canonical little-endian integers, fq_bytes each, x then y
 * (G2: x.c0 x.c1 y.c0 y.c1); infinity all zero. ic is owned: groth16_vkey_fini frees it. */
struct groth16_vkey {
    const struct curve *curve;
    uint32_t n_public;
    uint8_t alpha1[2 * CURVE_MAX_FQ_BYTES];
    uint8_t beta2[4 * CURVE_MAX_FQ_BYTES], gamma2[4 * CURVE_MAX_FQ_BYTES],
        delta2[4 * CURVE_MAX_FQ_BYTES];
    uint8_t *ic; /* [n_public + 1] G1, 2 * fq_bytes each */
};

void groth16_vkey_fini(struct groth16_vkey *vk);

/* A proof; coordinates as in groth16_vkey. */
struct groth16_proof {
    const struct curve *curve;
    uint8_t a[2 * CURVE_MAX_FQ_BYTES];
    uint8_t b[4 * CURVE_MAX_FQ_BYTES];
    uint8_t c[2 * CURVE_MAX_FQ_BYTES];
};

/* The blinding factors r and s, canonical little-endian. */
struct groth16_randomness {
    uint8_t r[CURVE_MAX_FR_BYTES], s[CURVE_MAX_FR_BYTES];
};

/* The five sums of a proof that other code than ours has computed: stored affine points. h: of the
 * quotient's values with the key's h; a, b1, b2: of the witness; c: of its private part. */
struct groth16_sums {
    uint8_t h[2 * CURVE_MAX_FQ_BYTES], a[2 * CURVE_MAX_FQ_BYTES], b1[2 * CURVE_MAX_FQ_BYTES],
        c[2 * CURVE_MAX_FQ_BYTES];
    uint8_t b2[4 * CURVE_MAX_FQ_BYTES];
};

/* What r and s add to the sums, which needs no witness: stored affine points. */
struct groth16_blinding {
    uint8_t a[2 * CURVE_MAX_FQ_BYTES], b1[2 * CURVE_MAX_FQ_BYTES], c[2 * CURVE_MAX_FQ_BYTES];
    uint8_t b2[4 * CURVE_MAX_FQ_BYTES];
};

/* Fresh randomness below the group order, uniform, from getrandom. ST_RESOURCE if the kernel gives
 * none. */
enum status groth16_randomness_fresh(struct groth16_randomness *out,
                                     const struct curve *curve) MUST_CHECK;

/* From 128 hex digits, r then s, big-endian, each below the group order; else ST_USAGE. For tests:
 * equal r and s break zero knowledge. */
enum status groth16_randomness_from_hex(struct groth16_randomness *out, const struct curve *curve,
                                        const char *hex) MUST_CHECK;

#endif
