/* Plans place the vectors as documented, and no wrong record passes for a slice. */
#include "tests/unit/shm_fixture.h"

static void plan_places_vectors(void **state)
{
    (void)state;
    struct slice_plan p = {.w_bytes = 4097, .a_bytes = 100, .b_bytes = 256, .c_bytes = 1};
    assert_done(slice_plan(&p, 4096));
    assert_int_equal(p.w_mapped, 8192);
    assert_int_equal(p.a_offset, 8192);
    assert_int_equal(p.b_offset, 8192 + 256);
    assert_int_equal(p.c_offset, 8192 + 512);
    assert_int_equal(p.abc_mapped, 4096);

    struct slice_plan no_c = {.w_bytes = 1, .a_bytes = 4096, .b_bytes = 4096};
    assert_done(slice_plan(&no_c, 4096));
    assert_int_equal(no_c.abc_mapped, 8192);
    struct slice_plan only_a = {.a_bytes = 1};
    assert_done(slice_plan(&only_a, 4096));
    assert_int_equal(only_a.w_mapped, 0);
    assert_int_equal(only_a.abc_mapped, 4096);
}

static void plan_refuses_overflow(void **state)
{
    (void)state;
    struct slice_plan none = {0};
    assert_refused(slice_plan(&none, 4096), ST_INPUT, "empty");
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 4095, INT64_MAX, INT64_MAX - 4094,
                                    (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        for (int field = 0; field < 4; field++) {
            struct slice_plan p = {.w_bytes = 5000, .a_bytes = 5000, .b_bytes = 1, .c_bytes = 1};
            *(&p.w_bytes + field) = huge[i];
            struct slice_plan before = p;
            assert_refused(slice_plan(&p, 4096), ST_INPUT, "too large");
            assert_memory_equal(&p, &before, sizeof p);
        }
    }
}

static void good_records_pass(void **state)
{
    (void)state;
    struct arena_desc arena = fixture_arena();
    struct slice_record r = fixture_slice(3);
    for (enum slot_state s = SLOT_FREE; s < SLOT_STATES; s++) {
        r.state = s;
        r.flags = s == SLOT_LEAN ? SLOT_NO_ABC : SLOT_SUSPECT;
        assert_done(slice_check(&r, &arena));
        assert_int_equal(slice_held_extents(&r), s == SLOT_FREE ? 0 : s == SLOT_LEAN ? 1 : 3);
    }
}

static void wrong_records_do_not(void **state)
{
    (void)state;
    struct arena_desc arena = fixture_arena();
    struct slice_record r;
#define WITH(change, text)                                                                         \
    r = fixture_slice(3), r.state = SLOT_SUBMITTED, change,                                        \
    assert_refused(slice_check(&r, &arena), ST_INPUT, text)
    WITH(r.state = SLOT_STATES, "state");
    WITH(r.state = 255, "state");
    WITH(r.flags = 8, "flags");
    WITH(r.flags = SLOT_NO_ABC, "disagrees");
    WITH(r.state = SLOT_LEAN, "disagrees");
    WITH(r.w_extents = 25, "more than");
    WITH(r.w_extents = UINT32_MAX, "more than");
    WITH(r.abc_extents = 24, "more than");
    WITH(r.abc_extents = UINT32_MAX, "more than");
    WITH(r.w_extents = 2, "empty");
    WITH(r.abc_extents = 1, "do not hold");
    WITH(r.w_extents = 0, "do not hold");
    WITH(r.w_bytes = 3 * FIXTURE_PAGE, "do not hold");
    WITH(r.w_bytes = UINT64_MAX, "too large");
    WITH(r.c_bytes = 12345, "do not hold");
    WITH(r.a_offset -= 256, "offsets");
    WITH(r.b_offset += 256, "offsets");
    WITH(r.c_offset = UINT64_MAX, "offsets");
    WITH(r.extent[0].bytes = 0, "empty");
    WITH(r.extent[1].offset += 1, "whole pages");
    WITH(r.extent[1].bytes -= 1, "whole pages");
    WITH(r.extent[2].offset = arena.bytes, "leaves");
    WITH(r.extent[2].offset = arena.bytes - FIXTURE_PAGE, "leaves");
    WITH(r.extent[2].bytes = UINT64_MAX - FIXTURE_PAGE + 1, "leaves");
    WITH(r.extent[2].offset = UINT64_MAX - FIXTURE_PAGE + 1, "leaves");
    WITH(r.extent[2].offset = FIXTURE_CHUNK - FIXTURE_PAGE, "crosses");
    WITH(r.extent[2].offset = r.extent[1].offset, "overlaps");
    WITH(r.extent[2].offset = r.extent[0].offset + FIXTURE_PAGE, "overlaps");
#undef WITH
}

static void transitions(void **state)
{
    (void)state;
    assert_true(slice_may_become(SLOT_FREE, SLOT_WRITING));
    assert_true(slice_may_become(SLOT_WRITING, SLOT_SUBMITTED));
    assert_true(slice_may_become(SLOT_COPYING, SLOT_SUBMITTED));
    assert_true(slice_may_become(SLOT_PROVING, SLOT_LEAN));
    assert_true(slice_may_become(SLOT_LEAN, SLOT_FREE));
    assert_false(slice_may_become(SLOT_FREE, SLOT_SUBMITTED));
    assert_false(slice_may_become(SLOT_SUBMITTED, SLOT_WRITING));
    assert_false(slice_may_become(SLOT_LEAN, SLOT_SUBMITTED));
    assert_false(slice_may_become(SLOT_COPYING, SLOT_LEAN));
    assert_false(slice_may_become(SLOT_QUARANTINE, SLOT_SUBMITTED));
    assert_false(slice_may_become(SLOT_STATES, SLOT_FREE));
    assert_false(slice_may_become(SLOT_FREE, SLOT_STATES));
    for (enum slot_state s = SLOT_WRITING; s < SLOT_STATES; s++)
        assert_true(slice_may_become(s, SLOT_FREE));
}

static void words_round_trip(void **state)
{
    (void)state;
    uint64_t word = word_make(SLOT_LEAN, SLOT_NO_ABC, 0xfedc, 0x89abcdef);
    assert_int_equal(word, UINT64_C(0x89abcdeffedc0405));
    assert_int_equal(word_state(word), SLOT_LEAN);
    assert_int_equal(word_flags(word), SLOT_NO_ABC);
    assert_int_equal(word_client(word), 0xfedc);
    assert_int_equal(word_generation(word), 0x89abcdef);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_places_vectors), cmocka_unit_test(plan_refuses_overflow),
        cmocka_unit_test(good_records_pass),   cmocka_unit_test(wrong_records_do_not),
        cmocka_unit_test(transitions),         cmocka_unit_test(words_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
