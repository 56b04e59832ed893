#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pinion/bench.h"
#include "tools/pinion/command.h"

struct bench_options {
    struct compute_options compute;
    const char *curve, *group, *scalars, *backend, *source;
    uint64_t log2, repeat, hogs, synths, seconds;
    bool json;
};

static const struct bench_kind {
    const char *name;
    unsigned min_log2;
    enum status (*run)(const struct bench_job *job, struct bench_result *out);
} kinds[] = {
    {"msm", 0, bench_msm}, {"ntt", 0, bench_ntt},           {"prove", 2, bench_prove},
    {"h2d", 8, bench_h2d}, {"pipeline", 2, bench_pipeline},
};

static enum status find_kind(const char *name, const struct bench_kind **out)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        *out = &kinds[i];
        if (strcmp(kinds[i].name, name) == 0)
            return ST_OK;
    }
    return fail(ST_USAGE,
                "bench: unknown benchmark %s; there are msm, ntt, prove, h2d and pipeline", name);
}

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum status print_copy(const struct bench_job *job, const struct bench_result *result,
                              double median, bool json)
{
    double bytes = 32.0 * (double)(UINT64_C(1) << job->log2), rate = bytes / median / 1e6;
    const char *check = result->correct ? "ok" : "wrong";
    if (!json) {
        printf("h2d from %s, %u hogs: %.2f GB/s (%.3f ms, median of %u), check %s\n", job->source,
               job->hogs, rate, median, job->repeat, check);
        return ST_OK;
    }
    return session_print_json(json_pack(
        "{s:s,s:s,s:i,s:i,s:s,s:f,s:f,s:s,s:f,s:i}", "bench", "h2d", "source", job->source, "hogs",
        (int)job->hogs, "log2", (int)job->log2, "backend", "cuda", "ms", median, "gbps", rate,
        "check", check, "best_ms", result->ms[0], "repeat", (int)job->repeat));
}

static enum status print(const struct bench_kind *kind, const struct bench_job *job,
                         struct bench_result *result, const struct bench_options *options)
{
    if (kind->run == bench_pipeline)
        return session_print_json(json_incref(result->stages));
    qsort(result->ms, job->repeat, sizeof result->ms[0], compare_ms);
    double median = (result->ms[(job->repeat - 1) / 2] + result->ms[job->repeat / 2]) / 2;
    const char *check = result->correct ? "ok" : "wrong", *scalars = options->scalars;
    const char *group = kind->run == bench_msm ? options->group : NULL;
    if (kind->run == bench_h2d)
        return print_copy(job, result, median, options->json);
    unsigned threads = pool_threads(job->session->pool);
    if (!options->json) {
        printf("%s %s%s%s 2^%u %s: %.3f ms (median of %u, best %.3f, %u threads, %s), check %s\n",
               kind->name, job->curve->name, group ? " " : "", group ? group : "", job->log2,
               scalars, median, job->repeat, result->ms[0], threads, job->curve->isa, check);
        return ST_OK;
    }
    return session_print_json(json_pack(
        "{s:s,s:s,s:s?,s:i,s:s,s:f,s:s,s:f,s:i,s:i,s:s,s:s,s:o?}", "bench", kind->name, "curve",
        job->curve->name, "group", group, "log2", (int)job->log2, "backend",
        backend_is_device(job->backend) ? "cuda" : "cpu", "ms", median, "check", check, "best_ms",
        result->ms[0], "repeat", (int)job->repeat, "threads", (int)threads, "isa", job->curve->isa,
        "scalars", scalars, "stages", json_incref(result->stages)));
}

static enum status run_kind(const struct bench_kind *kind, const struct bench_job *job,
                            const struct bench_options *options)
{
    struct bench_result *result = calloc(1, sizeof *result);
    if (!result)
        return fail(ST_RESOURCE, "no memory");
    enum status st = kind->run(job, result);
    progress_line_fini(&job->session->line);
    if (st == ST_OK)
        st = print(kind, job, result, options);
    if (st == ST_OK && !result->correct)
        st = fail(ST_INTERNAL, "bench %s: wrong result", kind->name);
    json_decref(result->stages);
    free(result);
    return st;
}

static enum status run(const void *arg, char **operands)
{
    const struct bench_options *options = arg;
    const struct bench_kind *kind;
    struct session session = {0};
    char warning[512] = "";
    enum status st = find_kind(operands[0], &kind);
    if (st == ST_OK)
        st = session_begin(&session, &options->compute);
    struct bench_job job = {
        .group = strcmp(options->group, "g2") == 0 ? MSM_G2 : MSM_G1,
        .log2 = (unsigned)options->log2,
        .witness = strcmp(options->scalars, "witness") == 0,
        .repeat = (unsigned)options->repeat,
        .session = &session,
        .source = options->source,
        .hogs = (unsigned)options->hogs,
        .synths = (unsigned)options->synths,
        .seconds = (unsigned)options->seconds,
    };
    if (st == ST_OK && options->log2 < kind->min_log2)
        st = fail(ST_USAGE, "bench %s: --log2 must be at least %u", kind->name, kind->min_log2);
    if (st == ST_OK) {
        job.curve = curve_by_name(options->curve);
        if (!job.curve)
            st = fail(ST_USAGE, "--curve %s: unknown; there are bn254 and bls12-381",
                      options->curve);
    }
    if (st == ST_OK)
        st = backend_create(&job.backend, options->backend, session.pool, warning, sizeof warning);
    if (st == ST_OK)
        st = run_kind(kind, &job, options);
    if (st == ST_OK && warning[0] != '\0')
        session_warn(&session, "%s", warning);
    backend_destroy(job.backend);
    session_end(&session);
    return st;
}

static const struct bench_options defaults = {
    .compute = COMPUTE_DEFAULTS,
    .curve = "bn254",
    .group = "g1",
    .scalars = "uniform",
    .backend = "auto",
    .source = "arena",
    .synths = 2,
    .seconds = 10,
    .log2 = 16,
    .repeat = 3,
};

static const struct option_spec options[] = {
    {"curve", "bn254|bls12-381", "the curve (default: bn254)", OPTION_TEXT,
     offsetof(struct bench_options, curve), 0, 0},
    {"group", "g1|g2", "msm: the group (default: g1)", OPTION_CHOICE,
     offsetof(struct bench_options, group), 0, 0},
    {"log2", "N", "2^N points, elements, or rows of the domain (default: 16)", OPTION_NUMBER,
     offsetof(struct bench_options, log2), 0, BENCH_MAX_LOG2},
    {"scalars", "uniform|witness", "of full width, or mostly 0 and 1 (default: uniform)",
     OPTION_CHOICE, offsetof(struct bench_options, scalars), 0, 0},
    {"repeat", "N", "repetitions; the median is reported (default: 3)", OPTION_NUMBER,
     offsetof(struct bench_options, repeat), 1, BENCH_MAX_REPEAT},
    {"backend", "auto|cpu|cuda", "what to compute on (default: auto)", OPTION_CHOICE,
     offsetof(struct bench_options, backend), 0, 0},
    {"source", "heap|staged|arena|driver", "h2d: where the bytes come from (default: arena)",
     OPTION_CHOICE, offsetof(struct bench_options, source), 0, 0},
    {"hog", "N", "h2d: threads that copy in host memory meanwhile (default: 0)", OPTION_NUMBER,
     offsetof(struct bench_options, hogs), 0, 1024},
    {"synths", "N", "pipeline: threads that fill slices (default: 2)", OPTION_NUMBER,
     offsetof(struct bench_options, synths), 1, 64},
    {"seconds", "N", "pipeline: how long (default: 10)", OPTION_NUMBER,
     offsetof(struct bench_options, seconds), 1, 3600},
    {"json", NULL, "one line of JSON instead of text", OPTION_FLAG,
     offsetof(struct bench_options, json), 0, 0},
    COMPUTE_OPTIONS,
    {0},
};

const struct command cmd_bench = {
    .name = "bench",
    .operands = "msm|ntt|prove|h2d|pipeline",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "measure speed",
    .about =
        "Measures multi-scalar multiplication, number-theoretic transform, the proof of a circuit\n"
        "that it makes itself, copies of 32 * 2^N bytes to a CUDA device, or proofs one after the\n"
        "other as a daemon makes them (always JSON). Every result is checked: the sum against its\n"
        "closed form, the transform by its inverse, the copy by copying it back, the proof by\n"
        "verification.\n",
    .examples = "  pinion bench msm --group g2 --log2 18\n"
                "  pinion bench prove --curve bls12-381 --scalars witness --json\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
