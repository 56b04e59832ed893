/* Ids are safe names or refused; generated ones differ; names and values correspond. */
#include "tests/unit/test.h"

#include <string.h>

#include "shm/job.h"

static void refuses_unsafe_ids(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "A-b_c.9", "-x"};
    char longest[JOB_ID_MAX + 2];
    for (int i = 0; i < 3; i++)
        assert_true(job_id_valid(good[i]));
    memset(longest, 'x', sizeof longest);
    longest[JOB_ID_MAX] = '\0';
    assert_true(job_id_valid(longest));
    longest[JOB_ID_MAX] = 'x';
    longest[JOB_ID_MAX + 1] = '\0';
    assert_false(job_id_valid(longest));
    static const char *const bad[] = {"",     ".",   "..", ".hidden",  "a/b",   "../x", "a b",
                                      "a\nb", "a;b", "a~", "\xc3\xa9", "a\x7f", "$(x)", "a\\b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(job_id_valid(bad[i]));
        assert_int_equal(job_id_check(bad[i]), ST_INPUT);
        status_clear();
    }
    assert_false(job_id_valid(NULL));
}

/* Of the 255 bytes exactly 65 may stand in an id, and the dot not first. */
static void allows_65_bytes(void **state)
{
    (void)state;
    int first = 0, second = 0;
    for (int c = 1; c < 256; c++) {
        const char alone[] = {(char)c, '\0'}, after[] = {'a', (char)c, '\0'};
        first += job_id_valid(alone);
        second += job_id_valid(after);
    }
    assert_int_equal(first, 64);
    assert_int_equal(second, 65);
}

static void generates_distinct_ids(void **state)
{
    (void)state;
    char a[JOB_ID_MAX + 1], b[JOB_ID_MAX + 1];
    assert_int_equal(job_id_generate(a), ST_OK);
    assert_int_equal(job_id_generate(b), ST_OK);
    assert_int_equal(strlen(a), 32);
    assert_true(job_id_valid(a) && job_id_valid(b));
    assert_string_not_equal(a, b);
}

static void names_and_values_correspond(void **state)
{
    (void)state;
    for (int i = 0; i < JOB_STATES; i++) {
        enum job_state s;
        assert_int_equal(job_state_parse(&s, job_state_name((enum job_state)i)), ST_OK);
        assert_int_equal(s, i);
    }
    for (int i = 0; i < JOB_PRIORITIES; i++) {
        enum job_priority p;
        assert_int_equal(job_priority_parse(&p, job_priority_name((enum job_priority)i)), ST_OK);
        assert_int_equal(p, i);
    }
    enum job_priority p;
    assert_int_equal(job_priority_parse(&p, "urgent"), ST_INPUT);
    assert_non_null(strstr(status_message(), "urgent"));
    status_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_unsafe_ids),
        cmocka_unit_test(allows_65_bytes),
        cmocka_unit_test(generates_distinct_ids),
        cmocka_unit_test(names_and_values_correspond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
