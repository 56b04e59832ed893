/* Which curve, and which instruction set, this translation unit is compiled for.
 *
 * Everything under common/ff, common/ec, common/poly and the curve-dependent half of common/groth16
 * is written once and compiled once per instance:
 *
 *     -DPINION_CURVE=bn254    prefix of its external symbols: bn254 | bls12_381 | toy_bn | toy_bls
 *     -DPINION_PARAMS=BN254   prefix of its constants in params.h
 *     -DPINION_ISA=adx        how products are computed: portable | adx; -DPINION_ISA_ADX=1 with adx
 *
 * Sources use the plain names (fr_mul, msm_g1). A header that declares an external function of an
 * instance maps the name above its prototype: #define msm_g1 CURVE_SYMBOL(msm_g1).
 */
#ifndef PINION_FF_INSTANCE_H
#define PINION_FF_INSTANCE_H

#include "common/ff/params.h"

#define INSTANCE_PASTE2(a, b) a##_##b
#define INSTANCE_PASTE3(a, b, c) a##_##b##_##c
#define INSTANCE_EXPAND2(a, b) INSTANCE_PASTE2(a, b)
#define INSTANCE_EXPAND3(a, b, c) INSTANCE_PASTE3(a, b, c)

#define CURVE_SYMBOL(name) INSTANCE_EXPAND3(PINION_CURVE, PINION_ISA, name)
#define CURVE_PARAM(name) INSTANCE_EXPAND2(PINION_PARAMS, name)

/* Enumerators, not macros: a macro FR_LIMBS would expand before CURVE_PARAM pastes it. For #if use
 * CURVE_PARAM itself. */
enum {
    FR_LIMBS = CURVE_PARAM(FR_LIMBS),
    FR_BITS = CURVE_PARAM(FR_BITS),
    FR_BYTES = 8 * FR_LIMBS,
    FR_TWO_ADICITY = CURVE_PARAM(FR_TWO_ADICITY),
    FQ_LIMBS = CURVE_PARAM(FQ_LIMBS),
    FQ_BITS = CURVE_PARAM(FQ_BITS),
    FQ_BYTES = 8 * FQ_LIMBS,
};

#endif
