/* The reader of witnesses: real files, every kind of damage, values at the edge of the field. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/wtns.h"
#include "common/file/zkey.h"
#include "tests/unit/container.h"
#include "tests/walk.h"

static enum status read_wtns(const struct file_map *map)
{
    struct wtns w;
    enum status st = wtns_parse(&w, map);
    if (st == ST_OK)
        walk_wtns(&w);
    return st;
}

static void reads_real_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum curve_id curve;
        uint32_t n;
    } files[] = {
        {"circom/bn128/mul2/witness.wtns", CURVE_BN254, 4},
        {"circom/bn128/nopub/witness.wtns", CURVE_BN254, 3},
        {"circom/bn128/domexact/witness.wtns", CURVE_BN254, 64},
        {"circom/bls12381/domover/witness.wtns", CURVE_BLS12_381, 65},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct wtns w;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", PINION_TEST_DATA, files[i].name);
        assert_int_equal(wtns_open(&w, path), ST_OK);
        assert_int_equal(w.curve->id, files[i].curve);
        assert_int_equal(w.n, files[i].n);
        wtns_close(&w);
        assert_null(w.values);
        wtns_close(&w);
    }
}

static void refuses_damage(void **state)
{
    (void)state;
    reader_refuses_damage(read_wtns, "circom/bn128/mul2/witness.wtns");
    reader_refuses_damage(read_wtns, "circom/bls12381/nopriv/witness.wtns");
    reader_survives_fields(read_wtns, "circom/bn128/mul2/witness.wtns", 1);
}

static void refuses_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } files[] = {
        {"value_is_r", "section 2 (values): value 2 is not below the group order of bn254"},
        {"w0_not_one", "section 2 (values): value 0 is not the constant 1"},
        {"trunc", "section 2 claims 2048 bytes but 1948 are left in the file: it is truncated or "
                  "damaged"},
        {"version3", "wtns version 3 is not supported, only 2"},
        {"section_short", "section 2 (values) has 2016 bytes but the header implies 2048"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct wtns w;
        char path[512];
        snprintf(path, sizeof path, "%s/bad/%s.wtns", PINION_TEST_DATA, files[i].name);
        status_clear();
        assert_int_equal(wtns_open(&w, path), ST_INPUT);
        assert_memory_equal(status_message(), path, strlen(path));
        assert_string_equal(status_message() + strlen(path) + 2, files[i].message);
    }
}

/* The message when value `at` is the group order plus delta, "" if accepted. */
static const char *with_value(const char *name, size_t at, int delta)
{
    struct container c = container_read(name);
    uint8_t *value = container_section(&c, 2)->data + 32 * at;
    memcpy(value, container_section(&c, 1)->data + 4, 32);
    value[0] = (uint8_t)(value[0] + delta); /* the orders end in byte 1: no borrow */
    status_clear();
    enum status st = reader_try_container(read_wtns, &c);
    assert_int_equal(st, status_message()[0] ? ST_INPUT : ST_OK);
    container_free(&c);
    return status_message();
}

static void values_at_the_edge(void **state)
{
    (void)state;
    static const char *const files[] = {"circom/bn128/domexact/witness.wtns",
                                        "circom/bls12381/domover/witness.wtns"};
    for (size_t f = 0; f < 2; f++) {
        for (size_t at = 1; at < 64; at++) {
            char expected[128];
            snprintf(expected, sizeof expected,
                     "file under test: section 2 (values): value %zu is not below the group order "
                     "of %s",
                     at, f ? "bls12_381" : "bn254");
            assert_string_equal(with_value(files[f], at, -1), "");
            assert_string_equal(with_value(files[f], at, 0), expected);
            assert_string_equal(with_value(files[f], at, 1), expected);
        }
    }
}

static void every_bit_of_the_primes(void **state)
{
    (void)state;
    struct container c = container_read("circom/bn128/mul2/witness.wtns");
    uint8_t *header = container_section(&c, 1)->data; /* 36 bytes: size and prime */
    for (size_t bit = 0; bit < 288; bit++) {
        header[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(reader_try_container(read_wtns, &c), ST_INPUT);
        header[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    container_free(&c);
}

static void counts_must_agree(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 3, 5, 1U << 27, 1U << 31, UINT32_MAX};
    struct container c = container_read("circom/bn128/mul2/witness.wtns");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        memcpy(container_section(&c, 1)->data + 36, &counts[i], 4);
        assert_int_equal(reader_try_container(read_wtns, &c), ST_INPUT);
    }
    /* no values at all, consistently */
    container_resize(&c, 2, 0);
    memset(container_section(&c, 1)->data + 36, 0, 4);
    assert_int_equal(reader_try_container(read_wtns, &c), ST_INPUT);
    assert_string_equal(status_message(), "file under test: section 1 (header): no values");
    container_free(&c);
}

static void fits(const char *witness, const char *key, const char *message)
{
    struct wtns w;
    struct zkey z;
    char witness_path[512], key_path[512], expected[2048] = "";
    snprintf(witness_path, sizeof witness_path, "%s/%s", PINION_TEST_DATA, witness);
    snprintf(key_path, sizeof key_path, "%s/%s", PINION_TEST_DATA, key);
    assert_int_equal(wtns_open(&w, witness_path), ST_OK);
    assert_int_equal(zkey_open(&z, key_path, NULL), ST_OK);
    status_clear();
    enum status st = wtns_check_fits(&w, &z.key);
    assert_int_equal(st, message ? ST_INPUT : ST_OK);
    if (message) {
        /* message: what stands between and after the two paths, split at '|' */
        int between = (int)strcspn(message, "|");
        snprintf(expected, sizeof expected, "%s: %.*s%s%s", witness_path, between, message,
                 key_path, message + between + 1);
    }
    assert_string_equal(status_message(), expected);
    wtns_close(&w);
    zkey_close(&z);
}

static void names_both_when_they_do_not_fit(void **state)
{
    (void)state;
    fits("bad/good.wtns", "bad/good.zkey", NULL);
    fits("bad/other_circuit.wtns", "bad/good.zkey",
         "has 65 values, but | has 64 variables: witness and key are of different circuits");
    fits("bad/good.wtns", "bad/other_circuit.zkey",
         "has 64 values, but | has 65 variables: witness and key are of different circuits");
    fits("bad/other_curve.wtns", "bad/good.zkey",
         "is a witness on bls12_381, but | is a key on bn254");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_real_files),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(values_at_the_edge),
        cmocka_unit_test(every_bit_of_the_primes),
        cmocka_unit_test(counts_must_agree),
        cmocka_unit_test(names_both_when_they_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
