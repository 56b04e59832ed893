/* The part of the MSM that computes with points, for one field of coordinates: table, and what
 * launches the kernels. */
#ifndef PINION_CUDA_MSM_POINTS_CUH
#define PINION_CUDA_MSM_POINTS_CUH

#include "gpud/cuda/msm_reduce.cuh"

namespace msm
{

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
__global__ void __launch_bounds__(LANES) multiply(affine<F> *to, const affine<F> *from, uint64_t n,
                                                  unsigned doublings, xyzz<F> *doubled, F *product)
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
    level_inverses<F>
        <<<(blocks + INVERT - 1) / INVERT, LANES, 0, stream>>>(pass, level, blocks * LANES);
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
        level_long<F><<<grid(msm_pairs(pass->entries, level), 3), LANES, 0, stream>>>(*pass, level);
    levels_longest<F><<<1, PAIRS, 0, stream>>>(*pass, level);
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
    reduce_strips<F><<<blocks, LANES, 0, stream>>>(*pass, shape->strip);
    msm_mark(pass->trace, stream, "strips", shape->strip);
    reduce_blocks<F><<<blocks, PAIRS, 0, stream>>>(*pass, shape->strip);
    msm_mark(pass->trace, stream, "buckets", shape->strip);
    reduce_sets<F><<<shape->sets, PAIRS, 0, stream>>>(*pass, each, unit);
    msm_mark(pass->trace, stream, "sets", shape->sets);
    combine_sets<F><<<1, WARP, 0, stream>>>(*pass, shape->sets, shape->width, (xyzz<F> *)partial,
                                            fresh, (affine<F> *)result);
    msm_mark(pass->trace, stream, "combine", 0);
}

template <class F>
void host_add_up(const void *points, uint64_t count, void *result, cudaStream_t stream)
{
    add_up<F><<<1, PAIRS, 0, stream>>>((const affine<F> *)points, count, (affine<F> *)result);
}

template <class F>
constexpr struct msm_kernels kernels()
{
    return {sizeof(F),        sizeof(affine<F>),   sizeof(xyzz<F>), host_find_infinite<F>,
            host_multiply<F>, host_sum_buckets<F>, host_reduce<F>,  host_add_up<F>};
}

} // namespace msm

#endif
