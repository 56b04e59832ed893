/* Evaluation of the coefficients against the definition: any order, any thread count, any
 * representative of a coefficient. */
#include "tests/unit/circuit.h"

enum { RECORD = GROTH16_COEF_HEADER + FR_BYTES, DOMAIN = 64, WIRES = 300, RECORDS = 30000 };

struct fixture {
    struct groth16_key key;
    uint8_t *coefs, *w;
    fr a[DOMAIN], b[DOMAIN]; /* by definition */
};

static void add_by_definition(struct fixture *f, const uint8_t *record)
{
    uint32_t matrix = r1cs_u32(record), row = r1cs_u32(record + 4), wire = r1cs_u32(record + 8);
    static const fr unit = {{1}};
    fr k, w, *to = matrix ? f->b : f->a;
    fr_load(&k, record + GROTH16_COEF_HEADER);
    fr_load(&w, f->w + (size_t)wire * FR_BYTES);
    fr_mul(&k, &unit, &k); /* n R^2 to Montgomery */
    fr_from_canonical(&w, &w);
    fr_mul(&k, &k, &w);
    fr_add(&to[row], &to[row], &k);
}

/* value + m r for some m, as large as the limbs allow. */
static fr other_representative(fr value, uint64_t *seed)
{
    for (uint64_t m = random_u64(seed) % 5; m > 0; m--) {
        fr next;
        unsigned char carry = 0;
        for (int i = 0; i < FR_LIMBS; i++)
            carry = limb_add(carry, value.l[i], fr_modulus.l[i], &next.l[i]);
        if (carry)
            break;
        value = next;
    }
    return value;
}

static void put_record(uint8_t *record, uint32_t matrix, uint32_t row, uint32_t wire, const fr *k)
{
    memcpy(record, &matrix, 4);
    memcpy(record + 4, &row, 4);
    memcpy(record + 8, &wire, 4);
    fr_store(record + GROTH16_COEF_HEADER, k);
}

static struct fixture *make_fixture(uint64_t seed)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->coefs = malloc((size_t)RECORDS * RECORD + 1);
    f->w = malloc((size_t)WIRES * FR_BYTES);
    assert_non_null(f->coefs);
    assert_non_null(f->w);
    for (uint32_t i = 0; i < WIRES; i++) {
        fr v = circuit_value(&seed);
        fr_store(f->w + (size_t)i * FR_BYTES, &v);
    }
    uint8_t *record = f->coefs + 1; /* no alignment at all */
    for (size_t i = 0; i < RECORDS; i++, record += RECORD) {
        fr k = circuit_value(&seed);
        k = other_representative(k, &seed);
        /* runs of a row and single records, most of them where everybody writes */
        uint32_t row = random_u64(&seed) % 3 ? (uint32_t)(i / 7) % 3 : random_u64(&seed) % DOMAIN;
        put_record(record, random_u64(&seed) % 2, row, random_u64(&seed) % WIRES, &k);
        add_by_definition(f, record);
    }
    f->key = (struct groth16_key){.curve = &instance_curve,
                                  .path = "test",
                                  .n_vars = WIRES,
                                  .domain = DOMAIN,
                                  .coefs = f->coefs + 1,
                                  .n_coefs = RECORDS};
    return f;
}

static void fixture_free(struct fixture *f)
{
    free(f->coefs);
    free(f->w);
    free(f);
}

static void matches_definition(void **state)
{
    (void)state;
    static _Alignas(64) fr a[DOMAIN], b[DOMAIN];
    static const unsigned threads[] = {1, 2, 5};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct fixture *f = make_fixture(seed);
        for (size_t t = 0; t < 3; t++) {
            struct pool *pool = test_pool(threads[t]);
            memset(a, 0xa5, sizeof a);
            memset(b, 0xa5, sizeof b);
            step_evaluate(&f->key, f->w, a, b, pool);
            assert_memory_equal(a, f->a, sizeof a);
            assert_memory_equal(b, f->b, sizeof b);
            pool_destroy(pool);
        }
        fixture_free(f);
    }
}

static void no_records(void **state)
{
    (void)state;
    static _Alignas(64) fr a[DOMAIN], b[DOMAIN];
    static const fr zero[DOMAIN];
    struct pool *pool = test_pool(2);
    const struct groth16_key key = {.curve = &instance_curve, .domain = DOMAIN};
    memset(a, 0xa5, sizeof a);
    memset(b, 0xa5, sizeof b);
    step_evaluate(&key, NULL, a, b, pool);
    assert_memory_equal(a, zero, sizeof a);
    assert_memory_equal(b, zero, sizeof b);
    pool_destroy(pool);
}

/* What a key file can turn into when it is overwritten while it is mapped. */
static void spoiled_records_are_passed_over(void **state)
{
    (void)state;
    static _Alignas(64) fr a[DOMAIN], b[DOMAIN];
    static const uint32_t places[][3] = {{2, 0, 0},          {0, DOMAIN, 0},
                                         {1, 0, WIRES},      {UINT32_MAX, 0, 0},
                                         {0, UINT32_MAX, 0}, {1, 0, UINT32_MAX}};
    struct fixture *f = make_fixture(1);
    memset(f->a, 0, sizeof f->a);
    memset(f->b, 0, sizeof f->b);
    for (size_t i = 0; i < RECORDS; i++) {
        uint8_t *record = f->coefs + 1 + i * RECORD;
        if (i % 5 == 0)
            put_record(record, places[i / 5 % 6][0], places[i / 5 % 6][1], places[i / 5 % 6][2],
                       &fr_one);
        else
            add_by_definition(f, record);
    }
    struct pool *pool = test_pool(2);
    step_evaluate(&f->key, f->w, a, b, pool);
    assert_memory_equal(a, f->a, sizeof a);
    assert_memory_equal(b, f->b, sizeof b);
    pool_destroy(pool);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_definition),
        cmocka_unit_test(no_records),
        cmocka_unit_test(spoiled_records_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
