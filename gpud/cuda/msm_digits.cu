/* From scalars to sorted entries and the plan of additions; see msm_private.h. The same for all
 * curves: a scalar has 256 bits. */
#include <cub/device/device_radix_sort.cuh>

#include "gpud/cuda/msm_private.h"

namespace
{

enum { THREADS = 256, WARP = 32, PLAN_EACH = 8 };
static_assert((int)MSM_LEVELS <= (int)WARP, "a lane for each level");

struct integer {
    uint32_t l[8];
};

/* Shorter of k and r - k; whether it is the latter. */
__device__ bool shorten(integer &k, const integer &r)
{
    integer d;
    uint32_t borrow = 0, less = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint64_t t = (uint64_t)r.l[i] - k.l[i] - borrow;
        d.l[i] = (uint32_t)t;
        borrow = (uint32_t)(t >> 32) & 1;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        less = (uint32_t)(((uint64_t)d.l[i] - k.l[i] - less) >> 32) & 1;
    if (!less || borrow)
        return false;
    k = d;
    return true;
}

__device__ void shift_right(integer &k, unsigned bits)
{
#pragma unroll
    for (int i = 0; i < 7; i++)
        k.l[i] = __funnelshift_r(k.l[i], k.l[i + 1], bits);
    k.l[7] >>= bits;
}

struct digits_job {
    integer modulus;
    unsigned width, windows, sets;
    uint64_t first, stride;
    uint32_t n, keys;
};

/* Entry w n + i for digit w of scalar i. */
__global__ void __launch_bounds__(THREADS)
    recode(struct digits_job job, const uint4 *__restrict__ scalars,
           const uint32_t *__restrict__ infinite, uint32_t *__restrict__ key,
           uint32_t *__restrict__ value)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= job.n)
        return;
    uint64_t base = job.first + i;
    uint4 low = scalars[2 * (size_t)i], high = scalars[2 * (size_t)i + 1];
    integer k = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    if (infinite[base / 32] >> (base % 32) & 1)
        k = {};
    uint32_t negative = shorten(k, job.modulus) ? 1u << MSM_NEGATIVE_BIT : 0;
    uint32_t half = 1u << (job.width - 1), carry = 0, set = 0;
    size_t at = i;
    for (unsigned w = 0; w < job.windows; w++, at += job.n) {
        uint32_t digit = (k.l[0] & (2 * half - 1)) + carry, sign = negative;
        shift_right(k, job.width);
        carry = digit > half && w + 1 < job.windows;
        if (carry) {
            digit = 2 * half - digit;
            sign ^= 1u << MSM_NEGATIVE_BIT;
        }
        digit = min(digit, half); /* more only for scalars beyond r */
        key[at] = digit ? set * half + digit - 1 : job.keys;
        value[at] = (uint32_t)base | sign;
        if (++set == job.sets) {
            set = 0;
            base += job.stride;
        }
    }
}

/* start and end are 0 before; they stay so for keys without entries. */
__global__ void __launch_bounds__(THREADS) find_bounds(struct msm_pass pass)
{
    for (uint32_t p = blockIdx.x * THREADS + threadIdx.x; p < pass.entries;
         p += gridDim.x * THREADS) {
        uint32_t key = pass.key[p];
        if (p == 0 || pass.key[p - 1] != key)
            pass.start[key] = p;
        if (p + 1 == pass.entries || pass.key[p + 1] != key)
            pass.end[key] = p + 1;
    }
}

/* Where the sum of the entries from e on is, of a bucket of count, at that level. */
__device__ uint32_t whereabouts(uint32_t e, uint32_t count, unsigned level, unsigned affine_levels)
{
    if (level > affine_levels && e + (1u << affine_levels) < count)
        return MSM_FROM_XYZZ;
    return level > 0 && e + 1 < count ? MSM_FROM_AFFINE : MSM_FROM_TABLE;
}

/* The entry p of each turn of a thread: its place in its bucket, and that bucket's size. */
struct places {
    uint32_t e[PLAN_EACH], count[PLAN_EACH];
};

__device__ void find_places(struct places &at, const struct msm_pass &pass, uint32_t base)
{
#pragma unroll
    for (int i = 0; i < PLAN_EACH; i++) {
        uint32_t p = base + i * THREADS;
        uint32_t key = p < pass.entries ? __ldg(&pass.key[p]) : pass.keys;
        uint32_t start = __ldg(&pass.start[key]), end = __ldg(&pass.end[key]);
        at.e[i] = p - start;
        at.count[i] = key < pass.keys ? end - start : 0;
    }
}

/* Which lanes' entries are the left of a pair at that level. None: none at a higher one either. */
__device__ uint32_t pairs_of_warp(uint32_t e, uint32_t count, unsigned level)
{
    uint32_t step = 1u << level;
    return __ballot_sync(0xffffffff, (e & (2 * step - 1)) == 0 && e + step < count && count > 0);
}

/* Appends every pair to the list of its level. Lane l of a warp counts for level l; the warp
 * reserves its part of the block's share, the block its share of each list. */
__global__ void __launch_bounds__(THREADS) plan_pairs(struct msm_pass pass)
{
    __shared__ uint32_t length[WARP];
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t base = blockIdx.x * (THREADS * PLAN_EACH) + threadIdx.x;
    struct places at;
    find_places(at, pass, base);
    if (threadIdx.x < WARP)
        length[lane] = 0;
    __syncthreads();
    uint32_t mine = 0;
#pragma unroll
    for (int i = 0; i < PLAN_EACH; i++)
        for (unsigned level = 0; level < MSM_LEVELS; level++) {
            uint32_t pairs = pairs_of_warp(at.e[i], at.count[i], level);
            if (pairs == 0)
                break;
            mine += lane == level ? __popc(pairs) : 0;
        }
    mine = mine > 0 ? atomicAdd(&length[lane], mine) : 0;
    __syncthreads();
    if (threadIdx.x < MSM_LEVELS && length[lane] > 0)
        length[lane] = atomicAdd(&pass.jobs[lane], length[lane]);
    __syncthreads();
    mine += length[lane] + pass.list[lane < MSM_LEVELS ? lane : 0];
#pragma unroll
    for (int i = 0; i < PLAN_EACH; i++)
        for (unsigned level = 0; level < MSM_LEVELS; level++) {
            uint32_t pairs = pairs_of_warp(at.e[i], at.count[i], level);
            if (pairs == 0)
                break;
            uint32_t to = __shfl_sync(0xffffffff, mine, level) + __popc(pairs & ((1u << lane) - 1));
            mine += lane == level ? __popc(pairs) : 0;
            if (pairs >> lane & 1)
                pass.job[to] =
                    (base + i * THREADS) |
                    whereabouts(at.e[i] + (1u << level), at.count[i], level, pass.affine_levels)
                        << MSM_WHERE_BIT;
        }
}

unsigned key_bits(uint32_t keys)
{
    unsigned bits = 1;
    while (keys >> bits)
        bits++;
    return bits;
}

} // namespace

size_t msm_sort_temporary(uint64_t entries, uint32_t keys)
{
    size_t bytes = 0;
    cub::DoubleBuffer<uint32_t> none(nullptr, nullptr);
    if (cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, none, (uint32_t)entries, 0,
                                        (int)key_bits(keys)) != cudaSuccess)
        return 0;
    return bytes;
}

cudaError_t msm_plan_entries(struct msm_pass *pass, const struct msm_sort *sort,
                             const struct msm_shape *shape, const uint32_t modulus[8],
                             const void *scalars, uint64_t first, uint32_t n, cudaStream_t stream)
{
    struct digits_job job = {.modulus = {},
                             .width = shape->width,
                             .windows = shape->windows,
                             .sets = shape->sets,
                             .first = first,
                             .stride = shape->n,
                             .n = n,
                             .keys = pass->keys};
    memcpy(job.modulus.l, modulus, sizeof job.modulus.l);
    recode<<<(n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        job, (const uint4 *)scalars, pass->infinite, sort->array[0], sort->array[1]);

    msm_mark(pass->trace, stream, "digits", 0);

    cub::DoubleBuffer<uint32_t> key(sort->array[0], sort->array[2]);
    cub::DoubleBuffer<uint32_t> value(sort->array[1], sort->array[3]);
    size_t bytes = sort->temporary_bytes;
    cudaError_t e = cub::DeviceRadixSort::SortPairs(
        sort->temporary, bytes, key, value, pass->entries, 0, (int)key_bits(pass->keys), stream);
    if (e != cudaSuccess)
        return e;
    pass->key = key.Current();
    pass->value = value.Current();
    msm_mark(pass->trace, stream, "sort", 0);

    size_t bounds = ((size_t)pass->keys + 1) * sizeof(uint32_t);
    if ((e = cudaMemsetAsync(pass->start, 0, bounds, stream)) != cudaSuccess ||
        (e = cudaMemsetAsync(pass->end, 0, bounds, stream)) != cudaSuccess ||
        (e = cudaMemsetAsync(pass->jobs, 0, MSM_LEVELS * sizeof(uint32_t), stream)) != cudaSuccess)
        return e;
    find_bounds<<<(pass->entries + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*pass);
    plan_pairs<<<(pass->entries + THREADS * PLAN_EACH - 1) / (THREADS * PLAN_EACH), THREADS, 0,
                 stream>>>(*pass);
    msm_mark(pass->trace, stream, "plan", 0);
    return cudaGetLastError();
}
