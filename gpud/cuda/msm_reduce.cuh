/* From the buckets' sums to the sum; see msm_private.h. */
#ifndef PINION_CUDA_MSM_REDUCE_CUH
#define PINION_CUDA_MSM_REDUCE_CUH

#include "gpud/cuda/msm_levels.cuh"
#include "gpud/cuda/pair.cuh"

namespace msm
{

/* One value of each thread of a block, in shared memory, 16 bytes at a time, so that banks do not
 * conflict. In assembler: nvcc 13.0 drops the first store of reduce_in_block, which its own thread
 * overwrites and never reads, but others do. */
template <class T>
struct exchange {
    enum { VECTORS = sizeof(T) / sizeof(uint4) };
    static_assert(sizeof(T) % sizeof(uint4) == 0, "whole vectors");
    uint4 vector[VECTORS][LANES];

    __device__ void put(unsigned lane, const T &value)
    {
        uint32_t at = (uint32_t)__cvta_generic_to_shared(&vector[0][lane]);
        const uint4 *v = (const uint4 *)&value;
#pragma unroll
        for (int i = 0; i < (int)VECTORS; i++)
            asm volatile(
                "st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at + i * (int)sizeof vector[0]),
                "r"(v[i].x), "r"(v[i].y), "r"(v[i].z), "r"(v[i].w)
                : "memory");
    }

    __device__ T get(unsigned lane) const
    {
        uint32_t at = (uint32_t)__cvta_generic_to_shared(&vector[0][lane]);
        T value;
        uint4 *v = (uint4 *)&value;
#pragma unroll
        for (int i = 0; i < (int)VECTORS; i++)
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w)
                         : "r"(at + i * (int)sizeof vector[0])
                         : "memory");
        return value;
    }
};

template <class F>
__device__ void add_bucket(xyzz<F> &sum, const struct msm_pass &pass, uint32_t key)
{
    uint32_t p = pass.start[key], count = pass.end[key] - p;
    if (count == 0)
        return;
    if (count > 1u << pass.affine_levels)
        point_add(sum, ((const xyzz<F> *)pass.xyzz)[p >> pass.affine_levels]);
    else
        add_operand(sum, count > 1 ? from_affine<F>(pass, p) : from_table<F>(pass, p));
}

/* From each pair of lanes t a plain sum s[t] and a weighted one x[t], to pair 0 of the block: s =
 * sum of s[t], x = sum of x[t] + 2^unit t s[t]. Suffix sums: each s[t] is in t of them beyond the
 * first. The block has PAIRS threads. */
template <class F>
__device__ void reduce_in_block(xyzz<F> &s, xyzz<F> &x, unsigned unit)
{
    __shared__ exchange<xyzz<F>> shared;
    const unsigned t = threadIdx.x / 2;
    const bool first = threadIdx.x % 2 == 0;
    if (first)
        shared.put(t, s);
    __syncthreads();
#pragma unroll 1
    for (unsigned d = 1; d < LANES; d *= 2) {
        xyzz<F> other;
        set_infinity(other);
        if (t + d < LANES)
            other = shared.get(t + d);
        __syncthreads();
        pair_add(s, other);
        if (first)
            shared.put(t, s);
        __syncthreads();
    }
    xyzz<F> y = s;
    if (t == 0)
        set_infinity(y);
#pragma unroll 1
    for (unsigned i = 0; i < unit; i++)
        pair_double(y);
    pair_add(x, y);
    if (first)
        shared.put(t, x);
#pragma unroll 1
    for (unsigned d = LANES / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t / (WARP / 2) * (WARP / 2) >= d)
            continue; /* the whole warp has nothing to add */
        xyzz<F> other;
        set_infinity(other);
        if (t < d)
            other = shared.get(t + d);
        pair_add(x, other);
        if (t < d && first)
            shared.put(t, x);
    }
}

/* strip_sum[2 i], [2 i + 1] = plain sum of the buckets of thread i, sum weighted 1, 2, ... A thread
 * takes 2^strip buckets. */
template <class F>
__global__ void __launch_bounds__(LANES) reduce_strips(struct msm_pass pass, unsigned strip)
{
    uint32_t thread = blockIdx.x * LANES + threadIdx.x;
    xyzz<F> s, x, *out = (xyzz<F> *)pass.strip_sum + 2 * (size_t)thread;
    set_infinity(s);
    set_infinity(x);
    for (uint32_t i = 1u << strip; i-- > 0;) {
        add_bucket(s, pass, (thread << strip) + i);
        point_add(x, s);
    }
    out[0] = s;
    out[1] = x;
}

/* The same for LANES strips: block_sum[2 b], [2 b + 1]. */
template <class F>
__global__ void __launch_bounds__(PAIRS) reduce_blocks(struct msm_pass pass, unsigned strip)
{
    const xyzz<F> *in =
        (const xyzz<F> *)pass.strip_sum + 2 * ((size_t)blockIdx.x * LANES + threadIdx.x / 2);
    xyzz<F> s = in[0], x = in[1];
    reduce_in_block(s, x, strip);
    if (threadIdx.x == 0) {
        xyzz<F> *out = (xyzz<F> *)pass.block_sum + 2 * (size_t)blockIdx.x;
        out[0] = s;
        out[1] = x;
    }
}

/* total[u] = sum of set u, from its blocks, 2^unit buckets each; block u. */
template <class F>
__global__ void __launch_bounds__(PAIRS)
    reduce_sets(struct msm_pass pass, unsigned blocks, unsigned unit)
{
    const xyzz<F> *in = (const xyzz<F> *)pass.block_sum + 2 * (size_t)blockIdx.x * blocks;
    unsigned each = (blocks + LANES - 1) / LANES, log2_each = 31 - __clz(each);
    unsigned first = threadIdx.x / 2 * each;
    xyzz<F> s, x, weighted, nothing;
    set_infinity(nothing);
    s = x = weighted = nothing;
    for (unsigned i = each; i-- > 0;) {
        bool some = first + i < blocks;
        pair_add(s, some ? in[2 * (first + i)] : nothing);
        pair_add(x, some ? in[2 * (first + i) + 1] : nothing);
        if (i > 0)
            pair_add(weighted, s);
    }
    if (each > 1) {
        for (unsigned i = 0; i < unit; i++)
            pair_double(weighted);
        pair_add(x, weighted);
    }
    reduce_in_block(s, x, unit + log2_each);
    if (threadIdx.x == 0)
        ((xyzz<F> *)pass.total)[blockIdx.x] = x;
}

/* One warp. */
template <class F>
__global__ void __launch_bounds__(WARP)
    combine_sets(struct msm_pass pass, unsigned sets, unsigned width, xyzz<F> *partial, bool fresh,
                 affine<F> *result)
{
    const xyzz<F> *total = (const xyzz<F> *)pass.total;
    xyzz<F> sum = total[sets - 1];
    for (unsigned u = sets - 1; u-- > 0;) {
        for (unsigned i = 0; i < width; i++)
            pair_double(sum);
        pair_add(sum, total[u]);
    }
    if (!fresh)
        pair_add(sum, *partial);
    if (threadIdx.x > 0)
        return;
    *partial = sum;
    if (result)
        *result = to_affine(sum);
}

template <class F>
__global__ void __launch_bounds__(PAIRS)
    add_up(const affine<F> *points, uint64_t count, affine<F> *result)
{
    xyzz<F> s, x;
    set_infinity(s);
    set_infinity(x);
    for (uint64_t i = threadIdx.x / 2; i < count; i += LANES)
        point_add(x, points[i]);
    __syncwarp();
    reduce_in_block(s, x, 0);
    if (threadIdx.x == 0)
        *result = to_affine(x);
}

} // namespace msm

#endif
