#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/ledger_view.h"
#include "shm/ledger_write.h"
#include "shm/process.h"

/* Appended to the reason why an object cannot be gone on with. */
#define REMEDY "damaged; stop all pinion processes of this directory, rm /dev/shm%s and start again"

/* ---- another layout version: who still uses it ---- */

/* Appends " PID" for each live client, from the frozen part alone; how many. */
static unsigned list_live_clients(char *out, size_t size, const struct ledger *l)
{
    const struct ledger_header *h = l->header;
    uint64_t offset = h->clients_offset, stride = h->client_bytes, count = h->client_count;
    if (offset % 8 != 0 || stride % 8 != 0 || stride < 24 || offset > l->bytes ||
        count > (l->bytes - offset) / stride)
        return 0;
    unsigned live = 0;
    size_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct client_entry *e =
            (const struct client_entry *)((const char *)h + offset + i * stride);
        /* acquire: pairs with the release store of the word, whichever version wrote it */
        uint64_t word = atomic_load_explicit(&e->word, memory_order_acquire);
        uint64_t pid = atomic_load_explicit(&e->pid, memory_order_relaxed);
        uint64_t start = atomic_load_explicit(&e->start_time, memory_order_relaxed);
        if (word_state(word) == CLIENT_FREE || pid > INT32_MAX ||
            !process_is_alive((pid_t)pid, start))
            continue;
        live++;
        if (used + 12 < size)
            used += (size_t)snprintf(out + used, size - used, " %" PRIu64, pid);
    }
    return live;
}

static enum status judge_other_version(const struct ledger *l)
{
    char pids[256] = "";
    if (list_live_clients(pids, sizeof pids, l) == 0)
        return fail(ST_NO_DAEMON, "ledger %s: of layout version %u, and nobody uses it", l->name,
                    l->header->version);
    return fail(ST_RESOURCE,
                "ledger %s: of layout version %u, this program writes %u, and processes of the "
                "other release still run: stop pid%s",
                l->name, l->header->version, LEDGER_VERSION, pids);
}

/* ---- every record ---- */

struct held {
    struct extent extent;
    uint32_t slot;
};

static int by_offset(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return (x->extent.offset > y->extent.offset) - (x->extent.offset < y->extent.offset);
}

static enum status check_disjoint(struct held *held, size_t n, const char *name)
{
    qsort(held, n, sizeof *held, by_offset);
    for (size_t i = 1; i < n; i++) {
        const struct held *a = &held[i - 1], *b = &held[i];
        if (a->extent.offset + a->extent.bytes > b->extent.offset)
            return fail(ST_INPUT,
                        "ledger %s: slots %u and %u both hold offset %" PRIu64 ": " REMEDY, name,
                        a->slot, b->slot, b->extent.offset, name);
    }
    return ST_OK;
}

/* Says where a record of the object is wrong, keeping what status_message says of it. */
static enum status damaged(const struct ledger *l, const char *what, uint32_t index)
{
    char reason[512];
    snprintf(reason, sizeof reason, "%s", status_message());
    status_clear();
    return fail(ST_INPUT, "ledger %s: %s %u: %s: " REMEDY, l->name, what, index, reason, l->name);
}

static enum status check_holder(const struct ledger *l, const struct slice_record *r)
{
    if (r->generation == 0 || (r->generation == GENERATION_RETIRED && r->state != SLOT_FREE))
        return fail(ST_INPUT, "generation %u", r->generation);
    if (r->state == SLOT_FREE)
        return ST_OK;
    bool known = r->client < l->clients &&
                 word_state(atomic_load_explicit(&l->client[r->client].word,
                                                 memory_order_relaxed)) != CLIENT_FREE;
    if (!known && (r->client != CLIENT_NONE || r->state == SLOT_WRITING))
        return fail(ST_INPUT, "%s, held by client %u, which does not exist",
                    slot_state_name(r->state), r->client);
    if (r->state >= SLOT_COPYING && r->state <= SLOT_LEAN && r->epoch == 0)
        return fail(ST_INPUT, "%s without an epoch", slot_state_name(r->state));
    return ST_OK;
}

static enum status check_slots(const struct ledger *l, struct held *held)
{
    size_t n = 0;
    for (uint32_t i = 0; i < l->slots; i++) {
        struct slice_record r;
        if (ledger_read_slot(l, i, &r) != ST_OK || check_holder(l, &r) != ST_OK)
            return damaged(l, "slot", i);
        for (uint32_t e = 0; e < slice_held_extents(&r); e++)
            held[n++] = (struct held){.extent = r.extent[e], .slot = i};
    }
    return check_disjoint(held, n, l->name);
}

static enum status check_clients(const struct ledger *l)
{
    for (uint32_t i = 0; i < l->clients; i++) {
        struct client c;
        if (ledger_client_read(l, (uint16_t)i, &c) != ST_OK)
            return damaged(l, "client", i);
    }
    return ST_OK;
}

static enum status check_tables(const struct ledger *l)
{
    enum status st = check_clients(l);
    if (st != ST_OK)
        return st;
    struct held *held = malloc((size_t)l->slots * SLICE_MAX_EXTENTS * sizeof *held);
    if (!held)
        return fail(ST_RESOURCE, "ledger %s: no memory for its %u slots", l->name, l->slots);
    st = check_slots(l, held);
    free(held);
    return st;
}

static enum status become_coordinator(struct ledger *l)
{
    uint64_t start;
    enum status st = process_start_time(&start, getpid());
    if (st != ST_OK)
        return st;
    /* relaxed: for messages only, and a reader of both may see one of each */
    atomic_store_explicit(&l->header->coord_pid, (uint64_t)getpid(), memory_order_relaxed);
    atomic_store_explicit(&l->header->coord_start, start, memory_order_relaxed);
    return ST_OK;
}

enum status ledger_adopt(struct ledger **out, const struct ledger_lock *lock, const char *name)
{
    CHECK(lock);
    struct ledger *l;
    bool version_differs;
    enum status st = ledger_view_open(&l, name, LEDGER_WRITE, &version_differs);
    if (st != ST_OK)
        return st;
    st = version_differs ? judge_other_version(l) : check_tables(l);
    if (st == ST_OK)
        st = become_coordinator(l);
    if (st != ST_OK) {
        ledger_detach(l);
        return st;
    }
    *out = l;
    return ST_OK;
}
