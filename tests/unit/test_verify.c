/* Verification refuses, with the reason, whatever is not a proof: each place of proof and key in
 * turn. */
#include "tests/unit/circuit.h"

#include <stdio.h>

#include "tests/unit/stray_points.h"

struct fixture {
    struct circuit circuit;
    struct groth16_setup_output setup;
    struct groth16_vkey vk;
    struct groth16_proof proof;
    struct pool *pool;
};

static int setup_fixture(void **state)
{
    static struct fixture f;
    uint64_t seed = 4;
    struct groth16_randomness rs = {{0}, {0}};
    fr r = circuit_value(&seed), s = circuit_value(&seed);
    fr_store(rs.r, &r);
    fr_store(rs.s, &s);
    f.pool = test_pool(2);
    f.circuit = circuit_create((struct shape){6, 1, 2, 12}, 8);
    assert_int_equal(groth16_setup_insecure(&f.circuit.r1cs, f.pool, NULL, &f.setup), ST_OK);
    assert_int_equal(instance_curve.ops->vkey(&f.setup.key, &f.vk), ST_OK);
    assert_int_equal(groth16_prove(&f.setup.key, f.circuit.w, &rs, f.pool, NULL, NULL, &f.proof),
                     ST_OK);
    *state = &f;
    return 0;
}

static int teardown_fixture(void **state)
{
    struct fixture *f = *state;
    groth16_vkey_fini(&f->vk);
    groth16_setup_output_fini(&f->setup);
    circuit_destroy(&f->circuit);
    pool_destroy(f->pool);
    return 0;
}

static void assert_verify(const struct fixture *f, const char *text)
{
    enum status st = groth16_verify(&f->vk, f->circuit.w + FR_BYTES, &f->proof);
    assert_int_equal(st, text ? ST_INVALID : ST_OK);
    if (text && !strstr(status_message(), text))
        print_error("\"%s\" lacks \"%s\"\n", status_message(), text);
    assert_true(!text || strstr(status_message(), text));
    status_clear();
}

/* Verifies with other bytes at place, whose name the message must have, and puts the old ones back.
 */
static void verify_with(const struct fixture *f, uint8_t *place, const void *bytes, size_t size,
                        const char *name, const char *reason)
{
    uint8_t before[sizeof(g2_affine)];
    memcpy(before, place, size);
    memcpy(place, bytes, size);
    assert_verify(f, name);
    assert_verify(f, reason);
    memcpy(place, before, size);
    assert_verify(f, NULL);
}

struct part {
    const char *name;
    uint8_t *place;
    bool in_g2, finite;
};

enum { PARTS = 9 };

static void list_parts(struct part parts[PARTS], struct fixture *f)
{
    const struct part list[PARTS] = {
        {"pi_a", f->proof.a, false, false},
        {"pi_b", f->proof.b, true, false},
        {"pi_c", f->proof.c, false, false},
        {"vk_alpha_1", f->vk.alpha1, false, true},
        {"vk_beta_2", f->vk.beta2, true, true},
        {"vk_gamma_2", f->vk.gamma2, true, true},
        {"vk_delta_2", f->vk.delta2, true, true},
        {"IC[0]", f->vk.ic, false, false},
        {"IC[3]", f->vk.ic + 3 * sizeof(g1_affine), false, false},
    };
    memcpy(parts, list, sizeof list);
}

static size_t size_of(const struct part *p)
{
    return p->in_g2 ? sizeof(g2_affine) : sizeof(g1_affine);
}

static void points_on_no_curve(void **state)
{
    struct fixture *f = *state;
    struct part parts[PARTS];
    list_parts(parts, f);
    const fq off_curve[4] = {{{5}}, {{6}}, {{7}}, {{8}}};
    const fq too_large[4] = {{{1}}, fq_modulus, {{1}}, fq_modulus};
    for (size_t i = 0; i < PARTS; i++) {
        size_t size = size_of(&parts[i]);
        verify_with(f, parts[i].place, off_curve, size, parts[i].name, "is not on the curve");
        verify_with(f, parts[i].place, too_large, size, parts[i].name,
                    "not below the field's prime");
    }
}

static void points_at_infinity(void **state)
{
    struct fixture *f = *state;
    struct part parts[PARTS];
    list_parts(parts, f);
    const uint8_t infinity[sizeof(g2_affine)] = {0};
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].finite)
            verify_with(f, parts[i].place, infinity, size_of(&parts[i]), parts[i].name,
                        "is the point at infinity");
}

static void points_out_of_the_subgroup(void **state)
{
    struct fixture *f = *state;
    struct part parts[PARTS];
    list_parts(parts, f);
    g1_affine p;
    g2_affine q;
    bool have_g1 = stray_g1(&p);
    stray_g2(&q);
    fq2_to_canonical(&q.x, &q.x);
    fq2_to_canonical(&q.y, &q.y);
    if (have_g1) {
        fq_to_canonical(&p.x, &p.x);
        fq_to_canonical(&p.y, &p.y);
    }
    for (size_t i = 0; i < PARTS; i++) {
        uint8_t bytes[sizeof(g2_affine)];
        if (parts[i].in_g2)
            g2_store(bytes, &q);
        else if (have_g1)
            g1_store(bytes, &p);
        else
            continue;
        verify_with(f, parts[i].place, bytes, size_of(&parts[i]), parts[i].name,
                    "not in the subgroup");
    }
}

static void public_values_out_of_range(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < f->vk.n_public; i++) {
        char name[40];
        snprintf(name, sizeof name, "public value %u is not below", i);
        uint8_t *place = f->circuit.w + (i + 1) * (size_t)FR_BYTES, before[FR_BYTES];
        memcpy(before, place, FR_BYTES);
        fr_store(place, &fr_modulus);
        assert_verify(f, name);
        memset(place, 0xff, FR_BYTES);
        assert_verify(f, name);
        memcpy(place, before, FR_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_on_no_curve),
        cmocka_unit_test(points_at_infinity),
        cmocka_unit_test(points_out_of_the_subgroup),
        cmocka_unit_test(public_values_out_of_range),
    };
    return cmocka_run_group_tests(tests, setup_fixture, teardown_fixture);
}
