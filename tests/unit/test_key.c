/* Blinding factors: from hexadecimal digits, and fresh. */
#include "tests/unit/test.h"

#include <stdbool.h>
#include <string.h>

#include "common/groth16/key.h"

enum { DIGITS = 128 };

static const char *const curves[] = {"bn254", "bls12_381"};

static void assert_usage(const struct curve *curve, const char *hex, const char *text)
{
    struct groth16_randomness rs, before;
    memset(&rs, 0x77, sizeof rs);
    before = rs;
    assert_int_equal(groth16_randomness_from_hex(&rs, curve, hex), ST_USAGE);
    assert_non_null(strstr(status_message(), text));
    assert_memory_equal(&rs, &before, sizeof rs);
    status_clear();
}

static void digits(char hex[DIGITS + 1], char fill)
{
    memset(hex, fill, DIGITS);
    hex[DIGITS] = '\0';
}

static void hexadecimal(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const struct curve *curve = curve_by_name(curves[c]);
        struct groth16_randomness rs;
        char hex[DIGITS + 1];
        digits(hex, '0');
        for (size_t i = 0; i < 6; i++)
            hex[60 + i] = "aBc12f"[i];
        assert_int_equal(groth16_randomness_from_hex(&rs, curve, hex), ST_OK);
        assert_int_equal(rs.r[0], 0xc1);
        assert_int_equal(rs.r[1], 0xab);
        assert_int_equal(rs.r[2], 0);
        assert_int_equal(rs.s[31], 0x2f);
        assert_int_equal(rs.s[0], 0);
    }
}

static void malformed_hexadecimal(void **state)
{
    (void)state;
    const struct curve *curve = curve_by_name("bn254");
    char hex[DIGITS + 2];
    assert_usage(curve, "", "128");
    digits(hex, '1');
    hex[DIGITS - 1] = '\0';
    assert_usage(curve, hex, "127");
    memset(hex, '1', DIGITS + 1);
    hex[DIGITS + 1] = '\0';
    assert_usage(curve, hex, "129");
    for (size_t i = 0; i < DIGITS; i++) {
        digits(hex, '1');
        hex[i] = "g/:@G` x"[i % 8];
        assert_usage(curve, hex, "hexadecimal");
    }
    digits(hex, '0');
    memset(hex, 'f', DIGITS / 2);
    assert_usage(curve, hex, "r is not below");
    digits(hex, '0');
    memset(hex + DIGITS / 2, 'f', DIGITS / 2);
    assert_usage(curve, hex, "s is not below");
}

/* The group order itself is refused, one less is not. */
static void limit_of_hexadecimal(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const struct curve *curve = curve_by_name(curves[c]);
        struct groth16_randomness rs;
        char hex[DIGITS + 1];
        digits(hex, '0');
        for (size_t i = 0; i < 32; i++) {
            uint8_t byte = curve->fr_modulus[31 - i];
            hex[2 * i] = "0123456789abcdef"[byte >> 4];
            hex[2 * i + 1] = "0123456789abcdef"[byte & 15];
        }
        assert_usage(curve, hex, "r is not below");
        hex[DIGITS / 2 - 1]--; /* the order is odd and ends in 1 */
        assert_int_equal(groth16_randomness_from_hex(&rs, curve, hex), ST_OK);
        assert_int_equal(rs.r[0], curve->fr_modulus[0] - 1);
    }
}

/* Below the order, spread over its whole range, never the same. */
static void fresh(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const struct curve *curve = curve_by_name(curves[c]);
        struct groth16_randomness rs, last = {{0}, {0}};
        bool high = false, low = false;
        for (int i = 0; i < 400; i++) {
            assert_int_equal(groth16_randomness_fresh(&rs, curve), ST_OK);
            assert_true(curve_below(rs.r, curve->fr_modulus, curve->fr_bytes));
            assert_true(curve_below(rs.s, curve->fr_modulus, curve->fr_bytes));
            assert_memory_not_equal(rs.r, rs.s, sizeof rs.r);
            assert_memory_not_equal(rs.r, last.r, sizeof rs.r);
            high |= rs.r[31] >= curve->fr_modulus[31] - 4;
            low |= rs.r[31] <= 4;
            last = rs;
        }
        assert_true(high && low); /* missed by chance less than once in 10^12 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hexadecimal),
        cmocka_unit_test(malformed_hexadecimal),
        cmocka_unit_test(limit_of_hexadecimal),
        cmocka_unit_test(fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
