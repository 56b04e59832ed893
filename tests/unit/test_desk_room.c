/* Who gets room, and how it comes back: the queue's head, LEAN, budget, keys, leases, scrubbing,
 * waiting requests, drains, and a journal that fails. */
#include "tests/unit/desk_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

static json_t *control(struct office *o, uint32_t uid, const char *op)
{
    return office_ask(o, uid, "{\"op\":\"%s\",\"protocol\":1}", op);
}

static void submit_many(struct office *o, int from, int to, const char *circuit)
{
    char id[16];
    for (int i = from; i < to; i++) {
        snprintf(id, sizeof id, "j%d", i);
        office_submit(o, ALICE, id, circuit, "");
    }
}

/* ---- the head of the queue ---- */

/* A big job among small ones, which come without end: it is not overtaken once it is the head. */
static void big_job_is_not_starved(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth");
    struct handle small[10];
    size_t taken = 0;
    submit_many(o, 0, 8, "small");
    for (; taken < 8; taken++)
        small[taken] = worker_take(o, &synth); /* 24 of 64 pages */
    office_submit(o, ALICE, "big", "big", ""); /* 48 pages */
    submit_many(o, 8, 20, "small");
    assert_int_equal(worker_take(o, &synth).generation, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(office_job(o, "big").state, i < 3 ? JOB_WAITING : JOB_RUNNING);
        assert_true(worker_says(o, &synth, "failed", small[i], ",\"kind\":\"input\""));
        struct handle h = worker_take(o, &synth);
        assert_int_equal(h.generation != 0, i >= 2); /* 16 pages must be free beside it */
    }
    assert_int_equal(office_job(o, "j8").state, JOB_RUNNING);
}

/* The daemon is asked for a, b, c when the head lacks bytes, and only then. */
static void lean_on_demand(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth"), gpud = office_hire(o, "gpud");
    struct handle h[4];
    submit_many(o, 0, 4, "medium"); /* 12 pages each, 8 of them a, b, c */
    for (int i = 0; i < 4; i++) {
        h[i] = worker_take(o, &synth);
        assert_true(worker_says(o, &synth, "submitted", h[i], ""));
    }
    assert_int_equal(worker_next(o, &gpud, 4), 4);
    for (int i = 0; i < 3; i++)
        assert_true(worker_says(o, &gpud, "copied", h[i], ""));
    json_t *reply = worker_ask(o, &gpud, "next", ",\"wait_ms\":0,\"room\":0");
    assert_int_equal(json_array_size(json_object_get(reply, "give_back")), 0);

    /* a waiting next is answered at once when the head becomes blocked: 30 pages are lacking */
    size_t parked = worker_send(o, &gpud, "next", ",\"wait_ms\":1000,\"room\":0", NULL);
    assert_false(office_has_reply(o, parked));
    office_submit(o, BOB, "big", "big", "");
    assert_int_equal(worker_take(o, &synth).generation, 0);
    assert_true(office_has_reply(o, parked));
    json_t *back = json_object_get(office_reply(o, parked), "give_back");
    assert_int_equal(json_array_size(back), 3);
    uint64_t unused = office_free_bytes(o);
    assert_true(worker_says(o, &gpud, "gave_back", h[0], ""));
    assert_true(worker_says(o, &gpud, "gave_back", h[0], "")); /* again */
    assert_int_equal(office_free_bytes(o), unused + UINT64_C(8) * FIXTURE_PAGE);
    assert_false(worker_says(o, &gpud, "gave_back", h[3], "")); /* not copied yet */
    assert_true(worker_says(o, &gpud, "gave_back", h[1], ""));
    assert_true(worker_says(o, &gpud, "gave_back", h[2], ""));
    assert_int_equal(worker_take(o, &synth).generation, 0); /* 16 + 24 of 48 */
    assert_true(worker_done(o, &gpud, h[0]));
    assert_true(worker_done(o, &gpud, h[3]));
    assert_int_not_equal(worker_take(o, &synth).generation, 0);
    assert_int_equal(office_job(o, "big").state, JOB_RUNNING);
}

static void waiting_take_is_served_by_a_submit(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth"), late = office_hire(o, "synth");
    size_t first = worker_send(o, &synth, "take", ",\"wait_ms\":1000", NULL);
    size_t second = worker_send(o, &late, "take", ",\"wait_ms\":1000", NULL);
    office_submit(o, ALICE, "a", "small", "");
    assert_true(office_has_reply(o, first)); /* who asked first */
    assert_false(office_has_reply(o, second));
    office_pass(o, 1000);
    assert_true(json_is_null(json_object_get(office_reply(o, second), "job")));
    /* the request that waits comes again: the older copy is dropped, one reply is given */
    first = worker_send(o, &late, "take", ",\"wait_ms\":1000", NULL);
    late.seq--;
    second = worker_send(o, &late, "take", ",\"wait_ms\":1000", NULL);
    assert_true(office_was_dropped(o, first));
    office_submit(o, ALICE, "b", "small", "");
    assert_true(office_has_reply(o, second));
}

static void working_memory_is_a_resource(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth"), gpud = office_hire(o, "gpud");
    /* room for two syntheses of 1000 bytes, and a key takes one of them */
    o->config.host_memory = OFFICE_PAGES * FIXTURE_PAGE + 2500;
    office_restart(o);
    submit_many(o, 0, 3, "small");
    assert_true(is_ok(worker_ask(o, &gpud, "progress",
                                 ",\"running\":[],\"devices\":[{\"name\":\"cpu\",\"busy\":0.5,"
                                 "\"copy_gbps\":9}],\"keys\":[{\"circuit\":\"medium\",\"resident\":"
                                 "\"host\",\"bytes\":1000}],\"resynth\":0")));
    struct handle a = worker_take(o, &synth);
    assert_int_not_equal(a.generation, 0);
    assert_int_equal(worker_take(o, &synth).generation, 0);
    /* the idle key has to go */
    json_t *reply = worker_ask(o, &gpud, "next", ",\"wait_ms\":0,\"room\":1");
    json_t *evict = json_object_get(reply, "evict");
    assert_int_equal(json_array_size(evict), 1);
    assert_string_equal(json_string_value(json_array_get(evict, 0)), "medium");
    assert_true(
        is_ok(worker_ask(o, &gpud, "progress", ",\"running\":[],\"devices\":[],\"keys\":[]")));
    assert_int_not_equal(worker_take(o, &synth).generation, 0);
    assert_int_equal(worker_take(o, &synth).generation, 0);
    /* submitted: its working memory is free again, its bytes are not */
    assert_true(worker_says(o, &synth, "submitted", a, ""));
    assert_int_not_equal(worker_take(o, &synth).generation, 0);
}

static void slots_run_out(void **state)
{
    struct office *o = *state;
    struct worker a = office_hire(o, "synth"), b = office_hire(o, "synth");
    submit_many(o, 0, OFFICE_SLOTS + 1, "small");
    for (int i = 0; i < OFFICE_SLOTS; i++)
        assert_int_not_equal(worker_take(o, i % 2 ? &a : &b).generation, 0);
    assert_int_equal(worker_take(o, &a).generation, 0);
    assert_true(worker_says(o, &a, "failed", a.held[0], ",\"kind\":\"input\""));
    assert_int_not_equal(worker_take(o, &a).generation, 0);
}

/* ---- keys, circuits ---- */

static void key_in_use_stays(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    assert_true(
        is_ok(office_ask(o, OWNER, "{\"op\":\"keys\",\"protocol\":1,\"evict\":\"small\"}")));
    json_t *reply = worker_ask(o, &s.gpud, "next", ",\"wait_ms\":0,\"room\":1");
    assert_int_equal(json_array_size(json_object_get(reply, "evict")), 0);
    reply = office_ask(o, OWNER, "{\"op\":\"circuit_remove\",\"protocol\":1,\"name\":\"small\"}");
    assert_string_equal(error_code(reply), "refused");
    assert_true(worker_done(o, &s.gpud, s.h));
    reply = worker_ask(o, &s.gpud, "next", ",\"wait_ms\":0,\"room\":1");
    assert_int_equal(json_array_size(json_object_get(reply, "evict")), 1);
    assert_true(is_ok(
        office_ask(o, OWNER, "{\"op\":\"circuit_remove\",\"protocol\":1,\"name\":\"small\"}")));
    reply = control(o, ALICE, "circuit_list");
    assert_int_equal(json_array_size(json_object_get(reply, "circuits")), 2);
}

/* ---- leases ---- */

static void stuck_daemon_is_ended(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    struct process *p = &o->processes[1];
    char members[128];
    snprintf(members, sizeof members, ",\"running\":[[%u,%u,\"msm\",4000]]", s.h.slot,
             s.h.generation);
    for (int i = 0; i < 39; i++) { /* it talks, but stays in one stage: 10 x 4 s */
        assert_true(is_ok(worker_ask(o, &s.gpud, "progress", members)));
        office_pass(o, 1000);
        assert_int_equal(p->signal_count, 0);
    }
    for (int i = 0; i < 4; i++)
        office_pass(o, 1000);
    assert_int_equal(p->signals[0], SIGTERM);
    assert_int_equal(office_slot_state(o, s.h), SLOT_PROVING); /* not dead yet */
    office_pass(o, 5000);
    assert_int_equal(p->signals[1], SIGKILL);
    office_kill(o, &s.gpud);
    assert_int_equal(office_slot_state(o, s.h), SLOT_SUBMITTED);
    assert_true(office_job(o, "j").suspect);
}

static void silent_daemon_is_ended_when_there_is_work(void **state)
{
    struct office *o = *state;
    struct worker gpud = office_hire(o, "gpud"), synth = office_hire(o, "synth");
    office_pass(o, 50000);
    office_pass(o, 50000);
    assert_int_equal(o->processes[0].signal_count, 0); /* idle: nothing to do, nothing to say */
    assert_true(is_ok(worker_ask(o, &gpud, "progress", "")));
    office_submit(o, ALICE, "j", "small", "");
    struct handle h = worker_take(o, &synth);
    assert_true(worker_says(o, &synth, "submitted", h, ""));
    office_pass(o, 31000);
    office_pass(o, 1000);
    assert_int_equal(o->processes[0].signal_count, 1);
}

/* A coordinator that was stopped itself has heard nothing from anybody. */
static void time_away_is_nobodys_silence(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    char members[128];
    snprintf(members, sizeof members, ",\"running\":[[%u,%u,\"msm\",1000]]", s.h.slot,
             s.h.generation);
    assert_true(is_ok(worker_ask(o, &s.gpud, "progress", members)));
    o->clock += 500000;
    desk_was_away(o->desk);
    for (int i = 0; i < 25; i++)
        office_pass(o, 1000);
    assert_int_equal(o->processes[1].signal_count, 0);
    for (int i = 0; i < 10; i++) /* from now on it is silent */
        office_pass(o, 1000);
    assert_int_equal(o->processes[1].signals[0], SIGTERM);
}

static void lease_is_renewed_by_the_next_job(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth");
    submit_many(o, 0, 2, "small");
    struct handle h = worker_take(o, &synth);
    office_pass(o, 101000); /* warned */
    assert_true(worker_says(o, &synth, "submitted", h, ""));
    assert_int_not_equal(worker_take(o, &synth).generation, 0);
    office_pass(o, 20000);
    office_pass(o, 20000);
    assert_int_equal(o->processes[0].signal_count, 0);
}

/* ---- scrubbing ---- */

static uint8_t flags_of(struct office *o, struct handle h)
{
    struct slice_record r;
    assert_done(ledger_read(o->ledger, h, &r));
    return r.flags;
}

static uint8_t flags_of_next(struct office *o, struct worker *synth, uint32_t uid, const char *id)
{
    office_submit(o, uid, id, "big", "");
    struct handle h = worker_take(o, synth);
    uint8_t flags = flags_of(o, h);
    assert_true(worker_says(o, synth, "failed", h, ",\"kind\":\"input\""));
    return flags;
}

static void bytes_of_another_are_scrubbed(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth");
    assert_int_equal(flags_of_next(o, &synth, ALICE, "a"), 0); /* a new arena is zero */
    assert_int_equal(flags_of_next(o, &synth, ALICE, "b"), 0);
    assert_int_equal(flags_of_next(o, &synth, BOB, "c"), SLOT_SCRUB);
    assert_int_equal(flags_of_next(o, &synth, BOB, "d"), 0);
    assert_int_equal(flags_of_next(o, &synth, ALICE, "e"), SLOT_SCRUB);
    office_restart(o); /* nobody remembers */
    assert_int_equal(flags_of_next(o, &synth, ALICE, "f"), SLOT_SCRUB);
    assert_int_equal(flags_of_next(o, &synth, ALICE, "g"), 0);
}

/* ---- drain ---- */

static void drain_grants_no_more(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_WRITING);
    office_submit(o, ALICE, "later", "small", "");
    json_t *reply = control(o, OWNER, "drain");
    assert_true(json_is_true(json_object_get(reply, "draining")));
    assert_false(json_is_true(json_object_get(reply, "drained")));
    assert_int_equal(worker_take(o, &s.synth).generation, 0);
    office_submit(o, ALICE, "accepted", "small", "");
    assert_true(worker_says(o, &s.synth, "submitted", s.h, ""));
    assert_int_equal(worker_next(o, &s.gpud, 1), 1);
    assert_true(worker_done(o, &s.gpud, s.h));
    assert_true(desk_is_idle(o->desk));
    assert_true(json_is_true(json_object_get(control(o, ALICE, "status"), "drained")));
    assert_true(is_ok(office_ask(o, OWNER, "{\"op\":\"drain\",\"protocol\":1,\"on\":false}")));
    assert_int_not_equal(worker_take(o, &s.synth).generation, 0);
}

/* ---- a journal that fails ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The disk is full while a result is to be recorded: nobody is told, nothing is lost, and the
 * repeated request succeeds when there is room. */
static void full_disk_loses_nothing(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    char members[64];
    (void)signal(SIGXFSZ, SIG_IGN);
    office_pass(o, 10);
    snprintf(members, sizeof members, ",\"handle\":[%u,%u]", s.h.slot, s.h.generation);
    limit_files(4096);
    size_t token = worker_send(o, &s.gpud, "done", members, "{\"proof\":1,\"public\":[]}");
    for (int i = 0; i < 5; i++)
        office_pass(o, 1100);
    assert_true(office_was_dropped(o, token));
    assert_int_equal(office_slot_state(o, s.h), SLOT_PROVING);
    limit_files(RLIM_INFINITY);
    office_pass(o, 1100);
    s.gpud.seq--;
    token = worker_send(o, &s.gpud, "done", members, "{\"proof\":1,\"public\":[]}");
    assert_true(is_ok(office_reply(o, token)));
    assert_int_equal(office_job(o, "j").state, JOB_DONE);
    assert_int_equal(office_slot_state(o, s.h), SLOT_FREE);
}

static bool in_spool(struct office *o, const char *id)
{
    uint64_t size;
    enum status st = spool_size(o->spool, &size, id);
    status_clear();
    return st == ST_OK;
}

/* An input whose commit is lost is nobody's: it neither stays nor becomes another job's. */
static void full_disk_leaves_no_input_behind(void **state)
{
    struct office *o = *state;
    static const char commit[] = "{\"op\":\"commit\",\"protocol\":1,\"id\":\"j\"}";
    (void)signal(SIGXFSZ, SIG_IGN);
    office_submit(o, BOB, "other", "small", "");
    office_announce(o, ALICE, "j", "small", "");
    limit_files(4096);
    size_t token = office_send(o, ALICE, 0, "%s", commit);
    for (int i = 0; i < 3; i++)
        office_pass(o, 1100);
    assert_true(office_was_dropped(o, token));
    assert_false(in_spool(o, "j"));
    assert_true(in_spool(o, "other"));
    limit_files(RLIM_INFINITY);
    office_pass(o, 1100);
    assert_string_equal(error_code(office_ask(o, ALICE, "%s", commit)), "unknown");
    office_submit(o, BOB, "j", "small", "");
    assert_int_equal(office_job(o, "j").uid, BOB);
}

/* However many jobs have ended since the last time, what is kept stays within its limit. */
static void journal_is_pruned_as_fast_as_it_grows(void **state)
{
    enum { ENDED = 1000 };
    struct office *o = *state;
    uint64_t counts[JOB_STATES];
    struct job_result none = {.proof = NULL};
    int64_t now = (int64_t)time(NULL) * 1000;
    o->config.journal_keep = 10;
    for (int i = 0; i < ENDED; i++) {
        struct job job;
        bool fresh;
        struct job_request r = {.uid = ALICE, .circuit = "small"};
        assert_int_equal(journal_submit(o->journal, &job, &fresh, &r, now), ST_OK);
        assert_int_equal(journal_finish(o->journal, job.number, JOB_CANCELLED, &none, now), ST_OK);
    }
    office_pass(o, 61000);
    for (int i = 0; i < 5; i++)
        office_pass(o, 1000);
    assert_int_equal(journal_count(o->journal, counts, true, 0), ST_OK);
    assert_int_equal(counts[JOB_CANCELLED], 10);
}

int main(void)
{
#define ROOM_TEST(f) cmocka_unit_test_setup_teardown(f, office_setup, office_teardown)
    const struct CMUnitTest tests[] = {
        ROOM_TEST(big_job_is_not_starved),
        ROOM_TEST(lean_on_demand),
        ROOM_TEST(waiting_take_is_served_by_a_submit),
        ROOM_TEST(working_memory_is_a_resource),
        ROOM_TEST(slots_run_out),
        ROOM_TEST(key_in_use_stays),
        ROOM_TEST(stuck_daemon_is_ended),
        ROOM_TEST(silent_daemon_is_ended_when_there_is_work),
        ROOM_TEST(time_away_is_nobodys_silence),
        ROOM_TEST(lease_is_renewed_by_the_next_job),
        ROOM_TEST(bytes_of_another_are_scrubbed),
        ROOM_TEST(drain_grants_no_more),
        ROOM_TEST(full_disk_loses_nothing),
        ROOM_TEST(full_disk_leaves_no_input_behind),
        ROOM_TEST(journal_is_pruned_as_fast_as_it_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
