/* The asking side of the control socket: sends a request, waits for its reply.
 *
 * A request that gets no answer is sent again, and the connection is made again when it breaks, so
 * a coordinator may restart between the two; requests are therefore such that a repetition is
 * harmless (docs/protocol.md). One thread at a time. Not usable in a child after fork: exec first.
 */
#ifndef PINION_CLIENT_H
#define PINION_CLIENT_H

#include <stdatomic.h>

#include "common/msg.h"

enum {
    CLIENT_ADDRESS_MAX = 256,
    CLIENT_SOCKET_PATH_MAX = 107, /* bytes of a socket's path that the kernel takes */
};

struct client;

/* The address for what a user named: "ipc://PATH" as it is, else the directory of the state, whose
 * socket is DIR/coord.sock. ST_USAGE when the path is too long for a socket. */
enum status client_address(char out[CLIENT_ADDRESS_MAX], const char *where) MUST_CHECK;

/* Where the state is when nobody says otherwise: $PINION_DIR, else /var/lib/pinion. Static. */
const char *client_default_where(void);

enum client_patience {
    CLIENT_NOW,  /* somebody must listen already: ST_NO_DAEMON, saying how to start it */
    CLIENT_WAIT, /* whoever comes to listen later is fine */
};

/* ST_NO_DAEMON: nobody listens; ST_RESOURCE: no permission, no memory. */
enum status client_dial(struct client **out, const char *address,
                        enum client_patience patience) MUST_CHECK;
void client_close(struct client *c); /* NULL is fine */

/* When to stop waiting for a reply. */
struct client_limit {
    unsigned ms;             /* 0: never */
    const atomic_bool *stop; /* may be NULL. Once true, ms_after_stop counts from then on */
    unsigned ms_after_stop;
};

/* A reply; what is in msg borrows from bytes, which it owns in a form of its own. */
struct client_reply {
    struct msg msg;
    void *bytes;
};

void client_reply_fini(struct client_reply *r); /* zeroed: nothing happens */

/* Sends request (stolen, even on failure; NULL is lack of memory) and payload, and waits. ST_OK
 * only for {"ok": true}; *reply is then the caller's to fini. A refusal becomes its status and
 * message: "stale" ST_STALE; "unknown" ST_INPUT; "refused", "full" and "draining" ST_RESOURCE;
 * "unknown-client" ST_NO_DAEMON, see client_refusal; the others as msg_reply_status.
 * ST_NO_DAEMON when no reply came in time. */
enum status client_call(struct client *c, struct client_reply *reply, json_t *request,
                        const void *payload, size_t payload_len,
                        const struct client_limit *limit) MUST_CHECK;

/* The code of the last call's refusal, "" if it was not refused. Valid until the next call. */
const char *client_refusal(const struct client *c);

#endif
