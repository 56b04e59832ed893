/* A CUDA device: keys and lanes are device memory; vectors come by DMA straight from the slice.
 *
 * One stream copies and checks, the others, one for each track of sums, prove. A lane passes from
 * one to the others through the host, which waits at the end of job_copy. The workspace of proving
 * belongs to no lane; it grows in lane_reserve, under a lock that job_prove holds. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/groth16/clock.h"
#include "common/groth16/ops.h"
#include "gpud/backend.h"
#include "gpud/backend_cuda_private.h"
#include "gpud/cuda/runtime.h"
#include "gpud/cuda/values.h"
#include "gpud/vectors.h"

enum {
    SUM_BYTES = 4 * CURVE_MAX_FQ_BYTES, /* of a stored point, the larger kind */
    CHECKED = 3,                        /* vectors */
    CHUNKS_MAX = 64,
    MARGIN_PERCENT = 5, /* of the device's free memory, left to the driver */
};

/* Pinned host memory of a lane, before the public values. */
struct results {
    uint8_t sum[CUDA_SUMS][SUM_BYTES];
    uint64_t unreduced[CHECKED];
};

struct lane {
    uint8_t *block; /* owned: a | b | w | unreduced */
    uint64_t bytes;
    uint8_t *a, *b, *w;
    uint64_t *unreduced;
    struct results *results; /* owned; w[0] and the public values follow */
    uint64_t results_bytes;
};

struct cuda {
    struct backend base;
    struct device device;
    cudaStream_t copying, track[CUDA_TRACKS];
    cudaEvent_t begin, transformed; /* the transforms, in the first track */
    cudaEvent_t sum_begin[CUDA_SUMS], sum_end[CUDA_SUMS];
    struct lane lane[BACKEND_LANES];
    pthread_mutex_t proving_lock;
    uint8_t *workspace; /* owned: c | of each track */
    uint64_t workspace_bytes;
    void *chunk[CHUNKS_MAX]; /* registered */
    unsigned n_chunks;
};

static struct cuda *cuda_of(struct backend *b)
{
    return (struct cuda *)b;
}

static uint64_t lane_bytes(const struct cuda_key_plan *p)
{
    return 2 * p->vector_bytes + p->witness_bytes + cuda_round_up(CHECKED * sizeof(uint64_t));
}

static uint64_t proving_bytes(const struct cuda_key_plan *p)
{
    uint64_t bytes = p->vector_bytes;
    for (int i = 0; i < CUDA_TRACKS; i++)
        bytes += p->track_bytes[i];
    return bytes;
}

static uint64_t publics_bytes(const struct groth16_key *key)
{
    return ((uint64_t)key->n_public + 1) * key->curve->fr_bytes;
}

/* ---- keys ---- */

static uint64_t cuda_key_bytes(const struct backend *b, const struct groth16_key *key)
{
    struct cuda_key_plan p = cuda_key_plan(key, b->memory);
    return p.key_bytes + BACKEND_LANES * lane_bytes(&p) + proving_bytes(&p);
}

static enum status cuda_key_load(struct backend *b, struct backend_key **out,
                                 const struct groth16_key *key)
{
    struct cuda *c = cuda_of(b);
    if (key->curve->id != CURVE_BN254 && key->curve->id != CURVE_BLS12_381)
        return fail(ST_RESOURCE, "%s: %s has no keys of curve %s", key->path, b->name,
                    key->curve->name);
    enum status st = device_use(c->device.index);
    return st == ST_OK ? cuda_key_create(out, key, b->memory, c->copying) : st;
}

static void cuda_key_unload(struct backend *b, struct backend_key *key)
{
    if (device_use(cuda_of(b)->device.index) != ST_OK)
        status_clear(); /* the device is gone, and with it what the key has there */
    cuda_key_destroy(key);
}

/* ---- lanes ---- */

static enum status grow(uint8_t **block, uint64_t *have, uint64_t need, const char *what)
{
    void *larger = NULL;
    if (*have >= need)
        return ST_OK;
    device_free(*block);
    *block = NULL;
    *have = 0;
    enum status st = device_alloc(&larger, need, what);
    if (st != ST_OK)
        return st;
    *block = larger;
    *have = need;
    return ST_OK;
}

static enum status grow_results(struct lane *l, const struct groth16_key *key)
{
    void *larger = NULL;
    uint64_t need = sizeof *l->results + publics_bytes(key);
    if (l->results_bytes >= need)
        return ST_OK;
    device_host_free(l->results);
    l->results = NULL;
    l->results_bytes = 0;
    enum status st = device_host_alloc(&larger, need, "results");
    if (st != ST_OK)
        return st;
    l->results = larger;
    l->results_bytes = need;
    return ST_OK;
}

static enum status cuda_lane_reserve(struct backend *b, unsigned lane,
                                     const struct backend_key *key)
{
    struct cuda *c = cuda_of(b);
    struct lane *l = &c->lane[lane];
    enum status st = device_use(c->device.index);
    if (st == ST_OK)
        st = grow(&l->block, &l->bytes, lane_bytes(&key->plan), "the vectors of a job");
    if (st == ST_OK)
        st = grow_results(l, key->key);
    pthread_mutex_lock(&c->proving_lock);
    if (st == ST_OK)
        st = grow(&c->workspace, &c->workspace_bytes, proving_bytes(&key->plan), "proving");
    pthread_mutex_unlock(&c->proving_lock);
    if (st != ST_OK)
        return st;
    l->a = l->block;
    l->b = l->a + key->plan.vector_bytes;
    l->w = l->b + key->plan.vector_bytes;
    l->unreduced = (uint64_t *)(void *)(l->w + key->plan.witness_bytes);
    return ST_OK;
}

/* ---- copying ---- */

/* The bytes [at, at + bytes) of the slice, piece by piece. */
static enum status copy_vector(struct cuda *c, uint8_t *to, const struct vectors *v, uint64_t at,
                               uint64_t bytes)
{
    for (uint32_t i = 0; i < v->n_pieces && bytes > 0; i++) {
        const struct piece *p = &v->pieces[i];
        if (at < p->at || at >= p->at + p->bytes)
            continue;
        uint64_t skip = at - p->at, n = p->bytes - skip < bytes ? p->bytes - skip : bytes;
        CUDA_TRY(cudaMemcpyAsync(to, p->from + skip, n, cudaMemcpyHostToDevice, c->copying));
        to += n;
        at += n;
        bytes -= n;
    }
    CHECK(bytes == 0);
    return ST_OK;
}

static enum status enqueue_copy(struct cuda *c, struct lane *l, const struct groth16_key *key,
                                const struct vectors *v)
{
    const struct curve *curve = key->curve;
    struct results *results = l->results;
    CUDA_TRY(cudaMemsetAsync(l->unreduced, 0xff, sizeof results->unreduced, c->copying));
    enum status st = copy_vector(c, l->w, v, 0, v->w_bytes);
    if (st == ST_OK)
        st = copy_vector(c, l->a, v, v->a_offset, v->a_bytes);
    if (st == ST_OK)
        st = copy_vector(c, l->b, v, v->b_offset, v->b_bytes);
    if (st == ST_OK)
        st = cuda_values_check(curve->id, l->w, key->n_vars, &l->unreduced[0], c->copying);
    if (st == ST_OK)
        st = cuda_values_check(curve->id, l->a, key->domain, &l->unreduced[1], c->copying);
    if (st == ST_OK)
        st = cuda_values_check(curve->id, l->b, key->domain, &l->unreduced[2], c->copying);
    if (st != ST_OK)
        return st;
    CUDA_TRY(cudaMemcpyAsync(results->unreduced, l->unreduced, sizeof results->unreduced,
                             cudaMemcpyDeviceToHost, c->copying));
    CUDA_TRY(
        cudaMemcpyAsync(results + 1, l->w, publics_bytes(key), cudaMemcpyDeviceToHost, c->copying));
    return ST_OK;
}

/* What the device has found. */
static enum status check_copied(const struct lane *l, const struct groth16_key *key)
{
    static const char *const names[CHECKED] = {"w", "a", "b"};
    static const uint8_t one[CURVE_MAX_FR_BYTES] = {1};
    for (int i = 0; i < CHECKED; i++)
        if (l->results->unreduced[i] != UINT64_MAX)
            return fail(ST_INTERNAL, "%s: %s[%llu] of the slice is not below the group order",
                        key->path, names[i], (unsigned long long)l->results->unreduced[i]);
    if (memcmp(l->results + 1, one, key->curve->fr_bytes) != 0)
        return fail(ST_INTERNAL, "%s: w[0] of the slice is not 1", key->path);
    return ST_OK;
}

static enum status cuda_job_copy(struct backend *b, unsigned lane, const struct backend_key *key,
                                 const struct vectors *v)
{
    struct cuda *c = cuda_of(b);
    struct lane *l = &c->lane[lane];
    enum status st = vectors_check(v, key->key);
    if (st == ST_OK)
        st = device_use(c->device.index);
    if (st != ST_OK)
        return st;
    st = enqueue_copy(c, l, key->key, v);
    /* also after a failure: the slice is not read any more once this function has returned */
    CUDA_TRY(cudaStreamSynchronize(c->copying));
    return st == ST_OK ? check_copied(l, key->key) : st;
}

/* ---- proving ---- */

static unsigned track_of(const struct backend_key *key, enum cuda_sum sum)
{
    return key->plan.one_track ? 0 : cuda_track_of(sum);
}

static uint8_t *workspace_of(const struct cuda *c, const struct backend_key *key, unsigned track)
{
    uint8_t *p = c->workspace + key->plan.vector_bytes;
    for (unsigned i = 0; i < track; i++)
        p += key->plan.track_bytes[i];
    return p;
}

static enum status enqueue_sum(struct cuda *c, struct lane *l, const struct backend_key *key,
                               enum cuda_sum sum)
{
    unsigned track = track_of(key, sum);
    uint8_t *result = l->results->sum[sum];
    const uint8_t *scalars = sum == CUDA_SUM_H ? l->a : l->w;
    if (sum == CUDA_SUM_C)
        scalars += publics_bytes(key->key);
    CUDA_TRY(cudaEventRecord(c->sum_begin[sum], c->track[track]));
    enum status st = ST_OK;
    if (key->msm[sum])
        st = cuda_msm_launch(key->msm[sum], scalars, 0, key->plan.shape[sum].n,
                             workspace_of(c, key, track), result, c->track[track]);
    else
        memset(result, 0, SUM_BYTES);
    if (st != ST_OK)
        return st;
    CUDA_TRY(cudaEventRecord(c->sum_end[sum], c->track[track]));
    return ST_OK;
}

/* The longest track first. */
static enum status enqueue_proof(struct cuda *c, struct lane *l, const struct backend_key *key)
{
    static const enum cuda_sum order[CUDA_SUMS] = {CUDA_SUM_B2, CUDA_SUM_H, CUDA_SUM_A, CUDA_SUM_C,
                                                   CUDA_SUM_B1};
    CUDA_TRY(cudaEventRecord(c->begin, c->track[0]));
    enum status st = cuda_ntt_quotient(key->ntt, l->a, l->b, c->workspace, c->track[0]);
    if (st != ST_OK)
        return st;
    CUDA_TRY(cudaEventRecord(c->transformed, c->track[0]));
    for (int i = 0; st == ST_OK && i < CUDA_SUMS; i++)
        st = enqueue_sum(c, l, key, order[i]);
    return st;
}

static enum status add_time(double *stage, cudaEvent_t begin, cudaEvent_t end)
{
    float ms;
    CUDA_TRY(cudaEventElapsedTime(&ms, begin, end));
    *stage += (double)ms;
    return ST_OK;
}

/* Stages overlap: their sum is more than the whole. */
static enum status read_times(struct cuda *c, struct groth16_timings *t)
{
    double *stage[CUDA_SUMS] = {[CUDA_SUM_H] = &t->msm_h,
                                [CUDA_SUM_C] = &t->msm_c,
                                [CUDA_SUM_A] = &t->msm_a,
                                [CUDA_SUM_B1] = &t->msm_b1,
                                [CUDA_SUM_B2] = &t->msm_b2};
    enum status st = add_time(&t->ntt, c->begin, c->transformed);
    for (int i = 0; st == ST_OK && i < CUDA_SUMS; i++)
        st = add_time(stage[i], c->sum_begin[i], c->sum_end[i]);
    return st;
}

static enum status wait_for_tracks(struct cuda *c)
{
    for (int i = 0; i < CUDA_TRACKS; i++)
        CUDA_TRY(cudaStreamSynchronize(c->track[i]));
    return ST_OK;
}

/* What the processor can do, it does while the device works. */
static enum status run_proof(struct cuda *c, struct lane *l, const struct backend_key *key,
                             const struct groth16_randomness *rs, struct groth16_timings *timings,
                             struct groth16_blinding *blinding)
{
    enum status st = enqueue_proof(c, l, key);
    if (st == ST_OK)
        key->key->curve->ops->blind(key->key, rs, blinding);
    enum status waited = wait_for_tracks(c);
    if (st == ST_OK)
        st = waited;
    return st == ST_OK && timings ? read_times(c, timings) : st;
}

static struct groth16_sums sums_of(const struct results *r)
{
    struct groth16_sums s;
    memcpy(s.h, r->sum[CUDA_SUM_H], sizeof s.h);
    memcpy(s.a, r->sum[CUDA_SUM_A], sizeof s.a);
    memcpy(s.b1, r->sum[CUDA_SUM_B1], sizeof s.b1);
    memcpy(s.c, r->sum[CUDA_SUM_C], sizeof s.c);
    memcpy(s.b2, r->sum[CUDA_SUM_B2], sizeof s.b2);
    return s;
}

static enum status cuda_job_prove(struct backend *b, unsigned lane, const struct backend_key *key,
                                  const struct groth16_randomness *rs, struct progress *progress,
                                  struct groth16_timings *timings, struct groth16_proof *out,
                                  uint8_t *publics)
{
    struct cuda *c = cuda_of(b);
    struct lane *l = &c->lane[lane];
    const struct groth16_key *k = key->key;
    struct groth16_blinding blinding;
    enum status st = device_use(c->device.index);
    if (st != ST_OK)
        return st;
    progress_report(progress, "prove", 0, 0);
    pthread_mutex_lock(&c->proving_lock);
    st = run_proof(c, l, key, rs, timings, &blinding);
    pthread_mutex_unlock(&c->proving_lock);
    if (st != ST_OK)
        return st;
    double start = clock_ms();
    struct groth16_sums sums = sums_of(l->results);
    k->curve->ops->assemble(k, &sums, &blinding, rs, out);
    memcpy(publics, (const uint8_t *)(l->results + 1) + k->curve->fr_bytes,
           (size_t)k->n_public * k->curve->fr_bytes);
    if (timings)
        timings->assemble += clock_ms() - start;
    return ST_OK;
}

/* ---- memory that pieces lie in ---- */

static void cuda_memory_remove(struct backend *b, const void *base)
{
    struct cuda *c = cuda_of(b);
    (void)base; /* there is one */
    while (c->n_chunks > 0)
        (void)cudaHostUnregister(c->chunk[--c->n_chunks]); /* fails only on a lost device */
}

/* The mapping is not written through: the driver's interface has no const. */
static void *without_const(const uint8_t *p)
{
    union {
        const uint8_t *from;
        void *to;
    } u = {p};
    return u.to;
}

static enum status register_chunks(struct cuda *c, const uint8_t *base, uint64_t bytes,
                                   uint64_t chunk)
{
    const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterReadOnly;
    for (uint64_t at = 0; at < bytes; at += chunk) {
        uint64_t n = bytes - at < chunk ? bytes - at : chunk;
        void *p = without_const(base + at);
        if (c->n_chunks == CHUNKS_MAX)
            return fail(ST_RESOURCE, "%s: more than %d chunks of memory to pin", c->base.name,
                        CHUNKS_MAX);
        CUDA_TRY(cudaHostRegister(p, n, flags));
        c->chunk[c->n_chunks++] = p;
    }
    return ST_OK;
}

static enum status cuda_memory_add(struct backend *b, const void *base, uint64_t bytes,
                                   uint64_t chunk)
{
    struct cuda *c = cuda_of(b);
    enum status st = device_use(c->device.index);
    if (st == ST_OK && c->n_chunks > 0)
        st = fail(ST_INTERNAL, "%s: memory is pinned already", b->name);
    if (st == ST_OK)
        st = register_chunks(c, base, bytes, chunk ? chunk : bytes);
    if (st != ST_OK)
        cuda_memory_remove(b, base);
    return st;
}

/* ---- begin and end ---- */

static bool cuda_lost(const struct backend *b)
{
    (void)b;
    return device_lost();
}

static void destroy_event(cudaEvent_t e)
{
    if (e)
        (void)cudaEventDestroy(e);
}

static void cuda_destroy(struct backend *b)
{
    struct cuda *c = cuda_of(b);
    cuda_memory_remove(b, NULL);
    for (unsigned i = 0; i < BACKEND_LANES; i++) {
        device_free(c->lane[i].block);
        device_host_free(c->lane[i].results);
    }
    device_free(c->workspace);
    destroy_event(c->begin);
    destroy_event(c->transformed);
    for (int i = 0; i < CUDA_SUMS; i++) {
        destroy_event(c->sum_begin[i]);
        destroy_event(c->sum_end[i]);
    }
    for (int i = 0; i < CUDA_TRACKS; i++)
        if (c->track[i])
            (void)cudaStreamDestroy(c->track[i]);
    if (c->copying)
        (void)cudaStreamDestroy(c->copying);
    pthread_mutex_destroy(&c->proving_lock);
    free(c);
}

static enum status begin(struct cuda *c, int index)
{
    uint64_t memory;
    enum status st = device_open(&c->device, index);
    if (st == ST_OK)
        st = device_free_memory(&memory);
    if (st != ST_OK)
        return st;
    c->base.memory = memory / 100 * (100 - MARGIN_PERCENT);
    snprintf(c->base.name, sizeof c->base.name, "cuda:%d %s", index, c->device.name);
    CUDA_TRY(cudaStreamCreateWithFlags(&c->copying, cudaStreamNonBlocking));
    for (int i = 0; i < CUDA_TRACKS; i++)
        CUDA_TRY(cudaStreamCreateWithFlags(&c->track[i], cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreate(&c->begin));
    CUDA_TRY(cudaEventCreate(&c->transformed));
    for (int i = 0; i < CUDA_SUMS; i++) {
        CUDA_TRY(cudaEventCreate(&c->sum_begin[i]));
        CUDA_TRY(cudaEventCreate(&c->sum_end[i]));
    }
    return ST_OK;
}

enum status backend_cuda_create(struct backend **out, int index)
{
    static const struct backend_ops ops = {
        .key_bytes = cuda_key_bytes,
        .key_load = cuda_key_load,
        .key_unload = cuda_key_unload,
        .lane_reserve = cuda_lane_reserve,
        .job_copy = cuda_job_copy,
        .job_prove = cuda_job_prove,
        .memory_add = cuda_memory_add,
        .memory_remove = cuda_memory_remove,
        .lost = cuda_lost,
        .destroy = cuda_destroy,
    };
    struct cuda *c = calloc(1, sizeof *c);
    if (!c)
        return fail(ST_RESOURCE, "no memory");
    c->base.ops = &ops;
    pthread_mutex_init(&c->proving_lock, NULL);
    enum status st = begin(c, index);
    if (st == ST_OK)
        *out = &c->base;
    else
        cuda_destroy(&c->base);
    return st;
}
