/* Jobs at the desk: submitted, waited for, cancelled, held, tried again; and who may do what. */
#include "tests/unit/desk_fixture.h"

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

static json_t *job_op(struct office *o, uint32_t uid, const char *op, const char *id)
{
    return office_ask(o, uid, "{\"op\":\"%s\",\"protocol\":1,\"id\":\"%s\"}", op, id);
}

static json_t *submit(struct office *o, uint32_t uid, const char *members)
{
    return office_ask(o, uid, "{\"op\":\"submit\",\"protocol\":1,\"sha256\":\"%s\"%s}", zeros,
                      members);
}

/* ---- submitting ---- */

static void accepted_means_on_disk(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "kept", "small", ",\"priority\":\"high\"");
    char text[] = "{\"op\":\"commit\",\"protocol\":1,\"id\":\"lost\"}";
    json_t *reply = office_ask(o, ALICE,
                               "{\"op\":\"submit\",\"protocol\":1,\"id\":\"lost\",\"circuit\":"
                               "\"small\",\"size\":7,\"sha256\":"
                               "\"7b6f1cd64e4d2b17fcd98ea63fa3ae63f45ee0b1d6b5a8fcb5bc1e5c4b1b2f5f"
                               "\"}");
    assert_true(is_ok(reply));
    size_t token = office_send_bytes(o, ALICE, 0, text, NULL);
    assert_string_equal(error_code(office_reply(o, token)), "input"); /* nothing was uploaded */
    office_restart(o);
    assert_int_equal(office_job(o, "kept").priority, PRIORITY_HIGH);
    assert_string_equal(error_code(job_op(o, ALICE, "commit", "lost")), "unknown");
    assert_true(is_ok(job_op(o, ALICE, "commit", "kept"))); /* again */
}

static void commit_waits_for_the_disk(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "first", "small", "");
    /* the same id and request once more: known, and no upload wanted */
    office_submit(o, ALICE, "first", "small", "");
    assert_int_equal(office_job(o, "first").number, 1);
    json_t *other = submit(o, ALICE, ",\"id\":\"first\",\"circuit\":\"small\",\"size\":7");
    assert_string_equal(error_code(other), "refused");
    other = submit(o, BOB, ",\"id\":\"first\",\"circuit\":\"small\",\"size\":7");
    assert_string_equal(error_code(other), "refused");
}

static void generates_an_id(void **state)
{
    struct office *o = *state;
    json_t *reply = submit(o, ALICE, ",\"circuit\":\"small\",\"size\":9");
    const char *id = json_string_value(json_object_get(reply, "id"));
    assert_int_equal(strlen(id), 32);
    json_t *upload = json_object_get(reply, "upload");
    assert_int_equal(json_integer_value(json_object_get(upload, "offset")), 0);
    assert_int_equal(json_integer_value(json_object_get(upload, "size")), 9);
}

static void refuses_what_can_never_run(void **state)
{
    struct office *o = *state;
    static const struct {
        const char *members, *code;
    } cases[] = {
        {",\"circuit\":\"none\",\"size\":7", "input"},
        {",\"circuit\":\"../x\",\"size\":7", "input"},
        {",\"circuit\":\"small\",\"size\":0", "input"},
        {",\"circuit\":\"small\",\"size\":-1", "input"},
        {",\"circuit\":\"small\"", "input"},
        {",\"circuit\":\"small\",\"size\":7,\"priority\":\"huge\"", "input"},
        {",\"circuit\":\"small\",\"size\":7,\"id\":\"a/b\"", "input"},
        {",\"circuit\":\"small\",\"size\":7,\"seed\":\"00\"", "input"},
        {",\"circuit\":\"huge\",\"size\":7", "refused"},
        {",\"circuit\":\"greedy\",\"size\":7", "refused"},
    };
    const struct {
        const char *name, *text;
    } keys[] = {{"huge", "4096 200000 200000 1000"}, {"greedy", "4096 4096 4096 100000000"}};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        enum store_progress progress = STORE_ADDING;
        snprintf(path, sizeof path, "%s/key-%s", o->dir, keys[i].name);
        FILE *f = fopen(path, "w");
        assert_true(fputs(keys[i].text, f) >= 0 && fclose(f) == 0);
        while (progress != STORE_READY)
            assert_done(store_add(o->store, &progress, keys[i].name, path, NULL));
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(error_code(submit(o, ALICE, cases[i].members)), cases[i].code);
    char seed[129], members[256];
    memset(seed, '1', 128);
    seed[128] = '\0';
    snprintf(members, sizeof members, ",\"circuit\":\"small\",\"size\":7,\"seed\":\"%s\"", seed);
    assert_string_equal(error_code(submit(o, ALICE, members)), "refused");
    o->config.allow_seed = true;
    assert_true(is_ok(submit(o, ALICE, members)));
}

static void broken_requests_are_refused(void **state)
{
    struct office *o = *state;
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"op\":\"status\"}",
        "{\"op\":\"status\",\"protocol\":2}",
        "{\"op\":7,\"protocol\":1}",
        "{\"protocol\":1}",
        "{\"op\":\"fly\",\"protocol\":1}",
        "{\"op\":\"take\",\"protocol\":1}",
        "{\"op\":\"take\",\"protocol\":1,\"client\":0}",
        "{\"op\":\"take\",\"protocol\":1,\"client\":9999999999,\"incarnation\":\"1\",\"seq\":1}",
        "{\"op\":\"take\",\"protocol\":1,\"client\":3,\"incarnation\":\"1\",\"seq\":1}",
        "{\"op\":\"hello\",\"protocol\":1}",
        "{\"op\":\"wait\",\"protocol\":1,\"id\":\"\\u0000\"}",
        "{\"op\":\"list\",\"protocol\":1,\"limit\":100000}",
        "{\"op\":\"upload\",\"protocol\":1,\"id\":\"x\",\"offset\":0}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *reply = office_reply(o, office_send_bytes(o, ALICE, 0, texts[i], NULL));
        assert_false(is_ok(reply));
        assert_int_not_equal(strlen(error_code(reply)), 0);
    }
}

/* ---- waiting for a job ---- */

static void wait_tells_the_end(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    size_t parked = office_send(o, ALICE, 0,
                                "{\"op\":\"wait\",\"protocol\":1,\"id\":\"j\",\"wait_ms\":1000,"
                                "\"proof\":true}");
    office_pass(o, 500);
    assert_false(office_has_reply(o, parked));
    assert_true(worker_done(o, &s.gpud, s.h));
    assert_true(office_has_reply(o, parked));
    json_t *reply = office_reply(o, parked);
    assert_string_equal(json_string_value(json_object_get(reply, "state")), "done");
    json_t *stages = json_object_get(reply, "stages");
    assert_true(json_real_value(json_object_get(stages, "ntt")) == 2.5);
    assert_string_equal(office_payload(o, parked),
                        "{\"proof\":{\"pi_a\":[\"1\"]},\"public\":[\"7\"]}");
    /* without a wait, and without a proof */
    reply = job_op(o, ALICE, "wait", "j");
    assert_string_equal(json_string_value(json_object_get(reply, "state")), "done");
}

static void wait_is_never_longer_than_a_second(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "a", "small", "");
    office_submit(o, ALICE, "b", "small", "");
    size_t parked =
        office_send(o, ALICE, 0, "{\"op\":\"wait\",\"protocol\":1,\"id\":\"b\",\"wait_ms\":1000}");
    office_pass(o, 1000);
    assert_true(office_has_reply(o, parked));
    json_t *reply = office_reply(o, parked);
    assert_string_equal(json_string_value(json_object_get(reply, "state")), "waiting");
    assert_int_equal(json_integer_value(json_object_get(reply, "position")), 1);
}

/* Who waits, however often, leaves room for others at the desk. */
static void many_waits_are_answered_at_once(void **state)
{
    enum { WAITS = 32 };
    struct office *o = *state;
    office_submit(o, ALICE, "a", "small", "");
    office_submit(o, BOB, "b", "small", "");
    static const char wait[] = "{\"op\":\"wait\",\"protocol\":1,\"id\":\"%s\",\"wait_ms\":1000}";
    for (int i = 0; i < WAITS; i++)
        assert_false(office_has_reply(o, office_send(o, ALICE, 0, wait, "a")));
    size_t token = office_send(o, ALICE, 0, wait, "a");
    assert_true(office_has_reply(o, token));
    json_t *reply = office_reply(o, token);
    assert_string_equal(json_string_value(json_object_get(reply, "state")), "waiting");
    assert_false(office_has_reply(o, office_send(o, BOB, 0, wait, "b")));
}

/* ---- rights ---- */

static json_int_t waiting_jobs(struct office *o, uint32_t uid)
{
    json_t *status = office_ask(o, uid, "{\"op\":\"status\",\"protocol\":1}");
    return json_integer_value(json_object_get(json_object_get(status, "jobs"), "waiting"));
}

static void users_see_and_cancel_their_own_jobs(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "hers", "small", "");
    office_submit(o, BOB, "his", "small", "");
    static const char *const ops[] = {"wait", "cancel", "retry"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(error_code(job_op(o, BOB, ops[i], "hers")), "input");
    assert_int_equal(office_job(o, "hers").state, JOB_WAITING);
    json_t *list = json_object_get(office_ask(o, BOB, "{\"op\":\"list\",\"protocol\":1}"), "jobs");
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "id")), "his");
    list = json_object_get(office_ask(o, OWNER, "{\"op\":\"list\",\"protocol\":1}"), "jobs");
    assert_int_equal(json_array_size(list), 2);
    assert_int_equal(waiting_jobs(o, BOB), 1);
    assert_int_equal(waiting_jobs(o, OWNER), 2);
    assert_true(is_ok(job_op(o, BOB, "cancel", "his")));
    assert_true(is_ok(job_op(o, OWNER, "cancel", "hers")));
    assert_int_equal(office_job(o, "hers").state, JOB_CANCELLED);
}

static void only_admins_operate(void **state)
{
    struct office *o = *state;
    static const char *const requests[] = {
        "{\"op\":\"drain\",\"protocol\":1,\"on\":true}",
        "{\"op\":\"circuit_remove\",\"protocol\":1,\"name\":\"small\"}",
        "{\"op\":\"circuit_add\",\"protocol\":1,\"name\":\"x\",\"key\":\"/etc/passwd\"}",
        "{\"op\":\"keys\",\"protocol\":1,\"evict\":\"small\"}",
    };
    for (size_t i = 0; i < 4; i++) {
        json_t *reply = office_reply(o, office_send_bytes(o, ALICE, 0, requests[i], NULL));
        assert_string_equal(error_code(reply), "refused");
    }
    assert_true(is_ok(office_ask(o, OWNER, "%s", requests[0])));
    assert_true(is_ok(office_ask(o, ALICE, "{\"op\":\"keys\",\"protocol\":1}")));
}

static size_t say_hello(struct office *o, uint32_t uid, int32_t peer, const char *role, int32_t pid,
                        int start_time, int incarnation)
{
    return office_send(o, uid, peer,
                       "{\"op\":\"hello\",\"protocol\":1,\"role\":\"%s\",\"pid\":%d,"
                       "\"start_time\":\"%d\",\"incarnation\":\"%x\",\"seq\":1}",
                       role, pid, start_time, (unsigned)incarnation);
}

static void strangers_are_no_workers(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth"); /* pid 100 */
    size_t token = say_hello(o, ALICE, 100, "synth", 100, 1000, 77);
    assert_string_equal(error_code(office_reply(o, token)), "refused"); /* another user */
    token = say_hello(o, OWNER, 101, "synth", 100, 1000, 77);
    assert_string_equal(error_code(office_reply(o, token)), "refused"); /* another process */
    token = say_hello(o, OWNER, 100, "synth", 100, 999, 77);
    assert_string_equal(error_code(office_reply(o, token)), "refused"); /* another start */
    token = say_hello(o, OWNER, 100, "king", 100, 1000, 77);
    assert_string_equal(error_code(office_reply(o, token)), "input");
    token = office_send(o, ALICE, 0,
                        "{\"op\":\"take\",\"protocol\":1,\"client\":%u,\"incarnation\":\"%" PRIx64
                        "\",\"seq\":5}",
                        synth.client, synth.incarnation);
    assert_string_equal(error_code(office_reply(o, token)), "refused");
    /* roles */
    assert_string_equal(error_code(worker_ask(o, &synth, "next", ",\"room\":1")), "usage");
    /* one daemon */
    struct worker gpud = office_hire(o, "gpud");
    o->processes[o->process_count++] = (struct process){.pid = 500};
    token = say_hello(o, OWNER, 500, "gpud", 500, 5000, 78);
    assert_string_equal(error_code(office_reply(o, token)), "refused");
    /* unless it is dead, though nobody said so yet */
    for (size_t i = 0; i < o->process_count; i++)
        o->processes[i].dead |= o->processes[i].pid == gpud.pid;
    token = say_hello(o, OWNER, 500, "gpud", 500, 5000, 78);
    assert_true(is_ok(office_reply(o, token)));
}

/* ---- blame ---- */

static void three_synthesis_deaths_hold_a_job(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "killer", "small", "");
    office_submit(o, ALICE, "meek", "small", "");
    for (int i = 0; i < 3; i++) {
        struct worker synth = office_hire(o, "synth");
        assert_int_not_equal(worker_take(o, &synth).generation, 0);
        office_kill(o, &synth);
        office_pass(o, 10);
    }
    assert_int_equal(office_job(o, "killer").state, JOB_HELD);
    json_t *reply = job_op(o, ALICE, "wait", "killer");
    assert_non_null(strstr(json_string_value(json_object_get(reply, "error")), "died with it"));
    /* the queue goes on */
    struct worker synth = office_hire(o, "synth");
    struct handle h = worker_take(o, &synth);
    assert_true(worker_says(o, &synth, "submitted", h, ""));
    assert_int_equal(office_job(o, "meek").state, JOB_RUNNING);
    office_restart(o);
    assert_int_equal(office_job(o, "killer").state, JOB_HELD);
    assert_true(is_ok(job_op(o, ALICE, "retry", "killer")));
    h = worker_take(o, &synth);
    assert_int_not_equal(h.generation, 0);
    assert_int_equal(office_job(o, "killer").state, JOB_RUNNING);
    assert_int_equal(office_job(o, "killer").synth_deaths, 0);
}

static void failures_of_synthesis(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth");
    office_submit(o, ALICE, "bad", "small", "");
    struct handle h = worker_take(o, &synth);
    assert_true(worker_says(o, &synth, "failed", h,
                            ",\"kind\":\"input\",\"message\":\"constraint 3 is not satisfied\""));
    assert_int_equal(office_job(o, "bad").state, JOB_FAILED);
    assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
    office_submit(o, ALICE, "heavy", "small", "");
    for (int i = 0; i < 3; i++) {
        h = worker_take(o, &synth);
        assert_int_not_equal(h.generation, 0);
        assert_true(worker_says(o, &synth, "failed", h,
                                ",\"kind\":\"resource\",\"message\":\"no memory\""));
    }
    assert_int_equal(office_job(o, "heavy").state, JOB_HELD);
}

/* Two jobs in flight when a daemon dies: both are suspects, each then runs alone, and only the one
 * that dies alone is blamed. */
static void suspects_run_alone(void **state)
{
    struct office *o = *state;
    struct worker synth = office_hire(o, "synth"), gpud = office_hire(o, "gpud");
    static const char *const ids[] = {"a", "b", "c"};
    struct handle h[3];
    for (int i = 0; i < 3; i++)
        office_submit(o, ALICE, ids[i], "small", "");
    for (int i = 0; i < 2; i++) {
        h[i] = worker_take(o, &synth);
        assert_true(worker_says(o, &synth, "submitted", h[i], ""));
    }
    assert_int_equal(worker_next(o, &gpud, 5), 2);
    office_kill(o, &gpud);
    assert_true(office_job(o, "a").suspect && office_job(o, "b").suspect);
    assert_int_equal(office_job(o, "a").gpud_deaths_alone, 0);
    h[2] = worker_take(o, &synth);
    assert_true(worker_says(o, &synth, "submitted", h[2], ""));
    for (int i = 0; i < 3; i++) { /* "a" kills three daemons */
        gpud = office_hire(o, "gpud");
        assert_int_equal(worker_next(o, &gpud, 5), 1);
        assert_int_equal(gpud.held[0].slot, h[0].slot);
        assert_int_equal(worker_next(o, &gpud, 5), 0);
        office_kill(o, &gpud);
        office_pass(o, 10);
    }
    assert_int_equal(office_job(o, "a").state, JOB_HELD);
    gpud = office_hire(o, "gpud");
    assert_int_equal(worker_next(o, &gpud, 5), 1);
    assert_true(worker_done(o, &gpud, h[1]));
    assert_int_equal(worker_next(o, &gpud, 5), 1);
    assert_true(worker_done(o, &gpud, h[2]));
    assert_int_equal(office_job(o, "b").state, JOB_DONE);
    assert_int_equal(office_free_bytes(o), OFFICE_PAGES * FIXTURE_PAGE);
}

static void clean_leave_blames_nobody(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    assert_string_equal(error_code(worker_ask(o, &s.gpud, "bye", "")), "usage");
    worker_let_go(&s.gpud, s.h);
    assert_true(is_ok(worker_ask(o, &s.gpud, "bye", "")));
    assert_int_equal(office_slot_state(o, s.h), SLOT_SUBMITTED);
    assert_false(office_job(o, "j").suspect);
    assert_true(is_ok(worker_ask(o, &s.synth, "bye", "")));
    json_t *status = office_ask(o, BOB, "{\"op\":\"status\",\"protocol\":1}");
    assert_int_equal(json_array_size(json_object_get(status, "synths")), 0);
    assert_true(json_is_null(json_object_get(status, "gpud")));
}

static void failures_of_proving(void **state)
{
    struct office *o = *state;
    struct scene s = office_stage(o, SLOT_PROVING);
    for (int i = 0; i < 2; i++) {
        assert_true(worker_says(o, &s.gpud, "proof_failed", s.h,
                                ",\"kind\":\"device\",\"message\":\"wrong proof\",\"device\":0"));
        assert_int_equal(office_slot_state(o, s.h), SLOT_SUBMITTED);
        assert_int_equal(worker_next(o, &s.gpud, 1), 1);
    }
    assert_true(worker_says(o, &s.gpud, "proof_failed", s.h,
                            ",\"kind\":\"device\",\"message\":\"wrong proof\""));
    assert_int_equal(office_job(o, "j").state, JOB_HELD);
    assert_int_equal(office_slot_state(o, s.h), SLOT_FREE);
    office_kill(o, &s.synth);
    office_kill(o, &s.gpud);
    office_submit(o, ALICE, "k", "small", "");
    struct worker synth = office_hire(o, "synth"), gpud = office_hire(o, "gpud");
    struct handle h = worker_take(o, &synth);
    assert_true(worker_says(o, &synth, "submitted", h, ""));
    assert_int_equal(worker_next(o, &gpud, 1), 1);
    assert_true(worker_says(o, &gpud, "proof_failed", h,
                            ",\"kind\":\"input\",\"message\":\"not satisfied\""));
    assert_int_equal(office_job(o, "k").state, JOB_FAILED);
}

/* ---- cancelling in every state ---- */

static void cancel_in_every_state(void **state)
{
    struct office *o = *state;
    for (enum slot_state at = SLOT_WRITING; at <= SLOT_LEAN; at++) {
        struct scene s = office_stage(o, at);
        assert_true(is_ok(job_op(o, ALICE, "cancel", "j")));
        assert_true(is_ok(job_op(o, ALICE, "cancel", "j")));
        /* a slice in somebody's hands is not taken away */
        assert_int_equal(office_slot_state(o, s.h), at == SLOT_SUBMITTED ? SLOT_FREE : at);
        office_restart(o);
        assert_int_equal(office_slot_state(o, s.h), at == SLOT_SUBMITTED ? SLOT_FREE : at);
        if (at == SLOT_WRITING)
            assert_false(worker_says(o, &s.synth, "submitted", s.h, ""));
        if (at >= SLOT_COPYING)
            assert_true(worker_done(o, &s.gpud, s.h));
        assert_int_equal(office_slot_state(o, s.h), SLOT_FREE);
        assert_int_equal(office_job(o, "j").state, JOB_CANCELLED);
        uint64_t size;
        assert_int_equal(spool_size(o->spool, &size, "j"), ST_INPUT);
        status_clear();
        assert_int_equal(worker_next(o, &s.gpud, 1), 0);
        office_kill(o, &s.synth);
        office_kill(o, &s.gpud);
        size_t removed;
        assert_done(journal_prune(o->journal, &removed, 0, INT64_MAX));
    }
    office_submit(o, ALICE, "w", "small", "");
    assert_true(is_ok(job_op(o, ALICE, "cancel", "w")));
    struct worker synth = office_hire(o, "synth");
    assert_int_equal(worker_take(o, &synth).generation, 0);
}

static void deadline_ends_a_waiting_job(void **state)
{
    struct office *o = *state;
    char members[64];
    snprintf(members, sizeof members, ",\"deadline\":%" PRId64, o->host.wall(o) + 5000);
    office_submit(o, ALICE, "late", "small", members);
    /* repeated a moment later it is the same job, whatever its deadline was reckoned to be */
    snprintf(members, sizeof members, ",\"deadline\":%" PRId64, o->host.wall(o) + 6000);
    office_submit(o, ALICE, "late", "small", members);
    office_pass(o, 3000);
    assert_int_equal(office_job(o, "late").state, JOB_WAITING);
    office_restart(o);
    office_pass(o, 3000);
    office_pass(o, 10);
    assert_int_equal(office_job(o, "late").state, JOB_FAILED);
}

/* What happened is shown to all, of whose job only to its owner and to administrators. */
static void events_name_own_jobs(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "secret", "small", "");
    static const struct {
        uint32_t uid;
        const char *job;
    } seen[] = {{ALICE, "secret"}, {OWNER, "secret"}, {BOB, NULL}};
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        json_t *status = office_ask(o, seen[i].uid, "{\"op\":\"status\",\"protocol\":1}");
        const json_t *events = json_object_get(status, "events");
        const json_t *last = json_array_get(events, json_array_size(events) - 1);
        assert_string_equal(json_string_value(json_object_get(last, "event")), "accepted");
        const char *job = json_string_value(json_object_get(last, "job"));
        assert_true(seen[i].job ? job && strcmp(job, seen[i].job) == 0 : job == NULL);
    }
}

/* The letters of the map are where the slices are. */
static void map_shows_slices(void **state)
{
    struct office *o = *state;
    office_submit(o, ALICE, "j", "big", "");
    struct worker synth = office_hire(o, "synth");
    assert_int_not_equal(worker_take(o, &synth).generation, 0);
    json_t *status = office_ask(o, ALICE, "{\"op\":\"status\",\"protocol\":1}");
    const char *map = json_string_value(json_object_get(status, "map"));
    size_t writing = 0;
    for (size_t i = 0; map[i]; i++)
        writing += map[i] == 'W';
    assert_int_equal(strlen(map), 64);
    assert_int_equal(writing, 48); /* pages of 64 */
}

int main(void)
{
#define JOB_TEST(f) cmocka_unit_test_setup_teardown(f, office_setup, office_teardown)
    const struct CMUnitTest tests[] = {
        JOB_TEST(accepted_means_on_disk),
        JOB_TEST(commit_waits_for_the_disk),
        JOB_TEST(generates_an_id),
        JOB_TEST(refuses_what_can_never_run),
        JOB_TEST(broken_requests_are_refused),
        JOB_TEST(wait_tells_the_end),
        JOB_TEST(wait_is_never_longer_than_a_second),
        JOB_TEST(many_waits_are_answered_at_once),
        JOB_TEST(users_see_and_cancel_their_own_jobs),
        JOB_TEST(only_admins_operate),
        JOB_TEST(strangers_are_no_workers),
        JOB_TEST(three_synthesis_deaths_hold_a_job),
        JOB_TEST(failures_of_synthesis),
        JOB_TEST(suspects_run_alone),
        JOB_TEST(clean_leave_blames_nobody),
        JOB_TEST(failures_of_proving),
        JOB_TEST(cancel_in_every_state),
        JOB_TEST(deadline_ends_a_waiting_job),
        JOB_TEST(events_name_own_jobs),
        JOB_TEST(map_shows_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
