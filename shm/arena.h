/* The arena: the memory of all slices, one object of fixed size on hugetlbfs, in POSIX shared
 * memory, or private to one process.
 *
 * The coordinator creates it, with every page reserved and touched, so that a shortage is an error
 * then and never a SIGBUS later; a daemon attaches read-only and maps all of it; a synthesis
 * process attaches read-write and maps only the extents it was granted. Who may do what with which
 * bytes is the ledger's business; what is mapped here is checked against the arena alone.
 *
 * Every view keeps a shared lock (flock) on the object while it exists, a forked child's included,
 * so that an object in use is told from one that a dead run left.
 *
 * Mappings are MADV_DONTFORK (a forked child must not write to a slice after its parent's death)
 * and MADV_DONTDUMP (a core dump would keep the slice for seconds per GiB). Nobody ever punches
 * holes or truncates: a pinned arena would silently go on with other pages. */
#ifndef PINION_SHM_ARENA_H
#define PINION_SHM_ARENA_H

#include "common/status.h"
#include "shm/layout.h"

struct arena; /* this process's view of the object; any thread may map through it */

struct arena_options {
    enum arena_kind kind;
    uint64_t bytes;    /* a multiple of the page, 4 KiB or the huge page's size; > 0 */
    uint64_t chunk;    /* of registration, a power of two; 0: the smallest of 1 to 64 GiB of which
                          at most 16 make the arena, so that any slice fits the empty arena */
    const char *name;  /* "/pinion-TAG-arena", not for PRIVATE */
    const char *mount; /* of hugetlbfs; NULL: a writable one, that of 2 MiB pages if there is */
};

/* Makes the object and attaches to it read-write. AUTO means huge pages, else POSIX shared memory;
 * PRIVATE takes huge pages where they are free. An object of the same name that nobody uses, left
 * by a dead run, is removed. One that is in use is refused, naming the pids.
 * ST_INPUT for a bad size; ST_RESOURCE naming what is missing and how to get it: huge pages, room
 * in /dev/shm, memory, permission, a mount. Nothing is left behind on failure. */
enum status arena_create(struct arena **out, const struct arena_options *options) MUST_CHECK;

/* What was lost and how to get it when AUTO fell back to POSIX shared memory; "" otherwise.
 * Borrowed until arena_detach. */
const char *arena_warning(const struct arena *a);

enum arena_access { ARENA_READ, ARENA_WRITE };

/* Attaches to the arena that a ledger speaks of (ledger_arena). ST_RESOURCE when it is not there,
 * is not that very object (deleted and made again), is another user's or open to others, or has
 * another size than the ledger says. */
enum status arena_attach(struct arena **out, const struct arena_desc *desc,
                         enum arena_access access) MUST_CHECK;

/* Gives up the view; mappings made from it stay until unmapped. */
void arena_detach(struct arena *a);

/* Removes the object's name; views and mappings stay usable. The creator's or an adopting
 * coordinator's business, before arena_detach. An absent one is fine. */
enum status arena_unlink(const struct arena *a) MUST_CHECK;

/* Its kind, size, page, chunk and identity; borrowed until arena_detach. */
const struct arena_desc *arena_desc(const struct arena *a);

/* A mapped range; in the caller's storage. */
struct arena_map {
    void *base; /* NULL when unmapped */
    size_t bytes;
};

/* Maps the extents, back to back in their order, writable if the view is and `access` says so.
 * ST_INPUT for extents that are empty, not in whole pages or outside the arena, or none;
 * ST_INTERNAL for write access through a view without it; ST_RESOURCE. *out is then untouched. */
enum status arena_map_slice(struct arena_map *out, const struct arena *a,
                            const struct extent *extents, uint32_t n,
                            enum arena_access access) MUST_CHECK;

/* Maps all of the arena read-only, for a daemon to pin. */
enum status arena_map_all(struct arena_map *out, const struct arena *a) MUST_CHECK;

/* Unmaps; a map with base NULL is fine. */
void arena_unmap(struct arena_map *map);

/* Overwrites the extents with zeros. As arena_map_slice. */
enum status arena_scrub(const struct arena *a, const struct extent *extents, uint32_t n) MUST_CHECK;

#endif
