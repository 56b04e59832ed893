#include "shm/coord/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    GREETING_BYTES = 8,
    SOCKET_MODE = 0666, /* what a user may is decided by his uid */
};

/* "SP", the protocol's number, 0x30 for REQ and 0x31 for REP. */
static const uint8_t from_req[GREETING_BYTES] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
static const uint8_t from_rep[GREETING_BYTES] = {0, 'S', 'P', 0, 0, 0x31, 0, 0};

struct wire_out {
    struct wire_out *next;
    size_t len, sent;
    uint8_t bytes[];
};

enum status wire_listen(int *fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return fail(ST_RESOURCE,
                    "socket %s: its path has %zu characters, at most %zu are possible: use a "
                    "shorter directory",
                    path, strlen(path), sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (unlink(path) != 0 && errno != ENOENT)
        return fail(ST_RESOURCE, "socket %s: %m", path);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0 || bind(*fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, SOCKET_MODE) != 0 || listen(*fd, SOMAXCONN) != 0)
        return fail(ST_RESOURCE, "socket %s: %m", path);
    return ST_OK;
}

void wire_init(struct wire *w, int fd)
{
    *w = (struct wire){.fd = fd};
    /* it fits the buffer of a new socket; where not, the other side will wait in vain and go */
    (void)!send(fd, from_rep, sizeof from_rep, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void wire_fini(struct wire *w)
{
    while (w->first) {
        struct wire_out *next = w->first->next;
        free(w->first);
        w->first = next;
    }
    free(w->body);
    close(w->fd);
    *w = (struct wire){.fd = -1};
}

/* ---- in ---- */

static enum wire_event begin_body(struct wire *w)
{
    uint64_t size = 0;
    for (int i = 1; i < WIRE_HEAD_BYTES; i++)
        size = size << 8 | w->head[i];
    if (w->head[0] != 1 || size == 0 || size > WIRE_MESSAGE_MAX)
        return WIRE_BROKEN;
    w->size = size;
    w->body = malloc(size);
    return w->body ? WIRE_MORE : WIRE_BROKEN;
}

/* All of the greeting, the head or the body is there. */
static enum wire_event step(struct wire *w, uint8_t **body, size_t *len)
{
    w->have = 0;
    if (!w->greeted) {
        w->greeted = true;
        return memcmp(w->head, from_req, sizeof from_req) == 0 ? WIRE_MORE : WIRE_BROKEN;
    }
    if (!w->body)
        return begin_body(w);
    *body = w->body;
    *len = w->size;
    w->body = NULL;
    return WIRE_MESSAGE;
}

enum wire_event wire_read(struct wire *w, uint8_t **body, size_t *len)
{
    size_t whole = w->body ? w->size : w->greeted ? WIRE_HEAD_BYTES : GREETING_BYTES;
    uint8_t *at = (w->body ? w->body : w->head) + w->have;
    ssize_t n = recv(w->fd, at, whole - w->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return WIRE_EMPTY;
    if (n <= 0)
        return WIRE_BROKEN;
    w->have += (size_t)n;
    return w->have == whole ? step(w, body, len) : WIRE_MORE;
}

/* ---- out ---- */

bool wire_is_busy(const struct wire *w)
{
    return w->first != NULL;
}

bool wire_flush(struct wire *w)
{
    while (w->first) {
        struct wire_out *o = w->first;
        ssize_t n = send(w->fd, o->bytes + o->sent, o->len - o->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        o->sent += (size_t)n;
        if (o->sent < o->len)
            continue;
        w->first = o->next;
        free(o);
    }
    return true;
}

bool wire_send(struct wire *w, const void *first, size_t first_len, const void *second,
               size_t second_len)
{
    size_t size = first_len + second_len;
    struct wire_out *o = malloc(sizeof *o + WIRE_HEAD_BYTES + size);
    if (!o)
        return false;
    *o = (struct wire_out){.len = WIRE_HEAD_BYTES + size};
    o->bytes[0] = 1;
    for (int i = 0; i < 8; i++)
        o->bytes[1 + i] = (uint8_t)((uint64_t)size >> (56 - 8 * i));
    memcpy(o->bytes + WIRE_HEAD_BYTES, first, first_len);
    memcpy(o->bytes + WIRE_HEAD_BYTES + first_len, second, second_len);
    if (w->first)
        w->last->next = o;
    else
        w->first = o;
    w->last = o;
    return wire_flush(w);
}
