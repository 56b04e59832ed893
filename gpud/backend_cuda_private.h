/* What the parts of the CUDA backend share: backend_cuda.c (lanes and proofs), backend_cuda_copy.c
 * (the way to the device) and backend_cuda_key.c (keys). */
#ifndef PINION_GPUD_BACKEND_CUDA_PRIVATE_H
#define PINION_GPUD_BACKEND_CUDA_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpud/backend.h"
#include "gpud/cuda/msm.h"
#include "gpud/cuda/ntt.h"
#include "gpud/cuda/runtime.h"

enum {
    CUDA_ALIGNMENT = 256,
    CUDA_SUM_BYTES = 4 * CURVE_MAX_FQ_BYTES, /* of a stored point, the larger kind */
    CUDA_CHECKED = 3,                        /* vectors */
    CUDA_CHUNKS_MAX = 64,
};

/* The sums of a proof, in the order in which tables are given to them: h's scalars are all of full
 * width, c and a see most of the witness. */
enum cuda_sum { CUDA_SUM_H, CUDA_SUM_C, CUDA_SUM_A, CUDA_SUM_B1, CUDA_SUM_B2, CUDA_SUMS };

/* The sums run side by side in tracks, each with a stream and a workspace of its own: a sum leaves
 * much of the device idle when it begins and when it ends. About as much work in each; the
 * transforms come before h. */
enum { CUDA_TRACKS = 3 };

static inline unsigned cuda_track_of(enum cuda_sum sum)
{
    return sum == CUDA_SUM_B2 ? 2 : sum == CUDA_SUM_A || sum == CUDA_SUM_B1 ? 1 : 0;
}

/* What a loaded key takes on the device, known before it is loaded. */
struct cuda_key_plan {
    struct cuda_msm_shape shape[CUDA_SUMS]; /* n = 0: a sum of nothing */
    uint64_t key_bytes;                     /* points, multiples, factors of the transforms */
    uint64_t track_bytes[CUDA_TRACKS];      /* of workspace */
    bool one_track;                         /* not enough memory: all sums in the first one */
    uint64_t vector_bytes, witness_bytes;
};

/* memory: bytes of the device that the backend may use in all. */
struct cuda_key_plan cuda_key_plan(const struct groth16_key *key, uint64_t memory);

struct backend_key {
    const struct groth16_key *key;
    struct cuda_key_plan plan;
    struct cuda_ntt *ntt;            /* owned */
    struct cuda_msm *msm[CUDA_SUMS]; /* owned; NULL: a sum of nothing */
};

/* The device is current. ST_RESOURCE, ST_INTERNAL. */
enum status cuda_key_create(struct backend_key **out, const struct groth16_key *key,
                            uint64_t memory, struct CUstream_st *stream) MUST_CHECK;
void cuda_key_destroy(struct backend_key *k);

static inline uint64_t cuda_round_up(uint64_t n)
{
    return (n + CUDA_ALIGNMENT - 1) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
}

/* Pinned host memory of a lane, before the public values. */
struct results {
    uint8_t sum[CUDA_SUMS][CUDA_SUM_BYTES];
    uint64_t unreduced[CUDA_CHECKED];
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
    void *chunk[CUDA_CHUNKS_MAX]; /* registered */
    unsigned n_chunks;
};

static inline struct cuda *cuda_device_of(struct backend *b)
{
    return (struct cuda *)b;
}

/* w[0] and the public values. */
static inline uint64_t cuda_publics_bytes(const struct groth16_key *key)
{
    return ((uint64_t)key->n_public + 1) * key->curve->fr_bytes;
}

/* Members of the backend's operations. */
enum status cuda_job_copy(struct backend *b, unsigned lane, const struct backend_key *key,
                          const struct vectors *v) MUST_CHECK;
enum status cuda_memory_add(struct backend *b, const void *base, uint64_t bytes,
                            uint64_t chunk) MUST_CHECK;
void cuda_memory_remove(struct backend *b, const void *base);

#endif
