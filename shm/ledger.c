#include "shm/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/ledger_view.h"

enum status ledger_attach(struct ledger **out, const char *name)
{
    struct ledger *l;
    bool version_differs;
    enum status st = ledger_view_open(&l, name, LEDGER_READ, &version_differs);
    if (st != ST_OK)
        return st;
    if (version_differs) {
        st = fail(ST_RESOURCE,
                  "ledger %s: layout version %u, this program reads %u (coordinator: pid %d): run "
                  "programs of one release",
                  name, l->header->version, LEDGER_VERSION, ledger_coordinator_pid(l));
        ledger_detach(l);
        return st;
    }
    *out = l;
    return ST_OK;
}

void ledger_detach(struct ledger *l)
{
    if (!l)
        return;
    munmap(l->header, l->bytes);
    free(l);
}

/* Acquire: pairs with the release stores in ledger_write.c (see ledger.h), for words, fields and
 * editions alike. */
static uint64_t load(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_acquire);
}

static void copy_extents(struct slice_record *out, const struct slot_entry *s)
{
    uint32_t n = out->w_extents + out->abc_extents;
    for (uint32_t i = 0; i < n && i < SLICE_MAX_EXTENTS; i++)
        out->extent[i] = (struct extent){.offset = load(&s->extent[i].offset),
                                         .bytes = load(&s->extent[i].bytes)};
}

static void copy_record(struct slice_record *out, const struct slot_entry *s)
{
    uint64_t job[2] = {load(&s->job[0]), load(&s->job[1])};
    uint64_t counts = load(&s->counts);
    memcpy(out->job, job, sizeof job);
    out->circuit = load(&s->circuit);
    out->w_bytes = load(&s->w_bytes);
    out->a_bytes = load(&s->a_bytes);
    out->b_bytes = load(&s->b_bytes);
    out->c_bytes = load(&s->c_bytes);
    out->a_offset = load(&s->a_offset);
    out->b_offset = load(&s->b_offset);
    out->c_offset = load(&s->c_offset);
    out->granted_ns = load(&s->granted_ns);
    out->changed_ns = load(&s->changed_ns);
    out->epoch = load(&s->epoch);
    out->device = (uint32_t)(counts >> 32);
    out->w_extents = counts & 0xff;
    out->abc_extents = counts >> 8 & 0xff;
    copy_extents(out, s);
}

static void copy_word(struct slice_record *out, uint64_t word)
{
    out->state = word_state(word);
    out->flags = (uint8_t)word_flags(word);
    out->client = word_client(word);
    out->generation = word_generation(word);
}

static void read_slot(const struct slot_entry *s, struct slice_record *r)
{
    uint64_t word, edition;
    do {
        word = load(&s->word);
        edition = load(&s->edition);
        *r = (struct slice_record){0}; /* nothing of an attempt before */
        if (word_state(word) == SLOT_FREE) {
            r->generation = word_generation(word);
            return;
        }
        copy_record(r, s);
        /* the loads above are acquire, so these come after them */
    } while (load(&s->word) != word || load(&s->edition) != edition);
    copy_word(r, word);
    if (r->state == SLOT_WRITING || r->state == SLOT_SUBMITTED) {
        r->epoch = 0;
        r->device = 0;
    }
}

enum status ledger_read_slot(const struct ledger *l, uint32_t slot, struct slice_record *out)
{
    if (slot >= l->slots)
        return fail(ST_INPUT, "slot %u of %u", slot, l->slots);
    struct slice_record r;
    read_slot(&l->slot[slot], &r);
    enum status st = slice_check(&r, &l->arena);
    if (st == ST_OK)
        *out = r;
    return st;
}

enum status ledger_read(const struct ledger *l, struct handle h, struct slice_record *out)
{
    if (h.slot >= l->slots)
        return fail(ST_INPUT, "handle names slot %u of %u", h.slot, l->slots);
    struct slice_record r;
    read_slot(&l->slot[h.slot], &r);
    if (r.generation != h.generation || r.state == SLOT_FREE)
        return fail(ST_STALE, "slot %u was reclaimed: generation %u, the handle has %u", h.slot,
                    r.generation, h.generation);
    enum status st = slice_check(&r, &l->arena);
    if (st == ST_OK)
        *out = r;
    return st;
}

enum status ledger_client_read(const struct ledger *l, uint16_t index, struct client *out)
{
    if (index >= l->clients)
        return fail(ST_INPUT, "client %u of %u", index, l->clients);
    const struct client_entry *e = &l->client[index];
    struct client c = {0};
    uint64_t word, pid;
    do {
        word = load(&e->word);
        if (word_state(word) == CLIENT_FREE) {
            *out = (struct client){0};
            return ST_OK;
        }
        pid = load(&e->pid);
        c.start_time = load(&e->start_time);
        c.incarnation = load(&e->incarnation);
        c.sequence = load(&e->sequence);
        c.added_ns = load(&e->added_ns);
    } while (load(&e->word) != word);
    c.state = word_state(word);
    c.role = word_flags(word);
    c.pid = (int32_t)pid;
    if (c.state >= CLIENT_STATES || c.role == 0 || c.role >= CLIENT_ROLES || pid == 0 ||
        pid > INT32_MAX || c.incarnation == 0)
        return fail(ST_INPUT, "client %u: state %u, role %u, pid %llu, incarnation %llx", index,
                    (unsigned)c.state, (unsigned)c.role, (unsigned long long)pid,
                    (unsigned long long)c.incarnation);
    *out = c;
    return ST_OK;
}

bool ledger_client_find(const struct ledger *l, uint16_t *index, uint64_t incarnation)
{
    for (uint32_t i = 0; i < l->clients; i++) {
        if (word_state(load(&l->client[i].word)) != CLIENT_FREE &&
            load(&l->client[i].incarnation) == incarnation) {
            *index = (uint16_t)i;
            return true;
        }
    }
    return false;
}

uint32_t ledger_slots(const struct ledger *l)
{
    return l->slots;
}

uint32_t ledger_clients(const struct ledger *l)
{
    return l->clients;
}

uint64_t ledger_instance(const struct ledger *l)
{
    return l->instance;
}

const struct arena_desc *ledger_arena(const struct ledger *l)
{
    return &l->arena;
}

int32_t ledger_coordinator_pid(const struct ledger *l)
{
    uint64_t pid = load(&l->header->coord_pid);
    return pid <= INT32_MAX ? (int32_t)pid : 0;
}
