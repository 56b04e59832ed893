#include "common/socket.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { CLOSE_SECONDS = 1 };

struct closing {
    nng_socket socket;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done, left; /* the close has returned; nobody waits for it any more */
};

static void closing_free(struct closing *c)
{
    pthread_cond_destroy(&c->ended);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Whoever is last frees. */
static void *run(void *arg)
{
    struct closing *c = arg;
    nng_close(c->socket);
    pthread_mutex_lock(&c->lock);
    c->done = true;
    bool left = c->left;
    pthread_cond_signal(&c->ended);
    pthread_mutex_unlock(&c->lock);
    if (left)
        closing_free(c);
    return NULL;
}

static bool wait_for(struct closing *c)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the clock of a condition without attributes */
    until.tv_sec += CLOSE_SECONDS;
    int error = 0;
    pthread_mutex_lock(&c->lock);
    while (!c->done && error == 0)
        error = pthread_cond_timedwait(&c->ended, &c->lock, &until);
    bool done = c->done;
    c->left = !done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

bool socket_close(nng_socket socket)
{
    pthread_t thread;
    struct closing *c = calloc(1, sizeof *c);
    if (c) {
        c->socket = socket;
        pthread_mutex_init(&c->lock, NULL);
        pthread_cond_init(&c->ended, NULL);
    }
    if (!c || pthread_create(&thread, NULL, run, c) != 0) {
        if (c)
            closing_free(c);
        nng_close(socket);
        return true;
    }
    if (!wait_for(c)) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    closing_free(c);
    return true;
}
