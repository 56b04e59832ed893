#include "common/groth16/groth16.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/groth16/ops.h"

enum { ALIGNMENT = 64 };

static size_t round_up(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* All memory of one proof, in one block: a, b, workspace. */
struct memory {
    uint8_t *a, *b, *workspace;
};

static size_t vector_bytes(const struct groth16_key *key)
{
    return round_up(key->domain * key->curve->fr_bytes);
}

static size_t memory_bytes(const struct groth16_key *key, const struct pool *pool)
{
    return 2 * vector_bytes(key) + round_up(key->curve->ops->prove_workspace(key, pool));
}

static enum status memory_init(struct memory *m, const struct groth16_key *key,
                               const struct pool *pool)
{
    size_t size = memory_bytes(key, pool), vector = vector_bytes(key);
    m->a = aligned_alloc(ALIGNMENT, size);
    if (!m->a)
        return fail(ST_RESOURCE, "%s: no memory to prove: %zu MiB are needed", key->path,
                    (size >> 20) + 1);
    m->b = m->a + vector;
    m->workspace = m->b + vector;
    return ST_OK;
}

static void memory_fini(struct memory *m)
{
    free(m->a);
}

size_t groth16_prove_memory(const struct groth16_key *key, const struct pool *pool)
{
    size_t proving = memory_bytes(key, pool);
    size_t verifying = key->curve->ops->verify_memory(key->n_public);
    size_t vk = ((size_t)key->n_public + 1) * 2 * key->curve->fq_bytes;
    return vk + (proving > verifying ? proving : verifying);
}

/* A proof that does not verify is the fault of its inputs. */
enum status groth16_own_proof(const struct groth16_key *key, const struct groth16_vkey *vk,
                              const uint8_t *publics, const struct groth16_proof *proof)
{
    enum status st = key->curve->ops->verify(vk, publics, proof);
    if (st != ST_INVALID)
        return st;
    char reason[256];
    snprintf(reason, sizeof reason, "%s", status_message());
    status_clear();
    return fail(ST_INPUT,
                "%s: the proof does not verify (%s): either the witness does not satisfy the "
                "circuit (--r1cs FILE names the first constraint that fails) or the key is damaged "
                "(--check-key checks every point)",
                key->path, reason);
}

enum status groth16_prove(const struct groth16_key *key, const uint8_t *w,
                          const struct groth16_randomness *rs, struct pool *pool,
                          struct progress *progress, struct groth16_timings *timings,
                          struct groth16_proof *out)
{
    const struct curve_ops *ops = key->curve->ops;
    struct groth16_timings t = {0};
    struct groth16_vkey vk = {.ic = NULL};
    struct groth16_proof proof;
    struct memory m = {NULL, NULL, NULL};
    double start = clock_ms();
    enum status st = ops->key_check(key, false, pool, progress);
    if (st != ST_OK)
        return st;
    st = ops->vkey(key, &vk);
    if (st != ST_OK)
        return st;
    st = memory_init(&m, key, pool);
    if (st != ST_OK)
        goto fini_vkey;
    t.check = clock_ms() - start;

    progress_report(progress, "evaluate", 0, 0);
    start = clock_ms();
    ops->evaluate(key, w, m.a, m.b, pool);
    t.evaluate = clock_ms() - start;
    st = ops->prove(key, w, m.a, m.b, rs, m.workspace, pool, progress, &t, &proof);
    memory_fini(&m);
    if (st != ST_OK)
        goto fini_vkey;

    progress_report(progress, "verify", 0, 0);
    start = clock_ms();
    st = groth16_own_proof(key, &vk, w + key->curve->fr_bytes, &proof);
    t.verify = clock_ms() - start;
    if (st == ST_OK) {
        *out = proof;
        if (timings)
            *timings = t;
    }
fini_vkey:
    groth16_vkey_fini(&vk);
    return st;
}

enum status groth16_verify(const struct groth16_vkey *vk, const uint8_t *publics,
                           const struct groth16_proof *proof)
{
    return vk->curve->ops->verify(vk, publics, proof);
}
