/* What copied vectors are checked for on the device: their bytes come from other processes. */
#ifndef PINION_CUDA_VALUES_H
#define PINION_CUDA_VALUES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "common/curve.h"
#include "common/status.h"

struct CUstream_st; /* cudaStream_t */

/* Enqueues *first = the smaller of *first and the smallest i such that values[i] is not below the
 * group order. values: n scalars of 32 bytes, first: both device memory, 16-byte aligned. */
enum status cuda_values_check(enum curve_id curve, const void *values, uint64_t n, uint64_t *first,
                              struct CUstream_st *stream) MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
