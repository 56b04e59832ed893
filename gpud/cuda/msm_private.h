/* What the parts of the MSM share. Private to the MSM; contracts of the whole: msm.h.
 *
 * A scalar k is taken as the shorter of k and -(r - k), in W signed digits of c bits. The table
 * holds T multiples of each base, 2^(c S t) P for t < T, so that digit w = t S + u of every scalar
 * falls into bucket set u < S: with a full table there is one set and no doubling is left.
 *
 * A digit that is not 0 is an entry: key u 2^(c-1) + |digit| - 1, value the index in the table,
 * with the sign. Entries are sorted by key; bucket k is the run start[k] .. end[k] of them. Each
 * bucket is summed as a binary tree over its entries, all buckets together, level by level, so that
 * the work is even whatever the sizes of the buckets are: at level l the sum of the 2^l entries
 * from p on takes in that of the 2^l entries behind, if the bucket reaches so far. Everything about
 * a pair follows from p, so one pass over the entries plans all levels. Sums stay where they are:
 * those of up to 2^A entries are affine, in slot p/2 (a pair has two entries of the bucket, so no
 * other has that slot); longer ones are xyzz, in slot p >> A. */
#ifndef PINION_CUDA_MSM_PRIVATE_H
#define PINION_CUDA_MSM_PRIVATE_H

#include <cuda_runtime.h>
#include <stdio.h>

#include "gpud/cuda/msm.h"

enum {
    MSM_LEVELS = 30, /* of a tree over 2^30 entries */
    MSM_LANES = 128, /* threads of a block, of all kernels that add points */
    MSM_GRID = 2048, /* blocks of a persistent grid at most */
};

/* Where the right half of a pair is; in the top two bits of a job, whose rest is p. */
enum { MSM_FROM_TABLE = 0, MSM_FROM_AFFINE = 1, MSM_FROM_XYZZ = 2 };
enum { MSM_WHERE_BIT = 30, MSM_NEGATIVE_BIT = 31 };

/* How a sum is cut. Fixed when the plan is made. */
struct msm_shape {
    uint64_t n;
    unsigned width;         /* c */
    unsigned windows;       /* W */
    unsigned sets;          /* S */
    unsigned multiples;     /* T */
    unsigned affine_levels; /* A */
    unsigned strip;         /* log2 of the buckets that one thread reduces */
    uint32_t pass;          /* terms of one pass at most */
};

/* When what was enqueued has run: for profiles. */
enum { MSM_MARKS = 128 };
struct msm_trace {
    unsigned count;
    char name[MSM_MARKS][24];
    cudaEvent_t event[MSM_MARKS];
};

/* Marks the end of what has been enqueued since the last mark. trace may be NULL. */
static inline void msm_mark(struct msm_trace *trace, cudaStream_t stream, const char *name,
                            unsigned number)
{
    if (!trace || trace->count == MSM_MARKS)
        return;
    snprintf(trace->name[trace->count], sizeof trace->name[0], "%s %u", name, number);
    if (cudaEventRecord(trace->event[trace->count], stream) == cudaSuccess)
        trace->count++;
}

/* The device memory of one pass, as kernels see it. */
struct msm_pass {
    struct msm_trace *trace; /* the host's */
    const void *table;
    const uint32_t *infinite; /* bit i: base i is infinity */
    uint64_t stride;          /* bases of each multiple in the table */
    uint32_t entries;         /* n W: those of digit 0 have the key keys */
    uint32_t keys;            /* S 2^(c-1) */
    unsigned affine_levels;
    uint32_t *key, *value;                   /* sorted */
    uint32_t *start, *end;                   /* of each key */
    uint32_t *job;                           /* lists of all levels */
    uint32_t list[MSM_LEVELS];               /* where each begins */
    uint32_t *jobs;                          /* their lengths */
    void *affine, *product, *inverse, *xyzz; /* slots; products of denominators by job; by thread */
    void *strip_sum;                         /* two points a strip of buckets */
    void *block_sum;                         /* two points a block and set */
    void *total;                             /* a point a set */
};

/* Pairs at a level at most: they are 2^l + 1 entries apart at least. */
static inline uint32_t msm_pairs(uint32_t entries, unsigned level)
{
    return entries / ((1u << level) + 1) + 1;
}

/* What is compiled for each group and curve; all but sizes enqueue. */
struct msm_kernels {
    size_t coordinate, affine, xyzz; /* bytes */
    void (*find_infinite)(const void *bases, uint64_t n, uint32_t *infinite, cudaStream_t stream);
    /* to[i] = 2^doublings from[i], i < n; scratch: n (xyzz + coordinate) bytes */
    void (*multiply)(void *to, const void *from, uint64_t n, unsigned doublings, void *scratch,
                     cudaStream_t stream);
    void (*sum_buckets)(const struct msm_pass *pass, cudaStream_t stream);
    /* partial (xyzz) = or, unless fresh, += the sum over all sets; affine to result unless NULL */
    void (*reduce)(const struct msm_pass *pass, const struct msm_shape *shape, void *partial,
                   bool fresh, void *result, cudaStream_t stream);
    void (*add_up)(const void *points, uint64_t count, void *result, cudaStream_t stream);
};

extern const struct msm_kernels msm_bn254_g1, msm_bn254_g2, msm_bls12_381_g1, msm_bls12_381_g2;

/* Digits, sort and plan (msm_digits.cu). Sort workspace: four arrays of entries and temporary room.
 */
struct msm_sort {
    uint32_t *array[4];
    void *temporary;
    size_t temporary_bytes;
};
size_t msm_sort_temporary(uint64_t entries, uint32_t keys);

/* Fills pass: key, value, start, end, job, jobs. Requires the other members of its first part. */
cudaError_t msm_plan_entries(struct msm_pass *pass, const struct msm_sort *sort,
                             const struct msm_shape *shape, const uint32_t modulus[8],
                             const void *scalars, uint64_t first, uint32_t n, cudaStream_t stream);

#endif
