#include "shm/freemap.h"
#include "shm/ledger.h"

static enum status claim_slot(struct freemap *f, const struct ledger *l, uint32_t slot)
{
    struct slice_record r;
    enum status st = ledger_read_slot(l, slot, &r);
    if (st == ST_OK && !freemap_claim(f, r.extent, slice_held_extents(&r)))
        st = fail(ST_INPUT, "ledger: slot %u (%s) holds bytes that another slot holds", slot,
                  slot_state_name(r.state));
    return st;
}

enum status freemap_derive(struct freemap **out, const struct ledger *l)
{
    const struct arena_desc *a = ledger_arena(l);
    struct freemap *f;
    enum status st =
        freemap_create(&f, a->bytes, a->page, a->chunk, ledger_slots(l) * SLICE_MAX_EXTENTS);
    if (st != ST_OK)
        return st;
    for (uint32_t i = 0; i < ledger_slots(l) && st == ST_OK; i++)
        st = claim_slot(f, l, i);
    if (st != ST_OK) {
        freemap_destroy(f);
        return st;
    }
    *out = f;
    return ST_OK;
}
