#include "synth/synthesis.h"

#include <inttypes.h>
#include <string.h>

#include "common/groth16/ops.h"

static enum status check_same_circuit(const struct synthesis *s)
{
    const struct groth16_key *key = &s->zkey.key;
    const struct r1cs *r1cs = &s->r1cs.r1cs;
    if (r1cs->curve != key->curve)
        return fail(ST_INPUT, "%s is on curve %s, the key %s on %s: name the key's own circuit",
                    r1cs->path, r1cs->curve->name, key->path, key->curve->name);
    if (r1cs->n_wires == key->n_vars && r1cs_n_public(r1cs) == key->n_public &&
        r1cs->n_constraints == s->zkey.constraints)
        return ST_OK;
    return fail(ST_INPUT,
                "%s has %u wires, %u public and %u constraints, the key %s has %u, %u and %u: name "
                "the key's own circuit",
                r1cs->path, r1cs->n_wires, r1cs_n_public(r1cs), r1cs->n_constraints, key->path,
                key->n_vars, key->n_public, s->zkey.constraints);
}

enum status synthesis_open(struct synthesis *out, const char *key, const char *r1cs,
                           struct pool *pool)
{
    struct synthesis s = {.has_r1cs = false};
    enum status st = zkey_open(&s.zkey, key, pool);
    if (st != ST_OK)
        return st;
    if (r1cs) {
        st = r1cs_open(&s.r1cs, r1cs);
        s.has_r1cs = st == ST_OK;
        if (st == ST_OK)
            st = check_same_circuit(&s);
    }
    if (st == ST_OK)
        *out = s;
    else
        synthesis_close(&s);
    return st;
}

void synthesis_close(struct synthesis *s)
{
    if (s->has_r1cs)
        r1cs_close(&s->r1cs);
    if (s->zkey.map.data)
        zkey_close(&s->zkey);
    *s = (struct synthesis){.has_r1cs = false};
}

enum status synthesis_check(const struct synthesis *s, const struct wtns *w, struct pool *pool,
                            struct progress *progress)
{
    const struct groth16_key *key = &s->zkey.key;
    enum status st = wtns_check_fits(w, key);
    if (st != ST_OK || !s->has_r1cs)
        return st;
    const struct r1cs *r1cs = &s->r1cs.r1cs;
    progress_report(progress, "constraints", 0, 0);
    uint64_t bad = key->curve->ops->first_unsatisfied(r1cs, w->values, pool);
    if (bad == UINT64_MAX)
        return ST_OK;
    return fail(ST_INPUT,
                "%s does not satisfy constraint %" PRIu64 " of %s (numbered from 0, %u in all): "
                "compute the witness again from the inputs",
                w->map.path, bad, r1cs->path, r1cs->n_constraints);
}

enum status synthesis_plan(const struct synthesis *s, struct slice_plan *out, uint64_t page)
{
    const struct groth16_key *key = &s->zkey.key;
    uint64_t vector = key->domain * key->curve->fr_bytes;
    struct slice_plan plan = {.w_bytes = (uint64_t)key->n_vars * key->curve->fr_bytes,
                              .a_bytes = vector,
                              .b_bytes = vector};
    enum status st = slice_plan(&plan, page);
    if (st == ST_OK)
        *out = plan;
    return st;
}

void synthesis_write(const struct synthesis *s, const struct wtns *w, const struct slice_plan *plan,
                     void *slice, struct pool *pool)
{
    const struct groth16_key *key = &s->zkey.key;
    uint8_t *base = slice;
    /* what is proved is what was checked, even if the file changes meanwhile: from the copy */
    memcpy(base, w->values, plan->w_bytes);
    key->curve->ops->evaluate(key, base, base + plan->a_offset, base + plan->b_offset, pool);
}
