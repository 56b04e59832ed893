/* Fq: the base field of this instance's curve. Functions: see field.inc. */
#ifndef PINION_FF_FQ_H
#define PINION_FF_FQ_H

#include "common/ff/instance.h"
#include "common/ff/inverse.h"
#include "common/ff/limbs.h"
#if PINION_ISA_ADX
#include "common/ff/mul_adx.h"
#include "common/ff/sum_x86.h"
#endif

#define FIELD fq
#define FIELD_PARAM(name) CURVE_PARAM(FQ_##name)
#include "common/ff/field.inc"

#endif
