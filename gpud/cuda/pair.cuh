/* Points added by pairs of lanes. For reductions, where threads are few and each would wait for its
 * own carries: two neighbouring lanes hold the same points, compute one of two independent products
 * each and exchange them, which takes half as long. All lanes of a warp call these together, with
 * whatever points; infinity where there is nothing to add. Device only. */
#ifndef PINION_CUDA_PAIR_CUH
#define PINION_CUDA_PAIR_CUH

#include "gpud/cuda/curve.cuh"

template <class F>
__device__ __forceinline__ products<F> pair_times(const F &a, const F &b, const F &c, const F &d)
{
    bool second = threadIdx.x % 2;
    F mine = times(second ? c : a, second ? d : b), other;
    const uint32_t *from = (const uint32_t *)&mine;
    uint32_t *to = (uint32_t *)&other;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(F) / sizeof(uint32_t)); i++)
        to[i] = __shfl_xor_sync(0xffffffff, from[i], 1);
    return {second ? other : mine, second ? mine : other};
}

/* r += q. Equal and opposite points, which are rare, take the way of a single lane. */
template <class F>
__device__ __noinline__ void pair_add(xyzz<F> &r, const xyzz<F> &q)
{
    products<F> u = pair_times(r.x, q.zz, q.x, r.zz), s = pair_times(r.y, q.zzz, q.y, r.zzz);
    F h = sub(u.cd, u.ab), d = sub(s.cd, s.ab);
    products<F> z = pair_times(r.zz, q.zz, r.zzz, q.zzz);
    products<F> squares = pair_times(h, h, d, d);
    products<F> hq = pair_times(squares.ab, h, squares.ab, u.ab); /* h^3, Q */
    F x = sub(sub(squares.cd, hq.ab), dbl(hq.cd));
    products<F> zs = pair_times(z.ab, squares.ab, z.cd, hq.ab);
    products<F> y = pair_times(d, sub(hq.cd, x), s.ab, hq.ab);
    if (is_zero(h) || is_infinity(r) || is_infinity(q)) {
        point_add(r, q);
        return;
    }
    r = {x, sub(y.ab, y.cd), zs.ab, zs.cd};
}

/* r = 2 r. */
template <class F>
__device__ __noinline__ void pair_double(xyzz<F> &r)
{
    F u = dbl(r.y);
    products<F> squares = pair_times(u, u, r.x, r.x);            /* V, x^2 */
    products<F> ws = pair_times(u, squares.ab, r.x, squares.ab); /* W, S */
    F m = add(dbl(squares.cd), squares.cd);
    products<F> next = pair_times(m, m, squares.ab, r.zz);
    F x = sub(next.ab, dbl(ws.cd));
    products<F> y = pair_times(m, sub(ws.cd, x), ws.ab, r.y);
    r.zzz = times(ws.ab, r.zzz);
    r.zz = next.cd;
    r.x = x;
    r.y = sub(y.ab, y.cd);
}

#endif
