/* What setup refuses, the records that it writes, and secrets that cannot serve. */
#include "tests/unit/circuit.h"

#include "common/groth16/qap.h"

enum { RECORD = GROTH16_COEF_HEADER + FR_BYTES };

static void assert_refused(enum status got, const char *text)
{
    assert_int_equal(got, ST_INPUT);
    assert_non_null(strstr(status_message(), text));
    status_clear();
}

static void domain_sizes(void **state)
{
    (void)state;
    assert_int_equal(groth16_domain_size(0, 0), 2);
    assert_int_equal(groth16_domain_size(1, 0), 2);
    assert_int_equal(groth16_domain_size(1, 1), 4);
    assert_int_equal(groth16_domain_size(3, 4), 8);
    assert_int_equal(groth16_domain_size(4, 4), 16);
    assert_int_equal(groth16_domain_size(UINT32_MAX, UINT32_MAX), (uint64_t)1 << 33);
}

static void refuses(void **state)
{
    (void)state;
    struct pool *pool = test_pool(1);
    struct groth16_setup_output out;
    struct circuit c = circuit_create((struct shape){2, 1, 1, 5}, 1);
    struct r1cs r = c.r1cs;
    r.has_custom_gates = true;
    assert_refused(groth16_setup_insecure(&r, pool, NULL, &out), "custom gates");
    r = c.r1cs;
    r.n_pub_in = r.n_wires - r.n_pub_out;
    assert_refused(groth16_setup_insecure(&r, pool, NULL, &out), "public values");
    r.n_pub_in = UINT32_MAX;
    r.n_pub_out = 2;
    assert_refused(groth16_setup_insecure(&r, pool, NULL, &out), "public values");
    r = c.r1cs;
    r.n_wires = 0;
    assert_refused(groth16_setup_insecure(&r, pool, NULL, &out), "no wires");
    circuit_destroy(&c);
    pool_destroy(pool);
}

static void refuses_secrets(void **state)
{
    (void)state;
    struct pool *pool = test_pool(1);
    struct groth16_setup_output out;
    struct circuit c = circuit_create((struct shape){2, 1, 1, 5}, 1);
    struct groth16_setup_secrets good, bad;
    uint64_t domain = groth16_domain_size(2, 2);
    groth16_setup_known_secrets(&instance_curve, domain, &good);
    bad = good;
    memset(bad.delta, 0, sizeof bad.delta);
    assert_refused(step_setup(&c.r1cs, &bad, pool, NULL, &out), "delta");
    bad = good;
    fr_store(bad.alpha, &fr_modulus);
    assert_refused(step_setup(&c.r1cs, &bad, pool, NULL, &out), "alpha");
    bad = good;
    memset(bad.tau, 0, sizeof bad.tau);
    bad.tau[0] = 1; /* in every domain */
    assert_refused(step_setup(&c.r1cs, &bad, pool, NULL, &out), "domain");
    circuit_destroy(&c);
    pool_destroy(pool);
}

static void known_secrets_repeat(void **state)
{
    (void)state;
    for (unsigned log2n = 0; log2n <= FR_TWO_ADICITY && log2n < 30; log2n++) {
        struct groth16_setup_secrets s, t;
        memset(&s, 0, sizeof s);
        memset(&t, 0xff, sizeof t);
        groth16_setup_known_secrets(&instance_curve, (uint64_t)1 << log2n, &s);
        groth16_setup_known_secrets(&instance_curve, (uint64_t)1 << log2n, &t);
        assert_memory_equal(&s, &t, sizeof s);
        fr tau, x;
        uint64_t n = (uint64_t)1 << log2n;
        fr_load(&tau, s.tau);
        assert_true(fr_is_reduced(&tau));
        fr_from_canonical(&tau, &tau);
        fr_pow(&x, &tau, &n, 1);
        assert_false(fr_equal(&x, &fr_one));
        assert_false(fr_is_zero(&x));
    }
}

/* Every term of A and B in file order, then the public rows. */
static void records_in_order(void **state)
{
    (void)state;
    struct pool *pool = test_pool(2);
    struct groth16_setup_output out;
    struct circuit c = circuit_create((struct shape){10, 2, 1, 9}, 77);
    assert_int_equal(groth16_setup_insecure(&c.r1cs, pool, NULL, &out), ST_OK);
    const uint8_t *record = out.key.coefs, *cursor = c.r1cs.constraints;
    fr value, expected;
    for (uint32_t row = 0; row < c.r1cs.n_constraints; row++)
        for (uint32_t k = 0; k < 3; k++) {
            struct r1cs_lc lc = r1cs_next(&c.r1cs, &cursor);
            for (uint32_t i = 0; k < 2 && i < lc.count; i++, record += RECORD) {
                assert_int_equal(r1cs_u32(record), k);
                assert_int_equal(r1cs_u32(record + 4), row);
                assert_int_equal(r1cs_u32(record + 8), r1cs_term_wire(&c.r1cs, lc, i));
                fr_load(&value, record + GROTH16_COEF_HEADER);
                fr_load(&expected, r1cs_term_value(&c.r1cs, lc, i));
                fr_from_canonical(&expected, &expected);
                fr_from_canonical(&expected, &expected);
                assert_true(fr_equal(&value, &expected));
            }
        }
    for (uint32_t s = 0; s <= 3; s++, record += RECORD) {
        assert_int_equal(r1cs_u32(record), 0);
        assert_int_equal(r1cs_u32(record + 4), c.r1cs.n_constraints + s);
        assert_int_equal(r1cs_u32(record + 8), s);
        fr_load(&value, record + GROTH16_COEF_HEADER);
        assert_memory_equal(&value, &fr_r2, sizeof value);
    }
    assert_int_equal(record - out.key.coefs, out.key.n_coefs * RECORD);
    groth16_setup_output_fini(&out);
    circuit_destroy(&c);
    pool_destroy(pool);
}

/* As when the mapped file is overwritten between the passes over it. */
static void circuit_that_changes(void **state)
{
    (void)state;
    struct circuit c = circuit_create((struct shape){10, 2, 1, 9}, 78);
    uint64_t seed = 5, n = qap_count_coefs(&c.r1cs);
    fr lagrange[14] = {{{0}}}, values[3][9];
    uint8_t *coefs = malloc(n * RECORD);
    assert_non_null(coefs);
    fr *const m[] = {values[0], values[1], values[2]};
    assert_true(qap_at(&c.r1cs, lagrange, m, coefs, n));
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t *at = c.constraints + random_u64(&seed) % c.r1cs.constraints_size;
        *at = (uint8_t)(random_u64(&seed) % 3 ? random_u64(&seed) % 4 : random_u64(&seed));
        uint64_t now = qap_count_coefs(&c.r1cs);
        assert_int_equal(qap_at(&c.r1cs, lagrange, m, coefs, n), now == n);
    }
    free(coefs);
    circuit_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domain_sizes),     cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_secrets),  cmocka_unit_test(known_secrets_repeat),
        cmocka_unit_test(records_in_order), cmocka_unit_test(circuit_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
