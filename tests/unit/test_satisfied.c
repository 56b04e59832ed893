/* The first unsatisfied constraint, over many chunks and threads. */
#include "tests/unit/circuit.h"

enum { CONSTRAINTS = 900, WIRES = 400 };

/* By definition. */
static uint64_t first_by_definition(const struct circuit *c)
{
    const uint8_t *cursor = c->r1cs.constraints;
    for (uint32_t j = 0; j < c->r1cs.n_constraints; j++) {
        fr v[3];
        for (int k = 0; k < 3; k++)
            v[k] = circuit_lc(c, r1cs_next(&c->r1cs, &cursor), 0);
        fr_mul(&v[0], &v[0], &v[1]);
        if (!fr_equal(&v[0], &v[2]))
            return j;
    }
    return UINT64_MAX;
}

static void lowest_is_named(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 5};
    struct circuit c = circuit_create((struct shape){CONSTRAINTS, 2, 2, WIRES}, 9);
    for (size_t t = 0; t < 3; t++) {
        struct pool *pool = test_pool(threads[t]);
        assert_int_equal(first_by_definition(&c), UINT64_MAX);
        assert_int_equal(step_first_unsatisfied(&c.r1cs, c.w, pool), UINT64_MAX);
        size_t found = 0;
        for (uint32_t wire = 1; wire < WIRES; wire += 7) {
            c.w[wire * sizeof(fr)] ^= 2;
            uint64_t expected = first_by_definition(&c);
            assert_int_equal(step_first_unsatisfied(&c.r1cs, c.w, pool), expected);
            found += expected != UINT64_MAX;
            c.w[wire * sizeof(fr)] ^= 2;
        }
        assert_true(found > WIRES / 14);
        pool_destroy(pool);
    }
    circuit_destroy(&c);
}

static void nothing_to_satisfy(void **state)
{
    (void)state;
    struct pool *pool = test_pool(2);
    struct circuit c = circuit_create((struct shape){0, 0, 0, 1}, 9);
    assert_int_equal(step_first_unsatisfied(&c.r1cs, c.w, pool), UINT64_MAX);
    circuit_destroy(&c);
    pool_destroy(pool);
}

/* As when the mapped file is overwritten after it was checked. */
static void any_bytes(void **state)
{
    (void)state;
    struct pool *pool = test_pool(2);
    struct circuit c = circuit_create((struct shape){CONSTRAINTS, 2, 2, WIRES}, 10);
    uint64_t seed = 6;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < c.r1cs.constraints_size; i += 1 + random_u64(&seed) % 50)
            c.constraints[i] = round == 0 ? 0xff : (uint8_t)(random_u64(&seed) % 4);
        uint64_t first = step_first_unsatisfied(&c.r1cs, c.w, pool);
        assert_true(first < CONSTRAINTS || first == UINT64_MAX);
    }
    circuit_destroy(&c);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowest_is_named),
        cmocka_unit_test(nothing_to_satisfy),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
