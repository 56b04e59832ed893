/* The container: order, unknown sections, and everything that is wrong with it. */
#include "tests/unit/test.h"

#include <string.h>

#include "common/file/sections.h"
#include "tests/unit/container.h"

static const char file_a[] = "test\1\0\0\0\3\0\0\0"
                             "\7\0\0\0\3\0\0\0\0\0\0\0abc"
                             "\1\0\0\0\0\0\0\0\0\0\0\0"
                             "\x63\0\0\0\2\0\0\0\0\0\0\0zz";

static enum status parse(struct sections *s, const void *data, size_t size)
{
    const struct file_map map = {"file", data, size};
    status_clear();
    return sections_parse(s, &map, "test", 1);
}

static enum status read_any(const struct file_map *map)
{
    struct sections s;
    return sections_parse(&s, map, "test", 1);
}

static void finds_by_id(void **state)
{
    (void)state;
    struct sections s;
    struct section found;
    assert_int_equal(parse(&s, file_a, sizeof file_a - 1), ST_OK);
    assert_int_equal(sections_get(&s, 7, "seven", 3, &found), ST_OK);
    assert_int_equal(found.size, 3);
    assert_memory_equal(found.data, "abc", 3);
    assert_int_equal(sections_get(&s, 1, "one", 0, &found), ST_OK);
    assert_int_equal(found.size, 0);
    assert_non_null(found.data);
    assert_int_equal(sections_get_exact(&s, 7, "seven", 3, &found), ST_OK);
}

static void names_what_is_missing(void **state)
{
    (void)state;
    struct sections s;
    struct section found = {.size = 77};
    assert_int_equal(parse(&s, file_a, sizeof file_a - 1), ST_OK);
    assert_int_equal(sections_get(&s, 2, "two", 0, &found), ST_INPUT);
    assert_string_equal(status_message(), "file: section 2 (two) is missing");
    status_clear();
    assert_int_equal(sections_get(&s, 7, "seven", 4, &found), ST_INPUT);
    assert_string_equal(status_message(),
                        "file: section 7 (seven) has 3 bytes, too few: it needs 4");
    status_clear();
    assert_int_equal(sections_get_exact(&s, 7, "seven", 2, &found), ST_INPUT);
    assert_string_equal(status_message(),
                        "file: section 7 (seven) has 3 bytes but the header implies 2");
    assert_int_equal(found.size, 77);
}

static void refuses_every_prefix(void **state)
{
    (void)state;
    assert_int_equal(reader_try(read_any, file_a, sizeof file_a - 1), ST_OK);
    for (size_t size = 0; size < sizeof file_a - 1; size++)
        assert_int_equal(reader_try(read_any, file_a, size), ST_INPUT);
    assert_int_equal(reader_try(read_any, file_a, sizeof file_a), ST_INPUT);
}

/* What the message says about the file with one byte changed. */
static void assert_changed(size_t at, uint8_t value, const char *expected)
{
    struct sections s;
    char copy[sizeof file_a];
    memcpy(copy, file_a, sizeof copy);
    copy[at] = (char)value;
    assert_int_equal(parse(&s, copy, sizeof copy - 1), ST_INPUT);
    assert_string_equal(status_message(), expected);
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    assert_changed(0, 'b', "file: not a test file: it starts with \"best\"");
    assert_changed(0, '\n', "file: not a test file: it starts with \"?est\"");
    assert_changed(4, 2, "file: test version 2 is not supported, only 1");
    assert_changed(8, 200,
                   "file: claims 200 sections but has room for at most 3: it is truncated or "
                   "damaged");
    assert_changed(8, 2, "file: 14 bytes follow the last section");
    assert_changed(12, 1, "file: section 1 comes twice");
    assert_changed(23, 255,
                   "file: section 7 claims 18374686479671623683 bytes but 29 are left in the file: "
                   "it is truncated or damaged");
    assert_changed(16, 13,
                   "file: section 6488064 claims 131072 bytes but 4 are left in the file: it is "
                   "truncated or damaged");
}

/* Ids outside 1..SECTIONS_MAX_ID are nobody's: doubled or not, they are skipped. */
static void skips_unknown(void **state)
{
    (void)state;
    static const uint32_t ids[] = {0, SECTIONS_MAX_ID + 1, 1U << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct sections s;
        char copy[sizeof file_a];
        memcpy(copy, file_a, sizeof copy);
        memcpy(copy + 12, &ids[i], 4);
        memcpy(copy + 39, &ids[i], 4);
        assert_int_equal(parse(&s, copy, sizeof copy - 1), ST_OK);
        assert_non_null(s.by_id[1].data);
        assert_null(s.by_id[7].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_id),          cmocka_unit_test(names_what_is_missing),
        cmocka_unit_test(refuses_every_prefix), cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(skips_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
