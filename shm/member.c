#include "shm/member.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/process.h"

enum { PROTOCOL = 1, HELLOS = 3, NAME_MAX_BYTES = 255, BYE_MS = 1000 };

struct member {
    struct client *client;
    const char *role;
    struct client_limit limit;
    uint64_t incarnation, start_time, seq;
    uint32_t index;    /* in the coordinator's table; means something once joined */
    uint64_t instance; /* of the ledger attached to */
    bool orphaned, seed_allowed;
    struct ledger *ledger;
    struct arena *arena;
    json_t *config;
    struct handle holding[MSG_HOLDING_MAX];
    size_t held;
};

json_t *member_handle_json(struct handle h)
{
    return json_pack("[I,I]", (json_int_t)h.slot, (json_int_t)h.generation);
}

enum status member_handle_read(struct handle *out, const json_t *body, const char *name)
{
    const json_t *pair = json_object_get(body, name);
    json_int_t v[2];
    if (json_array_size(pair) != 2)
        return fail(ST_INPUT, "member \"%s\": must be [slot, generation]", name);
    for (size_t i = 0; i < 2; i++) {
        const json_t *n = json_array_get(pair, i);
        v[i] = json_integer_value(n);
        if (!json_is_integer(n) || v[i] < 0 || v[i] > UINT32_MAX)
            return fail(ST_INPUT, "member \"%s\": must be two integers of 32 bits", name);
    }
    *out = (struct handle){(uint32_t)v[0], (uint32_t)v[1]};
    return ST_OK;
}

static json_t *holding_json(const struct member *m)
{
    json_t *all = json_array();
    for (size_t i = 0; i < m->held; i++)
        json_array_append_new(all, member_handle_json(m->holding[i]));
    return all;
}

/* The head of the next request, with a number of its own. */
static json_t *request_head(struct member *m, const char *op)
{
    m->seq++;
    return json_pack("{s:s, s:i, s:o, s:I, s:o}", "op", op, "protocol", PROTOCOL, "incarnation",
                     msg_json_hex64(m->incarnation), "seq", (json_int_t)m->seq, "holding",
                     holding_json(m));
}

static json_t *hello_request(struct member *m)
{
    json_t *r = request_head(m, "hello");
    char start[24];
    snprintf(start, sizeof start, "%" PRIu64, m->start_time);
    json_object_set_new(r, "role", json_string(m->role));
    json_object_set_new(r, "pid", json_integer(getpid()));
    json_object_set_new(r, "start_time", json_string(start));
    /* msg_read_head wants client, incarnation and seq together */
    json_object_set_new(r, "client", json_integer(0));
    return r;
}

static enum status attach(struct member *m, const char *ledger, uint64_t instance)
{
    enum status st = ledger_attach(&m->ledger, ledger);
    if (st != ST_OK)
        return st;
    if (ledger_instance(m->ledger) != instance)
        return fail(ST_STALE, "%s: is not the ledger that the coordinator speaks of: start again",
                    ledger);
    m->instance = instance;
    bool writes = strcmp(m->role, "synth") == 0;
    return arena_attach(&m->arena, ledger_arena(m->ledger), writes ? ARENA_WRITE : ARENA_READ);
}

static enum status take_hello(struct member *m, const json_t *body)
{
    int64_t index;
    const char *ledger;
    uint64_t instance;
    enum status st = msg_int(&index, body, "client", 0, UINT16_MAX);
    if (st == ST_OK)
        st = msg_string(&ledger, body, "ledger", 1, NAME_MAX_BYTES);
    if (st == ST_OK)
        st = msg_hex64(&instance, body, "instance");
    if (st == ST_OK)
        st = msg_bool_opt(&m->seed_allowed, body, "allow_seed", false);
    if (st != ST_OK)
        return st;
    m->index = (uint32_t)index;
    if (!m->ledger)
        st = attach(m, ledger, instance);
    else if (instance != m->instance) {
        m->orphaned = true;
        st = fail(ST_STALE, "the arena was made anew: start again");
    }
    if (st == ST_OK && !m->config) {
        const json_t *config = json_object_get(body, "config");
        m->config = json_is_object(config) ? json_deep_copy(config) : json_object();
    }
    return st;
}

static enum status hello(struct member *m)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st = client_call(m->client, &reply, hello_request(m), NULL, 0, &m->limit);
    if (st == ST_OK)
        st = take_hello(m, reply.msg.body);
    client_reply_fini(&reply);
    return st;
}

enum status member_join(struct member **out, const struct member_options *options)
{
    char address[CLIENT_ADDRESS_MAX];
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return fail(ST_RESOURCE, "no memory");
    m->role = options->role == CLIENT_SYNTH ? "synth" : "gpud";
    m->limit = (struct client_limit){.stop = options->stop}; /* nothing to bring to an end yet */
    enum status st = client_address(address, options->where);
    if (st == ST_OK)
        st = process_random(&m->incarnation);
    if (st == ST_OK)
        st = process_start_time(&m->start_time, getpid());
    if (st == ST_OK)
        st = client_dial(&m->client, address, CLIENT_WAIT);
    if (st == ST_OK)
        st = hello(m);
    m->limit.ms_after_stop = options->ms_after_stop;
    if (st == ST_OK)
        *out = m;
    else
        member_leave(m);
    return st;
}

static void say_bye(struct member *m)
{
    struct client_reply reply = {.bytes = NULL};
    const struct client_limit once = {.ms = BYE_MS};
    m->held = 0;
    json_t *request = request_head(m, "bye");
    json_object_set_new(request, "client", json_integer(m->index));
    if (client_call(m->client, &reply, request, NULL, 0, &once) != ST_OK)
        status_clear(); /* whoever misses the goodbye sees the end of the process */
    client_reply_fini(&reply);
}

void member_leave(struct member *m)
{
    if (!m)
        return;
    if (m->arena && !m->orphaned)
        say_bye(m);
    client_close(m->client);
    arena_detach(m->arena);
    ledger_detach(m->ledger);
    json_decref(m->config);
    free(m);
}

enum status member_call(struct member *m, struct client_reply *reply, const char *op,
                        json_t *members, const void *payload, size_t payload_len)
{
    enum status st = ST_OK;
    for (int i = 0; i < HELLOS; i++) {
        json_t *request = request_head(m, op);
        json_object_set_new(request, "client", json_integer(m->index));
        if (members)
            json_object_update(request, members);
        st = client_call(m->client, reply, request, payload, payload_len, &m->limit);
        if (st == ST_OK || strcmp(client_refusal(m->client), "unknown-client") != 0)
            break;
        status_clear();
        st = hello(m);
        if (st != ST_OK)
            break;
        st = fail(ST_INTERNAL, "%s: the coordinator forgets this process again and again", op);
        if (i + 1 < HELLOS)
            status_clear();
    }
    json_decref(members);
    return st;
}

bool member_orphaned(const struct member *m)
{
    return m->orphaned;
}

void member_hold(struct member *m, struct handle h)
{
    member_drop(m, h);
    CHECK(m->held < MSG_HOLDING_MAX);
    m->holding[m->held++] = h;
}

void member_drop(struct member *m, struct handle h)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->held; i++)
        if (m->holding[i].slot != h.slot || m->holding[i].generation != h.generation)
            m->holding[kept++] = m->holding[i];
    m->held = kept;
}

uint64_t member_incarnation(const struct member *m)
{
    return m->incarnation;
}

const struct ledger *member_ledger(const struct member *m)
{
    return m->ledger;
}

const struct arena *member_arena(const struct member *m)
{
    return m->arena;
}

const json_t *member_config(const struct member *m)
{
    return m->config;
}

bool member_seed_allowed(const struct member *m)
{
    return m->seed_allowed;
}
