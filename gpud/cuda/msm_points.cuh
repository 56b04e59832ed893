/* The part of the MSM that computes with points, for one field of coordinates; see msm_private.h. */
#ifndef PINION_CUDA_MSM_POINTS_CUH
#define PINION_CUDA_MSM_POINTS_CUH

#include "gpud/cuda/curve.cuh"
#include "gpud/cuda/msm_private.h"

namespace msm
{

enum {
    LANES = MSM_LANES,
    WARP = 32,
    INVERT = 8,     /* values that share an inversion */
    LONGEST = 1024, /* pairs at a level that one block adds */
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
            asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(
                             at + i * (int)sizeof vector[0]),
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
    right = job >> MSM_WHERE_BIT == MSM_FROM_TABLE ? from_table<F>(pass, q)
                                                   : from_affine<F>(pass, q);
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

/* The third: the sums, jobs in reverse. While one is computed the next one's operands are looked up. */
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

/* A level of long sums, by `lanes` threads of which this is one. */
template <class F>
__device__ void long_level(const struct msm_pass &pass, unsigned level, uint32_t lane,
                           uint32_t lanes)
{
    const uint32_t *job = pass.job + pass.list[level];
    const uint32_t jobs = pass.jobs[level];
    for (uint32_t i = lane; i < jobs; i += lanes) {
        uint32_t where = job[i] >> MSM_WHERE_BIT, p = job[i] & ((1u << MSM_WHERE_BIT) - 1);
        uint32_t q = p + (1u << level);
        xyzz<F> *slots = (xyzz<F> *)pass.xyzz, sum;
        if (level > pass.affine_levels) {
            sum = slots[p >> pass.affine_levels];
        } else {
            set_infinity(sum);
            add_operand(sum, from_affine<F>(pass, p));
        }
        if (where == MSM_FROM_XYZZ)
            point_add(sum, slots[q >> pass.affine_levels]);
        else
            add_operand(sum, where == MSM_FROM_AFFINE ? from_affine<F>(pass, q)
                                                      : from_table<F>(pass, q));
        slots[p >> pass.affine_levels] = sum;
    }
}

template <class F>
__global__ void __launch_bounds__(LANES) level_long(struct msm_pass pass, unsigned level)
{
    long_level<F>(pass, level, blockIdx.x * LANES + threadIdx.x, gridDim.x * LANES);
}

/* All levels from one on, by one block: few sums are so long. */
template <class F>
__global__ void __launch_bounds__(LANES) levels_longest(struct msm_pass pass, unsigned level)
{
    for (; level < MSM_LEVELS && 1u << level < pass.entries; level++) {
        long_level<F>(pass, level, threadIdx.x, LANES);
        __syncthreads();
    }
}

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

/* From each thread t a plain sum s[t] and a weighted one x[t], to thread 0 of the block: s = sum of
 * s[t], x = sum of x[t] + 2^unit t s[t]. Suffix sums: each s[t] is in t of them beyond the first. */
template <class F>
__device__ void reduce_in_block(xyzz<F> &s, xyzz<F> &x, unsigned unit)
{
    __shared__ exchange<xyzz<F>> shared;
    unsigned t = threadIdx.x;
    shared.put(t, s);
    __syncthreads();
#pragma unroll 1
    for (unsigned d = 1; d < LANES; d *= 2) {
        xyzz<F> other;
        set_infinity(other);
        if (t + d < LANES)
            other = shared.get(t + d);
        __syncthreads();
        point_add(s, other);
        shared.put(t, s);
        __syncthreads();
    }
    if (t > 0) {
        xyzz<F> y = s;
#pragma unroll 1
        for (unsigned i = 0; i < unit; i++)
            point_double(y, xyzz<F>(y));
        point_add(x, y);
    }
    shared.put(t, x);
#pragma unroll 1
    for (unsigned d = LANES / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            point_add(x, shared.get(t + d));
            shared.put(t, x);
        }
    }
}

/* block_sum[2 b], [2 b + 1] = plain sum of the buckets of block b, sum weighted 1, 2, ... A thread
 * takes 2^strip buckets. */
template <class F>
__global__ void __launch_bounds__(LANES) reduce_buckets(struct msm_pass pass, unsigned strip)
{
    uint32_t first = (blockIdx.x * LANES + threadIdx.x) << strip;
    xyzz<F> s, x;
    set_infinity(s);
    set_infinity(x);
    for (uint32_t i = 1u << strip; i-- > 0;) {
        add_bucket(s, pass, first + i);
        point_add(x, s);
    }
    reduce_in_block(s, x, strip);
    if (threadIdx.x == 0) {
        xyzz<F> *out = (xyzz<F> *)pass.block_sum + 2 * blockIdx.x;
        out[0] = s;
        out[1] = x;
    }
}

/* total[u] = sum of set u, from its blocks, 2^unit buckets each; block u. */
template <class F>
__global__ void __launch_bounds__(LANES)
    reduce_sets(struct msm_pass pass, unsigned blocks, unsigned unit)
{
    const xyzz<F> *in = (const xyzz<F> *)pass.block_sum + 2 * (size_t)blockIdx.x * blocks;
    unsigned each = (blocks + LANES - 1) / LANES, log2_each = 31 - __clz(each);
    unsigned first = threadIdx.x * each;
    xyzz<F> s, x, weighted;
    set_infinity(s);
    set_infinity(x);
    set_infinity(weighted);
    if (first < blocks) {
        for (unsigned i = each; i-- > 0;) {
            point_add(s, in[2 * (first + i)]);
            point_add(x, in[2 * (first + i) + 1]);
            if (i > 0)
                point_add(weighted, s);
        }
        for (unsigned i = 0; i < unit && each > 1; i++)
            point_double(weighted, xyzz<F>(weighted));
        point_add(x, weighted);
    }
    reduce_in_block(s, x, unit + log2_each);
    if (threadIdx.x == 0)
        ((xyzz<F> *)pass.total)[blockIdx.x] = x;
}

template <class F>
__global__ void combine_sets(struct msm_pass pass, unsigned sets, unsigned width, xyzz<F> *partial,
                             bool fresh, affine<F> *result)
{
    const xyzz<F> *total = (const xyzz<F> *)pass.total;
    xyzz<F> sum = total[sets - 1];
    for (unsigned u = sets - 1; u-- > 0;) {
        for (unsigned i = 0; i < width; i++)
            point_double(sum, xyzz<F>(sum));
        point_add(sum, total[u]);
    }
    if (!fresh)
        point_add(sum, *partial);
    *partial = sum;
    if (result)
        *result = to_affine(sum);
}

template <class F>
__global__ void __launch_bounds__(LANES)
    add_up(const affine<F> *points, uint64_t count, affine<F> *result)
{
    xyzz<F> s, x;
    set_infinity(s);
    set_infinity(x);
    for (uint64_t i = threadIdx.x; i < count; i += LANES)
        point_add(x, points[i]);
    reduce_in_block(s, x, 0);
    if (threadIdx.x == 0)
        *result = to_affine(x);
}

template <class F>
__global__ void find_infinite(const affine<F> *bases, uint64_t n, uint32_t *infinite)
{
    uint64_t i = (uint64_t)blockIdx.x * LANES + threadIdx.x;
    uint32_t word = __ballot_sync(0xffffffff, i < n && is_infinity(bases[i]));
    if (i % WARP == 0 && i < n)
        infinite[i / WARP] = word;
}

/* to[i] = 2^doublings from[i]; doubled and product are scratch. */
template <class F>
__global__ void __launch_bounds__(LANES)
    multiply(affine<F> *to, const affine<F> *from, uint64_t n, unsigned doublings,
             xyzz<F> *doubled, F *product)
{
    const uint64_t thread = (uint64_t)blockIdx.x * LANES + threadIdx.x, step = gridDim.x * LANES;
    F all;
    set_one(all);
    for (uint64_t i = thread; i < n; i += step) {
        xyzz<F> p = to_xyzz(from[i]);
        for (unsigned d = 0; d < doublings; d++)
            point_double(p, xyzz<F>(p));
        doubled[i] = p;
        product[i] = all;
        if (!is_infinity(p))
            all = times(all, p.zzz);
    }
    F rest = inverse(all);
    for (uint64_t i = thread < n ? (n - 1 - thread) / step * step + thread : n; i < n; i -= step) {
        const xyzz<F> &p = doubled[i];
        affine<F> r;
        set_infinity(r);
        if (!is_infinity(p)) {
            r = to_affine(p, times(rest, product[i]));
            rest = times(rest, p.zzz);
        }
        to[i] = r;
        if (i < step)
            break;
    }
}

/* Host side. */

inline unsigned multiprocessors()
{
    int device = 0, count = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 1; /* the launch reports it */
    return (unsigned)count;
}

/* Blocks for so many items, at most `each` a multiprocessor and MSM_GRID in all. */
inline unsigned grid(uint64_t items, unsigned each)
{
    uint64_t blocks = (items + LANES - 1) / LANES, most = (uint64_t)multiprocessors() * each;
    most = most < (unsigned)MSM_GRID ? most : (unsigned)MSM_GRID;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

template <class F>
void host_find_infinite(const void *bases, uint64_t n, uint32_t *infinite, cudaStream_t stream)
{
    find_infinite<F><<<(unsigned)((n + LANES - 1) / LANES), LANES, 0, stream>>>(
        (const affine<F> *)bases, n, infinite);
}

template <class F>
void host_multiply(void *to, const void *from, uint64_t n, unsigned doublings, void *scratch,
                   cudaStream_t stream)
{
    multiply<F><<<grid(n, 4), LANES, 0, stream>>>((affine<F> *)to, (const affine<F> *)from, n,
                                                  doublings, (xyzz<F> *)scratch,
                                                  (F *)((xyzz<F> *)scratch + n));
}

template <class F, bool BASES>
void affine_level(const struct msm_pass &pass, unsigned level, cudaStream_t stream)
{
    unsigned blocks = grid(msm_pairs(pass.entries, level), blocks_of_level<F>());
    level_products<F, BASES><<<blocks, LANES, 0, stream>>>(pass, level);
    msm_mark(pass.trace, stream, "products", level);
    level_inverses<F><<<(blocks + INVERT - 1) / INVERT, LANES, 0, stream>>>(pass, level,
                                                                            blocks * LANES);
    msm_mark(pass.trace, stream, "inverses", level);
    level_sums<F, BASES><<<blocks, LANES, 0, stream>>>(pass, level);
    msm_mark(pass.trace, stream, "sums", level);
}

template <class F>
void host_sum_buckets(const struct msm_pass *pass, cudaStream_t stream)
{
    unsigned level = 0;
    affine_level<F, true>(*pass, level++, stream);
    for (; level < pass->affine_levels; level++)
        affine_level<F, false>(*pass, level, stream);
    for (; msm_pairs(pass->entries, level) > LONGEST; level++)
        level_long<F><<<grid(msm_pairs(pass->entries, level), 3), LANES, 0, stream>>>(*pass,
                                                                                       level);
    levels_longest<F><<<1, LANES, 0, stream>>>(*pass, level);
    msm_mark(pass->trace, stream, "long sums", pass->affine_levels);
}

template <class F>
void host_reduce(const struct msm_pass *pass, const struct msm_shape *shape, void *partial,
                 bool fresh, void *result, cudaStream_t stream)
{
    unsigned blocks = pass->keys / (LANES << shape->strip), each = blocks / shape->sets;
    unsigned unit = shape->strip;
    for (unsigned lanes = LANES; lanes > 1; lanes /= 2)
        unit++;
    reduce_buckets<F><<<blocks, LANES, 0, stream>>>(*pass, shape->strip);
    msm_mark(pass->trace, stream, "buckets", shape->strip);
    reduce_sets<F><<<shape->sets, LANES, 0, stream>>>(*pass, each, unit);
    msm_mark(pass->trace, stream, "sets", shape->sets);
    combine_sets<F><<<1, 1, 0, stream>>>(*pass, shape->sets, shape->width, (xyzz<F> *)partial,
                                         fresh, (affine<F> *)result);
    msm_mark(pass->trace, stream, "combine", 0);
}

template <class F>
void host_add_up(const void *points, uint64_t count, void *result, cudaStream_t stream)
{
    add_up<F><<<1, LANES, 0, stream>>>((const affine<F> *)points, count, (affine<F> *)result);
}

template <class F>
constexpr struct msm_kernels kernels()
{
    return {sizeof(F),        sizeof(affine<F>),   sizeof(xyzz<F>), host_find_infinite<F>,
            host_multiply<F>, host_sum_buckets<F>, host_reduce<F>,  host_add_up<F>};
}

} // namespace msm

#endif
