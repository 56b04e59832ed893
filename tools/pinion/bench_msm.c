#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tools/pinion/bench.h"
#if PINION_WITH_CUDA
#include "tools/pinion/bench_device.h"
#endif

enum { MAX_POINT_BYTES = 4 * CURVE_MAX_FQ_BYTES };

struct input {
    size_t n;
    uint8_t *bases, *scalars;
    uint8_t expected[MAX_POINT_BYTES];
};

static size_t point_bytes(const struct bench_job *job)
{
    return (job->group == MSM_G1 ? 2 : 4) * job->curve->fq_bytes;
}

static void fill_scalars(const struct bench_job *job, struct input *in)
{
    uint64_t state = 1;
    for (size_t i = 0; i < in->n; i++) {
        uint8_t *k = in->scalars + i * job->curve->fr_bytes;
        if (job->witness)
            bench_witness_scalar(job->curve, &state, k);
        else
            bench_scalar(job->curve, &state, k);
    }
}

/* The bases are (i + 1) G, so the sum is (sum k[i] (i + 1)) G: one multiplication of one point. */
static enum status expect(const struct bench_job *job, struct input *in)
{
    size_t fr_bytes = job->curve->fr_bytes;
    uint8_t sum[CURVE_MAX_FR_BYTES] = {0}, term[CURVE_MAX_FR_BYTES];
    for (size_t i = 0; i < in->n; i++) {
        bench_mul_u64(job->curve, term, in->scalars + i * fr_bytes, i + 1);
        bench_add(job->curve, sum, sum, term);
    }
    return job->curve->ops->msm(job->group, in->bases, sum, 1, job->session->pool, in->expected);
}

static enum status prepare(const struct bench_job *job, struct input *in)
{
    progress_report(&job->session->line.progress, "prepare points", 0, 0);
    void *bases = NULL, *scalars = NULL;
    enum status st = bench_alloc(&bases, in->n, point_bytes(job));
    in->bases = bases;
    if (st == ST_OK)
        st = bench_alloc(&scalars, in->n, job->curve->fr_bytes);
    in->scalars = scalars;
    if (st == ST_OK)
        st = job->curve->ops->points(job->group, in->n, job->session->pool, in->bases);
    if (st != ST_OK)
        return st;
    fill_scalars(job, in);
    return expect(job, in);
}

static enum status measure(const struct bench_job *job, const struct input *in,
                           struct bench_result *out)
{
    enum status st = ST_OK;
    out->correct = true;
    for (unsigned i = 0; st == ST_OK && i < job->repeat; i++) {
        uint8_t sum[MAX_POINT_BYTES];
        progress_report(&job->session->line.progress, "msm", i, job->repeat);
        double start = clock_ms();
        st = job->curve->ops->msm(job->group, in->bases, in->scalars, in->n, job->session->pool,
                                  sum);
        out->ms[i] = clock_ms() - start;
        out->correct &= st == ST_OK && memcmp(sum, in->expected, point_bytes(job)) == 0;
    }
    return st;
}

static enum status run(const struct bench_job *job, const struct input *in,
                       struct bench_result *out)
{
#if PINION_WITH_CUDA
    if (backend_is_device(job->backend))
        return bench_device_msm(job, in->bases, in->scalars, in->n, in->expected, out);
#endif
    return measure(job, in, out);
}

enum status bench_msm(const struct bench_job *job, struct bench_result *out)
{
    struct input in = {.n = (size_t)1 << job->log2};
    enum status st = prepare(job, &in);
    if (st == ST_OK)
        st = run(job, &in, out);
    free(in.bases);
    free(in.scalars);
    return st;
}
