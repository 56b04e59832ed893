/* Fr: the scalar field of this instance's curve. Functions: see field.inc. */
#ifndef PINION_FF_FR_H
#define PINION_FF_FR_H

#include "common/ff/instance.h"
#include "common/ff/limbs.h"

#define FIELD fr
#define FIELD_PARAM(name) CURVE_PARAM(FR_##name)
#include "common/ff/field.inc"

#endif
