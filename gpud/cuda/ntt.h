/* Transforms over the scalar field on the device, with the orders and the results of
 * common/poly/ntt.h to the bit.
 *
 * A domain (struct cuda_ntt) owns its tables in device memory; it is made once, is immutable and
 * serves any number of transforms at a time. Vectors are device memory, 16-byte aligned, of 2^log2n
 * elements in Montgomery form, reduced; results are reduced. Everything but creation is enqueued on
 * the stream; nothing is allocated and nothing waits. ST_RESOURCE: no device memory. ST_INTERNAL: a
 * launch failed. */
#ifndef PINION_CUDA_NTT_H
#define PINION_CUDA_NTT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "common/curve.h"
#include "common/status.h"

struct CUstream_st; /* cudaStream_t */
struct cuda_ntt;

/* Device memory of a domain's tables. */
uint64_t cuda_ntt_bytes(unsigned log2n);

/* The domain of snarkjs' roots of unity, with the shift of zkeys: log2n at most the field's
 * 2-adicity, and 30. Waits for the device. */
enum status cuda_ntt_create(struct cuda_ntt **out, enum curve_id curve, unsigned log2n) MUST_CHECK;
void cuda_ntt_destroy(struct cuda_ntt *d); /* NULL is fine */

/* Values in natural order to coefficients in bit-reversed order, 1/n included; and back. */
enum status cuda_ntt_inverse(const struct cuda_ntt *d, void *a,
                             struct CUstream_st *stream) MUST_CHECK;
enum status cuda_ntt_forward(const struct cuda_ntt *d, void *a,
                             struct CUstream_st *stream) MUST_CHECK;

/* The scalars of a zkey's H: a = A B - C on the coset, canonical, where A and B are the polynomials
 * of values a and b and C = A B on the domain. b and c are destroyed; three vectors, no overlap. */
enum status cuda_ntt_quotient(const struct cuda_ntt *d, void *a, void *b, void *c,
                              struct CUstream_st *stream) MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
