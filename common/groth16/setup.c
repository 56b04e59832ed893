#include "common/groth16/setup.h"

#include <stdlib.h>

#include "common/groth16/fixed_base.h"
#include "common/groth16/qap.h"
#include "common/groth16/steps.h"

/* The secrets in Montgomery form, and what follows from them. */
struct secrets {
    fr tau, alpha, beta, gamma, delta;
    fr gamma_inv, delta_inv;
};

/* Scalars of the key's points, and the tables that turn them into points. */
struct work {
    fr *matrix[3]; /* A, B, C at tau; C becomes the scalars of IC and C */
    fr *rows;      /* Lagrange values at tau, then the scalars of H */
    struct fixed_base_g1 *g1;
    struct fixed_base_g2 *g2;
};

static void work_fini(struct work *w)
{
    for (int k = 0; k < 3; k++)
        free(w->matrix[k]);
    free(w->rows);
    free(w->g1);
    free(w->g2);
}

static enum status work_init(struct work *w, const struct r1cs *r1cs, const struct ntt_domain *d)
{
    *w = (struct work){.rows = NULL};
    bool ok = true;
    for (int k = 0; k < 3; k++)
        ok &= (w->matrix[k] = malloc((size_t)r1cs->n_wires * sizeof(fr))) != NULL;
    ok &= (w->rows = malloc(d->n * sizeof(fr))) != NULL;
    ok &= (w->g1 = malloc(sizeof *w->g1)) != NULL;
    ok &= (w->g2 = malloc(sizeof *w->g2)) != NULL;
    if (ok)
        return ST_OK;
    work_fini(w);
    return fail(ST_RESOURCE, "%s: no memory to set up %u wires on a domain of %zu", r1cs->path,
                r1cs->n_wires, d->n);
}

static enum status load_secret(fr *out, const uint8_t *bytes, const char *name)
{
    fr_load(out, bytes);
    if (!fr_is_reduced(out) || fr_is_zero(out))
        return fail(ST_INPUT, "setup secret %s is not between 1 and the group order", name);
    fr_from_canonical(out, out);
    return ST_OK;
}

/* Whether the polynomials of domain and coset can be evaluated at tau. */
static bool tau_is_outside(const fr *tau, const fr *g, uint64_t n)
{
    fr tau_n, g_n;
    fr_pow(&tau_n, tau, &n, 1);
    fr_pow(&g_n, g, &n, 1);
    return !fr_equal(&tau_n, &fr_one) && !fr_equal(&tau_n, &g_n);
}

static enum status load_secrets(struct secrets *s, const struct groth16_setup_secrets *in,
                                const fr *g, uint64_t n)
{
    const struct {
        fr *to;
        const uint8_t *from;
        const char *name;
    } parts[] = {
        {&s->tau, in->tau, "tau"},       {&s->alpha, in->alpha, "alpha"},
        {&s->beta, in->beta, "beta"},    {&s->gamma, in->gamma, "gamma"},
        {&s->delta, in->delta, "delta"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        enum status st = load_secret(parts[i].to, parts[i].from, parts[i].name);
        if (st != ST_OK)
            return st;
    }
    if (!tau_is_outside(&s->tau, g, n))
        return fail(ST_INPUT, "setup secret tau lies in the domain or its coset: choose another");
    fr_inv(&s->gamma_inv, &s->gamma);
    fr_inv(&s->delta_inv, &s->delta);
    return ST_OK;
}

/* Scalars of H: with g^n != 1 and h = (A B - C) / Z of degree below n, h(tau) Z(tau) / delta is the
 * sum over the coset of (A B - C)(g w^i) times L_i(tau / g) Z(tau) / ((g^n - 1) delta). */
static void h_scalars(fr *out, const struct ntt_domain *d, const fr *g, const struct secrets *s,
                      struct pool *pool)
{
    uint64_t n = d->n;
    fr factor, t;
    fr_pow(&t, g, &n, 1);
    fr_sub(&t, &t, &fr_one);
    fr_inv(&factor, &t);
    fr_pow(&t, &s->tau, &n, 1);
    fr_sub(&t, &t, &fr_one);
    fr_mul(&factor, &factor, &t);
    fr_mul(&factor, &factor, &s->delta_inv);
    fr_inv(&t, g);
    fr_mul(&t, &t, &s->tau);
    lagrange_at(out, d, &t, &factor, pool);
}

/* Scalars of IC and C: (beta A + alpha B + C) over gamma for the public wires, delta for the
 * others. */
static void combine_scalars(const struct work *w, const struct secrets *s, uint32_t n_wires,
                            uint32_t n_public)
{
    for (uint32_t i = 0; i < n_wires; i++) {
        fr t, *c = &w->matrix[2][i];
        fr_mul(&t, &w->matrix[0][i], &s->beta);
        fr_add(c, c, &t);
        fr_mul(&t, &w->matrix[1][i], &s->alpha);
        fr_add(c, c, &t);
        fr_mul(c, c, i <= n_public ? &s->gamma_inv : &s->delta_inv);
    }
}

/* Lays the key out in storage, or only counts the bytes when storage is NULL. */
static size_t layout(struct groth16_key *key, uint8_t *storage)
{
    size_t used = 0;
    const struct {
        const uint8_t **place;
        size_t size;
    } parts[] = {
        {&key->alpha1, g1_bytes},
        {&key->beta1, g1_bytes},
        {&key->delta1, g1_bytes},
        {&key->beta2, g2_bytes},
        {&key->gamma2, g2_bytes},
        {&key->delta2, g2_bytes},
        {&key->ic, ((size_t)key->n_public + 1) * g1_bytes},
        {&key->a, (size_t)key->n_vars * g1_bytes},
        {&key->b1, (size_t)key->n_vars * g1_bytes},
        {&key->b2, (size_t)key->n_vars * g2_bytes},
        {&key->c, ((size_t)key->n_vars - key->n_public - 1) * g1_bytes},
        {&key->h, key->domain * g1_bytes},
        {&key->coefs, key->n_coefs * (GROTH16_COEF_HEADER + FR_BYTES)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (storage)
            *parts[i].place = storage + used;
        used += parts[i].size;
    }
    return used;
}

/* Where the key's pointer points, for writing: setup owns the storage. */
static uint8_t *in_storage(uint8_t *storage, const uint8_t *place)
{
    return storage + (place - storage);
}

static void put_points(const struct groth16_key *key, uint8_t *storage, const struct work *w,
                       const struct secrets *s, struct pool *pool, struct progress *progress)
{
    const fr header1[] = {s->alpha, s->beta, s->delta}, header2[] = {s->beta, s->gamma, s->delta};
    const fr *c = w->matrix[2];
    const struct {
        const uint8_t *place;
        const fr *scalars;
        size_t n;
        const char *stage;
    } g1_parts[] = {
        {key->alpha1, header1, 3, "setup header"},
        {key->ic, c, (size_t)key->n_public + 1, "setup ic"},
        {key->a, w->matrix[0], key->n_vars, "setup a"},
        {key->b1, w->matrix[1], key->n_vars, "setup b1"},
        {key->c, c + key->n_public + 1, (size_t)key->n_vars - key->n_public - 1, "setup c"},
        {key->h, w->rows, key->domain, "setup h"},
    };
    for (size_t i = 0; i < sizeof g1_parts / sizeof g1_parts[0]; i++) {
        progress_report(progress, g1_parts[i].stage, 0, g1_parts[i].n);
        fixed_base_g1_multiples(w->g1, in_storage(storage, g1_parts[i].place), g1_parts[i].scalars,
                                g1_parts[i].n, pool);
    }
    progress_report(progress, "setup b2", 0, key->n_vars);
    fixed_base_g2_multiples(w->g2, in_storage(storage, key->beta2), header2, 3, pool);
    fixed_base_g2_multiples(w->g2, in_storage(storage, key->b2), w->matrix[1], key->n_vars, pool);
}

static enum status refuse_unsuitable(const struct r1cs *r1cs)
{
    uint64_t n_public = (uint64_t)r1cs->n_pub_out + r1cs->n_pub_in;
    if (r1cs->has_custom_gates)
        return fail(ST_INPUT,
                    "%s: the circuit uses custom gates, which Groth16 cannot express: a key would "
                    "not constrain them (compile without custom templates)",
                    r1cs->path);
    if (r1cs->n_wires == 0)
        return fail(ST_INPUT, "%s: the circuit has no wires, not even the constant one",
                    r1cs->path);
    if (n_public >= r1cs->n_wires)
        return fail(ST_INPUT,
                    "%s: %llu public values do not fit %u wires, of which wire 0 is the constant "
                    "one",
                    r1cs->path, (unsigned long long)n_public, r1cs->n_wires);
    return ST_OK;
}

static enum status init_domain(struct ntt_domain *d, const struct r1cs *r1cs, uint64_t domain,
                               struct pool *pool)
{
    if (domain > (uint64_t)1 << FR_TWO_ADICITY)
        return fail(
            ST_INPUT,
            "%s: %u constraints and %u public values need a domain of %llu, beyond the limit "
            "of 2^%d of curve %s",
            r1cs->path, r1cs->n_constraints, r1cs_n_public(r1cs), (unsigned long long)domain,
            FR_TWO_ADICITY, instance_curve.name);
    CHECK((domain & (domain - 1)) == 0);
    CHECK(domain > (uint64_t)r1cs->n_constraints + r1cs_n_public(r1cs));
    return ntt_domain_init(d, (unsigned)__builtin_ctzll(domain), NTT_ROOT_SNARKJS, NULL, pool);
}

static enum status make_key(const struct r1cs *r1cs, const struct ntt_domain *d, const fr *g,
                            const struct secrets *s, const struct work *w, struct pool *pool,
                            struct progress *progress, struct groth16_setup_output *out)
{
    struct groth16_key key = {
        .curve = &instance_curve,
        .path = r1cs->path,
        .n_vars = r1cs->n_wires,
        .n_public = r1cs_n_public(r1cs),
        .domain = d->n,
        .n_coefs = qap_count_coefs(r1cs),
    };
    if (key.n_coefs > UINT32_MAX)
        return fail(ST_INPUT, "%s: %llu coefficients are more than a zkey can count", r1cs->path,
                    (unsigned long long)key.n_coefs);
    size_t size = layout(&key, NULL);
    uint8_t *storage = malloc(size);
    if (!storage)
        return fail(ST_RESOURCE, "%s: no memory for a key of %zu bytes", r1cs->path, size);
    layout(&key, storage);

    progress_report(progress, "setup matrices", 0, r1cs->n_constraints);
    lagrange_at(w->rows, d, &s->tau, &fr_one, pool);
    if (!qap_at(r1cs, w->rows, w->matrix, in_storage(storage, key.coefs), key.n_coefs)) {
        free(storage);
        return fail(ST_INPUT, "%s: the file changed while it was read", r1cs->path);
    }
    h_scalars(w->rows, d, g, s, pool);
    combine_scalars(w, s, key.n_vars, key.n_public);
    put_points(&key, storage, w, s, pool, progress);
    *out = (struct groth16_setup_output){.key = key, .storage = storage};
    return ST_OK;
}

enum status step_setup_on_domain(const struct r1cs *r1cs, uint64_t domain,
                                 const struct groth16_setup_secrets *secrets, struct pool *pool,
                                 struct progress *progress, struct groth16_setup_output *out)
{
    struct ntt_domain d;
    struct secrets s;
    struct work w;
    fr g;
    enum status st = refuse_unsuitable(r1cs);
    if (st == ST_OK)
        st = init_domain(&d, r1cs, domain, pool);
    if (st != ST_OK)
        return st;
    ntt_coset_shift(&g, &d, NTT_ROOT_SNARKJS);
    st = load_secrets(&s, secrets, &g, d.n);
    if (st == ST_OK)
        st = work_init(&w, r1cs, &d);
    if (st != ST_OK)
        return st;
    fixed_base_g1_init(w.g1, pool);
    fixed_base_g2_init(w.g2, pool);
    st = make_key(r1cs, &d, &g, &s, &w, pool, progress, out);
    work_fini(&w);
    return st;
}

enum status step_setup(const struct r1cs *r1cs, const struct groth16_setup_secrets *secrets,
                       struct pool *pool, struct progress *progress,
                       struct groth16_setup_output *out)
{
    uint32_t n_public = r1cs_n_public(r1cs);
    return step_setup_on_domain(r1cs, groth16_domain_size(r1cs->n_constraints, n_public), secrets,
                                pool, progress, out);
}

/* Everyone can repeat this: that is the point. */
static const char label[] = "pinion insecure development key: anyone can forge proofs for it";

/* The next non-zero value of a fixed sequence: state = state^5 + 1. */
static fr next_secret(fr *state)
{
    do {
        fr t;
        fr_sqr(&t, state);
        fr_sqr(&t, &t);
        fr_mul(state, &t, state);
        fr_add(state, state, &fr_one);
    } while (fr_is_zero(state));
    return *state;
}

static void put_secret(uint8_t *out, const fr *value)
{
    fr t;
    fr_to_canonical(&t, value);
    fr_store(out, &t);
}

void step_known_secrets(uint64_t domain, struct groth16_setup_secrets *out)
{
    fr state = {{0}}, byte, base, g;
    fr_from_u64(&base, 256);
    for (size_t i = 0; i < sizeof label; i++) {
        fr_from_u64(&byte, (uint8_t)label[i]);
        fr_mul(&state, &state, &base);
        fr_add(&state, &state, &byte);
    }
    const struct ntt_domain d = {.log2n = (unsigned)__builtin_ctzll(domain), .n = domain};
    ntt_coset_shift(&g, &d, NTT_ROOT_SNARKJS);

    memset(out, 0, sizeof *out);
    fr alpha = next_secret(&state), beta = next_secret(&state), delta = next_secret(&state);
    fr tau = next_secret(&state);
    while (fr_is_zero(&tau) || !tau_is_outside(&tau, &g, domain))
        fr_add(&tau, &tau, &fr_one);
    put_secret(out->alpha, &alpha);
    put_secret(out->beta, &beta);
    put_secret(out->gamma, &fr_one);
    put_secret(out->delta, &delta);
    put_secret(out->tau, &tau);
}
