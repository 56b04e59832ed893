/* Random life at the desk: jobs come, workers take, submit, prove, lie still, repeat themselves,
 * lose replies and die, and the coordinator with them. Always: the books balance (checked after
 * every event), no job has two slices, none is lost, each ends once and with its own proof, and no
 * submitted slice is synthesized again but for a daemon that died in LEAN. */
#include "tests/unit/desk_fixture.h"

enum { STEPS = 1500, SYNTHS = 3, JOBS_MAX = 4096 };

struct world {
    struct office *o;
    uint64_t random;
    struct worker synths[SYNTHS], gpud;
    bool synth_lives[SYNTHS], gpud_lives;
    size_t jobs;
    struct {
        enum slot_state state;
        struct handle h;
    } last[JOBS_MAX + 1]; /* where a job was seen last, by number */
};

static unsigned pick(struct world *w, unsigned n)
{
    return (unsigned)(fixture_random(&w->random) >> 33) % n;
}

/* ---- what happens ---- */

static void submit_job(struct world *w)
{
    static const char *const circuits[] = {"small", "small", "medium", "big"};
    static const char *const priorities[] = {"low", "normal", "high", "critical"};
    char id[32], members[64];
    if (w->jobs == JOBS_MAX)
        return;
    snprintf(id, sizeof id, "j%zu", w->jobs++);
    snprintf(members, sizeof members, ",\"priority\":\"%s\"", priorities[pick(w, 4)]);
    office_submit(w->o, pick(w, 2) ? ALICE : BOB, id, circuits[pick(w, 4)], members);
}

static void cancel_job(struct world *w)
{
    if (w->jobs > 0)
        (void)office_ask(w->o, OWNER, "{\"op\":\"cancel\",\"protocol\":1,\"id\":\"j%u\"}",
                         pick(w, (unsigned)w->jobs));
}

static bool was_ended(struct world *w, const struct worker *of)
{
    for (size_t i = 0; i < w->o->process_count; i++)
        if (w->o->processes[i].pid == of->pid && w->o->processes[i].signal_count > 0)
            return true;
    return false;
}

/* Who got a signal dies of it. */
static void obey_signals(struct world *w)
{
    for (int i = 0; i < SYNTHS; i++)
        if (w->synth_lives[i] && was_ended(w, &w->synths[i])) {
            office_kill(w->o, &w->synths[i]);
            w->synth_lives[i] = false;
        }
    if (w->gpud_lives && was_ended(w, &w->gpud)) {
        office_kill(w->o, &w->gpud);
        w->gpud_lives = false;
    }
}

static void revive(struct world *w)
{
    obey_signals(w);
    for (int i = 0; i < SYNTHS; i++)
        if (!w->synth_lives[i]) {
            w->synths[i] = office_hire(w->o, "synth");
            w->synth_lives[i] = true;
        }
    if (!w->gpud_lives) {
        w->gpud = office_hire(w->o, "gpud");
        w->gpud_lives = true;
    }
}

static void act_synth(struct world *w)
{
    struct worker *s = &w->synths[pick(w, SYNTHS)];
    if (s->held_count == 0) {
        struct handle h = worker_take(w->o, s);
        if (h.generation != 0 && pick(w, 4) == 0) {
            worker_let_go(s, h); /* the reply was lost ... */
            if (pick(w, 2) == 0)
                s->seq--; /* ... and the request comes again, or was given up */
            (void)worker_take(w->o, s);
        }
        return;
    }
    static const char *const ops[] = {"submitted", "submitted", "submitted", "failed"};
    (void)worker_says(w->o, s, ops[pick(w, 4)], s->held[0], ",\"kind\":\"internal\"");
}

/* The proof is the job's number, so that one that went astray is seen. */
static void prove(struct world *w, struct handle h)
{
    struct slice_record r = {.state = SLOT_FREE};
    char members[64], payload[64];
    uint64_t id[2] = {0};
    if (ledger_read(w->o->ledger, h, &r) != ST_OK)
        status_clear();
    memcpy(id, r.job, sizeof id);
    snprintf(members, sizeof members, ",\"handle\":[%u,%u]", h.slot, h.generation);
    snprintf(payload, sizeof payload, "{\"proof\":%" PRIu64 ",\"public\":[]}", id[1]);
    worker_let_go(&w->gpud, h);
    (void)office_reply(w->o, worker_send(w->o, &w->gpud, "done", members, payload));
}

static void act_gpud(struct world *w)
{
    struct worker *g = &w->gpud;
    unsigned n = g->held_count > 0 ? pick(w, (unsigned)g->held_count) : 0;
    struct handle h = g->held[n];
    switch (g->held_count == 0 ? 0 : pick(w, 7)) {
    case 0:
        (void)worker_next(w->o, g, g->held_count < 8 ? 1 + pick(w, 3) : 0);
        break;
    case 1:
    case 2:
        (void)worker_says(w->o, g, "copied", h, "");
        break;
    case 3:
        if (office_slot_state(w->o, h) == SLOT_PROVING)
            (void)worker_says(w->o, g, "gave_back", h, "");
        break;
    case 4:
        if (pick(w, 8) == 0)
            (void)worker_says(w->o, g, "proof_failed", h, ",\"kind\":\"device\"");
        break;
    default:
        prove(w, h);
        break;
    }
}

static void die(struct world *w)
{
    switch (pick(w, 4)) {
    case 0:
        office_kill(w->o, &w->gpud);
        w->gpud_lives = false;
        break;
    case 1: {
        unsigned i = pick(w, SYNTHS);
        office_kill(w->o, &w->synths[i]);
        w->synth_lives[i] = false;
        break;
    }
    case 2:
        office_restart(w->o);
        break;
    default: { /* both at once */
        unsigned i = pick(w, SYNTHS);
        office_crash(w->o);
        office_kill(w->o, &w->synths[i]);
        w->synth_lives[i] = false;
        office_start(w->o);
    }
    }
}

static void lie_still(struct world *w)
{
    office_pass(w->o, pick(w, 20) == 0 ? 30000 : 20);
}

static void step(struct world *w)
{
    unsigned n = pick(w, 100);
    revive(w);
    if (n < 12)
        submit_job(w);
    else if (n < 50)
        act_synth(w);
    else if (n < 90)
        act_gpud(w);
    else if (n < 92)
        cancel_job(w);
    else if (n < 97)
        lie_still(w);
    else
        die(w);
}

/* ---- what must hold ---- */

/* A new synthesis of what had been submitted is right only after LEAN. */
static void check_last(struct world *w, uint64_t number, const struct slice_record *r,
                       uint32_t slot)
{
    assert_true(number >= 1 && number <= JOBS_MAX);
    bool another = w->last[number].h.slot != slot || w->last[number].h.generation != r->generation;
    enum slot_state was = w->last[number].state;
    assert_false(another && r->state == SLOT_WRITING && was >= SLOT_SUBMITTED && was < SLOT_LEAN);
    w->last[number].state = r->state;
    w->last[number].h = (struct handle){.slot = slot, .generation = r->generation};
}

static void check_ledger(struct world *w)
{
    uint64_t seen[OFFICE_SLOTS];
    size_t n = 0;
    for (uint32_t i = 0; i < OFFICE_SLOTS; i++) {
        struct slice_record r;
        uint64_t id[2];
        assert_done(ledger_read_slot(w->o->ledger, i, &r));
        if (r.state == SLOT_FREE || r.state == SLOT_QUARANTINE)
            continue;
        memcpy(id, r.job, sizeof id);
        for (size_t k = 0; k < n; k++)
            assert_int_not_equal(seen[k], id[1]); /* one slice a job */
        seen[n++] = id[1];
        check_last(w, id[1], &r, i);
    }
}

static void check_results(struct world *w)
{
    char id[32], expected[32];
    for (size_t k = 0; k < w->jobs; k++) {
        struct job_result result;
        snprintf(id, sizeof id, "j%zu", k);
        struct job job = office_job(w->o, id);
        assert_done(journal_result(w->o->journal, &result, job.number));
        snprintf(expected, sizeof expected, "%" PRIu64, job.number);
        if (job.state == JOB_DONE)
            assert_string_equal(result.proof, expected);
        else
            assert_null(result.proof);
        job_result_fini(&result);
    }
}

/* Holds what keeps failing back into the queue, until everything has ended. */
static void finish_all(struct world *w)
{
    uint64_t counts[JOB_STATES] = {1};
    for (int i = 0; i < 20000 && counts[JOB_WAITING] + counts[JOB_RUNNING] + counts[JOB_HELD] > 0;
         i++) {
        char id[32];
        revive(w);
        for (size_t k = 0; counts[JOB_HELD] > 0 && k < w->jobs; k++) {
            snprintf(id, sizeof id, "j%zu", k);
            if (office_job(w->o, id).state == JOB_HELD)
                (void)office_ask(w->o, OWNER, "{\"op\":\"retry\",\"protocol\":1,\"id\":\"%s\"}",
                                 id);
        }
        for (int k = 0; k < SYNTHS; k++) {
            struct worker *s = &w->synths[k];
            if (s->held_count > 0)
                (void)worker_says(w->o, s, "submitted", s->held[0], "");
            else
                (void)worker_take(w->o, s);
        }
        if (w->gpud.held_count > 0)
            prove(w, w->gpud.held[0]);
        else
            (void)worker_next(w->o, &w->gpud, 1);
        memset(counts, 0, sizeof counts);
        assert_done(journal_count(w->o->journal, counts, true, 0));
    }
    assert_int_equal(counts[JOB_WAITING] + counts[JOB_RUNNING] + counts[JOB_HELD], 0);
    assert_int_equal(counts[JOB_DONE] + counts[JOB_CANCELLED] + counts[JOB_FAILED], w->jobs);
}

static void random_life(void **state)
{
    struct world w = {.o = *state, .random = fixture_seed(20261129)};
    w.o->config.journal_keep = JOBS_MAX;
    for (int i = 0; i < STEPS; i++) {
        step(&w);
        check_ledger(&w);
    }
    finish_all(&w);
    check_results(&w);
    office_pass(w.o, 10);
    assert_int_equal(office_free_bytes(w.o), OFFICE_PAGES * FIXTURE_PAGE);
    print_message("%zu jobs\n", w.jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_life, office_setup, office_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
