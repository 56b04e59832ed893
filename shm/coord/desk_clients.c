/* Clients: hello, bye, repeated requests, holding lists, deaths. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"
#include "shm/process.h"

uint16_t clients_gpud(const struct desk *d)
{
    for (uint32_t i = 0; i < d->client_count; i++)
        if (d->clients[i].used && d->clients[i].role == CLIENT_GPUD)
            return (uint16_t)i;
    return CLIENT_NONE;
}

/* ---- leaving ---- */

static bool knew_it(const struct desk *d, uint64_t granted_ns)
{
    for (uint32_t i = 0; i < d->client_count; i++)
        if (d->clients[i].used && d->clients[i].added_ns <= granted_ns)
            return true;
    return false;
}

void clients_clear_quarantine(struct desk *d)
{
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const struct desk_slot *s = &d->slots[i];
        if (s->state == SLOT_QUARANTINE && s->client == CLIENT_NONE && !knew_it(d, s->granted_ns))
            slots_free(d, i);
    }
}

static void remove_client(struct desk *d, uint16_t index)
{
    struct desk_client *c = &d->clients[index];
    desk_forget_pending(d, index);
    d->host->unwatch(d->host->arg, index);
    ledger_client_remove(d->ledger, index);
    free(c->reply);
    if (c->role == CLIENT_GPUD) {
        json_decref(d->devices);
        d->devices = NULL;
        d->key_count = 0;
    }
    *c = (struct desk_client){.used = false};
    clients_clear_quarantine(d);
}

/* A slice that synthesis was writing is free, and its job waits again unless it has ended. */
static void take_from_synth(struct desk *d, uint32_t i, struct job_blame blame,
                            const char *evidence)
{
    struct desk_slot *s = &d->slots[i];
    uint64_t number = s->number;
    bool again = s->state == SLOT_WRITING && !s->ended && number != 0;
    slots_free(d, i);
    if (again)
        jobs_requeue(d, number, blame, evidence);
}

static void lose_slot(struct desk *d, uint32_t i, struct job_blame blame, const char *evidence)
{
    const struct desk_slot *s = &d->slots[i];
    if (s->state >= SLOT_COPYING && s->state <= SLOT_LEAN)
        gpud_return_slot(d, i, blame, evidence);
    else
        take_from_synth(d, i, blame, evidence);
}

static bool died_alone(const struct desk *d, uint16_t client)
{
    bool suspect = false;
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (d->slots[i].state != SLOT_FREE && d->slots[i].client == client)
            suspect = d->slots[i].flags & SLOT_SUSPECT;
    return suspect && slots_in_flight(d) == 1;
}

void clients_died(struct desk *d, uint16_t index)
{
    struct desk_client *c = &d->clients[index];
    struct job_blame blame = {.synth_death = true};
    char evidence[128];
    if (!c->used)
        return;
    snprintf(evidence, sizeof evidence, "%s process %d died with it",
             c->role == CLIENT_GPUD ? "proving" : "synthesis", c->pid);
    if (c->role == CLIENT_GPUD)
        blame = (struct job_blame){.suspect = true, .gpud_death_alone = died_alone(d, index)};
    view_note(d, c->role == CLIENT_GPUD ? "daemon died" : "synthesis died", NULL, 0);
    log_event(LEVEL_WARN, NULL, "client died", log_i64("pid", c->pid), log_u64("client", index));
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (d->slots[i].state != SLOT_FREE && d->slots[i].client == index)
            lose_slot(d, i, blame, evidence);
    d->deaths++;
    remove_client(d, index);
}

struct answer handle_bye(struct desk *d, struct request *r)
{
    if (r->head.holding_count > 0)
        return answer_error("usage", "bye: %zu slices are still held", r->head.holding_count);
    log_event(LEVEL_INFO, NULL, "client left", log_i64("pid", d->clients[r->client].pid),
              log_u64("client", r->client));
    remove_client(d, r->client);
    r->client = CLIENT_NONE;
    return answer_done(ANSWER_NOW);
}

/* ---- holding lists ---- */

bool clients_lists(const struct desk *d, const struct request *r, uint32_t i)
{
    struct handle h = slots_handle(d, i);
    if (r->handle.slot == h.slot && r->handle.generation == h.generation)
        return true;
    for (size_t n = 0; n < r->head.holding_count; n++)
        if (r->head.holding[n][0] == h.slot && r->head.holding[n][1] == h.generation)
            return true;
    return false;
}

/* What was granted to the client and is missing from its list was lost on the way to it, or let
 * go: nobody is to blame. */
static void take_in_holding(struct desk *d, const struct request *r)
{
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (d->slots[i].state != SLOT_FREE && d->slots[i].client == r->client &&
            !clients_lists(d, r, i))
            lose_slot(d, i, (struct job_blame){0}, "its process does not hold it");
}

/* ---- repeated requests ---- */

/* Whether a request of that number waits for its reply; the new token takes over. */
static bool take_over_pending(struct desk *d, uint16_t client, uint64_t seq, void *token)
{
    void **place = NULL;
    for (size_t i = 0; i < d->waiting_count && !place; i++)
        if (d->waiting[i].client == client && d->waiting[i].seq == seq)
            place = &d->waiting[i].token;
    for (size_t i = 0; i < d->unsent_count && !place; i++)
        if (d->unsent[i].client == client && d->unsent[i].seq == seq)
            place = &d->unsent[i].token;
    if (!place)
        return false;
    d->host->drop(d->host->arg, *place);
    *place = token;
    return true;
}

static bool answer_again(struct desk *d, const struct desk_client *c, const struct request *r)
{
    if (take_over_pending(d, r->client, r->head.seq, r->token))
        return true;
    if (!c->reply || c->reply_seq != r->head.seq)
        return false;
    void *copy = malloc(c->reply_len);
    CHECK(copy);
    memcpy(copy, c->reply, c->reply_len);
    d->host->reply(d->host->arg, r->token, copy, c->reply_len);
    return true;
}

static bool may_work(const struct desk *d, const struct desk_peer *peer, int32_t pid)
{
    bool own = peer->uid == d->config->owner || peer->uid == 0;
    return own && (peer->pid == 0 || peer->pid == pid);
}

bool clients_admit(struct desk *d, struct request *r, struct answer *a)
{
    const struct msg_head *h = &r->head;
    struct desk_client *c = h->client < d->client_count ? &d->clients[h->client] : NULL;
    if (!h->client_given) {
        *a = answer_error("usage", "%s: is for clients: say hello first", h->op);
        return false;
    }
    if (!c || !c->used || c->incarnation != h->incarnation) {
        *a = answer_error("unknown-client", "client %u: say hello", h->client);
        return false;
    }
    if (!may_work(d, &r->peer, c->pid)) {
        *a = answer_error("refused", "client %u: is another process", h->client);
        return false;
    }
    if (h->seq < c->sequence) {
        *a = answer_error("stale", "request %" PRIu64 ": %" PRIu64 " was seen already", h->seq,
                          c->sequence);
        return false;
    }
    r->client = (uint16_t)h->client;
    c->heard = desk_now(d);
    r->repeated = h->seq == c->sequence;
    if (r->repeated && answer_again(d, c, r)) {
        *a = (struct answer){.when = ANSWER_PARKED};
        return false;
    }
    if (!r->repeated) {
        desk_forget_pending(d, r->client);
        ledger_client_sequence(d->ledger, r->client, h->seq);
        c->sequence = h->seq;
        take_in_holding(d, r);
    }
    return true;
}

/* ---- hello ---- */

struct hello {
    enum client_role role;
    int32_t pid;
    uint64_t start_time, incarnation;
};

static enum status read_decimal(uint64_t *out, const json_t *body, const char *name)
{
    const char *text = "";
    enum status st = msg_string(&text, body, name, 1, 20);
    if (st != ST_OK)
        return st;
    if (strspn(text, "0123456789") != strlen(text))
        return fail(ST_INPUT, "member \"%s\": must be decimal digits", name);
    *out = strtoull(text, NULL, 10);
    return ST_OK;
}

static enum status read_hello(struct hello *out, struct request *r)
{
    const json_t *body = r->message.body;
    const char *role = "";
    int64_t pid = 0, seq = 0;
    enum status st = msg_string(&role, body, "role", 1, 16);
    if (st == ST_OK)
        st = msg_int(&pid, body, "pid", 1, INT32_MAX);
    if (st == ST_OK)
        st = read_decimal(&out->start_time, body, "start_time");
    if (st == ST_OK)
        st = msg_hex64(&out->incarnation, body, "incarnation");
    if (st == ST_OK)
        st = msg_int(&seq, body, "seq", 1, INT64_MAX);
    if (st == ST_OK)
        st = msg_pairs(r->head.holding, &r->head.holding_count, MSG_HOLDING_MAX, body, "holding");
    if (st != ST_OK)
        return st;
    out->pid = (int32_t)pid;
    r->head.seq = (uint64_t)seq;
    out->role = strcmp(role, "synth") == 0  ? CLIENT_SYNTH
                : strcmp(role, "gpud") == 0 ? CLIENT_GPUD
                                            : 0;
    if (out->role == 0)
        return fail(ST_INPUT, "member \"role\": must be \"synth\" or \"gpud\"");
    return out->incarnation != 0 ? ST_OK : fail(ST_INPUT, "member \"incarnation\": is zero");
}

static json_t *describe_role(const struct desk *d, enum client_role role)
{
    const struct desk_config *c = d->config;
    if (role == CLIENT_SYNTH)
        return json_pack("{s:I}", "threads", (json_int_t)c->synth_threads);
    return json_pack("{s:s, s:s, s:I, s:I}", "backend", c->backend, "devices", c->devices,
                     "key_budget", (json_int_t)c->key_budget, "threads",
                     (json_int_t)c->gpud_threads);
}

static struct answer welcome(const struct desk *d, uint16_t index)
{
    return answer_ok(
        json_pack("{s:i, s:s, s:o, s:b, s:o}", "client", index, "ledger", d->config->ledger_name,
                  "instance", msg_json_hex64(ledger_instance(d->ledger)), "allow_seed",
                  d->config->allow_seed, "config", describe_role(d, d->clients[index].role)));
}

/* One daemon at a time. One that is dead but was not seen dying yet gives way. */
static bool make_way(struct desk *d, struct answer *a)
{
    uint16_t other = clients_gpud(d);
    if (other == CLIENT_NONE)
        return true;
    struct desk_client *c = &d->clients[other];
    if (d->host->is_alive(d->host->arg, c->pid, c->start_time)) {
        *a = answer_error("refused", "a daemon runs already (pid %d): stop it first", c->pid);
        return false;
    }
    clients_died(d, other);
    return true;
}

static struct answer add_client(struct desk *d, const struct hello *h, uint64_t seq)
{
    uint16_t index;
    enum status st =
        ledger_client_add(d->ledger, &index, h->role, h->pid, h->start_time, h->incarnation);
    if (st == ST_RESOURCE) {
        struct answer a =
            answer_error("full", "%s: raise clients in the configuration", status_message());
        status_clear();
        return a;
    }
    if (st != ST_OK)
        return answer_failure(d, st);
    if (!d->host->watch(d->host->arg, index, h->pid, h->start_time)) {
        ledger_client_remove(d->ledger, index);
        return answer_error("refused", "process %d of that start time does not run", h->pid);
    }
    ledger_client_sequence(d->ledger, index, seq);
    d->clients[index] = (struct desk_client){.used = true,
                                             .role = h->role,
                                             .pid = h->pid,
                                             .start_time = h->start_time,
                                             .incarnation = h->incarnation,
                                             .sequence = seq,
                                             .added_ns = (uint64_t)desk_now(d) * 1000000,
                                             .heard = desk_now(d)};
    view_note(d, h->role == CLIENT_GPUD ? "daemon joined" : "synthesis joined", NULL, 0);
    log_event(LEVEL_INFO, NULL, "client joined", log_i64("pid", h->pid), log_u64("client", index),
              log_string("role", h->role == CLIENT_GPUD ? "gpud" : "synth"));
    return welcome(d, index);
}

/* The same hello again, or one after its sender was told to. */
static struct answer greet_again(struct desk *d, struct request *r, const struct hello *h,
                                 uint16_t index)
{
    struct desk_client *c = &d->clients[index];
    if (c->pid != h->pid || c->start_time != h->start_time || c->role != h->role)
        return answer_error("refused", "incarnation: is that of process %d", c->pid);
    if (r->head.seq > c->sequence) {
        desk_forget_pending(d, index);
        ledger_client_sequence(d->ledger, index, r->head.seq);
        c->sequence = r->head.seq;
        r->client = index;
        take_in_holding(d, r);
        r->client = CLIENT_NONE;
    }
    return welcome(d, index);
}

struct answer handle_hello(struct desk *d, struct request *r)
{
    struct hello h = {0};
    struct answer a;
    uint16_t index;
    enum status st = read_hello(&h, r);
    if (st != ST_OK)
        return answer_failure(d, st);
    if (!may_work(d, &r->peer, h.pid))
        return answer_error("refused",
                            "hello: user %u, process %d: workers run as the coordinator's user "
                            "(%u) and say their own pid",
                            r->peer.uid, r->peer.pid, d->config->owner);
    if (ledger_client_find(d->ledger, &index, h.incarnation))
        return greet_again(d, r, &h, index);
    if (h.role == CLIENT_GPUD && !make_way(d, &a))
        return a;
    return add_client(d, &h, r->head.seq);
}

/* ---- starting ---- */

enum status clients_load(struct desk *d)
{
    for (uint32_t i = 0; i < d->client_count; i++) {
        struct client c;
        enum status st = ledger_client_read(d->ledger, (uint16_t)i, &c);
        if (st != ST_OK)
            return st;
        struct desk_client *own = &d->clients[i];
        if (own->used || c.state == CLIENT_FREE)
            continue;
        *own = (struct desk_client){.used = true,
                                    .dying = c.state == CLIENT_DYING,
                                    .role = c.role,
                                    .pid = c.pid,
                                    .start_time = c.start_time,
                                    .incarnation = c.incarnation,
                                    .sequence = c.sequence,
                                    .added_ns = c.added_ns,
                                    .heard = desk_now(d)};
        if (own->dying) {
            own->lease = LEASE_TERMINATED;
            own->lease_since = desk_now(d);
        }
    }
    return ST_OK;
}
