/* The real server as a process, a client that speaks its protocol, and processes that are killed.
 */
#include "tests/unit/shm_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "common/sha256.h"
#include "shm/coord/coord.h"
#include "shm/ledger.h"
#include "tests/unit/coord_client.h"
#include "tests/unit/scratch.h"

struct fixture {
    char *dir;
    pid_t server;
    struct coord_client user;
};

/* Starts a program with its output in *out (NULL: ours); its pid. */
static pid_t start(int *out, const char *const argv[])
{
    pid_t pid;
    int ends[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    if (out) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], 1), 0);
    }
    int rc = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (out) {
        close(ends[1]);
        *out = ends[0];
    }
    return rc == 0 ? pid : -1;
}

static pid_t start_server(const char *dir)
{
    const char *argv[] = {COORD_ACTOR, "coord", dir, NULL};
    pid_t pid = start(NULL, argv);
    assert_true(pid > 0);
    return pid;
}

static int end_of(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) != pid)
        assert_int_equal(errno, EINTR);
    return status;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    void *dir;
    assert_non_null(f);
    assert_int_equal(scratch_setup(&dir), 0);
    f->dir = dir;
    f->server = start_server(f->dir);
    coord_client_open(&f->user, f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *dir = f->dir;
    struct names names;
    coord_client_close(&f->user);
    if (f->server > 0) {
        kill(f->server, SIGKILL);
        (void)end_of(f->server);
    }
    assert_done(names_derive(&names, f->dir));
    (void)shm_unlink(names.ledger);
    (void)shm_unlink(names.arena);
    free(f);
    return scratch_teardown(&dir);
}

static bool is_ok(const json_t *reply)
{
    if (!json_is_true(json_object_get(reply, "ok")))
        json_dumpf(reply, stderr, 0);
    return json_is_true(json_object_get(reply, "ok"));
}

static void expect_ok(json_t *reply)
{
    assert_true(is_ok(reply));
    json_decref(reply);
}

static void add_circuit(struct fixture *f)
{
    char members[512], path[256];
    snprintf(path, sizeof path, "%s/a-key", f->dir);
    scratch_write(path, "4096 4096 4096 1000", 19);
    snprintf(members, sizeof members, ",\"name\":\"small\",\"key\":\"%s\"", path);
    for (bool ready = false; !ready;) {
        json_t *reply = coord_client_control(&f->user, "circuit_add", members, NULL);
        assert_true(is_ok(reply));
        const char *state = json_string_value(json_object_get(reply, "state"));
        ready = strcmp(state, "ready") == 0;
        json_decref(reply);
    }
}

static void submit(struct fixture *f, const char *id)
{
    char members[512], digest[65];
    uint8_t bytes[32];
    struct sha256 h;
    sha256_init(&h);
    sha256_update(&h, "witness", 7);
    sha256_final(&h, bytes);
    for (size_t i = 0; i < 32; i++)
        snprintf(digest + 2 * i, 3, "%02x", bytes[i]);
    snprintf(members, sizeof members,
             ",\"id\":\"%s\",\"circuit\":\"small\",\"size\":7,\"sha256\":\"%s\"", id, digest);
    expect_ok(coord_client_control(&f->user, "submit", members, NULL));
    snprintf(members, sizeof members, ",\"id\":\"%s\",\"offset\":0", id);
    expect_ok(coord_client_control(&f->user, "upload", members, "witness"));
    snprintf(members, sizeof members, ",\"id\":\"%s\"", id);
    expect_ok(coord_client_control(&f->user, "commit", members, NULL));
}

static struct handle read_handle(const json_t *of)
{
    const json_t *pair = json_object_get(of, "handle");
    return (struct handle){.slot = (uint32_t)json_integer_value(json_array_get(pair, 0)),
                           .generation = (uint32_t)json_integer_value(json_array_get(pair, 1))};
}

/* take until there is a job. */
static void take(struct coord_client *synth)
{
    while (synth->held.generation == 0) {
        json_t *reply = coord_client_ask(synth, "take", ",\"wait_ms\":1000", NULL);
        assert_true(is_ok(reply));
        if (json_is_object(json_object_get(reply, "job")))
            synth->held = read_handle(reply);
        json_decref(reply);
    }
}

static json_t *with_handle(struct coord_client *c, const char *op, struct handle h,
                           const char *payload)
{
    char members[128];
    snprintf(members, sizeof members, ",\"handle\":[%u,%u]", h.slot, h.generation);
    return coord_client_ask(c, op, members, payload);
}

static void prove(struct coord_client *synth, struct coord_client *gpud)
{
    struct handle h = synth->held;
    synth->held = (struct handle){0};
    expect_ok(with_handle(synth, "submitted", h, NULL));
    json_t *reply = coord_client_ask(gpud, "next", ",\"wait_ms\":1000,\"room\":1", NULL);
    assert_true(is_ok(reply));
    h = read_handle(json_array_get(json_object_get(reply, "jobs"), 0));
    json_decref(reply);
    gpud->held = h;
    expect_ok(with_handle(gpud, "copied", h, NULL));
    gpud->held = (struct handle){0};
    expect_ok(with_handle(gpud, "done", h, "{\"proof\":{\"a\":1},\"public\":[\"5\"]}"));
}

static void wait_for(struct fixture *f, const char *id, const char *expected)
{
    char members[128];
    bool there = false;
    snprintf(members, sizeof members, ",\"id\":\"%s\",\"wait_ms\":1000,\"proof\":true", id);
    for (int i = 0; i < 20 && !there; i++) {
        json_t *reply = coord_client_control(&f->user, "wait", members, NULL);
        assert_true(is_ok(reply));
        there = strcmp(json_string_value(json_object_get(reply, "state")), expected) == 0;
        json_decref(reply);
    }
    assert_true(there);
}

static json_t *status_of(struct fixture *f)
{
    json_t *status = coord_client_control(&f->user, "status", "", NULL);
    const json_t *arena = json_object_get(status, "arena");
    assert_int_equal(json_integer_value(json_object_get(arena, "granted")) +
                         json_integer_value(json_object_get(arena, "free")),
                     json_integer_value(json_object_get(arena, "bytes")));
    return status;
}

/* ---- tests ---- */

static void a_job_from_end_to_end(void **state)
{
    struct fixture *f = *state;
    struct coord_client synth, gpud;
    struct names names;
    struct ledger *ledger;
    struct slice_record record;
    add_circuit(f);
    coord_client_open(&synth, f->dir);
    coord_client_open(&gpud, f->dir);
    coord_client_hello(&synth, "synth", 11);
    coord_client_hello(&gpud, "gpud", 12);
    submit(f, "one");
    take(&synth);
    assert_done(names_derive(&names, f->dir));
    assert_done(ledger_attach(&ledger, names.ledger));
    assert_done(ledger_read(ledger, synth.held, &record));
    assert_int_equal(record.state, SLOT_WRITING);
    assert_int_equal(record.w_bytes, 4096);
    ledger_detach(ledger);
    prove(&synth, &gpud);
    wait_for(f, "one", "done");
    assert_string_equal(f->user.payload, "{\"proof\":{\"a\":1},\"public\":[\"5\"]}");
    coord_client_close(&synth);
    coord_client_close(&gpud);
}

static void second_coordinator_is_refused(void **state)
{
    struct fixture *f = *state;
    struct coord_options options = {.dir = f->dir};
    struct coord c;
    char pid[32];
    json_decref(status_of(f)); /* it is up */
    snprintf(pid, sizeof pid, "pid %d", (int)f->server);
    assert_refused(coord_open(&c, &options, NULL, NULL), ST_RESOURCE, pid);
}

/* A closed socket is only a suspicion, a pidfd is death: the slice is free and the job waits. */
static void killed_synthesis_is_noticed(void **state)
{
    struct fixture *f = *state;
    char line[32] = "";
    int out;
    add_circuit(f);
    submit(f, "one");
    const char *argv[] = {COORD_ACTOR, "synth", f->dir, NULL};
    pid_t synth = start(&out, argv);
    assert_true(synth > 0);
    assert_true(read(out, line, sizeof line - 1) > 0);
    assert_string_equal(line, "writing\n");
    json_t *status = status_of(f);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(status, "slots"), "WRITING")), 1);
    json_decref(status);
    kill(synth, SIGKILL);
    (void)end_of(synth);
    close(out);
    struct coord_client other, gpud;
    coord_client_open(&other, f->dir);
    coord_client_open(&gpud, f->dir);
    coord_client_hello(&other, "synth", 21);
    coord_client_hello(&gpud, "gpud", 22);
    take(&other);
    prove(&other, &gpud);
    wait_for(f, "one", "done");
    status = status_of(f);
    assert_int_equal(json_integer_value(json_object_get(status, "restarts")), 1);
    json_decref(status);
    coord_client_close(&other);
    coord_client_close(&gpud);
}

/* SIGKILL at the coordinator in the middle: the workers and the user notice nothing but a wait. */
static void killed_coordinator_goes_on(void **state)
{
    struct fixture *f = *state;
    struct coord_client synth, gpud;
    add_circuit(f);
    coord_client_open(&synth, f->dir);
    coord_client_open(&gpud, f->dir);
    coord_client_hello(&synth, "synth", 31);
    coord_client_hello(&gpud, "gpud", 32);
    submit(f, "one");
    submit(f, "two");
    take(&synth);
    kill(f->server, SIGKILL);
    (void)end_of(f->server);
    f->server = start_server(f->dir);
    prove(&synth, &gpud);
    wait_for(f, "one", "done");
    take(&synth);
    prove(&synth, &gpud);
    wait_for(f, "two", "done");
    coord_client_close(&synth);
    coord_client_close(&gpud);
}

/* SIGTERM waits for what is under way, then ends with exit code 0. */
static void sigterm_drains(void **state)
{
    struct fixture *f = *state;
    struct coord_client synth, gpud;
    struct names names;
    struct ledger *ledger;
    add_circuit(f);
    coord_client_open(&synth, f->dir);
    coord_client_open(&gpud, f->dir);
    coord_client_hello(&synth, "synth", 41);
    coord_client_hello(&gpud, "gpud", 42);
    submit(f, "one");
    submit(f, "two");
    take(&synth);
    kill(f->server, SIGTERM);
    for (bool draining = false; !draining;) {
        json_t *status = status_of(f);
        draining = json_is_true(json_object_get(status, "draining"));
        json_decref(status);
    }
    json_t *reply = coord_client_ask(&synth, "take", ",\"wait_ms\":0", NULL);
    assert_true(json_is_null(json_object_get(reply, "job"))); /* nothing new is granted */
    json_decref(reply);
    struct handle h = synth.held;
    synth.held = (struct handle){0};
    expect_ok(with_handle(&synth, "submitted", h, NULL));
    reply = coord_client_ask(&gpud, "next", ",\"wait_ms\":1000,\"room\":1", NULL);
    h = read_handle(json_array_get(json_object_get(reply, "jobs"), 0));
    json_decref(reply);
    expect_ok(coord_client_ask(&synth, "bye", "", NULL));
    gpud.held = h;
    expect_ok(with_handle(&gpud, "copied", h, NULL));
    gpud.held = (struct handle){0};
    expect_ok(with_handle(&gpud, "done", h, "{\"proof\":1,\"public\":[]}"));
    int end = end_of(f->server);
    f->server = 0;
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
    /* the daemon is still there, so the ledger is too */
    assert_done(names_derive(&names, f->dir));
    assert_done(ledger_attach(&ledger, names.ledger));
    ledger_detach(ledger);
    coord_client_close(&synth);
    coord_client_close(&gpud);
}

static void leaves_nothing_when_nobody_is_left(void **state)
{
    struct fixture *f = *state;
    struct names names;
    struct ledger *ledger;
    json_decref(status_of(f));
    kill(f->server, SIGTERM);
    int end = end_of(f->server);
    f->server = 0;
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
    assert_done(names_derive(&names, f->dir));
    assert_refused(ledger_attach(&ledger, names.ledger), ST_NO_DAEMON, "");
    assert_int_equal(access(scratch_path((void *const *)&f->dir, "coord.sock"), F_OK), -1);
}

/* The command of docs/protocol.md. */
static void nngcat_reads_the_status(void **state)
{
    struct fixture *f = *state;
    char url[256], text[8192];
    size_t len = 0;
    ssize_t n;
    int out;
    json_decref(status_of(f));
    snprintf(url, sizeof url, "ipc://%s/coord.sock", f->dir);
    const char *argv[] = {"nngcat", "--req",  "--dial",
                          url,      "--data", "{\"op\":\"status\",\"protocol\":1}",
                          "--raw",  NULL};
    pid_t pid = start(&out, argv);
    if (pid < 0) {
        print_message("skipped: no nngcat (Debian: nng-utils)\n");
        skip();
    }
    while (len < sizeof text && (n = read(out, text + len, sizeof text - len)) > 0)
        len += (size_t)n;
    close(out);
    assert_int_equal(end_of(pid), 0);
    json_t *status = json_loadb(text, len, 0, NULL);
    assert_true(is_ok(status));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(status, "coord"), "pid")),
                     f->server);
    json_decref(status);
}

int main(void)
{
#define SERVER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        SERVER_TEST(a_job_from_end_to_end),
        SERVER_TEST(second_coordinator_is_refused),
        SERVER_TEST(killed_synthesis_is_noticed),
        SERVER_TEST(killed_coordinator_goes_on),
        SERVER_TEST(sigterm_drains),
        SERVER_TEST(leaves_nothing_when_nobody_is_left),
        SERVER_TEST(nngcat_reads_the_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
