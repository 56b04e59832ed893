/* Fields and points on the device against the same lines on the host, and those against the
 * processor's own: to the bit. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpud/cuda/curve.cuh"

#include "tests/gpu/check.h"

extern "C" {
#include "common/curve.h"
#include "common/groth16/ops.h"
#include "common/pool.h"
}

namespace
{

enum { N = 256, OPERATIONS = 12 };

/* Everything about the pair p, q. */
template <class F>
struct answers {
    F field[OPERATIONS];
    affine<F> point[OPERATIONS];
};

template <class F>
HOST_DEVICE void answer(answers<F> &a, const affine<F> &p, const affine<F> &q)
{
    F *f = a.field;
    f[0] = mul(p.x, q.y);
    f[1] = sqr(p.x);
    f[2] = inv(q.x);
    f[3] = add(p.x, q.y);
    f[4] = sub(p.x, q.y);
    f[5] = neg(p.y);
    f[6] = dbl(q.y);
    f[7] = mul(inverse(q.x), q.x);
    f[8] = mul(sub(p.x, p.x), q.x);
    f[9] = times(p.x, q.x);
    f[10] = square(q.x);
    set_one(f[11]);
    xyzz<F> s = to_xyzz(p), t;
    a.point[0] = to_affine(s);
    point_double(t, s);
    a.point[1] = to_affine(t); /* 2 p */
    point_add(t, p);
    a.point[2] = to_affine(t); /* 3 p */
    point_add(s, q);
    a.point[3] = to_affine(s); /* p + q */
    point_add(s, t);
    a.point[4] = to_affine(s); /* 4 p + q */
    point_add(s, xyzz<F>(s));
    a.point[5] = to_affine(s); /* 8 p + 2 q */
    t = s;
    t.y = neg(t.y);
    point_add(s, t);
    a.point[6] = to_affine(s); /* infinity */
    point_add(s, p);
    point_add(s, p);
    a.point[7] = to_affine(s); /* 2 p */
    F d = sub(q.x, p.x);
    F e = is_zero(d) ? slope_denominator_same_x(p.y, q.y) : d;
    a.point[8] = add_with_inverse(p, q, d, inv(e)); /* p + q */
    set_zero(d);
    a.point[9] = add_with_inverse(p, p, d, inv(slope_denominator_same_x(p.y, p.y))); /* 2 p */
    affine<F> minus = p;
    minus.y = neg(p.y);
    a.point[10] = add_with_inverse(p, minus, d, inv(slope_denominator_same_x(p.y, minus.y)));
    set_infinity(minus);
    a.point[11] = add_with_inverse(minus, p, p.x, inv(p.x)); /* p */
}

template <class F>
__global__ void answer_all(answers<F> *a, const affine<F> *p)
{
    unsigned i = threadIdx.x;
    answer(a[i], p[i], p[(i * 7 + 1) % N]);
}

template <class F>
void check(const char *name, enum msm_group group, struct pool *pool)
{
    const struct curve *curve = curve_by_name(name);
    static affine<F> p[8 * N + 2 * N];
    static answers<F> device[N], host;
    affine<F> *device_p, zero = {};
    answers<F> *device_a;
    REQUIRE(curve->ops->points(group, 10 * N, pool, (uint8_t *)p) == ST_OK); /* (i + 1) G */
    REQUIRE_CUDA(cudaMalloc(&device_p, sizeof p));
    REQUIRE_CUDA(cudaMalloc(&device_a, sizeof device));
    REQUIRE_CUDA(cudaMemcpy(device_p, p, sizeof p, cudaMemcpyHostToDevice));
    answer_all<F><<<1, N>>>(device_a, device_p);
    REQUIRE_CUDA(cudaMemcpy(device, device_a, sizeof device, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < N; i++) {
        int k = (i * 7 + 1) % N, a = i + 1, b = k + 1;
        answer(host, p[i], p[k]);
        const affine<F> *want[OPERATIONS] = {
            &p[a - 1],         &p[2 * a - 1],         &p[3 * a - 1], &p[a + b - 1],
            &p[4 * a + b - 1], &p[8 * a + 2 * b - 1], &zero,         &p[2 * a - 1],
            &p[a + b - 1],     &p[2 * a - 1],         &zero,         &p[a - 1]};
        for (int o = 0; o < OPERATIONS && bad < 12; o++) {
            if (memcmp(&host.point[o], want[o], sizeof zero) != 0)
                printf("%s: host point %d of %d\n", name, o, i), bad++;
            if (memcmp(&device[i].point[o], want[o], sizeof zero) != 0)
                printf("%s: device point %d of %d\n", name, o, i), bad++;
            if (memcmp(&device[i].field[o], &host.field[o], sizeof(F)) != 0)
                printf("%s: field %d of %d\n", name, o, i), bad++;
        }
    }
    REQUIRE_CUDA(cudaFree(device_p));
    REQUIRE_CUDA(cudaFree(device_a));
    REQUIRE(bad == 0);
    printf("%s: %s g%d, %d pairs\n", "ok", name, group == MSM_G1 ? 1 : 2, (int)N);
}

} // namespace

int main(void)
{
    require_device();
    struct pool *pool = NULL;
    REQUIRE(pool_create(&pool, 0) == ST_OK);
    check<fq_bn254>("bn254", MSM_G1, pool);
    check<fq_bls12_381>("bls12_381", MSM_G1, pool);
    check<fq2_bn254>("bn254", MSM_G2, pool);
    check<fq2_bls12_381>("bls12_381", MSM_G2, pool);
    pool_destroy(pool);
    return 0;
}
