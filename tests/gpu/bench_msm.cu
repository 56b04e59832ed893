/* How long a sum takes, everything resident, until the result is on the host.
 *
 *     bench_msm CURVE GROUP LOG2N TABLE SCALARS [WIDTH [LEVELS [PROFILE]]] [, ...]
 *
 * TABLE: full, none, or a number of multiples; SCALARS: uniform or witness (35 % 0, 35 % 1). Bases
 * are a[i] G for known a[i], so that each result is checked against (sum of a[i] k[i]) G. */
#include <algorithm>
#include <chrono>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "gpud/cuda/curve.cuh"
#include "gpud/cuda/msm.h"

#include "tests/gpu/check.h"

extern "C" {
#include "common/pool.h"
}

namespace
{

enum { THREADS = 128, SCALAR = 32, COLUMNS = 10, REPEAT = 7 };

/* a[i]: 24 bits. */
enum { LOG_BYTES = 3 };

HOST_DEVICE uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

HOST_DEVICE uint32_t log_of(uint64_t i)
{
    return (uint32_t)mix(i * 0x9e3779b97f4a7c15 + 77) >> (32 - 8 * LOG_BYTES);
}

template <class F>
__global__ void make_table(affine<F> *table, const affine<F> *generator)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, power = i / 256, b = i % 256;
    xyzz<F> sum;
    set_infinity(sum);
    for (int bit = 7; bit >= 0; bit--) {
        point_double(sum, xyzz<F>(sum));
        if (b >> bit & 1)
            point_add(sum, *generator);
    }
    for (unsigned d = 0; d < 8 * power; d++)
        point_double(sum, xyzz<F>(sum));
    table[i] = to_affine(sum);
}

template <class F>
__global__ void make_bases(affine<F> *bases, const affine<F> *table, uint64_t n)
{
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < n;
         i += gridDim.x * THREADS) {
        xyzz<F> sum;
        set_infinity(sum);
        for (unsigned power = 0; power < LOG_BYTES; power++)
            point_add(sum, table[256 * power + (log_of(i) >> (8 * power) & 255)]);
        bases[i] = to_affine(sum);
    }
}

struct integer {
    uint32_t l[8];
};

__global__ void make_scalars(integer *scalars, uint64_t n, integer r, unsigned bits, bool witness)
{
    uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
    if (i >= n)
        return;
    integer k = {};
    uint64_t dice = mix(i * 31 + 5) % 100;
    if (witness && dice < 70) {
        k.l[0] = dice >= 35;
    } else {
        for (int j = 0; j < 8; j++)
            k.l[j] = (uint32_t)mix(8 * i + j + 0x1234567);
        k.l[7] &= 0xffffffffu >> (256 - bits);
        integer d;
        uint32_t borrow = 0;
        for (int j = 0; j < 8; j++) {
            uint64_t t = (uint64_t)k.l[j] - r.l[j] - borrow;
            d.l[j] = (uint32_t)t;
            borrow = (uint32_t)(t >> 32) & 1;
        }
        if (!borrow)
            k = d;
    }
    scalars[i] = k;
}

/* columns[j] += the part of weight 2^(32 j) of sum a[i] k[i]. */
__global__ void add_logs(unsigned long long *columns, const integer *scalars, uint64_t n)
{
    unsigned long long sum[COLUMNS] = {};
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < n;
         i += gridDim.x * THREADS) {
        integer k = scalars[i];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            uint64_t t = (uint64_t)k.l[j] * log_of(i);
            sum[j] += (uint32_t)t;
            sum[j + 1] += t >> 32;
        }
    }
    for (int j = 0; j < COLUMNS; j++)
        atomicAdd(&columns[j], sum[j]);
}

/* sum of columns[j] 2^(32 j) modulo r, bit by bit. */
void reduce_logs(uint8_t *out, const unsigned long long *columns, const struct curve *curve)
{
    uint32_t limb[COLUMNS + 2] = {}, r[8], rest[9] = {};
    unsigned __int128 carry = 0;
    for (int j = 0; j < COLUMNS + 2; j++) {
        carry += j < COLUMNS ? columns[j] : 0;
        limb[j] = (uint32_t)carry;
        carry >>= 32;
    }
    memcpy(r, curve->fr_modulus, sizeof r);
    for (int bit = 32 * (COLUMNS + 2) - 1; bit >= 0; bit--) {
        uint32_t in = limb[bit / 32] >> (bit % 32) & 1, d[9], borrow = 0;
        for (int j = 0; j < 9; j++) {
            uint32_t next = rest[j] >> 31;
            rest[j] = rest[j] << 1 | in;
            in = next;
        }
        for (int j = 0; j < 9; j++) {
            uint64_t t = (uint64_t)rest[j] - (j < 8 ? r[j] : 0) - borrow;
            d[j] = (uint32_t)t;
            borrow = (uint32_t)(t >> 32) & 1;
        }
        if (!borrow)
            memcpy(rest, d, sizeof rest);
    }
    memcpy(out, rest, SCALAR);
}

struct job {
    const struct curve *curve;
    enum msm_group group;
    unsigned log2n;
    const char *table, *scalars;
    unsigned width, levels;
    bool profile;
};

unsigned blocks(uint64_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

template <class F>
void generate(const struct job *j, void *bases, struct pool *pool)
{
    uint64_t n = (uint64_t)1 << j->log2n;
    affine<F> generator, *table, *device;
    REQUIRE(j->curve->ops->points(j->group, 1, pool, (uint8_t *)&generator) == ST_OK);
    REQUIRE_CUDA(cudaMalloc(&table, 256 * LOG_BYTES * sizeof generator));
    REQUIRE_CUDA(cudaMalloc(&device, sizeof generator));
    REQUIRE_CUDA(cudaMemcpy(device, &generator, sizeof generator, cudaMemcpyHostToDevice));
    make_table<F><<<LOG_BYTES * 2, 128>>>(table, device);
    make_bases<F><<<std::min(blocks(n), 1056u), THREADS>>>((affine<F> *)bases, table, n);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaFree(table));
    REQUIRE_CUDA(cudaFree(device));
}

void generate_bases(const struct job *j, void *bases, struct pool *pool)
{
    bool bn = j->curve->id == CURVE_BN254;
    if (j->group == MSM_G1)
        bn ? generate<fq_bn254>(j, bases, pool) : generate<fq_bls12_381>(j, bases, pool);
    else
        bn ? generate<fq2_bn254>(j, bases, pool) : generate<fq2_bls12_381>(j, bases, pool);
}

/* The bases and plan of the last job serve the next one, where only the scalars differ. */
struct resident {
    struct job job;
    struct cuda_msm *plan;
    void *workspace;
    struct cuda_msm_shape shape;
};

void drop(struct resident *r)
{
    cuda_msm_destroy(r->plan);
    REQUIRE_CUDA(cudaFree(r->workspace));
    *r = {};
}

void prepare(struct resident *r, const struct job *j, struct pool *pool)
{
    const struct job *o = &r->job;
    if (r->plan && o->curve == j->curve && o->group == j->group && o->log2n == j->log2n &&
        strcmp(o->table, j->table) == 0 && o->width == j->width && o->levels == j->levels)
        return;
    drop(r);
    uint64_t n = (uint64_t)1 << j->log2n, point = (j->group == MSM_G1 ? 2 : 4) * j->curve->fq_bytes;
    void *bases = NULL;
    REQUIRE_CUDA(cudaMalloc(&bases, n * point));
    generate_bases(j, bases, pool);
    r->job = *j;
    r->shape.curve = j->curve->id;
    r->shape.group = j->group;
    r->shape.n = n;
    r->shape.width = j->width;
    r->shape.affine_levels = j->levels;
    r->shape.table_bytes = strcmp(j->table, "full") == 0
                               ? UINT64_MAX / 2
                               : strtoull(j->table, NULL, 10) * n * point; /* none: 0 */
    auto start = std::chrono::steady_clock::now();
    REQUIRE(cuda_msm_create(&r->plan, &r->shape, bases, NULL) == ST_OK);
    std::chrono::duration<double> s = std::chrono::steady_clock::now() - start;
    REQUIRE_CUDA(cudaFree(bases));
    REQUIRE_CUDA(cudaMalloc(&r->workspace, cuda_msm_workspace_bytes(&r->shape)));
    printf("# %s g%d 2^%u: plan %.2f GB in %.2f s, workspace %.2f GB\n", j->curve->name,
           j->group == MSM_G1 ? 1 : 2, j->log2n, (double)cuda_msm_plan_bytes(&r->shape) / 1e9,
           s.count(), (double)cuda_msm_workspace_bytes(&r->shape) / 1e9);
}

void expect(uint8_t *out, const struct job *j, const void *scalars, struct pool *pool)
{
    unsigned long long *columns, host[COLUMNS];
    uint8_t generator[4 * CURVE_MAX_FQ_BYTES], log[SCALAR];
    REQUIRE_CUDA(cudaMalloc(&columns, sizeof host));
    REQUIRE_CUDA(cudaMemset(columns, 0, sizeof host));
    add_logs<<<512, THREADS>>>(columns, (const integer *)scalars, (uint64_t)1 << j->log2n);
    REQUIRE_CUDA(cudaMemcpy(host, columns, sizeof host, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA(cudaFree(columns));
    reduce_logs(log, host, j->curve);
    REQUIRE(j->curve->ops->points(j->group, 1, pool, generator) == ST_OK);
    REQUIRE(j->curve->ops->msm(j->group, generator, log, 1, pool, out) == ST_OK);
}

void run(struct resident *r, const struct job *j, struct pool *pool)
{
    uint64_t n = (uint64_t)1 << j->log2n;
    size_t point = (j->group == MSM_G1 ? 2 : 4) * j->curve->fq_bytes;
    uint8_t expected[4 * CURVE_MAX_FQ_BYTES], *result;
    void *scalars;
    integer order;
    prepare(r, j, pool);
    REQUIRE_CUDA(cudaMalloc(&scalars, n * SCALAR));
    REQUIRE_CUDA(cudaMallocHost(&result, sizeof expected));
    memcpy(order.l, j->curve->fr_modulus, SCALAR);
    make_scalars<<<blocks(n), THREADS>>>((integer *)scalars, n, order,
                                         j->curve->id == CURVE_BN254 ? 254 : 255,
                                         strcmp(j->scalars, "witness") == 0);
    expect(expected, j, scalars, pool);
    std::vector<double> ms;
    bool right = true;
    for (int i = 0; i <= REPEAT; i++) {
        memset(result, 0xa5, point);
        REQUIRE_CUDA(cudaDeviceSynchronize());
        auto start = std::chrono::steady_clock::now();
        REQUIRE(cuda_msm_launch(r->plan, scalars, 0, n, r->workspace, result, NULL) == ST_OK);
        REQUIRE_CUDA(cudaStreamSynchronize(NULL));
        std::chrono::duration<double, std::milli> d = std::chrono::steady_clock::now() - start;
        if (i > 0)
            ms.push_back(d.count());
        right = right && memcmp(result, expected, point) == 0;
    }
    std::sort(ms.begin(), ms.end());
    printf("%-9s g%d 2^%u %s %s width %u levels %u: %.3f ms (%.3f-%.3f) %s\n", j->curve->name,
           j->group == MSM_G1 ? 1 : 2, j->log2n, j->table, j->scalars, j->width, j->levels,
           ms[ms.size() / 2], ms.front(), ms.back(), right ? "checked" : "WRONG");
    if (j->profile) {
        static char text[8192];
        REQUIRE(cuda_msm_profile(r->plan, scalars, 0, n, r->workspace, result, NULL, text,
                                 sizeof text) == ST_OK);
        fputs(text, stdout);
    }
    fflush(stdout);
    REQUIRE_CUDA(cudaFree(scalars));
    REQUIRE_CUDA(cudaFreeHost(result));
}

} // namespace

int main(int argc, char **argv)
{
    require_device();
    struct pool *pool = NULL;
    struct resident resident = {};
    REQUIRE(pool_create(&pool, 0) == ST_OK);
    for (int i = 1; i < argc;) {
        char *word[8] = {};
        int words = 0;
        for (; i < argc && strcmp(argv[i], ",") != 0; i++)
            if (words < 8)
                word[words++] = argv[i];
        i++;
        REQUIRE(words >= 5);
        struct job j = {curve_by_name(word[0]),
                        strcmp(word[1], "g1") == 0 ? MSM_G1 : MSM_G2,
                        (unsigned)atoi(word[2]),
                        word[3],
                        word[4],
                        words > 5 ? (unsigned)atoi(word[5]) : 0,
                        words > 6 ? (unsigned)atoi(word[6]) : 0,
                        words > 7};
        REQUIRE(j.curve && j.log2n <= 28);
        run(&resident, &j, pool);
    }
    drop(&resident);
    pool_destroy(pool);
    return 0;
}
