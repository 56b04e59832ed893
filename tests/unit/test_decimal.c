/* Decimal text to integers and back: limits, malformed text, random round trips. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/decimal.h"

static const char max_64[] = "18446744073709551615";
static const char max_256[] =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";
static const char max_384[] = "39402006196394479212279040100143613805079739270465446667948293404245"
                              "721771497210611414266254884915640806627990306815";
static const char max_512[] = "13407807929942597099574024998205846127479365820592393377723561443721"
                              "764030073546976801874298166"
                              "903427690031858186486050853753882811946569946433649006084095";

static const struct {
    const char *text;
    size_t n;
} maxima[] = {{max_64, 8}, {max_256, 32}, {max_384, 48}, {max_512, 64}};
enum { MAXIMA = sizeof maxima / sizeof maxima[0] };

static enum status parse(const char *text, uint8_t *out, size_t n)
{
    status_clear();
    return decimal_parse(text, out, n, "thing");
}

static void largest_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAXIMA; i++) {
        uint8_t value[DECIMAL_MAX_BYTES], ones[DECIMAL_MAX_BYTES];
        char text[DECIMAL_MAX(DECIMAL_MAX_BYTES)];
        memset(ones, 0xff, sizeof ones);
        assert_int_equal(parse(maxima[i].text, value, maxima[i].n), ST_OK);
        assert_memory_equal(value, ones, maxima[i].n);
        size_t length = decimal_format(text, ones, maxima[i].n);
        assert_string_equal(text, maxima[i].text);
        assert_int_equal(length, strlen(text));
        assert_true(length < DECIMAL_MAX(maxima[i].n));
    }
}

static void one_too_large(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAXIMA; i++) {
        /* all end in 5 */
        char text[DECIMAL_MAX(DECIMAL_MAX_BYTES)];
        uint8_t value[DECIMAL_MAX_BYTES] = {7};
        snprintf(text, sizeof text, "%s", maxima[i].text);
        text[strlen(text) - 1]++;
        assert_int_equal(parse(text, value, maxima[i].n), ST_INVALID);
        assert_non_null(strstr(status_message(), "thing"));
        assert_int_equal(value[0], 7);
    }
}

static void far_too_long(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    char *text = malloc(LENGTH + 1);
    uint8_t value[8];
    assert_non_null(text);
    memset(text, '9', LENGTH);
    text[LENGTH] = '\0';
    assert_int_equal(parse(text, value, 8), ST_INVALID);
    memset(text, '0', LENGTH - 1);
    assert_int_equal(parse(text, value, 8), ST_OK);
    assert_int_equal(value[0], 9);
    free(text);
}

static void malformed(void **state)
{
    (void)state;
    static const char *const texts[] = {"",     " ",     "+1",       "-1",   "-0", "1 ", " 1",
                                        "0x1",  "1e3",   "1.0",      "a",    "1a", "\n", "1\n",
                                        "1\t2", "1_000", "\xd9\xa1", "\xff", ",",  "00x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint8_t value[32];
        assert_int_equal(parse(texts[i], value, sizeof value), ST_INPUT);
        assert_string_equal(status_message(), "thing: not a string of decimal digits");
    }
}

static void small_values(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        char text[32], back[DECIMAL_MAX(32)];
        uint8_t value[32];
        snprintf(text, sizeof text, "%s%u", i % 3 == 0 ? "000" : "", i);
        assert_int_equal(parse(text, value, sizeof value), ST_OK);
        assert_int_equal(value[0] | value[1] << 8, i);
        for (size_t k = 2; k < sizeof value; k++)
            assert_int_equal(value[k], 0);
        decimal_format(back, value, sizeof value);
        assert_int_equal(strtoul(back, NULL, 10), i);
    }
}

/* The digits by dividing by ten, byte by byte. */
static void naive_format(char *text, const uint8_t *a, size_t n)
{
    uint8_t rest[DECIMAL_MAX_BYTES];
    char digits[DECIMAL_MAX(DECIMAL_MAX_BYTES)];
    size_t count = 0;
    memcpy(rest, a, n);
    for (size_t used = n; used > 0;) {
        unsigned r = 0;
        for (size_t i = used; i-- > 0; r %= 10) {
            r = r << 8 | rest[i];
            rest[i] = (uint8_t)(r / 10);
        }
        digits[count++] = (char)('0' + r);
        while (used > 0 && rest[used - 1] == 0)
            used--;
    }
    for (size_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    text[count] = '\0';
}

static void random_round_trips(void **state)
{
    (void)state;
    const unsigned seed = 20250701;
    print_message("seed %u\n", seed);
    srandom(seed);
    for (unsigned i = 0; i < 4000; i++) {
        size_t n = 8 * (1 + (size_t)random() % 8);
        uint8_t value[DECIMAL_MAX_BYTES] = {0}, back[DECIMAL_MAX_BYTES];
        char text[DECIMAL_MAX(DECIMAL_MAX_BYTES)], expected[DECIMAL_MAX(DECIMAL_MAX_BYTES)];
        size_t used = (size_t)random() % (n + 1);
        for (size_t k = 0; k < used; k++)
            value[k] = i % 5 == 0 ? 0xff : (uint8_t)random();
        naive_format(expected, value, n);
        decimal_format(text, value, n);
        assert_string_equal(text, expected);
        assert_int_equal(parse(text, back, n), ST_OK);
        assert_memory_equal(back, value, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_values), cmocka_unit_test(one_too_large),
        cmocka_unit_test(far_too_long),   cmocka_unit_test(malformed),
        cmocka_unit_test(small_values),   cmocka_unit_test(random_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
