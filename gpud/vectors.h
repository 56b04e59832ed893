/* From a slice's record to pointers: the daemon maps all of the arena at once, so a slice is a list
 * of pieces of that mapping. */
#ifndef PINION_GPUD_VECTORS_H
#define PINION_GPUD_VECTORS_H

#include "gpud/backend.h"
#include "shm/arena.h"
#include "shm/slice.h"

/* A slice's vectors with room for its pieces; vectors points into itself: not to be copied. */
struct slice_vectors {
    struct vectors vectors;
    struct piece pieces[SLICE_MAX_EXTENTS];
};

/* record has passed slice_check (ledger_read) for the arena that is mapped, all of it, at base. */
void slice_vectors_init(struct slice_vectors *out, const struct slice_record *record,
                        const void *base);

/* ST_INTERNAL unless the sizes are those of jobs of the key: w of n_vars values, a and b of domain
 * values, c absent or like a. */
enum status vectors_check(const struct vectors *v, const struct groth16_key *key) MUST_CHECK;

/* Copies the bytes [at, at + bytes) of the mapped slice to out. Inside the slice. */
void vectors_gather(void *out, const struct vectors *v, uint64_t at, uint64_t bytes);

#endif
