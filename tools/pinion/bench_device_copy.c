#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "gpud/cuda/runtime.h"
#include "shm/arena.h"
#include "tools/pinion/bench_device.h"

enum { STAGES = 2, STAGE_BYTES = 16 << 20, WORD = sizeof(uint64_t) };

/* Memory to copy from, however it was come by. */
struct source {
    uint8_t *bytes; /* borrowed from one of those below */
    void *heap;     /* owned */
    void *pinned;   /* owned */
    struct arena *arena;
    struct arena_map map;
    struct backend *added; /* to which the arena was added */
    size_t most;           /* bytes of one copy: none crosses a chunk of the arena */
    void *stage[STAGES];   /* owned: pinned buffers between the heap and the device */
    cudaEvent_t empty[STAGES];
};

static enum status source_heap(struct source *s, size_t bytes)
{
    enum status st = bench_alloc(&s->heap, bytes, 1);
    s->bytes = s->heap;
    return st;
}

static enum status source_staged(struct source *s, size_t bytes)
{
    enum status st = source_heap(s, bytes);
    for (int i = 0; st == ST_OK && i < STAGES; i++) {
        st = device_host_alloc(&s->stage[i], STAGE_BYTES, "staging");
        if (st == ST_OK)
            CUDA_TRY(cudaEventCreateWithFlags(&s->empty[i], cudaEventDisableTiming));
    }
    return st;
}

static enum status source_driver(struct source *s, size_t bytes)
{
    enum status st = device_host_alloc(&s->pinned, bytes, "the source");
    s->bytes = s->pinned;
    return st;
}

/* As the daemon does it: all of the arena, chunk by chunk, read-only. */
static enum status source_arena(struct source *s, size_t bytes, struct backend *backend)
{
    const uint64_t page = UINT64_C(2) << 20;
    const struct arena_options options = {.kind = ARENA_PRIVATE,
                                          .bytes = (bytes + page - 1) / page * page};
    enum status st = arena_create(&s->arena, &options);
    if (st != ST_OK)
        return st;
    const struct arena_desc *desc = arena_desc(s->arena);
    const struct extent all = {.offset = 0, .bytes = desc->bytes};
    st = arena_map_slice(&s->map, s->arena, &all, 1, ARENA_WRITE);
    if (st == ST_OK)
        st = backend_memory_add(backend, s->map.base, s->map.bytes, desc->chunk);
    if (st == ST_OK)
        s->added = backend;
    s->bytes = s->map.base;
    s->most = desc->chunk;
    return st;
}

static enum status source_init(struct source *s, const struct bench_job *job, size_t bytes)
{
    enum status st = strcmp(job->source, "heap") == 0     ? source_heap(s, bytes)
                     : strcmp(job->source, "staged") == 0 ? source_staged(s, bytes)
                     : strcmp(job->source, "driver") == 0 ? source_driver(s, bytes)
                                                          : source_arena(s, bytes, job->backend);
    for (size_t i = 0; st == ST_OK && i < bytes; i += WORD) {
        uint64_t word = (i + 1) * 0x9e3779b97f4a7c15;
        memcpy(s->bytes + i, &word, WORD);
    }
    return st;
}

static void source_fini(struct source *s)
{
    for (int i = 0; i < STAGES; i++) {
        device_host_free(s->stage[i]);
        if (s->empty[i])
            (void)cudaEventDestroy(s->empty[i]);
    }
    if (s->added)
        backend_memory_remove(s->added, s->map.base);
    arena_unmap(&s->map);
    arena_detach(s->arena);
    device_host_free(s->pinned);
    free(s->heap);
}

static enum status copy_staged(struct source *s, uint8_t *to, size_t bytes)
{
    for (size_t at = 0, i = 0; at < bytes; at += STAGE_BYTES, i = (i + 1) % STAGES) {
        size_t n = bytes - at < STAGE_BYTES ? bytes - at : STAGE_BYTES;
        CUDA_TRY(cudaEventSynchronize(s->empty[i]));
        memcpy(s->stage[i], s->bytes + at, n);
        CUDA_TRY(cudaMemcpyAsync(to + at, s->stage[i], n, cudaMemcpyHostToDevice, NULL));
        CUDA_TRY(cudaEventRecord(s->empty[i], NULL));
    }
    return ST_OK;
}

static enum status copy(struct source *s, uint8_t *to, size_t bytes, double *ms)
{
    double start = clock_ms();
    enum status st = ST_OK;
    if (s->stage[0])
        st = copy_staged(s, to, bytes);
    for (size_t at = 0; !s->stage[0] && at < bytes; at += s->most) {
        size_t n = bytes - at < s->most ? bytes - at : s->most;
        CUDA_TRY(cudaMemcpyAsync(to + at, s->bytes + at, n, cudaMemcpyHostToDevice, NULL));
    }
    CUDA_TRY(cudaStreamSynchronize(NULL));
    *ms = clock_ms() - start;
    return st;
}

static enum status compare(const struct source *s, const uint8_t *copied, size_t bytes,
                           bool *correct)
{
    void *back;
    enum status st = bench_alloc(&back, bytes, 1);
    if (st != ST_OK)
        return st;
    cudaError_t e = cudaMemcpy(back, copied, bytes, cudaMemcpyDeviceToHost);
    *correct = memcmp(back, s->bytes, bytes) == 0;
    free(back);
    CUDA_TRY(e);
    return ST_OK;
}

static enum status measure(struct source *s, const struct bench_job *job, uint8_t *to, size_t bytes,
                           struct bench_result *out)
{
    double warm;
    CUDA_TRY(cudaMemset(to, 0xa5, bytes));
    enum status st = copy(s, to, bytes, &warm);
    for (unsigned i = 0; st == ST_OK && i < job->repeat; i++)
        st = copy(s, to, bytes, &out->ms[i]);
    return st == ST_OK ? compare(s, to, bytes, &out->correct) : st;
}

enum status bench_device_copy(const struct bench_job *job, size_t bytes, struct bench_result *out)
{
    struct source s = {.bytes = NULL, .most = bytes};
    void *to = NULL;
    enum status st = source_init(&s, job, bytes);
    if (st == ST_OK)
        st = device_alloc(&to, bytes, "the copy");
    if (st == ST_OK)
        st = measure(&s, job, to, bytes, out);
    device_free(to);
    source_fini(&s);
    return st;
}
