/* The free map against a bitmap that remembers who has each page, over random histories. */
#include "tests/unit/shm_fixture.h"

#include "shm/freemap.h"

#define PAGE UINT64_C(4096)
enum { CHUNK_PAGES = 16, PAGES = 150, SLICES = 40 };

struct slice {
    struct extent extent[SLICE_MAX_EXTENTS];
    uint32_t n_w, n_abc;
    uint64_t w, abc;
};

struct model {
    struct freemap *map;
    unsigned char taken[PAGES];
    struct slice slice[SLICES];
    bool live[SLICES];
};

static void model_mark(struct model *m, const struct extent *extents, uint32_t n, bool taken)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_true(extents[i].bytes > 0);
        assert_int_equal(extents[i].offset % PAGE, 0);
        assert_int_equal(extents[i].bytes % PAGE, 0);
        uint64_t first = extents[i].offset / PAGE, end = first + extents[i].bytes / PAGE;
        assert_true(end <= PAGES);
        assert_int_equal(first / CHUNK_PAGES, (end - 1) / CHUNK_PAGES);
        for (uint64_t p = first; p < end; p++) {
            assert_int_equal(m->taken[p], !taken);
            m->taken[p] = taken;
        }
    }
}

static uint64_t total(const struct extent *extents, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += extents[i].bytes;
    return sum;
}

/* The free pages, as sizes of pieces (runs cut at chunks), largest first. */
static uint32_t model_pieces(const struct model *m, uint32_t pieces[PAGES])
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < PAGES; p++) {
        if (m->taken[p])
            continue;
        if (n > 0 && p > 0 && !m->taken[p - 1] && p % CHUNK_PAGES != 0)
            pieces[n - 1]++;
        else
            pieces[n++] = 1;
    }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && pieces[j] > pieces[j - 1]; j--) {
            uint32_t swap = pieces[j];
            pieces[j] = pieces[j - 1];
            pieces[j - 1] = swap;
        }
    return n;
}

static void model_compare(const struct model *m)
{
    uint64_t unused = 0, in_runs = 0;
    struct extent run;
    freemap_check(m->map);
    for (uint32_t p = 0; p < PAGES; p++)
        unused += m->taken[p] ? 0 : PAGE;
    assert_int_equal(freemap_free_bytes(m->map), unused);
    assert_int_equal(freemap_granted_bytes(m->map) + unused, (uint64_t)PAGES * PAGE);
    for (uint32_t i = 0; freemap_run(m->map, &run, i); i++) {
        in_runs += run.bytes;
        for (uint64_t at = run.offset; at < run.offset + run.bytes; at += PAGE)
            assert_false(m->taken[at / PAGE]);
    }
    assert_int_equal(in_runs, unused);
    uint32_t pieces[PAGES];
    uint32_t n = model_pieces(m, pieces);
    assert_int_equal(freemap_largest_piece(m->map), n ? (uint64_t)pieces[0] * PAGE : 0);
}

/* The pages that the k largest pieces have together. */
static uint32_t largest_sum(const uint32_t *pieces, uint32_t n, uint32_t k)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n && i < k; i++)
        sum += pieces[i];
    return sum;
}

static void model_alloc(struct model *m, uint64_t *seed)
{
    uint32_t s = fixture_random(seed) % SLICES;
    if (m->live[s])
        return;
    struct slice *slice = &m->slice[s];
    slice->w = fixture_random(seed) % (12 * PAGE);
    slice->abc = fixture_random(seed) % (fixture_random(seed) % 3 ? 8 * PAGE : 60 * PAGE);
    uint32_t pages_w = (uint32_t)((slice->w + PAGE - 1) / PAGE);
    uint32_t pages_abc = (uint32_t)((slice->abc + PAGE - 1) / PAGE);
    uint32_t pieces[PAGES];
    uint32_t n = model_pieces(m, pieces);
    bool fits = freemap_fits(m->map, slice->w, slice->abc);
    bool got =
        freemap_alloc(m->map, slice->extent, &slice->n_w, &slice->n_abc, slice->w, slice->abc);
    assert_int_equal(fits, got);
    if (!got) {
        /* only if there is not enough, or the pieces are really small */
        assert_true(pages_w + pages_abc > largest_sum(pieces, n, SLICE_MAX_EXTENTS - 1));
        return;
    }
    assert_true(slice->n_w + slice->n_abc <= SLICE_MAX_EXTENTS);
    assert_int_equal(total(slice->extent, slice->n_w), (uint64_t)pages_w * PAGE);
    assert_int_equal(total(slice->extent + slice->n_w, slice->n_abc), (uint64_t)pages_abc * PAGE);
    /* w comes first, so that it has the fewest extents that there can be */
    if (slice->n_w > 1)
        assert_true(pages_w > largest_sum(pieces, n, slice->n_w - 1));
    model_mark(m, slice->extent, slice->n_w + slice->n_abc, true);
    m->live[s] = true;
}

static void model_free(struct model *m, uint64_t *seed)
{
    uint32_t s = fixture_random(seed) % SLICES;
    struct slice *slice = &m->slice[s];
    if (!m->live[s])
        return;
    if (slice->n_abc && fixture_random(seed) % 2) { /* as LEAN does */
        freemap_release(m->map, slice->extent + slice->n_w, slice->n_abc);
        model_mark(m, slice->extent + slice->n_w, slice->n_abc, false);
        slice->n_abc = 0;
        return;
    }
    freemap_release(m->map, slice->extent, slice->n_w + slice->n_abc);
    model_mark(m, slice->extent, slice->n_w + slice->n_abc, false);
    m->live[s] = false;
}

/* What a coordinator does at its start gives the same map. */
static void model_rebuild(struct model *m)
{
    struct freemap *map;
    assert_done(freemap_create(&map, (uint64_t)PAGES * PAGE, PAGE, CHUNK_PAGES * PAGE,
                               SLICES * SLICE_MAX_EXTENTS));
    for (uint32_t s = SLICES; s-- > 0;) {
        if (!m->live[s])
            continue;
        const struct slice *slice = &m->slice[s];
        assert_true(freemap_claim(map, slice->extent, slice->n_w + slice->n_abc));
        if (slice->n_w + slice->n_abc)
            assert_false(freemap_claim(map, slice->extent, slice->n_w + slice->n_abc));
    }
    freemap_destroy(m->map);
    m->map = map;
}

static void random_histories(void **state)
{
    (void)state;
    uint64_t seed = fixture_seed(20261);
    struct model m = {0};
    assert_done(freemap_create(&m.map, (uint64_t)PAGES * PAGE, PAGE, CHUNK_PAGES * PAGE,
                               SLICES * SLICE_MAX_EXTENTS));
    for (int step = 0; step < 20000; step++) {
        uint64_t choice = fixture_random(&seed) % 100;
        if (choice < 55)
            model_alloc(&m, &seed);
        else if (choice < 99)
            model_free(&m, &seed);
        else
            model_rebuild(&m);
        model_compare(&m);
    }
    for (uint32_t s = 0; s < SLICES; s++)
        if (m.live[s])
            freemap_release(m.map, m.slice[s].extent, m.slice[s].n_w + m.slice[s].n_abc);
    assert_int_equal(freemap_free_bytes(m.map), freemap_bytes(m.map));
    struct extent run;
    assert_true(freemap_run(m.map, &run, 0) && run.bytes == freemap_bytes(m.map));
    assert_false(freemap_run(m.map, &run, 1));
    freemap_destroy(m.map);
}

/* Every second page free: 24 pages are the most that one slice can have. */
static void worst_fragmentation(void **state)
{
    (void)state;
    struct freemap *f;
    struct extent got[SLICE_MAX_EXTENTS];
    uint32_t n_w, n_abc;
    assert_done(freemap_create(&f, 100 * PAGE, PAGE, 1 << 20, 1000));
    for (uint64_t p = 0; p < 100; p += 2) {
        struct extent e = {p * PAGE, PAGE};
        assert_true(freemap_claim(f, &e, 1));
    }
    assert_int_equal(freemap_free_bytes(f), 50 * PAGE);
    assert_int_equal(freemap_largest_piece(f), PAGE);
    assert_true(freemap_fits(f, 12 * PAGE, 12 * PAGE));
    assert_false(freemap_alloc(f, got, &n_w, &n_abc, 12 * PAGE, 12 * PAGE + 1));
    assert_int_equal(freemap_free_bytes(f), 50 * PAGE);
    assert_true(freemap_ever_fits(f, 50 * PAGE, 50 * PAGE));
    freemap_destroy(f);
}

static void best_fit_keeps_large_pieces(void **state)
{
    (void)state;
    struct freemap *f;
    struct extent got[SLICE_MAX_EXTENTS], e = {10 * PAGE, PAGE};
    uint32_t n_w, n_abc;
    assert_done(freemap_create(&f, 100 * PAGE, PAGE, 1 << 20, 1000));
    assert_true(freemap_claim(f, &e, 1)); /* free: 10 pages, then 89 */
    assert_true(freemap_alloc(f, got, &n_w, &n_abc, 0, 9 * PAGE));
    assert_int_equal(n_w, 0);
    assert_int_equal(n_abc, 1);
    assert_int_equal(got[0].offset, 0);
    assert_int_equal(freemap_largest_piece(f), 89 * PAGE);
    freemap_destroy(f);
}

static void whole_arena_in_chunks(void **state)
{
    (void)state;
    struct freemap *f;
    const uint64_t gib = UINT64_C(1) << 30;
    struct extent got[SLICE_MAX_EXTENTS];
    uint32_t n_w, n_abc;
    /* 600 GiB in chunks of 64: nine whole ones and 24 GiB */
    assert_done(freemap_create(&f, 600 * gib, 2 << 20, 64 * gib, 1000));
    assert_int_equal(freemap_largest_piece(f), 64 * gib);
    assert_true(freemap_alloc(f, got, &n_w, &n_abc, 150 * gib, 450 * gib));
    assert_int_equal(n_w, 3);
    assert_int_equal(freemap_free_bytes(f), 0);
    assert_int_equal(freemap_largest_piece(f), 0);
    for (uint32_t i = 0; i < n_w + n_abc; i++)
        assert_int_equal(got[i].offset / (64 * gib),
                         (got[i].offset + got[i].bytes - 1) / (64 * gib));
    assert_true(freemap_ever_fits(f, 150 * gib, 450 * gib));
    assert_false(freemap_ever_fits(f, 150 * gib, 450 * gib + 1));
    assert_false(freemap_ever_fits(f, UINT64_MAX, 1));
    assert_false(freemap_ever_fits(f, 1, UINT64_MAX));
    freemap_destroy(f);
    /* 30 chunks: the largest slice has only 24 extents */
    assert_done(freemap_create(&f, 30 * gib, 2 << 20, gib, 1000));
    assert_true(freemap_ever_fits(f, 4 * gib, 20 * gib));
    assert_false(freemap_ever_fits(f, 4 * gib, 21 * gib));
    freemap_destroy(f);
}

static void refuses_bad_shapes_and_claims(void **state)
{
    (void)state;
    struct freemap *f = NULL;
    assert_refused(freemap_create(&f, 0, PAGE, PAGE, 1), ST_INPUT, "arena");
    assert_refused(freemap_create(&f, PAGE + 1, PAGE, PAGE, 1), ST_INPUT, "arena");
    assert_refused(freemap_create(&f, PAGE, 3000, PAGE, 1), ST_INPUT, "arena");
    assert_refused(freemap_create(&f, PAGE, PAGE, PAGE / 2, 1), ST_INPUT, "arena");
    assert_refused(freemap_create(&f, PAGE, PAGE, PAGE, 0), ST_INPUT, "arena");
    assert_null(f);
    assert_done(freemap_create(&f, 8 * PAGE, PAGE, 4 * PAGE, 3));
    static const struct extent bad[] = {{0, 0},
                                        {1, PAGE},
                                        {0, PAGE + 1},
                                        {8 * PAGE, PAGE},
                                        {7 * PAGE, 2 * PAGE},
                                        {3 * PAGE, 2 * PAGE},
                                        {UINT64_MAX - PAGE + 1, PAGE},
                                        {0, UINT64_MAX - PAGE + 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct extent pair[2] = {{4 * PAGE, PAGE}, bad[i]};
        assert_false(freemap_claim(f, pair, 2));
        assert_int_equal(freemap_free_bytes(f), 8 * PAGE);
    }
    /* no more extents than promised */
    static const struct extent four[] = {
        {0, PAGE}, {2 * PAGE, PAGE}, {4 * PAGE, PAGE}, {6 * PAGE, PAGE}};
    assert_false(freemap_claim(f, four, 4));
    assert_true(freemap_claim(f, four, 3));
    assert_false(freemap_fits(f, PAGE, 0));
    freemap_destroy(f);
    freemap_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories),
        cmocka_unit_test(worst_fragmentation),
        cmocka_unit_test(best_fit_keeps_large_pieces),
        cmocka_unit_test(whole_arena_in_chunks),
        cmocka_unit_test(refuses_bad_shapes_and_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
