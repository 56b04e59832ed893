/* The processor as a device: its lanes are heap buffers, a loaded key is the mapped file. */
#include <stdlib.h>
#include <string.h>

#include "common/groth16/ops.h"
#include "gpud/backend.h"
#include "gpud/vectors.h"

enum { ALIGNMENT = 64 };

struct lane {
    uint8_t *block; /* owned: a | b | w */
    size_t bytes;
    uint8_t *a, *b, *w;
};

struct backend_key {
    const struct groth16_key *key;
    size_t vector, witness; /* bytes of a lane's parts, rounded up */
};

struct cpu {
    struct backend base;
    struct pool *pool;
    struct lane lane[BACKEND_LANES];
    void *workspace[BACKEND_LANES]; /* owned; as large as the largest job of the lane needs */
    size_t workspace_bytes[BACKEND_LANES];
};

static size_t round_up(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t vector_bytes(const struct groth16_key *key)
{
    return round_up(key->domain * key->curve->fr_bytes);
}

static size_t witness_bytes(const struct groth16_key *key)
{
    return round_up((size_t)key->n_vars * key->curve->fr_bytes);
}

/* The points and coefficients; the file's pages are what is resident. */
static uint64_t cpu_key_bytes(const struct backend *b, const struct groth16_key *key)
{
    (void)b;
    uint64_t g1 = 2 * key->curve->fq_bytes, coef = GROTH16_COEF_HEADER + key->curve->fr_bytes;
    uint64_t points = (uint64_t)key->n_vars * 5 + key->domain + key->n_public + 1;
    return points * g1 + key->n_coefs * coef;
}

static enum status cpu_key_load(struct backend *b, struct backend_key **out,
                                const struct groth16_key *key)
{
    (void)b;
    struct backend_key *k = malloc(sizeof *k);
    if (!k)
        return fail(ST_RESOURCE, "no memory");
    *k = (struct backend_key){key, vector_bytes(key), witness_bytes(key)};
    *out = k;
    return ST_OK;
}

static void cpu_key_unload(struct backend *b, struct backend_key *key)
{
    (void)b;
    free(key);
}

static enum status grow(void **block, size_t *have, size_t need, const char *path)
{
    if (*have >= need)
        return ST_OK;
    free(*block);
    *have = 0;
    *block = aligned_alloc(ALIGNMENT, round_up(need));
    if (!*block)
        return fail(ST_RESOURCE, "%s: no memory to prove: %zu MiB are needed", path,
                    (need >> 20) + 1);
    *have = need;
    return ST_OK;
}

static enum status cpu_lane_reserve(struct backend *b, unsigned lane, const struct backend_key *key)
{
    struct cpu *c = (struct cpu *)b;
    struct lane *l = &c->lane[lane];
    void *block = l->block;
    size_t workspace = key->key->curve->ops->prove_workspace(key->key, c->pool);
    enum status st = grow(&block, &l->bytes, 2 * key->vector + key->witness, key->key->path);
    l->block = block;
    if (st == ST_OK)
        st = grow(&c->workspace[lane], &c->workspace_bytes[lane], workspace, key->key->path);
    l->a = l->block;
    l->b = l->a + key->vector;
    l->w = l->b + key->vector;
    return st;
}

/* Values from a shared object may be anything; the arithmetic that follows is made for values below
 * the order. */
static enum status check_values(const struct groth16_key *key, const char *name,
                                const uint8_t *values, size_t n)
{
    size_t size = key->curve->fr_bytes;
    for (size_t i = 0; i < n; i++)
        if (!curve_below(values + i * size, key->curve->fr_modulus, size))
            return fail(ST_INTERNAL, "%s: %s[%zu] of the slice is not below the group order",
                        key->path, name, i);
    return ST_OK;
}

static enum status check_one(const struct groth16_key *key, const uint8_t *w)
{
    static const uint8_t one[CURVE_MAX_FR_BYTES] = {1};
    if (memcmp(w, one, key->curve->fr_bytes) == 0)
        return ST_OK;
    return fail(ST_INTERNAL, "%s: w[0] of the slice is not 1", key->path);
}

static enum status cpu_job_copy(struct backend *b, unsigned lane, const struct backend_key *key,
                                const struct vectors *v)
{
    struct lane *l = &((struct cpu *)b)->lane[lane];
    const struct groth16_key *k = key->key;
    enum status st = vectors_check(v, k);
    if (st != ST_OK)
        return st;
    vectors_gather(l->w, v, 0, v->w_bytes);
    vectors_gather(l->a, v, v->a_offset, v->a_bytes);
    vectors_gather(l->b, v, v->b_offset, v->b_bytes);
    st = check_values(k, "w", l->w, k->n_vars);
    if (st == ST_OK)
        st = check_one(k, l->w);
    if (st == ST_OK)
        st = check_values(k, "a", l->a, k->domain);
    if (st == ST_OK)
        st = check_values(k, "b", l->b, k->domain);
    return st;
}

static enum status cpu_job_prove(struct backend *b, unsigned lane, const struct backend_key *key,
                                 const struct groth16_randomness *rs, struct progress *progress,
                                 struct groth16_timings *timings, struct groth16_proof *out,
                                 uint8_t *publics)
{
    struct cpu *c = (struct cpu *)b;
    struct lane *l = &c->lane[lane];
    const struct groth16_key *k = key->key;
    struct groth16_proof proof;
    enum status st = k->curve->ops->prove(k, l->w, l->a, l->b, rs, c->workspace[lane], c->pool,
                                          progress, timings, &proof);
    if (st != ST_OK)
        return st;
    *out = proof;
    memcpy(publics, l->w + k->curve->fr_bytes, (size_t)k->n_public * k->curve->fr_bytes);
    return ST_OK;
}

static void cpu_destroy(struct backend *b)
{
    struct cpu *c = (struct cpu *)b;
    for (unsigned i = 0; i < BACKEND_LANES; i++) {
        free(c->lane[i].block);
        free(c->workspace[i]);
    }
    free(c);
}

enum status backend_cpu_create(struct backend **out, struct pool *pool)
{
    static const struct backend_ops ops = {
        .key_bytes = cpu_key_bytes,
        .key_load = cpu_key_load,
        .key_unload = cpu_key_unload,
        .lane_reserve = cpu_lane_reserve,
        .job_copy = cpu_job_copy,
        .job_prove = cpu_job_prove,
        .destroy = cpu_destroy,
    };
    struct cpu *c = calloc(1, sizeof *c);
    if (!c)
        return fail(ST_RESOURCE, "no memory");
    c->base = (struct backend){.ops = &ops, .name = "cpu"};
    c->pool = pool;
    *out = &c->base;
    return ST_OK;
}
