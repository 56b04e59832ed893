/* What the tests of shm/ share: names of their own, an arena that only a ledger speaks of, slices
 * in it, and a look at why something was refused. */
#ifndef PINION_TESTS_SHM_FIXTURE_H
#define PINION_TESTS_SHM_FIXTURE_H

#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/ledger_write.h"

#define FIXTURE_PAGE UINT64_C(4096)
#define FIXTURE_CHUNK (UINT64_C(1) << 20)
enum { FIXTURE_CLIENTS = 20, FIXTURE_SLOTS = 12 };

/* The call fails with the status, and its message holds the text. */
#define assert_refused(call, status, text)                                                         \
    check_refused((call), (status), (text), __FILE__, __LINE__)
static inline void check_refused(enum status got, enum status expected, const char *text,
                                 const char *file, int line)
{
    if (got != expected || !strstr(status_message(), text))
        print_error("%s:%d: status %d, message: %s\n", file, line, got, status_message());
    assert_int_equal(got, expected);
    assert_non_null(strstr(status_message(), text));
    status_clear();
}

#define assert_done(call) check_done((call), __FILE__, __LINE__)
static inline void check_done(enum status got, const char *file, int line)
{
    if (got != ST_OK)
        print_error("%s:%d: status %d, message: %s\n", file, line, got, status_message());
    assert_int_equal(got, ST_OK);
}

/* "/pinion-test-PID-word". */
static inline const char *fixture_name(const char *word)
{
    static char name[64];
    snprintf(name, sizeof name, "/pinion-test-%ld-%s", (long)getpid(), word);
    return name;
}

static inline const char *fixture_lock_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/pinion-test-%ld.lock", (long)getpid());
    return path;
}

static inline struct arena_desc fixture_arena(void)
{
    return (struct arena_desc){.kind = ARENA_POSIX,
                               .bytes = 64 << 20,
                               .page = FIXTURE_PAGE,
                               .chunk = FIXTURE_CHUNK,
                               .name = "/pinion-test-arena"};
}

/* A slice of two pages for w and three for a, b, c, in pages 5 i .. 5 i + 4 of the arena. */
static inline struct slice_record fixture_slice(uint32_t i)
{
    struct slice_plan plan = {
        .w_bytes = 2 * FIXTURE_PAGE - 32, .a_bytes = 4000, .b_bytes = 4000, .c_bytes = 4000};
    assert_int_equal(slice_plan(&plan, FIXTURE_PAGE), ST_OK);
    struct slice_record r = {.circuit = 100 + i,
                             .w_bytes = plan.w_bytes,
                             .a_bytes = plan.a_bytes,
                             .b_bytes = plan.b_bytes,
                             .c_bytes = plan.c_bytes,
                             .a_offset = plan.a_offset,
                             .b_offset = plan.b_offset,
                             .c_offset = plan.c_offset,
                             .w_extents = 1,
                             .abc_extents = 2};
    uint64_t at = (uint64_t)i * 5 * FIXTURE_PAGE;
    r.extent[0] = (struct extent){at, 2 * FIXTURE_PAGE};
    r.extent[1] = (struct extent){at + 2 * FIXTURE_PAGE, FIXTURE_PAGE};
    r.extent[2] = (struct extent){at + 3 * FIXTURE_PAGE, 2 * FIXTURE_PAGE};
    memset(r.job, (int)i + 1, sizeof r.job);
    return r;
}

/* xorshift64*, Vigna 2016. */
static inline uint64_t fixture_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* The seed: PINION_SEED, else the one given; printed. */
static inline uint64_t fixture_seed(uint64_t given)
{
    const char *text = getenv("PINION_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : given;
    print_message("seed %" PRIu64 "\n", seed);
    return seed ? seed : 1;
}

#endif
