/* One connection of nng's request/reply over its IPC transport, seen from the side that replies: SP
 * (RFC of nanomsg, "SP over IPC"), which is a greeting of eight bytes from each side, then messages
 * of a byte 1, a length of eight bytes, big-endian, and so many bytes.
 *
 * Nothing waits: what cannot be sent now is kept. The caller watches the descriptor. */
#ifndef PINION_SHM_COORD_WIRE_H
#define PINION_SHM_COORD_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum {
    WIRE_MESSAGE_MAX = 2 << 20, /* who sends more at once is not served */
    WIRE_HEAD_BYTES = 9,
};

struct wire_out; /* a message on its way */

struct wire {
    int fd; /* owned */
    bool greeted;
    uint8_t head[WIRE_HEAD_BYTES]; /* of what comes in: the greeting, then a message's head */
    uint8_t *body;                 /* owned; NULL while the head comes */
    size_t size, have;             /* bytes of body; that have come, of head or body */
    struct wire_out *first, *last;
};

/* Listens at a socket file that any user may open, in the place of what is there. *fd is owned by the
 * caller, even on failure, when it may be -1. ST_RESOURCE. */
enum status wire_listen(int *fd, const char *path) MUST_CHECK;

/* Takes over fd, a connected socket that does not block, and sends the greeting. */
void wire_init(struct wire *w, int fd);
/* Closes; what was kept is lost. */
void wire_fini(struct wire *w);

enum wire_event {
    WIRE_EMPTY,   /* nothing is there now */
    WIRE_MORE,    /* something came: ask again */
    WIRE_MESSAGE, /* *body, for free(), has *len bytes */
    WIRE_BROKEN,  /* the other side is gone, or does not speak SP, or too much, or no memory */
};
enum wire_event wire_read(struct wire *w, uint8_t **body, size_t *len);

/* Sends a message of two parts, in all at most what a size_t of this side can hold, after those
 * that are kept. False when the connection is broken. */
bool wire_send(struct wire *w, const void *first, size_t first_len, const void *second,
               size_t second_len);
/* Goes on sending. False when the connection is broken. */
bool wire_flush(struct wire *w);
/* Whether something is kept, so that wire_flush is due when the socket takes more. */
bool wire_is_busy(const struct wire *w);

#endif
