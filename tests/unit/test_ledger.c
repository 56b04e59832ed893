/* Slices and clients through their lives: what is published is read, and stale stays stale. */
#include "tests/unit/shm_fixture.h"

#include "shm/freemap.h"
#include "shm/ledger_view.h"

struct fixture {
    struct ledger_lock *lock;
    struct ledger *writer, *reader;
    uint16_t synth, gpud;
};

static int open_both(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct arena_desc arena = fixture_arena();
    assert_non_null(f);
    assert_done(ledger_lock_acquire(&f->lock, fixture_lock_path()));
    assert_done(ledger_create(&f->writer, f->lock, fixture_name("ledger"), FIXTURE_CLIENTS,
                              FIXTURE_SLOTS, &arena));
    assert_done(ledger_attach(&f->reader, fixture_name("ledger")));
    assert_done(ledger_client_add(f->writer, &f->synth, CLIENT_SYNTH, 100, 1000, 11));
    assert_done(ledger_client_add(f->writer, &f->gpud, CLIENT_GPUD, 101, 1001, 12));
    *state = f;
    return 0;
}

static int close_both(void **state)
{
    struct fixture *f = *state;
    ledger_detach(f->reader);
    ledger_detach(f->writer);
    assert_done(ledger_unlink(fixture_name("ledger")));
    assert_done(ledger_unlink(fixture_name("ledger")));
    ledger_lock_release(f->lock);
    unlink(fixture_lock_path());
    free(f);
    return 0;
}

static void publish(struct fixture *f, struct handle h, enum slot_state to, uint8_t flags)
{
    struct publication p = {
        .state = to, .flags = flags, .client = CLIENT_NONE, .epoch = 77, .device = 3};
    assert_done(ledger_publish(f->writer, h, &p));
}

static void life_of_a_slice(void **state)
{
    struct fixture *f = *state;
    struct slice_record given = fixture_slice(2), r;
    struct handle h;
    given.flags = SLOT_SCRUB;
    assert_done(ledger_grant(f->writer, &h, f->synth, &given));
    assert_done(ledger_read(f->reader, h, &r));
    assert_int_equal(r.state, SLOT_WRITING);
    assert_int_equal(r.flags, SLOT_SCRUB);
    assert_int_equal(r.client, f->synth);
    assert_memory_equal(r.job, given.job, sizeof r.job);
    assert_memory_equal(r.extent, given.extent, sizeof r.extent);
    assert_int_equal(r.circuit, given.circuit);
    assert_int_equal(r.c_offset, given.c_offset);
    assert_true(r.granted_ns != 0 && r.changed_ns == r.granted_ns);
    assert_int_equal(r.epoch, 0);

    publish(f, h, SLOT_SUBMITTED, 0);
    assert_done(ledger_read(f->reader, h, &r));
    assert_int_equal(r.client, CLIENT_NONE);
    assert_int_equal(r.epoch, 0);
    publish(f, h, SLOT_COPYING, SLOT_SUSPECT);
    assert_done(ledger_read(f->reader, h, &r));
    assert_int_equal(r.epoch, 77);
    assert_int_equal(r.device, 3);
    assert_int_equal(r.w_extents, 1);
    assert_int_equal(r.abc_extents, 2);
    publish(f, h, SLOT_PROVING, 0);
    publish(f, h, SLOT_LEAN, 0);
    publish(f, h, SLOT_QUARANTINE, 0);
    assert_done(ledger_read(f->reader, h, &r));
    assert_int_equal(r.flags, SLOT_NO_ABC);
    assert_int_equal(slice_held_extents(&r), 1);

    assert_done(ledger_free(f->writer, h));
    assert_refused(ledger_read(f->reader, h, &r), ST_STALE, "reclaimed");
    assert_done(ledger_read_slot(f->reader, h.slot, &r));
    assert_int_equal(r.state, SLOT_FREE);
    assert_int_equal(r.generation, h.generation + 1);
    assert_refused(ledger_read(f->reader, (struct handle){h.slot, h.generation + 1}, &r), ST_STALE,
                   "reclaimed");
}

static void stale_and_hostile_handles(void **state)
{
    struct fixture *f = *state;
    struct slice_record given = fixture_slice(0), r;
    struct publication p = {.state = SLOT_SUBMITTED, .client = CLIENT_NONE};
    struct handle h;
    assert_done(ledger_grant(f->writer, &h, f->synth, &given));
    const struct handle bad[] = {
        {h.slot, h.generation + 1}, {h.slot, h.generation - 1}, {h.slot, 0},
        {h.slot + 1, h.generation}, {FIXTURE_SLOTS, 1},         {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_not_equal(ledger_read(f->reader, bad[i], &r), ST_OK);
        assert_int_equal(ledger_publish(f->writer, bad[i], &p), ST_STALE);
        assert_int_equal(ledger_free(f->writer, bad[i]), ST_STALE);
        status_clear();
    }
    assert_refused(ledger_read(f->reader, (struct handle){FIXTURE_SLOTS, 1}, &r), ST_INPUT, "slot");
    assert_refused(ledger_read_slot(f->reader, FIXTURE_SLOTS, &r), ST_INPUT, "slot");
    assert_done(ledger_read(f->reader, h, &r));
    assert_int_equal(r.state, SLOT_WRITING);
    assert_done(ledger_free(f->writer, h));
}

static void refuses_wrong_steps(void **state)
{
    struct fixture *f = *state;
    struct slice_record given = fixture_slice(0), r, broken = fixture_slice(1);
    struct handle h, none;
    broken.extent[1].offset = 1;
    assert_refused(ledger_grant(f->writer, &none, f->synth, &broken), ST_INTERNAL, "whole pages");
    assert_refused(ledger_grant(f->writer, &none, 9, &given), ST_INTERNAL, "not live");
    assert_refused(ledger_grant(f->writer, &none, CLIENT_NONE, &given), ST_INTERNAL, "not live");
    assert_done(ledger_grant(f->writer, &h, f->synth, &given));
    struct publication p = {.state = SLOT_PROVING, .client = CLIENT_NONE};
    assert_refused(ledger_publish(f->writer, h, &p), ST_INTERNAL, "WRITING cannot become PROVING");
    p.state = SLOT_FREE;
    assert_refused(ledger_publish(f->writer, h, &p), ST_INTERNAL, "cannot become FREE");
    p.state = SLOT_SUBMITTED;
    p.flags = SLOT_NO_ABC;
    assert_refused(ledger_publish(f->writer, h, &p), ST_INTERNAL, "flags");
    p.flags = 0;
    p.client = 9;
    assert_refused(ledger_publish(f->writer, h, &p), ST_INTERNAL, "no client 9");
    p.client = f->gpud;
    assert_done(ledger_publish(f->writer, h, &p));
    p.state = SLOT_COPYING;
    assert_refused(ledger_publish(f->writer, h, &p), ST_INTERNAL, "epoch");
    assert_done(ledger_read(f->reader, h, &r));
    assert_int_equal(r.state, SLOT_SUBMITTED);
    assert_done(ledger_free(f->writer, h));
}

static void slots_run_out_and_come_back(void **state)
{
    struct fixture *f = *state;
    struct handle h[FIXTURE_SLOTS], more;
    struct slice_record r;
    for (uint32_t i = 0; i < FIXTURE_SLOTS; i++) {
        struct slice_record given = fixture_slice(i);
        assert_done(ledger_grant(f->writer, &h[i], f->synth, &given));
    }
    struct slice_record given = fixture_slice(FIXTURE_SLOTS);
    assert_refused(ledger_grant(f->writer, &more, f->synth, &given), ST_RESOURCE, "all 12 slots");
    assert_done(ledger_free(f->writer, h[5]));
    assert_done(ledger_grant(f->writer, &more, f->synth, &given));
    assert_int_equal(more.slot, h[5].slot);
    assert_int_equal(more.generation, h[5].generation + 1);
    assert_done(ledger_free(f->writer, more));
    for (uint32_t i = 0; i < FIXTURE_SLOTS; i++)
        if (i != 5)
            assert_done(ledger_free(f->writer, h[i]));
    for (uint32_t i = 0; i < FIXTURE_SLOTS; i++) {
        assert_done(ledger_read_slot(f->reader, i, &r));
        assert_int_equal(r.state, SLOT_FREE);
    }
}

/* At the end of its generations a slot retires, whatever that costs. */
static void generations_never_wrap(void **state)
{
    struct fixture *f = *state;
    struct slice_record given = fixture_slice(0);
    struct handle h;
    for (uint32_t i = 0; i < FIXTURE_SLOTS; i++)
        atomic_store_explicit(&f->writer->slot[i].word,
                              word_make(SLOT_FREE, 0, CLIENT_NONE, GENERATION_RETIRED - (i == 4)),
                              memory_order_relaxed);
    assert_done(ledger_grant(f->writer, &h, f->synth, &given));
    assert_int_equal(h.slot, 4);
    assert_int_equal(h.generation, GENERATION_RETIRED - 1);
    assert_done(ledger_free(f->writer, h));
    assert_refused(ledger_grant(f->writer, &h, f->synth, &given), ST_RESOURCE, "taken");
}

static void clients(void **state)
{
    struct fixture *f = *state;
    struct client c;
    uint16_t i, found;
    assert_done(ledger_client_read(f->reader, f->gpud, &c));
    assert_int_equal(c.state, CLIENT_LIVE);
    assert_int_equal(c.role, CLIENT_GPUD);
    assert_int_equal(c.pid, 101);
    assert_int_equal(c.start_time, 1001);
    assert_int_equal(c.incarnation, 12);
    assert_int_equal(c.sequence, 0);
    ledger_client_sequence(f->writer, f->gpud, 41);
    ledger_client_sequence(f->writer, f->gpud, 41);
    ledger_client_dying(f->writer, f->gpud);
    assert_done(ledger_client_read(f->reader, f->gpud, &c));
    assert_int_equal(c.state, CLIENT_DYING);
    assert_int_equal(c.role, CLIENT_GPUD);
    assert_int_equal(c.sequence, 41);
    assert_true(ledger_client_find(f->reader, &found, 12));
    assert_int_equal(found, f->gpud);
    assert_refused(ledger_client_add(f->writer, &i, CLIENT_SYNTH, 9, 9, 12), ST_INTERNAL, "new");
    assert_refused(ledger_client_add(f->writer, &i, CLIENT_SYNTH, 9, 9, 0), ST_INTERNAL, "new");
    assert_refused(ledger_client_add(f->writer, &i, CLIENT_SYNTH, 0, 9, 5), ST_INTERNAL, "new");
    ledger_client_remove(f->writer, f->gpud);
    assert_false(ledger_client_find(f->reader, &found, 12));
    for (uint64_t n = 0; n < FIXTURE_CLIENTS - 1; n++)
        assert_done(ledger_client_add(f->writer, &i, CLIENT_SYNTH, 9, 9, 500 + n));
    assert_refused(ledger_client_add(f->writer, &i, CLIENT_SYNTH, 9, 9, 5), ST_RESOURCE, "all 20");
    assert_done(ledger_client_read(f->reader, f->gpud, &c));
    assert_int_equal(c.sequence, 0); /* a new client there starts anew */
    assert_refused(ledger_client_read(f->reader, FIXTURE_CLIENTS, &c), ST_INPUT, "client 20");
}

static void derived_map_balances(void **state)
{
    struct fixture *f = *state;
    struct handle lean, full;
    struct slice_record a = fixture_slice(0), b = fixture_slice(1), twice = fixture_slice(1);
    struct freemap *map;
    assert_done(ledger_grant(f->writer, &lean, f->synth, &a));
    assert_done(ledger_grant(f->writer, &full, f->synth, &b));
    publish(f, lean, SLOT_SUBMITTED, 0);
    publish(f, lean, SLOT_COPYING, 0);
    publish(f, lean, SLOT_PROVING, 0);
    publish(f, lean, SLOT_LEAN, 0);
    assert_done(freemap_derive(&map, f->reader));
    assert_int_equal(freemap_granted_bytes(map), (2 + 5) * FIXTURE_PAGE);
    assert_int_equal(freemap_free_bytes(map) + freemap_granted_bytes(map), 64 << 20);
    freemap_destroy(map);
    assert_done(ledger_grant(f->writer, &full, f->synth, &twice));
    assert_refused(freemap_derive(&map, f->reader), ST_INPUT, "slot 2 (WRITING)");
}

int main(void)
{
#define WITH_LEDGER(test) cmocka_unit_test_setup_teardown(test, open_both, close_both)
    const struct CMUnitTest tests[] = {
        WITH_LEDGER(life_of_a_slice),        WITH_LEDGER(stale_and_hostile_handles),
        WITH_LEDGER(refuses_wrong_steps),    WITH_LEDGER(slots_run_out_and_come_back),
        WITH_LEDGER(generations_never_wrap), WITH_LEDGER(clients),
        WITH_LEDGER(derived_map_balances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
