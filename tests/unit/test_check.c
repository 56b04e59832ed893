/* Every point of a key is looked at, and the first bad one is named. */
#include "tests/unit/circuit.h"

#include <stdio.h>

#include "tests/unit/stray_points.h"

struct fixture {
    struct circuit circuit;
    struct groth16_setup_output setup;
    struct pool *pool;
};

static int setup_fixture(void **state)
{
    static struct fixture f;
    f.pool = test_pool(3);
    f.circuit = circuit_create((struct shape){10, 2, 1, 150}, 3);
    assert_int_equal(groth16_setup_insecure(&f.circuit.r1cs, f.pool, NULL, &f.setup), ST_OK);
    *state = &f;
    return 0;
}

static int teardown_fixture(void **state)
{
    struct fixture *f = *state;
    groth16_setup_output_fini(&f->setup);
    circuit_destroy(&f->circuit);
    pool_destroy(f->pool);
    return 0;
}

static void assert_check(const struct fixture *f, bool all, const char *text)
{
    enum status st = instance_curve.ops->key_check(&f->setup.key, all, f->pool, NULL);
    assert_int_equal(st, text ? ST_INPUT : ST_OK);
    if (text && !strstr(status_message(), text))
        print_error("\"%s\" lacks \"%s\"\n", status_message(), text);
    assert_true(!text || strstr(status_message(), text));
    status_clear();
}

/* Writes bytes over a point of the key, checks, and puts the point back. */
static void check_with(const struct fixture *f, const uint8_t *place, const void *bytes,
                       size_t size, bool all, const char *text)
{
    uint8_t *storage = f->setup.storage, *at = storage + (place - storage),
            before[sizeof(g2_affine)];
    memcpy(before, at, size);
    memcpy(at, bytes, size);
    assert_check(f, all, text);
    memcpy(at, before, size);
}

struct part {
    const char *name;
    const uint8_t *points;
    size_t n;
    bool in_g2;
};

enum { SECTIONS = 6, HEADER = 6 };

static void list_sections(struct part parts[SECTIONS], const struct groth16_key *key)
{
    const struct part list[SECTIONS] = {
        {"section 3 (IC)", key->ic, key->n_public + 1, false},
        {"section 5 (A)", key->a, key->n_vars, false},
        {"section 6 (B1)", key->b1, key->n_vars, false},
        {"section 7 (B2)", key->b2, key->n_vars, true},
        {"section 8 (C)", key->c, key->n_vars - key->n_public - 1, false},
        {"section 9 (H)", key->h, key->domain, false},
    };
    memcpy(parts, list, sizeof list);
}

static void list_header(struct part parts[HEADER], const struct groth16_key *key)
{
    const struct part list[HEADER] = {
        {"alpha1", key->alpha1, 1, false}, {"beta1", key->beta1, 1, false},
        {"delta1", key->delta1, 1, false}, {"beta2", key->beta2, 1, true},
        {"gamma2", key->gamma2, 1, true},  {"delta2", key->delta2, 1, true},
    };
    memcpy(parts, list, sizeof list);
}

static size_t size_of(const struct part *p)
{
    return p->in_g2 ? sizeof(g2_affine) : sizeof(g1_affine);
}

static void every_section(void **state)
{
    const struct fixture *f = *state;
    struct part parts[SECTIONS];
    list_sections(parts, &f->setup.key);
    const fq off_curve[4] = {fq_one, fq_one, fq_one, fq_one};
    const fq too_large[4] = {fq_one, fq_modulus, fq_one, fq_modulus};
    const uint8_t infinity[sizeof(g2_affine)] = {0};
    for (size_t i = 0; i < SECTIONS; i++) {
        char text[80];
        size_t size = size_of(&parts[i]), last = parts[i].n - 1;
        snprintf(text, sizeof text, "%s: point 0 is not on the curve", parts[i].name);
        check_with(f, parts[i].points, off_curve, size, true, text);
        snprintf(text, sizeof text, "%s: point %zu is not on the curve", parts[i].name, last);
        check_with(f, parts[i].points + last * size, off_curve, size, true, text);
        snprintf(text, sizeof text, "%s: point 1 has a coordinate", parts[i].name);
        check_with(f, parts[i].points + size, too_large, size, true, text);
        check_with(f, parts[i].points, infinity, size, true, NULL);
    }
    assert_check(f, true, NULL);
}

static void first_of_several(void **state)
{
    const struct fixture *f = *state;
    const struct groth16_key *key = &f->setup.key;
    const size_t size = sizeof(g1_affine);
    uint8_t *a = (uint8_t *)f->setup.storage + (key->a - (const uint8_t *)f->setup.storage);
    uint8_t *early = a + 5 * size, *late = a + 148 * size, before[2][sizeof(g1_affine)];
    const fq off_curve[2] = {fq_one, fq_one};
    memcpy(before[0], early, size);
    memcpy(before[1], late, size);
    memcpy(early, off_curve, size);
    memcpy(late, off_curve, size);
    assert_check(f, true, "point 5 ");
    memcpy(early, before[0], size);
    assert_check(f, true, "point 148 ");
    memcpy(late, before[1], size);
    assert_check(f, true, NULL);
}

static void header_points(void **state)
{
    const struct fixture *f = *state;
    struct part parts[HEADER];
    list_header(parts, &f->setup.key);
    const fq off_curve[4] = {fq_one, fq_one, fq_one, fq_one};
    const uint8_t infinity[sizeof(g2_affine)] = {0};
    for (size_t i = 0; i < HEADER; i++) {
        char text[80];
        snprintf(text, sizeof text, "section 2 (header): %s is not on the curve", parts[i].name);
        check_with(f, parts[i].points, off_curve, size_of(&parts[i]), false, text);
        snprintf(text, sizeof text, "section 2 (header): %s is the point at infinity",
                 parts[i].name);
        check_with(f, parts[i].points, infinity, size_of(&parts[i]), false, text);
    }
}

static void subgroups(void **state)
{
    const struct fixture *f = *state;
    const struct groth16_key *key = &f->setup.key;
    g1_affine p;
    g2_affine q;
    uint8_t bytes[sizeof(g2_affine)];
    stray_g2(&q);
    g2_store(bytes, &q);
    check_with(f, key->delta2, bytes, sizeof bytes, false, "delta2 is on the curve but not in");
    check_with(f, key->b2, bytes, sizeof bytes, true,
               "section 7 (B2): point 0 is on the curve but not in");
    if (!stray_g1(&p))
        return;
    g1_store(bytes, &p);
    check_with(f, key->alpha1, bytes, sizeof(g1_affine), false,
               "alpha1 is on the curve but not in");
    check_with(f, key->h, bytes, sizeof(g1_affine), true,
               "section 9 (H): point 0 is on the curve but not in");
}

static void sizes(void **state)
{
    const struct fixture *f = *state;
    struct fixture large = *f;
    large.setup.key.n_vars = (1U << 31) + 1;
    assert_check(&large, false, "at most 2147483648 are supported");
    large = *f;
    large.setup.key.domain = (uint64_t)1 << 32;
    assert_check(&large, true, "at most 2147483648 are supported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_section), cmocka_unit_test(first_of_several),
        cmocka_unit_test(header_points), cmocka_unit_test(subgroups),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, setup_fixture, teardown_fixture);
}
