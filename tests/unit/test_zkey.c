/* The reader and the writer of proving keys: real files, every kind of damage, lies that are
 * consistent with the container, and keys beyond 4 GiB. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file/zkey.h"
#include "common/file/zkey_format.h"
#include "tests/unit/container.h"
#include "tests/unit/scratch.h"
#include "tests/walk.h"

#define MUL2 "circom/bn128/mul2/circuit.zkey"
#define MUL2_BLS "circom/bls12381/mul2/circuit.zkey"

/* Offsets in the header section, for primes of 32 bytes. */
enum { Q_SIZE = 0, Q = 4, R_SIZE = 36, R = 40, VARS = 72, PUBLIC = 76, DOMAIN_SIZE = 80 };

static const size_t g1_bn254 = 64, record_bn254 = 44;

static enum status read_zkey(const struct file_map *map)
{
    struct zkey z;
    enum status st = zkey_parse(&z, map, NULL);
    if (st == ST_OK)
        walk_zkey(&z);
    return st;
}

static void reads_real_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum curve_id curve;
        uint32_t vars, public, domain, coefs, constraints, contributions;
    } files[] = {
        {"bn128/mul2", CURVE_BN254, 4, 1, 4, 4, 1, 2},
        {"bn128/nopub", CURVE_BN254, 3, 0, 2, 3, 1, 2},
        {"bn128/nopriv", CURVE_BN254, 5, 3, 8, 8, 2, 2},
        {"bn128/nocons", CURVE_BN254, 4, 2, 4, 3, 1, 2},
        {"bn128/domexact", CURVE_BN254, 64, 1, 64, 126, 62, 2},
        {"bn128/domexact_new", CURVE_BN254, 64, 1, 64, 126, 62, 0},
        {"bls12381/mul2", CURVE_BLS12_381, 4, 1, 4, 4, 1, 2},
        {"bls12381/domover", CURVE_BLS12_381, 65, 1, 128, 128, 63, 2},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct zkey z;
        char path[512];
        snprintf(path, sizeof path, "%s/circom/%s/circuit.zkey", PINION_TEST_DATA, files[i].name);
        assert_int_equal(zkey_open(&z, path, NULL), ST_OK);
        assert_int_equal(z.key.curve->id, files[i].curve);
        assert_int_equal(z.key.n_vars, files[i].vars);
        assert_int_equal(z.key.n_public, files[i].public);
        assert_int_equal(z.key.domain, files[i].domain);
        assert_int_equal(z.key.n_coefs, files[i].coefs);
        assert_int_equal(z.constraints, files[i].constraints);
        assert_int_equal(z.contributions, files[i].contributions);
        assert_string_equal(z.key.path, path);
        assert_int_equal(read_zkey(&z.map), ST_OK);
        zkey_close(&z);
        zkey_close(&z);
    }
}

static void refuses_damage(void **state)
{
    (void)state;
    reader_refuses_damage(read_zkey, MUL2);
    reader_refuses_damage(read_zkey, MUL2_BLS);
    reader_refuses_damage(read_zkey, "circom/bn128/nopub/circuit.zkey");
}

static void survives_fields(void **state)
{
    (void)state;
    for (uint32_t id = 1; id <= 10; id++) {
        reader_survives_fields(read_zkey, MUL2, id);
        if (id == ZKEY_HEADER || id == ZKEY_COEFS)
            reader_survives_fields(read_zkey, MUL2_BLS, id);
    }
}

static void refuses_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } files[] = {
        {"trunc_mid",
         "section 7 claims 8192 bytes but 4467 are left in the file: it is truncated or "
         "damaged"},
        {"trunc_1byte", "section 10 claims 905 bytes but 904 are left in the file: it is truncated "
                        "or damaged"},
        {"magic", "not a zkey file: it starts with \"zkex\""},
        {"nsections_huge", "claims 4294967295 sections but has room for at most 2651: it is "
                           "truncated or damaged"},
        {"seclen_wrap",
         "section 9 claims 18446744073709551604 bytes but 5013 are left in the file: "
         "it is truncated or damaged"},
        {"sec9_missing", "section 9 (H points) is missing"},
        {"protocol_plonk", "section 1: protocol 2 (PLONK): only Groth16 keys are supported"},
        {"r_is_q", "section 2 (header): r is the group order of no known curve (bn254 and "
                   "bls12_381 are)"},
        {"domain_huge", "section 2 (header): the domain size 2147483648 is beyond the limit of "
                        "bn254, 2^28"},
        {"npublic_ge_nvars", "section 2 (header): 64 public signals and the constant do not fit in "
                             "64 variables"},
        {"coef_constraint_oob", "section 4 (coefficients): record 0: constraint 64 is outside the "
                                "domain of size 64"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct zkey z;
        char path[512];
        snprintf(path, sizeof path, "%s/bad/%s.zkey", PINION_TEST_DATA, files[i].name);
        status_clear();
        assert_int_equal(zkey_open(&z, path, NULL), ST_INPUT);
        assert_memory_equal(status_message(), path, strlen(path));
        assert_string_equal(status_message() + strlen(path) + 2, files[i].message);
    }
    struct zkey z;
    assert_int_equal(zkey_open(&z, PINION_TEST_DATA "/bad/seclen_short.zkey", NULL), ST_INPUT);
    /* what only arithmetic can tell */
    static const char *const openable[] = {"coef_value_ge_r", "point_off_curve", "alpha_infinity"};
    for (size_t i = 0; i < sizeof openable / sizeof openable[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/bad/%s.zkey", PINION_TEST_DATA, openable[i]);
        assert_int_equal(zkey_open(&z, path, NULL), ST_OK);
        zkey_close(&z);
    }
}

/* The reader's message when the u32 at an offset of a section is replaced, "" if accepted. */
static const char *with_field(const char *name, uint32_t id, size_t at, uint32_t value)
{
    struct container c = container_read(name);
    assert_true(at + 4 <= container_section(&c, id)->size);
    memcpy(container_section(&c, id)->data + at, &value, 4);
    status_clear();
    enum status st = reader_try_container(read_zkey, &c);
    assert_int_equal(st, status_message()[0] ? ST_INPUT : ST_OK);
    container_free(&c);
    return status_message();
}

static void every_count_is_checked(void **state)
{
    (void)state;
    static const size_t fields[] = {Q_SIZE, R_SIZE, VARS, PUBLIC, DOMAIN_SIZE};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct container c = container_read(MUL2);
        uint32_t n;
        memcpy(&n, container_section(&c, ZKEY_HEADER)->data + fields[i], 4);
        container_free(&c);
        const uint32_t values[] = {0,        1,        n - 1,      n + 1,          2 * n,   n / 2,
                                   1U << 29, 1U << 31, UINT32_MAX, UINT32_MAX - n, 1U << 26};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
            if (values[k] != n)
                assert_string_not_equal(with_field(MUL2, ZKEY_HEADER, fields[i], values[k]), "");
    }
    static const uint32_t counts[] = {0, 1, 3, 5, 1U << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_string_not_equal(with_field(MUL2, ZKEY_COEFS, 0, counts[i]), "");
}

static void names_the_reason(void **state)
{
    (void)state;
    static const struct {
        uint32_t id, at, value;
        const char *message;
    } cases[] = {
        {ZKEY_PROTOCOL, 0, 10, "section 1: protocol 10 (FFLONK): only Groth16 keys are supported"},
        {ZKEY_PROTOCOL, 0, 0, "section 1: protocol 0 (unknown): only Groth16 keys are supported"},
        {ZKEY_HEADER, Q_SIZE, 0,
         "section 2 (header): the base field prime q has 0 bytes, no known curve has that"},
        {ZKEY_HEADER, R_SIZE, UINT32_MAX,
         "section 2 (header): the group order r has 4294967295 bytes, no known curve has that"},
        {ZKEY_HEADER, Q, 1,
         "section 2 (header): r is the group order of bn254, but q belongs to no known curve"},
        {ZKEY_HEADER, VARS, 5, "section 5 (A points) has 256 bytes but the header implies 320"},
        {ZKEY_HEADER, VARS, 0,
         "section 2 (header): 1 public signals and the constant do not fit in 0 variables"},
        {ZKEY_HEADER, PUBLIC, 2, "section 3 (IC points) has 128 bytes but the header implies 192"},
        {ZKEY_HEADER, DOMAIN_SIZE, 3,
         "section 2 (header): the domain size 3 is not a power of two"},
        {ZKEY_HEADER, DOMAIN_SIZE, 0,
         "section 2 (header): the domain size 0 is not a power of two"},
        {ZKEY_HEADER, DOMAIN_SIZE, 1,
         "section 2 (header): 1 public signals and the constant do not fit in a domain of size 1"},
        {ZKEY_HEADER, DOMAIN_SIZE, 1U << 29,
         "section 2 (header): the domain size 536870912 is beyond the limit of bn254, 2^28"},
        {ZKEY_HEADER, DOMAIN_SIZE, 1U << 28,
         "section 9 (H points) has 256 bytes but the header implies 17179869184"},
        {ZKEY_COEFS, 0, 3, "section 4 (coefficients): its count is 3 but its 180 bytes hold 4"},
        {ZKEY_COEFS, 4 + 44, 2,
         "section 4 (coefficients): record 1: matrix 2 does not exist, 0 is A and 1 is B"},
        {ZKEY_COEFS, 4 + 2 * 44 + 4, 4,
         "section 4 (coefficients): record 2: constraint 4 is outside the domain of size 4"},
        {ZKEY_COEFS, 4 + 3 * 44 + 8, 4,
         "section 4 (coefficients): record 3: signal 4 does not exist, there are 4 variables"},
        {ZKEY_CONTRIBUTIONS, 64, 3, "section 10 (contributions): ends in contribution 3 of 3"},
        {ZKEY_CONTRIBUTIONS, 64, 0, "section 10 (contributions): 837 bytes follow the last of 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "file under test: %s", cases[i].message);
        assert_string_equal(with_field(MUL2, cases[i].id, cases[i].at, cases[i].value), expected);
    }
}

/* The primes of one curve with those of the other. */
static void names_whose_prime_it_is(void **state)
{
    (void)state;
    struct container bn = container_read(MUL2), bls = container_read(MUL2_BLS);
    struct blob *header = container_section(&bn, ZKEY_HEADER);
    const uint8_t *other = container_section(&bls, ZKEY_HEADER)->data;
    memcpy(header->data + R, other + 4 + 48 + 4, 32);
    assert_int_equal(reader_try_container(read_zkey, &bn), ST_INPUT);
    assert_string_equal(status_message(), "file under test: section 2 (header): r is the group "
                                          "order of bls12_381, but q belongs to bn254");
    container_free(&bn);
    container_free(&bls);
}

/* A key that holds together but whose public signals have no rows in A. */
static void public_rows_must_be_there(void **state)
{
    (void)state;
    struct container c = container_read(MUL2);
    container_resize(&c, ZKEY_COEFS, 4);
    memset(container_section(&c, ZKEY_COEFS)->data, 0, 4);
    assert_int_equal(reader_try_container(read_zkey, &c), ST_INPUT);
    assert_string_equal(status_message(),
                        "file under test: section 4 (coefficients): matrix A ends at row 0: the "
                        "rows of 1 public signals are missing");
    container_free(&c);
}

static void domain_of_three_or_one(void **state)
{
    (void)state;
    struct container c = container_read("circom/bn128/nopub/circuit.zkey");
    uint8_t *domain = container_section(&c, ZKEY_HEADER)->data + DOMAIN_SIZE;
    *domain = 3;
    container_resize(&c, ZKEY_H, 3 * g1_bn254);
    assert_int_equal(reader_try_container(read_zkey, &c), ST_INPUT);
    /* one row: that of the constant */
    *domain = 1;
    container_resize(&c, ZKEY_H, g1_bn254);
    container_resize(&c, ZKEY_COEFS, 4 + 44);
    uint8_t *coefs = container_section(&c, ZKEY_COEFS)->data;
    memset(coefs, 0, 4 + 12);
    coefs[0] = 1;
    assert_int_equal(reader_try_container(read_zkey, &c), ST_OK);
    container_free(&c);
}

static void no_private_part(void **state)
{
    (void)state;
    struct container c = container_read(MUL2);
    container_section(&c, ZKEY_HEADER)->data[PUBLIC] = 3;
    container_resize(&c, ZKEY_IC, 4 * g1_bn254);
    container_resize(&c, ZKEY_C, 0);
    container_section(&c, ZKEY_COEFS)->data[4 + 4] = 3; /* the last public row */
    assert_int_equal(reader_try_container(read_zkey, &c), ST_OK);
    container_free(&c);
}

/* In parallel the first wrong record is still the one that is named. */
static void pool_finds_the_first(void **state)
{
    (void)state;
    struct pool *pool;
    assert_int_equal(pool_create(&pool, 4), ST_OK);
    struct container c = container_read("circom/bn128/domexact/circuit.zkey");
    uint8_t *coefs = container_section(&c, ZKEY_COEFS)->data + 4;
    for (size_t first = 0; first < 126; first += 7) {
        struct zkey z;
        uint32_t saved;
        memcpy(&saved, coefs + record_bn254 * first, 4);
        coefs[record_bn254 * first] = coefs[record_bn254 * 125] = 9;
        struct blob file = container_build(&c);
        const struct file_map map = {"key", file.data, file.size};
        char expected[128];
        snprintf(expected, sizeof expected,
                 "key: section 4 (coefficients): record %zu: matrix 9 does not exist, 0 is A and 1 "
                 "is B",
                 first);
        status_clear();
        assert_int_equal(zkey_parse(&z, &map, pool), ST_INPUT);
        assert_string_equal(status_message(), expected);
        blob_free(&file);
        memcpy(coefs + record_bn254 * first, &saved, 4);
    }
    container_free(&c);
    struct zkey z;
    const char *path = PINION_TEST_DATA "/circom/bn128/domexact/circuit.zkey";
    assert_int_equal(zkey_open(&z, path, pool), ST_OK);
    assert_int_equal(z.constraints, 62);
    zkey_close(&z);
    pool_destroy(pool);
}

static void writes_what_snarkjs_writes(void **state)
{
    const char *path = scratch_path(state, "copy.zkey");
    struct blob original = blob_read("circom/bn128/domexact_new/circuit.zkey");
    struct zkey z;
    struct file_map copy;
    assert_int_equal(
        zkey_open(&z, PINION_TEST_DATA "/circom/bn128/domexact_new/circuit.zkey", NULL), ST_OK);
    assert_int_equal(zkey_write(path, &z.key), ST_OK);
    assert_int_equal(file_map(&copy, path), ST_OK);
    /* all but the hash of the circuit, before the count of contributions at the end */
    memset(original.data + original.size - 4 - ZKEY_CIRCUIT_HASH, 0, ZKEY_CIRCUIT_HASH);
    assert_int_equal(copy.size, original.size);
    assert_memory_equal(copy.data, original.data, copy.size);
    file_unmap(&copy);
    zkey_close(&z);
    blob_free(&original);
}

/* Other orders of sections and another curve: the same sections come out. */
static void writes_every_section(void **state)
{
    static const char *const names[] = {"bn128/nopriv", "bls12381/domover", "bls12381/nopub"};
    const char *path = scratch_path(state, "copy.zkey");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char original[512];
        struct zkey z, copy;
        snprintf(original, sizeof original, "%s/circom/%s/circuit.zkey", PINION_TEST_DATA,
                 names[i]);
        assert_int_equal(zkey_open(&z, original, NULL), ST_OK);
        assert_int_equal(zkey_write(path, &z.key), ST_OK);
        assert_int_equal(zkey_open(&copy, path, NULL), ST_OK);
        const struct groth16_key *a = &z.key, *b = &copy.key;
        uint64_t g1 = 2 * a->curve->fq_bytes;
        assert_int_equal(b->n_vars, a->n_vars);
        assert_int_equal(b->n_public, a->n_public);
        assert_int_equal(b->domain, a->domain);
        assert_memory_equal(b->alpha1, a->alpha1, 9 * g1);
        assert_memory_equal(b->ic, a->ic, (a->n_public + 1) * g1);
        assert_memory_equal(b->a, a->a, a->n_vars * g1);
        assert_memory_equal(b->b1, a->b1, a->n_vars * g1);
        assert_memory_equal(b->b2, a->b2, 2 * g1 * a->n_vars);
        assert_memory_equal(b->c, a->c, (a->n_vars - a->n_public - 1) * g1);
        assert_memory_equal(b->h, a->h, a->domain * g1);
        assert_memory_equal(b->coefs, a->coefs, a->n_coefs * (12 + a->curve->fr_bytes));
        assert_int_equal(copy.contributions, 0);
        zkey_close(&z);
        zkey_close(&copy);
    }
}

/* The same key behind a section of 5 GiB that nobody knows; the file is sparse. */
static void sections_beyond_4_gib(void **state)
{
    const char *path = scratch_path(state, "large.zkey");
    const uint64_t hole = 5ULL << 30;
    struct blob small = blob_read(MUL2);
    uint32_t sections = 11, unknown = 99;
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, small.data, 8, 0), 8);
    assert_int_equal(pwrite(fd, &sections, 4, 8), 4);
    assert_int_equal(pwrite(fd, &unknown, 4, 12), 4);
    assert_int_equal(pwrite(fd, &hole, 8, 16), 8);
    ssize_t rest = (ssize_t)small.size - 12;
    assert_int_equal(pwrite(fd, small.data + 12, (size_t)rest, (off_t)(24 + hole)), rest);
    close(fd);

    struct zkey z;
    assert_int_equal(zkey_open(&z, path, NULL), ST_OK);
    assert_true(z.key.h > z.map.data + hole);
    walk_zkey(&z);
    zkey_close(&z);
    blob_free(&small);
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_real_files),        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(survives_fields),         cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(every_count_is_checked),  cmocka_unit_test(names_the_reason),
        cmocka_unit_test(names_whose_prime_it_is), cmocka_unit_test(public_rows_must_be_there),
        cmocka_unit_test(domain_of_three_or_one),  cmocka_unit_test(no_private_part),
        cmocka_unit_test(pool_finds_the_first),    scratch_test(writes_what_snarkjs_writes),
        scratch_test(writes_every_section),        scratch_test(sections_beyond_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
