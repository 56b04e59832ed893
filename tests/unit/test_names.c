/* One directory, one tag, however it is written; the hash against published values. */
#include "tests/unit/shm_fixture.h"

#include "shm/names.h"

static void names_of_a_directory(void **state)
{
    (void)state;
    struct names a, b;
    assert_done(names_derive(&a, "/"));
    assert_string_equal(a.tag, "af63a24c860189fe"); /* FNV-1a 64 of "/" */
    assert_string_equal(a.ledger, "/pinion-af63a24c860189fe-ledger");
    assert_string_equal(a.arena, "/pinion-af63a24c860189fe-arena");
    assert_done(names_derive(&b, "/usr/.."));
    assert_string_equal(a.tag, b.tag);
    assert_done(names_derive(&b, "/usr"));
    assert_string_not_equal(a.tag, b.tag);
    assert_refused(names_derive(&b, "/nonexistent"), ST_RESOURCE, "/nonexistent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_a_directory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
