#include "common/ec/msm.h"

#include "common/ec/batch_add.h"
#include "common/ec/msm_digits.h"
#include "common/ec/msm_sort.h"

enum {
    STRIP = 16,      /* buckets whose weighted sum is one unit of work, if there are as many */
    STRIPS = 256,    /* of them that share inversions */
    CHUNK_MIN = 256, /* smallest share of a thread, in points */
    CHUNK_BYTES = 256 * 1024, /* of points that are summed at a time */
    GROUP_POINTS = 1 << 20,   /* digits that are sorted at a time, if a window has fewer */
    GROUP_BYTES = 16 << 20,   /* of buckets at a time */
    ALIGN = 64,
};

/* A run of points with the same bucket. */
struct segment {
    uint32_t start, length, key;
};

/* What depends on the group of points, in bytes; chunk is a number of points. */
struct shape {
    size_t point, edge, worker, chunk;
    unsigned cost; /* of reducing a bucket, in eighths of an addition */
};

/* The parts of the scratch. live: terms that contribute, total: digits. */
struct demand {
    size_t n, live, total;
    unsigned width, threads;
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void *carve(uint8_t **at, size_t bytes)
{
    void *p = *at;
    *at += aligned(bytes);
    return p;
}

static size_t buckets_of(unsigned width)
{
    return (size_t)1 << (width - 1);
}

static size_t edges_of(const struct shape *shape, const struct demand *d, unsigned group)
{
    return group * (d->live / shape->chunk + 1) + 4 * (size_t)d->threads + 2;
}

/* Enough for smaller groups too: each has at most 2 * threads + group shares. */
static size_t positions_of(const struct demand *d, unsigned group)
{
    return (2 * (size_t)d->threads + group) * buckets_of(d->width);
}

/* Scratch for groups of that many windows, without the struct at its head. */
static size_t demand_bytes(const struct shape *shape, const struct demand *d, unsigned group)
{
    return aligned(d->n) + aligned(4 * d->live) + aligned(2 * d->total) +
           aligned(4 * d->live * group) + aligned(4 * positions_of(d, group)) +
           aligned(group * buckets_of(d->width) * shape->point) +
           aligned(edges_of(shape, d, group) * shape->edge) + d->threads * shape->worker;
}

/* In eighths of an addition: every digit one, every bucket a few in the reduction, and a share of
 * inversions and of the tail for every window. */
static uint64_t cost(const struct shape *shape, size_t total, unsigned windows, unsigned width)
{
    return 8 * (uint64_t)total +
           windows * (shape->cost * (uint64_t)buckets_of(width) + 400 + 8 * (uint64_t)width);
}

/* Width for n scalars of full length. */
static unsigned uniform_width(const struct shape *shape, size_t n)
{
    unsigned best = MSM_MIN_WIDTH;
    uint64_t least = UINT64_MAX;
    for (unsigned width = MSM_MIN_WIDTH; width <= MSM_MAX_WIDTH; width++) {
        unsigned windows = msm_windows(FR_BITS - 1, width);
        uint64_t c = cost(shape, windows * n, windows, width);
        if (c < least) {
            least = c;
            best = width;
        }
    }
    return best;
}

static size_t uniform_bytes(const struct shape *shape, size_t n, unsigned threads)
{
    unsigned width = uniform_width(shape, n), windows = msm_windows(FR_BITS - 1, width);
    struct demand d = {n, n, n * windows, width, threads};
    size_t by_points = GROUP_POINTS / n,
           by_bytes = GROUP_BYTES / (buckets_of(width) * shape->point);
    size_t group = by_points < by_bytes ? by_points : by_bytes;
    if (group == 0)
        group = 1;
    return demand_bytes(shape, &d, group < windows ? (unsigned)group : windows);
}

/* Enough for n scalars of full length. To be monotone in n, the largest over all sizes on a scale
 * of eight or more steps an octave. */
static size_t scratch_bytes(const struct shape *shape, size_t n, unsigned threads)
{
    size_t most = 0;
    for (size_t size = 1, step = 1;; size += step) {
        size_t bytes = uniform_bytes(shape, size, threads);
        most = bytes > most ? bytes : most;
        if (size >= n)
            return most;
        if (size >= 16 * step)
            step *= 2;
    }
}

/* Plans digits of the cheapest width whose demand fits; returns the windows that go together. */
static unsigned plan(struct msm_digits *digits, const struct msm_lengths *lengths,
                     const struct shape *shape, size_t n, unsigned threads)
{
    size_t limit = scratch_bytes(shape, n, threads);
    unsigned best = 0, best_group = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned width = MSM_MIN_WIDTH; width <= MSM_MAX_WIDTH; width++) {
        size_t total = msm_digits_plan(digits, lengths, width);
        struct demand d = {n, digits->count[0], total, width, threads};
        unsigned group = digits->windows;
        while (group > 0 && demand_bytes(shape, &d, group) > limit)
            group--;
        uint64_t c = cost(shape, total, digits->windows, width);
        if (group > 0 && c < least) {
            least = c;
            best = width;
            best_group = group;
        }
    }
    CHECK(best != 0); /* the width of scratch_bytes fits */
    msm_digits_plan(digits, lengths, best);
    return best_group;
}

#define GROUP g1
#define MSM msm_g1
#define MSM_SCRATCH msm_g1_scratch
#define COST 14
#include "common/ec/msm.inc"

#define GROUP g2
#define MSM msm_g2
#define MSM_SCRATCH msm_g2_scratch
#define COST 14
#include "common/ec/msm.inc"
