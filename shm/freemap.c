#include "shm/freemap.h"

#include <stdlib.h>
#include <string.h>

struct freemap {
    uint64_t bytes, page, chunk;
    uint64_t granted;
    uint32_t max_extents;
    uint32_t held;     /* extents handed out; at most max_extents */
    uint32_t runs;     /* in use */
    uint32_t capacity; /* held extents separate at most held + 1 runs */
    struct extent run[];
};

#ifdef NDEBUG
#define DEBUG_CHECK(f) ((void)(f))
#else
#define DEBUG_CHECK(f) freemap_check(f)
#endif

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

enum status freemap_create(struct freemap **out, uint64_t bytes, uint64_t page, uint64_t chunk,
                           uint32_t max_extents)
{
    if (!is_power_of_two(page) || !is_power_of_two(chunk) || chunk < page || bytes == 0 ||
        bytes % page != 0 || bytes > INT64_MAX || max_extents == 0 || max_extents == UINT32_MAX)
        return fail(ST_INPUT, "arena of %llu bytes in pages of %llu and chunks of %llu",
                    (unsigned long long)bytes, (unsigned long long)page, (unsigned long long)chunk);
    uint64_t capacity = (uint64_t)max_extents + 1;
    if (capacity > bytes / page / 2 + 1)
        capacity = bytes / page / 2 + 1;
    struct freemap *f = malloc(sizeof *f + capacity * sizeof f->run[0]);
    if (!f)
        return fail(ST_RESOURCE, "free map of %llu runs: no memory", (unsigned long long)capacity);
    *f = (struct freemap){.bytes = bytes,
                          .page = page,
                          .chunk = chunk,
                          .max_extents = max_extents,
                          .runs = 1,
                          .capacity = (uint32_t)capacity};
    f->run[0] = (struct extent){.offset = 0, .bytes = bytes};
    *out = f;
    return ST_OK;
}

void freemap_destroy(struct freemap *f)
{
    free(f);
}

static uint64_t end_of(const struct extent *e)
{
    return e->offset + e->bytes;
}

/* Index of the first run that ends behind offset; f->runs if none. */
static uint32_t find_run(const struct freemap *f, uint64_t offset)
{
    uint32_t low = 0, high = f->runs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (end_of(&f->run[middle]) > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void insert_run(struct freemap *f, uint32_t i, struct extent run)
{
    CHECK(f->runs < f->capacity);
    memmove(&f->run[i + 1], &f->run[i], (f->runs - i) * sizeof f->run[0]);
    f->run[i] = run;
    f->runs++;
}

static void remove_run(struct freemap *f, uint32_t i)
{
    f->runs--;
    memmove(&f->run[i], &f->run[i + 1], (f->runs - i) * sizeof f->run[0]);
}

/* Takes e out of run i, which contains it. */
static void take(struct freemap *f, uint32_t i, struct extent e)
{
    struct extent *run = &f->run[i];
    struct extent rest = {.offset = end_of(&e), .bytes = end_of(run) - end_of(&e)};
    run->bytes = e.offset - run->offset;
    if (run->bytes == 0 && rest.bytes == 0)
        remove_run(f, i);
    else if (run->bytes == 0)
        *run = rest;
    else if (rest.bytes != 0)
        insert_run(f, i + 1, rest);
    f->granted += e.bytes;
    f->held++;
}

static bool claim_one(struct freemap *f, struct extent e)
{
    if (f->held == f->max_extents || e.bytes == 0 || ((e.offset | e.bytes) & (f->page - 1)) ||
        e.offset >= f->bytes || e.bytes > f->bytes - e.offset ||
        e.offset / f->chunk != (end_of(&e) - 1) / f->chunk)
        return false;
    uint32_t i = find_run(f, e.offset);
    if (i == f->runs || f->run[i].offset > e.offset || end_of(&f->run[i]) < end_of(&e))
        return false;
    take(f, i, e);
    return true;
}

/* Puts one extent back between its neighbours, joining those that touch it. */
static void put_back(struct freemap *f, struct extent e)
{
    CHECK(e.bytes != 0 && e.offset < f->bytes && e.bytes <= f->bytes - e.offset);
    CHECK(((e.offset | e.bytes) & (f->page - 1)) == 0 && f->held > 0);
    uint32_t i = find_run(f, e.offset);
    CHECK(i == f->runs || f->run[i].offset >= end_of(&e));
    bool joins_before = i > 0 && end_of(&f->run[i - 1]) == e.offset;
    bool joins_after = i < f->runs && f->run[i].offset == end_of(&e);
    if (joins_before && joins_after) {
        f->run[i - 1].bytes += e.bytes + f->run[i].bytes;
        remove_run(f, i);
    } else if (joins_before) {
        f->run[i - 1].bytes += e.bytes;
    } else if (joins_after) {
        f->run[i].offset = e.offset;
        f->run[i].bytes += e.bytes;
    } else {
        insert_run(f, i, e);
    }
    f->granted -= e.bytes;
    f->held--;
}

bool freemap_claim(struct freemap *f, const struct extent *extents, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!claim_one(f, extents[i])) {
            while (i-- > 0)
                put_back(f, extents[i]);
            return false;
        }
    }
    DEBUG_CHECK(f);
    return true;
}

void freemap_release(struct freemap *f, const struct extent *extents, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        put_back(f, extents[i]);
    DEBUG_CHECK(f);
}

/* The smallest piece of at least `need` bytes, else the largest piece. Returns its run, or f->runs
 * when nothing is free. Long runs are not walked chunk by chunk: all of their inner pieces are
 * whole chunks, so that the first of those stands for the rest. */
static uint32_t choose_piece(const struct freemap *f, struct extent *out, uint64_t need)
{
    uint32_t chosen = f->runs;
    for (uint32_t i = 0; i < f->runs; i++) {
        uint64_t at = f->run[i].offset, end = end_of(&f->run[i]);
        while (at < end) {
            uint64_t boundary = (at / f->chunk + 1) * f->chunk;
            struct extent piece = {.offset = at, .bytes = (boundary < end ? boundary : end) - at};
            bool better;
            if (chosen == f->runs)
                better = true;
            else if (out->bytes >= need)
                better = piece.bytes >= need && piece.bytes < out->bytes;
            else
                better = piece.bytes > out->bytes;
            if (better) {
                *out = piece;
                chosen = i;
            }
            at += piece.bytes;
            if (piece.bytes == f->chunk && end - at > f->chunk)
                at = end / f->chunk * f->chunk;
        }
    }
    return chosen;
}

/* Takes `need` bytes into extents[*taken ..], counting them in *taken. False when they do not fit:
 * those counted are then taken all the same. */
static bool alloc_group(struct freemap *f, struct extent extents[SLICE_MAX_EXTENTS],
                        uint32_t *taken, uint64_t need)
{
    while (need > 0) {
        struct extent piece;
        uint32_t run = choose_piece(f, &piece, need);
        if (run == f->runs || *taken == SLICE_MAX_EXTENTS || f->held == f->max_extents)
            return false;
        if (piece.bytes > need)
            piece.bytes = need;
        take(f, run, piece);
        extents[(*taken)++] = piece;
        need -= piece.bytes;
    }
    return true;
}

/* Rounds to pages; false if that is more than is free. */
static bool in_pages(const struct freemap *f, uint64_t *bytes)
{
    if (*bytes > freemap_free_bytes(f))
        return false;
    *bytes = (*bytes + f->page - 1) & ~(f->page - 1);
    return true;
}

bool freemap_alloc(struct freemap *f, struct extent extents[SLICE_MAX_EXTENTS], uint32_t *n_w,
                   uint32_t *n_abc, uint64_t w, uint64_t abc)
{
    if (!in_pages(f, &w) || !in_pages(f, &abc) || w > freemap_free_bytes(f) - abc)
        return false;
    struct extent got[SLICE_MAX_EXTENTS];
    uint32_t taken = 0, taken_w = 0;
    bool fits = alloc_group(f, got, &taken, w);
    taken_w = taken;
    if (!fits || !alloc_group(f, got, &taken, abc)) {
        freemap_release(f, got, taken);
        return false;
    }
    memcpy(extents, got, taken * sizeof got[0]);
    *n_w = taken_w;
    *n_abc = taken - taken_w;
    DEBUG_CHECK(f);
    return true;
}

bool freemap_fits(struct freemap *f, uint64_t w, uint64_t abc)
{
    struct extent extents[SLICE_MAX_EXTENTS];
    uint32_t n_w, n_abc;
    if (!freemap_alloc(f, extents, &n_w, &n_abc, w, abc))
        return false;
    freemap_release(f, extents, n_w + n_abc);
    return true;
}

bool freemap_ever_fits(const struct freemap *f, uint64_t w, uint64_t abc)
{
    /* an empty map of the same shape; each extent taken adds at most one run */
    union {
        struct freemap map;
        unsigned char
            room[sizeof(struct freemap) + (SLICE_MAX_EXTENTS + 1) * sizeof(struct extent)];
    } empty = {.map = {.bytes = f->bytes,
                       .page = f->page,
                       .chunk = f->chunk,
                       .max_extents = f->max_extents,
                       .runs = 1,
                       .capacity = SLICE_MAX_EXTENTS + 1}};
    empty.map.run[0] = (struct extent){.offset = 0, .bytes = f->bytes};
    struct extent extents[SLICE_MAX_EXTENTS];
    uint32_t n_w, n_abc;
    return freemap_alloc(&empty.map, extents, &n_w, &n_abc, w, abc);
}

uint64_t freemap_bytes(const struct freemap *f)
{
    return f->bytes;
}

uint64_t freemap_free_bytes(const struct freemap *f)
{
    return f->bytes - f->granted;
}

uint64_t freemap_granted_bytes(const struct freemap *f)
{
    return f->granted;
}

uint64_t freemap_largest_piece(const struct freemap *f)
{
    struct extent piece;
    return choose_piece(f, &piece, UINT64_MAX) == f->runs ? 0 : piece.bytes;
}

bool freemap_run(const struct freemap *f, struct extent *out, uint32_t i)
{
    if (i >= f->runs)
        return false;
    *out = f->run[i];
    return true;
}

void freemap_check(const struct freemap *f)
{
    uint64_t sum = 0;
    CHECK(f->runs <= f->capacity && f->held <= f->max_extents);
    for (uint32_t i = 0; i < f->runs; i++) {
        const struct extent *e = &f->run[i];
        CHECK(e->bytes != 0 && ((e->offset | e->bytes) & (f->page - 1)) == 0);
        CHECK(e->offset < f->bytes && e->bytes <= f->bytes - e->offset);
        CHECK(i == 0 || end_of(&f->run[i - 1]) < e->offset);
        sum += e->bytes;
    }
    CHECK(sum + f->granted == f->bytes);
}
