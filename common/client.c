#include "common/client.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/socket.h"

/* A round is longer than any request is parked, so that the next repeats only what was lost. nng
 * itself repeats when the connection breaks and after its resend time. A signal handler's flag is
 * looked at in between. */
enum {
    ROUND_MS = 2000,
    LOOK_MS = 100,
    RESEND_MS = 1000,
    RECONNECT_MIN_MS = 50,
    RECONNECT_MAX_MS = 500,
    RECEIVE_MAX = 2 << 20,
    REFUSAL_BYTES = 32,
};

struct client {
    nng_socket socket;
    nng_aio *aio; /* of the one operation under way */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;                   /* the operation; guarded, like all that nng's threads write */
    unsigned listened;           /* connections that stand */
    char refusal[REFUSAL_BYTES]; /* code of the last call's refusal */
    char address[CLIENT_ADDRESS_MAX];
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum status client_address(char out[CLIENT_ADDRESS_MAX], const char *where)
{
    bool whole = strncmp(where, "ipc://", 6) == 0;
    const char *path = whole ? where + 6 : where, *file = whole ? "" : "/coord.sock";
    if (strlen(path) + strlen(file) > CLIENT_SOCKET_PATH_MAX)
        return fail(ST_USAGE,
                    "%s%s: longer than the %d bytes of a socket's path: use a shorter one", path,
                    file, CLIENT_SOCKET_PATH_MAX);
    snprintf(out, CLIENT_ADDRESS_MAX, "ipc://%s%s", path, file);
    return ST_OK;
}

const char *client_default_where(void)
{
    const char *dir = getenv("PINION_DIR");
    return dir && *dir ? dir : "/var/lib/pinion";
}

static enum status no_answer(struct client *c)
{
    pthread_mutex_lock(&c->lock);
    bool silent = c->listened > 0;
    pthread_mutex_unlock(&c->lock);
    const char *path = c->address + strlen("ipc://");
    if (silent)
        return fail(ST_NO_DAEMON,
                    "%s: the coordinator listens but does not answer: its log says why (is its "
                    "disk full?)",
                    path);
    return fail(ST_NO_DAEMON,
                "%s: no coordinator answers: start `pinion up` or the service pinion-coord, or "
                "name another --dir",
                path);
}

static enum status dial_failed(struct client *c, int error)
{
    const char *path = c->address + strlen("ipc://");
    if (error == NNG_ECONNREFUSED || error == NNG_ENOENT || error == NNG_ECLOSED)
        return no_answer(c);
    if (error == NNG_EPERM)
        return fail(ST_RESOURCE, "%s: this user may not open the socket", path);
    return fail(ST_RESOURCE, "%s: %s", path, nng_strerror(error));
}

/* ---- opening ---- */

static int set_options(nng_socket s)
{
    int error = nng_socket_set_ms(s, NNG_OPT_REQ_RESENDTIME, RESEND_MS);
    if (error == 0)
        error = nng_socket_set_ms(s, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS);
    if (error == 0)
        error = nng_socket_set_ms(s, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
    if (error == 0)
        error = nng_socket_set_size(s, NNG_OPT_RECVMAXSZ, RECEIVE_MAX);
    return error;
}

/* On one of nng's threads, like on_done. */
static void on_connection(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
    (void)pipe;
    struct client *c = arg;
    pthread_mutex_lock(&c->lock);
    c->listened += event == NNG_PIPE_EV_ADD_POST ? 1U : -1U;
    pthread_mutex_unlock(&c->lock);
}

static void on_done(void *arg)
{
    struct client *c = arg;
    pthread_mutex_lock(&c->lock);
    c->done = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static int open_socket(struct client *c)
{
    int error = nng_req0_open(&c->socket);
    if (error == 0)
        error = set_options(c->socket);
    if (error == 0)
        error = nng_pipe_notify(c->socket, NNG_PIPE_EV_ADD_POST, on_connection, c);
    if (error == 0)
        error = nng_pipe_notify(c->socket, NNG_PIPE_EV_REM_POST, on_connection, c);
    return error == 0 ? nng_aio_alloc(&c->aio, on_done, c) : error;
}

static struct client *make(const char *address)
{
    pthread_condattr_t monotonic;
    struct client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    snprintf(c->address, sizeof c->address, "%s", address);
    return c;
}

enum status client_dial(struct client **out, const char *address, enum client_patience patience)
{
    struct client *c = make(address);
    if (!c)
        return fail(ST_RESOURCE, "no memory");
    int error = open_socket(c);
    enum status st = error == 0 ? ST_OK : fail(ST_RESOURCE, "no socket: %s", nng_strerror(error));
    if (st == ST_OK) {
        int flags = patience == CLIENT_WAIT ? NNG_FLAG_NONBLOCK : 0;
        error = nng_dial(c->socket, address, NULL, flags);
        st = error == 0 ? ST_OK : dial_failed(c, error);
    }
    if (st == ST_OK)
        *out = c;
    else
        client_close(c);
    return st;
}

void client_close(struct client *c)
{
    if (!c)
        return;
    if (c->aio)
        nng_aio_stop(c->aio);
    bool closed = socket_close(c->socket);
    nng_aio_free(c->aio);
    if (!closed)
        return; /* on_connection may still come */
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void client_reply_fini(struct client_reply *r)
{
    msg_fini(&r->msg);
    if (r->bytes)
        nng_msg_free(r->bytes);
    *r = (struct client_reply){.bytes = NULL};
}

/* ---- one exchange ---- */

/* Since when the limit counts, and whether it is over. */
struct clock {
    uint64_t start, stopped;
};

static bool over(struct clock *k, const struct client_limit *limit)
{
    uint64_t now = now_ms();
    if (limit->ms != 0 && now - k->start >= limit->ms)
        return true;
    /* relaxed: only a hint to give up; nothing else is read after it */
    if (!limit->stop || !atomic_load_explicit(limit->stop, memory_order_relaxed))
        return false;
    if (k->stopped == 0)
        k->stopped = now;
    return now - k->stopped >= limit->ms_after_stop;
}

/* Milliseconds until the limit has to be looked at again. */
static uint64_t next_look(const struct clock *k, const struct client_limit *limit)
{
    uint64_t passed = now_ms() - k->start, ms = limit->stop ? LOOK_MS : ROUND_MS;
    uint64_t left = limit->ms > passed ? limit->ms - passed : 0;
    return limit->ms != 0 && left < ms ? left : ms;
}

static struct timespec in_ms(uint64_t ms)
{
    struct timespec t;
    uint64_t at = now_ms() + ms;
    t.tv_sec = (time_t)(at / 1000);
    t.tv_nsec = (long)(at % 1000) * 1000000;
    return t;
}

/* Waits for the operation that was started, or cancels it when the limit is over; its result. */
static int finish(struct client *c, struct clock *k, const struct client_limit *limit)
{
    bool cancelled = false;
    pthread_mutex_lock(&c->lock);
    while (!c->done) {
        struct timespec until = in_ms(next_look(k, limit));
        if (cancelled)
            pthread_cond_wait(&c->changed, &c->lock);
        else
            pthread_cond_timedwait(&c->changed, &c->lock, &until);
        if (c->done || cancelled || !over(k, limit))
            continue;
        cancelled = true;
        pthread_mutex_unlock(&c->lock); /* it may be done before this returns */
        nng_aio_cancel(c->aio);
        pthread_mutex_lock(&c->lock);
    }
    c->done = false;
    pthread_mutex_unlock(&c->lock);
    nng_aio_wait(c->aio); /* for on_done to have returned */
    return nng_aio_result(c->aio);
}

static int send_bytes(struct client *c, const void *bytes, size_t len, struct clock *k,
                      const struct client_limit *limit)
{
    nng_msg *m;
    int error = nng_msg_alloc(&m, 0);
    if (error != 0)
        return error;
    error = nng_msg_append(m, bytes, len);
    if (error == 0) {
        nng_aio_set_timeout(c->aio, ROUND_MS);
        nng_aio_set_msg(c->aio, m);
        nng_send_aio(c->socket, c->aio);
        error = finish(c, k, limit); /* m is taken when it succeeds */
    }
    if (error != 0)
        nng_msg_free(m);
    return error;
}

static int receive(struct client *c, nng_msg **reply, struct clock *k,
                   const struct client_limit *limit)
{
    nng_aio_set_timeout(c->aio, ROUND_MS);
    nng_recv_aio(c->socket, c->aio);
    int error = finish(c, k, limit);
    if (error == 0)
        *reply = nng_aio_get_msg(c->aio);
    return error;
}

/* The reply to len bytes, which are sent until one comes. */
static enum status exchange(struct client *c, nng_msg **reply, const void *bytes, size_t len,
                            const struct client_limit *limit)
{
    struct clock k = {.start = now_ms()};
    do {
        int error = send_bytes(c, bytes, len, &k, limit);
        if (error == 0)
            error = receive(c, reply, &k, limit);
        if (error == 0)
            return ST_OK;
        if (error == NNG_ENOMEM)
            return fail(ST_RESOURCE, "no memory");
        if (error != NNG_ETIMEDOUT && error != NNG_ECANCELED && error != NNG_EAGAIN)
            return fail(ST_INTERNAL, "%s: %s", c->address, nng_strerror(error));
    } while (!over(&k, limit));
    return no_answer(c);
}

/* Codes beside those of enum status. */
static enum status refusal(struct client *c, const json_t *body)
{
    static const struct {
        const char *code;
        enum status st;
    } codes[] = {
        {"stale", ST_STALE},   {"unknown", ST_INPUT},     {"refused", ST_RESOURCE},
        {"full", ST_RESOURCE}, {"draining", ST_RESOURCE}, {"unknown-client", ST_NO_DAEMON},
    };
    const json_t *error = json_object_get(body, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    snprintf(c->refusal, sizeof c->refusal, "%s", code ? code : "");
    for (size_t i = 0; code && message && i < sizeof codes / sizeof codes[0]; i++)
        if (json_is_false(json_object_get(body, "ok")) && strcmp(codes[i].code, code) == 0)
            return fail(codes[i].st, "%s", message);
    return msg_reply_status(body);
}

enum status client_call(struct client *c, struct client_reply *reply, json_t *request,
                        const void *payload, size_t payload_len, const struct client_limit *limit)
{
    void *bytes = NULL;
    size_t len = 0;
    nng_msg *m = NULL;
    struct client_reply r = {.bytes = NULL};
    c->refusal[0] = '\0';
    enum status st = request ? msg_encode(&bytes, &len, request, payload, payload_len)
                             : fail(ST_RESOURCE, "no memory");
    json_decref(request);
    if (st == ST_OK)
        st = exchange(c, &m, bytes, len, limit);
    free(bytes);
    if (st == ST_OK) {
        r.bytes = m;
        st = msg_decode(&r.msg, nng_msg_body(m), nng_msg_len(m));
    }
    if (st == ST_OK)
        st = refusal(c, r.msg.body);
    if (st == ST_OK)
        *reply = r;
    else
        client_reply_fini(&r);
    return st;
}

const char *client_refusal(const struct client *c)
{
    return c->refusal;
}
