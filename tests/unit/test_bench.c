/* The operations behind benchmarks compute what they say. */
#include "tests/unit/circuit.h"

#include "common/ec/g1.h"
#include "common/ec/g2.h"

enum { N = 600 };

/* points[i] is (i + 1) G, and the sum of k[i] points[i] is the sum of k[i] (i + 1) times G. */
static void points_and_sums(void **state)
{
    (void)state;
    struct pool *pool = test_pool(3);
    uint8_t *points = malloc((size_t)N * g2_bytes), *scalars = malloc((size_t)N * FR_BYTES);
    uint8_t sum[g2_bytes];
    assert_non_null(points);
    assert_non_null(scalars);
    uint64_t seed = 12;
    fr total = {{0}}, t;
    for (size_t i = 0; i < N; i++) {
        fr k = circuit_value(&seed);
        fr_store(scalars + i * FR_BYTES, &k);
        fr_from_u64(&t, i + 1);
        fr_from_canonical(&k, &k);
        fr_mul(&t, &t, &k);
        fr_add(&total, &total, &t);
    }
    fr_to_canonical(&total, &total);

    assert_int_equal(instance_curve.ops->points(MSM_G1, N, pool, points), ST_OK);
    g1 p, expected;
    g1_affine a;
    g1_set_infinity(&p);
    for (size_t i = 0; i < N; i++) {
        g1_add_affine(&p, &p, &g1_generator);
        g1_to_affine(&a, &p);
        assert_memory_equal(&a, points + i * g1_bytes, g1_bytes);
    }
    assert_int_equal(instance_curve.ops->msm(MSM_G1, points, scalars, N, pool, sum), ST_OK);
    g1_from_affine(&expected, &g1_generator);
    g1_mul(&expected, &expected, total.l, FR_LIMBS);
    g1_to_affine(&a, &expected);
    assert_memory_equal(&a, sum, g1_bytes);

    assert_int_equal(instance_curve.ops->points(MSM_G2, N, pool, points), ST_OK);
    assert_int_equal(instance_curve.ops->msm(MSM_G2, points, scalars, N, pool, sum), ST_OK);
    g2 expected2;
    g2_affine b;
    g2_from_affine(&expected2, &g2_generator);
    g2_mul(&expected2, &expected2, total.l, FR_LIMBS);
    g2_to_affine(&b, &expected2);
    assert_memory_equal(&b, sum, g2_bytes);
    free(scalars);
    free(points);
    pool_destroy(pool);
}

static void transform_and_back(void **state)
{
    (void)state;
    struct pool *pool = test_pool(2);
    unsigned log2n = FR_TWO_ADICITY < 9 ? FR_TWO_ADICITY : 9;
    size_t n = (size_t)1 << log2n;
    uint64_t seed = 6;
    fr *a = aligned_alloc(64, (n * sizeof *a + 63) / 64 * 64), *b = malloc(n * sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    for (size_t i = 0; i < n; i++)
        b[i] = circuit_value(&seed);
    memcpy(a, b, n * sizeof *a);
    assert_int_equal(instance_curve.ops->ntt(a, log2n, true, pool), ST_OK);
    assert_memory_not_equal(a, b, n * sizeof *a);
    assert_int_equal(instance_curve.ops->ntt(a, log2n, false, pool), ST_OK);
    assert_memory_equal(a, b, n * sizeof *a);
    assert_int_equal(instance_curve.ops->ntt(a, FR_TWO_ADICITY + 1, false, pool), ST_INPUT);
    status_clear();
    free(b);
    free(a);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_and_sums),
        cmocka_unit_test(transform_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
