/* The JSON files: snarkjs' own come out byte for byte as they went in, and everything else that a
 * file can hold is refused by name. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/proof_json.h"
#include "tests/unit/container.h"

/* A text with the first (or the nth) occurrence of a part replaced; freed by the next call. */
static const char *replaced(const char *text, const char *part, const char *with)
{
    static char *last;
    const char *at = strstr(text, part);
    assert_non_null(at);
    char *made = NULL;
    assert_true(asprintf(&made, "%.*s%s%s", (int)(at - text), text, with, at + strlen(part)) >= 0);
    free(last);
    last = made;
    return made;
}

static struct file_map map_of(const char *text)
{
    return (struct file_map){"file", (const uint8_t *)text, strlen(text)};
}

static char *read_text(const char *name)
{
    struct blob b = blob_read(name);
    char *text = realloc(b.data, b.size + 1);
    assert_non_null(text);
    text[b.size] = '\0';
    return text;
}

static const struct curve *bn254(void)
{
    const struct curve *curve = curve_by_name("bn128");
    assert_non_null(curve);
    return curve;
}

static enum status parse_proof(const char *text)
{
    struct groth16_proof proof;
    struct file_map map = map_of(text);
    status_clear();
    return proof_json_parse(&map, bn254(), &proof);
}

static enum status parse_vkey(const char *text)
{
    struct groth16_vkey vk;
    struct file_map map = map_of(text);
    status_clear();
    enum status st = vkey_json_parse(&map, &vk);
    if (st == ST_OK)
        groth16_vkey_fini(&vk);
    return st;
}

static enum status parse_public(const char *text, uint32_t n)
{
    uint8_t *values;
    struct file_map map = map_of(text);
    status_clear();
    enum status st = public_json_parse(&map, bn254(), n, &values);
    if (st == ST_OK)
        free(values);
    return st;
}

static const struct {
    const char *name;
    uint32_t n_public;
} circuits[] = {
    {"bn128/mul2", 1},      {"bn128/nopub", 0},        {"bn128/nopriv", 3},  {"bn128/nocons", 2},
    {"bn128/domexact", 1},  {"bn128/domexact_new", 1}, {"bls12381/mul2", 1}, {"bls12381/nopub", 0},
    {"bls12381/nopriv", 3}, {"bls12381/domover", 1},
};
enum { CIRCUITS = sizeof circuits / sizeof circuits[0] };

static void path_of(char path[512], size_t circuit, const char *file)
{
    snprintf(path, 512, "%s/circom/%s/%s", PINION_TEST_DATA, circuits[circuit].name, file);
}

/* Frees text. */
static void assert_same_text(char *text, const char *path)
{
    struct file_map map;
    assert_int_equal(file_map(&map, path), ST_OK);
    assert_int_equal(strlen(text), map.size);
    assert_memory_equal(text, map.data, map.size);
    file_unmap(&map);
    free(text);
}

static void round_trips(void **state)
{
    (void)state;
    for (size_t i = 0; i < CIRCUITS; i++) {
        struct groth16_vkey vk;
        struct groth16_proof proof;
        uint8_t *publics;
        char path[512], *text;
        path_of(path, i, "verification_key.json");
        assert_int_equal(vkey_json_read(path, &vk), ST_OK);
        assert_int_equal(vk.n_public, circuits[i].n_public);
        assert_int_equal(vkey_json_format(&vk, &text), ST_OK);
        assert_same_text(text, path);
        path_of(path, i, "proof.json");
        assert_int_equal(proof_json_read(path, vk.curve, &proof), ST_OK);
        assert_int_equal(proof_json_format(&proof, &text), ST_OK);
        assert_same_text(text, path);
        path_of(path, i, "public.json");
        assert_int_equal(public_json_read(path, vk.curve, vk.n_public, &publics), ST_OK);
        assert_int_equal(public_json_format(vk.curve, publics, vk.n_public, &text), ST_OK);
        assert_same_text(text, path);
        free(publics);
        groth16_vkey_fini(&vk);
    }
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    char *vkey = read_text("circom/bn128/mul2/verification_key.json");
    char *proof = read_text("circom/bn128/mul2/proof.json");
    char *public = read_text("circom/bn128/mul2/public.json");
    assert_int_equal(parse_vkey(vkey), ST_OK);
    assert_int_equal(parse_proof(proof), ST_OK);
    assert_int_equal(parse_public(public, 1), ST_OK);
    for (size_t size = strlen(vkey); size-- > 0;) {
        vkey[size] = '\0';
        assert_int_equal(parse_vkey(vkey), ST_INPUT);
    }
    for (size_t size = strlen(proof); size-- > 0;) {
        proof[size] = '\0';
        assert_int_equal(parse_proof(proof), ST_INPUT);
    }
    for (size_t size = strlen(public); size-- > 0;) {
        public[size] = '\0';
        assert_int_equal(parse_public(public, 1), ST_INPUT);
    }
    free(vkey);
    free(proof);
    free(public);
}

struct change {
    const char *part, *with, *message;
    enum status st;
};

/* expected may end in '*': the library's own words follow, which depend on its version. */
static void assert_message(const char *expected)
{
    const char *message = status_message();
    size_t length = strlen(expected);
    if (length > 0 && expected[length - 1] == '*')
        assert_int_equal(strncmp(message, expected, length - 1), 0);
    else
        assert_string_equal(message, expected);
    assert_null(strchr(message, '\n'));
}

static void try_changes(enum status (*parse)(const char *), const char *text,
                        const struct change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct change *c = &changes[i];
        assert_int_equal(parse(replaced(text, c->part, c->with)), c->st);
        assert_message(c->message);
    }
}

#define X_OF_A "\"213713236220242311820583824528728869192401988912218645345209916239523566982\""
#define Y_OF_A "\"1273493573481762982639743844342436500758533719026469833300582225057936277541\""
#define TWO_TO_256                                                                                 \
    "\"115792089237316195423570985008687907853269984665640564039457584007913129639936\""

static void names_what_is_wrong_with_a_proof(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"\"pi_a\"", "\"pi_x\"", "file: member \"pi_a\" is missing", ST_INPUT},
        {"\"pi_b\"", "\"pi_x\"", "file: member \"pi_b\" is missing", ST_INPUT},
        {"\"pi_c\"", "\"pi_x\"", "file: member \"pi_c\" is missing", ST_INPUT},
        {"\"protocol\"", "\"x\"", "file: member \"protocol\" is missing", ST_INPUT},
        {"groth16", "plonk", "file: protocol \"plonk\" is not supported, only \"groth16\"",
         ST_INPUT},
        {"\"groth16\"", "16", "file: protocol must be a string", ST_INPUT},
        {"\"bn128\"", "null", "file: curve must be a string", ST_INPUT},
        {"bn128", "bn129", "file: curve \"bn129\" is unknown; bn128 and bls12381 are supported",
         ST_INPUT},
        {"bn128", "bls12381", "file: is a proof on bls12_381, but the verification key is on bn254",
         ST_INPUT},
        {X_OF_A ",", "", "file: pi_a: has 2 elements, must have 3", ST_INPUT},
        {X_OF_A, X_OF_A ", \"0\"", "file: pi_a: has 4 elements, must have 3", ST_INPUT},
        {X_OF_A, "7", "file: pi_a[0]: must be a string of decimal digits", ST_INPUT},
        {X_OF_A, "null", "file: pi_a[0]: must be a string of decimal digits", ST_INPUT},
        {X_OF_A, "\"\"", "file: pi_a[0]: not a string of decimal digits", ST_INPUT},
        {Y_OF_A, "\"-1\"", "file: pi_a[1]: not a string of decimal digits", ST_INPUT},
        {Y_OF_A, "\"0x12\"", "file: pi_a[1]: not a string of decimal digits", ST_INPUT},
        {Y_OF_A, TWO_TO_256, "file: pi_a[1]: a number of more than 256 bits is out of range",
         ST_INVALID},
        {"\"1\"\n ],\n \"pi_b\"", "\"2\"\n ],\n \"pi_b\"",
         "file: pi_a[2]: the third coordinate must be 1 (or the point infinity: 0, 1, 0)",
         ST_INPUT},
        {"\"1\"\n ],\n \"pi_b\"", "\"0\"\n ],\n \"pi_b\"",
         "file: pi_a[2]: the third coordinate must be 1 (or the point infinity: 0, 1, 0)",
         ST_INPUT},
        {"   \"1\",\n   \"0\"", "   \"1\",\n   \"1\"",
         "file: pi_b[2]: the third coordinate must be 1 (or the point infinity: 0, 1, 0)",
         ST_INPUT},
        {"   \"1\",\n   \"0\"", "\"1\"", "file: pi_b[2]: has 1 elements, must have 2", ST_INPUT},
        {"[\n   \"1\",\n   \"0\"\n  ]", "\"1\"", "file: pi_b[2]: must be an array of 2 elements",
         ST_INPUT},
        {X_OF_A, X_OF_A X_OF_A, "file: line 3, column 156: *", ST_INPUT},
        {"}", "} x", "file: line 28, column 3: *", ST_INPUT},
        {"\"pi_b\"", "\"pi_a\"", "file: line 7, column 7: *", ST_INPUT},
        {X_OF_A, "\"1\\u0000\"", "file: line 3, column 11: *", ST_INPUT},
        {X_OF_A, "\"\xff\"", "file: line 3, column 3: *", ST_INPUT},
    };
    char *text = read_text("circom/bn128/mul2/proof.json");
    try_changes(parse_proof, text, changes, sizeof changes / sizeof changes[0]);
    free(text);
}

static void names_what_is_wrong_with_a_key(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"\"curve\"", "\"x\"", "file: member \"curve\" is missing", ST_INPUT},
        {"\"vk_alpha_1\"", "\"x\"", "file: member \"vk_alpha_1\" is missing", ST_INPUT},
        {"\"vk_beta_2\"", "\"x\"", "file: member \"vk_beta_2\" is missing", ST_INPUT},
        {"\"vk_gamma_2\"", "\"x\"", "file: member \"vk_gamma_2\" is missing", ST_INPUT},
        {"\"vk_delta_2\"", "\"x\"", "file: member \"vk_delta_2\" is missing", ST_INPUT},
        {"\"IC\"", "\"x\"", "file: member \"IC\" is missing", ST_INPUT},
        {"\"nPublic\"", "\"x\"", "file: member \"nPublic\" is missing", ST_INPUT},
        {"\"nPublic\": 1", "\"nPublic\": \"1\"", "file: nPublic must be a number of public signals",
         ST_INPUT},
        {"\"nPublic\": 1", "\"nPublic\": -1", "file: nPublic must be a number of public signals",
         ST_INPUT},
        {"\"nPublic\": 1", "\"nPublic\": 1.0", "file: nPublic must be a number of public signals",
         ST_INPUT},
        {"\"nPublic\": 1", "\"nPublic\": 4294967296",
         "file: nPublic must be a number of public signals", ST_INPUT},
        {"\"nPublic\": 1", "\"nPublic\": 0",
         "file: IC must be an array of nPublic + 1 = 1 points, it has 2", ST_INPUT},
        {"\"nPublic\": 1", "\"nPublic\": 4294967294",
         "file: IC must be an array of nPublic + 1 = 4294967295 points, it has 2", ST_INPUT},
        {"\"IC\": [", "\"IC\": 1, \"x\": [",
         "file: IC must be an array of nPublic + 1 = 2 points, it has 0", ST_INPUT},
        {"\"IC\": [\n  [", "\"IC\": [\n  [[],", "file: IC[0]: has 4 elements, must have 3",
         ST_INPUT},
        {"\"130757222637144813340547884758281", "\"a",
         "file: IC[0][0]: not a string of decimal digits", ST_INPUT},
        {"\"vk_beta_2\": [", "\"vk_beta_2\": {}, \"x\": [",
         "file: vk_beta_2: must be an array of 3 elements", ST_INPUT},
    };
    char *text = read_text("circom/bn128/mul2/verification_key.json");
    try_changes(parse_vkey, text, changes, sizeof changes / sizeof changes[0]);
    free(text);
}

static void names_what_is_wrong_with_public_signals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t n;
        enum status st;
        const char *message;
    } cases[] = {
        {"[]", 0, ST_OK, ""},
        {" [ \"1\" , \"0002\" ] \n", 2, ST_OK, ""},
        {"null", 0, ST_INPUT, "file: line 1, column 4: *"},
        {"{}", 0, ST_INPUT, "file: must be an array of public signals"},
        {"[]", 1, ST_INPUT, "file: has 0 public signals, but the verification key has 1"},
        {"[\"1\"]", UINT32_MAX, ST_INPUT,
         "file: has 1 public signals, but the verification key has 4294967295"},
        {"[\"1\",\"2\"]", 1, ST_INPUT,
         "file: has 2 public signals, but the verification key has 1"},
        {"[\"1\",2]", 2, ST_INPUT, "file: public signals[1]: must be a string of decimal digits"},
        {"[\"1\",[\"2\"]]", 2, ST_INPUT,
         "file: public signals[1]: must be a string of decimal digits"},
        {"[\"1\",\"2 \"]", 2, ST_INPUT, "file: public signals[1]: not a string of decimal digits"},
        {"[" TWO_TO_256 "]", 1, ST_INVALID,
         "file: public signals[0]: a number of more than 256 bits is out of range"},
        {"[\"1\",]", 1, ST_INPUT, "file: line 1, column 6: *"},
        {"[\"1\"]]", 1, ST_INPUT, "file: line 1, column 6: *"},
        {"[\"1\n\"]", 1, ST_INPUT, "file: line 1, column 3: *"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse_public(cases[i].text, cases[i].n), cases[i].st);
        assert_message(cases[i].message);
    }
}

/* (0, 0) reads as infinity in memory: only the infinity of the format may become that. */
static void infinity(void **state)
{
    (void)state;
    char *text = read_text("circom/bn128/mul2/proof.json");
    char *zeros = strdup(replaced(text, X_OF_A, "\"0\""));
    assert_int_equal(parse_proof(replaced(zeros, Y_OF_A, "\"0\"")), ST_INVALID);
    assert_string_equal(status_message(), "file: pi_a: (0, 0) is not a point of the curve");
    char *x_0_y_1 = strdup(replaced(zeros, Y_OF_A, "\"1\""));
    const char *infinite = replaced(x_0_y_1, "\"1\"\n ],\n \"pi_b\"", "\"0\"\n ],\n \"pi_b\"");

    struct groth16_proof proof;
    struct file_map map = map_of(infinite);
    static const uint8_t zero[64];
    char *formatted;
    assert_int_equal(proof_json_parse(&map, bn254(), &proof), ST_OK);
    assert_memory_equal(proof.a, zero, 64);
    memset(proof.b, 0, sizeof proof.b);
    assert_int_equal(proof_json_format(&proof, &formatted), ST_OK);
    assert_non_null(strstr(formatted, " \"pi_a\": [\n  \"0\",\n  \"1\",\n  \"0\"\n ],\n"));
    assert_non_null(strstr(formatted,
                           " \"pi_b\": [\n  [\n   \"0\",\n   \"0\"\n  ],\n  [\n   \"1\",\n   "
                           "\"0\"\n  ],\n  [\n   \"0\",\n   \"0\"\n  ]\n ],\n"));
    assert_int_equal(parse_proof(formatted), ST_OK);
    free(formatted);
    free(x_0_y_1);
    free(zeros);
    free(text);
}

/* Values that fit the bytes but not the field are for verify to refuse. */
static void passes_on_what_is_not_reduced(void **state)
{
    (void)state;
    struct groth16_proof proof;
    char *text = read_text("circom/bn128/mul2/proof.json");
    struct file_map map = map_of(replaced(
        text, X_OF_A,
        "\"115792089237316195423570985008687907853269984665640564039457584007913129639935\""));
    uint8_t ones[32];
    memset(ones, 0xff, sizeof ones);
    assert_int_equal(proof_json_parse(&map, bn254(), &proof), ST_OK);
    assert_memory_equal(proof.a, ones, 32);
    free(text);
}

static void a_proof_may_name_no_curve(void **state)
{
    (void)state;
    char *text = read_text("circom/bn128/mul2/proof.json");
    assert_int_equal(parse_proof(replaced(text, ",\n \"curve\": \"bn128\"", "")), ST_OK);
    assert_int_equal(parse_proof(replaced(text, "bn128", "BN254")), ST_OK);
    free(text);
}

/* open_part repeated n times. */
static char *repeated(const char *part, size_t n)
{
    size_t length = strlen(part);
    char *text = malloc(n * length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * length, part, length);
    text[n * length] = '\0';
    return text;
}

static void deep_or_large(void **state)
{
    (void)state;
    static const char *const parts[] = {"[", "{\"a\":", "[[],", "\"", "[\"1\","};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *text = repeated(parts[i], 100000);
        assert_int_equal(parse_public(text, 1), ST_INPUT);
        assert_int_equal(parse_proof(text), ST_INPUT);
        assert_int_equal(parse_vkey(text), ST_INPUT);
        assert_null(strchr(status_message(), '\n'));
        free(text);
    }
    /* more than a proof can need */
    char *text = repeated(" ", PROOF_JSON_MAX_SIZE + 1);
    assert_int_equal(parse_proof(text), ST_INPUT);
    assert_string_equal(status_message(), "file: 1048577 bytes are too many for such a file, the "
                                          "limit is 1048576");
    free(text);
    struct groth16_vkey vk;
    const struct file_map huge = {"file", (const uint8_t *)"[", (size_t)JSON_MAX_SIZE + 1};
    status_clear();
    assert_int_equal(vkey_json_parse(&huge, &vk), ST_INPUT);
}

static void names_the_file(void **state)
{
    (void)state;
    struct groth16_vkey vk;
    uint8_t *publics;
    status_clear();
    assert_int_equal(vkey_json_read("/nonexistent/key.json", &vk), ST_INPUT);
    assert_string_equal(status_message(),
                        "/nonexistent/key.json: cannot open: No such file or directory");
    status_clear();
    const char *binary = PINION_TEST_DATA "/bad/good.zkey";
    assert_int_equal(public_json_read(binary, bn254(), 1, &publics), ST_INPUT);
    assert_memory_equal(status_message(), binary, strlen(binary));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(names_what_is_wrong_with_a_proof),
        cmocka_unit_test(names_what_is_wrong_with_a_key),
        cmocka_unit_test(names_what_is_wrong_with_public_signals),
        cmocka_unit_test(infinity),
        cmocka_unit_test(passes_on_what_is_not_reduced),
        cmocka_unit_test(a_proof_may_name_no_curve),
        cmocka_unit_test(deep_or_large),
        cmocka_unit_test(names_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
