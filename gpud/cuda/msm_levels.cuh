/* The tree of additions inside the buckets; see msm_private.h. */
#ifndef PINION_CUDA_MSM_LEVELS_CUH
#define PINION_CUDA_MSM_LEVELS_CUH

#include "gpud/cuda/curve.cuh"
#include "gpud/cuda/msm_private.h"
#include "gpud/cuda/pair.cuh"

namespace msm
{

enum {
    LANES = MSM_LANES,
    WARP = 32,
    PAIRS = 2 * LANES, /* threads of a block whose lanes work in pairs */
    INVERT = 8,        /* values that share an inversion */
    LONGEST = 1024,    /* pairs at a level that one block adds */
};

/* Blocks that a multiprocessor should hold of the kernel that adds: by the size of a coordinate. */
template <class F>
constexpr int blocks_of_sums()
{
    return sizeof(F) <= 32 ? 5 : sizeof(F) <= 48 ? 4 : 2;
}

/* Blocks for each multiprocessor that an affine level is cut into: whole waves of those, and enough
 * of the kernels that only wait for memory. */
template <class F>
constexpr int blocks_of_level()
{
    return sizeof(F) <= 32 ? 10 : sizeof(F) <= 48 ? 8 : 4;
}

/* Read-only memory, through the texture path, 16 bytes at a time. */
template <class T>
__device__ __forceinline__ T fetch(const T *from)
{
    static_assert(sizeof(T) % sizeof(uint4) == 0, "whole vectors");
    union {
        uint4 vector[sizeof(T) / sizeof(uint4)];
        T value;
    } u;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / sizeof(uint4)); i++)
        u.vector[i] = __ldg((const uint4 *)from + i);
    return u.value;
}

/* One side of a pair of affine points. */
template <class F>
struct operand {
    const affine<F> *point;
    bool negative;

    __device__ F x(bool constant) const
    {
        return constant ? fetch(&point->x) : point->x;
    }
    __device__ F y(bool constant) const
    {
        F y = constant ? fetch(&point->y) : point->y;
        return negative ? neg(y) : y;
    }
};

template <class F>
__device__ operand<F> from_table(const struct msm_pass &pass, uint32_t p)
{
    uint32_t value = __ldg(&pass.value[p]);
    return {(const affine<F> *)pass.table + (value & ~(1u << MSM_NEGATIVE_BIT)),
            (bool)(value >> MSM_NEGATIVE_BIT)};
}

template <class F>
__device__ operand<F> from_affine(const struct msm_pass &pass, uint32_t p)
{
    return {(const affine<F> *)pass.affine + (p >> 1), false};
}

/* What job adds at level: entries on the left, entries on the right. */
template <class F, bool BASES>
__device__ void find_operands(operand<F> &left, operand<F> &right, uint32_t &p,
                              const struct msm_pass &pass, uint32_t job, unsigned level)
{
    p = job & ((1u << MSM_WHERE_BIT) - 1);
    if (BASES) {
        left = from_table<F>(pass, p);
        right = from_table<F>(pass, p + 1);
        return;
    }
    uint32_t q = p + (1u << level);
    left = from_affine<F>(pass, p);
    right =
        job >> MSM_WHERE_BIT == MSM_FROM_TABLE ? from_table<F>(pass, q) : from_affine<F>(pass, q);
}

/* An affine level is three kernels. The first: product[i] = product of the denominators of this
 * thread's jobs before job i; inverse = the product of all of them. BASES: level 0. */
template <class F, bool BASES>
__global__ void __launch_bounds__(LANES) level_products(struct msm_pass pass, unsigned level)
{
    const uint32_t *job = pass.job + pass.list[level];
    const uint32_t jobs = pass.jobs[level], thread = blockIdx.x * LANES + threadIdx.x;
    const uint32_t step = gridDim.x * LANES;
    if (thread >= jobs)
        return;
    F product;
    set_one(product);
    uint32_t next = __ldg(job + thread);
    for (uint32_t i = thread;;) {
        operand<F> left, right;
        uint32_t p, at = i;
        find_operands<F, BASES>(left, right, p, pass, next, level);
        i += step;
        if (i < jobs)
            next = __ldg(job + i);
        F d = sub(right.x(BASES), left.x(BASES));
        if (is_zero(d))
            d = slope_denominator_same_x(left.y(BASES), right.y(BASES));
        ((F *)pass.product)[at] = product;
        product = mul(product, d);
        if (i >= jobs)
            break;
    }
    ((F *)pass.inverse)[thread] = product;
}

/* The second: the inverses of those products, of `threads` threads where there were so many. */
template <class F>
__global__ void __launch_bounds__(LANES)
    level_inverses(struct msm_pass pass, unsigned level, uint32_t threads)
{
    const uint32_t jobs = pass.jobs[level], values = jobs < threads ? jobs : threads;
    const uint32_t step = (values + INVERT - 1) / INVERT, i = blockIdx.x * LANES + threadIdx.x;
    F *all = (F *)pass.inverse, value[INVERT], before[INVERT];
    if (i >= step)
        return;
    before[0] = value[0] = all[i];
#pragma unroll
    for (int j = 1; j < INVERT; j++) {
        set_one(value[j]);
        if (i + j * step < values)
            value[j] = all[i + j * step];
        before[j] = times(before[j - 1], value[j]);
    }
    F rest = inverse(before[INVERT - 1]);
#pragma unroll
    for (int j = INVERT - 1; j > 0; j--) {
        F mine = times(rest, before[j - 1]);
        rest = times(rest, value[j]);
        if (i + j * step < values)
            all[i + j * step] = mine;
    }
    all[i] = rest;
}

/* The third: the sums, jobs in reverse. While one is computed the next one's operands are looked
 * up. */
template <class F, bool BASES>
__global__ void __launch_bounds__(LANES, blocks_of_sums<F>())
    level_sums(struct msm_pass pass, unsigned level)
{
    const uint32_t *job = pass.job + pass.list[level];
    const uint32_t jobs = pass.jobs[level], thread = blockIdx.x * LANES + threadIdx.x;
    const uint32_t step = gridDim.x * LANES;
    if (thread >= jobs)
        return;
    F inverse = ((const F *)pass.inverse)[thread];
    uint32_t left_over = (jobs - 1 - thread) / step, i = thread + left_over * step, p;
    operand<F> left, right;
    find_operands<F, BASES>(left, right, p, pass, __ldg(job + i), level);
    uint32_t next = left_over > 0 ? __ldg(job + i - step) : 0;
    for (;;) {
        affine<F> a, b;
        a.x = left.x(BASES);
        b.x = right.x(BASES);
        F mine = mul(inverse, fetch((const F *)pass.product + i));
        a.y = left.y(BASES);
        b.y = right.y(BASES);
        affine<F> *to = (affine<F> *)pass.affine + (p >> 1);
        F d = sub(b.x, a.x);
        if (left_over > 0) {
            i -= step;
            find_operands<F, BASES>(left, right, p, pass, next, level);
            if (left_over > 1)
                next = __ldg(job + i - step);
            inverse = mul(inverse, is_zero(d) ? slope_denominator_same_x(a.y, b.y) : d);
        }
        *to = add_with_inverse(a, b, d, mine);
        if (left_over-- == 0)
            break;
    }
}

template <class F>
__device__ void add_operand(xyzz<F> &sum, const operand<F> &q)
{
    point_add(sum, affine<F>{q.x(false), q.y(false)});
}

/* The two sides of a job of long sums. */
template <class F>
__device__ void find_long(xyzz<F> &left, xyzz<F> &right, uint32_t &p, const struct msm_pass &pass,
                          uint32_t job, unsigned level)
{
    const xyzz<F> *slots = (const xyzz<F> *)pass.xyzz;
    uint32_t where = job >> MSM_WHERE_BIT, q;
    p = job & ((1u << MSM_WHERE_BIT) - 1);
    q = p + (1u << level);
    set_infinity(left);
    set_infinity(right);
    if (level > pass.affine_levels)
        left = slots[p >> pass.affine_levels];
    else
        add_operand(left, from_affine<F>(pass, p));
    if (where == MSM_FROM_XYZZ)
        right = slots[q >> pass.affine_levels];
    else
        add_operand(right,
                    where == MSM_FROM_AFFINE ? from_affine<F>(pass, q) : from_table<F>(pass, q));
}

/* A level of long sums. */
template <class F>
__global__ void __launch_bounds__(LANES) level_long(struct msm_pass pass, unsigned level)
{
    const uint32_t *job = pass.job + pass.list[level];
    const uint32_t jobs = pass.jobs[level];
    for (uint32_t i = blockIdx.x * LANES + threadIdx.x; i < jobs; i += gridDim.x * LANES) {
        xyzz<F> left, right;
        uint32_t p;
        find_long(left, right, p, pass, job[i], level);
        point_add(left, right);
        ((xyzz<F> *)pass.xyzz)[p >> pass.affine_levels] = left;
    }
}

/* All levels from one on, by one block of pairs of lanes: few sums are so long. */
template <class F>
__global__ void __launch_bounds__(PAIRS) levels_longest(struct msm_pass pass, unsigned level)
{
    for (; level < MSM_LEVELS && 1u << level < pass.entries; level++) {
        const uint32_t *job = pass.job + pass.list[level];
        const uint32_t jobs = pass.jobs[level];
        for (uint32_t first = 0; first < jobs; first += LANES) {
            uint32_t i = first + threadIdx.x / 2, p = 0;
            xyzz<F> left, right;
            set_infinity(left);
            set_infinity(right);
            if (i < jobs)
                find_long(left, right, p, pass, job[i], level);
            __syncwarp();
            pair_add(left, right);
            if (i < jobs && threadIdx.x % 2 == 0)
                ((xyzz<F> *)pass.xyzz)[p >> pass.affine_levels] = left;
        }
        __syncthreads();
    }
}

} // namespace msm

#endif
