/* The transforms on the device against the processor's, to the bit, and with --bench N...: their
 * times at 2^N, results checked by a closed form. */
#include "tests/gpu/check.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
#include "common/curve.h"
#include "common/groth16/ops.h"
#include "common/pool.h"
}
#include "gpud/cuda/ntt.h"
#include "gpud/cuda/ntt_tile.cuh"

static const uint64_t seed = 20251201;

static struct pool *pool;

/* n elements on the device. */
template <class F>
struct device_vector {
    F *p;
    size_t n;

    explicit device_vector(size_t n) : n(n)
    {
        REQUIRE_CUDA(cudaMalloc(&p, n * sizeof *p));
    }

    ~device_vector()
    {
        (void)cudaFree(p);
    }

    void put(const std::vector<F> &v)
    {
        REQUIRE_CUDA(cudaMemcpy(p, v.data(), n * sizeof *p, cudaMemcpyHostToDevice));
    }

    std::vector<F> get() const
    {
        std::vector<F> v(n);
        REQUIRE_CUDA(cudaMemcpy(v.data(), p, n * sizeof *p, cudaMemcpyDeviceToHost));
        return v;
    }
};

template <class F>
static std::vector<F> random_vector(size_t n, uint64_t *rng)
{
    std::vector<F> v(n);
    for (F &x : v) {
        for (int i = 0; i < F::N; i += 2) {
            uint64_t word = random_biased_u64(rng);
            x.l[i] = (uint32_t)word;
            x.l[i + 1] = (uint32_t)(word >> 32);
        }
        x = from_canonical(x);
    }
    return v;
}

template <class F>
static bool same(const std::vector<F> &a, const std::vector<F> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(F)) == 0;
}

static uint32_t reverse(uint32_t i, unsigned bits)
{
    uint32_t r = 0;
    for (unsigned b = 0; b < bits; b++)
        r |= (i >> b & 1) << (bits - 1 - b);
    return r;
}

/* The scalars of H with the processor's transforms. */
template <class P>
static std::vector<field<P>> quotient(const struct curve *curve, unsigned log2n,
                                      const std::vector<field<P>> &a,
                                      const std::vector<field<P>> &b)
{
    size_t n = (size_t)1 << log2n;
    std::vector<field<P>> v[3] = {a, b, a};
    for (size_t i = 0; i < n; i++)
        v[2][i] = mul(a[i], b[i]);
    field<P> g = ntt_shift<P>(log2n, NTT_KIND_SNARKJS), power;
    for (auto &x : v) {
        REQUIRE_OK(curve->ops->ntt(x.data(), log2n, true, pool));
        set_one(power);
        for (size_t i = 0; i < n; i++) {
            uint32_t at = reverse((uint32_t)i, log2n);
            x[at] = mul(x[at], power);
            power = mul(power, g);
        }
        REQUIRE_OK(curve->ops->ntt(x.data(), log2n, false, pool));
    }
    for (size_t i = 0; i < n; i++)
        v[0][i] = to_canonical(sub(mul(v[0][i], v[1][i]), v[2][i]));
    return v[0];
}

template <class P>
static void compare(const struct curve *curve, unsigned log2n, bool with_quotient)
{
    using F = field<P>;
    size_t n = (size_t)1 << log2n;
    uint64_t rng = seed + log2n;
    struct cuda_ntt *d;
    REQUIRE_OK(cuda_ntt_create(&d, curve->id, log2n));
    std::vector<F> a = random_vector<F>(n, &rng), b = random_vector<F>(n, &rng);
    device_vector<F> da(n), db(n), dc(n);

    da.put(a);
    REQUIRE_OK(cuda_ntt_inverse(d, da.p, NULL));
    std::vector<F> expected = a;
    REQUIRE_OK(curve->ops->ntt(expected.data(), log2n, true, pool));
    REQUIRE(same(da.get(), expected));
    da.put(a);
    REQUIRE_OK(cuda_ntt_forward(d, da.p, NULL));
    expected = a;
    REQUIRE_OK(curve->ops->ntt(expected.data(), log2n, false, pool));
    REQUIRE(same(da.get(), expected));
    if (with_quotient) {
        da.put(a);
        db.put(b);
        REQUIRE_OK(cuda_ntt_quotient(d, da.p, db.p, dc.p, NULL));
        REQUIRE(same(da.get(), quotient(curve, log2n, a, b)));
    }
    cuda_ntt_destroy(d);
}

template <class P>
static void compare_all(const struct curve *curve, unsigned largest)
{
    for (unsigned log2n = 0; log2n <= largest; log2n++)
        compare<P>(curve, log2n, log2n <= 16);
    std::printf("%s: transforms of 2^0 to 2^%u are the processor's\n", curve->name, largest);
}

/* v[reverse(i)] = x^i */
template <class P>
static __global__ void fill_powers(field<P> *v, const ntt_powers<P> *powers, uint32_t n)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v[i] = ntt_power(*powers, i);
}

template <class P>
static __global__ void count_differences(const field<P> *v, const ntt_powers<P> *powers, uint32_t n,
                                         unsigned *count)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (!equal(v[i], ntt_power(*powers, i)))
            atomicAdd(count, 1U);
}

/* The polynomial sum of (x z)^i, i < n, has the value (x^n - 1) / (x root^k - 1) at root^k. */
template <class P>
static void check_values(const field<P> *v, field<P> x, unsigned log2n)
{
    enum { SAMPLES = 64 };
    uint64_t rng = seed;
    field<P> one, root = ntt_root_of_order<P>(log2n, NTT_KIND_SNARKJS), top = x, got;
    set_one(one);
    for (unsigned i = 0; i < log2n; i++)
        top = sqr(top);
    for (int s = 0; s < SAMPLES; s++) {
        uint32_t k = (uint32_t)random_u64(&rng) & ((1U << log2n) - 1);
        field<P> z = x, power = root;
        for (unsigned b = 0; b < log2n; b++) {
            if (k >> b & 1)
                z = mul(z, power);
            power = sqr(power);
        }
        REQUIRE_CUDA(cudaMemcpy(&got, v + k, sizeof got, cudaMemcpyDeviceToHost));
        REQUIRE(equal(mul(got, sub(z, one)), sub(top, one)));
    }
}

template <class P>
static void bench(const struct curve *curve, unsigned log2n)
{
    enum { REPETITIONS = 9, BLOCKS = 1024, THREADS = 256 };
    using F = field<P>;
    uint32_t n = 1U << log2n;
    uint64_t rng = seed;
    F x = random_vector<F>(1, &rng)[0];
    ntt_powers<P> powers = ntt_factor_powers<P>(log2n, x), *on_device;
    set_one(powers.scale);
    struct cuda_ntt *d;
    REQUIRE_OK(cuda_ntt_create(&d, curve->id, log2n));
    device_vector<F> a(n), b(n), c(n);
    unsigned *count, differences = 1;
    REQUIRE_CUDA(cudaMalloc(&on_device, sizeof powers));
    REQUIRE_CUDA(cudaMalloc(&count, sizeof *count));
    REQUIRE_CUDA(cudaMemcpy(on_device, &powers, sizeof powers, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemset(count, 0, sizeof *count));

    fill_powers<<<BLOCKS, THREADS>>>(a.p, on_device, n);
    REQUIRE_OK(cuda_ntt_forward(d, a.p, NULL));
    check_values(a.p, x, log2n);
    REQUIRE_OK(cuda_ntt_inverse(d, a.p, NULL));
    count_differences<<<BLOCKS, THREADS>>>(a.p, on_device, n, count);
    REQUIRE_CUDA(cudaMemcpy(&differences, count, sizeof differences, cudaMemcpyDeviceToHost));
    REQUIRE(differences == 0);

    REQUIRE_CUDA(cudaMemcpy(b.p, a.p, (size_t)n * sizeof(F), cudaMemcpyDeviceToDevice));
    float forward = median_ms(REPETITIONS, [&] { REQUIRE_OK(cuda_ntt_forward(d, a.p, NULL)); });
    float inverse = median_ms(REPETITIONS, [&] { REQUIRE_OK(cuda_ntt_inverse(d, a.p, NULL)); });
    float quotient =
        median_ms(REPETITIONS, [&] { REQUIRE_OK(cuda_ntt_quotient(d, a.p, b.p, c.p, NULL)); });
    std::printf("%s ntt 2^%u: forward %.3f ms, inverse %.3f ms, quotient %.3f ms\n", curve->name,
                log2n, forward, inverse, quotient);
    REQUIRE_CUDA(cudaFree(on_device));
    REQUIRE_CUDA(cudaFree(count));
    cuda_ntt_destroy(d);
}

int main(int argc, char **argv)
{
    require_device();
    const struct curve *bn254 = curve_by_name("bn254"), *bls = curve_by_name("bls12_381");
    REQUIRE(bn254 && bls);
    REQUIRE_OK(pool_create(&pool, 0));
    if (argc > 2 && std::strcmp(argv[1], "--bench") == 0) {
        for (int i = 2; i < argc; i++) {
            bench<params_fr_bls12_381>(bls, (unsigned)std::atoi(argv[i]));
            bench<params_fr_bn254>(bn254, (unsigned)std::atoi(argv[i]));
        }
    } else {
        unsigned largest = argc > 1 ? (unsigned)std::atoi(argv[1]) : 20;
        std::printf("seed %llu\n", (unsigned long long)seed);
        compare_all<params_fr_bn254>(bn254, largest);
        compare_all<params_fr_bls12_381>(bls, largest);
    }
    pool_destroy(pool);
    return 0;
}
