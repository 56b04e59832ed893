#include "common/ff/fq.h"
#include "common/ff/fr.h"
#include "common/groth16/steps.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* What the names of an instance do not say by themselves. */
#define ID_bn254 CURVE_BN254
#define ID_bls12_381 CURVE_BLS12_381
#define ID_toy_bn CURVE_TOY_BN
#define ID_toy_bls CURVE_TOY_BLS
#define SNARKJS_bn254 "bn128"
#define SNARKJS_bls12_381 "bls12381"
#define SNARKJS_toy_bn "toy_bn"
#define SNARKJS_toy_bls "toy_bls"

static const struct curve_ops ops = {
    .key_check = step_key_check,
    .evaluate = step_evaluate,
    .prove_workspace = step_prove_workspace,
    .prove = step_prove,
    .blind = step_blind,
    .assemble = step_assemble,
    .vkey = step_vkey,
    .verify = step_verify,
    .verify_memory = step_verify_memory,
    .alphabeta = step_alphabeta,
    .setup = step_setup,
    .known_secrets = step_known_secrets,
    .first_unsatisfied = step_first_unsatisfied,
    .msm = step_bench_msm,
    .points = step_bench_points,
    .ntt = step_bench_ntt,
};

const struct curve instance_curve = {
    .id = INSTANCE_EXPAND2(ID, PINION_CURVE),
    .name = TEXT(PINION_CURVE),
    .snarkjs_name = INSTANCE_EXPAND2(SNARKJS, PINION_CURVE),
    .isa = TEXT(PINION_ISA),
    .fr_bytes = FR_BYTES,
    .fq_bytes = FQ_BYTES,
    .two_adicity = FR_TWO_ADICITY,
    .fr_modulus = (const uint8_t *)fr_modulus.l,
    .fq_modulus = (const uint8_t *)fq_modulus.l,
    .ops = &ops,
};
