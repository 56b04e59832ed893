#include "gpud/embedded.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/groth16/ops.h"

enum { LANE = 0, PAGE = 4096 };

static uint64_t round_up(uint64_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static enum status allocate(struct embedded *e)
{
    const struct groth16_key *key = e->key;
    uint64_t size = key->curve->fr_bytes;
    e->a_offset = round_up(key->n_vars * size);
    e->b_offset = e->a_offset + round_up(key->domain * size);
    e->bytes = e->b_offset + round_up(key->domain * size);
    e->publics = malloc(key->n_public * size + 1);
    uint8_t *block = aligned_alloc(PAGE, e->bytes);
    if (!block || !e->publics) {
        free(block);
        return fail(ST_RESOURCE, "%s: no memory to prove: %llu MiB are needed", key->path,
                    (unsigned long long)(e->bytes >> 20) + 1);
    }
    memset(block, 0, e->bytes); /* pages that are there are pinned much faster */
    enum status st = backend_memory_add(e->backend, block, e->bytes, 0);
    if (st == ST_OK)
        e->block = block;
    else
        free(block);
    return st;
}

enum status embedded_open(struct embedded *out, struct backend *backend,
                          const struct groth16_key *key)
{
    struct embedded e = {.backend = backend, .key = key};
    const struct curve_ops *ops = key->curve->ops;
    enum status st = ops->key_check(key, false, NULL, NULL);
    if (st == ST_OK)
        st = ops->vkey(key, &e.vk);
    if (st == ST_OK)
        st = backend->ops->key_load(backend, &e.loaded, key);
    if (st == ST_OK)
        st = backend->ops->lane_reserve(backend, LANE, e.loaded);
    if (st == ST_OK)
        st = allocate(&e);
    if (st == ST_OK)
        *out = e;
    else
        embedded_close(&e);
    return st;
}

void embedded_close(struct embedded *e)
{
    if (e->block)
        backend_memory_remove(e->backend, e->block);
    free(e->block);
    free(e->publics);
    if (e->loaded)
        e->backend->ops->key_unload(e->backend, e->loaded);
    groth16_vkey_fini(&e->vk);
    *e = (struct embedded){.backend = NULL};
}

void embedded_evaluate(struct embedded *e, const uint8_t *w, struct pool *pool,
                       struct groth16_timings *timings)
{
    double start = clock_ms();
    memcpy(e->block, w, e->key->n_vars * e->key->curve->fr_bytes);
    e->key->curve->ops->evaluate(e->key, w, e->block + e->a_offset, e->block + e->b_offset, pool);
    timings->evaluate += clock_ms() - start;
}

enum status embedded_prove(struct embedded *e, const struct groth16_randomness *rs,
                           struct progress *progress, struct groth16_timings *timings,
                           double *copy_ms, struct groth16_proof *out)
{
    const struct backend_ops *ops = e->backend->ops;
    uint64_t size = e->key->curve->fr_bytes, vector = e->key->domain * size;
    const struct piece piece = {e->block, 0, e->bytes};
    const struct vectors v = {.w_bytes = e->key->n_vars * size,
                              .a_bytes = vector,
                              .b_bytes = vector,
                              .a_offset = e->a_offset,
                              .b_offset = e->b_offset,
                              .pieces = &piece,
                              .n_pieces = 1};
    double start = clock_ms();
    enum status st = ops->job_copy(e->backend, LANE, e->loaded, &v);
    *copy_ms = clock_ms() - start;
    if (st == ST_OK)
        st = ops->job_prove(e->backend, LANE, e->loaded, rs, progress, timings, out, e->publics);
    return st;
}

enum status embedded_verify(const struct embedded *e, const struct groth16_proof *proof)
{
    return groth16_own_proof(e->key, &e->vk, e->publics, proof);
}
