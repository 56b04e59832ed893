/* The configuration as text: what is checked before libconfig reads it, and sizes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf_private.h"

enum { DEPTH_MAX = 64 }; /* open brackets */

/* --- sizes --- */

/* The power of 1024 that suffix stands for, -1 if it stands for none. */
static int suffix_power(const char *suffix)
{
    static const char units[] = "KMGT";
    while (*suffix == ' ')
        suffix++;
    if (*suffix == '\0')
        return 0;
    const char *unit = strchr(units, *suffix);
    const char *rest = suffix + 1;
    if (unit == NULL ||
        (strcmp(rest, "") != 0 && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0))
        return -1;
    return (int)(unit - units) + 1;
}

enum status conf_size_parse(uint64_t *out, const char *text)
{
    uint64_t value = 0;
    const char *c = text;
    bool overflow = false;
    for (; *c >= '0' && *c <= '9'; c++)
        overflow |= __builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value);
    int power = suffix_power(c);
    if (c == text || power < 0)
        return fail(ST_INPUT, "\"%.40s\" is not a size: use bytes or a suffix, such as 512M or 16G",
                    text);
    overflow |= __builtin_mul_overflow(value, UINT64_C(1) << 10 * power, &value);
    if (overflow)
        return fail(ST_INPUT, "\"%.40s\" is too large a size", text);
    *out = value;
    return ST_OK;
}

/* --- the text as a whole --- */

/* The end of the string or comment that begins at c; c itself if none does. */
static const char *skip_passage(const char *c)
{
    if (*c == '"') {
        for (c++; *c != '\0' && *c != '"'; c++)
            c += *c == '\\' && c[1] != '\0';
        return *c == '\0' ? c : c + 1;
    }
    if (*c == '#' || (c[0] == '/' && c[1] == '/'))
        return c + strcspn(c, "\n");
    if (c[0] == '/' && c[1] == '*') {
        const char *end = strstr(c + 2, "*/");
        return end != NULL ? end + 2 : c + strlen(c);
    }
    return c;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*';
}

/* Whether the word is an integer that needs more than 31 bits and does not say so with an L. */
static bool is_cut(const char *word)
{
    char *end;
    unsigned long long value = strtoull(word, &end, 0);
    unsigned long long decimal = strtoull(word, NULL, 10); /* "010" is ten here */
    if (*word == '-')
        return is_cut(word + 1);
    return isdigit((unsigned char)*word) && (value > INT32_MAX || decimal > INT32_MAX) &&
           strchr(".eEL", *end) == NULL;
}

enum status conf_text_check(const char *name, const char *text)
{
    unsigned line = 1, depth = 0;
    for (const char *c = text, *next; *c != '\0'; c = next) {
        next = skip_passage(c);
        next += next == c;
        while (is_word(*c) && is_word(*next))
            next++;
        if (is_word(*c) && is_cut(c))
            return fail(ST_INPUT,
                        "%s:%u: %.*s: too large a number: append an L, or write a size as text "
                        "(\"16G\")",
                        name, line, (int)(next - c), c);
        if (strchr("{[(", *c) != NULL && ++depth > DEPTH_MAX)
            return fail(ST_INPUT, "%s:%u: more than %d brackets are open", name, line, DEPTH_MAX);
        if (strchr("}])", *c) != NULL && depth > 0)
            depth--;
        if (*c == '@')
            return fail(ST_INPUT, "%s:%u: @include is not supported: use one file", name, line);
        for (; c < next; c++)
            line += *c == '\n';
    }
    return ST_OK;
}
