#include "shm/coord/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "shm/coord/wire.h"

enum {
    LANES_OF_CONNECTION = 8,
    CONNECTIONS_OF_USER = 256, /* of one without rights */
    READS_AT_ONCE = 16,        /* of one connection, before others have their turn */
    ACCEPTS_AT_ONCE = 64,
    EVENTS_AT_ONCE = 64,
    SWEEP_EVERY_MS = 100, /* at most */
    IDLE_MS = 1000,
    GREETING_MS = 10000, /* who has not greeted by then is disconnected */
    WORD_BYTES = 4,
    TRACE_MAX = 8 * WORD_BYTES, /* of a request that comes through devices, hop by hop */
};

struct connection {
    struct connection *next;
    struct lanes *owner;
    struct wire wire;
    uint32_t uid;
    int32_t pid;
    unsigned lanes;
    bool closed;       /* to be freed once it has no lanes */
    uint32_t interest; /* what epoll was told */
    int64_t since;
};

struct lane {
    struct connection *from;
    struct lane *next;        /* in the list of the arrived */
    uint8_t trace[TRACE_MAX]; /* the way back, which precedes the reply */
    size_t trace_len;
    uint8_t *message; /* owned, while it is read */
    size_t len;
};

struct lanes {
    int listener, epoll, wake;
    pthread_t thread;
    bool running;
    void (*ring)(void *arg);
    void *arg;
    uint8_t *reading;     /* the message of the last arrival; the owner's */
    pthread_mutex_t lock; /* guards all below, and the connections */
    struct connection *connections;
    struct lane *arrived, **arrived_end;
    bool stop, news, paused; /* paused: not accepting, for want of descriptors */
    int64_t swept;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- connections; all locked ---- */

static void close_connection(struct connection *c)
{
    if (c->closed)
        return;
    wire_fini(&c->wire); /* which takes it from epoll, too */
    c->closed = true;
}

static bool may_read(const struct connection *c)
{
    return c->lanes < LANES_OF_CONNECTION && !wire_is_busy(&c->wire);
}

/* Tells epoll what to look for. */
static void look(struct connection *c)
{
    if (c->closed)
        return;
    uint32_t interest = (may_read(c) ? EPOLLIN : 0) | (wire_is_busy(&c->wire) ? EPOLLOUT : 0);
    struct epoll_event e = {.events = interest, .data.ptr = c};
    if (interest != c->interest && epoll_ctl(c->owner->epoll, EPOLL_CTL_MOD, c->wire.fd, &e) == 0)
        c->interest = interest;
}

/* A peer that the system does not tell has no rights. */
static void identify(struct connection *c, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    c->uid = known ? peer.uid : UINT32_MAX;
    c->pid = known ? peer.pid : 0;
}

static bool is_one_too_many(const struct lanes *l, const struct connection *new)
{
    unsigned own = 0;
    if (new->uid == 0 || new->uid == geteuid())
        return false;
    for (const struct connection *c = l->connections; c; c = c->next)
        own += !c->closed && c->uid == new->uid;
    return own >= CONNECTIONS_OF_USER;
}

static void welcome(struct lanes *l, int fd)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c) {
        close(fd);
        return;
    }
    identify(c, fd);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    if (is_one_too_many(l, c) || epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) != 0) {
        close(fd);
        free(c);
        return;
    }
    c->owner = l;
    c->interest = e.events;
    c->since = now_ms();
    wire_init(&c->wire, fd);
    c->next = l->connections;
    l->connections = c;
}

static void watch_listener(struct lanes *l, bool on)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &l->listener};
    l->paused =
        epoll_ctl(l->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, l->listener, &e) != 0 || !on;
}

static void accept_some(struct lanes *l)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            welcome(l, fd);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            watch_listener(l, false); /* until the next sweep */
        if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

/* ---- requests; all locked ---- */

/* Bytes of the way back at the front: words, of which the last has its highest bit set. 0 if there
 * is none. */
static size_t trace_length(const uint8_t *message, size_t len)
{
    for (size_t at = 0; at + WORD_BYTES <= len && at < TRACE_MAX; at += WORD_BYTES)
        if (message[at] & 0x80)
            return at + WORD_BYTES;
    return 0;
}

/* False when it is no request. */
static bool arrive(struct connection *c, uint8_t *message, size_t len)
{
    struct lanes *l = c->owner;
    size_t trace = trace_length(message, len);
    struct lane *lane = trace > 0 ? calloc(1, sizeof *lane) : NULL;
    if (!lane) {
        free(message);
        return false;
    }
    lane->from = c;
    lane->message = message;
    lane->len = len;
    lane->trace_len = trace;
    memcpy(lane->trace, message, trace);
    *l->arrived_end = lane;
    l->arrived_end = &lane->next;
    l->news = true;
    c->lanes++;
    return true;
}

static void read_some(struct connection *c)
{
    uint8_t *message;
    size_t len;
    for (int i = 0; i < READS_AT_ONCE && may_read(c); i++) {
        enum wire_event e = wire_read(&c->wire, &message, &len);
        if (e == WIRE_EMPTY)
            return;
        if (e == WIRE_BROKEN || (e == WIRE_MESSAGE && !arrive(c, message, len))) {
            close_connection(c);
            return;
        }
    }
}

static void serve(struct connection *c, uint32_t events)
{
    if (c->closed) /* by an event before this one */
        return;
    if ((events & (EPOLLHUP | EPOLLERR)) || ((events & EPOLLOUT) && !wire_flush(&c->wire)))
        close_connection(c);
    else if (events & EPOLLIN)
        read_some(c);
    look(c);
}

/* ---- the thread ---- */

static void sweep(struct lanes *l)
{
    int64_t now = now_ms();
    if (now - l->swept < SWEEP_EVERY_MS)
        return;
    l->swept = now;
    if (l->paused)
        watch_listener(l, true);
    for (struct connection **at = &l->connections; *at;) {
        struct connection *c = *at;
        if (!c->closed && !c->wire.greeted && now - c->since > GREETING_MS)
            close_connection(c);
        if (!c->closed || c->lanes > 0) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free(c);
    }
}

static void handle(struct lanes *l, const struct epoll_event *events, int n)
{
    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == &l->listener)
            accept_some(l);
        else if (events[i].data.ptr != &l->wake) /* that one only ends the wait */
            serve(events[i].data.ptr, events[i].events);
    }
}

static void *run(void *arg)
{
    struct lanes *l = arg;
    int wait_ms = IDLE_MS;
    for (bool stop = false; !stop;) {
        struct epoll_event events[EVENTS_AT_ONCE];
        int n = epoll_wait(l->epoll, events, EVENTS_AT_ONCE, wait_ms);
        pthread_mutex_lock(&l->lock);
        handle(l, events, n);
        sweep(l);
        bool news = l->news;
        l->news = false;
        stop = l->stop;
        wait_ms = l->paused ? SWEEP_EVERY_MS : IDLE_MS;
        pthread_mutex_unlock(&l->lock);
        if (news)
            l->ring(l->arg);
    }
    return NULL;
}

/* ---- the owner's side ---- */

bool lanes_next(struct lanes *l, struct arrival *out)
{
    pthread_mutex_lock(&l->lock);
    struct lane *lane = l->arrived;
    if (lane) {
        l->arrived = lane->next;
        if (!l->arrived)
            l->arrived_end = &l->arrived;
    }
    pthread_mutex_unlock(&l->lock);
    if (!lane)
        return false;
    l->reading = lane->message;
    lane->message = NULL;
    *out = (struct arrival){.token = lane,
                            .peer = {.uid = lane->from->uid, .pid = lane->from->pid},
                            .bytes = l->reading + lane->trace_len,
                            .len = lane->len - lane->trace_len};
    return true;
}

void lanes_accepted(struct lanes *l)
{
    free(l->reading);
    l->reading = NULL;
}

/* The lane ends, with a reply if there are bytes. */
static void leave(struct lane *lane, const void *bytes, size_t len)
{
    struct connection *c = lane->from;
    struct lanes *l = c->owner;
    pthread_mutex_lock(&l->lock);
    c->lanes--; /* the thread frees it, if need be */
    if (bytes && !c->closed && !wire_send(&c->wire, lane->trace, lane->trace_len, bytes, len))
        close_connection(c);
    look(c);
    pthread_mutex_unlock(&l->lock);
    free(lane->message);
    free(lane);
}

void lanes_reply(struct lane *lane, void *bytes, size_t len)
{
    leave(lane, bytes, len);
    free(bytes);
}

void lanes_drop(struct lane *lane)
{
    leave(lane, NULL, 0);
}

/* ---- opening and closing ---- */

static enum status start_thread(struct lanes *l)
{
    sigset_t all, before;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &l->wake};
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->epoll < 0 || l->wake < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &e) != 0)
        return fail(ST_RESOURCE, "coordinator: no descriptor to wait at: %m");
    watch_listener(l, true);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the main thread's */
    int error = pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    l->running = error == 0;
    return error == 0 ? ST_OK : fail(ST_RESOURCE, "coordinator: no thread: %s", strerror(error));
}

enum status lanes_open(struct lanes **out, const char *path, void (*ring)(void *arg), void *arg)
{
    struct lanes *l = calloc(1, sizeof *l);
    if (!l)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    l->listener = l->epoll = l->wake = -1;
    l->arrived_end = &l->arrived;
    l->ring = ring;
    l->arg = arg;
    CHECK(pthread_mutex_init(&l->lock, NULL) == 0);
    enum status st = wire_listen(&l->listener, path);
    if (st == ST_OK)
        st = start_thread(l);
    if (st == ST_OK) {
        *out = l;
        return ST_OK;
    }
    lanes_shut(l);
    lanes_close(l);
    return st;
}

void lanes_shut(struct lanes *l)
{
    uint64_t one = 1;
    if (!l || !l->running)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_mutex_unlock(&l->lock);
    (void)!write(l->wake, &one, sizeof one);
    pthread_join(l->thread, NULL);
    l->running = false;
    for (struct connection *c = l->connections; c; c = c->next)
        close_connection(c);
}

static void close_descriptor(int fd)
{
    if (fd >= 0)
        close(fd);
}

void lanes_close(struct lanes *l)
{
    struct arrival unread;
    if (!l)
        return;
    while (lanes_next(l, &unread)) {
        lanes_accepted(l);
        lanes_drop(unread.token);
    }
    while (l->connections) {
        struct connection *next = l->connections->next;
        CHECK(l->connections->lanes == 0);
        free(l->connections);
        l->connections = next;
    }
    close_descriptor(l->listener);
    close_descriptor(l->epoll);
    close_descriptor(l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
