#include "tests/unit/fake_coord.h"

#include "tests/unit/test.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_coord {
    nng_socket socket;
    pthread_t thread;
    fake_answer *answer;
    void *arg;
};

static void reply(struct fake_coord *f, json_t *body, const char *payload)
{
    void *bytes = NULL;
    size_t len = 0;
    nng_msg *m = NULL;
    CHECK(msg_encode(&bytes, &len, body, payload, payload ? strlen(payload) : 0) == ST_OK);
    CHECK(nng_msg_alloc(&m, 0) == 0 && nng_msg_append(m, bytes, len) == 0);
    if (nng_sendmsg(f->socket, m, 0) != 0)
        nng_msg_free(m);
    free(bytes);
}

static void *serve(void *arg)
{
    struct fake_coord *f = arg;
    nng_msg *m;
    while (nng_recvmsg(f->socket, &m, 0) == 0) {
        struct msg request;
        char *payload = NULL;
        CHECK(msg_decode(&request, nng_msg_body(m), nng_msg_len(m)) == ST_OK);
        json_t *body = f->answer(f->arg, &request, &payload);
        if (body)
            reply(f, body, payload);
        json_decref(body);
        free(payload);
        msg_fini(&request);
        nng_msg_free(m);
    }
    return NULL;
}

struct fake_coord *fake_coord_start(const char *path, fake_answer *answer, void *arg)
{
    char address[256];
    struct fake_coord *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->answer = answer;
    f->arg = arg;
    snprintf(address, sizeof address, "ipc://%s", path);
    assert_int_equal(nng_rep0_open(&f->socket), 0);
    assert_int_equal(nng_socket_set_size(f->socket, NNG_OPT_RECVMAXSZ, 2 << 20), 0);
    assert_int_equal(nng_listen(f->socket, address, NULL, 0), 0);
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
    return f;
}

void fake_coord_stop(struct fake_coord *f)
{
    nng_close(f->socket);
    pthread_join(f->thread, NULL);
    free(f);
}
