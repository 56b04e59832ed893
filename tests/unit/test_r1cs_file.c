/* The reader of constraint systems: real files, every kind of damage, what a walk relies on. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/r1cs_file.h"
#include "tests/unit/container.h"
#include "tests/walk.h"

#define MUL2 "circom/bn128/mul2/mul2.r1cs"

/* Offsets in the header section, for a prime of 32 bytes. */
enum { WIRES = 36, PUB_OUT = 40, PUB_IN = 44, PRV_IN = 48, CONSTRAINTS = 60 };

static enum status read_r1cs(const struct file_map *map)
{
    struct r1cs_file f;
    enum status st = r1cs_parse(&f, map);
    if (st == ST_OK)
        walk_r1cs(&f.r1cs);
    return st;
}

static void reads_real_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum curve_id curve;
        uint32_t wires, outputs, public_inputs, private_inputs, constraints;
        bool custom;
    } files[] = {
        {MUL2, CURVE_BN254, 4, 1, 0, 2, 1, false},
        {"circom/bn128/nopub/nopub.r1cs", CURVE_BN254, 3, 0, 0, 2, 1, false},
        {"circom/bn128/domexact/domexact.r1cs", CURVE_BN254, 64, 1, 0, 1, 62, false},
        {"circom/bn128/customgate/customgate.r1cs", CURVE_BN254, 5, 1, 0, 1, 2, true},
        {"circom/bls12381/nopriv/nopriv.r1cs", CURVE_BLS12_381, 5, 1, 2, 0, 2, false},
        {"circom/bls12381/customgate/customgate.r1cs", CURVE_BLS12_381, 5, 1, 0, 1, 2, true},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct r1cs_file f;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", PINION_TEST_DATA, files[i].name);
        assert_int_equal(r1cs_open(&f, path), ST_OK);
        assert_int_equal(f.r1cs.curve->id, files[i].curve);
        assert_int_equal(f.r1cs.n_wires, files[i].wires);
        assert_int_equal(f.r1cs.n_pub_out, files[i].outputs);
        assert_int_equal(f.r1cs.n_pub_in, files[i].public_inputs);
        assert_int_equal(f.r1cs.n_prv_in, files[i].private_inputs);
        assert_int_equal(f.r1cs.n_constraints, files[i].constraints);
        assert_int_equal(f.r1cs.has_custom_gates, files[i].custom);
        assert_string_equal(f.r1cs.path, path);
        assert_int_equal(read_r1cs(&f.map), ST_OK);
        r1cs_close(&f);
        r1cs_close(&f);
    }
}

static void refuses_damage(void **state)
{
    (void)state;
    reader_refuses_damage(read_r1cs, MUL2);
    reader_refuses_damage(read_r1cs, "circom/bls12381/nopriv/nopriv.r1cs");
}

static void survives_fields(void **state)
{
    (void)state;
    reader_survives_fields(read_r1cs, MUL2, 1);
    reader_survives_fields(read_r1cs, MUL2, 2);
    for (uint32_t id = 1; id <= 5; id++)
        reader_survives_fields(read_r1cs, "circom/bn128/customgate/customgate.r1cs", id);
}

static void refuses_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } files[] = {
        {"magic", "not a r1cs file: it starts with \"r1cx\""},
        {"wire_oob",
         "section 2 (constraints): constraint 0, A, term 0: wire 64 does not exist, there are 64"},
        {"ncons_lie", "section 2 (constraints): ends in constraint 62 of 1062, before A"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct r1cs_file f;
        char path[512];
        snprintf(path, sizeof path, "%s/bad/%s.r1cs", PINION_TEST_DATA, files[i].name);
        status_clear();
        assert_int_equal(r1cs_open(&f, path), ST_INPUT);
        assert_memory_equal(status_message(), path, strlen(path));
        assert_string_equal(status_message() + strlen(path) + 2, files[i].message);
    }
}

/* The reader's message when the u32 at an offset of a section is replaced, "" if accepted. */
static const char *with_field(const char *name, uint32_t id, size_t at, uint32_t value)
{
    struct container c = container_read(name);
    assert_true(at + 4 <= container_section(&c, id)->size);
    memcpy(container_section(&c, id)->data + at, &value, 4);
    status_clear();
    enum status st = reader_try_container(read_r1cs, &c);
    assert_int_equal(st, status_message()[0] ? ST_INPUT : ST_OK);
    container_free(&c);
    return status_message();
}

static void header_must_hold_together(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 3, 5, 1U << 29, 1U << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_string_not_equal(with_field(MUL2, 1, WIRES, values[i]), "");
        if (values[i] != 1)
            assert_string_not_equal(with_field(MUL2, 1, CONSTRAINTS, values[i]), "");
    }
    static const size_t counts[] = {PUB_OUT, PUB_IN};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_string_not_equal(with_field(MUL2, 1, counts[i], 4), "");
        assert_string_not_equal(with_field(MUL2, 1, counts[i], UINT32_MAX), "");
        assert_string_not_equal(with_field(MUL2, 1, counts[i], UINT32_MAX - 2), "");
    }
    assert_string_equal(with_field(MUL2, 1, PUB_IN, 3),
                        "file under test: section 1 (header): 4 wires are too few for the "
                        "constant, 1 outputs and 3 public inputs");
}

/* circom counts the inputs that it was given, and drops the wires of those that nothing uses. */
static void private_inputs_without_wires(void **state)
{
    (void)state;
    assert_string_equal(with_field(MUL2, 1, PRV_IN, 4), "");
    assert_string_equal(with_field(MUL2, 1, PRV_IN, UINT32_MAX), "");
}

static void names_the_term(void **state)
{
    (void)state;
    /* A: one term at 4, B: one at 44, C: one at 84; each 4 bytes of wire, 32 of coefficient */
    assert_string_equal(with_field(MUL2, 2, 44, 4),
                        "file under test: section 2 (constraints): constraint 0, B, term 0: wire 4 "
                        "does not exist, there are 4");
    assert_string_equal(with_field(MUL2, 2, 84 + 32, UINT32_MAX),
                        "file under test: section 2 (constraints): constraint 0, C, term 0: the "
                        "coefficient is not below the group order of bn254");
    assert_string_equal(with_field(MUL2, 2, 40, UINT32_MAX),
                        "file under test: section 2 (constraints): constraint 0, B: 4294967295 "
                        "terms do not fit in the 76 bytes that are left");
}

static void coefficients_at_the_edge(void **state)
{
    (void)state;
    static const char *const files[] = {MUL2, "circom/bls12381/mul2/mul2.r1cs"};
    for (size_t i = 0; i < 2; i++) {
        struct container c = container_read(files[i]);
        uint8_t *value = container_section(&c, 2)->data + 8;
        memcpy(value, container_section(&c, 1)->data + 4, 32);
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_INPUT);
        value[0]--;
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_OK);
        value[31]++;
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_INPUT);
        container_free(&c);
    }
}

static void no_constraints(void **state)
{
    (void)state;
    struct container c = container_read(MUL2);
    container_resize(&c, 2, 0);
    memset(container_section(&c, 1)->data + CONSTRAINTS, 0, 4);
    assert_int_equal(reader_try_container(read_r1cs, &c), ST_OK);
    /* nor wires */
    container_resize(&c, 3, 0);
    memset(container_section(&c, 1)->data + WIRES, 0, 16);
    assert_int_equal(reader_try_container(read_r1cs, &c), ST_INPUT);
    container_free(&c);
}

static void empty_combinations(void **state)
{
    (void)state;
    struct container c = container_read(MUL2);
    container_resize(&c, 2, 0);
    container_resize(&c, 2, 60); /* 5 times 3 counts */
    memset(container_section(&c, 1)->data + CONSTRAINTS, 0, 4);
    container_section(&c, 1)->data[CONSTRAINTS] = 5;
    assert_int_equal(reader_try_container(read_r1cs, &c), ST_OK);
    container_free(&c);
}

static void any_order_of_sections(void **state)
{
    (void)state;
    struct container c = container_read("circom/bn128/customgate/customgate.r1cs");
    for (size_t i = 0; i < c.n; i++) {
        container_double(&c, c.sections[0].id);
        container_drop(&c, c.sections[0].id);
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_OK);
    }
    container_free(&c);
}

static bool is_custom;

static enum status read_custom(const struct file_map *map)
{
    struct r1cs_file f;
    enum status st = r1cs_parse(&f, map);
    if (st == ST_OK)
        is_custom = f.r1cs.has_custom_gates;
    return st;
}

/* circom writes both sections or neither. */
static void custom_gates_come_in_two_sections(void **state)
{
    (void)state;
    for (uint32_t id = 4; id <= 5; id++) {
        struct container c = container_read("circom/bn128/customgate/customgate.r1cs");
        container_double(&c, id);
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_INPUT);
        container_drop(&c, id);
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_OK);
        container_drop(&c, id);
        assert_int_equal(reader_try_container(read_r1cs, &c), ST_INPUT);
        container_free(&c);
    }
}

/* Either count alone tells. */
static void custom_gates(void **state)
{
    (void)state;
    struct container c = container_read("circom/bn128/customgate/customgate.r1cs");
    assert_int_equal(reader_try_container(read_custom, &c), ST_OK);
    assert_true(is_custom);
    for (uint32_t id = 4; id <= 5; id++) {
        struct blob *section = container_section(&c, id), saved;
        saved = blob_copy(section->data, section->size);
        container_resize(&c, id, 4);
        assert_int_equal(reader_try_container(read_custom, &c), ST_INPUT);
        memset(section->data, 0, 4);
        assert_int_equal(reader_try_container(read_custom, &c), ST_OK);
        assert_true(is_custom);
        container_resize(&c, id, saved.size);
        memcpy(section->data, saved.data, saved.size);
        memset(section->data, 0xff, 4);
        assert_int_equal(reader_try_container(read_custom, &c), ST_INPUT);
        memcpy(section->data, saved.data, 4);
        blob_free(&saved);
    }
    for (uint32_t id = 4; id <= 5; id++) {
        container_resize(&c, id, 4);
        memset(container_section(&c, id)->data, 0, 4);
    }
    assert_int_equal(reader_try_container(read_custom, &c), ST_OK);
    assert_false(is_custom);
    container_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_real_files),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(survives_fields),
        cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(header_must_hold_together),
        cmocka_unit_test(private_inputs_without_wires),
        cmocka_unit_test(names_the_term),
        cmocka_unit_test(coefficients_at_the_edge),
        cmocka_unit_test(no_constraints),
        cmocka_unit_test(empty_combinations),
        cmocka_unit_test(any_order_of_sections),
        cmocka_unit_test(custom_gates_come_in_two_sections),
        cmocka_unit_test(custom_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
