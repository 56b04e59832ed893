#include "tools/pinion/bench_device.h"

#include <stdlib.h>
#include <string.h>

#include "gpud/cuda/msm.h"
#include "gpud/cuda/ntt.h"
#include "gpud/cuda/runtime.h"

enum { TABLE_PERCENT = 60, MAX_POINT_BYTES = 4 * CURVE_MAX_FQ_BYTES };

struct timer {
    cudaEvent_t begin, end;
};

static enum status timer_init(struct timer *t)
{
    CUDA_TRY(cudaEventCreate(&t->begin));
    CUDA_TRY(cudaEventCreate(&t->end));
    return ST_OK;
}

static void timer_fini(struct timer *t)
{
    if (t->begin)
        (void)cudaEventDestroy(t->begin);
    if (t->end)
        (void)cudaEventDestroy(t->end);
}

static enum status timer_start(const struct timer *t)
{
    CUDA_TRY(cudaEventRecord(t->begin, NULL));
    return ST_OK;
}

/* Waits for what was enqueued since timer_start. */
static enum status timer_stop(const struct timer *t, double *ms)
{
    float elapsed;
    CUDA_TRY(cudaEventRecord(t->end, NULL));
    CUDA_TRY(cudaEventSynchronize(t->end));
    CUDA_TRY(cudaEventElapsedTime(&elapsed, t->begin, t->end));
    *ms = (double)elapsed;
    return ST_OK;
}

static enum status copy_in(void *to, const void *from, size_t bytes)
{
    CUDA_TRY(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return ST_OK;
}

static enum status copy_out(void *to, const void *from, size_t bytes)
{
    CUDA_TRY(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return ST_OK;
}

/* ---- sums ---- */

struct sum {
    struct cuda_msm *plan;
    void *scalars, *workspace, *result; /* result: pinned */
    size_t n, point_bytes;
};

static enum status sum_init(struct sum *s, const struct bench_job *job, const uint8_t *bases,
                            const uint8_t *scalars, size_t n)
{
    struct cuda_msm_shape shape = {.curve = job->curve->id,
                                   .group = job->group,
                                   .n = n,
                                   .table_bytes = job->backend->memory / 100 * TABLE_PERCENT};
    size_t scalar_bytes = n * job->curve->fr_bytes;
    s->n = n;
    s->point_bytes = (job->group == MSM_G1 ? 2 : 4) * job->curve->fq_bytes;
    enum status st = cuda_msm_create(&s->plan, &shape, bases, NULL);
    if (st == ST_OK)
        st = device_alloc(&s->scalars, scalar_bytes, "scalars");
    if (st == ST_OK)
        st = device_alloc(&s->workspace, cuda_msm_workspace_bytes(&shape), "a sum");
    if (st == ST_OK)
        st = device_host_alloc(&s->result, MAX_POINT_BYTES, "a point");
    return st == ST_OK ? copy_in(s->scalars, scalars, scalar_bytes) : st;
}

static void sum_fini(struct sum *s)
{
    cuda_msm_destroy(s->plan);
    device_free(s->scalars);
    device_free(s->workspace);
    device_host_free(s->result);
}

static enum status sum_run(const struct sum *s, const struct timer *t, double *ms)
{
    memset(s->result, 0xa5, MAX_POINT_BYTES);
    enum status st = timer_start(t);
    if (st == ST_OK)
        st = cuda_msm_launch(s->plan, s->scalars, 0, s->n, s->workspace, s->result, NULL);
    return st == ST_OK ? timer_stop(t, ms) : st;
}

enum status bench_device_msm(const struct bench_job *job, const uint8_t *bases,
                             const uint8_t *scalars, size_t n, const uint8_t *expected,
                             struct bench_result *out)
{
    struct sum s = {.plan = NULL};
    struct timer t = {NULL, NULL};
    double warm;
    enum status st = timer_init(&t);
    if (st == ST_OK)
        st = sum_init(&s, job, bases, scalars, n);
    if (st == ST_OK)
        st = sum_run(&s, &t, &warm);
    out->correct = true;
    for (unsigned i = 0; st == ST_OK && i < job->repeat; i++) {
        st = sum_run(&s, &t, &out->ms[i]);
        out->correct &= st == ST_OK && memcmp(s.result, expected, s.point_bytes) == 0;
    }
    sum_fini(&s);
    timer_fini(&t);
    return st;
}

/* ---- transforms ---- */

struct transform {
    struct cuda_ntt *domain;
    void *vector;
    uint8_t *back; /* owned, host */
    size_t bytes;
};

static enum status transform_run(const struct transform *x, const struct timer *t,
                                 const uint8_t *input, double *ms, bool *correct)
{
    enum status st = copy_in(x->vector, input, x->bytes);
    if (st == ST_OK)
        st = timer_start(t);
    if (st == ST_OK)
        st = cuda_ntt_forward(x->domain, x->vector, NULL);
    if (st == ST_OK)
        st = timer_stop(t, ms);
    if (st == ST_OK)
        st = cuda_ntt_inverse(x->domain, x->vector, NULL);
    if (st == ST_OK)
        st = copy_out(x->back, x->vector, x->bytes);
    *correct &= st == ST_OK && memcmp(x->back, input, x->bytes) == 0;
    return st;
}

enum status bench_device_ntt(const struct bench_job *job, const uint8_t *input,
                             struct bench_result *out)
{
    struct transform x = {.bytes = ((size_t)1 << job->log2) * job->curve->fr_bytes};
    struct timer t = {NULL, NULL};
    double warm;
    x.back = malloc(x.bytes);
    enum status st = x.back ? timer_init(&t) : fail(ST_RESOURCE, "no memory");
    if (st == ST_OK)
        st = cuda_ntt_create(&x.domain, job->curve->id, job->log2);
    if (st == ST_OK)
        st = device_alloc(&x.vector, x.bytes, "a vector");
    out->correct = true;
    if (st == ST_OK)
        st = transform_run(&x, &t, input, &warm, &out->correct);
    for (unsigned i = 0; st == ST_OK && i < job->repeat; i++)
        st = transform_run(&x, &t, input, &out->ms[i], &out->correct);
    cuda_ntt_destroy(x.domain);
    device_free(x.vector);
    free(x.back);
    timer_fini(&t);
    return st;
}
