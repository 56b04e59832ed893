/* Every cell of the state table: a slice in each state, and what happens to it when its synthesis
 * process, its daemon or the coordinator dies, and when a message is lost or comes again. */
#include "tests/unit/desk_fixture.h"

static void is_in(struct office *o, const struct scene *s, enum slot_state state,
                  enum job_state job)
{
    assert_int_equal(office_slot_state(o, s->h), state);
    assert_int_equal(office_job(o, "j").state, job);
}

/* The job goes on to its end from wherever it is. */
static void finish(struct office *o, struct scene *s)
{
    assert_int_equal(worker_next(o, &s->gpud, 1), 1);
    struct handle h = s->gpud.held[s->gpud.held_count - 1];
    assert_true(worker_says(o, &s->gpud, "copied", h, ""));
    assert_true(worker_done(o, &s->gpud, h));
    assert_int_equal(office_job(o, "j").state, JOB_DONE);
    assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
}

static void finish_anew(struct office *o, struct scene *s)
{
    struct worker synth = office_hire(o, "synth");
    struct handle h = worker_take(o, &synth);
    assert_int_not_equal(h.generation, 0);
    assert_true(worker_says(o, &synth, "submitted", h, ""));
    finish(o, s);
}

/* ---- the synthesis process dies ---- */

static void synth_dies_writing(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_WRITING);
    office_kill(o, &s.synth);
    is_in(o, &s, SLOT_FREE, JOB_WAITING);
    assert_int_equal(office_job(o, "j").synth_deaths, 1);
    struct slice_record r;
    assert_done(ledger_read_slot(o->ledger, s.h.slot, &r));
    assert_int_equal(r.generation, s.h.generation + 1);
    assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
    finish_anew(o, &s);
}

static void synth_dies_later(void **state)
{
    struct office *o = *state;
    for (enum slot_state at = SLOT_SUBMITTED; at <= SLOT_LEAN; at++) {
        struct scene s = office_stage(o, at);
        office_kill(o, &s.synth);
        is_in(o, &s, at, JOB_RUNNING);
        if (at == SLOT_SUBMITTED) {
            finish(o, &s);
        } else {
            if (at == SLOT_COPYING)
                assert_true(worker_says(o, &s.gpud, "copied", s.h, ""));
            assert_true(worker_done(o, &s.gpud, s.h));
        }
        assert_int_equal(office_job(o, "j").synth_deaths, 0);
        assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
        office_kill(o, &s.gpud);
        size_t removed;
        assert_done(journal_prune(o->journal, &removed, 0, INT64_MAX));
        assert_int_equal(removed, 1);
    }
}

static void quarantine_ends_with_the_process(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_WRITING);
    office_pass(o, 100000); /* the lease: a warning */
    assert_int_equal(o->processes[0].signal_count, 0);
    is_in(o, &s, SLOT_WRITING, JOB_RUNNING);
    office_pass(o, 10000);
    assert_int_equal(o->processes[0].signal_count, 1);
    assert_int_equal(o->processes[0].signals[0], 15);
    is_in(o, &s, SLOT_QUARANTINE, JOB_WAITING);
    assert_int_equal(office_free_bytes(o), (OFFICE_PAGES - 3) * FIXTURE_PAGE);
    /* what the zombie says now changes nothing */
    assert_false(worker_says(o, &s.synth, "submitted", s.h, ""));
    s.synth.held[s.synth.held_count++] = s.h;
    is_in(o, &s, SLOT_QUARANTINE, JOB_WAITING);
    office_restart(o);
    is_in(o, &s, SLOT_QUARANTINE, JOB_WAITING);
    office_pass(o, 5000);
    assert_int_equal(o->processes[0].signals[1], 9);
    is_in(o, &s, SLOT_QUARANTINE, JOB_WAITING);
    office_kill(o, &s.synth);
    is_in(o, &s, SLOT_FREE, JOB_WAITING);
    finish_anew(o, &s);
}

/* ---- the daemon dies ---- */

static void gpud_dies(void **state)
{
    struct office *o = *state;
    for (enum slot_state at = SLOT_WRITING; at <= SLOT_PROVING; at++) {
        struct scene s = office_stage(o, at);
        office_kill(o, &s.gpud);
        enum slot_state after = at == SLOT_WRITING ? SLOT_WRITING : SLOT_SUBMITTED;
        is_in(o, &s, after, JOB_RUNNING);
        assert_int_equal(office_job(o, "j").suspect, at > SLOT_SUBMITTED);
        s.gpud = office_hire(o, "gpud");
        if (at == SLOT_WRITING)
            assert_true(worker_says(o, &s.synth, "submitted", s.h, ""));
        finish(o, &s);
        assert_int_equal(office_job(o, "j").attempts, 1); /* never synthesized again */
        office_kill(o, &s.gpud);
        office_kill(o, &s.synth);
        size_t removed;
        assert_done(journal_prune(o->journal, &removed, 0, INT64_MAX));
    }
}

static void gpud_dies_lean(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_LEAN);
    office_submit(o, ALICE, "later", "small", "");
    office_kill(o, &s.gpud);
    is_in(o, &s, SLOT_FREE, JOB_WAITING);
    assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
    json_t *status = office_ask(o, ALICE, "{\"op\":\"status\",\"protocol\":1}");
    assert_int_equal(json_integer_value(json_object_get(status, "resynthesized")), 1);
    s.gpud = office_hire(o, "gpud");
    finish_anew(o, &s); /* before "later": at the head of its class */
    assert_int_equal(office_job(o, "j").attempts, 2);
    assert_int_equal(office_job(o, "later").state, JOB_WAITING);
}

/* The daemon dies, then the coordinator, before the result is on disk: the slice is still there, and
 * nothing is synthesized again. */
static void result_is_lost_with_both(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    char members[64];
    snprintf(members, sizeof members, ", \"handle\": [%u, %u]", s.h.slot, s.h.generation);
    worker_send(o, &s.gpud, "done", members, "{\"proof\": {}, \"public\": []}");
    office_kill(o, &s.gpud);
    assert_int_equal(office_slot_state(o, s.h), SLOT_SUBMITTED);
    office_crash(o);
    office_start(o);
    is_in(o, &s, SLOT_SUBMITTED, JOB_RUNNING);
    s.gpud = office_hire(o, "gpud");
    finish(o, &s);
    assert_int_equal(office_job(o, "j").attempts, 1);
}

/* The same, but only the daemon dies: the result stands, and the slice is free. */
static void result_outlives_its_daemon(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    char members[64];
    snprintf(members, sizeof members, ", \"handle\": [%u, %u]", s.h.slot, s.h.generation);
    worker_send(o, &s.gpud, "done", members, "{\"proof\": {}, \"public\": []}");
    office_kill(o, &s.gpud);
    office_pass(o, 10);
    is_in(o, &s, SLOT_FREE, JOB_DONE);
    assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
}

/* ---- the coordinator dies ---- */

static void coordinator_dies(void **state)
{
    struct office *o = *state;
    for (enum slot_state at = SLOT_WRITING; at <= SLOT_LEAN; at++) {
        struct scene s = office_stage(o, at);
        office_restart(o);
        is_in(o, &s, at, JOB_RUNNING);
        if (at == SLOT_WRITING)
            assert_true(worker_says(o, &s.synth, "submitted", s.h, ""));
        if (at <= SLOT_SUBMITTED)
            assert_int_equal(worker_next(o, &s.gpud, 1), 1);
        if (at <= SLOT_COPYING)
            assert_true(worker_says(o, &s.gpud, "copied", s.h, ""));
        assert_true(worker_done(o, &s.gpud, s.h));
        assert_int_equal(office_job(o, "j").attempts, 1);
        assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
        office_kill(o, &s.gpud);
        office_kill(o, &s.synth);
        size_t removed;
        assert_done(journal_prune(o->journal, &removed, 0, INT64_MAX));
    }
}

static void owner_dies_with_the_coordinator(void **state)
{
    struct office *o = *state;
    for (enum slot_state at = SLOT_WRITING; at <= SLOT_LEAN; at++) {
        struct scene s = office_stage(o, at);
        office_crash(o);
        office_kill(o, &s.synth);
        office_kill(o, &s.gpud);
        office_start(o);
        office_pass(o, 10);
        bool kept = at == SLOT_SUBMITTED || at == SLOT_COPYING || at == SLOT_PROVING;
        is_in(o, &s, kept ? SLOT_SUBMITTED : SLOT_FREE, kept ? JOB_RUNNING : JOB_WAITING);
        s.gpud = office_hire(o, "gpud");
        if (kept)
            finish(o, &s);
        else
            finish_anew(o, &s);
        for (size_t i = o->process_count; i-- > 0;)
            office_kill(o, &(struct worker){.pid = o->processes[i].pid});
        size_t removed;
        assert_done(journal_prune(o->journal, &removed, 0, INT64_MAX));
    }
}

/* The start of the job was not committed, but the ledger has the slice. */
static void coordinator_dies_before_the_commit_of_a_grant(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth");
    office_submit(o, ALICE, "j", "small", "");
    struct handle h = worker_take(o, &synth);
    office_restart(o); /* within 5 ms: nothing is committed yet */
    office_pass(o, 10);
    assert_int_equal(office_job(o, "j").state, JOB_RUNNING);
    assert_int_equal(office_slot_state(o, h), SLOT_WRITING);
    assert_true(worker_says(o, &synth, "submitted", h, ""));
}

/* DONE was not committed: the daemon, without an answer, says it again. */
static void coordinator_dies_before_the_commit_of_a_result(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    char members[128];
    snprintf(members, sizeof members, ",\"handle\":[%u,%u]", s.h.slot, s.h.generation);
    worker_let_go(&s.gpud, s.h);
    size_t token = worker_send(o, &s.gpud, "done", members, "{\"proof\":1,\"public\":[]}");
    assert_false(office_has_reply(o, token)); /* not before it is on disk */
    office_crash(o);
    assert_true(office_was_dropped(o, token));
    office_start(o);
    is_in(o, &s, SLOT_PROVING, JOB_RUNNING);
    s.gpud.seq--;
    token = worker_send(o, &s.gpud, "done", members, "{\"proof\":1,\"public\":[]}");
    assert_true(is_ok(office_reply(o, token)));
    is_in(o, &s, SLOT_FREE, JOB_DONE);
}

/* Committed, but the slice not freed: its user acknowledges. */
static void coordinator_dies_after_the_commit_of_a_result(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    struct job job = office_job(o, "j");
    struct job_result result = {.proof = "1", .publics = "[]"};
    assert_done(journal_finish(o->journal, job.number, JOB_DONE, &result, 1));
    assert_done(journal_commit(o->journal));
    office_restart(o);
    is_in(o, &s, SLOT_PROVING, JOB_DONE);
    assert_true(worker_done(o, &s.gpud, s.h));
    is_in(o, &s, SLOT_FREE, JOB_DONE);
}

/* A ledger that knows a job the journal does not. */
static void unknown_job_is_quarantined(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_WRITING);
    office_crash(o);
    char path[512];
    for (int i = 0; i < 3; i++) {
        static const char *const suffix[] = {"", "-wal", "-shm"};
        snprintf(path, sizeof path, "%s/journal.db%s", o->dir, suffix[i]);
        (void)unlink(path);
    }
    office_start(o);
    assert_int_equal(office_slot_state(o, s.h), SLOT_QUARANTINE);
    office_kill(o, &s.synth);
    assert_int_equal(office_slot_state(o, s.h), SLOT_FREE);
}

/* ---- messages ---- */

static void repeated_requests_have_one_effect(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth"), gpud = office_hire(o, "gpud");
    office_submit(o, ALICE, "j", "small", "");
    office_submit(o, ALICE, "k", "small", "");
    struct handle h = worker_take(o, &synth);
    worker_let_go(&synth, h); /* its list was made before the grant */
    synth.seq--;
    json_t *again = worker_ask(o, &synth, "take", ",\"wait_ms\":0");
    json_t *pair = json_object_get(again, "handle");
    assert_int_equal(json_integer_value(json_array_get(pair, 0)), h.slot);
    assert_int_equal(json_integer_value(json_array_get(pair, 1)), h.generation);
    assert_int_equal(office_job(o, "k").state, JOB_WAITING);

    /* the same after a restart, when the reply itself is lost */
    office_restart(o);
    synth.seq--;
    again = worker_ask(o, &synth, "take", ",\"wait_ms\":0");
    pair = json_object_get(again, "handle");
    assert_int_equal(json_integer_value(json_array_get(pair, 0)), h.slot);
    assert_int_equal(json_integer_value(json_array_get(pair, 1)), h.generation);

    synth.held[synth.held_count++] = h;
    assert_true(worker_says(o, &synth, "submitted", h, ""));
    assert_true(worker_says(o, &synth, "submitted", h, "")); /* acknowledged again */
    assert_int_equal(worker_next(o, &gpud, 1), 1);
    assert_true(worker_says(o, &gpud, "copied", h, ""));
    assert_true(worker_says(o, &gpud, "copied", h, ""));
    assert_true(worker_done(o, &gpud, h));
    assert_false(worker_done(o, &gpud, h)); /* stale by now */
    assert_int_equal(office_job(o, "j").attempts, 1);
}

static void lost_hand_out_is_said_again_after_a_restart(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_SUBMITTED);
    office_submit(o, ALICE, "k", "small", "");
    assert_int_equal(worker_next(o, &s.gpud, 1), 1);
    worker_let_go(&s.gpud, s.h);
    office_restart(o);
    s.gpud.seq--;
    assert_int_equal(worker_next(o, &s.gpud, 1), 1);
    assert_int_equal(s.gpud.held[0].slot, s.h.slot);
    assert_int_equal(s.gpud.held[0].generation, s.h.generation);
}

static void late_duplicate_is_stale(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_SUBMITTED);
    office_submit(o, ALICE, "k", "small", "");
    s.synth.seq -= 2; /* the take, once more, from the network */
    json_t *reply = worker_ask(o, &s.synth, "take", ",\"wait_ms\":0");
    assert_string_equal(error_code(reply), "stale");
    assert_int_equal(office_job(o, "k").state, JOB_WAITING);
    is_in(o, &s, SLOT_SUBMITTED, JOB_RUNNING);
}

static void stale_generation_is_refused(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_WRITING);
    office_kill(o, &s.synth);
    struct worker other = office_hire(o, "synth");
    struct handle now = worker_take(o, &other);
    static const char *const ops[] = {"submitted", "failed"};
    for (size_t i = 0; i < 2; i++) {
        struct handle old = {.slot = now.slot, .generation = now.generation - 1};
        assert_false(worker_says(o, &other, ops[i], old, ",\"kind\":\"internal\""));
        assert_int_equal(office_slot_state(o, now), SLOT_WRITING);
    }
    struct handle far = {.slot = 70000, .generation = 1};
    assert_false(worker_says(o, &other, "submitted", far, ""));
    /* and another's slice */
    struct worker thief = office_hire(o, "synth");
    assert_false(worker_says(o, &thief, "submitted", now, ""));
    assert_int_equal(office_slot_state(o, now), SLOT_WRITING);
}

/* A daemon of an earlier epoch, still talking after its death was confirmed. */
static void old_epoch_is_ignored(void **state)
{
    struct office *o = *state;
    for (enum slot_state at = SLOT_COPYING; at <= SLOT_PROVING; at++) {
        struct scene s = office_stage(o, at);
        struct worker old = s.gpud;
        office_kill(o, &old);
        s.gpud = office_hire(o, "gpud");
        assert_int_equal(worker_next(o, &s.gpud, 1), 1);
        char members[64];
        snprintf(members, sizeof members, ",\"handle\":[%u,%u]", s.h.slot, s.h.generation);
        json_t *reply = worker_ask(o, &old, "copied", members);
        assert_string_equal(error_code(reply), "unknown-client");
        is_in(o, &s, SLOT_COPYING, JOB_RUNNING);
        assert_true(worker_done(o, &s.gpud, s.h));
        office_kill(o, &s.gpud);
        office_kill(o, &s.synth);
        size_t removed;
        assert_done(journal_prune(o->journal, &removed, 0, INT64_MAX));
    }
}

static void missing_from_the_list_is_freed(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_WRITING);
    worker_let_go(&s.synth, s.h); /* the reply never came, and the request was given up */
    struct handle again = worker_take(o, &s.synth);
    assert_int_equal(office_slot_state(o, s.h), SLOT_FREE);
    assert_int_not_equal(again.generation, 0);
    assert_int_equal(office_job(o, "j").synth_deaths, 0);
    assert_true(worker_says(o, &s.synth, "submitted", again, ""));

    assert_int_equal(worker_next(o, &s.gpud, 1), 1);
    worker_let_go(&s.gpud, again);
    assert_int_equal(worker_next(o, &s.gpud, 0), 0);
    assert_int_equal(office_slot_state(o, again), SLOT_SUBMITTED);
    assert_false(office_job(o, "j").suspect);
}

int main(void)
{
#define STATE_TEST(f) cmocka_unit_test_setup_teardown(f, office_setup, office_teardown)
    const struct CMUnitTest tests[] = {
        STATE_TEST(synth_dies_writing),
        STATE_TEST(synth_dies_later),
        STATE_TEST(quarantine_ends_with_the_process),
        STATE_TEST(gpud_dies),
        STATE_TEST(gpud_dies_lean),
        STATE_TEST(result_is_lost_with_both),
        STATE_TEST(result_outlives_its_daemon),
        STATE_TEST(coordinator_dies),
        STATE_TEST(owner_dies_with_the_coordinator),
        STATE_TEST(coordinator_dies_before_the_commit_of_a_grant),
        STATE_TEST(coordinator_dies_before_the_commit_of_a_result),
        STATE_TEST(coordinator_dies_after_the_commit_of_a_result),
        STATE_TEST(unknown_job_is_quarantined),
        STATE_TEST(repeated_requests_have_one_effect),
        STATE_TEST(lost_hand_out_is_said_again_after_a_restart),
        STATE_TEST(late_duplicate_is_stale),
        STATE_TEST(stale_generation_is_refused),
        STATE_TEST(old_epoch_is_ignored),
        STATE_TEST(missing_from_the_list_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
