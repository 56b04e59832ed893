/* The server: one thread that owns the desk and waits for everything in one place: the socket's
 * bell (an eventfd), the deaths of clients (pidfds), signals (a signalfd), and time (the timeout of
 * epoll_wait). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "shm/coord/coord.h"
#include "shm/coord/lanes.h"
#include "shm/journal.h"
#include "shm/process.h"

enum {
    EVENTS_AT_ONCE = 64,
    ARRIVALS_AT_ONCE = 64,
    TURN_MS = 3000, /* a turn of the loop that took longer: the process was stopped, or held up */
};

/* What epoll tells of a descriptor that is no client's. */
#define TAG_BELL (UINT64_C(1) << 32)
#define TAG_SIGNAL (UINT64_C(2) << 32)

struct server {
    struct coord coord;
    struct desk *desk;
    struct desk_host host;
    struct lanes *lanes;
    int epoll, bell, signals;
    int *pidfds; /* by client, -1 for none */
    bool stopping, ended;
};

/* ---- requests ---- */

/* From any thread. */
static void ring(void *arg)
{
    struct server *s = arg;
    uint64_t one = 1;
    while (write(s->bell, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* Some of them: those who never stop asking must not keep commits and deaths waiting. */
static void serve_arrived(struct server *s)
{
    struct arrival a;
    for (int i = 0; i < ARRIVALS_AT_ONCE; i++) {
        if (!lanes_next(s->lanes, &a))
            return;
        desk_request(s->desk, a.token, &a.peer, a.bytes, a.len);
        lanes_accepted(s->lanes);
    }
    ring(s);
}

/* ---- the desk's host ---- */

static void reply(void *arg, void *token, void *bytes, size_t len)
{
    (void)arg;
    lanes_reply(token, bytes, len);
}

static void drop(void *arg, void *token)
{
    (void)arg;
    lanes_drop(token);
}

static int64_t milliseconds(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t monotonic(void *arg)
{
    (void)arg;
    return milliseconds(CLOCK_MONOTONIC);
}

static int64_t wall(void *arg)
{
    (void)arg;
    return milliseconds(CLOCK_REALTIME);
}

static bool is_alive(void *arg, int32_t pid, uint64_t start_time)
{
    (void)arg;
    return process_is_alive(pid, start_time);
}

static bool watch(void *arg, uint16_t client, int32_t pid, uint64_t start_time)
{
    struct server *s = arg;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return false;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = client};
    /* the descriptor holds the process, so that its start time is looked up in time */
    if (!process_is_alive(pid, start_time) || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        close(fd);
        return false;
    }
    s->pidfds[client] = fd;
    return true;
}

static void unwatch(void *arg, uint16_t client)
{
    struct server *s = arg;
    if (s->pidfds[client] >= 0)
        close(s->pidfds[client]);
    s->pidfds[client] = -1;
}

static void send_signal(void *arg, uint16_t client, int signal)
{
    struct server *s = arg;
    if (s->pidfds[client] >= 0 &&
        syscall(SYS_pidfd_send_signal, s->pidfds[client], signal, NULL, 0) != 0 && errno != ESRCH)
        log_event(LEVEL_WARN, NULL, "signal not sent", log_i64("signal", signal),
                  log_string("reason", strerror(errno)));
}

static bool is_admin(void *arg, uint32_t uid)
{
    const struct server *s = arg;
    return coord_is_admin(uid, s->coord.options.desk.owner, s->coord.options.admin_group);
}

/* ---- events ---- */

static void on_death(struct server *s, uint16_t client)
{
    /* the event may be of a process that had this place a moment ago */
    struct pollfd p = {.fd = s->pidfds[client], .events = POLLIN};
    if (p.fd >= 0 && poll(&p, 1, 0) == 1)
        desk_died(s->desk, client);
}

/* What cannot change while it runs stays: the ledger's name, the owner, the budget. A configuration
 * that is wrong changes nothing. */
static void reread(struct server *s)
{
    struct coord_options *o = &s->coord.options;
    struct desk_config fresh = o->desk;
    if (!o->reread)
        return;
    if (o->reread(o->reread_arg, &fresh) != ST_OK) {
        log_event(LEVEL_ERROR, NULL, "configuration not reread",
                  log_string("reason", status_message()));
        status_clear();
        return;
    }
    fresh.ledger_name = o->desk.ledger_name;
    fresh.owner = o->desk.owner;
    fresh.host_memory = o->desk.host_memory;
    fresh.key_budget = fresh.key_budget ? fresh.key_budget : o->desk.key_budget;
    o->desk = fresh;
    desk_reconfigured(s->desk);
    log_event(LEVEL_INFO, NULL, "configuration reread");
}

static void on_signal(struct server *s)
{
    struct signalfd_siginfo info;
    if (read(s->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGHUP) {
        reread(s);
        return;
    }
    s->ended = s->stopping;
    s->stopping = true;
    log_event(LEVEL_INFO, NULL, s->ended ? "stopping at once" : "stopping: draining first",
              log_i64("signal", info.ssi_signo));
    desk_drain(s->desk, true);
}

static void on_event(struct server *s, const struct epoll_event *e)
{
    uint64_t count;
    if (e->data.u64 == TAG_SIGNAL) {
        on_signal(s);
    } else if (e->data.u64 == TAG_BELL) {
        if (read(s->bell, &count, sizeof count) > 0)
            serve_arrived(s);
    } else {
        on_death(s, (uint16_t)e->data.u64);
    }
}

static enum status loop(struct server *s)
{
    int64_t turned = monotonic(s);
    while (!s->ended) {
        struct epoll_event events[EVENTS_AT_ONCE];
        bool awaited = desk_is_awaited(s->desk);
        int64_t wait = awaited ? 0 : desk_due(s->desk) - monotonic(s);
        int n = epoll_wait(s->epoll, events, EVENTS_AT_ONCE, wait < 0 ? 0 : (int)wait);
        if (n < 0 && errno != EINTR)
            return fail(ST_INTERNAL, "coordinator: epoll_wait: %m");
        if (monotonic(s) - turned > TURN_MS)
            desk_was_away(s->desk);
        turned = monotonic(s);
        for (int i = 0; i < n; i++)
            on_event(s, &events[i]);
        if (n == 0 && awaited) /* nobody else to share the commit with */
            desk_commit(s->desk);
        desk_tick(s->desk);
        s->ended = s->ended || (s->stopping && desk_is_idle(s->desk));
    }
    return ST_OK;
}

/* ---- opening ---- */

static enum status watch_descriptor(struct server *s, int fd, uint64_t tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    if (fd < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return fail(ST_RESOURCE, "coordinator: no descriptor to wait at: %m");
    return ST_OK;
}

static enum status open_descriptors(struct server *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    enum status st = watch_descriptor(s, s->bell, TAG_BELL);
    return st == ST_OK ? watch_descriptor(s, s->signals, TAG_SIGNAL) : st;
}

static enum status open_desk(struct server *s)
{
    s->host = (struct desk_host){.arg = s,
                                 .monotonic = monotonic,
                                 .wall = wall,
                                 .reply = reply,
                                 .drop = drop,
                                 .watch = watch,
                                 .unwatch = unwatch,
                                 .signal = send_signal,
                                 .is_alive = is_alive,
                                 .is_admin = is_admin};
    struct desk_parts parts = {.ledger = s->coord.ledger,
                               .journal = s->coord.journal,
                               .spool = s->coord.spool,
                               .store = s->coord.store,
                               .host = &s->host,
                               .config = &s->coord.options.desk,
                               .arena_is_new = s->coord.arena_is_new};
    s->pidfds = malloc(LEDGER_MAX_CLIENTS * sizeof *s->pidfds);
    if (!s->pidfds)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    for (int i = 0; i < LEDGER_MAX_CLIENTS; i++)
        s->pidfds[i] = -1;
    return desk_create(&s->desk, &parts);
}

static enum status serve(struct server *s)
{
    char path[512];
    snprintf(path, sizeof path, "%s/coord.sock", s->coord.dir);
    enum status st = open_desk(s);
    if (st == ST_OK)
        st = lanes_open(&s->lanes, path, ring, s);
    if (st != ST_OK)
        return st;
    log_event(LEVEL_INFO, NULL, "ready", log_string("socket", path),
              log_u64("arena_bytes", arena_desc(s->coord.arena)->bytes),
              log_bool("adopted", !s->coord.arena_is_new));
    st = loop(s);
    (void)unlink(path);
    return st;
}

/* The desk drops what waits for a reply, so the lanes outlive it. */
static void close_server(struct server *s)
{
    bool empty = s->desk && desk_is_empty(s->desk);
    lanes_shut(s->lanes);
    desk_destroy(s->desk);
    lanes_close(s->lanes);
    free(s->pidfds);
    coord_close(&s->coord, empty);
}

static void close_descriptors(struct server *s)
{
    const int descriptors[] = {s->epoll, s->bell, s->signals};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

enum status coord_run(const struct coord_options *options)
{
    struct server s = {.epoll = -1, .bell = -1, .signals = -1};
    enum status st = open_descriptors(&s);
    if (st == ST_OK)
        st = coord_open(&s.coord, options, ring, &s);
    if (st == ST_OK) {
        st = serve(&s);
        close_server(&s);
    }
    close_descriptors(&s);
    return st;
}
