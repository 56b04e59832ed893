#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tools/pinion/bench.h"
#if PINION_WITH_CUDA
#include "tools/pinion/bench_device.h"
#endif

/* Times the forward transform; the inverse brings the input back. */
static enum status measure(const struct bench_job *job, uint8_t *work, const uint8_t *input,
                           struct bench_result *out)
{
    const struct curve_ops *ops = job->curve->ops;
    size_t bytes = ((size_t)1 << job->log2) * job->curve->fr_bytes;
    enum status st = ST_OK;
    for (unsigned i = 0; st == ST_OK && i < job->repeat; i++) {
        memcpy(work, input, bytes);
        progress_report(&job->session->line.progress, "ntt", i, job->repeat);
        double start = clock_ms();
        st = ops->ntt(work, job->log2, false, job->session->pool);
        out->ms[i] = clock_ms() - start;
        bool moved = memcmp(work, input, bytes) != 0 || job->log2 == 0;
        if (st == ST_OK)
            st = ops->ntt(work, job->log2, true, job->session->pool);
        out->correct &= st == ST_OK && moved && memcmp(work, input, bytes) == 0;
    }
    return st;
}

static enum status run(const struct bench_job *job, uint8_t *work, const uint8_t *input,
                       struct bench_result *out)
{
#if PINION_WITH_CUDA
    if (backend_is_device(job->backend))
        return bench_device_ntt(job, input, out);
#endif
    return measure(job, work, input, out);
}

enum status bench_ntt(const struct bench_job *job, struct bench_result *out)
{
    void *work = NULL, *input = NULL;
    size_t n = (size_t)1 << job->log2, fr_bytes = job->curve->fr_bytes;
    enum status st = bench_alloc(&work, n, fr_bytes);
    if (st == ST_OK)
        st = bench_alloc(&input, n, fr_bytes);
    uint64_t state = 1;
    for (size_t i = 0; st == ST_OK && i < n; i++)
        bench_scalar(job->curve, &state, (uint8_t *)input + i * fr_bytes);
    out->correct = true;
    if (st == ST_OK)
        st = run(job, work, input, out);
    free(work);
    free(input);
    return st;
}
