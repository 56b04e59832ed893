#include "tools/pinion/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pinion/command.h"

enum { MAX_OPTIONS = 24, VALUE_OF_FIRST = 256, MAX_WORD = 31 };

/* Edits (insertion, removal, replacement) that turn a into b. Wagner and Fischer, "The
 * string-to-string correction problem" (1974). Both at most MAX_WORD long. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 1], n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            row[j + 1] = best;
        }
    }
    return row[n];
}

const char *options_nearest(const char *word, const char *const *names, size_t n)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1; /* more edits than that are another word */
    if (strlen(word) > MAX_WORD)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = strlen(names[i]) <= MAX_WORD ? distance(word, names[i]) : MAX_WORD;
        if (d < best) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}

static size_t count(const struct option_spec *specs)
{
    size_t n = 0;
    while (specs[n].name)
        n++;
    return n;
}

static enum status unknown(const struct command *command, const char *given)
{
    const char *names[MAX_OPTIONS + 1], *equals = strchr(given, '=');
    size_t n = count(command->options);
    for (size_t i = 0; i < n; i++)
        names[i] = command->options[i].name;
    names[n++] = "help";
    char word[MAX_WORD + 1] = "";
    size_t length = equals ? (size_t)(equals - given) : strlen(given);
    if (length > 2 && length - 2 <= MAX_WORD)
        memcpy(word, given + 2, length - 2);
    const char *nearest = options_nearest(word, names, n);
    if (nearest)
        return fail(ST_USAGE, "%s: unknown option %.*s; did you mean --%s?", command->name,
                    (int)length, given, nearest);
    return fail(ST_USAGE, "%s: unknown option %.*s", command->name, (int)length, given);
}

static enum status read_number(const struct option_spec *spec, const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    bool digits = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    if (!digits || errno != 0 || *end != '\0' || v < spec->min || v > spec->max)
        return fail(ST_USAGE, "--%s %s: must be a number from %llu to %llu", spec->name, text,
                    (unsigned long long)spec->min, (unsigned long long)spec->max);
    *out = v;
    return ST_OK;
}

static enum status read_choice(const struct option_spec *spec, const char *text, const char **out)
{
    size_t length = strlen(text);
    bool word = length > 0 && !strchr(text, '|');
    for (const char *p = spec->value; word && p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, text, length) == 0 && (p[length] == '|' || p[length] == '\0')) {
            *out = text;
            return ST_OK;
        }
    }
    return fail(ST_USAGE, "--%s %s: must be one of %s", spec->name, text, spec->value);
}

static enum status read_value(const struct option_spec *spec, const char *text, void *options)
{
    void *variable = (char *)options + spec->offset;
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)variable = true;
        return ST_OK;
    case OPTION_NUMBER:
        return read_number(spec, text, variable);
    case OPTION_CHOICE:
        return read_choice(spec, text, variable);
    case OPTION_TEXT:
        break;
    }
    if (text[0] == '\0')
        return fail(ST_USAGE, "--%s: must not be empty", spec->name);
    *(const char **)variable = text;
    return ST_OK;
}

static enum status check_operands(const struct command *command, int n)
{
    if (n >= (int)command->min_operands && n <= (int)command->max_operands)
        return ST_OK;
    if (command->max_operands == 0)
        return fail(ST_USAGE, "%s takes no operands, %d given", command->name, n);
    return fail(ST_USAGE, "%s needs %s, %d operand%s given", command->name, command->operands, n,
                n == 1 ? "" : "s");
}

/* One result of getopt_long that is not an option of ours. */
static enum status complain(const struct command *command, int result, char **argv)
{
    const struct option_spec *spec =
        optopt >= VALUE_OF_FIRST ? &command->options[optopt - VALUE_OF_FIRST] : NULL;
    if (result == ':' && spec)
        return fail(ST_USAGE, "%s: --%s needs a value: %s", command->name, spec->name, spec->value);
    if (spec)
        return fail(ST_USAGE, "%s: --%s takes no value", command->name, spec->name);
    if (optopt == 'h')
        return fail(ST_USAGE, "%s: --help takes no value", command->name);
    if (optopt != 0)
        return fail(ST_USAGE, "%s: unknown option -%c", command->name, optopt);
    return unknown(command, argv[optind - 1]);
}

enum status options_parse(const struct command *command, int argc, char **argv, void *options,
                          char ***operands, bool *help)
{
    struct option table[MAX_OPTIONS + 2] = {0};
    size_t n = count(command->options);
    CHECK(n <= MAX_OPTIONS);
    for (size_t i = 0; i < n; i++) {
        const struct option_spec *spec = &command->options[i];
        table[i] =
            (struct option){spec->name, spec->kind != OPTION_FLAG, NULL, VALUE_OF_FIRST + (int)i};
    }
    table[n] = (struct option){"help", no_argument, NULL, 'h'};

    *help = false;
    opterr = 0;
    optind = 0; /* GNU: start over */
    for (int c; (c = getopt_long(argc, argv, ":h", table, NULL)) != -1;) {
        if (c == 'h') {
            *help = true;
            return ST_OK;
        }
        if (c < VALUE_OF_FIRST)
            return complain(command, c, argv);
        enum status st = read_value(&command->options[c - VALUE_OF_FIRST], optarg, options);
        if (st != ST_OK)
            return st;
    }
    *operands = argv + optind;
    return check_operands(command, argc - optind);
}
