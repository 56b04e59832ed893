/* The arithmetic as the device compiles it against the same lines on the host, which unit tests
 * compare with common/ff: every operation, biased random values. */
#include "tests/gpu/check.cuh"

#include <cstdio>
#include <cstring>
#include <vector>

#include "gpud/cuda/fq2.cuh"
#include "gpud/cuda/shoup.cuh"

static const uint64_t seed = 20251203;

enum { VALUES = 1 << 14, THREADS = 128 };

enum op { OP_ADD, OP_SUB, OP_DBL, OP_NEG, OP_MUL, OP_SQR, OP_INV, OP_TO, OP_FROM, OPS };

template <class F>
INLINE F compute(int op, F a, F b)
{
    switch (op) {
    case OP_ADD:
        return add(a, b);
    case OP_SUB:
        return sub(a, b);
    case OP_DBL:
        return dbl(a);
    case OP_NEG:
        return neg(a);
    case OP_MUL:
        return mul(a, b);
    case OP_SQR:
        return sqr(a);
    case OP_INV:
        return inv(a);
    case OP_TO:
        return to_canonical(a);
    default:
        return from_canonical(a);
    }
}

template <class F>
static __global__ void run(F *r, const F *a, const F *b, int op, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        r[i] = compute(op, a[i], b[i]);
}

/* What is used of one field and not of the other: constant factors, sums of products. */
template <class P>
INLINE field<P> compute_special(int kind, field<P> a, field<P> b)
{
    if constexpr (P::N == 8) { /* what scalars have */
        if (kind == 0)
            return reduce_once(mul(a, shoup_prepare(b)));
        if (kind == 1)
            return reduce_once(add_twice(a, b));
        if (kind == 2)
            return reduce_once(sub_twice(a, b));
    }
    return reduce_once(mul_add_lazy(a, b, neg_lazy(b), a));
}

enum { SCALAR_SPECIALS = 3, BASE_SPECIAL = 3 };

template <class P>
static __global__ void run_special(field<P> *r, const field<P> *a, const field<P> *b, int kind,
                                   int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        r[i] = compute_special(kind, a[i], b[i]);
}

template <class P>
static void fill(field<P> &x, uint64_t *rng)
{
    for (int i = 0; i < P::N; i += 2) {
        uint64_t word = random_biased_u64(rng);
        x.l[i] = (uint32_t)word;
        x.l[i + 1] = (uint32_t)(word >> 32);
    }
    x = from_canonical(x);
    if (random_u64(rng) % 16 == 0)
        set_zero(x);
}

template <class P>
static void fill(field2<P> &x, uint64_t *rng)
{
    fill(x.c0, rng);
    fill(x.c1, rng);
}

template <class F>
struct operands {
    std::vector<F> a, b, expected, got;
    F *da, *db, *dr;

    operands() : a(VALUES), b(VALUES), expected(VALUES), got(VALUES)
    {
        const size_t bytes = VALUES * sizeof(F);
        uint64_t rng = seed;
        for (int i = 0; i < VALUES; i++) {
            fill(a[(size_t)i], &rng);
            fill(b[(size_t)i], &rng);
        }
        REQUIRE_CUDA(cudaMalloc(&da, bytes));
        REQUIRE_CUDA(cudaMalloc(&db, bytes));
        REQUIRE_CUDA(cudaMalloc(&dr, bytes));
        REQUIRE_CUDA(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
        REQUIRE_CUDA(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    }

    ~operands()
    {
        (void)cudaFree(da);
        (void)cudaFree(db);
        (void)cudaFree(dr);
    }

    void poison()
    {
        REQUIRE_CUDA(cudaMemset(dr, 0xa5, VALUES * sizeof(F)));
    }

    bool same()
    {
        REQUIRE_CUDA(cudaGetLastError());
        REQUIRE_CUDA(cudaMemcpy(got.data(), dr, VALUES * sizeof(F), cudaMemcpyDeviceToHost));
        return std::memcmp(got.data(), expected.data(), VALUES * sizeof(F)) == 0;
    }
};

template <class F>
static int compare(const char *name)
{
    operands<F> x;
    int wrong = 0;
    for (int op = 0; op < OPS; op++) {
        for (size_t i = 0; i < VALUES; i++)
            x.expected[i] = compute(op, x.a[i], x.b[i]);
        x.poison();
        run<<<VALUES / THREADS, THREADS>>>(x.dr, x.da, x.db, op, VALUES);
        if (!x.same()) {
            std::printf("%s: operation %d differs\n", name, op);
            wrong++;
        }
    }
    return wrong;
}

template <class P>
static int compare_special(const char *name, int from, int to)
{
    operands<field<P>> x;
    int wrong = 0;
    for (int kind = from; kind < to; kind++) {
        for (size_t i = 0; i < VALUES; i++)
            x.expected[i] = compute_special(kind, x.a[i], x.b[i]);
        x.poison();
        run_special<<<VALUES / THREADS, THREADS>>>(x.dr, x.da, x.db, kind, VALUES);
        if (!x.same()) {
            std::printf("%s: special operation %d differs\n", name, kind);
            wrong++;
        }
    }
    return wrong;
}

int main()
{
    int wrong = 0;
    require_device();
    std::printf("seed %llu\n", (unsigned long long)seed);
    wrong += compare<fr_bn254>("fr of bn254");
    wrong += compare<fq_bn254>("fq of bn254");
    wrong += compare<fr_bls12_381>("fr of bls12_381");
    wrong += compare<fq_bls12_381>("fq of bls12_381");
    wrong += compare<fq2_bn254>("fq2 of bn254");
    wrong += compare<fq2_bls12_381>("fq2 of bls12_381");
    wrong += compare_special<params_fr_bn254>("fr of bn254", 0, SCALAR_SPECIALS);
    wrong += compare_special<params_fr_bls12_381>("fr of bls12_381", 0, SCALAR_SPECIALS);
    wrong += compare_special<params_fq_bn254>("fq of bn254", BASE_SPECIAL, BASE_SPECIAL + 1);
    wrong +=
        compare_special<params_fq_bls12_381>("fq of bls12_381", BASE_SPECIAL, BASE_SPECIAL + 1);
    if (wrong == 0)
        std::printf("%d values of each field: the device computes what the host does\n",
                    (int)VALUES);
    return wrong ? 1 : 0;
}
