#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pinion/bench.h"
#if PINION_WITH_CUDA
#include "tools/pinion/bench_device.h"
#endif

enum { HOG_BYTES = 64 << 20, ELEMENT_BYTES = 32 };

/* Copies from one half of its block to the other until it is told to stop. */
struct hog {
    pthread_t thread;
    bool started;
    uint8_t *block; /* owned */
    const atomic_bool *stop;
};

static void *hog_run(void *arg)
{
    struct hog *h = arg;
    /* relaxed: nothing else is read after it */
    while (!atomic_load_explicit(h->stop, memory_order_relaxed)) {
        memcpy(h->block, h->block + HOG_BYTES / 2, HOG_BYTES / 2);
        h->block[HOG_BYTES / 2]++;
    }
    return NULL;
}

static enum status hog_start(struct hog *h, const atomic_bool *stop)
{
    h->stop = stop;
    h->block = calloc(1, HOG_BYTES);
    if (!h->block || pthread_create(&h->thread, NULL, hog_run, h) != 0)
        return fail(ST_RESOURCE, "--hog: no memory or no thread");
    h->started = true;
    return ST_OK;
}

static void hog_end(struct hog *h)
{
    if (h->started)
        pthread_join(h->thread, NULL);
    free(h->block);
}

static enum status copy(const struct bench_job *job, struct bench_result *out)
{
#if PINION_WITH_CUDA
    if (backend_is_device(job->backend))
        return bench_device_copy(job, (size_t)ELEMENT_BYTES << job->log2, out);
#endif
    (void)out;
    return fail(ST_RESOURCE, "bench h2d: needs a CUDA device; this is %s", job->backend->name);
}

enum status bench_h2d(const struct bench_job *job, struct bench_result *out)
{
    atomic_bool stop = false;
    struct hog *hogs = calloc(job->hogs + 1, sizeof *hogs);
    enum status st = hogs ? ST_OK : fail(ST_RESOURCE, "no memory");
    for (unsigned i = 0; st == ST_OK && i < job->hogs; i++)
        st = hog_start(&hogs[i], &stop);
    if (st == ST_OK)
        st = copy(job, out);
    /* relaxed, partner: hog_run */
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    for (unsigned i = 0; hogs && i < job->hogs; i++)
        hog_end(&hogs[i]);
    free(hogs);
    return st;
}
