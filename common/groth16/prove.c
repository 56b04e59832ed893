#include "common/clock.h"
#include "common/ec/msm.h"
#include "common/groth16/steps.h"
#include "common/poly/ntt.h"

enum { CHUNK = 4096 };

/* Adds what has passed since *since to *stage, and starts the next stage. */
static void lap(double *stage, double *since)
{
    double now = clock_ms();
    *stage += now - *since;
    *since = now;
}

static unsigned log2_of(uint64_t domain)
{
    return (unsigned)__builtin_ctzll(domain);
}

/* The transforms need c and a table, the sums scratch; never both. */
size_t step_prove_workspace(const struct groth16_key *key, const struct pool *pool)
{
    size_t sizes[] = {
        (key->domain + ntt_table_elements(log2_of(key->domain))) * sizeof(fr),
        msm_g1_scratch(key->domain, pool),
        msm_g1_scratch(key->n_vars, pool),
        msm_g2_scratch(key->n_vars, pool),
    };
    size_t most = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        most = sizes[i] > most ? sizes[i] : most;
    return most;
}

struct vectors {
    fr *a, *b, *c;
    size_t n;
};

static void product_task(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct vectors *v = arg;
    size_t end = (chunk + 1) * CHUNK < v->n ? (chunk + 1) * CHUNK : v->n;
    for (size_t i = chunk * CHUNK; i < end; i++)
        fr_mul(&v->c[i], &v->a[i], &v->b[i]);
}

static void quotient_task(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct vectors *v = arg;
    size_t end = (chunk + 1) * CHUNK < v->n ? (chunk + 1) * CHUNK : v->n;
    for (size_t i = chunk * CHUNK; i < end; i++) {
        fr t;
        fr_mul(&t, &v->a[i], &v->b[i]);
        fr_sub(&t, &t, &v->c[i]);
        fr_to_canonical(&v->a[i], &t);
    }
}

/* a = A B - C on the coset, canonical, where C = A B on the domain: the scalars of H. Destroys b.
 */
static enum status quotient(fr *a, fr *b, void *workspace, uint64_t domain, struct pool *pool)
{
    struct vectors v = {a, b, workspace, domain};
    struct ntt_domain d;
    enum status st = ntt_domain_init(&d, log2_of(domain), NTT_ROOT_SNARKJS, v.c + domain, pool);
    if (st != ST_OK)
        return st;
    fr g;
    ntt_coset_shift(&g, &d, NTT_ROOT_SNARKJS);
    pool_run(pool, (v.n + CHUNK - 1) / CHUNK, product_task, &v);
    ntt_coset_extend(&d, (fr *const[]){v.a, v.b, v.c}, 3, &g, pool);
    pool_run(pool, (v.n + CHUNK - 1) / CHUNK, quotient_task, &v);
    return ST_OK;
}

/* The five sums of a proof. */
struct sums {
    g1 h, a, b1, c;
    g2 b2;
};

static void sum_points(struct sums *s, const struct groth16_key *key, const uint8_t *w, const fr *p,
                       void *scratch, struct pool *pool, struct progress *progress,
                       struct groth16_timings *t)
{
    size_t first = (size_t)key->n_public + 1; /* wire of C's first point */
    double since = clock_ms();
    progress_report(progress, "msm h", 0, 0);
    msm_g1(&s->h, key->h, (const uint8_t *)p, key->domain, scratch, pool);
    lap(&t->msm_h, &since);
    progress_report(progress, "msm a", 0, 0);
    msm_g1(&s->a, key->a, w, key->n_vars, scratch, pool);
    lap(&t->msm_a, &since);
    progress_report(progress, "msm b1", 0, 0);
    msm_g1(&s->b1, key->b1, w, key->n_vars, scratch, pool);
    lap(&t->msm_b1, &since);
    progress_report(progress, "msm b2", 0, 0);
    msm_g2(&s->b2, key->b2, w, key->n_vars, scratch, pool);
    lap(&t->msm_b2, &since);
    progress_report(progress, "msm c", 0, 0);
    msm_g1(&s->c, key->c, w + first * FR_BYTES, key->n_vars - first, scratch, pool);
    lap(&t->msm_c, &since);
}

/* What blinds the points of a proof, apart from the sums. */
struct blinding {
    g1 a, b1, c;
    g2 b2;
};

/* r = constant + k delta */
static void blind_g1(g1 *r, const uint8_t *constant, const uint8_t *delta, const fr *k)
{
    g1_affine p;
    g1_load(&p, delta);
    g1_from_affine(r, &p);
    g1_mul(r, r, k->l, FR_LIMBS);
    g1_load(&p, constant);
    g1_add_affine(r, r, &p);
}

static void blind_g2(g2 *r, const uint8_t *constant, const uint8_t *delta, const fr *k)
{
    g2_affine p;
    g2_load(&p, delta);
    g2_from_affine(r, &p);
    g2_mul(r, r, k->l, FR_LIMBS);
    g2_load(&p, constant);
    g2_add_affine(r, r, &p);
}

/* alpha + r delta, beta + s delta, - r s delta. */
static void blind(struct blinding *out, const struct groth16_key *key, const fr *r, const fr *s)
{
    fr rs;
    g1_affine delta;
    fr_from_canonical(&rs, r);
    fr_mul(&rs, &rs, s); /* canonical: one factor is */
    fr_neg(&rs, &rs);
    blind_g1(&out->a, key->alpha1, key->delta1, r);
    blind_g1(&out->b1, key->beta1, key->delta1, s);
    blind_g2(&out->b2, key->beta2, key->delta2, s);
    g1_load(&delta, key->delta1);
    g1_from_affine(&out->c, &delta);
    g1_mul(&out->c, &out->c, rs.l, FR_LIMBS);
}

static void put_g1(uint8_t *out, const g1 *p)
{
    g1_affine a;
    g1_to_affine(&a, p);
    fq_to_canonical(&a.x, &a.x);
    fq_to_canonical(&a.y, &a.y);
    g1_store(out, &a);
}

static void put_g2(uint8_t *out, const g2 *p)
{
    g2_affine a;
    g2_to_affine(&a, p);
    fq2_to_canonical(&a.x, &a.x);
    fq2_to_canonical(&a.y, &a.y);
    g2_store(out, &a);
}

/* A, B and C = sum + H + s A + r B1 - r s delta. */
static void assemble(struct groth16_proof *out, const struct groth16_key *key,
                     const struct sums *sum, const struct blinding *blinding, const fr *r,
                     const fr *s)
{
    g1 a, b1, c, p;
    g2 b2;
    g1_add(&a, &sum->a, &blinding->a);
    g1_add(&b1, &sum->b1, &blinding->b1);
    g2_add(&b2, &sum->b2, &blinding->b2);
    g1_add(&c, &sum->c, &sum->h);
    g1_mul(&p, &a, s->l, FR_LIMBS);
    g1_add(&c, &c, &p);
    g1_mul(&p, &b1, r->l, FR_LIMBS);
    g1_add(&c, &c, &p);
    g1_add(&c, &c, &blinding->c);
    *out = (struct groth16_proof){.curve = key->curve};
    put_g1(out->a, &a);
    put_g2(out->b, &b2);
    put_g1(out->c, &c);
}

/* ---- for sums computed elsewhere ---- */

static void g1_put_stored(uint8_t *out, const g1 *p)
{
    g1_affine a;
    g1_to_affine(&a, p);
    g1_store(out, &a);
}

static void g2_put_stored(uint8_t *out, const g2 *p)
{
    g2_affine a;
    g2_to_affine(&a, p);
    g2_store(out, &a);
}

static void g1_take_stored(g1 *r, const uint8_t *stored)
{
    g1_affine p;
    g1_load(&p, stored);
    g1_from_affine(r, &p);
}

static void g2_take_stored(g2 *r, const uint8_t *stored)
{
    g2_affine p;
    g2_load(&p, stored);
    g2_from_affine(r, &p);
}

void step_blind(const struct groth16_key *key, const struct groth16_randomness *rs,
                struct groth16_blinding *out)
{
    struct blinding b;
    fr r, s;
    fr_load(&r, rs->r);
    fr_load(&s, rs->s);
    blind(&b, key, &r, &s);
    g1_put_stored(out->a, &b.a);
    g1_put_stored(out->b1, &b.b1);
    g1_put_stored(out->c, &b.c);
    g2_put_stored(out->b2, &b.b2);
}

void step_assemble(const struct groth16_key *key, const struct groth16_sums *sums,
                   const struct groth16_blinding *blinding, const struct groth16_randomness *rs,
                   struct groth16_proof *out)
{
    struct sums all;
    struct blinding b;
    fr r, s;
    fr_load(&r, rs->r);
    fr_load(&s, rs->s);
    g1_take_stored(&all.h, sums->h);
    g1_take_stored(&all.a, sums->a);
    g1_take_stored(&all.b1, sums->b1);
    g1_take_stored(&all.c, sums->c);
    g2_take_stored(&all.b2, sums->b2);
    g1_take_stored(&b.a, blinding->a);
    g1_take_stored(&b.b1, blinding->b1);
    g1_take_stored(&b.c, blinding->c);
    g2_take_stored(&b.b2, blinding->b2);
    assemble(out, key, &all, &b, &r, &s);
}

enum status step_prove(const struct groth16_key *key, const uint8_t *w, void *a, void *b,
                       const struct groth16_randomness *rs, void *workspace, struct pool *pool,
                       struct progress *progress, struct groth16_timings *timings,
                       struct groth16_proof *out)
{
    struct groth16_timings unused = {0}, *t = timings ? timings : &unused;
    struct sums sums;
    double since = clock_ms();
    progress_report(progress, "transform", 0, 0);
    enum status st = quotient(a, b, workspace, key->domain, pool);
    if (st != ST_OK)
        return st;
    lap(&t->ntt, &since);
    sum_points(&sums, key, w, a, workspace, pool, progress, t);
    since = clock_ms();
    struct blinding blinding;
    fr r, s;
    fr_load(&r, rs->r);
    fr_load(&s, rs->s);
    blind(&blinding, key, &r, &s);
    assemble(out, key, &sums, &blinding, &r, &s);
    lap(&t->assemble, &since);
    return ST_OK;
}
