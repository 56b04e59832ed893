/* The slots: the ledger is changed first, free map and mirror follow. */
#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"

enum status slots_create(struct desk *d)
{
    d->slot_count = ledger_slots(d->ledger);
    d->slots = calloc(d->slot_count, sizeof *d->slots);
    return d->slots ? ST_OK : fail(ST_RESOURCE, "coordinator: out of memory");
}

void slots_destroy(struct desk *d)
{
    for (uint32_t i = 0; d->slots && i < d->slot_count; i++)
        json_decref(d->slots[i].stages);
    free(d->slots);
    d->slots = NULL;
}

static uint64_t sum(const struct extent *extents, uint32_t n)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += extents[i].bytes;
    return bytes;
}

/* What a record says, into an empty mirror. */
static void mirror_record(struct desk_slot *s, const struct slice_record *r)
{
    s->state = r->state;
    s->flags = r->flags;
    s->client = r->client;
    s->generation = r->generation;
    s->granted_ns = r->granted_ns;
    s->held_bytes = sum(r->extent, slice_held_extents(r));
    s->abc_bytes = r->flags & SLOT_NO_ABC ? 0 : sum(r->extent + r->w_extents, r->abc_extents);
}

static void mirror_job(struct desk *d, struct desk_slot *s, const struct job *job)
{
    s->number = job->number;
    s->uid = job->uid;
    s->priority = job->priority;
    s->since = desk_now(d) - (desk_wall(d) > job->submitted ? desk_wall(d) - job->submitted : 0);
    memcpy(s->circuit, job->circuit, sizeof s->circuit);
}

/* Synthesis' working memory is needed while it may write. */
static void reserve_memory(struct desk *d, struct desk_slot *s, uint64_t bytes)
{
    bool writing = s->state == SLOT_WRITING || s->state == SLOT_QUARANTINE;
    d->memory_reserved -= s->memory;
    s->memory = writing ? bytes : 0;
    d->memory_reserved += s->memory;
}

void slots_adopt(struct desk *d, uint32_t i, const struct slice_record *r, const struct job *job)
{
    struct desk_slot *s = &d->slots[i];
    CHECK(s->state == SLOT_FREE);
    mirror_record(s, r);
    d->used_slots++;
    if (!job)
        return;
    mirror_job(d, s, job);
    const struct circuit *c = store_find(d->store, job->circuit);
    reserve_memory(d, s, c ? c->shape.memory : 0);
}

struct handle slots_handle(const struct desk *d, uint32_t i)
{
    return (struct handle){.slot = i, .generation = d->slots[i].generation};
}

uint32_t slots_find(const struct desk *d, struct handle h)
{
    bool live = h.slot < d->slot_count && d->slots[h.slot].state != SLOT_FREE &&
                d->slots[h.slot].generation == h.generation;
    return live ? h.slot : d->slot_count;
}

uint32_t slots_of_job(const struct desk *d, uint64_t number)
{
    uint32_t i = 0;
    while (i < d->slot_count &&
           (d->slots[i].state == SLOT_FREE || d->slots[i].state == SLOT_QUARANTINE ||
            d->slots[i].ended || d->slots[i].number != number))
        i++;
    return i;
}

uint32_t slots_in_flight(const struct desk *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->slot_count; i++)
        n += d->slots[i].state >= SLOT_COPYING && d->slots[i].state <= SLOT_LEAN;
    return n;
}

uint64_t slots_memory_free(const struct desk *d)
{
    uint64_t used = d->arena->bytes + d->memory_reserved;
    for (size_t i = 0; i < d->key_count; i++)
        used += strcmp(d->keys[i].resident, "no") == 0 ? 0 : d->keys[i].bytes;
    return used < d->config->host_memory ? d->config->host_memory - used : 0;
}

bool slots_fit(const struct desk *d, uint64_t w, uint64_t abc)
{
    return freemap_fits(d->map, w, abc);
}

static struct slice_record describe(const struct desk *d, const struct job *job,
                                    const struct circuit *c, const struct slice_plan *plan)
{
    struct slice_record r = {.state = SLOT_WRITING,
                             .circuit = c->tag,
                             .w_bytes = plan->w_bytes,
                             .a_bytes = plan->a_bytes,
                             .b_bytes = plan->b_bytes,
                             .c_bytes = plan->c_bytes,
                             .a_offset = plan->a_offset,
                             .b_offset = plan->b_offset,
                             .c_offset = plan->c_offset};
    uint64_t id[2] = {journal_instance(d->journal), job->number};
    memcpy(r.job, id, sizeof r.job);
    return r;
}

enum status slots_grant(struct desk *d, uint32_t *slot, uint16_t client, const struct job *job,
                        const struct circuit *circuit)
{
    struct slice_plan plan;
    struct handle h;
    enum status st = jobs_plan(d, &plan, circuit->name);
    if (st != ST_OK)
        return st;
    struct slice_record r = describe(d, job, circuit, &plan);
    if (!freemap_alloc(d->map, r.extent, &r.w_extents, &r.abc_extents, plan.w_mapped,
                       plan.abc_mapped))
        return fail(ST_RESOURCE, "job %s: its slice does not fit now", job->id);
    uint32_t n = r.w_extents + r.abc_extents;
    if (owners_take(d->owners, r.extent, n, job->uid))
        r.flags |= SLOT_SCRUB;
    if (job->suspect)
        r.flags |= SLOT_SUSPECT;
    st = ledger_grant(d->ledger, &h, client, &r);
    if (st != ST_OK) {
        freemap_release(d->map, r.extent, n);
        return st;
    }
    r.client = client;
    r.generation = h.generation;
    r.granted_ns = (uint64_t)desk_now(d) * 1000000;
    slots_adopt(d, h.slot, &r, job);
    *slot = h.slot;
    return ST_OK;
}

/* The record of slot i, which this process wrote: it can be read. */
static void read_record(const struct desk *d, uint32_t i, struct slice_record *r)
{
    CHECK(ledger_read_slot(d->ledger, i, r) == ST_OK);
}

void slots_publish(struct desk *d, uint32_t i, enum slot_state state, uint8_t flags,
                   uint16_t client)
{
    struct desk_slot *s = &d->slots[i];
    struct slice_record r;
    uint64_t epoch = client == CLIENT_NONE ? 0 : d->clients[client].incarnation;
    struct publication p = {.state = state, .flags = flags, .client = client, .epoch = epoch};
    read_record(d, i, &r);
    CHECK(ledger_publish(d->ledger, slots_handle(d, i), &p) == ST_OK);
    if (state == SLOT_LEAN && s->state != SLOT_LEAN) {
        freemap_release(d->map, r.extent + r.w_extents, r.abc_extents);
        s->held_bytes -= s->abc_bytes;
        s->abc_bytes = 0;
        flags |= SLOT_NO_ABC;
    }
    s->state = state;
    s->flags = flags | (s->flags & SLOT_NO_ABC);
    s->client = client;
    s->asked = 0;
    s->stage[0] = '\0';
    s->stage_since = desk_now(d);
    reserve_memory(d, s, s->memory);
}

void slots_free(struct desk *d, uint32_t i)
{
    struct desk_slot *s = &d->slots[i];
    struct slice_record r;
    read_record(d, i, &r);
    CHECK(ledger_free(d->ledger, slots_handle(d, i)) == ST_OK);
    freemap_release(d->map, r.extent, slice_held_extents(&r));
    d->memory_reserved -= s->memory;
    d->used_slots--;
    json_decref(s->stages);
    *s = (struct desk_slot){.state = SLOT_FREE};
}

/* ---- checking ---- */

static void check_slot(const struct desk *d, uint32_t i)
{
    const struct desk_slot *s = &d->slots[i];
    struct slice_record r;
    read_record(d, i, &r);
    CHECK(r.state == s->state);
    if (r.state == SLOT_FREE)
        return;
    CHECK(r.flags == s->flags && r.client == s->client && r.generation == s->generation);
    CHECK(s->held_bytes == sum(r.extent, slice_held_extents(&r)));
    CHECK(s->state != SLOT_WRITING || s->client != CLIENT_NONE);
    CHECK(s->client == CLIENT_NONE || d->clients[s->client].used);
}

void desk_check(const struct desk *d)
{
    uint64_t granted = 0, memory = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        check_slot(d, i);
        used += d->slots[i].state != SLOT_FREE;
        granted += d->slots[i].held_bytes;
        memory += d->slots[i].memory;
    }
    freemap_check(d->map);
    CHECK(used == d->used_slots && memory == d->memory_reserved);
    CHECK(granted == freemap_granted_bytes(d->map));
    CHECK(granted + freemap_free_bytes(d->map) == d->arena->bytes);
}
