/* The daemon's pipeline with synthesis that costs nothing but the writing of its slices: SLICES
 * slices of a private arena go around between the threads that fill them and the pipeline. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file/zkey.h"
#include "common/groth16/setup.h"
#include "gpud/pipeline.h"
#include "shm/arena.h"
#include "shm/slice.h"
#include "tools/pinion/bench.h"

enum { SLICES = PIPELINE_JOBS + 2, PATH_BYTES = 64, WAIT_MS = 5 };

enum slice_use { SLICE_EMPTY, SLICE_FILLING, SLICE_FULL, SLICE_PROVING };

struct shop {
    const struct bench_job *job;
    const struct groth16_key *key;
    char path[PATH_BYTES]; /* of the key */
    uint8_t *w, *a, *b;    /* what is written into every slice; w borrowed, a and b owned */
    struct arena *arena;
    struct arena_map map; /* all of it, for writing */
    struct slice_plan plan;
    struct slice_record record[SLICES];
    struct backend *second;
    struct pool *pool, *second_pool;
    struct keys *keys;
    struct pipeline *pipeline;
    pthread_t synth[64];
    unsigned n_synths;
    /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum slice_use use[SLICES];
    bool stop;
    /* of the main thread */
    unsigned proved;
    double starved_ms, queue_ms, copy_ms, verify_ms;
};

/* ---- synthesis ---- */

static void fill(const struct shop *s, unsigned i)
{
    const struct slice_record *r = &s->record[i];
    uint8_t *w = (uint8_t *)s->map.base + r->extent[0].offset;
    uint8_t *abc = (uint8_t *)s->map.base + r->extent[1].offset;
    memcpy(w, s->w, r->w_bytes);
    memcpy(abc + (r->a_offset - s->plan.w_mapped), s->a, r->a_bytes);
    memcpy(abc + (r->b_offset - s->plan.w_mapped), s->b, r->b_bytes);
}

/* The first slice of that use; SLICES: none. Locked. */
static unsigned find(const struct shop *s, enum slice_use use)
{
    unsigned i = 0;
    while (i < SLICES && s->use[i] != use)
        i++;
    return i;
}

static void *synth_run(void *arg)
{
    struct shop *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        unsigned i = find(s, SLICE_EMPTY);
        if (i == SLICES) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        s->use[i] = SLICE_FILLING;
        pthread_mutex_unlock(&s->lock);
        fill(s, i);
        pthread_mutex_lock(&s->lock);
        s->use[i] = SLICE_FULL;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void set_use(struct shop *s, unsigned i, enum slice_use use)
{
    pthread_mutex_lock(&s->lock);
    s->use[i] = use;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* ---- making and taking down ---- */

static enum status lay_out(struct shop *s)
{
    const uint64_t page = UINT64_C(2) << 20;
    uint64_t size = s->key->curve->fr_bytes, vector = s->key->domain * size;
    s->plan =
        (struct slice_plan){.w_bytes = s->key->n_vars * size, .a_bytes = vector, .b_bytes = vector};
    enum status st = slice_plan(&s->plan, page);
    if (st != ST_OK)
        return st;
    uint64_t each = s->plan.w_mapped + s->plan.abc_mapped;
    const struct arena_options options = {
        .kind = ARENA_PRIVATE, .bytes = SLICES * each, .chunk = UINT64_C(64) << 30};
    for (unsigned i = 0; i < SLICES; i++)
        s->record[i] =
            (struct slice_record){.state = SLOT_COPYING,
                                  .generation = 1,
                                  .w_bytes = s->plan.w_bytes,
                                  .a_bytes = s->plan.a_bytes,
                                  .b_bytes = s->plan.b_bytes,
                                  .a_offset = s->plan.a_offset,
                                  .b_offset = s->plan.b_offset,
                                  .c_offset = s->plan.c_offset,
                                  .w_extents = 1,
                                  .abc_extents = 1,
                                  .extent = {{i * each, s->plan.w_mapped},
                                             {i * each + s->plan.w_mapped, s->plan.abc_mapped}}};
    return arena_create(&s->arena, &options);
}

static enum status make_arena(struct shop *s)
{
    enum status st = lay_out(s);
    if (st != ST_OK)
        return st;
    const struct arena_desc *desc = arena_desc(s->arena);
    const struct extent all = {.offset = 0, .bytes = desc->bytes};
    st = arena_map_slice(&s->map, s->arena, &all, 1, ARENA_WRITE);
    if (st == ST_OK)
        st = backend_memory_add(s->job->backend, s->map.base, s->map.bytes, desc->chunk);
    return st;
}

static enum status make_vectors(struct shop *s, uint8_t *witness)
{
    void *a = NULL, *b = NULL;
    enum status st = bench_alloc(&a, s->key->domain, s->key->curve->fr_bytes);
    s->a = a;
    if (st == ST_OK)
        st = bench_alloc(&b, s->key->domain, s->key->curve->fr_bytes);
    s->b = b;
    s->w = witness;
    if (st == ST_OK)
        s->key->curve->ops->evaluate(s->key, s->w, s->a, s->b, s->job->session->pool);
    return st;
}

static enum status make_pipeline(struct shop *s)
{
    uint64_t budget = s->job->backend->memory ? s->job->backend->memory : UINT64_MAX;
    enum status st = pool_create(&s->pool, 1);
    if (st == ST_OK)
        st = pool_create(&s->second_pool, 1);
    if (st == ST_OK)
        st = backend_cpu_create(&s->second, s->second_pool);
    if (st == ST_OK)
        st = keys_create(&s->keys, s->job->backend, budget);
    const struct pipeline_parts parts = {
        .device = s->job->backend, .second = s->second, .keys = s->keys, .pool = s->pool};
    if (st == ST_OK)
        st = pipeline_create(&s->pipeline, &parts);
    for (; st == ST_OK && s->n_synths < s->job->synths; s->n_synths++)
        if (pthread_create(&s->synth[s->n_synths], NULL, synth_run, s) != 0)
            return fail(ST_RESOURCE, "no thread");
    return st;
}

static void take_down(struct shop *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->n_synths; i++)
        pthread_join(s->synth[i], NULL);
    pipeline_destroy(s->pipeline);
    keys_destroy(s->keys);
    backend_destroy(s->second);
    pool_destroy(s->second_pool);
    pool_destroy(s->pool);
    if (s->map.base)
        backend_memory_remove(s->job->backend, s->map.base);
    arena_unmap(&s->map);
    arena_detach(s->arena);
    free(s->a);
    free(s->b);
    if (s->path[0] != '\0')
        unlink(s->path);
}

/* ---- at work ---- */

static enum status add_full(struct shop *s)
{
    pthread_mutex_lock(&s->lock);
    unsigned i = find(s, SLICE_FULL);
    if (i < SLICES)
        s->use[i] = SLICE_PROVING;
    pthread_mutex_unlock(&s->lock);
    if (i == SLICES)
        return ST_OK;
    const struct pipeline_job job = {.handle = {.slot = i, .generation = s->record[i].generation},
                                     .id = "bench",
                                     .circuit = "bench",
                                     .key_path = s->path,
                                     .record = &s->record[i],
                                     .base = s->map.base};
    return pipeline_add(s->pipeline, &job);
}

static enum status take_events(struct shop *s)
{
    struct pipeline_event e;
    while (pipeline_event(s->pipeline, &e)) {
        if (e.kind != PIPELINE_ENDED)
            continue;
        if (e.outcome != PIPELINE_PROVED || e.device_fault)
            return fail(ST_INTERNAL, "bench pipeline: %s",
                        e.device_fault ? "the device gave a wrong proof" : e.message);
        s->proved++;
        s->queue_ms += e.times->queue;
        s->copy_ms += e.times->copy;
        s->verify_ms += e.times->verify;
        unsigned i = e.handle.slot;
        pipeline_forget(s->pipeline, e.handle);
        s->record[i].generation++;
        set_use(s, i, SLICE_EMPTY);
    }
    return ST_OK;
}

/* Until so many milliseconds have passed. Starved is the time in which the pipeline had nothing to
 * do at all. */
static enum status work(struct shop *s, double ms)
{
    double start = clock_ms();
    enum status st = ST_OK;
    while (st == ST_OK && clock_ms() - start < ms) {
        for (unsigned room = pipeline_room(s->pipeline); st == ST_OK && room > 0; room--)
            st = add_full(s);
        double before = clock_ms();
        bool empty = pipeline_room(s->pipeline) == PIPELINE_JOBS;
        if (st == ST_OK)
            pipeline_wait(s->pipeline, empty ? 1 : WAIT_MS);
        if (empty)
            s->starved_ms += clock_ms() - before;
        if (st == ST_OK)
            st = take_events(s);
    }
    return st;
}

static json_t *report(const struct shop *s, const struct pipeline_totals *t, double ms)
{
    double n = s->proved ? s->proved : 1;
    return json_pack("{s:s,s:s,s:i,s:s,s:i,s:i,s:f,s:f,s:f,s:f,s:f,s:{s:f,s:f,s:f},s:s}", "bench",
                     "pipeline", "curve", s->job->curve->name, "log2", (int)s->job->log2, "backend",
                     backend_is_device(s->job->backend) ? "cuda" : "cpu", "synths",
                     (int)s->job->synths, "proofs", (int)s->proved, "ms", ms / n, "proofs_per_s",
                     s->proved / ms * 1e3, "busy_percent", t->busy_ms / ms * 100, "copy_gbps",
                     t->copy_ms > 0 ? (double)t->copied_bytes / t->copy_ms / 1e6 : 0.0,
                     "starved_percent", s->starved_ms / ms * 100, "mean_ms", "queue",
                     s->queue_ms / n, "copy", s->copy_ms / n, "verify", s->verify_ms / n, "check",
                     s->proved ? "ok" : "wrong");
}

static enum status measure(struct shop *s, struct bench_result *out)
{
    enum { LOADING_MS = 600000, STEP_MS = 50 };
    enum status st = ST_OK;
    /* the first proof waits for the key to be loaded */
    for (int i = 0; st == ST_OK && s->proved == 0 && i < LOADING_MS / STEP_MS; i++)
        st = work(s, STEP_MS);
    if (st != ST_OK)
        return st;
    struct pipeline_totals before = pipeline_totals(s->pipeline);
    s->proved = 0;
    s->starved_ms = s->queue_ms = s->copy_ms = s->verify_ms = 0;
    double start = clock_ms();
    st = work(s, s->job->seconds * 1e3);
    double ms = clock_ms() - start;
    struct pipeline_totals t = pipeline_totals(s->pipeline);
    t.busy_ms -= before.busy_ms;
    t.copy_ms -= before.copy_ms;
    t.copied_bytes -= before.copied_bytes;
    out->ms[0] = ms / (s->proved ? s->proved : 1);
    out->correct = s->proved > 0;
    if (st == ST_OK)
        out->stages = report(s, &t, ms);
    return st;
}

static enum status run(const struct bench_job *job, const struct groth16_key *key, uint8_t *witness,
                       struct bench_result *out)
{
    struct shop s = {.job = job,
                     .key = key,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    snprintf(s.path, sizeof s.path, "/tmp/pinion-bench-%ld.zkey", (long)getpid());
    enum status st = zkey_write(s.path, key);
    if (st != ST_OK)
        s.path[0] = '\0';
    if (st == ST_OK)
        st = make_vectors(&s, witness);
    if (st == ST_OK)
        st = make_arena(&s);
    if (st == ST_OK)
        st = make_pipeline(&s);
    if (st == ST_OK)
        st = measure(&s, out);
    take_down(&s);
    return st;
}

enum status bench_pipeline(const struct bench_job *job, struct bench_result *out)
{
    struct bench_circuit circuit;
    struct groth16_setup_output setup = {0};
    enum status st = bench_circuit_make(job, &circuit);
    if (st == ST_OK)
        st = groth16_setup_insecure(&circuit.r1cs, job->session->pool, &job->session->line.progress,
                                    &setup);
    progress_report(&job->session->line.progress, "pipeline", 0, 0);
    if (st == ST_OK)
        st = run(job, &setup.key, circuit.witness, out);
    groth16_setup_output_fini(&setup);
    bench_circuit_free(&circuit);
    return st;
}
