#include "common/file/decimal.h"

#include <string.h>

/* Digits are handled in groups of the largest power of ten that fits a limb. */
enum { GROUP = 19, MAX_LIMBS = DECIMAL_MAX_BYTES / 8 };
static const uint64_t group_base = 10000000000000000000ULL;

/* a = a * m + add; returns what does not fit. */
static uint64_t multiply_add(uint64_t *a, size_t limbs, uint64_t m, uint64_t add)
{
    for (size_t i = 0; i < limbs; i++) {
        unsigned __int128 t = (unsigned __int128)a[i] * m + add;
        a[i] = (uint64_t)t;
        add = (uint64_t)(t >> 64);
    }
    return add;
}

/* a = a / group_base; returns the remainder. */
static uint64_t divide(uint64_t *a, size_t limbs)
{
    unsigned __int128 rest = 0;
    for (size_t i = limbs; i-- > 0;) {
        rest = rest << 64 | a[i];
        a[i] = (uint64_t)(rest / group_base);
        rest %= group_base;
    }
    return (uint64_t)rest;
}

enum status decimal_parse(const char *text, uint8_t *out, size_t n, const char *what)
{
    CHECK(n > 0 && n % 8 == 0 && n <= DECIMAL_MAX_BYTES);
    size_t length = strspn(text, "0123456789");
    if (length == 0 || text[length] != '\0')
        return fail(ST_INPUT, "%s: not a string of decimal digits", what);

    size_t zeros = strspn(text, "0");
    text += zeros;
    length -= zeros;
    if (length >= DECIMAL_MAX(n))
        return fail(ST_INVALID, "%s: a number of %zu digits is out of range", what, length);

    uint64_t limbs[MAX_LIMBS] = {0};
    while (length > 0) {
        uint64_t value = 0, base = 1;
        do {
            value = value * 10 + (uint64_t)(*text++ - '0');
            base *= 10;
        } while (--length % GROUP != 0);
        if (multiply_add(limbs, n / 8, base, value) != 0)
            return fail(ST_INVALID, "%s: a number of more than %zu bits is out of range", what,
                        8 * n);
    }
    memcpy(out, limbs, n);
    return ST_OK;
}

/* Writes the digits of value, at least min of them; returns how many. */
static size_t put_digits(char *text, uint64_t value, size_t min)
{
    char reversed[GROUP + 1];
    size_t n = 0;
    for (; value > 0 || n < min; value /= 10)
        reversed[n++] = (char)('0' + value % 10);
    for (size_t i = 0; i < n; i++)
        text[i] = reversed[n - 1 - i];
    return n;
}

size_t decimal_format(char *text, const uint8_t *a, size_t n)
{
    CHECK(n > 0 && n % 8 == 0 && n <= DECIMAL_MAX_BYTES);
    uint64_t limbs[MAX_LIMBS], groups[DECIMAL_MAX(DECIMAL_MAX_BYTES) / GROUP + 1];
    memcpy(limbs, a, n);

    size_t count = 0, used = n / 8;
    do {
        groups[count++] = divide(limbs, used);
        while (used > 0 && limbs[used - 1] == 0)
            used--;
    } while (used > 0);

    size_t length = put_digits(text, groups[--count], 1);
    while (count > 0)
        length += put_digits(text + length, groups[--count], GROUP);
    text[length] = '\0';
    return length;
}
