/* A CUDA device: keys and lanes are device memory; vectors come by DMA straight from the slice.
 *
 * One stream copies and checks, the others, one for each track of sums, prove. A lane passes from
 * one to the others through the host, which waits at the end of job_copy. The workspace of proving
 * belongs to no lane; it grows in lane_reserve, under a lock that job_prove holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/groth16/ops.h"
#include "gpud/backend_cuda_private.h"

enum { MARGIN_PERCENT = 5 }; /* of the device's free memory, left to the driver */

static uint64_t lane_bytes(const struct cuda_key_plan *p)
{
    return 2 * p->vector_bytes + p->witness_bytes + cuda_round_up(CUDA_CHECKED * sizeof(uint64_t));
}

static uint64_t proving_bytes(const struct cuda_key_plan *p)
{
    uint64_t bytes = p->vector_bytes;
    for (int i = 0; i < CUDA_TRACKS; i++)
        bytes += p->track_bytes[i];
    return bytes;
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
    struct cuda *c = cuda_device_of(b);
    if (key->curve->id != CURVE_BN254 && key->curve->id != CURVE_BLS12_381)
        return fail(ST_RESOURCE, "%s: %s has no keys of curve %s", key->path, b->name,
                    key->curve->name);
    enum status st = device_use(c->device.index);
    return st == ST_OK ? cuda_key_create(out, key, b->memory, c->copying) : st;
}

static void cuda_key_unload(struct backend *b, struct backend_key *key)
{
    if (device_use(cuda_device_of(b)->device.index) != ST_OK)
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
    uint64_t need = sizeof *l->results + cuda_publics_bytes(key);
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
    struct cuda *c = cuda_device_of(b);
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
        scalars += cuda_publics_bytes(key->key);
    CUDA_TRY(cudaEventRecord(c->sum_begin[sum], c->track[track]));
    enum status st = ST_OK;
    if (key->msm[sum])
        st = cuda_msm_launch(key->msm[sum], scalars, 0, key->plan.shape[sum].n,
                             workspace_of(c, key, track), result, c->track[track]);
    else
        memset(result, 0, CUDA_SUM_BYTES);
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
    struct cuda *c = cuda_device_of(b);
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
    struct cuda *c = cuda_device_of(b);
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
