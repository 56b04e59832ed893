/* The transform against its definition, at every size that is cheap, both roots, and across thread
 * counts; the coset extension against evaluation of the polynomial. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/poly/ntt.h"
#include "tests/unit/random.h"

static const unsigned thread_counts[] = {1, 2, 5};

static fr *new_elements(size_t n)
{
    fr *a = aligned_alloc(64, (n * sizeof(fr) + 63) / 64 * 64);
    assert_non_null(a);
    return a;
}

static fr *random_elements(size_t n, uint64_t seed)
{
    fr *a = new_elements(n);
    for (size_t i = 0; i < n; i++) {
        fr t;
        for (int l = 0; l < FR_LIMBS; l++)
            t.l[l] = random_biased_u64(&seed);
        fr_from_canonical(&a[i], &t);
    }
    return a;
}

static fr *copy(const fr *a, size_t n)
{
    fr *b = new_elements(n);
    memcpy(b, a, n * sizeof *a);
    return b;
}

static void assert_elements_equal(const fr *a, const fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_memory_equal(&a[i], &b[i], sizeof *a);
}

/* p(x) = sum of c[i] x^i */
static fr evaluate(const fr *c, size_t n, const fr *x)
{
    fr r = {{0}};
    for (size_t i = n; i-- > 0;) {
        fr_mul(&r, &r, x);
        fr_add(&r, &r, &c[i]);
    }
    return r;
}

static unsigned limit(unsigned log2n)
{
    return log2n < FR_TWO_ADICITY ? log2n : FR_TWO_ADICITY;
}

/* Values of the polynomial with coefficients c on shift * domain, by definition. */
static fr *naive_values(const struct ntt_domain *d, const fr *c, fr shift)
{
    fr *v = new_elements(d->n);
    for (size_t i = 0; i < d->n; i++) {
        v[i] = evaluate(c, d->n, &shift);
        fr_mul(&shift, &shift, &d->root);
    }
    return v;
}

static void check_small(unsigned log2n, enum ntt_root root, struct pool *pool)
{
    struct ntt_domain d;
    fr *table = new_elements(ntt_table_elements(log2n));
    assert_int_equal(ntt_domain_init(&d, log2n, root, table, pool), ST_OK);
    fr *c = random_elements(d.n, log2n + 17), *values = naive_values(&d, c, fr_one);

    fr *a = copy(c, d.n);
    ntt_reverse(&d, a);
    ntt_forward(&d, a, pool);
    assert_elements_equal(a, values, d.n);
    ntt_inverse(&d, a, pool);
    ntt_reverse(&d, a);
    assert_elements_equal(a, c, d.n);

    fr g;
    ntt_coset_shift(&g, &d, root);
    fr *shifted = naive_values(&d, c, g), *both[] = {values, copy(values, d.n)};
    ntt_coset_extend(&d, both, 2, &g, pool);
    assert_elements_equal(both[0], shifted, d.n);
    assert_elements_equal(both[1], shifted, d.n);
    free(both[1]);
    free(shifted);
    free(a);
    free(values);
    free(c);
    free(table);
}

static void small_sizes_match_definition(void **state)
{
    (void)state;
    for (size_t t = 0; t < 3; t++) {
        struct pool *pool;
        assert_int_equal(pool_create(&pool, thread_counts[t]), ST_OK);
        for (unsigned log2n = 0; log2n <= limit(9); log2n++) {
            check_small(log2n, NTT_ROOT_SNARKJS, pool);
            check_small(log2n, NTT_ROOT_BELLMAN, pool);
        }
        pool_destroy(pool);
    }
}

/* Sizes of one, two and three passes: spot values by definition, then back. */
static void check_large(unsigned log2n, struct pool *pool)
{
    struct ntt_domain d;
    fr *table = new_elements(ntt_table_elements(log2n));
    assert_int_equal(ntt_domain_init(&d, log2n, NTT_ROOT_SNARKJS, table, pool), ST_OK);
    fr *c = random_elements(d.n, log2n), *a = copy(c, d.n), g;
    ntt_reverse(&d, a);
    ntt_forward(&d, a, pool);
    fr *values = copy(a, d.n);
    ntt_coset_shift(&g, &d, NTT_ROOT_SNARKJS);
    ntt_coset_extend(&d, &values, 1, &g, pool);
    for (uint64_t i = 1; i < d.n; i = 7 * i + 1) {
        fr x, y;
        fr_pow(&x, &d.root, &i, 1);
        y = evaluate(c, d.n, &x);
        assert_true(fr_equal(&y, &a[i]));
        fr_mul(&x, &x, &g);
        y = evaluate(c, d.n, &x);
        assert_true(fr_equal(&y, &values[i]));
    }
    ntt_inverse(&d, a, pool);
    ntt_reverse(&d, a);
    assert_elements_equal(a, c, d.n);
    free(values);
    free(a);
    free(c);
    free(table);
}

static void large_sizes_round_trip(void **state)
{
    (void)state;
    for (size_t t = 0; t < 3; t++) {
        struct pool *pool;
        assert_int_equal(pool_create(&pool, thread_counts[t]), ST_OK);
        for (unsigned log2n = 10; log2n <= 16 && log2n <= FR_TWO_ADICITY; log2n++)
            check_large(log2n, pool);
        pool_destroy(pool);
    }
}

/* 2^19 needs two passes over columns: the transform of a delta is a row of powers. */
static void three_passes(void **state)
{
    (void)state;
    enum { LOG = 19, PLACE = 77777 };
    if (FR_TWO_ADICITY < (int)LOG)
        skip();
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 2), ST_OK);
    struct ntt_domain d;
    fr *table = new_elements(ntt_table_elements(LOG));
    assert_int_equal(ntt_domain_init(&d, LOG, NTT_ROOT_BELLMAN, table, pool), ST_OK);
    fr *a = new_elements(d.n), w, x = fr_one;
    memset(a, 0, d.n * sizeof *a);
    a[PLACE] = fr_one;
    ntt_reverse(&d, a);
    ntt_forward(&d, a, pool);
    uint64_t e = PLACE;
    fr_pow(&w, &d.root, &e, 1);
    for (size_t i = 0; i < d.n; i++) {
        assert_true(fr_equal(&a[i], &x));
        fr_mul(&x, &x, &w);
    }
    ntt_inverse(&d, a, pool);
    ntt_reverse(&d, a);
    for (size_t i = 0; i < d.n; i++)
        assert_true(i == PLACE ? fr_equal(&a[i], &fr_one) : fr_is_zero(&a[i]));
    free(a);
    free(table);
    pool_destroy(pool);
}

static void roots_and_shifts(void **state)
{
    (void)state;
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 1), ST_OK);
    for (unsigned log2n = 0; log2n <= limit(12); log2n++) {
        for (enum ntt_root root = NTT_ROOT_SNARKJS; root <= NTT_ROOT_BELLMAN; root++) {
            struct ntt_domain d;
            fr *table = new_elements(ntt_table_elements(log2n)), x, g;
            assert_int_equal(ntt_domain_init(&d, log2n, root, table, pool), ST_OK);
            uint64_t n = d.n, half = n / 2;
            fr_pow(&x, &d.root, &n, 1);
            assert_true(fr_equal(&x, &fr_one));
            fr_pow(&x, &d.root, &half, 1);
            assert_true(n == 1 || !fr_equal(&x, &fr_one));
            ntt_coset_shift(&g, &d, root);
            fr_pow(&x, &g, &n, 1);
            assert_false(fr_equal(&x, &fr_one));
            fr_sqr(&g, &g);
            assert_true(fr_equal(&g, &d.root) == (log2n < FR_TWO_ADICITY));
            free(table);
        }
    }
    pool_destroy(pool);
}

static void beyond_limit(void **state)
{
    (void)state;
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 1), ST_OK);
    struct ntt_domain d;
    fr unused;
    assert_int_equal(ntt_domain_init(&d, FR_TWO_ADICITY + 1, NTT_ROOT_SNARKJS, &unused, pool),
                     ST_INPUT);
    assert_non_null(strstr(status_message(), "limit"));
    status_clear();
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sizes_match_definition),
        cmocka_unit_test(large_sizes_round_trip),
        cmocka_unit_test(three_passes),
        cmocka_unit_test(roots_and_shifts),
        cmocka_unit_test(beyond_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
