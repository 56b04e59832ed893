#include <stdatomic.h>

#include "common/ec/msm.h"
#include "common/ec/pairing.h"
#include "common/groth16/steps.h"

enum { BATCH = 128 };

/* What is wrong with a stored point. */
enum flaw { SOUND, TOO_LARGE, OFF_CURVE, OUT_OF_SUBGROUP };

static const char *const flaw_text[] = {
    [TOO_LARGE] = "has a coordinate that is not below the field's prime",
    [OFF_CURVE] = "is not on the curve",
    [OUT_OF_SUBGROUP] = "is on the curve but not in the subgroup of prime order",
};

/* n points of one section of a zkey, or one point of its header. */
struct part {
    unsigned section;
    enum msm_group group;
    const char *name;
    const uint8_t *points;
    size_t n;
};

static size_t point_size(const struct part *p)
{
    return p->group == MSM_G1 ? (size_t)g1_bytes : (size_t)g2_bytes;
}

static enum flaw g1_flaw(const uint8_t *bytes)
{
    g1_affine p;
    g1_load(&p, bytes);
    if (!fq_is_reduced(&p.x) || !fq_is_reduced(&p.y))
        return TOO_LARGE;
    if (!g1_affine_is_on_curve(&p))
        return OFF_CURVE;
    return g1_in_subgroup(&p) ? SOUND : OUT_OF_SUBGROUP;
}

static enum flaw g2_flaw(const uint8_t *bytes)
{
    g2_affine p;
    g2_load(&p, bytes);
    if (!fq2_is_reduced(&p.x) || !fq2_is_reduced(&p.y))
        return TOO_LARGE;
    if (!g2_affine_is_on_curve(&p))
        return OFF_CURVE;
    return g2_in_subgroup(&p) ? SOUND : OUT_OF_SUBGROUP;
}

static enum flaw flaw_of(const struct part *p, size_t i)
{
    const uint8_t *bytes = p->points + i * point_size(p);
    return p->group == MSM_G1 ? g1_flaw(bytes) : g2_flaw(bytes);
}

struct job {
    const struct part *part;
    atomic_size_t first; /* lowest bad point so far */
};

static void check_task(void *arg, size_t batch, unsigned thread)
{
    (void)thread;
    struct job *j = arg;
    size_t end = (batch + 1) * BATCH < j->part->n ? (batch + 1) * BATCH : j->part->n;
    /* relaxed: a minimum, read when the loop has ended */
    size_t first = atomic_load_explicit(&j->first, memory_order_relaxed);
    for (size_t i = batch * BATCH; i < end && i < first; i++) {
        if (flaw_of(j->part, i) == SOUND)
            continue;
        while (i < first && !atomic_compare_exchange_weak_explicit(
                                &j->first, &first, i, memory_order_relaxed, memory_order_relaxed))
            ;
        return;
    }
}

static enum status check_section(const struct groth16_key *key, const struct part *p,
                                 struct pool *pool)
{
    struct job j = {.part = p};
    atomic_store_explicit(&j.first, p->n, memory_order_relaxed); /* no thread yet */
    pool_run(pool, (p->n + BATCH - 1) / BATCH, check_task, &j);
    size_t first = atomic_load_explicit(&j.first, memory_order_relaxed);
    if (first == p->n)
        return ST_OK;
    return fail(ST_INPUT, "%s: section %u (%s): point %zu %s", key->path, p->section, p->name,
                first, flaw_text[flaw_of(p, first)]);
}

static enum status check_header_point(const struct groth16_key *key, const struct part *p)
{
    static const uint8_t infinity[4 * CURVE_MAX_FQ_BYTES];
    if (memcmp(p->points, infinity, point_size(p)) == 0)
        return fail(ST_INPUT, "%s: section 2 (header): %s is the point at infinity", key->path,
                    p->name);
    enum flaw flaw = flaw_of(p, 0);
    if (flaw != SOUND)
        return fail(ST_INPUT, "%s: section 2 (header): %s %s", key->path, p->name, flaw_text[flaw]);
    return ST_OK;
}

static enum status check_header(const struct groth16_key *key)
{
    const struct part parts[] = {
        {2, MSM_G1, "alpha1", key->alpha1, 1}, {2, MSM_G1, "beta1", key->beta1, 1},
        {2, MSM_G2, "beta2", key->beta2, 1},   {2, MSM_G2, "gamma2", key->gamma2, 1},
        {2, MSM_G1, "delta1", key->delta1, 1}, {2, MSM_G2, "delta2", key->delta2, 1},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        enum status st = check_header_point(key, &parts[i]);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

enum status step_key_check(const struct groth16_key *key, bool all_points, struct pool *pool,
                           struct progress *progress)
{
    if (key->n_vars > MSM_MAX_TERMS || key->domain > MSM_MAX_TERMS)
        return fail(ST_INPUT, "%s: %u variables on a domain of %llu: at most %zu are supported",
                    key->path, key->n_vars, (unsigned long long)key->domain, MSM_MAX_TERMS);
    enum status st = check_header(key);
    if (st != ST_OK || !all_points)
        return st;
    size_t n_public = (size_t)key->n_public + 1;
    const struct part parts[] = {
        {3, MSM_G1, "IC", key->ic, n_public},
        {5, MSM_G1, "A", key->a, key->n_vars},
        {6, MSM_G1, "B1", key->b1, key->n_vars},
        {7, MSM_G2, "B2", key->b2, key->n_vars},
        {8, MSM_G1, "C", key->c, key->n_vars - n_public},
        {9, MSM_G1, "H", key->h, key->domain},
    };
    size_t count = sizeof parts / sizeof parts[0];
    for (size_t i = 0; i < count && st == ST_OK; i++) {
        progress_report(progress, "check key", i, count);
        st = check_section(key, &parts[i], pool);
    }
    return st;
}
