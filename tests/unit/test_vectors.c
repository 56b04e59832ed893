/* Arithmetic, groups and pairings against vectors of foreign libraries (tests/js/vectors.js), one
 * case a line: an operation, its operands, its results, in hexadecimal. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/ec/pairing.h"
#include "common/ff/fr.h"

enum { LINE_LIMIT = 4096, NUMBER_LIMIT = 24 };

/* The numbers of a line, as plain integers. */
static fq number[NUMBER_LIMIT];

static fr as_fr(int i)
{
    fr r;
    memcpy(r.l, number[i].l, sizeof r.l);
    assert_true(fr_is_reduced(&r));
    fr_from_canonical(&r, &r);
    return r;
}

static fq as_fq(int i)
{
    fq r;
    assert_true(fq_is_reduced(&number[i]));
    fq_from_canonical(&r, &number[i]);
    return r;
}

static fq2 as_fq2(int i)
{
    return (fq2){as_fq(i), as_fq(i + 1)};
}

static g1_affine as_g1(int i)
{
    g1_affine p = {as_fq(i), as_fq(i + 1)};
    assert_true(g1_affine_is_on_curve(&p));
    return p;
}

static g2_affine as_g2(int i)
{
    g2_affine p = {as_fq2(i), as_fq2(i + 2)};
    assert_true(g2_affine_is_on_curve(&p));
    return p;
}

static fq12 as_fq12(int i)
{
    return (fq12){{as_fq2(i), as_fq2(i + 2), as_fq2(i + 4)},
                  {as_fq2(i + 6), as_fq2(i + 8), as_fq2(i + 10)}};
}

#define BINARY(type, name)                                                                         \
    static void case_##type##_##name(void)                                                         \
    {                                                                                              \
        type a = as_##type(0), b = as_##type(NUMBERS_##type),                                      \
             expected = as_##type(2 * NUMBERS_##type), r;                                          \
        type##_##name(&r, &a, &b);                                                                 \
        assert_true(type##_equal(&r, &expected));                                                  \
    }
#define UNARY(type, name)                                                                          \
    static void case_##type##_##name(void)                                                         \
    {                                                                                              \
        type a = as_##type(0), expected = as_##type(NUMBERS_##type), r;                            \
        type##_##name(&r, &a);                                                                     \
        assert_true(type##_equal(&r, &expected));                                                  \
    }
enum { NUMBERS_fr = 1, NUMBERS_fq = 1, NUMBERS_fq2 = 2 };

BINARY(fr, add)
BINARY(fr, sub)
BINARY(fr, mul)
UNARY(fr, inv)
BINARY(fq, add)
BINARY(fq, sub)
BINARY(fq, mul)
UNARY(fq, inv)
BINARY(fq2, mul)
UNARY(fq2, sqr)
UNARY(fq2, inv)

static void case_g1_mul(void)
{
    g1_affine expected = as_g1(1), r;
    g1 p;
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, number[0].l, FR_LIMBS);
    g1_to_affine(&r, &p);
    assert_true(g1_affine_equal(&r, &expected));
    assert_true(g1_in_subgroup(&r));
}

static void case_g2_mul(void)
{
    g2_affine expected = as_g2(1), r;
    g2 p;
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, number[0].l, FR_LIMBS);
    g2_to_affine(&r, &p);
    assert_true(g2_affine_equal(&r, &expected));
    assert_true(g2_in_subgroup(&r));
}

static void case_g1_add(void)
{
    g1_affine a = as_g1(0), b = as_g1(2), expected = as_g1(4), r;
    g1 p, q;
    g1_from_affine(&p, &a);
    g1_from_affine(&q, &b);
    g1_add(&q, &p, &q);
    g1_to_affine(&r, &q);
    assert_true(g1_affine_equal(&r, &expected));
    g1_add_affine(&p, &p, &b);
    g1_to_affine(&r, &p);
    assert_true(g1_affine_equal(&r, &expected));
}

static void case_g2_add(void)
{
    g2_affine a = as_g2(0), b = as_g2(4), expected = as_g2(8), r;
    g2 p, q;
    g2_from_affine(&p, &a);
    g2_from_affine(&q, &b);
    g2_add(&q, &p, &q);
    g2_to_affine(&r, &q);
    assert_true(g2_affine_equal(&r, &expected));
    g2_add_affine(&p, &p, &b);
    g2_to_affine(&r, &p);
    assert_true(g2_affine_equal(&r, &expected));
}

static void case_pairing(void)
{
    g1_affine p = as_g1(0);
    g2_affine q = as_g2(2);
    fq12 expected = as_fq12(6), r;
    pairing(&r, &p, &q);
    assert_true(fq12_equal(&r, &expected));
}

struct vector_case {
    const char *name;
    void (*run)(void);
    int numbers, seen;
};

static struct vector_case cases[] = {
    {"fr_add", case_fr_add, 3, 0},   {"fr_sub", case_fr_sub, 3, 0},
    {"fr_mul", case_fr_mul, 3, 0},   {"fr_inv", case_fr_inv, 2, 0},
    {"fq_add", case_fq_add, 3, 0},   {"fq_sub", case_fq_sub, 3, 0},
    {"fq_mul", case_fq_mul, 3, 0},   {"fq_inv", case_fq_inv, 2, 0},
    {"fq2_mul", case_fq2_mul, 6, 0}, {"fq2_sqr", case_fq2_sqr, 4, 0},
    {"fq2_inv", case_fq2_inv, 4, 0}, {"g1_mul", case_g1_mul, 3, 0},
    {"g1_add", case_g1_add, 6, 0},   {"g2_mul", case_g2_mul, 5, 0},
    {"g2_add", case_g2_add, 12, 0},  {"pairing", case_pairing, 18, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* A hexadecimal integer of at most FQ_BYTES bytes. */
static void parse_number(fq *r, const char *text)
{
    size_t digits = strlen(text);
    assert_in_range(digits, 1, 2 * FQ_BYTES);
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < digits; i++) {
        char digit[2] = {text[digits - 1 - i], 0}, *end;
        r->l[i / 16] |= (uint64_t)strtoul(digit, &end, 16) << (4 * (i % 16));
        assert_true(end == digit + 1);
    }
}

static struct vector_case *find_case(const char *name)
{
    assert_non_null(name);
    for (int i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    }
    return NULL;
}

static void run_line(char *line)
{
    char *rest;
    struct vector_case *c = find_case(strtok_r(line, " \n", &rest));
    int n = 0;
    assert_non_null(c);
    for (char *t; (t = strtok_r(NULL, " \n", &rest)) != NULL; n++) {
        assert_true(n < NUMBER_LIMIT);
        parse_number(&number[n], t);
    }
    assert_int_equal(c->numbers, n);
    c->run();
    c->seen++;
}

static void all_vectors(void **state)
{
    static char line[LINE_LIMIT];
    int lines = 0;
    while (fgets(line, sizeof line, *state) != NULL) {
        run_line(line);
        lines++;
    }
    print_message("%d vectors\n", lines);
    for (int i = 0; i < CASES; i++)
        assert_true(cases[i].seen > 0);
}

int main(void)
{
    const char *path = getenv("PINION_VECTORS");
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    if (file == NULL) {
        print_message("skipped: no vectors; see why the test that makes them skipped\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(all_vectors, file)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fclose(file);
    return failed;
}
