/* The device's transforms, run on the host, against common/poly/ntt: one tile, and one pass over
 * columns of an odd and of an even number of layers. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/poly/ntt.h"
#include "tests/unit/cuda_twin_ntt.h"
#include "tests/unit/random.h"

static const uint64_t seed = 20251130;

enum { LOG_FIRST = TWIN_TILE_LOG, LOG_LAST = TWIN_TILE_LOG + 3 };

static fr *random_vector(size_t n, uint64_t *rng)
{
    fr *a = malloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < FR_LIMBS; j++)
            a[i].l[j] = random_biased_u64(rng);
        fr_from_canonical(&a[i], &a[i]);
    }
    return a;
}

static void compare(unsigned log2n, enum ntt_root root, bool inverse, bool forward)
{
    uint64_t rng = seed + log2n;
    struct ntt_domain d;
    struct pool *pool;
    size_t n = (size_t)1 << log2n;
    fr *table = malloc(ntt_table_elements(log2n) * sizeof *table), g;
    fr *a = random_vector(n, &rng), *b = malloc(n * sizeof *b);
    assert_non_null(table);
    assert_non_null(b);
    memcpy(b, a, n * sizeof *a);
    assert_int_equal(pool_create(&pool, 1), ST_OK);
    assert_int_equal(ntt_domain_init(&d, log2n, root, table, pool), ST_OK);
    ntt_coset_shift(&g, &d, root);
    if (inverse && forward)
        ntt_coset_extend(&d, &a, 1, &g, pool);
    else if (inverse)
        ntt_inverse(&d, a, pool);
    else
        ntt_forward(&d, a, pool);
    assert_true(twin_transform(b, log2n, root == NTT_ROOT_BELLMAN, inverse, forward));
    assert_memory_equal(a, b, n * sizeof *a);
    pool_destroy(pool);
    free(table);
    free(a);
    free(b);
}

static void inverse(void **state)
{
    (void)state;
    for (unsigned l = LOG_FIRST; l <= LOG_LAST; l++)
        compare(l, NTT_ROOT_SNARKJS, true, false);
}

static void forward(void **state)
{
    (void)state;
    for (unsigned l = LOG_FIRST; l <= LOG_LAST; l++)
        compare(l, NTT_ROOT_SNARKJS, false, true);
}

static void coset_extend(void **state)
{
    (void)state;
    for (unsigned l = LOG_FIRST; l < LOG_LAST; l++)
        compare(l, NTT_ROOT_SNARKJS, true, true);
    compare(LOG_FIRST, NTT_ROOT_BELLMAN, true, true);
}

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse),
        cmocka_unit_test(forward),
        cmocka_unit_test(coset_extend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
