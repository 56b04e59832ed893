#include "common/groth16/qap.h"

#include "common/groth16/key.h"

enum { BATCH = 256 }; /* values that share an inversion */

struct lagrange_job {
    fr *out;
    const struct ntt_domain *d;
    fr t, factor;
};

/* factor * w^i / (t - w^i), all of a batch with one inversion (Montgomery 1987). */
static void lagrange_task(void *arg, size_t batch, unsigned thread)
{
    (void)thread;
    const struct lagrange_job *j = arg;
    uint64_t begin = batch * BATCH;
    size_t n = j->d->n - begin < BATCH ? j->d->n - begin : BATCH;
    fr *out = j->out + begin, w, difference[BATCH], before[BATCH], product = fr_one;
    fr_pow(&w, &j->d->root, &begin, 1);
    for (size_t i = 0; i < n; i++) {
        before[i] = product;
        fr_sub(&difference[i], &j->t, &w);
        fr_mul(&product, &product, &difference[i]);
        fr_mul(&out[i], &w, &j->factor);
        fr_mul(&w, &w, &j->d->root);
    }
    fr_inv(&product, &product);
    for (size_t i = n; i-- > 0;) {
        fr inverse;
        fr_mul(&inverse, &product, &before[i]);
        fr_mul(&product, &product, &difference[i]);
        fr_mul(&out[i], &out[i], &inverse);
    }
}

void lagrange_at(fr *out, const struct ntt_domain *d, const fr *t, const fr *factor,
                 struct pool *pool)
{
    /* L_i(t) = (t^n - 1) / n * w^i / (t - w^i) */
    struct lagrange_job j = {.out = out, .d = d, .t = *t};
    uint64_t n = d->n;
    fr_pow(&j.factor, t, &n, 1);
    fr_sub(&j.factor, &j.factor, &fr_one);
    fr_mul(&j.factor, &j.factor, &d->n_inv);
    fr_mul(&j.factor, &j.factor, factor);
    pool_run(pool, (d->n + BATCH - 1) / BATCH, lagrange_task, &j);
}

static uint8_t *put_record(uint8_t *record, uint32_t matrix, uint32_t row, uint32_t signal,
                           const fr *value)
{
    fr twice;
    fr_from_canonical(&twice, value); /* Montgomery to twice Montgomery */
    memcpy(record, &matrix, 4);
    memcpy(record + 4, &row, 4);
    memcpy(record + 8, &signal, 4);
    fr_store(record + GROTH16_COEF_HEADER, &twice);
    return record + GROTH16_COEF_HEADER + FR_BYTES;
}

bool qap_at(const struct r1cs *r1cs, const fr *lagrange, fr *const m[3], uint8_t *coefs,
            uint64_t n_coefs)
{
    uint64_t left = n_coefs - r1cs_n_public(r1cs) - 1;
    for (int k = 0; k < 3; k++)
        memset(m[k], 0, (size_t)r1cs->n_wires * sizeof(fr));
    const uint8_t *cursor = r1cs->constraints;
    for (uint32_t row = 0; row < r1cs->n_constraints; row++) {
        for (uint32_t k = 0; k < 3; k++) {
            struct r1cs_lc lc = r1cs_next(r1cs, &cursor);
            if (k < 2 && lc.count > left)
                return false;
            left -= k < 2 ? lc.count : 0;
            for (uint32_t i = 0; i < lc.count; i++) {
                uint32_t wire = r1cs_term_wire(r1cs, lc, i);
                fr value, t;
                fr_load(&value, r1cs_term_value(r1cs, lc, i));
                fr_from_canonical(&value, &value);
                fr_mul(&t, &value, &lagrange[row]);
                fr_add(&m[k][wire], &m[k][wire], &t);
                if (k < 2)
                    coefs = put_record(coefs, k, row, wire, &value);
            }
        }
    }
    for (uint32_t s = 0; s <= r1cs_n_public(r1cs); s++) {
        uint32_t row = r1cs->n_constraints + s;
        fr_add(&m[0][s], &m[0][s], &lagrange[row]);
        coefs = put_record(coefs, 0, row, s, &fr_one);
    }
    return left == 0;
}
