/* The steps of Groth16 that are compiled for each instance (common/ff/instance.h). Contracts:
 * struct curve_ops in common/groth16/ops.h, whose members point here. */
#ifndef PINION_GROTH16_STEPS_H
#define PINION_GROTH16_STEPS_H

#include "common/ff/instance.h"
#include "common/groth16/groth16.h"
#include "common/groth16/ops.h"
#include "common/groth16/setup.h"
#include "common/pool.h"
#include "common/progress.h"

#define instance_curve CURVE_SYMBOL(curve)
#define step_key_check CURVE_SYMBOL(step_key_check)
#define step_evaluate CURVE_SYMBOL(step_evaluate)
#define step_prove_workspace CURVE_SYMBOL(step_prove_workspace)
#define step_prove CURVE_SYMBOL(step_prove)
#define step_blind CURVE_SYMBOL(step_blind)
#define step_assemble CURVE_SYMBOL(step_assemble)
#define step_vkey CURVE_SYMBOL(step_vkey)
#define step_verify CURVE_SYMBOL(step_verify)
#define step_verify_memory CURVE_SYMBOL(step_verify_memory)
#define step_alphabeta CURVE_SYMBOL(step_alphabeta)
#define step_setup CURVE_SYMBOL(step_setup)
#define step_setup_on_domain CURVE_SYMBOL(step_setup_on_domain)
#define step_known_secrets CURVE_SYMBOL(step_known_secrets)
#define step_first_unsatisfied CURVE_SYMBOL(step_first_unsatisfied)
#define step_bench_msm CURVE_SYMBOL(step_bench_msm)
#define step_bench_points CURVE_SYMBOL(step_bench_points)
#define step_bench_ntt CURVE_SYMBOL(step_bench_ntt)

/* This instance as the layers above see it. */
extern const struct curve instance_curve;

enum status step_key_check(const struct groth16_key *key, bool all_points, struct pool *pool,
                           struct progress *progress) MUST_CHECK;

void step_evaluate(const struct groth16_key *key, const uint8_t *w, void *a, void *b,
                   struct pool *pool);

size_t step_prove_workspace(const struct groth16_key *key, const struct pool *pool);
enum status step_prove(const struct groth16_key *key, const uint8_t *w, void *a, void *b,
                       const struct groth16_randomness *rs, void *workspace, struct pool *pool,
                       struct progress *progress, struct groth16_timings *timings,
                       struct groth16_proof *out) MUST_CHECK;

void step_blind(const struct groth16_key *key, const struct groth16_randomness *rs,
                struct groth16_blinding *out);
void step_assemble(const struct groth16_key *key, const struct groth16_sums *sums,
                   const struct groth16_blinding *blinding, const struct groth16_randomness *rs,
                   struct groth16_proof *out);

enum status step_vkey(const struct groth16_key *key, struct groth16_vkey *out) MUST_CHECK;
enum status step_verify(const struct groth16_vkey *vk, const uint8_t *publics,
                        const struct groth16_proof *proof) MUST_CHECK;
size_t step_verify_memory(uint32_t n_public);
void step_alphabeta(const struct groth16_vkey *vk, uint8_t *out);

enum status step_setup(const struct r1cs *r1cs, const struct groth16_setup_secrets *secrets,
                       struct pool *pool, struct progress *progress,
                       struct groth16_setup_output *out) MUST_CHECK;
void step_known_secrets(uint64_t domain, struct groth16_setup_secrets *out);
uint64_t step_first_unsatisfied(const struct r1cs *r1cs, const uint8_t *w, struct pool *pool);

/* setup on a domain of the caller's choice: a power of two, at least constraints + n_public + 1. */
enum status step_setup_on_domain(const struct r1cs *r1cs, uint64_t domain,
                                 const struct groth16_setup_secrets *secrets, struct pool *pool,
                                 struct progress *progress,
                                 struct groth16_setup_output *out) MUST_CHECK;

enum status step_bench_msm(enum msm_group group, const uint8_t *bases, const uint8_t *scalars,
                           size_t n, struct pool *pool, uint8_t *r) MUST_CHECK;
enum status step_bench_points(enum msm_group group, size_t n, struct pool *pool,
                              uint8_t *out) MUST_CHECK;
enum status step_bench_ntt(void *elements, unsigned log2n, bool inverse,
                           struct pool *pool) MUST_CHECK;

#endif
