/* The asking side against a coordinator that loses requests, refuses, goes away and comes back. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/client.h"
#include "tests/unit/fake_coord.h"
#include "tests/unit/scratch.h"

static const struct client_limit patient = {.ms = 20000};

static json_t *request(const char *op)
{
    return json_pack("{s:s, s:i}", "op", op, "protocol", 1);
}

static const char *address_of(void **state, const char *name)
{
    static char address[CLIENT_ADDRESS_MAX];
    snprintf(address, sizeof address, "ipc://%s", scratch_path(state, name));
    return address;
}

static void addresses_follow_the_directory(void **state)
{
    (void)state;
    char out[CLIENT_ADDRESS_MAX], longest[200];
    assert_int_equal(client_address(out, "/run/p"), ST_OK);
    assert_string_equal(out, "ipc:///run/p/coord.sock");
    assert_int_equal(client_address(out, "ipc:///x.sock"), ST_OK);
    assert_string_equal(out, "ipc:///x.sock");
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(client_address(out, longest), ST_USAGE);
    assert_non_null(strstr(status_message(), "107 bytes"));
    status_clear();
}

static void nobody_listening_is_said_at_once(void **state)
{
    struct client *c = NULL;
    assert_int_equal(client_dial(&c, address_of(state, "none"), CLIENT_NOW), ST_NO_DAEMON);
    assert_non_null(strstr(status_message(), "pinion up"));
    status_clear();
}

/* ---- answers ---- */

struct script {
    unsigned seen, lose; /* requests so far; how many of the first get no reply */
    size_t payload;      /* bytes of the last */
};

static json_t *scripted(void *arg, const struct msg *m, char **payload)
{
    struct script *s = arg;
    const char *op = json_string_value(json_object_get(m->body, "op"));
    s->payload = m->payload_len;
    if (s->seen++ < s->lose)
        return NULL;
    if (strcmp(op, "fetch") == 0)
        *payload = strdup("bytes");
    if (strcmp(op, "fetch") == 0 || strcmp(op, "ok") == 0)
        return msg_reply_ok();
    return json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "code", op, "message", "because");
}

static void replies_and_payloads_come_back(void **state)
{
    struct script s = {0};
    struct client *c = NULL;
    struct client_reply r = {.bytes = NULL};
    struct fake_coord *f = fake_coord_start(scratch_path(state, "s"), scripted, &s);
    assert_int_equal(client_dial(&c, address_of(state, "s"), CLIENT_NOW), ST_OK);
    assert_int_equal(client_call(c, &r, request("fetch"), "abc", 3, &patient), ST_OK);
    assert_int_equal(s.payload, 3);
    assert_int_equal(r.msg.payload_len, 5);
    assert_memory_equal(r.msg.payload, "bytes", 5);
    client_reply_fini(&r);
    client_close(c);
    fake_coord_stop(f);
}

static void refusals_become_statuses(void **state)
{
    static const struct {
        const char *code;
        enum status st;
    } cases[] = {
        {"usage", ST_USAGE},       {"input", ST_INPUT},
        {"stale", ST_STALE},       {"refused", ST_RESOURCE},
        {"unknown", ST_INPUT},     {"full", ST_RESOURCE},
        {"resource", ST_RESOURCE}, {"internal", ST_INTERNAL},
        {"draining", ST_RESOURCE}, {"unknown-client", ST_NO_DAEMON},
        {"made-up", ST_INTERNAL},
    };
    struct script s = {0};
    struct client *c = NULL;
    struct client_reply r = {.bytes = NULL};
    struct fake_coord *f = fake_coord_start(scratch_path(state, "s"), scripted, &s);
    assert_int_equal(client_dial(&c, address_of(state, "s"), CLIENT_NOW), ST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(client_call(c, &r, request(cases[i].code), NULL, 0, &patient),
                         cases[i].st);
        assert_string_equal(status_message(), "because");
        assert_string_equal(client_refusal(c), cases[i].code);
        status_clear();
    }
    client_close(c);
    fake_coord_stop(f);
}

static void lost_requests_are_sent_again(void **state)
{
    struct script s = {.lose = 2};
    struct client *c = NULL;
    struct client_reply r = {.bytes = NULL};
    struct fake_coord *f = fake_coord_start(scratch_path(state, "s"), scripted, &s);
    assert_int_equal(client_dial(&c, address_of(state, "s"), CLIENT_NOW), ST_OK);
    assert_int_equal(client_call(c, &r, request("ok"), NULL, 0, &patient), ST_OK);
    assert_true(s.seen >= 3);
    assert_string_equal(client_refusal(c), "");
    client_reply_fini(&r);
    client_close(c);
    fake_coord_stop(f);
}

static void waiting_ends_at_the_limit(void **state)
{
    struct script s = {.lose = 1000};
    struct client *c = NULL;
    struct client_reply r = {.bytes = NULL};
    atomic_bool stop = true;
    const struct client_limit soon = {.ms = 1}, stopped = {.stop = &stop, .ms_after_stop = 0};
    struct fake_coord *f = fake_coord_start(scratch_path(state, "s"), scripted, &s);
    assert_int_equal(client_dial(&c, address_of(state, "s"), CLIENT_NOW), ST_OK);
    assert_int_equal(client_call(c, &r, request("ok"), NULL, 0, &soon), ST_NO_DAEMON);
    status_clear();
    assert_int_equal(client_call(c, &r, request("ok"), NULL, 0, &stopped), ST_NO_DAEMON);
    status_clear();
    client_close(c);
    fake_coord_stop(f);
}

/* ---- a coordinator that comes later, and one that is restarted ---- */

struct restart {
    const char *path;
    struct script *script;
    struct fake_coord *next;
};

static void *start_later(void *arg)
{
    struct restart *r = arg;
    r->next = fake_coord_start(r->path, scripted, r->script);
    return NULL;
}

static void a_restart_goes_unnoticed(void **state)
{
    struct script s = {0};
    struct client *c = NULL;
    struct client_reply r = {.bytes = NULL};
    pthread_t thread;
    struct restart later = {.path = scratch_path(state, "s"), .script = &s};
    assert_int_equal(client_dial(&c, address_of(state, "s"), CLIENT_WAIT), ST_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread, NULL, start_later, &later), 0);
        assert_int_equal(client_call(c, &r, request("ok"), NULL, 0, &patient), ST_OK);
        client_reply_fini(&r);
        pthread_join(thread, NULL);
        fake_coord_stop(later.next);
    }
    assert_true(s.seen >= 2);
    client_close(c);
}

/* The flag of a signal handler is seen while a reply is waited for. */
static void *raise_flag(void *arg)
{
    const struct timespec soon = {.tv_nsec = 100000000};
    atomic_bool *flag = arg;
    nanosleep(&soon, NULL);
    atomic_store_explicit(flag, true, memory_order_relaxed);
    return NULL;
}

static void a_stop_is_noticed_while_waiting(void **state)
{
    struct script s = {.lose = 1000};
    struct client *c = NULL;
    struct client_reply r = {.bytes = NULL};
    struct timespec before, after;
    atomic_bool stop = false;
    pthread_t thread;
    const struct client_limit limit = {.stop = &stop};
    struct fake_coord *f = fake_coord_start(scratch_path(state, "s"), scripted, &s);
    assert_int_equal(client_dial(&c, address_of(state, "s"), CLIENT_NOW), ST_OK);
    assert_int_equal(pthread_create(&thread, NULL, raise_flag, &stop), 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(client_call(c, &r, request("ok"), NULL, 0, &limit), ST_NO_DAEMON);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 2); /* less than the 2 s of a round */
    assert_non_null(strstr(status_message(), "does not answer"));
    status_clear();
    pthread_join(thread, NULL);
    client_close(c);
    fake_coord_stop(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_follow_the_directory),
        cmocka_unit_test(nobody_listening_is_said_at_once),
        cmocka_unit_test(replies_and_payloads_come_back),
        cmocka_unit_test(refusals_become_statuses),
        cmocka_unit_test(lost_requests_are_sent_again),
        cmocka_unit_test(waiting_ends_at_the_limit),
        cmocka_unit_test(a_restart_goes_unnoticed),
        cmocka_unit_test(a_stop_is_noticed_while_waiting),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
