#include "gpud/cuda/values.h"

#include "gpud/cuda/device.cuh"
#include "gpud/cuda/field.cuh"

enum { THREADS = 256 };
static const uint64_t MAX_BLOCKS = 2048;

template <class P>
static __global__ void find_unreduced(const field<P> *values, uint64_t n, unsigned long long *first)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * blockDim.x)
        if (!is_reduced(values[i]))
            atomicMin(first, (unsigned long long)i);
}

template <class P>
static enum status check(const void *values, uint64_t n, uint64_t *first, cudaStream_t stream)
{
    uint64_t blocks = (n + THREADS - 1) / THREADS;
    if (n == 0)
        return ST_OK;
    find_unreduced<<<(unsigned)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS), THREADS, 0, stream>>>(
        static_cast<const field<P> *>(values), n, reinterpret_cast<unsigned long long *>(first));
    CUDA_TRY_LAUNCH("find_unreduced");
    return ST_OK;
}

enum status cuda_values_check(enum curve_id curve, const void *values, uint64_t n, uint64_t *first,
                              struct CUstream_st *stream)
{
    if (curve == CURVE_BN254)
        return check<params_fr_bn254>(values, n, first, stream);
    if (curve == CURVE_BLS12_381)
        return check<params_fr_bls12_381>(values, n, first, stream);
    return fail(ST_INTERNAL, "cuda: no scalars of curve %d", (int)curve);
}
