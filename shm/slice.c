#include "shm/slice.h"

static const char *const names[SLOT_STATES] = {
    [SLOT_FREE] = "FREE",
    [SLOT_WRITING] = "WRITING",
    [SLOT_SUBMITTED] = "SUBMITTED",
    [SLOT_COPYING] = "COPYING",
    [SLOT_PROVING] = "PROVING",
    [SLOT_LEAN] = "LEAN",
    [SLOT_QUARANTINE] = "QUARANTINE",
};

#define BIT(state) (1u << SLOT_##state)

static const unsigned successors[SLOT_STATES] = {
    [SLOT_FREE] = BIT(WRITING),
    [SLOT_WRITING] = BIT(SUBMITTED) | BIT(QUARANTINE) | BIT(FREE),
    [SLOT_SUBMITTED] = BIT(SUBMITTED) | BIT(COPYING) | BIT(QUARANTINE) | BIT(FREE),
    [SLOT_COPYING] = BIT(COPYING) | BIT(PROVING) | BIT(SUBMITTED) | BIT(QUARANTINE) | BIT(FREE),
    [SLOT_PROVING] = BIT(PROVING) | BIT(LEAN) | BIT(SUBMITTED) | BIT(QUARANTINE) | BIT(FREE),
    [SLOT_LEAN] = BIT(LEAN) | BIT(QUARANTINE) | BIT(FREE),
    [SLOT_QUARANTINE] = BIT(QUARANTINE) | BIT(FREE),
};

bool slice_may_become(enum slot_state from, enum slot_state to)
{
    return from < SLOT_STATES && to < SLOT_STATES && (successors[from] >> to & 1);
}

const char *slot_state_name(enum slot_state state)
{
    return state < SLOT_STATES ? names[state] : "?";
}

/* *sum = a + b rounded up to align, a power of two; false when that leaves 63 bits. */
static bool add_aligned(uint64_t *sum, uint64_t a, uint64_t b, uint64_t align)
{
    const uint64_t limit = INT64_MAX;
    if (a > limit - (align - 1) || b > limit - (align - 1) - a)
        return false;
    *sum = (a + b + align - 1) & ~(align - 1);
    return true;
}

enum status slice_plan(struct slice_plan *plan, uint64_t page)
{
    struct slice_plan p = *plan;
    uint64_t total;
    if ((p.w_bytes | p.a_bytes | p.b_bytes | p.c_bytes) == 0)
        return fail(ST_INPUT, "slice: all four vectors are empty");
    if (!add_aligned(&p.w_mapped, 0, p.w_bytes, page) ||
        !add_aligned(&p.b_offset, p.w_mapped, p.a_bytes, SLICE_ALIGN) ||
        !add_aligned(&p.c_offset, p.b_offset, p.b_bytes, SLICE_ALIGN) ||
        !add_aligned(&total, p.c_offset, p.c_bytes, page))
        return fail(ST_INPUT, "slice: vectors of %llu + %llu + %llu + %llu bytes are too large",
                    (unsigned long long)p.w_bytes, (unsigned long long)p.a_bytes,
                    (unsigned long long)p.b_bytes, (unsigned long long)p.c_bytes);
    p.a_offset = p.w_mapped;
    p.abc_mapped = total - p.w_mapped;
    *plan = p;
    return ST_OK;
}

uint32_t slice_held_extents(const struct slice_record *r)
{
    if (r->state == SLOT_FREE)
        return 0;
    return r->flags & SLOT_NO_ABC ? r->w_extents : r->w_extents + r->abc_extents;
}

static enum status check_extent(const struct slice_record *r, uint32_t i,
                                const struct arena_desc *arena)
{
    const struct extent *e = &r->extent[i];
    const char *wrong = NULL;
    if (e->bytes == 0)
        wrong = "is empty";
    else if ((e->offset | e->bytes) & (arena->page - 1))
        wrong = "is not made of whole pages";
    else if (e->offset >= arena->bytes || e->bytes > arena->bytes - e->offset)
        wrong = "leaves the arena";
    else if (e->offset / arena->chunk != (e->offset + e->bytes - 1) / arena->chunk)
        wrong = "crosses a registration chunk";
    for (uint32_t j = 0; !wrong && j < i; j++)
        if (e->offset < r->extent[j].offset + r->extent[j].bytes &&
            r->extent[j].offset < e->offset + e->bytes)
            wrong = "overlaps an earlier one";
    if (!wrong)
        return ST_OK;
    return fail(ST_INPUT, "extent %u (%llu bytes at %llu) %s", i, (unsigned long long)e->bytes,
                (unsigned long long)e->offset, wrong);
}

static enum status check_word(const struct slice_record *r)
{
    if (r->state >= SLOT_STATES)
        return fail(ST_INPUT, "state %u is unknown", (unsigned)r->state);
    if (r->flags & ~SLOT_FLAGS)
        return fail(ST_INPUT, "flags %#x are unknown", r->flags);
    bool lean = r->flags & SLOT_NO_ABC;
    if (lean ? r->state != SLOT_LEAN && r->state != SLOT_QUARANTINE : r->state == SLOT_LEAN)
        return fail(ST_INPUT, "state %s disagrees with flags %#x", slot_state_name(r->state),
                    r->flags);
    return ST_OK;
}

enum status slice_check(const struct slice_record *r, const struct arena_desc *arena)
{
    if (r->state == SLOT_FREE)
        return ST_OK;
    enum status st = check_word(r);
    if (st != ST_OK)
        return st;
    if (r->w_extents > SLICE_MAX_EXTENTS || r->abc_extents > SLICE_MAX_EXTENTS - r->w_extents)
        return fail(ST_INPUT, "%u + %u extents are more than %d", r->w_extents, r->abc_extents,
                    SLICE_MAX_EXTENTS);

    struct slice_plan plan = {
        .w_bytes = r->w_bytes, .a_bytes = r->a_bytes, .b_bytes = r->b_bytes, .c_bytes = r->c_bytes};
    st = slice_plan(&plan, arena->page);
    if (st != ST_OK)
        return st;
    /* each extent lies in the arena and they are disjoint, so that the sums cannot wrap */
    uint64_t w = 0, abc = 0;
    for (uint32_t i = 0; i < r->w_extents + r->abc_extents; i++) {
        st = check_extent(r, i, arena);
        if (st != ST_OK)
            return st;
        *(i < r->w_extents ? &w : &abc) += r->extent[i].bytes;
    }
    if (w != plan.w_mapped || abc != plan.abc_mapped)
        return fail(ST_INPUT, "extents of %llu + %llu bytes do not hold vectors of %llu + %llu",
                    (unsigned long long)w, (unsigned long long)abc,
                    (unsigned long long)plan.w_mapped, (unsigned long long)plan.abc_mapped);
    if (r->a_offset != plan.a_offset || r->b_offset != plan.b_offset ||
        r->c_offset != plan.c_offset)
        return fail(ST_INPUT, "offsets %llu, %llu, %llu are not those of its vectors",
                    (unsigned long long)r->a_offset, (unsigned long long)r->b_offset,
                    (unsigned long long)r->c_offset);
    return ST_OK;
}
