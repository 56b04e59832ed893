/* For tests: something that answers on a socket as the coordinator would, from a thread of its own.
 */
#ifndef PINION_TESTS_FAKE_COORD_H
#define PINION_TESTS_FAKE_COORD_H

#include "common/msg.h"

struct fake_coord;

/* The reply to a request, on the server's thread: NULL to say nothing, as if it was lost. *payload
 * (malloc'd) may be set. */
typedef json_t *fake_answer(void *arg, const struct msg *request, char **payload);

/* Listens on ipc://PATH. Whatever goes wrong fails the test. */
struct fake_coord *fake_coord_start(const char *path, fake_answer *answer, void *arg);
void fake_coord_stop(struct fake_coord *f);

#endif
