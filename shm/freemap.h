/* Which bytes of the arena nobody holds. Pure: derived from the ledger's records when the
 * coordinator starts, then kept beside it; never stored. One thread at a time.
 *
 * Always: granted + free = bytes, where granted is the sum of all extents handed out and not yet
 * released, those of quarantined slices included.
 *
 * An extent never crosses a registration chunk. A vector group (w, or a, b, c together) goes into
 * the smallest free piece that holds it whole; if none does, the largest pieces are used up one
 * after the other until one holds the rest (best fit, then largest first: the fewest extents for
 * this group). Pieces are free runs cut at the chunks' boundaries; of equal ones the lowest is
 * taken. Both groups of a slice have SLICE_MAX_EXTENTS (24) extents together.
 *
 * Fragmentation: a request fails although its bytes are free only if the pieces are so small that
 * 24 do not hold it; in the worst case, every second page free, that is anything above 24 pages.
 * Nothing is ever moved. It passes by itself: whoever waits at the head of the queue lets nobody
 * past to the bytes it needs, releases coalesce, and an empty arena has one piece a chunk, where
 * freemap_ever_fits answers. A request of n bytes into pieces of which the k largest hold n takes
 * at most k extents. */
#ifndef PINION_SHM_FREEMAP_H
#define PINION_SHM_FREEMAP_H

#include "common/status.h"
#include "shm/layout.h"

struct freemap;
struct ledger;

/* An arena of `bytes`, all free. page, chunk: powers of two, page divides bytes and chunk.
 * max_extents bounds the extents held at any time (slots x SLICE_MAX_EXTENTS). All memory is taken
 * here, so nothing later fails for want of it. ST_RESOURCE, ST_INPUT for an impossible shape. */
enum status freemap_create(struct freemap **out, uint64_t bytes, uint64_t page, uint64_t chunk,
                           uint32_t max_extents) MUST_CHECK;

/* The map that a ledger's records give: everything free but the held extents of each slot. That is
 * how a coordinator starts. ST_INPUT when two records disagree or one is damaged, naming the slot;
 * ST_RESOURCE. */
enum status freemap_derive(struct freemap **out, const struct ledger *l) MUST_CHECK;

void freemap_destroy(struct freemap *f);

/* Takes extents that the ledger says are held. False, and nothing taken, if one is not in whole
 * pages, leaves the arena, crosses a chunk or is not wholly free, or if max_extents are held. */
bool freemap_claim(struct freemap *f, const struct extent *extents, uint32_t n);

/* Takes w and abc bytes, each rounded up to pages; 0 takes no extent. On success extents[0 ..
 * *n_w) hold w and extents[*n_w .. *n_w + *n_abc) hold a, b, c. False, and nothing taken or
 * written, when they do not fit now. */
bool freemap_alloc(struct freemap *f, struct extent extents[SLICE_MAX_EXTENTS], uint32_t *n_w,
                   uint32_t *n_abc, uint64_t w, uint64_t abc);

/* Gives extents back, each as it was claimed or allocated. Bytes that are not held are a broken
 * invariant: aborts. */
void freemap_release(struct freemap *f, const struct extent *extents, uint32_t n);

/* Whether freemap_alloc(w, abc) would succeed now. */
bool freemap_fits(struct freemap *f, uint64_t w, uint64_t abc);

/* Whether it would succeed in the empty arena: if not, the job can never run here. */
bool freemap_ever_fits(const struct freemap *f, uint64_t w, uint64_t abc);

uint64_t freemap_bytes(const struct freemap *f);
uint64_t freemap_free_bytes(const struct freemap *f);
uint64_t freemap_granted_bytes(const struct freemap *f);

/* Bytes of the largest piece: the largest extent that could be granted now. */
uint64_t freemap_largest_piece(const struct freemap *f);

/* Free run i, in ascending order, coalesced (so it may cross chunks); false at the end. For maps
 * and metrics. */
bool freemap_run(const struct freemap *f, struct extent *out, uint32_t i);

/* Aborts unless runs are sorted, disjoint, coalesced, in the arena, and the books balance. Debug
 * builds call it after every change. */
void freemap_check(const struct freemap *f);

#endif
