/* What a slice is: the vectors of one job, where they lie in it, and which bytes of the arena it
 * is made of. Values and arithmetic only; any thread.
 *
 * A slice is mapped as one range: first the extents of w, then those of a, b, c, back to back.
 *
 *   0              a_offset            b_offset      c_offset
 *   | w ... pad to | a ... pad to 256  | b ... pad   | c ... pad to
 *   | a page       |                   |             | a page
 */
#ifndef PINION_SHM_SLICE_H
#define PINION_SHM_SLICE_H

#include "common/status.h"
#include "shm/layout.h"

/* A client's name for a granted slice. Stale once the slice was reclaimed: every use checks the
 * generation. Comes from messages, so it is hostile. */
struct handle {
    uint32_t slot;
    uint32_t generation;
};

/* Sizes of a job's vectors in bytes, 0 for an absent one, and what follows from them. */
struct slice_plan {
    uint64_t w_bytes, a_bytes, b_bytes, c_bytes;
    uint64_t a_offset, b_offset, c_offset; /* in the mapped slice; w is at 0 */
    uint64_t w_mapped, abc_mapped;         /* whole pages, to be given to freemap_alloc */
};

/* Fills the offsets and mapped sizes of *plan from its four sizes. page is a power of two >=
 * SLICE_ALIGN. ST_INPUT when all sizes are 0 or a sum leaves 63 bits; *plan is then untouched. */
enum status slice_plan(struct slice_plan *plan, uint64_t page) MUST_CHECK;

/* A slot as of one instant. */
struct slice_record {
    /* from the word */
    enum slot_state state;
    uint8_t flags; /* of enum slot_flag */
    uint16_t client;
    uint32_t generation;
    /* fixed from grant to FREE */
    uint8_t job[16];
    uint64_t circuit;
    uint64_t w_bytes, a_bytes, b_bytes, c_bytes;
    uint64_t a_offset, b_offset, c_offset;
    uint64_t granted_ns;
    uint32_t w_extents, abc_extents;
    struct extent extent[SLICE_MAX_EXTENTS]; /* w_extents, then abc_extents of them */
    uint64_t changed_ns;                     /* CLOCK_MONOTONIC of the last change of the word */
    /* set when a daemon takes it, kept until the next one does; 0 while WRITING or SUBMITTED */
    uint64_t epoch;
    uint32_t device;
};

/* Whether the record, taken from a shared object and so not trusted, describes a slice of this
 * arena: state and flags known and consistent, counts in range, every extent not empty, in whole
 * pages, inside the arena and inside one chunk, no two extents touching the same byte, their sums
 * and the offsets those of slice_plan. A FREE record is always right. ST_INPUT with the reason
 * otherwise. */
enum status slice_check(const struct slice_record *r, const struct arena_desc *arena) MUST_CHECK;

/* How many of the record's extents, from the first, are not free: all, only those of w once a, b,
 * c were given back, none when FREE. */
uint32_t slice_held_extents(const struct slice_record *r);

/* Whether a slot may go from one state to another. Staying in a state (a change of flags or
 * client) is allowed but for FREE and WRITING; LEAN never leads back. */
bool slice_may_become(enum slot_state from, enum slot_state to);

/* "WRITING" etc.; "?" for any other value. */
const char *slot_state_name(enum slot_state state);

#endif
