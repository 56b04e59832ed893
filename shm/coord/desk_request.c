/* A request's way to its handler, and the reply's way back. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "shm/coord/desk_private.h"

/* ---- making answers ---- */

static json_t *ok_body(json_t *members)
{
    json_t *body = members ? msg_reply_ok() : NULL;
    if (body && json_object_update(body, members) != 0) {
        json_decref(body);
        body = NULL;
    }
    json_decref(members);
    return body;
}

struct answer answer_ok(json_t *members)
{
    return (struct answer){.when = ANSWER_NOW, .body = ok_body(members)};
}

struct answer answer_durable(json_t *members)
{
    return (struct answer){.when = ANSWER_DURABLE, .body = ok_body(members)};
}

struct answer answer_done(enum answer_when when)
{
    return (struct answer){.when = when, .body = msg_reply_ok()};
}

static json_t *error_body(const char *code, const char *message)
{
    return json_pack("{s:b, s:{s:s, s:o}}", "ok", 0, "error", "code", code, "message",
                     msg_json_text(message));
}

struct answer answer_error(const char *code, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return (struct answer){.when = ANSWER_NOW, .body = error_body(code, text)};
}

struct answer answer_failure(struct desk *d, enum status st)
{
    static const char *const codes[] = {
        [ST_INVALID] = "refused",   [ST_USAGE] = "usage",        [ST_INPUT] = "input",
        [ST_RESOURCE] = "resource", [ST_NO_DAEMON] = "internal", [ST_INTERNAL] = "internal",
        [ST_STALE] = "stale",
    };
    if (st == ST_RESOURCE && journal_fault(d->journal) != JOURNAL_SOUND) {
        d->sick = true;
        status_clear();
        return (struct answer){.when = ANSWER_DROPPED};
    }
    struct answer a = {.when = ANSWER_NOW, .body = error_body(codes[st], status_message())};
    status_clear();
    return a;
}

/* ---- sending ---- */

static void encode(void **bytes, size_t *len, const struct answer *a)
{
    size_t n = a->payload ? strlen(a->payload) : 0;
    if (a->body && msg_encode(bytes, len, a->body, a->payload, n) == ST_OK)
        return;
    static const char text[] = "{\"ok\":false,\"error\":{\"code\":\"resource\",\"message\":"
                               "\"the reply cannot be made\"}}";
    log_event(LEVEL_ERROR, NULL, "reply not made", log_string("reason", status_message()));
    status_clear();
    *bytes = strdup(text);
    CHECK(*bytes);
    *len = sizeof text - 1;
}

/* Keeps a copy for the client's repeated request, then sends. */
static void send_reply(struct desk *d, void *token, uint16_t client, uint64_t seq, void *bytes,
                       size_t len)
{
    if (client != CLIENT_NONE) {
        struct desk_client *c = &d->clients[client];
        free(c->reply);
        c->reply = malloc(len);
        c->reply_len = len;
        c->reply_seq = seq;
        if (c->reply)
            memcpy(c->reply, bytes, len);
    }
    FAULT_POINT("coord.reply");
    d->host->reply(d->host->arg, token, bytes, len);
}

static void hold_back(struct desk *d, const struct unsent *u)
{
    d->unsent = desk_grow(d->unsent, d->unsent_count, &d->unsent_capacity, sizeof *d->unsent);
    d->unsent[d->unsent_count++] = *u;
}

void desk_answer(struct desk *d, void *token, uint16_t client, uint64_t seq, struct answer a)
{
    struct unsent u = {.token = token, .client = client, .seq = seq};
    if (a.when == ANSWER_PARKED)
        return;
    if (a.when == ANSWER_DROPPED) {
        d->host->drop(d->host->arg, token);
        return;
    }
    encode(&u.bytes, &u.len, &a);
    json_decref(a.body);
    free(a.payload);
    if (a.when == ANSWER_DURABLE && journal_due(d->journal) != 0)
        hold_back(d, &u);
    else
        send_reply(d, token, client, seq, u.bytes, u.len);
}

void desk_release_unsent(struct desk *d, enum status st)
{
    struct unsent *list = d->unsent;
    size_t count = d->unsent_count;
    d->unsent = NULL;
    d->unsent_count = d->unsent_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        if (st == ST_OK) {
            send_reply(d, list[i].token, list[i].client, list[i].seq, list[i].bytes, list[i].len);
            continue;
        }
        d->host->drop(d->host->arg, list[i].token);
        free(list[i].bytes);
    }
    free(list);
}

/* ---- waiting ---- */

void desk_park(struct desk *d, const struct waiting *w)
{
    d->waiting = desk_grow(d->waiting, d->waiting_count, &d->waiting_capacity, sizeof *d->waiting);
    d->waiting[d->waiting_count++] = *w;
}

static struct answer nothing_yet(struct desk *d, const struct waiting *w)
{
    return w->what == WAIT_TAKE ? synth_nothing() : gpud_nothing(d);
}

static bool serve(struct desk *d, const struct waiting *w, struct answer *a)
{
    bool due = w->until <= desk_now(d);
    if (w->what == WAIT_JOB)
        return wait_serve(d, w, due, a);
    if (w->what == WAIT_TAKE ? synth_serve(d, w, a) : gpud_serve(d, w, a))
        return true;
    if (due)
        *a = nothing_yet(d, w);
    return due;
}

static void serve_all(struct desk *d, bool takes)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->waiting_count; i++) {
        struct waiting w = d->waiting[i];
        struct answer a;
        if ((w.what == WAIT_TAKE) == takes && serve(d, &w, &a))
            desk_answer(d, w.token, w.client, w.seq, a);
        else
            d->waiting[kept++] = w;
    }
    d->waiting_count = kept;
}

/* Takes first: they find the blocked head for whose sake the daemon is asked to give back. */
void desk_serve(struct desk *d)
{
    serve_all(d, true);
    serve_all(d, false);
}

void desk_forget_pending(struct desk *d, uint16_t client)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->waiting_count; i++) {
        if (d->waiting[i].client == client)
            d->host->drop(d->host->arg, d->waiting[i].token);
        else
            d->waiting[kept++] = d->waiting[i];
    }
    d->waiting_count = kept;
    kept = 0;
    for (size_t i = 0; i < d->unsent_count; i++) {
        if (d->unsent[i].client != client) {
            d->unsent[kept++] = d->unsent[i];
            continue;
        }
        d->host->drop(d->host->arg, d->unsent[i].token);
        free(d->unsent[i].bytes);
    }
    d->unsent_count = kept;
}

/* ---- dispatch ---- */

enum who { ANYONE, ADMIN, STRANGER, SYNTH, GPUD, WORKER };

static const struct operation {
    const char *name;
    enum who who;
    struct answer (*handle)(struct desk *d, struct request *r);
} operations[] = {
    {"hello", STRANGER, handle_hello},
    {"bye", WORKER, handle_bye},
    {"take", SYNTH, handle_take},
    {"submitted", SYNTH, handle_submitted},
    {"failed", SYNTH, handle_failed},
    {"next", GPUD, handle_next},
    {"copied", GPUD, handle_copied},
    {"gave_back", GPUD, handle_gave_back},
    {"done", GPUD, handle_done},
    {"proof_failed", GPUD, handle_proof_failed},
    {"progress", GPUD, handle_progress},
    {"submit", ANYONE, handle_submit},
    {"upload", ANYONE, handle_upload},
    {"commit", ANYONE, handle_commit},
    {"wait", ANYONE, handle_wait},
    {"status", ANYONE, handle_status},
    {"list", ANYONE, handle_list},
    {"cancel", ANYONE, handle_cancel},
    {"retry", ANYONE, handle_retry},
    {"drain", ADMIN, handle_drain},
    {"circuit_add", ADMIN, handle_circuit_add},
    {"circuit_list", ANYONE, handle_circuit_list},
    {"circuit_remove", ADMIN, handle_circuit_remove},
    {"keys", ANYONE, handle_keys},
};

static const struct operation *find_operation(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

static enum status read_handle(struct request *r)
{
    uint32_t pair[1][2];
    const json_t *handle = json_object_get(r->message.body, "handle");
    size_t n;
    if (!handle)
        return ST_OK;
    json_t *wrapped = json_pack("{s:[O]}", "handle", handle);
    enum status st = wrapped ? msg_pairs(pair, &n, 1, wrapped, "handle")
                             : fail(ST_RESOURCE, "coordinator: out of memory");
    json_decref(wrapped);
    if (st == ST_OK)
        r->handle = (struct handle){.slot = pair[0][0], .generation = pair[0][1]};
    return st;
}

/* hello comes before the client has an index, so its head is not that of the others. */
static enum status read_request(const struct operation **op, struct request *r, const void *bytes,
                                size_t len)
{
    int64_t protocol;
    const char *name = "";
    enum status st = msg_decode(&r->message, bytes, len);
    if (st == ST_OK)
        st = msg_int(&protocol, r->message.body, "protocol", DESK_PROTOCOL, DESK_PROTOCOL);
    if (st == ST_OK)
        st = msg_string(&name, r->message.body, "op", 1, MSG_OP_MAX);
    if (st != ST_OK)
        return st;
    *op = find_operation(name);
    if (!*op)
        return fail(ST_USAGE, "op \"%s\": there is none of this name", name);
    if ((*op)->who == STRANGER)
        return ST_OK;
    st = msg_read_head(&r->head, r->message.body);
    return st == ST_OK ? read_handle(r) : st;
}

static bool is_worker_op(const struct operation *op)
{
    return op->who == SYNTH || op->who == GPUD || op->who == WORKER;
}

static struct answer run(struct desk *d, const struct operation *op, struct request *r)
{
    struct answer a;
    if (op->who == ADMIN && !d->host->is_admin(d->host->arg, r->peer.uid))
        return answer_error(
            "refused", "%s: only root, the owner of the daemons and the admin group may", op->name);
    if (!is_worker_op(op))
        return op->handle(d, r);
    if (!clients_admit(d, r, &a))
        return a;
    enum client_role role = d->clients[r->client].role;
    if ((op->who == SYNTH && role != CLIENT_SYNTH) || (op->who == GPUD && role != CLIENT_GPUD))
        return answer_error("usage", "%s: is not for a client of this role", op->name);
    return op->handle(d, r);
}

void desk_request(struct desk *d, void *token, const struct desk_peer *peer, const void *bytes,
                  size_t len)
{
    const struct operation *op = NULL;
    struct request r = {.token = token, .peer = *peer, .client = CLIENT_NONE};
    status_clear();
    enum status st = read_request(&op, &r, bytes, len);
    struct answer a;
    if (d->sick)
        a = (struct answer){.when = ANSWER_DROPPED};
    else
        a = st == ST_OK ? run(d, op, &r) : answer_failure(d, st);
    desk_answer(d, token, r.client, r.head.seq, a);
    msg_fini(&r.message);
    desk_serve(d);
}
