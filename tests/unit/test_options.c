/* Options of a command line: what is taken, what is refused and with which hint. */
#include "tests/unit/test.h"

#include <string.h>

#include "tools/pinion/command.h"

struct values {
    struct compute_options compute;
    const char *file, *color;
    uint64_t size;
    bool json;
};

static const struct option_spec specs[] = {
    {"file", "FILE", "", OPTION_TEXT, offsetof(struct values, file), 0, 0},
    {"color", "red|green", "", OPTION_CHOICE, offsetof(struct values, color), 0, 0},
    {"size", "N", "", OPTION_NUMBER, offsetof(struct values, size), 2, UINT64_MAX},
    {"json", NULL, "", OPTION_FLAG, offsetof(struct values, json), 0, 0},
    COMPUTE_OPTIONS,
    {0},
};

static const struct command command = {
    .name = "paint",
    .operands = "IN OUT",
    .min_operands = 2,
    .max_operands = 2,
    .options = specs,
};

static struct values values;
static char **operands;
static bool help;

/* Parses the words, up to NULL. */
static enum status parse(const char *const *words)
{
    static char storage[16][80];
    static char *argv[17];
    int argc = 0;
    status_clear();
    for (; words[argc]; argc++) {
        assert_true(argc < 16 && strlen(words[argc]) < sizeof storage[0]);
        argv[argc] = memcpy(storage[argc], words[argc], strlen(words[argc]) + 1);
    }
    argv[argc] = NULL;
    values = (struct values){.compute = COMPUTE_DEFAULTS, .size = 7};
    return options_parse(&command, argc, argv, &values, &operands, &help);
}

#define PARSE(...) parse((const char *const[]){"paint", __VA_ARGS__, NULL})

static void refuses(enum status st, const char *message)
{
    assert_int_equal(st, ST_USAGE);
    assert_string_equal(status_message(), message);
}

static void defaults_stand(void **state)
{
    (void)state;
    assert_int_equal(PARSE("a", "b"), ST_OK);
    assert_string_equal(operands[0], "a");
    assert_string_equal(operands[1], "b");
    assert_null(operands[2]);
    assert_null(values.file);
    assert_int_equal(values.size, 7);
    assert_int_equal(values.compute.threads, 0);
    assert_string_equal(values.compute.cpu, "auto");
    assert_false(values.json || values.compute.quiet || help);
}

static void options_anywhere(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--json", "a", "--file=f", "--size", "2", "b", "--color", "green"),
                     ST_OK);
    assert_string_equal(operands[0], "a");
    assert_string_equal(operands[1], "b");
    assert_string_equal(values.file, "f");
    assert_string_equal(values.color, "green");
    assert_int_equal(values.size, 2);
    assert_true(values.json);
    /* abbreviated; the last one counts; what follows -- is no option */
    assert_int_equal(PARSE("--thr", "3", "--threads", "1024", "--", "--json", "-x"), ST_OK);
    assert_int_equal(values.compute.threads, 1024);
    assert_string_equal(operands[0], "--json");
    assert_false(values.json);
}

static void numbers_are_checked(void **state)
{
    (void)state;
    const char *const wrong[] = {"",
                                 "0",
                                 "1",
                                 "-3",
                                 "+3",
                                 " 3",
                                 "3 ",
                                 "0x3",
                                 "3k",
                                 "1e3",
                                 "18446744073709551616",
                                 "999999999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(PARSE("--size", wrong[i], "a", "b"), ST_USAGE);
    refuses(PARSE("--threads", "1025", "a", "b"),
            "--threads 1025: must be a number from 1 to 1024");
    assert_int_equal(PARSE("--size", "18446744073709551615", "a", "b"), ST_OK);
    assert_true(values.size == UINT64_MAX);
}

static void choices_are_checked(void **state)
{
    (void)state;
    const char *const wrong[] = {"", "r", "re", "redd", "red|green", "green|", "|", "blue"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(PARSE("--color", wrong[i], "a", "b"), ST_USAGE);
    refuses(PARSE("--color=blue", "a", "b"), "--color blue: must be one of red|green");
}

static void mistakes_are_named(void **state)
{
    (void)state;
    refuses(PARSE("--jsn", "a", "b"), "paint: unknown option --jsn; did you mean --json?");
    refuses(PARSE("a", "b", "--colour=red"),
            "paint: unknown option --colour; did you mean --color?");
    refuses(PARSE("--hlep", "a"), "paint: unknown option --hlep; did you mean --help?");
    refuses(PARSE("--entirely-different", "a", "b"), "paint: unknown option --entirely-different");
    refuses(PARSE("-x", "a", "b"), "paint: unknown option -x");
    refuses(PARSE("a", "b", "--size"), "paint: --size needs a value: N");
    refuses(PARSE("--json=yes", "a", "b"), "paint: --json takes no value");
    refuses(PARSE("--help=yes", "a", "b"), "paint: --help takes no value");
    refuses(PARSE("--file=", "a", "b"), "--file: must not be empty");
    refuses(PARSE("a"), "paint needs IN OUT, 1 operand given");
    refuses(PARSE("a", "b", "c"), "paint needs IN OUT, 3 operands given");
}

static void help_wins(void **state)
{
    (void)state;
    assert_int_equal(PARSE("a", "--help", "--nothing"), ST_OK);
    assert_true(help);
    assert_int_equal(PARSE("-h"), ST_OK);
    assert_true(help);
}

static void nearest_word(void **state)
{
    (void)state;
    const char *const names[] = {"prove", "verify", "bench"};
    assert_string_equal(options_nearest("proof", names, 3), "prove");
    assert_string_equal(options_nearest("verfy", names, 3), "verify");
    assert_string_equal(options_nearest("Bench", names, 3), "bench");
    assert_null(options_nearest("", names, 3));
    assert_null(options_nearest("x", names, 3));
    assert_null(options_nearest("something else", names, 3));
    assert_null(options_nearest("a word of more than thirty-one letters", names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stand),      cmocka_unit_test(options_anywhere),
        cmocka_unit_test(numbers_are_checked), cmocka_unit_test(choices_are_checked),
        cmocka_unit_test(mistakes_are_named),  cmocka_unit_test(help_wins),
        cmocka_unit_test(nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
