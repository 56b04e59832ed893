#include <stdio.h>
#include <stdlib.h>

#include "common/ec/msm.h"
#include "common/ec/pairing.h"
#include "common/groth16/steps.h"

/* Canonical coordinates to a point of the group, or ST_INVALID. */
static enum status load_g1(g1_affine *r, const uint8_t *bytes, const char *what)
{
    g1_load(r, bytes);
    if (!fq_is_reduced(&r->x) || !fq_is_reduced(&r->y))
        return fail(ST_INVALID, "%s has a coordinate that is not below the field's prime", what);
    fq_from_canonical(&r->x, &r->x);
    fq_from_canonical(&r->y, &r->y);
    if (!g1_affine_is_on_curve(r))
        return fail(ST_INVALID, "%s is not on the curve", what);
    if (!g1_in_subgroup(r))
        return fail(ST_INVALID, "%s is not in the subgroup of prime order", what);
    return ST_OK;
}

static enum status load_g2(g2_affine *r, const uint8_t *bytes, const char *what)
{
    g2_load(r, bytes);
    if (!fq2_is_reduced(&r->x) || !fq2_is_reduced(&r->y))
        return fail(ST_INVALID, "%s has a coordinate that is not below the field's prime", what);
    fq2_from_canonical(&r->x, &r->x);
    fq2_from_canonical(&r->y, &r->y);
    if (!g2_affine_is_on_curve(r))
        return fail(ST_INVALID, "%s is not on the curve", what);
    if (!g2_in_subgroup(r))
        return fail(ST_INVALID, "%s is not in the subgroup of prime order", what);
    return ST_OK;
}

/* Both sides of the equation: the product of e(p[i], q[i]) is 1. */
struct equation {
    g1_affine p[4]; /* A, -alpha, -IC(x), -C */
    g2_affine q[4]; /* B, beta, gamma, delta */
};

enum { PROOF, ALPHA_BETA, PUBLIC, PRIVATE };

static enum status load_points(struct equation *e, const struct groth16_vkey *vk,
                               const struct groth16_proof *proof)
{
    const struct {
        g1_affine *to;
        const uint8_t *from;
        const char *name;
        bool finite;
    } g1_parts[] = {
        {&e->p[ALPHA_BETA], vk->alpha1, "vk_alpha_1 of the verification key", true},
        {&e->p[PROOF], proof->a, "pi_a of the proof", false},
        {&e->p[PRIVATE], proof->c, "pi_c of the proof", false},
    };
    const struct {
        g2_affine *to;
        const uint8_t *from;
        const char *name;
        bool finite;
    } g2_parts[] = {
        {&e->q[ALPHA_BETA], vk->beta2, "vk_beta_2 of the verification key", true},
        {&e->q[PUBLIC], vk->gamma2, "vk_gamma_2 of the verification key", true},
        {&e->q[PRIVATE], vk->delta2, "vk_delta_2 of the verification key", true},
        {&e->q[PROOF], proof->b, "pi_b of the proof", false},
    };
    for (size_t i = 0; i < sizeof g1_parts / sizeof g1_parts[0]; i++) {
        enum status st = load_g1(g1_parts[i].to, g1_parts[i].from, g1_parts[i].name);
        if (st != ST_OK)
            return st;
        if (g1_parts[i].finite && g1_affine_is_infinity(g1_parts[i].to))
            return fail(ST_INVALID, "%s is the point at infinity", g1_parts[i].name);
    }
    for (size_t i = 0; i < sizeof g2_parts / sizeof g2_parts[0]; i++) {
        enum status st = load_g2(g2_parts[i].to, g2_parts[i].from, g2_parts[i].name);
        if (st != ST_OK)
            return st;
        if (g2_parts[i].finite && g2_affine_is_infinity(g2_parts[i].to))
            return fail(ST_INVALID, "%s is the point at infinity", g2_parts[i].name);
    }
    return ST_OK;
}

static enum status check_publics(const uint8_t *publics, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        fr x;
        fr_load(&x, publics + (size_t)i * FR_BYTES);
        if (!fr_is_reduced(&x))
            return fail(ST_INVALID, "public value %u is not below the group order", i);
    }
    return ST_OK;
}

/* The points of IC as msm wants them. */
static enum status load_ic(uint8_t *stored, const struct groth16_vkey *vk)
{
    for (uint32_t i = 0; i <= vk->n_public; i++) {
        char name[64];
        g1_affine p;
        snprintf(name, sizeof name, "IC[%u] of the verification key", i);
        enum status st = load_g1(&p, vk->ic + (size_t)i * g1_bytes, name);
        if (st != ST_OK)
            return st;
        g1_store(stored + (size_t)i * g1_bytes, &p);
    }
    return ST_OK;
}

static size_t round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* r = IC[0] + sum of publics[i] IC[i + 1], with a pool of one thread: verifying is short. */
static enum status combine_publics(g1 *r, const struct groth16_vkey *vk, const uint8_t *publics)
{
    if (vk->n_public > MSM_MAX_TERMS)
        return fail(ST_RESOURCE, "%u public values: at most %zu are supported", vk->n_public,
                    MSM_MAX_TERMS);
    struct pool *pool;
    enum status st = pool_create(&pool, 1);
    if (st != ST_OK)
        return st;
    size_t points = round_up(((size_t)vk->n_public + 1) * g1_bytes);
    uint8_t *memory = aligned_alloc(64, points + round_up(msm_g1_scratch(vk->n_public, pool)));
    if (memory) {
        st = load_ic(memory, vk);
        if (st == ST_OK) {
            g1_affine constant;
            msm_g1(r, memory + g1_bytes, publics, vk->n_public, memory + points, pool);
            g1_load(&constant, memory);
            g1_add_affine(r, r, &constant);
        }
    } else {
        st = fail(ST_RESOURCE, "no memory to verify %u public values", vk->n_public);
    }
    free(memory);
    pool_destroy(pool);
    return st;
}

size_t step_verify_memory(uint32_t n_public)
{
    enum { SLACK = 4096 }; /* alignment, and the pool of one thread */
    return ((size_t)n_public + 1) * (g1_bytes + MSM_SCRATCH_TERM) + MSM_SCRATCH_FIXED +
           MSM_SCRATCH_THREAD + SLACK;
}

enum status step_verify(const struct groth16_vkey *vk, const uint8_t *publics,
                        const struct groth16_proof *proof)
{
    struct equation e;
    g1 x;
    enum status st = load_points(&e, vk, proof);
    if (st == ST_OK)
        st = check_publics(publics, vk->n_public);
    if (st == ST_OK)
        st = combine_publics(&x, vk, publics);
    if (st != ST_OK)
        return st;
    g1_to_affine(&e.p[PUBLIC], &x);
    g1_affine_neg(&e.p[ALPHA_BETA], &e.p[ALPHA_BETA]);
    g1_affine_neg(&e.p[PUBLIC], &e.p[PUBLIC]);
    g1_affine_neg(&e.p[PRIVATE], &e.p[PRIVATE]);
    if (!pairing_product_is_one(e.p, e.q, 4))
        return fail(ST_INVALID, "the pairing equation does not hold");
    return ST_OK;
}

/* n stored coordinates to canonical ones; false if one is not below the prime. */
static bool to_canonical(uint8_t *out, const uint8_t *in, size_t n)
{
    bool reduced = true;
    for (size_t i = 0; i < n; i++) {
        fq c;
        fq_load(&c, in + i * FQ_BYTES);
        reduced &= fq_is_reduced(&c);
        fq_to_canonical(&c, &c);
        fq_store(out + i * FQ_BYTES, &c);
    }
    return reduced;
}

enum status step_vkey(const struct groth16_key *key, struct groth16_vkey *out)
{
    size_t n = (size_t)key->n_public + 1;
    struct groth16_vkey vk = {.curve = key->curve, .n_public = key->n_public};
    vk.ic = malloc(n * g1_bytes);
    if (!vk.ic)
        return fail(ST_RESOURCE, "%s: no memory for a verification key of %zu points", key->path,
                    n);
    bool reduced = to_canonical(vk.alpha1, key->alpha1, 2);
    reduced &= to_canonical(vk.beta2, key->beta2, 4);
    reduced &= to_canonical(vk.gamma2, key->gamma2, 4);
    reduced &= to_canonical(vk.delta2, key->delta2, 4);
    reduced &= to_canonical(vk.ic, key->ic, 2 * n);
    if (!reduced) {
        groth16_vkey_fini(&vk);
        return fail(
            ST_INPUT,
            "%s: a point of section 2 (header) or 3 (IC) has a coordinate that is not below "
            "the field's prime (--check-key names it)",
            key->path);
    }
    *out = vk;
    return ST_OK;
}

/* Canonical coordinates to those of a point, which has nothing else in it. */
static void from_canonical(fq *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fq_load(&out[i], in + i * FQ_BYTES);
        fq_from_canonical(&out[i], &out[i]);
    }
}

void step_alphabeta(const struct groth16_vkey *vk, uint8_t *out)
{
    g1_affine alpha;
    g2_affine beta;
    fq12 value;
    _Static_assert(sizeof value == 12 * sizeof(fq), "a tower without padding");
    from_canonical((fq *)&alpha, vk->alpha1, 2);
    from_canonical((fq *)&beta, vk->beta2, 4);
    pairing(&value, &alpha, &beta);
    (void)to_canonical(out, (const uint8_t *)&value, 12); /* values of the field are reduced */
}
