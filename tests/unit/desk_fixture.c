#include "tests/unit/desk_fixture.h"

#include <signal.h>
#include <time.h>

#include "common/log.h"
#include "common/sha256.h"
#include "shm/process.h"
#include "tests/unit/scratch.h"
#include "tests/unit/test_key.h"

/* ---- the host ---- */

static int64_t monotonic(void *arg)
{
    return (int64_t)(process_monotonic_ns() / 1000000) + ((struct office *)arg)->clock;
}

static int64_t wall(void *arg)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + ((struct office *)arg)->clock;
}

static struct reply *reply_of(struct office *o, void *token)
{
    size_t number = (size_t)(uintptr_t)token;
    assert_true(number >= 1 && number <= o->reply_count);
    return &o->replies[number - 1];
}

static void take_reply(void *arg, void *token, void *bytes, size_t len)
{
    struct reply *r = reply_of(arg, token);
    assert_false(r->come || r->dropped); /* one reply a request */
    size_t text = strnlen(bytes, len);
    r->come = true;
    r->body = json_loadb(bytes, text, 0, NULL);
    assert_non_null(r->body);
    if (text < len)
        r->payload = strndup((char *)bytes + text + 1, len - text - 1);
    free(bytes);
}

static void take_drop(void *arg, void *token)
{
    struct reply *r = reply_of(arg, token);
    assert_false(r->come || r->dropped);
    r->dropped = true;
}

static struct process *find_process(struct office *o, int32_t pid)
{
    for (size_t i = 0; i < o->process_count; i++)
        if (o->processes[i].pid == pid)
            return &o->processes[i];
    return NULL;
}

static bool is_alive(void *arg, int32_t pid, uint64_t start_time)
{
    struct process *p = find_process(arg, pid);
    return p && !p->dead && start_time == (uint64_t)pid * 10;
}

static bool watch(void *arg, uint16_t client, int32_t pid, uint64_t start_time)
{
    struct office *o = arg;
    if (!is_alive(arg, pid, start_time))
        return false;
    assert_int_equal(o->watched[client], 0);
    o->watched[client] = pid;
    return true;
}

static void unwatch(void *arg, uint16_t client)
{
    ((struct office *)arg)->watched[client] = 0;
}

static void take_signal(void *arg, uint16_t client, int signal)
{
    struct process *p = find_process(arg, ((struct office *)arg)->watched[client]);
    assert_non_null(p);
    assert_true(p->signal_count < 8);
    p->signals[p->signal_count++] = signal;
}

static bool is_admin(void *arg, uint32_t uid)
{
    (void)arg;
    return uid == OWNER || uid == 0;
}

/* ---- parts ---- */

static const char *path_in(const struct office *o, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", o->dir, name);
    return path;
}

static void add_circuit(struct office *o, const char *name, int w, int ab)
{
    char text[64], key[512];
    enum store_progress progress = STORE_ADDING;
    snprintf(text, sizeof text, "%zu %zu %zu 1000", (size_t)w * FIXTURE_PAGE,
             (size_t)ab * FIXTURE_PAGE / 2, (size_t)ab * FIXTURE_PAGE / 2);
    snprintf(key, sizeof key, "%s", path_in(o, "a-key"));
    scratch_write(key, text, strlen(text));
    while (progress != STORE_READY)
        assert_done(store_add(o->store, &progress, name, key, NULL));
}

static struct desk_config defaults(void)
{
    return (struct desk_config){.ledger_name = "/pinion-test-ledger",
                                .version = "0",
                                .source = "",
                                .backend = "cpu",
                                .devices = "all",
                                .owner = OWNER,
                                .ageing_ms = 60000,
                                .lease_ms = 100000,
                                .term_ms = 10000,
                                .kill_ms = 5000,
                                .host_memory = 1 << 20,
                                .key_budget = 1 << 18,
                                .stuck_factor = 10,
                                .stuck_ms = 30000,
                                .upload_idle_ms = 60000,
                                .journal_keep = 1000,
                                .journal_keep_ms = 86400000};
}

static struct arena_desc small_arena(void)
{
    struct arena_desc a = fixture_arena();
    a.bytes = (uint64_t)OFFICE_PAGES * FIXTURE_PAGE;
    return a;
}

void office_start(struct office *o)
{
    struct desk_parts parts;
    assert_done(journal_open(&o->journal, NULL, path_in(o, "journal.db")));
    assert_done(spool_open(&o->spool, path_in(o, "spool"), 1 << 20));
    parts = (struct desk_parts){.ledger = o->ledger,
                                .journal = o->journal,
                                .spool = o->spool,
                                .store = o->store,
                                .host = &o->host,
                                .config = &o->config,
                                .arena_is_new = o->arena_is_new};
    assert_done(desk_create(&o->desk, &parts));
    o->arena_is_new = false;
    desk_check(o->desk);
}

void office_crash(struct office *o)
{
    desk_destroy(o->desk);
    journal_close(o->journal);
    spool_close(o->spool);
    o->desk = NULL;
    o->journal = NULL;
    o->spool = NULL;
}

void office_restart(struct office *o)
{
    office_crash(o);
    office_start(o);
}

int office_setup(void **state)
{
    struct office *o = calloc(1, sizeof *o);
    struct arena_desc arena = small_arena();
    void *dir;
    assert_non_null(o);
    log_set_level(getenv("PINION_TEST_LOG") ? LEVEL_DEBUG : LEVEL_ERROR);
    assert_int_equal(scratch_setup(&dir), 0);
    o->dir = dir;
    o->host = (struct desk_host){.arg = o,
                                 .monotonic = monotonic,
                                 .wall = wall,
                                 .reply = take_reply,
                                 .drop = take_drop,
                                 .watch = watch,
                                 .unwatch = unwatch,
                                 .signal = take_signal,
                                 .is_alive = is_alive,
                                 .is_admin = is_admin};
    o->config = defaults();
    o->next_pid = 100;
    o->arena_is_new = true;
    assert_done(ledger_lock_acquire(&o->lock, path_in(o, "coord.lock")));
    assert_done(ledger_create(&o->ledger, o->lock, fixture_name("desk"), FIXTURE_CLIENTS,
                              OFFICE_SLOTS, &arena));
    assert_done(store_open(&o->store, path_in(o, "circuits"), test_key_inspect, NULL, NULL));
    add_circuit(o, "small", 1, 2);
    add_circuit(o, "medium", 4, 8);
    add_circuit(o, "big", 16, 32);
    office_start(o);
    *state = o;
    return 0;
}

int office_teardown(void **state)
{
    struct office *o = *state;
    void *dir = o->dir;
    office_crash(o);
    store_close(o->store);
    ledger_detach(o->ledger);
    assert_done(ledger_unlink(fixture_name("desk")));
    ledger_lock_release(o->lock);
    for (size_t i = 0; i < o->reply_count; i++) {
        json_decref(o->replies[i].body);
        free(o->replies[i].payload);
    }
    free(o->replies);
    free(o);
    return scratch_teardown(&dir);
}

/* ---- requests ---- */

void office_pass(struct office *o, int64_t ms)
{
    o->clock += ms;
    desk_tick(o->desk);
    desk_check(o->desk);
}

size_t office_send_bytes(struct office *o, uint32_t uid, int32_t pid, const char *text,
                         const char *payload)
{
    struct desk_peer peer = {.uid = uid, .pid = pid};
    size_t n = strlen(text), extra = payload ? 1 + strlen(payload) : 0;
    char *bytes = malloc(n + extra + 1);
    assert_non_null(bytes);
    memcpy(bytes, text, n + 1);
    if (payload)
        memcpy(bytes + n + 1, payload, extra);
    if (o->reply_count == o->reply_capacity) {
        o->reply_capacity = o->reply_capacity ? 2 * o->reply_capacity : 64;
        o->replies = reallocarray(o->replies, o->reply_capacity, sizeof *o->replies);
        assert_non_null(o->replies);
    }
    o->replies[o->reply_count++] = (struct reply){.come = false};
    size_t token = o->reply_count;
    desk_request(o->desk, (void *)(uintptr_t)token, &peer, bytes, n + extra);
    free(bytes);
    desk_check(o->desk);
    return token;
}

size_t office_send(struct office *o, uint32_t uid, int32_t pid, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(text, sizeof text, format, args) < (int)sizeof text);
    va_end(args);
    return office_send_bytes(o, uid, pid, text, NULL);
}

bool office_has_reply(const struct office *o, size_t token)
{
    return o->replies[token - 1].come;
}

bool office_was_dropped(const struct office *o, size_t token)
{
    return o->replies[token - 1].dropped;
}

json_t *office_reply(struct office *o, size_t token)
{
    for (int i = 0; i < 12 && !o->replies[token - 1].come; i++)
        office_pass(o, i < 2 ? JOURNAL_COMMIT_MS + 1 : 100);
    assert_true(o->replies[token - 1].come);
    return o->replies[token - 1].body;
}

const char *office_payload(struct office *o, size_t token)
{
    (void)office_reply(o, token);
    return o->replies[token - 1].payload;
}

json_t *office_ask(struct office *o, uint32_t uid, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(text, sizeof text, format, args) < (int)sizeof text);
    va_end(args);
    return office_reply(o, office_send_bytes(o, uid, 0, text, NULL));
}

bool is_ok(const json_t *reply)
{
    return json_is_true(json_object_get(reply, "ok"));
}

const char *error_code(const json_t *reply)
{
    const char *code = json_string_value(json_object_get(json_object_get(reply, "error"), "code"));
    return code ? code : "";
}

/* ---- workers ---- */

static size_t say_hello(struct office *o, const struct worker *w, const char *role)
{
    return office_send(o, OWNER, w->pid,
                       "{\"op\":\"hello\",\"protocol\":1,\"role\":\"%s\",\"pid\":%d,"
                       "\"start_time\":\"%d\",\"incarnation\":\"%" PRIx64
                       "\",\"seq\":1,\"holding\":[],\"version\":\"0\"}",
                       role, w->pid, w->pid * 10, w->incarnation);
}

struct worker office_hire(struct office *o, const char *role)
{
    struct worker w = {.pid = o->next_pid++, .seq = 1};
    w.incarnation = UINT64_C(0xabc0000000000000) + (uint64_t)w.pid;
    assert_true(o->process_count < sizeof o->processes / sizeof *o->processes);
    o->processes[o->process_count++] = (struct process){.pid = w.pid};
    json_t *reply = office_reply(o, say_hello(o, &w, role));
    assert_true(is_ok(reply));
    w.client = (unsigned)json_integer_value(json_object_get(reply, "client"));
    return w;
}

void office_kill(struct office *o, const struct worker *w)
{
    struct process *p = find_process(o, w->pid);
    p->dead = true;
    *p = o->processes[--o->process_count];
    for (uint16_t i = 0; i < FIXTURE_CLIENTS && o->desk; i++)
        if (o->watched[i] == w->pid) {
            desk_died(o->desk, i);
            desk_check(o->desk);
        }
}

static size_t send_head(struct office *o, const struct worker *w, const char *op,
                        const char *members, const char *payload)
{
    char text[8192];
    int n = snprintf(text, sizeof text,
                     "{\"op\":\"%s\",\"protocol\":1,\"client\":%u,\"incarnation\":\"%" PRIx64
                     "\",\"seq\":%" PRIu64 ",\"holding\":[",
                     op, w->client, w->incarnation, w->seq);
    for (size_t i = 0; i < w->held_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s[%u,%u]", i ? "," : "", w->held[i].slot,
                      w->held[i].generation);
    n += snprintf(text + n, sizeof text - (size_t)n, "]%s}", members);
    assert_true(n < (int)sizeof text);
    return office_send_bytes(o, OWNER, w->pid, text, payload);
}

size_t worker_send(struct office *o, struct worker *w, const char *op, const char *members,
                   const char *payload)
{
    w->seq++;
    return send_head(o, w, op, members, payload);
}

json_t *worker_ask(struct office *o, struct worker *w, const char *op, const char *members)
{
    return office_reply(o, worker_send(o, w, op, members, NULL));
}

static void hold(struct worker *w, struct handle h)
{
    assert_true(w->held_count < sizeof w->held / sizeof *w->held);
    w->held[w->held_count++] = h;
}

void worker_let_go(struct worker *w, struct handle h)
{
    for (size_t i = 0; i < w->held_count; i++)
        if (w->held[i].slot == h.slot && w->held[i].generation == h.generation)
            w->held[i--] = w->held[--w->held_count];
}

static struct handle read_handle(const json_t *pair)
{
    return (struct handle){.slot = (uint32_t)json_integer_value(json_array_get(pair, 0)),
                           .generation = (uint32_t)json_integer_value(json_array_get(pair, 1))};
}

struct handle worker_take(struct office *o, struct worker *w)
{
    json_t *reply = worker_ask(o, w, "take", ",\"wait_ms\":0");
    assert_true(is_ok(reply));
    if (json_is_null(json_object_get(reply, "job")))
        return (struct handle){0};
    struct handle h = read_handle(json_object_get(reply, "handle"));
    hold(w, h);
    return h;
}

bool worker_says(struct office *o, struct worker *w, const char *op, struct handle h,
                 const char *members)
{
    char all[1024];
    snprintf(all, sizeof all, ",\"handle\":[%u,%u]%s", h.slot, h.generation, members);
    if (strcmp(op, "copied") != 0 && strcmp(op, "gave_back") != 0)
        worker_let_go(w, h);
    return is_ok(worker_ask(o, w, op, all));
}

bool worker_done(struct office *o, struct worker *w, struct handle h)
{
    char members[128];
    snprintf(members, sizeof members, ",\"handle\":[%u,%u],\"stages\":{\"ntt\":2.5}", h.slot,
             h.generation);
    worker_let_go(w, h);
    size_t token =
        worker_send(o, w, "done", members, "{\"proof\":{\"pi_a\":[\"1\"]},\"public\":[\"7\"]}");
    return is_ok(office_reply(o, token));
}

size_t worker_next(struct office *o, struct worker *w, unsigned room)
{
    char members[64];
    snprintf(members, sizeof members, ",\"wait_ms\":0,\"room\":%u", room);
    json_t *reply = worker_ask(o, w, "next", members);
    assert_true(is_ok(reply));
    json_t *jobs = json_object_get(reply, "jobs");
    for (size_t i = 0; i < json_array_size(jobs); i++)
        hold(w, read_handle(json_object_get(json_array_get(jobs, i), "handle")));
    return json_array_size(jobs);
}

/* ---- jobs ---- */

static void digest_hex(char out[65], const char *text)
{
    struct sha256 h;
    uint8_t digest[32];
    sha256_init(&h);
    sha256_update(&h, text, strlen(text));
    sha256_final(&h, digest);
    for (size_t i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void office_announce(struct office *o, uint32_t uid, const char *id, const char *circuit,
                     const char *members)
{
    char digest[65], text[256];
    digest_hex(digest, "witness");
    json_t *reply = office_ask(o, uid,
                               "{\"op\":\"submit\",\"protocol\":1,\"id\":\"%s\",\"circuit\":\"%s\","
                               "\"size\":7,\"sha256\":\"%s\"%s}",
                               id, circuit, digest, members);
    assert_true(is_ok(reply));
    snprintf(text, sizeof text, "{\"op\":\"upload\",\"protocol\":1,\"id\":\"%s\",\"offset\":0}",
             id);
    if (!json_is_null(json_object_get(reply, "upload")))
        assert_true(is_ok(office_reply(o, office_send_bytes(o, uid, 0, text, "witness"))));
}

void office_submit(struct office *o, uint32_t uid, const char *id, const char *circuit,
                   const char *members)
{
    office_announce(o, uid, id, circuit, members);
    assert_true(is_ok(office_ask(o, uid, "{\"op\":\"commit\",\"protocol\":1,\"id\":\"%s\"}", id)));
}

struct job office_job(struct office *o, const char *id)
{
    struct job job;
    assert_done(journal_find(o->journal, &job, id));
    return job;
}

enum slot_state office_slot_state(struct office *o, struct handle h)
{
    struct slice_record r;
    enum status st = ledger_read(o->ledger, h, &r);
    status_clear();
    return st == ST_OK ? r.state : SLOT_FREE;
}

uint64_t office_free_bytes(struct office *o)
{
    json_t *status = office_ask(o, BOB, "{\"op\":\"status\",\"protocol\":1}");
    json_t *arena = json_object_get(status, "arena");
    uint64_t unused = (uint64_t)json_integer_value(json_object_get(arena, "free"));
    uint64_t granted = (uint64_t)json_integer_value(json_object_get(arena, "granted"));
    assert_int_equal(unused + granted, OFFICE_PAGES * FIXTURE_PAGE);
    return unused;
}

struct scene office_stage(struct office *o, enum slot_state state)
{
    struct scene s = {.synth = office_hire(o, "synth"), .gpud = office_hire(o, "gpud")};
    office_submit(o, ALICE, "j", "small", "");
    s.h = worker_take(o, &s.synth);
    assert_int_not_equal(s.h.generation, 0);
    if (state > SLOT_WRITING)
        assert_true(worker_says(o, &s.synth, "submitted", s.h, ""));
    if (state > SLOT_SUBMITTED)
        assert_int_equal(worker_next(o, &s.gpud, 1), 1);
    if (state > SLOT_COPYING)
        assert_true(worker_says(o, &s.gpud, "copied", s.h, ""));
    if (state > SLOT_PROVING)
        assert_true(worker_says(o, &s.gpud, "gave_back", s.h, ""));
    assert_int_equal(office_slot_state(o, s.h), state);
    return s;
}
