/* The device's MSM against the processor's, to the bit: both curves and groups, with, without and
 * with part of a table, over scalars and bases that reach every path.
 *
 *     test_msm [SEED [GROUPS]]     GROUPS: those of 1234 to test, BN254 G1, BLS12-381 G1, BN254 G2,
 * ...
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpud/cuda/msm.h"

#include "tests/gpu/check.h"

extern "C" {
#include "common/pool.h"
}

namespace
{

enum { SCALAR = 32, MAX_POINT = 4 * CURVE_MAX_FQ_BYTES };
const size_t MOST = (1 << 16) + 1, PIECES = 300;

uint64_t seed = 1;
size_t largest = MOST;

uint64_t draw()
{
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* One curve and group, with room for the largest case. */
struct bench {
    const struct curve *curve;
    enum msm_group group;
    size_t point;
    struct pool *pool;
    uint8_t *multiples, *bases, *scalars; /* multiples[i] = (i + 1) G */
    void *device_scalars, *result;
    unsigned cases;
};

void random_scalar(uint8_t *out, const struct curve *curve)
{
    do
        for (int i = 0; i < SCALAR; i += 8) {
            uint64_t x = draw();
            memcpy(out + i, &x, 8);
        }
    while (!curve_below(out, curve->fr_modulus, SCALAR));
}

enum scalars {
    UNIFORM,
    ZERO,
    ONE,
    MINUS_ONE,
    EQUAL,
    ONE_HOT,
    SPARSE,
    WITNESS,
    SHORT,
    HALF,
    SCALARS
};
const char *const scalars_name[] = {"uniform", "zero",      "one",      "r - 1", "equal",
                                    "one hot", "99 % zero", "70 % 0/1", "short", "around r/2"};

/* k = (r + 1) / 2, or one less: the longest that are not negated, and are. */
void half_of_order(uint8_t *k, const struct curve *curve, bool less)
{
    for (int i = 0; i < SCALAR; i++)
        k[i] = (uint8_t)(curve->fr_modulus[i] >> 1 |
                         (i + 1 < SCALAR ? curve->fr_modulus[i + 1] << 7 : 0));
    if (!less)
        k[0]++; /* no carry: both orders are 1 mod 4 */
}

void fill_scalars(const struct bench *b, enum scalars kind, size_t n)
{
    uint8_t common[SCALAR];
    size_t hot = draw() % n;
    random_scalar(common, b->curve);
    memset(b->scalars, 0, n * SCALAR);
    for (size_t i = 0; i < n; i++) {
        uint8_t *k = b->scalars + i * SCALAR;
        uint64_t dice = draw() % 100;
        if (kind == UNIFORM || (kind == ONE_HOT && i == hot) || (kind == SPARSE && dice == 0) ||
            (kind == WITNESS && dice >= 70))
            random_scalar(k, b->curve);
        else if (kind == ONE || (kind == WITNESS && dice >= 35))
            k[0] = 1;
        else if (kind == EQUAL)
            memcpy(k, common, SCALAR);
        else if (kind == HALF)
            half_of_order(k, b->curve, dice % 2);
        else if (kind == SHORT) {
            uint64_t x = draw() >> draw() % 64;
            memcpy(k, &x, 8);
        } else if (kind == MINUS_ONE) {
            memcpy(k, b->curve->fr_modulus, SCALAR);
            k[0]--;
        }
    }
}

enum bases { DISTINCT, INFINITE, SAME, OPPOSITE, BASES };
const char *const bases_name[] = {"distinct", "some infinite", "all equal", "P and -P"};

void negate(uint8_t *y, const uint8_t *modulus, size_t bytes)
{
    int borrow = 0;
    for (size_t i = 0; i < bytes; i++) {
        int d = modulus[i] - y[i] - borrow;
        borrow = d < 0;
        y[i] = (uint8_t)d;
    }
}

void fill_bases(const struct bench *b, enum bases kind, size_t n)
{
    size_t coordinate = b->point / 2, fq = b->curve->fq_bytes;
    for (size_t i = 0; i < n; i++) {
        uint8_t *p = b->bases + i * b->point;
        size_t from = kind == SAME ? 0 : kind == OPPOSITE ? i / 4 : i;
        memcpy(p, b->multiples + from * b->point, b->point);
        if (kind == INFINITE && draw() % 2)
            memset(p, 0, b->point);
        if (kind == OPPOSITE && i % 2)
            for (size_t at = coordinate; at < b->point; at += fq)
                negate(p + at, b->curve->fq_modulus, fq);
    }
}

enum modes { FULL, NONE, PART, TALL, PASSES, MODES };
const char *const modes_name[] = {"all multiples", "no table", "3 multiples", "2 affine levels",
                                  "passes"};

struct cuda_msm_shape shape_of(const struct bench *b, enum modes mode, size_t n)
{
    struct cuda_msm_shape s = {};
    s.curve = b->curve->id;
    s.group = b->group;
    s.n = n;
    s.table_bytes = mode == NONE ? 0 : mode == PART ? 3 * n * b->point : UINT64_MAX / 2;
    if (mode == TALL) {
        s.width = 9;
        s.affine_levels = 2;
    }
    if (mode == PASSES)
        s.workspace_bytes = 1;
    return s;
}

void run_case(struct bench *b, const struct cuda_msm *plan, void *workspace, size_t n,
              enum bases bases, enum modes mode, enum scalars kind)
{
    uint8_t expected[MAX_POINT], got[MAX_POINT];
    fill_scalars(b, kind, n);
    REQUIRE(b->curve->ops->msm(b->group, b->bases, b->scalars, n, b->pool, expected) == ST_OK);
    REQUIRE_CUDA(cudaMemcpy(b->device_scalars, b->scalars, n * SCALAR, cudaMemcpyHostToDevice));
    memset(b->result, 0xa5, b->point);
    REQUIRE(cuda_msm_launch(plan, b->device_scalars, 0, n, workspace, b->result, NULL) == ST_OK);
    REQUIRE_CUDA(cudaStreamSynchronize(NULL));
    memcpy(got, b->result, b->point);
    b->cases++;
    if (memcmp(expected, got, b->point) != 0) {
        fprintf(stderr, "FAIL: %s g%d, n %zu, scalars %s, bases %s, %s\n", b->curve->name,
                b->group == MSM_G1 ? 1 : 2, n, scalars_name[kind], bases_name[bases],
                modes_name[mode]);
        exit(1);
    }
}

void run_plan(struct bench *b, size_t n, enum bases bases, enum modes mode)
{
    struct cuda_msm_shape shape = shape_of(b, mode, n);
    struct cuda_msm *plan = NULL;
    void *workspace = NULL;
    uint64_t bytes = cuda_msm_workspace_bytes(&shape);
    fill_bases(b, bases, n);
    REQUIRE(cuda_msm_create(&plan, &shape, b->bases, NULL) == ST_OK);
    REQUIRE_CUDA(cudaMalloc(&workspace, bytes));
    REQUIRE_CUDA(cudaMemset(workspace, 0xa5, bytes));
    for (int kind = 0; kind < SCALARS; kind++)
        if (n < 10000 || kind == UNIFORM || kind == WITNESS || kind == EQUAL)
            run_case(b, plan, workspace, n, bases, mode, (enum scalars)kind);
    REQUIRE_CUDA(cudaFree(workspace));
    cuda_msm_destroy(plan);
}

/* Bases that come in pieces, sums of a range of them, and sums of sums. */
void run_pieces(struct bench *b)
{
    const size_t N = PIECES, PIECE = 130;
    struct cuda_msm_shape shape = shape_of(b, NONE, PIECE);
    struct cuda_msm *plan = NULL;
    void *workspace = NULL, *parts = NULL;
    uint8_t expected[MAX_POINT];
    fill_bases(b, DISTINCT, N);
    fill_scalars(b, UNIFORM, N);
    REQUIRE(b->curve->ops->msm(b->group, b->bases, b->scalars, N, b->pool, expected) == ST_OK);
    REQUIRE(cuda_msm_create(&plan, &shape, b->bases, NULL) == ST_OK);
    REQUIRE_CUDA(cudaMalloc(&workspace, cuda_msm_workspace_bytes(&shape)));
    REQUIRE_CUDA(cudaMalloc(&parts, 4 * b->point));
    REQUIRE_CUDA(cudaMemcpy(b->device_scalars, b->scalars, N * SCALAR, cudaMemcpyHostToDevice));
    uint8_t *part = (uint8_t *)parts;
    const uint8_t *k = (const uint8_t *)b->device_scalars;
    REQUIRE(cuda_msm_launch(plan, k, 0, 100, workspace, part, NULL) == ST_OK);
    REQUIRE(cuda_msm_launch(plan, k + 100 * SCALAR, 100, 30, workspace, part + b->point, NULL) ==
            ST_OK);
    for (size_t i = 1; i < 3; i++) {
        size_t n = N - i * PIECE < PIECE ? N - i * PIECE : PIECE;
        REQUIRE(cuda_msm_load(plan, b->bases + i * PIECE * b->point, n, NULL) == ST_OK);
        REQUIRE(cuda_msm_launch(plan, k + i * PIECE * SCALAR, 0, n, workspace,
                                part + (i + 1) * b->point, NULL) == ST_OK);
    }
    REQUIRE(cuda_msm_add_up(b->curve->id, b->group, parts, 4, b->result, NULL) == ST_OK);
    REQUIRE_CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(memcmp(expected, b->result, b->point) == 0);
    memset(expected, 0, sizeof expected);
    REQUIRE(cuda_msm_launch(plan, k, 0, 0, workspace, b->result, NULL) == ST_OK);
    REQUIRE_CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(memcmp(expected, b->result, b->point) == 0);
    b->cases += 2;
    REQUIRE_CUDA(cudaFree(workspace));
    REQUIRE_CUDA(cudaFree(parts));
    cuda_msm_destroy(plan);
}

void run_group(const char *curve, enum msm_group group, struct pool *pool)
{
    static const size_t sizes[] = {1,   2,   3,    5,    7,    8,    9,    31,  33,  63,
                                   64,  65,  127,  128,  129,  255,  256,  257, 300, 511,
                                   512, 513, 1023, 1024, 1025, 4095, 4096, 4097};
    static const size_t thorough[] = {1, 2, 17, 257, 513, 2049};
    struct bench b = {};
    b.curve = curve_by_name(curve);
    b.group = group;
    b.point = (group == MSM_G1 ? 2 : 4) * b.curve->fq_bytes;
    b.pool = pool;
    b.multiples = (uint8_t *)malloc(MOST * b.point);
    b.bases = (uint8_t *)malloc(MOST * b.point);
    b.scalars = (uint8_t *)malloc(MOST * SCALAR);
    REQUIRE(b.multiples && b.bases && b.scalars);
    REQUIRE_CUDA(cudaMalloc(&b.device_scalars, MOST * SCALAR));
    REQUIRE_CUDA(cudaMallocHost(&b.result, MAX_POINT));
    REQUIRE(b.curve->ops->points(group, largest > PIECES ? largest : PIECES, pool, b.multiples) ==
            ST_OK);
    for (size_t n : thorough)
        for (int bases = 0; bases < BASES && n <= largest; bases++)
            for (int mode = 0; mode < PASSES; mode++)
                run_plan(&b, n, (enum bases)bases, (enum modes)mode);
    unsigned turn = 0;
    for (size_t n : sizes)
        for (int bases = 0; bases < BASES && n <= largest; bases++)
            run_plan(&b, n, (enum bases)bases, (enum modes)(turn++ % 3));
    if (group == MSM_G1 && largest == MOST)
        for (size_t n : {65535, 65536, 65537})
            for (int mode = 0; mode < MODES; mode++)
                run_plan(&b, n, mode % 2 ? DISTINCT : INFINITE, (enum modes)mode);
    run_pieces(&b);
    printf("ok: %s g%d, %u sums\n", curve, group == MSM_G1 ? 1 : 2, b.cases);
    fflush(stdout);
    REQUIRE_CUDA(cudaFree(b.device_scalars));
    REQUIRE_CUDA(cudaFreeHost(b.result));
    free(b.multiples);
    free(b.bases);
    free(b.scalars);
}

} // namespace

int main(int argc, char **argv)
{
    require_device();
    struct pool *pool = NULL;
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    if (argc > 3)
        largest = strtoull(argv[3], NULL, 0) < MOST ? strtoull(argv[3], NULL, 0) : MOST;
    printf("seed %llu\n", (unsigned long long)seed);
    REQUIRE(pool_create(&pool, 0) == ST_OK);
    for (const char *g = argc > 2 ? argv[2] : "1234"; *g; g++)
        run_group((*g - '1') % 2 ? "bls12_381" : "bn254", *g < '3' ? MSM_G1 : MSM_G2, pool);
    pool_destroy(pool);
    return 0;
}
