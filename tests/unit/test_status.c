/* What is recorded of a failure. */
#include "tests/unit/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"

static void first_failure_wins(void **state)
{
    (void)state;
    status_clear();
    assert_string_equal(status_message(), "");
    assert_int_equal(fail(ST_INPUT, "%s: %d", "first", 1), ST_INPUT);
    assert_int_equal(fail(ST_RESOURCE, "second"), ST_RESOURCE);
    assert_string_equal(status_message(), "first: 1");
    status_clear();
    assert_int_equal(fail(ST_INTERNAL, "third"), ST_INTERNAL);
    assert_string_equal(status_message(), "third");
}

static void errno_text(void **state)
{
    (void)state;
    status_clear();
    errno = ENOENT;
    assert_int_equal(fail(ST_INPUT, "x: %m"), ST_INPUT);
    assert_string_equal(status_message(), "x: No such file or directory");
    assert_int_equal(errno, ENOENT);
}

static void stays_on_one_line(void **state)
{
    (void)state;
    status_clear();
    assert_int_equal(fail(ST_INPUT, "%s", "a\nb\r\x1b[2Jc\td\x7f\xc3\xa9"), ST_INPUT);
    assert_string_equal(status_message(), "a?b??[2Jc?d?\xc3\xa9");
    char text[] = "\xc2\x9b"
                  "2J\xc2\xa0\xc3\x9f\xc2";
    status_clean(text);
    assert_string_equal(text, "??2J\xc2\xa0\xc3\x9f\xc2");
}

/* In the middle: begin and end say what and why. */
static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[20000];
    const char reason[] = ": is a directory";
    for (size_t n = 500; n < sizeof text; n += n < 1500 ? 1 : 777) {
        memset(text, 'x', n);
        text[n] = '\0';
        status_clear();
        assert_int_equal(fail(ST_INPUT, "%s%s", text, reason), ST_INPUT);
        const char *message = status_message();
        size_t length = strlen(message), whole = n + strlen(reason);
        assert_memory_equal(message, text, 500);
        assert_true(length == whole || (length < whole && strstr(message, "x...x")));
        if (n <= 8000) /* two paths */
            assert_string_equal(message + length - strlen(reason), reason);
    }
}

static void exit_codes(void **state)
{
    (void)state;
    static const int codes[] = {
        [ST_OK] = 0,       [ST_INVALID] = 1,   [ST_USAGE] = 2,   [ST_INPUT] = 3,
        [ST_RESOURCE] = 4, [ST_NO_DAEMON] = 4, [ST_INTERNAL] = 5};
    for (int st = ST_OK; st <= ST_INTERNAL; st++)
        assert_int_equal(status_exit_code((enum status)st), codes[st]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_failure_wins), cmocka_unit_test(errno_text),
        cmocka_unit_test(stays_on_one_line),  cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
