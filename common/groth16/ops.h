/* The curve-dependent half of Groth16, as the table that each instance fills in.
 *
 * Requires and ensures are those of the functions of the same name in
 * common/groth16/{check,evaluate,prove,verify,setup}.c; callers above go through the wrappers of
 * common/groth16/groth16.h. */
#ifndef PINION_GROTH16_OPS_H
#define PINION_GROTH16_OPS_H

#include "common/groth16/key.h"
#include "common/pool.h"

struct progress; /* common/progress.h; may be NULL wherever it is passed */

struct groth16_setup_secrets; /* setup.h */
struct groth16_setup_output;

enum msm_group { MSM_G1, MSM_G2 };

struct curve_ops {
    /* A key that prove can work on: sizes, and the six header points: on the curve, alpha, beta,
     * gamma, delta not at infinity; with all_points every point of the key on the curve and in the
     * subgroup. ST_INPUT names path, section and index. */
    enum status (*key_check)(const struct groth16_key *key, bool all_points, struct pool *pool,
                             struct progress *progress) MUST_CHECK;

    /* a[j] = sum A[j][i] w[i], b likewise, for j < domain, in Montgomery form. a, b: domain
     * elements of fr_bytes, 64-byte aligned. w: n_vars canonical values, any alignment. Order of
     * the coefficients does not matter. */
    void (*evaluate)(const struct groth16_key *key, const uint8_t *w, void *a, void *b,
                     struct pool *pool);

    /* Bytes of workspace that prove needs besides a and b; 64-byte aligned. */
    size_t (*prove_workspace)(const struct groth16_key *key, const struct pool *pool);

    /* The proof from a, b (as evaluate left them; overwritten) and w. workspace as above, any
     * content. timings may be NULL. */
    enum status (*prove)(const struct groth16_key *key, const uint8_t *w, void *a, void *b,
                         const struct groth16_randomness *rs, void *workspace, struct pool *pool,
                         struct progress *progress, struct groth16_timings *timings,
                         struct groth16_proof *out) MUST_CHECK;

    /* For sums that a device computes. blind: what can be done meanwhile. assemble: the last step
     * of prove. */
    void (*blind)(const struct groth16_key *key, const struct groth16_randomness *rs,
                  struct groth16_blinding *out);
    void (*assemble)(const struct groth16_key *key, const struct groth16_sums *sums,
                     const struct groth16_blinding *blinding, const struct groth16_randomness *rs,
                     struct groth16_proof *out);

    /* vk of a key: converts points; allocates vk->ic. ST_INPUT if a coordinate is not below the
     * prime; nothing else about the points is checked. */
    enum status (*vkey)(const struct groth16_key *key, struct groth16_vkey *out) MUST_CHECK;

    /* publics: n_public canonical values of fr_bytes each. ST_OK if the proof is valid. ST_INVALID
     * with the reason if not: value out of range, point off the curve or out of the subgroup,
     * alpha, beta, gamma or delta at infinity, pairing. ST_RESOURCE without verify_memory. */
    enum status (*verify)(const struct groth16_vkey *vk, const uint8_t *publics,
                          const struct groth16_proof *proof) MUST_CHECK;

    /* Upper bound of the bytes that verify allocates. */
    size_t (*verify_memory)(uint32_t n_public);

    /* e(alpha, beta), for sound points, as snarkjs' vk_alphabeta_12: 12 canonical coordinates of
     * fq_bytes, order [c0|c1 of w][v^0..v^2][u^0..u^1]. */
    void (*alphabeta)(const struct groth16_vkey *vk, uint8_t *out);

    /* A proving key from known randomness; see setup.h. */
    enum status (*setup)(const struct r1cs *r1cs, const struct groth16_setup_secrets *secrets,
                         struct pool *pool, struct progress *progress,
                         struct groth16_setup_output *out) MUST_CHECK;

    /* See groth16_setup_known_secrets. */
    void (*known_secrets)(uint64_t domain, struct groth16_setup_secrets *out);

    /* The first constraint of the r1cs that w does not satisfy; UINT64_MAX if none. w: n_vars
     * canonical values. */
    uint64_t (*first_unsatisfied)(const struct r1cs *r1cs, const uint8_t *w, struct pool *pool);

    /* For benchmarks and tests. msm: r is a stored affine point. points: writes n distinct stored
     * points, i-th (i + 1) G. ntt: n = 2^log2n Montgomery elements in place; inverse leaves
     * bit-reversed order, forward takes it, so that one after the other gives the input back. */
    enum status (*msm)(enum msm_group group, const uint8_t *bases, const uint8_t *scalars, size_t n,
                       struct pool *pool, uint8_t *r) MUST_CHECK;
    enum status (*points)(enum msm_group group, size_t n, struct pool *pool,
                          uint8_t *out) MUST_CHECK;
    enum status (*ntt)(void *elements, unsigned log2n, bool inverse, struct pool *pool) MUST_CHECK;
};

#endif
