/* One event is one line, parsable whatever the values hold. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static int ends[2];
static char line[2 * LOG_LINE_MAX];

static int set_up(void **state)
{
    (void)state;
    return pipe2(ends, O_NONBLOCK);
}

static int tear_down(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* What was written since the last call, without the newline; "" for nothing. */
static const char *written(void)
{
    ssize_t n = read(ends[0], line, sizeof line - 1);
    if (n <= 0)
        return "";
    assert_true(n <= LOG_LINE_MAX && line[n - 1] == '\n');
    line[n - 1] = '\0';
    assert_null(strchr(line, '\n'));
    return line;
}

/* The line behind its time, which is checked for its shape. */
static const char *without_time(const char *text)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ ";
    for (size_t i = 0; i < sizeof shape - 1; i++)
        assert_true(shape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == shape[i]);
    return text + sizeof shape - 1;
}

static void writes_text(void **state)
{
    (void)state;
    log_init("coord", LOG_TEXT, LEVEL_INFO, ends[1]);
    log_event(LEVEL_INFO, "j-1", "slice granted", log_u64("slot", 3), log_i64("delta", -4),
              log_real("ms", 1.25), log_bool("huge", true), log_string("path", "/a/b"),
              log_string("text", "two words \"q\"\n"), log_string("none", NULL));
    assert_string_equal(without_time(written()),
                        "info coord job=j-1 \"slice granted\" slot=3 delta=-4 ms=1.250 huge=true "
                        "path=/a/b text=\"two words \\\"q\\\"\\u000a\" none=\"\"");
    log_event(LEVEL_ERROR, NULL, "stopped");
    assert_string_equal(without_time(written()), "error coord stopped");
}

static void writes_json(void **state)
{
    (void)state;
    log_init("gpud", LOG_JSON, LEVEL_DEBUG, ends[1]);
    log_event(LEVEL_WARN, "j", "key evicted", log_u64("bytes", UINT64_MAX / 4),
              log_bool("idle", false), log_real("ratio", 1e300 * 1e300),
              log_string("why", "a\xff\xe2\x82\xac\xed\xa0\x80\x01\\"));
    json_t *o = json_loads(written(), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    assert_int_equal(json_object_size(o), 9);
    assert_string_equal(json_string_value(json_object_get(o, "level")), "warn");
    assert_string_equal(json_string_value(json_object_get(o, "component")), "gpud");
    assert_string_equal(json_string_value(json_object_get(o, "job")), "j");
    assert_string_equal(json_string_value(json_object_get(o, "event")), "key evicted");
    assert_int_equal(json_integer_value(json_object_get(o, "bytes")), UINT64_MAX / 4);
    assert_true(json_is_false(json_object_get(o, "idle")));
    assert_true(json_is_null(json_object_get(o, "ratio")));
    /* invalid byte, euro sign, three bytes of a surrogate, control, backslash */
    assert_string_equal(json_string_value(json_object_get(o, "why")),
                        "a\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x01\\");
    json_decref(o);
}

static void any_byte_gives_valid_lines(void **state)
{
    (void)state;
    log_init("x", LOG_JSON, LEVEL_INFO, ends[1]);
    for (int a = 1; a < 256; a++) {
        for (int b = 1; b < 256; b += 7) {
            const char value[] = {(char)a, (char)b, (char)(a ^ b), '\0'};
            log_event(LEVEL_INFO, value, "event", log_string("v", value));
            json_t *o = json_loads(written(), 0, NULL);
            assert_non_null(o);
            json_decref(o);
        }
    }
}

static void long_lines_say_that_they_are_cut(void **state)
{
    (void)state;
    char huge[4000], fitting[1800];
    memset(huge, 'x', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    memset(fitting, 'y', sizeof fitting);
    fitting[sizeof fitting - 1] = '\0';
    for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
        log_init("x", (enum log_format)format, LEVEL_INFO, ends[1]);
        log_event(LEVEL_INFO, huge, "event", log_string("a", fitting), log_string("b", huge),
                  log_u64("c", 5));
        const char *text = written();
        assert_non_null(strstr(text, "truncated"));
        assert_non_null(strstr(text, fitting));
        assert_null(strstr(text, "xx"));
        if (format == LOG_TEXT)
            continue;
        json_t *o = json_loads(text, 0, NULL);
        assert_non_null(o);
        assert_true(json_is_true(json_object_get(o, "truncated")));
        json_decref(o);
    }
}

static void levels_filter(void **state)
{
    (void)state;
    log_init("x", LOG_TEXT, LEVEL_WARN, ends[1]);
    for (int set = LEVEL_ERROR; set <= LEVEL_DEBUG; set++) {
        log_set_level((enum log_level)set);
        for (int level = LEVEL_ERROR; level <= LEVEL_DEBUG; level++) {
            log_event((enum log_level)level, NULL, "event");
            assert_int_equal(written()[0] != '\0', level <= set);
            assert_int_equal(log_enabled((enum log_level)level), level <= set);
        }
    }
}

static void keeps_errno(void **state)
{
    (void)state;
    log_init("x", LOG_TEXT, LEVEL_INFO, -1);
    errno = ENOSPC;
    log_event(LEVEL_INFO, NULL, "to nowhere");
    assert_int_equal(errno, ENOSPC);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writes_text),   TEST(writes_json), TEST(any_byte_gives_valid_lines),
        TEST(levels_filter), TEST(keeps_errno), TEST(long_lines_say_that_they_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
