#include "shm/coord/lanes.h"

#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/socket.h"

/* What users other than the owner and root may take, so that none of them can keep out the others,
 * and all together not the workers. */
enum {
    USER_LANES = 256, /* of all of them */
    LANES_OF_USER = 64,
    PIPES_OF_USER = 256,
    SEND_MS = 2000, /* a reply that is not read for so long is dropped */
    RECEIVE_MAX = 2 << 20,
    SOCKET_MODE = 0666, /* any user may submit; what else it may is decided by its uid */
    SOCKET_PATH_MAX = 107,
};

struct lane {
    struct lanes *owner;
    nng_ctx context;
    nng_aio *aio;
    bool sending;      /* else receiving; changed only while no operation is under way */
    bool counted;      /* among those of its user; guarded */
    uint32_t uid;      /* of the request at the desk */
    nng_msg *request;  /* arrived, not yet taken */
    struct lane *next; /* in a list of the arrived */
};

/* A connection of a user with limits. */
struct connection {
    int id; /* of nng's */
    uint32_t uid;
};

struct lanes {
    nng_socket socket;
    bool open, closed;
    struct lane *lanes;
    size_t count;
    void (*ring)(void *arg);
    void *arg;
    pthread_mutex_t lock; /* guards arrived, connections, counts of users */
    struct lane *arrived; /* the last first */
    struct connection *connections;
    size_t connection_count, connection_capacity;
    size_t counted;     /* lanes of users with limits */
    struct lane *ready; /* the first first; the owner's */
    nng_msg *reading;   /* what `bytes` of the last arrival points into */
};

/* ---- one lane ---- */

static void receive(struct lane *lane)
{
    struct lanes *l = lane->owner;
    pthread_mutex_lock(&l->lock);
    l->counted -= lane->counted;
    lane->counted = false;
    pthread_mutex_unlock(&l->lock);
    lane->sending = false;
    nng_aio_set_timeout(lane->aio, NNG_DURATION_INFINITE);
    nng_ctx_recv(lane->context, lane->aio);
}

static void arrive(struct lane *lane)
{
    struct lanes *l = lane->owner;
    lane->request = nng_aio_get_msg(lane->aio);
    pthread_mutex_lock(&l->lock);
    lane->next = l->arrived;
    l->arrived = lane;
    pthread_mutex_unlock(&l->lock);
    l->ring(l->arg);
}

/* On one of nng's threads. */
static void on_operation(void *arg)
{
    struct lane *lane = arg;
    int rc = nng_aio_result(lane->aio);
    if (rc == 0 && !lane->sending) {
        arrive(lane);
        return;
    }
    if (rc != 0 && lane->sending)
        nng_msg_free(nng_aio_get_msg(lane->aio));
    if (rc != NNG_ECLOSED && rc != NNG_ECANCELED)
        receive(lane);
}

void lanes_reply(struct lane *lane, void *bytes, size_t len)
{
    nng_msg *m;
    if (nng_msg_alloc(&m, 0) != 0 || nng_msg_append(m, bytes, len) != 0) {
        log_event(LEVEL_ERROR, NULL, "reply not sent: out of memory");
        free(bytes);
        receive(lane);
        return;
    }
    free(bytes);
    lane->sending = true;
    nng_aio_set_timeout(lane->aio, SEND_MS);
    nng_aio_set_msg(lane->aio, m);
    nng_ctx_send(lane->context, lane->aio);
}

/* A context that receives again forgets the request it had. */
void lanes_drop(struct lane *lane)
{
    receive(lane);
}

/* ---- what has arrived ---- */

static void take_arrived(struct lanes *l)
{
    pthread_mutex_lock(&l->lock);
    struct lane *lane = l->arrived;
    l->arrived = NULL;
    pthread_mutex_unlock(&l->lock);
    while (lane) {
        struct lane *next = lane->next;
        lane->next = l->ready;
        l->ready = lane;
        lane = next;
    }
}

/* A peer that the system does not tell has no rights. */
static uint32_t uid_of(nng_pipe pipe)
{
    uint64_t uid;
    return nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid) == 0 ? (uint32_t)uid : UINT32_MAX;
}

static struct desk_peer peer_of(nng_pipe pipe)
{
    uint64_t pid;
    if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &pid) != 0)
        pid = 0;
    return (struct desk_peer){.uid = uid_of(pipe), .pid = (int32_t)pid};
}

static bool has_limits(uint32_t uid)
{
    return uid != 0 && uid != geteuid();
}

/* Counts the lane among its user's, unless he has too many with requests that wait for something or
 * with replies that he does not read. */
static bool count(struct lane *lane)
{
    struct lanes *l = lane->owner;
    size_t own = 0;
    if (!has_limits(lane->uid))
        return true;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->count; i++)
        own += l->lanes[i].counted && l->lanes[i].uid == lane->uid;
    lane->counted = own < LANES_OF_USER && l->counted < USER_LANES;
    l->counted += lane->counted;
    pthread_mutex_unlock(&l->lock);
    return lane->counted;
}

static struct lane *next_lane(struct lanes *l)
{
    if (!l->ready)
        take_arrived(l);
    struct lane *lane = l->ready;
    if (lane)
        l->ready = lane->next;
    return lane;
}

bool lanes_next(struct lanes *l, struct arrival *out)
{
    struct lane *lane;
    while ((lane = next_lane(l)) != NULL) {
        nng_msg *m = lane->request;
        lane->request = NULL;
        struct desk_peer peer = peer_of(nng_msg_get_pipe(m));
        lane->uid = peer.uid;
        if (count(lane)) {
            l->reading = m;
            *out = (struct arrival){
                .token = lane, .peer = peer, .bytes = nng_msg_body(m), .len = nng_msg_len(m)};
            return true;
        }
        nng_msg_free(m);
        lanes_drop(lane); /* it comes again */
    }
    return false;
}

void lanes_accepted(struct lanes *l)
{
    nng_msg_free(l->reading);
    l->reading = NULL;
}

/* ---- connections ---- */

/* Locked. */
static bool keep_connection(struct lanes *l, int id, uint32_t uid)
{
    size_t own = 0;
    for (size_t i = 0; i < l->connection_count; i++)
        own += l->connections[i].uid == uid;
    if (own >= PIPES_OF_USER)
        return false;
    if (l->connection_count == l->connection_capacity) {
        size_t more = l->connection_capacity ? 2 * l->connection_capacity : 64;
        struct connection *list = reallocarray(l->connections, more, sizeof *list);
        if (!list)
            return false;
        l->connections = list;
        l->connection_capacity = more;
    }
    l->connections[l->connection_count++] = (struct connection){.id = id, .uid = uid};
    return true;
}

/* Locked. */
static void forget_connection(struct lanes *l, int id)
{
    for (size_t i = 0; i < l->connection_count; i++)
        if (l->connections[i].id == id) {
            l->connections[i] = l->connections[--l->connection_count];
            return;
        }
}

/* On one of nng's threads. */
static void on_connection(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
    struct lanes *l = arg;
    bool kept = true;
    uint32_t uid = event == NNG_PIPE_EV_ADD_PRE ? uid_of(pipe) : 0;
    pthread_mutex_lock(&l->lock);
    if (event == NNG_PIPE_EV_REM_POST)
        forget_connection(l, nng_pipe_id(pipe));
    else if (has_limits(uid))
        kept = keep_connection(l, nng_pipe_id(pipe), uid);
    pthread_mutex_unlock(&l->lock);
    if (!kept)
        nng_pipe_close(pipe);
}

/* ---- opening ---- */

static enum status nng_failed(const char *path, int rc)
{
    return fail(ST_RESOURCE, "socket %s: %s", path, nng_strerror(rc));
}

static enum status start_listening(struct lanes *l, const char *path)
{
    char url[SOCKET_PATH_MAX + 16];
    nng_listener listener;
    snprintf(url, sizeof url, "ipc://%s", path);
    int rc = nng_rep0_open(&l->socket);
    if (rc != 0)
        return nng_failed(path, rc);
    l->open = true;
    rc = nng_socket_set_size(l->socket, NNG_OPT_RECVMAXSZ, RECEIVE_MAX);
    if (rc == 0)
        rc = nng_pipe_notify(l->socket, NNG_PIPE_EV_ADD_PRE, on_connection, l);
    if (rc == 0)
        rc = nng_pipe_notify(l->socket, NNG_PIPE_EV_REM_POST, on_connection, l);
    if (rc == 0)
        rc = nng_listener_create(&listener, l->socket, url);
    if (rc == 0)
        rc = nng_listener_set_int(listener, NNG_OPT_IPC_PERMISSIONS, SOCKET_MODE);
    if (rc == 0)
        rc = nng_listener_start(listener, 0);
    return rc == 0 ? ST_OK : nng_failed(path, rc);
}

static enum status open_lane(struct lanes *l, struct lane *lane)
{
    lane->owner = l;
    int rc = nng_ctx_open(&lane->context, l->socket);
    if (rc == 0 && (rc = nng_aio_alloc(&lane->aio, on_operation, lane)) != 0)
        nng_ctx_close(lane->context);
    return rc == 0 ? ST_OK : fail(ST_RESOURCE, "coordinator: %s", nng_strerror(rc));
}

static enum status open_all(struct lanes *l, const char *path, size_t count)
{
    l->lanes = calloc(count, sizeof *l->lanes);
    if (!l->lanes)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    enum status st = start_listening(l, path);
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        st = open_lane(l, &l->lanes[i]);
        l->count += st == ST_OK;
    }
    for (size_t i = 0; st == ST_OK && i < count; i++)
        receive(&l->lanes[i]);
    return st;
}

enum status lanes_open(struct lanes **out, const char *path, uint32_t clients,
                       void (*ring)(void *arg), void *arg)
{
    if (strlen(path) > SOCKET_PATH_MAX)
        return fail(ST_RESOURCE,
                    "socket %s: its path has %zu characters, at most %d are possible: use a "
                    "shorter directory",
                    path, strlen(path), SOCKET_PATH_MAX);
    if (unlink(path) != 0 && errno != ENOENT)
        return fail(ST_RESOURCE, "socket %s: %m", path);
    struct lanes *l = calloc(1, sizeof *l);
    if (!l)
        return fail(ST_RESOURCE, "coordinator: out of memory");
    CHECK(pthread_mutex_init(&l->lock, NULL) == 0);
    l->ring = ring;
    l->arg = arg;
    enum status st = open_all(l, path, (size_t)clients + USER_LANES);
    if (st != ST_OK) {
        lanes_shut(l);
        lanes_close(l);
        return st;
    }
    *out = l;
    return ST_OK;
}

void lanes_shut(struct lanes *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->count; i++)
        nng_aio_stop(l->lanes[i].aio);
    l->closed = !l->open || socket_close(l->socket);
    l->open = false;
}

void lanes_close(struct lanes *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->count; i++) {
        nng_aio_free(l->lanes[i].aio);
        if (l->lanes[i].request)
            nng_msg_free(l->lanes[i].request);
    }
    free(l->lanes);
    if (!l->closed)
        return; /* on_connection may still come */
    pthread_mutex_destroy(&l->lock);
    free(l->connections);
    free(l);
}
