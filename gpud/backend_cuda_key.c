#include <stdlib.h>

#include "gpud/backend_cuda_private.h"

/* Of the memory that the backend may use: how much one key may take with its multiples, so that
 * another one has room beside it; and how much sums may take while they run. */
enum { KEY_SHARE_PERCENT = 40, WORKSPACE_SHARE_PERCENT = 20 };

static uint64_t percent(uint64_t n, unsigned p)
{
    return n / 100 * p;
}

static unsigned log2_of(uint64_t domain)
{
    return (unsigned)__builtin_ctzll(domain);
}

static uint64_t terms_of(const struct groth16_key *key, enum cuda_sum sum)
{
    if (sum == CUDA_SUM_H)
        return key->domain;
    return sum == CUDA_SUM_C ? key->n_vars - key->n_public - 1 : key->n_vars;
}

static const uint8_t *points_of(const struct groth16_key *key, enum cuda_sum sum)
{
    const uint8_t *points[CUDA_SUMS] = {[CUDA_SUM_H] = key->h,
                                        [CUDA_SUM_C] = key->c,
                                        [CUDA_SUM_A] = key->a,
                                        [CUDA_SUM_B1] = key->b1,
                                        [CUDA_SUM_B2] = key->b2};
    return points[sum];
}

/* The largest workspace of each track; of all sums in the first one where that is too much. */
static void plan_tracks(struct cuda_key_plan *p, uint64_t memory)
{
    uint64_t most = 0, total = 0;
    for (int i = 0; i < CUDA_SUMS; i++) {
        if (p->shape[i].n == 0)
            continue;
        uint64_t bytes = cuda_round_up(cuda_msm_workspace_bytes(&p->shape[i]));
        uint64_t *track = &p->track_bytes[cuda_track_of(i)];
        *track = bytes > *track ? bytes : *track;
        most = bytes > most ? bytes : most;
    }
    for (int i = 0; i < CUDA_TRACKS; i++)
        total += p->track_bytes[i];
    p->one_track = total > percent(memory, WORKSPACE_SHARE_PERCENT);
    for (int i = 0; p->one_track && i < CUDA_TRACKS; i++)
        p->track_bytes[i] = i == 0 ? most : 0;
}

struct cuda_key_plan cuda_key_plan(const struct groth16_key *key, uint64_t memory)
{
    struct cuda_key_plan p = {.key_bytes = cuda_ntt_bytes(log2_of(key->domain))};
    uint64_t left = percent(memory, KEY_SHARE_PERCENT);
    for (int i = 0; i < CUDA_SUMS; i++) {
        struct cuda_msm_shape *shape = &p.shape[i];
        *shape =
            (struct cuda_msm_shape){.curve = key->curve->id,
                                    .group = i == CUDA_SUM_B2 ? MSM_G2 : MSM_G1,
                                    .n = terms_of(key, i),
                                    .table_bytes = left,
                                    .workspace_bytes = percent(memory, WORKSPACE_SHARE_PERCENT)};
        if (shape->n == 0)
            continue;
        uint64_t bytes = cuda_msm_plan_bytes(shape);
        left -= bytes < left ? bytes : left;
        p.key_bytes += bytes;
    }
    plan_tracks(&p, memory);
    p.vector_bytes = cuda_round_up(key->domain * key->curve->fr_bytes);
    p.witness_bytes = cuda_round_up((uint64_t)key->n_vars * key->curve->fr_bytes);
    return p;
}

enum status cuda_key_create(struct backend_key **out, const struct groth16_key *key,
                            uint64_t memory, struct CUstream_st *stream)
{
    struct backend_key *k = calloc(1, sizeof *k);
    if (!k)
        return fail(ST_RESOURCE, "no memory");
    k->key = key;
    k->plan = cuda_key_plan(key, memory);
    enum status st = cuda_ntt_create(&k->ntt, key->curve->id, log2_of(key->domain));
    for (int i = 0; st == ST_OK && i < CUDA_SUMS; i++)
        if (k->plan.shape[i].n > 0)
            st = cuda_msm_create(&k->msm[i], &k->plan.shape[i], points_of(key, i), stream);
    if (st == ST_OK)
        *out = k;
    else
        cuda_key_destroy(k);
    return st;
}

void cuda_key_destroy(struct backend_key *k)
{
    for (int i = 0; i < CUDA_SUMS; i++)
        cuda_msm_destroy(k->msm[i]);
    cuda_ntt_destroy(k->ntt);
    free(k);
}
