#include "shm/ledger_write.h"

#include <string.h>

#include "common/fault.h"
#include "shm/ledger_view.h"
#include "shm/process.h"

/* Only this thread writes, so it may look at its own words without order. */
static uint64_t own(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_relaxed);
}

/* Release: pairs with the acquire loads in ledger.c. For a word it vouches for the fields stored
 * before; for a field, whoever sees it also sees the word or edition stored before it. */
static void store(_Atomic uint64_t *p, uint64_t value)
{
    atomic_store_explicit(p, value, memory_order_release);
}

static void store_extents(struct slot_entry *s, const struct slice_record *r)
{
    for (uint32_t i = 0; i < r->w_extents + r->abc_extents; i++) {
        store(&s->extent[i].offset, r->extent[i].offset);
        store(&s->extent[i].bytes, r->extent[i].bytes);
    }
}

static void store_record(struct slot_entry *s, const struct slice_record *r)
{
    uint64_t job[2], now = process_monotonic_ns();
    memcpy(job, r->job, sizeof job);
    store(&s->job[0], job[0]);
    store(&s->job[1], job[1]);
    store(&s->circuit, r->circuit);
    store(&s->w_bytes, r->w_bytes);
    store(&s->a_bytes, r->a_bytes);
    store(&s->b_bytes, r->b_bytes);
    store(&s->c_bytes, r->c_bytes);
    store(&s->a_offset, r->a_offset);
    store(&s->b_offset, r->b_offset);
    store(&s->c_offset, r->c_offset);
    store(&s->granted_ns, now);
    store(&s->changed_ns, now);
    store(&s->epoch, 0);
    store(&s->counts, counts_make(r->w_extents, r->abc_extents, 0));
    store_extents(s, r);
}

static bool client_exists(const struct ledger *l, uint16_t index)
{
    return index < l->clients && word_state(own(&l->client[index].word)) != CLIENT_FREE;
}

static bool is_grantable(uint64_t word)
{
    return word_state(word) == SLOT_FREE && word_generation(word) != GENERATION_RETIRED;
}

/* Index of a grantable slot, searched from where the last one was found; l->slots if none. */
static uint32_t find_grantable(struct ledger *l)
{
    for (uint32_t n = 0; n < l->slots; n++) {
        uint32_t i = (l->next_slot + n) % l->slots;
        if (is_grantable(own(&l->slot[i].word))) {
            l->next_slot = (i + 1) % l->slots;
            return i;
        }
    }
    return l->slots;
}

enum status ledger_grant(struct ledger *l, struct handle *out, uint16_t client,
                         const struct slice_record *r)
{
    CHECK(l->writer);
    struct slice_record record = *r;
    record.state = SLOT_WRITING;
    if (!client_exists(l, client) || word_state(own(&l->client[client].word)) != CLIENT_LIVE)
        return fail(ST_INTERNAL, "grant to client %u, which is not live", client);
    if (slice_check(&record, &l->arena) != ST_OK)
        return ST_INTERNAL;
    uint32_t i = find_grantable(l);
    if (i == l->slots)
        return fail(ST_RESOURCE, "ledger: all %u slots are taken", l->slots);
    struct slot_entry *s = &l->slot[i];
    uint32_t generation = word_generation(own(&s->word));
    store_record(s, &record);
    FAULT_POINT("ledger.grant");
    store(&s->word, word_make(SLOT_WRITING, record.flags, client, generation));
    FAULT_POINT("ledger.granted");
    *out = (struct handle){.slot = i, .generation = generation};
    return ST_OK;
}

/* The slot behind h, granted and of its generation. */
static enum status find_slot(struct slot_entry **out, struct ledger *l, struct handle h)
{
    CHECK(l->writer);
    if (h.slot >= l->slots)
        return fail(ST_STALE, "handle names slot %u of %u", h.slot, l->slots);
    uint64_t word = own(&l->slot[h.slot].word);
    if (word_state(word) == SLOT_FREE || word_generation(word) != h.generation)
        return fail(ST_STALE, "slot %u was reclaimed: generation %u, the handle has %u", h.slot,
                    word_generation(word), h.generation);
    *out = &l->slot[h.slot];
    return ST_OK;
}

static enum status check_publication(const struct ledger *l, struct handle h, uint64_t word,
                                     const struct publication *p)
{
    enum slot_state from = word_state(word);
    if (!slice_may_become(from, p->state) || p->state == SLOT_FREE || p->flags & ~SLOT_FLAGS ||
        (p->flags & ~word_flags(word) & SLOT_NO_ABC && p->state != SLOT_LEAN))
        return fail(ST_INTERNAL, "slot %u: %s cannot become %s with flags %#x", h.slot,
                    slot_state_name(from), slot_state_name(p->state), p->flags);
    if (p->client != CLIENT_NONE && !client_exists(l, p->client))
        return fail(ST_INTERNAL, "slot %u: there is no client %u", h.slot, p->client);
    if (from == SLOT_SUBMITTED && p->state == SLOT_COPYING && p->epoch == 0)
        return fail(ST_INTERNAL, "slot %u: no epoch", h.slot);
    return ST_OK;
}

enum status ledger_publish(struct ledger *l, struct handle h, const struct publication *p)
{
    struct slot_entry *s = NULL;
    enum status st = find_slot(&s, l, h);
    if (st != ST_OK)
        return st;
    uint64_t word = own(&s->word), counts = own(&s->counts);
    st = check_publication(l, h, word, p);
    if (st != ST_OK)
        return st;
    uint8_t flags = p->flags | (word_flags(word) & SLOT_NO_ABC);
    if (p->state == SLOT_LEAN)
        flags |= SLOT_NO_ABC;

    store(&s->edition, own(&s->edition) + 1);
    store(&s->changed_ns, process_monotonic_ns());
    if (word_state(word) == SLOT_SUBMITTED && p->state == SLOT_COPYING) {
        store(&s->epoch, p->epoch);
        store(&s->counts, counts_make(counts & 0xff, counts >> 8 & 0xff, p->device));
    }
    FAULT_POINT("ledger.publish");
    store(&s->word, word_make(p->state, flags, p->client, h.generation));
    FAULT_POINT("ledger.published");
    return ST_OK;
}

enum status ledger_free(struct ledger *l, struct handle h)
{
    struct slot_entry *s = NULL;
    enum status st = find_slot(&s, l, h);
    if (st != ST_OK)
        return st;
    FAULT_POINT("ledger.free");
    store(&s->word, word_make(SLOT_FREE, 0, CLIENT_NONE, h.generation + 1));
    FAULT_POINT("ledger.freed");
    return ST_OK;
}

enum status ledger_client_add(struct ledger *l, uint16_t *index, enum client_role role, int32_t pid,
                              uint64_t start_time, uint64_t incarnation)
{
    CHECK(l->writer);
    uint16_t i;
    if (pid <= 0 || incarnation == 0 || role == 0 || role >= CLIENT_ROLES ||
        ledger_client_find(l, &i, incarnation))
        return fail(ST_INTERNAL, "client of pid %d, role %u: incarnation %llx is not a new one",
                    pid, (unsigned)role, (unsigned long long)incarnation);
    for (i = 0; i < l->clients && word_state(own(&l->client[i].word)) != CLIENT_FREE; i++)
        ;
    if (i == l->clients)
        return fail(ST_RESOURCE, "ledger: all %u clients are taken", l->clients);
    struct client_entry *e = &l->client[i];
    store(&e->pid, (uint64_t)pid);
    store(&e->start_time, start_time);
    store(&e->incarnation, incarnation);
    store(&e->sequence, 0);
    store(&e->added_ns, process_monotonic_ns());
    FAULT_POINT("ledger.client");
    store(&e->word, word_make(CLIENT_LIVE, role, 0, word_generation(own(&e->word)) + 1));
    FAULT_POINT("ledger.client_added");
    *index = i;
    return ST_OK;
}

void ledger_client_sequence(struct ledger *l, uint16_t index, uint64_t sequence)
{
    CHECK(l->writer && client_exists(l, index) && sequence >= own(&l->client[index].sequence));
    store(&l->client[index].sequence, sequence);
}

void ledger_client_dying(struct ledger *l, uint16_t index)
{
    CHECK(l->writer && client_exists(l, index));
    uint64_t word = own(&l->client[index].word);
    store(&l->client[index].word,
          word_make(CLIENT_DYING, word_flags(word), 0, word_generation(word)));
}

void ledger_client_remove(struct ledger *l, uint16_t index)
{
    CHECK(l->writer && client_exists(l, index));
    for (uint32_t i = 0; i < l->slots; i++) {
        uint64_t word = own(&l->slot[i].word);
        CHECK(word_state(word) == SLOT_FREE || word_client(word) != index);
    }
    uint64_t word = own(&l->client[index].word);
    FAULT_POINT("ledger.client_remove");
    store(&l->client[index].word, word_make(CLIENT_FREE, 0, 0, word_generation(word)));
}
