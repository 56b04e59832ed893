/* The coordinator's socket: requests in, one reply or none to each.
 *
 * It speaks nng's protocol (wire.h) without nng, whose server side does not stand users it cannot
 * trust: the listener of nng 1.5 ends for good when somebody hangs up during the greeting, and who
 * does not read his replies takes its contexts, one after the other.
 *
 * A lane is a request that has no reply yet, a token in the desk's hands. A thread accepts, reads
 * and goes on sending; it puts requests on a list and rings the bell. Everything else is the
 * owner's one thread. A connection has only so many lanes, and is not read while a reply to it is
 * on its way, so that nobody can take more than his connections hold; and a user other than the
 * owner and root has only so many of these. */
#ifndef PINION_SHM_COORD_LANES_H
#define PINION_SHM_COORD_LANES_H

#include "shm/coord/desk.h"

struct lanes;
struct lane;

/* Listens at the socket file `path`, replacing one that a dead coordinator left: the caller holds
 * the lock that makes it the only one. ring(arg) is called from another thread. ST_RESOURCE. */
enum status lanes_open(struct lanes **out, const char *path, void (*ring)(void *arg),
                       void *arg) MUST_CHECK;

/* No request arrives any more and no reply leaves; tokens may still be dropped. NULL is fine. */
void lanes_shut(struct lanes *l);
/* After lanes_shut, when no token is out. NULL is fine. */
void lanes_close(struct lanes *l);

struct arrival {
    struct lane *token;
    struct desk_peer peer;
    const void *bytes; /* until lanes_accepted */
    size_t len;
};

/* The next request that has arrived, in order; false when there is none. */
bool lanes_next(struct lanes *l, struct arrival *out);
/* The desk has read it: frees its bytes. It may have been answered already. */
void lanes_accepted(struct lanes *l);

/* The one reply; bytes are moved. */
void lanes_reply(struct lane *lane, void *bytes, size_t len);
/* There will be none. */
void lanes_drop(struct lane *lane);

#endif
