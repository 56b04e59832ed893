/* What nng's sockets need beside nng. */
#ifndef PINION_SOCKET_H
#define PINION_SOCKET_H

#include <nng/nng.h>
#include <stdbool.h>

/* Closes a socket, which may be one that was never opened. nng 1.5 can wait for ever then: its IPC
 * transport loses the operation when it goes on with half a message on a connection that was closed
 * meanwhile. So this waits a second, and otherwise returns false: callbacks of the socket may still
 * come, and what they use has to stay until the process ends. */
bool socket_close(nng_socket socket);

#endif
