#include "common/groth16/fixed_base.h"

enum { BATCH = 256 }; /* points that share an inversion; at least FIXED_BASE_DIGITS */

#define GROUP g1
#define COORD fq
#include "common/groth16/fixed_base.inc"

#define GROUP g2
#define COORD fq2
#include "common/groth16/fixed_base.inc"
