/* Whose bytes lie where in the arena: what decides whether a slice has to be scrubbed before it
 * goes to a job of another submitter. Kept by granules, so that a large arena of small pages needs
 * no more than a small table; a granule that several users had is everybody's. Not stored: after a
 * restart the whole arena counts as somebody's. */
#include <stdlib.h>

#include "shm/coord/desk_private.h"

enum { GRANULES_MAX = 1 << 18 };

/* Owners beside users. -1 is no user's id; of the other one, 2^64 - 2, none can exist. */
#define NOBODY UINT64_MAX
#define SEVERAL (UINT64_MAX - 1)

struct owners {
    uint64_t granule; /* bytes, a power of two */
    size_t count;
    uint64_t owner[];
};

enum status owners_create(struct owners **out, const struct arena_desc *arena, bool clean)
{
    uint64_t granule = arena->page;
    while (arena->bytes / granule >= GRANULES_MAX)
        granule *= 2;
    size_t count = (size_t)((arena->bytes + granule - 1) / granule);
    struct owners *o = malloc(sizeof *o + count * sizeof *o->owner);
    if (!o)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    o->granule = granule;
    o->count = count;
    for (size_t i = 0; i < count; i++)
        o->owner[i] = clean ? NOBODY : SEVERAL;
    *out = o;
    return ST_OK;
}

void owners_destroy(struct owners *o)
{
    free(o);
}

static bool take_extent(struct owners *o, const struct extent *e, uint64_t uid)
{
    bool foreign = false;
    uint64_t end = e->offset + e->bytes;
    for (uint64_t i = e->offset / o->granule; i * o->granule < end; i++) {
        CHECK(i < o->count);
        uint64_t *owner = &o->owner[i];
        bool whole = e->offset <= i * o->granule && end >= (i + 1) * o->granule;
        bool own = *owner == NOBODY || *owner == uid;
        foreign |= !own;
        *owner = whole || own ? uid : SEVERAL;
    }
    return foreign;
}

bool owners_take(struct owners *o, const struct extent *extents, uint32_t n, uint32_t uid)
{
    bool foreign = false;
    for (uint32_t i = 0; i < n; i++)
        foreign |= take_extent(o, &extents[i], uid);
    return foreign;
}
