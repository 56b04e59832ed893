/* The coordinator's socket: requests in, one reply or none to each.
 *
 * A lane is a context of nng's REP socket: it receives one request, is a token in the desk's hands
 * until the reply or the drop, sends, and receives again. nng's threads do nothing but put lanes
 * with a request on a list and ring the bell; everything else is the owner's one thread.
 *
 * There are more lanes than clients, so that requests which wait at the desk (a second at most)
 * leave some for users; and each user may have only so many connections, and requests without a
 * reply, that he cannot keep the others out. Requests beyond are dropped: they come again. */
#ifndef PINION_SHM_COORD_LANES_H
#define PINION_SHM_COORD_LANES_H

#include "shm/coord/desk.h"

struct lanes;
struct lane;

/* Listens at the socket file `path`, replacing one that a dead coordinator left: the caller holds
 * the lock that makes it the only one. ring(arg) is called from other threads. ST_RESOURCE. */
enum status lanes_open(struct lanes **out, const char *path, uint32_t clients,
                       void (*ring)(void *arg), void *arg) MUST_CHECK;

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
