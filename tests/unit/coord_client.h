/* The least client that speaks the coordinator's protocol, for tests; aborts on anything odd. */
#ifndef PINION_TESTS_COORD_CLIENT_H
#define PINION_TESTS_COORD_CLIENT_H

#include <jansson.h>
#include <nng/nng.h>
#include <stdint.h>

#include "shm/slice.h"

struct coord_client {
    nng_socket socket;
    unsigned client;
    uint64_t incarnation, seq;
    struct handle held; /* generation 0: none */
    char *payload;      /* of the last reply, owned */
};

/* Dials, and goes on dialling while nobody listens. */
void coord_client_open(struct coord_client *c, const char *dir);
void coord_client_close(struct coord_client *c);
void coord_client_hello(struct coord_client *c, const char *role, uint64_t incarnation);

/* A worker's request with its head, or (coord_client_control) a user's. members: ", \"a\": 1" or
 * ""; payload: text or NULL. The reply is for json_decref. */
json_t *coord_client_ask(struct coord_client *c, const char *op, const char *members,
                         const char *payload);
json_t *coord_client_control(struct coord_client *c, const char *op, const char *members,
                             const char *payload);

#endif
