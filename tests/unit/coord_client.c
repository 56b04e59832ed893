#include "tests/unit/coord_client.h"

#include <inttypes.h>
#include <nng/protocol/reqrep0/req.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/process.h"

enum { TEXT_MAX = 8192, PATIENCE_MS = 20000 };

void coord_client_open(struct coord_client *c, const char *dir)
{
    char url[256];
    *c = (struct coord_client){.seq = 0};
    CHECK(snprintf(url, sizeof url, "ipc://%s/coord.sock", dir) < (int)sizeof url);
    CHECK(nng_req0_open(&c->socket) == 0);
    CHECK(nng_socket_set_ms(c->socket, NNG_OPT_REQ_RESENDTIME, 1000) == 0);
    CHECK(nng_socket_set_ms(c->socket, NNG_OPT_RECONNMINT, 20) == 0);
    CHECK(nng_socket_set_ms(c->socket, NNG_OPT_RECONNMAXT, 100) == 0);
    CHECK(nng_socket_set_ms(c->socket, NNG_OPT_RECVTIMEO, PATIENCE_MS) == 0);
    CHECK(nng_socket_set_size(c->socket, NNG_OPT_RECVMAXSZ, 2 << 20) == 0);
    CHECK(nng_dial(c->socket, url, NULL, NNG_FLAG_NONBLOCK) == 0);
}

void coord_client_close(struct coord_client *c)
{
    nng_close(c->socket);
    free(c->payload);
}

static json_t *exchange(struct coord_client *c, const char *text, const char *payload)
{
    char message[TEXT_MAX];
    size_t n = strlen(text), extra = payload ? 1 + strlen(payload) : 0, len;
    void *bytes;
    CHECK(n + extra < sizeof message);
    memcpy(message, text, n + 1);
    if (payload)
        memcpy(message + n + 1, payload, extra);
    CHECK(nng_send(c->socket, message, n + extra, 0) == 0);
    int rc = nng_recv(c->socket, &bytes, &len, NNG_FLAG_ALLOC);
    if (rc != 0)
        (void)fprintf(stderr, "%s: %s\n", text, nng_strerror(rc));
    CHECK(rc == 0);
    size_t body = strnlen(bytes, len);
    json_t *reply = json_loadb(bytes, body, 0, NULL);
    free(c->payload);
    c->payload = body < len ? strndup((char *)bytes + body + 1, len - body - 1) : NULL;
    nng_free(bytes, len);
    CHECK(reply);
    return reply;
}

json_t *coord_client_control(struct coord_client *c, const char *op, const char *members,
                             const char *payload)
{
    char text[TEXT_MAX];
    int n = snprintf(text, sizeof text, "{\"op\":\"%s\",\"protocol\":1%s}", op, members);
    CHECK(n < (int)sizeof text);
    return exchange(c, text, payload);
}

json_t *coord_client_ask(struct coord_client *c, const char *op, const char *members,
                         const char *payload)
{
    char text[TEXT_MAX], holding[64] = "";
    if (c->held.generation != 0)
        snprintf(holding, sizeof holding, "[%u,%u]", c->held.slot, c->held.generation);
    int n = snprintf(text, sizeof text,
                     "{\"op\":\"%s\",\"protocol\":1,\"client\":%u,\"incarnation\":\"%" PRIx64
                     "\",\"seq\":%" PRIu64 ",\"holding\":[%s]%s}",
                     op, c->client, c->incarnation, ++c->seq, holding, members);
    CHECK(n < (int)sizeof text);
    return exchange(c, text, payload);
}

void coord_client_hello(struct coord_client *c, const char *role, uint64_t incarnation)
{
    char text[TEXT_MAX];
    uint64_t start;
    CHECK(process_start_time(&start, getpid()) == ST_OK);
    c->incarnation = incarnation;
    c->seq = 1;
    snprintf(
        text, sizeof text,
        "{\"op\":\"hello\",\"protocol\":1,\"role\":\"%s\",\"pid\":%ld,\"start_time\":\"%" PRIu64
        "\",\"incarnation\":\"%" PRIx64 "\",\"seq\":1,\"holding\":[],\"version\":\"test\"}",
        role, (long)getpid(), start, incarnation);
    json_t *reply = exchange(c, text, NULL);
    CHECK(json_is_true(json_object_get(reply, "ok")));
    c->client = (unsigned)json_integer_value(json_object_get(reply, "client"));
    json_decref(reply);
}
