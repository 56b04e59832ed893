/* Curves by name and by modulus, and the choice of instructions: every instance that runs here
 * makes the same proof. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/curve.h"
#include "common/groth16/groth16.h"
#include "common/groth16/r1cs.h"
#include "common/groth16/setup.h"

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum curve_id id;
    } known[] = {
        {"bn254", CURVE_BN254},         {"BN254", CURVE_BN254},
        {"bn128", CURVE_BN254},         {"altbn128", CURVE_BN254},
        {"alt_bn128", CURVE_BN254},     {"bls12381", CURVE_BLS12_381},
        {"BLS12-381", CURVE_BLS12_381}, {"bls12_381", CURVE_BLS12_381},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct curve *curve = curve_by_name(known[i].name);
        assert_non_null(curve);
        assert_int_equal(curve->id, known[i].id);
        assert_ptr_equal(curve_by_name(curve->name), curve);
        assert_ptr_equal(curve_by_name(curve->snarkjs_name), curve);
        assert_ptr_equal(curve_by_fr_modulus(curve->fr_modulus, curve->fr_bytes), curve);
    }
    assert_null(curve_by_name(""));
    assert_null(curve_by_name("bn25"));
    assert_null(curve_by_name("toy_bn"));
}

static void moduli(void **state)
{
    (void)state;
    uint8_t modulus[32];
    const struct curve *curve = curve_by_name("bn254");
    memcpy(modulus, curve->fr_modulus, 32);
    assert_null(curve_by_fr_modulus(modulus, 31));
    assert_null(curve_by_fr_modulus(modulus, 0));
    modulus[31] ^= 1;
    assert_null(curve_by_fr_modulus(modulus, 32));
    assert_null(curve_by_fr_modulus(curve->fq_modulus, 32));
}

static void comparison(void **state)
{
    (void)state;
    assert_true(curve_below((const uint8_t[]){255, 1}, (const uint8_t[]){0, 2}, 2));
    assert_false(curve_below((const uint8_t[]){0, 2}, (const uint8_t[]){255, 1}, 2));
    assert_false(curve_below((const uint8_t[]){7, 7}, (const uint8_t[]){7, 7}, 2));
    assert_true(curve_below((const uint8_t[]){6, 7}, (const uint8_t[]){7, 7}, 2));
}

enum { TERM = 4 + 32 };

/* One term, 1 * wire. */
static uint8_t *put_wire(uint8_t *p, uint32_t wire)
{
    memset(p, 0, 4 + TERM);
    p[0] = 1;
    memcpy(p + 4, &wire, 4);
    p[8] = 1;
    return p + 4 + TERM;
}

/* w[2] * w[2] = w[1], w[1] public: 9 = 3 * 3. */
static struct groth16_proof prove_square(const char *name)
{
    const struct curve *curve = curve_by_name(name);
    uint8_t constraints[3 * (4 + TERM)], w[3 * 32] = {[0] = 1, [32] = 9, [64] = 3};
    put_wire(put_wire(put_wire(constraints, 2), 2), 1);
    const struct r1cs r1cs = {.curve = curve,
                              .path = "square.r1cs",
                              .n_wires = 3,
                              .n_pub_out = 1,
                              .n_prv_in = 1,
                              .n_constraints = 1,
                              .constraints = constraints,
                              .constraints_size = sizeof constraints};
    const struct groth16_randomness rs = {{11, 22, 33}, {44, 55, 66}};
    struct groth16_setup_output setup;
    struct groth16_proof proof;
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 2), ST_OK);
    assert_int_equal(groth16_setup_insecure(&r1cs, pool, NULL, &setup), ST_OK);
    assert_int_equal(groth16_prove(&setup.key, w, &rs, pool, NULL, NULL, &proof), ST_OK);
    assert_ptr_equal(proof.curve, curve);
    groth16_setup_output_fini(&setup);
    pool_destroy(pool);
    return proof;
}

static void instructions(void **state)
{
    (void)state;
    static const char *const curves[] = {"bn254", "bls12_381"};
    assert_int_equal(curve_select_isa("avx9"), ST_USAGE);
    status_clear();
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(curve_select_isa("portable"), ST_OK);
        assert_string_equal(curve_by_name(curves[c])->isa, "portable");
        struct groth16_proof portable = prove_square(curves[c]);
        enum status st = curve_select_isa("adx");
        if (st == ST_RESOURCE) {
            status_clear();
            assert_int_equal(curve_select_isa("auto"), ST_OK);
            assert_string_equal(curve_by_name(curves[c])->isa, "portable");
            continue;
        }
        assert_int_equal(st, ST_OK);
        assert_string_equal(curve_by_name(curves[c])->isa, "adx");
        struct groth16_proof adx = prove_square(curves[c]);
        portable.curve = adx.curve;
        assert_memory_equal(&portable, &adx, sizeof adx);
        assert_int_equal(curve_select_isa("auto"), ST_OK);
        assert_string_equal(curve_by_name(curves[c])->isa, "adx");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(moduli),
        cmocka_unit_test(comparison),
        cmocka_unit_test(instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
