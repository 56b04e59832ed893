#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/file/proof_json.h"
#include "common/groth16/ops.h"
#include "gpud/pipeline_private.h"

enum { ALIGNMENT = 64, REMAKE_LANE = 0 };

static size_t publics_bytes(const struct groth16_key *key)
{
    return (size_t)key->n_public * key->curve->fr_bytes;
}

static enum status draw_randomness(struct job *j)
{
    const struct curve *curve = j->key->key->curve;
    if (j->seed[0] == '\0')
        return groth16_randomness_fresh(&j->rs, curve);
    enum status st = groth16_randomness_from_hex(&j->rs, curve, j->seed);
    return st == ST_USAGE ? ST_INPUT : st;
}

enum status stage_copy(const struct pipeline_parts *parts, struct job *j)
{
    struct backend *device = parts->device;
    enum status st = keys_acquire(parts->keys, &j->key, &j->times.key, j->circuit, j->key_path);
    if (st != ST_OK)
        return st;
    const struct groth16_key *key = j->key->key;
    st = draw_randomness(j);
    j->publics = malloc(publics_bytes(key) + 1);
    if (st == ST_OK && !j->publics)
        st = fail(ST_RESOURCE, "no memory");
    if (st == ST_OK)
        st = vectors_check(&j->slice.vectors, key);
    if (st == ST_OK)
        st = device->ops->lane_reserve(device, j->lane, j->key->loaded);
    if (st == ST_OK && FAULT_FAILS("gpud.copy"))
        st = fail(ST_RESOURCE, "fault");
    double start = clock_ms();
    if (st == ST_OK)
        st = device->ops->job_copy(device, j->lane, j->key->loaded, &j->slice.vectors);
    j->times.copy = clock_ms() - start;
    return st;
}

enum status stage_prove(const struct pipeline_parts *parts, struct job *j)
{
    struct backend *device = parts->device;
    if (FAULT_FAILS("gpud.prove"))
        return fail(ST_INTERNAL, "fault");
    return device->ops->job_prove(device, j->lane, j->key->loaded, &j->rs, NULL, &j->times.prove,
                                  &j->proof, j->publics);
}

enum status stage_verify(struct job *j)
{
    if (FAULT_FAILS("gpud.verify"))
        j->proof.a[0] ^= 1; /* a device that gave a wrong proof */
    return groth16_verify(j->key->vk, j->publics, &j->proof);
}

enum status stage_format(struct job *j)
{
    const struct groth16_key *key = j->key->key;
    enum status st = proof_json_format(&j->proof, &j->proof_text);
    if (st == ST_OK)
        st = public_json_format(key->curve, j->publics, key->n_public, &j->public_text);
    return st;
}

/* ---- a proof made again ---- */

/* What the second backend proved. */
struct remade {
    struct groth16_proof proof;
    uint8_t *publics; /* owned */
};

/* The vectors computed from w alone, in memory of their own. */
struct evaluated {
    uint8_t *block; /* owned: w | a | b */
    struct piece piece;
    struct vectors vectors;
};

static uint64_t round_up(uint64_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static enum status check_witness(const struct groth16_key *key, const uint8_t *w)
{
    size_t size = key->curve->fr_bytes;
    for (uint32_t i = 0; i < key->n_vars; i++)
        if (!curve_below(w + i * size, key->curve->fr_modulus, size))
            return fail(ST_INTERNAL, "%s: w[%u] of the slice is not below the group order",
                        key->path, i);
    return ST_OK;
}

static enum status evaluate_again(struct evaluated *out, const struct vectors *v,
                                  const struct groth16_key *key, struct pool *pool)
{
    uint64_t a = round_up(v->w_bytes), b = a + round_up(v->a_bytes);
    uint64_t total = b + round_up(v->b_bytes);
    uint8_t *block = aligned_alloc(ALIGNMENT, total);
    if (!block)
        return fail(ST_RESOURCE, "%s: no memory to prove again", key->path);
    vectors_gather(block, v, 0, v->w_bytes);
    enum status st = check_witness(key, block);
    if (st != ST_OK) {
        free(block);
        return st;
    }
    key->curve->ops->evaluate(key, block, block + a, block + b, pool);
    *out = (struct evaluated){.block = block,
                              .piece = {block, 0, total},
                              .vectors = {.w_bytes = v->w_bytes,
                                          .a_bytes = v->a_bytes,
                                          .b_bytes = v->b_bytes,
                                          .a_offset = a,
                                          .b_offset = b,
                                          .n_pieces = 1}};
    return ST_OK;
}

static enum status prove_on_second(const struct pipeline_parts *parts, struct job *j,
                                   const struct vectors *v, struct remade *out)
{
    struct backend *second = parts->second;
    struct backend_key *loaded = NULL;
    enum status st = second->ops->key_load(second, &loaded, j->key->key);
    if (st != ST_OK)
        return st;
    st = second->ops->lane_reserve(second, REMAKE_LANE, loaded);
    if (st == ST_OK)
        st = second->ops->job_copy(second, REMAKE_LANE, loaded, v);
    if (st == ST_OK)
        st = second->ops->job_prove(second, REMAKE_LANE, loaded, &j->rs, NULL, NULL, &out->proof,
                                    out->publics);
    second->ops->key_unload(second, loaded);
    return st;
}

static enum status prove_again(const struct pipeline_parts *parts, struct job *j, bool lean,
                               struct remade *out)
{
    const struct vectors *v = &j->slice.vectors;
    struct evaluated e = {.block = NULL};
    if (lean) {
        enum status st = evaluate_again(&e, v, j->key->key, parts->pool);
        if (st != ST_OK)
            return st;
        e.vectors.pieces = &e.piece;
        v = &e.vectors;
    }
    enum status st = prove_on_second(parts, j, v, out);
    free(e.block);
    return st;
}

static bool same_proof(const struct job *j, const struct remade *r)
{
    const struct curve *curve = j->key->key->curve;
    size_t g1 = 2 * curve->fq_bytes, g2 = 4 * curve->fq_bytes;
    return memcmp(j->proof.a, r->proof.a, g1) == 0 && memcmp(j->proof.b, r->proof.b, g2) == 0 &&
           memcmp(j->proof.c, r->proof.c, g1) == 0 &&
           memcmp(j->publics, r->publics, publics_bytes(j->key->key)) == 0;
}

/* The proof stands in j; why it did not verify is in the thread's message. */
static enum status judge(const struct pipeline_parts *parts, struct job *j, const struct remade *r)
{
    char reason[JOB_MESSAGE_BYTES / 2];
    const struct groth16_key *key = j->key->key;
    if (same_proof(j, r))
        return fail(
            ST_INPUT,
            "the proof does not verify, made twice with the same result: either the witness "
            "does not satisfy the circuit (a circuit added with --r1cs names the first "
            "constraint that fails) or the key of %s is damaged",
            j->circuit);
    j->device_fault = true;
    j->proof = r->proof;
    memcpy(j->publics, r->publics, publics_bytes(key));
    enum status st = stage_verify(j);
    if (st != ST_INVALID)
        return st;
    snprintf(reason, sizeof reason, "%s", status_message());
    status_clear();
    return fail(ST_INVALID,
                "%s gave a wrong proof, and another one made after it on %s does not "
                "verify either (%s)",
                parts->device->name, parts->second->name, reason);
}

enum status stage_remake(const struct pipeline_parts *parts, struct job *j, bool lean)
{
    struct remade r = {.publics = malloc(publics_bytes(j->key->key) + 1)};
    if (!r.publics)
        return fail(ST_RESOURCE, "no memory");
    enum status st = prove_again(parts, j, lean, &r);
    if (st == ST_OK)
        st = judge(parts, j, &r);
    free(r.publics);
    return st;
}
