/* Synthesis and daemon, as threads, at a small coordinator that hands out one job after the other,
 * loses replies and forgets its workers. */
#include "tests/unit/shm_fixture.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/file/map.h"
#include "gpud/daemon.h"
#include "shm/process.h"
#include "synth/worker.h"
#include "tests/unit/fake_coord.h"
#include "tests/unit/prove_fixture.h"
#include "tests/unit/scratch.h"

enum { JOBS_MAX = 8, ARENA_BYTES = 4 << 20, REPLY_BYTES = 4096 };

struct job_case {
    const char *circuit, *zkey, *r1cs, *wtns;
    const char *outcome; /* expected: "done", or what a failure's message holds */
};

/* What the coordinator knows; used on the server's thread only until it is stopped. */
struct desk {
    struct arena *arena;
    struct ledger *ledger;
    struct ledger_lock *lock;
    char ledger_name[64], arena_name[64];
    const struct job_case *jobs;
    size_t count, at; /* which job is under way */
    bool granted;     /* to a synthesis process */
    struct handle handle;
    uint16_t client[CLIENT_ROLES];
    uint64_t incarnation[CLIENT_ROLES];
    uint64_t last_seq[CLIENT_ROLES];
    json_t *last_reply[CLIENT_ROLES];
    const char *lose, *forget; /* ops whose next reply is lost; whose sender is forgotten once */
    const char *refuse;        /* which is refused once */
    unsigned hellos, lost, copies, stale_seqs;
    char *result[JOBS_MAX]; /* owned: the payload of done, or a failure's message */
    atomic_uint ended;
};

static json_t *grant(struct desk *d)
{
    const struct job_case *j = &d->jobs[d->at];
    struct synthesis s;
    struct slice_plan plan;
    uint64_t page = arena_desc(d->arena)->page;
    CHECK(synthesis_open(&s, j->zkey, NULL, NULL) == ST_OK);
    CHECK(synthesis_plan(&s, &plan, page) == ST_OK);
    synthesis_close(&s);
    struct slice_record r = {
        .flags = SLOT_SCRUB,
        .job = {(uint8_t)(d->at + 1)},
        .w_bytes = plan.w_bytes,
        .a_bytes = plan.a_bytes,
        .b_bytes = plan.b_bytes,
        .a_offset = plan.a_offset,
        .b_offset = plan.b_offset,
        .c_offset = plan.c_offset,
        .w_extents = 1,
        .abc_extents = 1,
        .extent = {{page, plan.w_mapped}, {3 * page + plan.w_mapped, plan.abc_mapped}}};
    CHECK(ledger_grant(d->ledger, &d->handle, d->client[CLIENT_SYNTH], &r) == ST_OK);
    d->granted = true;
    return json_pack("{s:b, s:{s:s, s:s, s:s, s:s?, s:s}, s:[i,i]}", "ok", 1, "job", "id", "job",
                     "circuit", "c", "key", j->zkey, "r1cs", j->r1cs, "witness", j->wtns, "handle",
                     (int)d->handle.slot, (int)d->handle.generation);
}

static void publish(struct desk *d, enum slot_state state, uint16_t client)
{
    const struct publication p = {
        .state = state, .client = client, .epoch = d->incarnation[CLIENT_GPUD]};
    CHECK(ledger_publish(d->ledger, d->handle, &p) == ST_OK);
}

static json_t *hand_out(struct desk *d)
{
    struct slice_record r;
    if (ledger_read(d->ledger, d->handle, &r) != ST_OK || r.state != SLOT_SUBMITTED) {
        status_clear();
        return json_pack("{s:b, s:[], s:[], s:[], s:b}", "ok", 1, "jobs", "give_back", "evict",
                         "drain", 0);
    }
    publish(d, SLOT_COPYING, d->client[CLIENT_GPUD]);
    return json_pack("{s:b, s:[{s:s, s:s, s:s, s:[i,i], s:b}]}", "ok", 1, "jobs", "id", "job",
                     "circuit", d->jobs[d->at].circuit, "key", d->jobs[d->at].zkey, "handle",
                     (int)d->handle.slot, (int)d->handle.generation, "suspect", 0);
}

static json_t *end(struct desk *d, const char *text, size_t len)
{
    d->result[d->at] = strndup(text, len);
    CHECK(ledger_free(d->ledger, d->handle) == ST_OK);
    d->granted = false;
    d->at++;
    atomic_fetch_add_explicit(&d->ended, 1, memory_order_release); /* with wait_for_all */
    return msg_reply_ok();
}

static json_t *hello(struct desk *d, enum client_role role, const json_t *body)
{
    uint64_t incarnation, start;
    CHECK(msg_hex64(&incarnation, body, "incarnation") == ST_OK);
    CHECK(process_start_time(&start, getpid()) == ST_OK);
    d->hellos++;
    if (d->incarnation[role] != incarnation)
        CHECK(ledger_client_add(d->ledger, &d->client[role], role, getpid(), start, incarnation) ==
              ST_OK);
    d->incarnation[role] = incarnation;
    return json_pack("{s:b, s:i, s:s, s:o, s:b, s:{s:i}}", "ok", 1, "client", d->client[role],
                     "ledger", d->ledger_name, "instance",
                     msg_json_hex64(ledger_instance(d->ledger)), "allow_seed", 0, "config",
                     "threads", 1);
}

static bool holds(const json_t *body, struct handle h)
{
    uint32_t pairs[MSG_HOLDING_MAX][2];
    size_t n;
    CHECK(msg_pairs(pairs, &n, MSG_HOLDING_MAX, body, "holding") == ST_OK);
    for (size_t i = 0; i < n; i++)
        if (pairs[i][0] == h.slot && pairs[i][1] == h.generation)
            return true;
    return false;
}

static json_t *act(struct desk *d, const char *op, enum client_role role, const struct msg *m)
{
    if (strcmp(op, "hello") == 0)
        return hello(d, role, m->body);
    if (strcmp(op, "take") == 0)
        return !d->granted && d->at < d->count ? grant(d) : json_pack("{s:b, s:n}", "ok", 1, "job");
    if (strcmp(op, "next") == 0)
        return hand_out(d);
    if (strcmp(op, "submitted") == 0) {
        CHECK(holds(m->body, d->handle));
        publish(d, SLOT_SUBMITTED, CLIENT_NONE);
    } else if (strcmp(op, "copied") == 0) {
        CHECK(holds(m->body, d->handle));
        d->copies++;
        publish(d, SLOT_PROVING, d->client[CLIENT_GPUD]);
    } else if (strcmp(op, "done") == 0) {
        return end(d, (const char *)m->payload, m->payload_len);
    } else if (strcmp(op, "failed") == 0 || strcmp(op, "proof_failed") == 0) {
        const char *message = json_string_value(json_object_get(m->body, "message"));
        return end(d, message, strlen(message));
    }
    return msg_reply_ok();
}

static enum client_role role_of(const struct desk *d, const json_t *body)
{
    uint64_t incarnation;
    const char *role = json_string_value(json_object_get(body, "role"));
    if (role)
        return strcmp(role, "gpud") == 0 ? CLIENT_GPUD : CLIENT_SYNTH;
    CHECK(msg_hex64(&incarnation, body, "incarnation") == ST_OK);
    return incarnation == d->incarnation[CLIENT_GPUD] ? CLIENT_GPUD : CLIENT_SYNTH;
}

static bool once(const char **what, const char *op)
{
    bool hit = *what && strcmp(*what, op) == 0;
    if (hit)
        *what = NULL;
    return hit;
}

static json_t *refusal(const char *code, const char *message)
{
    return json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "code", code, "message", message);
}

static json_t *answer(void *arg, const struct msg *m, char **payload)
{
    struct desk *d = arg;
    (void)payload;
    const char *op = json_string_value(json_object_get(m->body, "op"));
    uint64_t seq = (uint64_t)json_integer_value(json_object_get(m->body, "seq"));
    enum client_role role = role_of(d, m->body);
    if (seq == d->last_seq[role])
        return json_incref(d->last_reply[role]);
    d->stale_seqs += seq < d->last_seq[role];
    d->last_seq[role] = seq;
    json_decref(d->last_reply[role]);
    if (once(&d->forget, op))
        d->last_reply[role] = refusal("unknown-client", "say hello");
    else if (once(&d->refuse, op))
        d->last_reply[role] = refusal("input", "it is not to my liking");
    else
        d->last_reply[role] = act(d, op, role, m);
    if (once(&d->lose, op)) {
        d->lost++;
        return NULL;
    }
    return json_incref(d->last_reply[role]);
}

/* ---- the two workers ---- */

struct running {
    char address[256];
    atomic_bool stop;
    enum status synth, gpud;
};

static void *run_synth(void *arg)
{
    struct running *r = arg;
    const struct worker_options o = {.where = r->address, .threads = 1, .stop = &r->stop};
    r->synth = worker_run(&o);
    return NULL;
}

static void *run_gpud(void *arg)
{
    struct running *r = arg;
    const struct daemon_options o = {
        .where = r->address, .backend = "cpu", .threads = 1, .stop = &r->stop};
    r->gpud = daemon_run(&o);
    return NULL;
}

static void desk_init(struct desk *d, const struct job_case *jobs, size_t count)
{
    *d = (struct desk){.jobs = jobs, .count = count};
    snprintf(d->ledger_name, sizeof d->ledger_name, "%s", fixture_name("ledger"));
    snprintf(d->arena_name, sizeof d->arena_name, "%s", fixture_name("arena"));
    const struct arena_options arena = {
        .kind = ARENA_POSIX, .bytes = ARENA_BYTES, .name = d->arena_name};
    assert_done(arena_create(&d->arena, &arena));
    assert_done(ledger_lock_acquire(&d->lock, fixture_lock_path()));
    assert_done(ledger_create(&d->ledger, d->lock, d->ledger_name, FIXTURE_CLIENTS, FIXTURE_SLOTS,
                              arena_desc(d->arena)));
}

static void desk_fini(struct desk *d)
{
    for (size_t i = 0; i < JOBS_MAX; i++)
        free(d->result[i]);
    for (size_t i = 0; i < CLIENT_ROLES; i++)
        json_decref(d->last_reply[i]);
    assert_done(arena_unlink(d->arena));
    assert_done(ledger_unlink(d->ledger_name));
    ledger_detach(d->ledger);
    arena_detach(d->arena);
    ledger_lock_release(d->lock);
    unlink(fixture_lock_path());
}

static void wait_for_all(struct desk *d)
{
    const struct timespec tick = {.tv_nsec = 5000000};
    for (int i = 0; i < 6000; i++) {
        /* acquire: with the release in end() */
        if (atomic_load_explicit(&d->ended, memory_order_acquire) == d->count)
            return;
        nanosleep(&tick, NULL);
    }
    assert_int_equal(atomic_load_explicit(&d->ended, memory_order_acquire), d->count);
}

static void run_jobs(void **state, struct desk *d)
{
    struct running r = {.stop = false};
    pthread_t synth, gpud;
    const char *path = scratch_path(state, "coord.sock");
    snprintf(r.address, sizeof r.address, "ipc://%s", path);
    struct fake_coord *f = fake_coord_start(path, answer, d);
    assert_int_equal(pthread_create(&gpud, NULL, run_gpud, &r), 0);
    assert_int_equal(pthread_create(&synth, NULL, run_synth, &r), 0);
    wait_for_all(d);
    atomic_store_explicit(&r.stop, true, memory_order_relaxed);
    pthread_join(synth, NULL);
    pthread_join(gpud, NULL);
    fake_coord_stop(f);
    assert_int_equal(r.synth, ST_OK);
    assert_int_equal(r.gpud, ST_OK);
    assert_int_equal(d->stale_seqs, 0);
}

static void check_result(const struct job_case *j, const char *result)
{
    if (strcmp(j->outcome, "done") != 0) {
        if (!strstr(result, j->outcome))
            print_error("%s\n", result);
        assert_non_null(strstr(result, j->outcome));
        return;
    }
    json_error_t error;
    json_t *all = json_loads(result, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(all);
    char *proof = json_dumps(json_object_get(all, "proof"), 0);
    char *publics = json_dumps(json_object_get(all, "public"), 0);
    assert_true(prove_fixture_verifies(j->zkey, proof, publics));
    free(proof);
    free(publics);
    json_decref(all);
}

#define FILES(curve, name)                                                                         \
    .circuit = curve "-" name, .zkey = FIXTURE_FILE(curve, name, "circuit.zkey"),                  \
    .r1cs = FIXTURE_FILE(curve, name, name ".r1cs"),                                               \
    .wtns = FIXTURE_FILE(curve, name, "witness.wtns")

static void jobs_go_from_witness_to_proof(void **state)
{
    static const struct job_case jobs[] = {
        {FILES("bn128", "mul2"), .outcome = "done"},
        {FILES("bls12381", "mul2"), .outcome = "done"},
        {FILES("bn128", "nopub"), .outcome = "done"},
        {FILES("bn128", "mul2"), .outcome = "done"},
    };
    struct desk d;
    desk_init(&d, jobs, sizeof jobs / sizeof jobs[0]);
    run_jobs(state, &d);
    assert_int_equal(d.copies, d.count);
    for (size_t i = 0; i < d.count; i++)
        check_result(&jobs[i], d.result[i]);
    desk_fini(&d);
}

static void bad_witnesses_are_reported(void **state)
{
    static const struct job_case jobs[] = {
        {.circuit = "bn128-mul2",
         .zkey = FIXTURE_FILE("bn128", "mul2", "circuit.zkey"),
         .wtns = PINION_TEST_DATA "/bad/value_is_r.wtns",
         .outcome = "group order"},
        {.circuit = "bn128-mul2",
         .zkey = FIXTURE_FILE("bn128", "mul2", "circuit.zkey"),
         .wtns = FIXTURE_FILE("bls12381", "mul2", "witness.wtns"),
         .outcome = "bls12_381"},
        {.circuit = "good",
         .zkey = PINION_TEST_DATA "/bad/good.zkey",
         .r1cs = PINION_TEST_DATA "/bad/good.r1cs",
         .wtns = PINION_TEST_DATA "/bad/unsatisfied_public.wtns",
         .outcome = "constraint"},
        {.circuit = "good",
         .zkey = PINION_TEST_DATA "/bad/good.zkey",
         .wtns = PINION_TEST_DATA "/bad/unsatisfied_public.wtns",
         .outcome = "does not verify"},
        {FILES("bn128", "mul2"), .outcome = "done"},
    };
    struct desk d;
    desk_init(&d, jobs, sizeof jobs / sizeof jobs[0]);
    run_jobs(state, &d);
    for (size_t i = 0; i < d.count; i++)
        check_result(&jobs[i], d.result[i]);
    desk_fini(&d);
}

static void lost_replies_and_restarts_are_survived(void **state)
{
    static const struct job_case jobs[] = {{FILES("bn128", "mul2"), .outcome = "done"}};
    static const struct {
        const char *lose, *forget;
    } troubles[] = {{"take", "submitted"}, {"next", "copied"}, {"done", "take"}};
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        struct desk d;
        desk_init(&d, jobs, 1);
        d.lose = troubles[i].lose;
        d.forget = troubles[i].forget;
        run_jobs(state, &d);
        assert_int_equal(d.lost, 1);
        assert_int_equal(d.hellos, 3);
        assert_null(d.forget);
        check_result(&jobs[0], d.result[0]);
        desk_fini(&d);
    }
}

/* A result that the coordinator will not take ends the job: it is not proved again for ever. */
static void a_refused_result_is_a_failure(void **state)
{
    static const struct job_case jobs[] = {
        {FILES("bn128", "mul2"), .outcome = "it is not to my liking"},
        {FILES("bn128", "mul2"), .outcome = "done"},
    };
    struct desk d;
    desk_init(&d, jobs, 2);
    d.refuse = "done";
    run_jobs(state, &d);
    for (size_t i = 0; i < d.count; i++)
        check_result(&jobs[i], d.result[i]);
    desk_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_go_from_witness_to_proof),
        cmocka_unit_test(bad_witnesses_are_reported),
        cmocka_unit_test(lost_replies_and_restarts_are_survived),
        cmocka_unit_test(a_refused_result_is_a_failure),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
