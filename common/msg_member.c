/* Members of a message's object: read with bounds, built from values. */
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"

/* The member, NULL when it is absent or null. */
static const json_t *get(const json_t *body, const char *name)
{
    const json_t *value = json_object_get(body, name);
    return json_is_null(value) ? NULL : value;
}

static enum status missing(const char *name)
{
    return fail(ST_INPUT, "member \"%s\": is missing", name);
}

static enum status read_string(const char **out, const json_t *value, const char *name, size_t min,
                               size_t max)
{
    if (!json_is_string(value))
        return fail(ST_INPUT, "member \"%s\": must be a string", name);
    size_t len = json_string_length(value);
    if (len < min || len > max)
        return fail(ST_INPUT, "member \"%s\": has %zu bytes, must have %zu to %zu", name, len, min,
                    max);
    *out = json_string_value(value);
    return ST_OK;
}

enum status msg_string(const char **out, const json_t *body, const char *name, size_t min,
                       size_t max)
{
    const json_t *value = get(body, name);
    return value != NULL ? read_string(out, value, name, min, max) : missing(name);
}

enum status msg_string_opt(const char **out, const json_t *body, const char *name, size_t max,
                           const char *fallback)
{
    const json_t *value = get(body, name);
    if (value != NULL)
        return read_string(out, value, name, 0, max);
    *out = fallback;
    return ST_OK;
}

static enum status read_int(int64_t *out, const json_t *value, const char *name, int64_t min,
                            int64_t max)
{
    if (!json_is_integer(value))
        return fail(ST_INPUT, "member \"%s\": must be an integer", name);
    int64_t v = json_integer_value(value);
    if (v < min || v > max)
        return fail(ST_INPUT, "member \"%s\": is %lld, must be %lld to %lld", name, (long long)v,
                    (long long)min, (long long)max);
    *out = v;
    return ST_OK;
}

enum status msg_int(int64_t *out, const json_t *body, const char *name, int64_t min, int64_t max)
{
    const json_t *value = get(body, name);
    return value != NULL ? read_int(out, value, name, min, max) : missing(name);
}

enum status msg_int_opt(int64_t *out, const json_t *body, const char *name, int64_t min,
                        int64_t max, int64_t fallback)
{
    const json_t *value = get(body, name);
    if (value != NULL)
        return read_int(out, value, name, min, max);
    *out = fallback;
    return ST_OK;
}

enum status msg_bool_opt(bool *out, const json_t *body, const char *name, bool fallback)
{
    const json_t *value = get(body, name);
    if (value != NULL && !json_is_boolean(value))
        return fail(ST_INPUT, "member \"%s\": must be true or false", name);
    *out = value != NULL ? json_is_true(value) : fallback;
    return ST_OK;
}

/* The value of a hex digit, -1 for anything else. */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static enum status not_hex(const char *name)
{
    return fail(ST_INPUT, "member \"%s\": must be hex digits", name);
}

enum status msg_hex64(uint64_t *out, const json_t *body, const char *name)
{
    const char *text = "";
    uint64_t v = 0;
    enum status st = msg_string(&text, body, name, 1, 16);
    if (st != ST_OK)
        return st;
    for (; *text != '\0'; text++) {
        int d = digit(*text);
        if (d < 0)
            return not_hex(name);
        v = v << 4 | (unsigned)d;
    }
    *out = v;
    return ST_OK;
}

enum status msg_hex(uint8_t *out, size_t len, const json_t *body, const char *name)
{
    const char *text = "";
    enum status st = msg_string(&text, body, name, 2 * len, 2 * len);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < 2 * len; i++)
        if (digit(text[i]) < 0)
            return not_hex(name);
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
    return ST_OK;
}

static bool read_u32(uint32_t *out, const json_t *value)
{
    int64_t v = json_integer_value(value);
    *out = (uint32_t)v;
    return json_is_integer(value) && v >= 0 && v <= UINT32_MAX;
}

enum status msg_pairs(uint32_t (*out)[2], size_t *count, size_t cap, const json_t *body,
                      const char *name)
{
    const json_t *array = get(body, name);
    if (array != NULL && !json_is_array(array))
        return fail(ST_INPUT, "member \"%s\": must be an array", name);
    size_t n = json_array_size(array);
    if (n > cap)
        return fail(ST_INPUT, "member \"%s\": has %zu elements, at most %zu are allowed", name, n,
                    cap);
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(array, i);
        if (json_array_size(pair) != 2 || !read_u32(&out[i][0], json_array_get(pair, 0)) ||
            !read_u32(&out[i][1], json_array_get(pair, 1)))
            return fail(ST_INPUT,
                        "member \"%s\": element %zu must be a pair of integers below 2^32", name,
                        i);
    }
    *count = n;
    return ST_OK;
}

/* --- building --- */

json_t *msg_json_hex64(uint64_t value)
{
    return json_sprintf("%llx", (unsigned long long)value);
}

json_t *msg_json_hex(const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * len + 1);
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    json_t *value = json_stringn_nocheck(text, 2 * len);
    free(text);
    return value;
}

json_t *msg_json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *copy = strdup(text);
    if (copy == NULL)
        return NULL;
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(copy);
    free(copy);
    return value;
}
