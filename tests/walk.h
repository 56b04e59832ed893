/* For tests: reads everything that the contracts of the readers say is safe to read, and aborts if
 * a promise is broken. A sanitizer sees each byte. */
#ifndef PINION_TESTS_WALK_H
#define PINION_TESTS_WALK_H

#include "common/file/r1cs_file.h"
#include "common/file/wtns.h"
#include "common/file/zkey.h"

static inline uint64_t walk_bytes(const uint8_t *data, uint64_t size)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size; i++)
        sum += data[i];
    return sum;
}

static inline uint64_t walk_points(const struct groth16_key *key)
{
    uint64_t g1 = 2 * key->curve->fq_bytes, g2 = 2 * g1;
    return walk_bytes(key->alpha1, g1) + walk_bytes(key->beta1, g1) + walk_bytes(key->delta1, g1) +
           walk_bytes(key->beta2, g2) + walk_bytes(key->gamma2, g2) + walk_bytes(key->delta2, g2) +
           walk_bytes(key->ic, (key->n_public + 1) * g1) + walk_bytes(key->a, key->n_vars * g1) +
           walk_bytes(key->b1, key->n_vars * g1) + walk_bytes(key->b2, key->n_vars * g2) +
           walk_bytes(key->c, (key->n_vars - key->n_public - 1) * g1) +
           walk_bytes(key->h, key->domain * g1);
}

static inline void walk_zkey(const struct zkey *z)
{
    const struct groth16_key *key = &z->key;
    size_t record = GROTH16_COEF_HEADER + key->curve->fr_bytes;
    uint64_t sum = walk_points(key);
    CHECK(key->n_public < key->n_vars);
    CHECK(key->domain > 0 && (key->domain & (key->domain - 1)) == 0);
    CHECK(key->domain <= 1ULL << key->curve->two_adicity);
    CHECK((uint64_t)z->constraints + key->n_public + 1 <= key->domain);
    for (uint64_t i = 0; i < key->n_coefs; i++) {
        const uint8_t *p = key->coefs + i * record;
        CHECK(r1cs_u32(p) <= 1 && r1cs_u32(p + 4) < key->domain && r1cs_u32(p + 8) < key->n_vars);
        sum += walk_bytes(p, record);
    }
    CHECK(sum != UINT64_MAX); /* uses the sum, so that no read can be optimised away */
}

static inline void walk_wtns(const struct wtns *w)
{
    size_t size = w->curve->fr_bytes;
    CHECK(w->n > 0 && w->values[0] == 1 && walk_bytes(w->values, size) == 1);
    for (size_t i = 0; i < w->n; i++)
        CHECK(curve_below(w->values + i * size, w->curve->fr_modulus, size));
}

static inline void walk_r1cs(const struct r1cs *r)
{
    const uint8_t *cursor = r->constraints;
    CHECK((uint64_t)r->n_pub_out + r->n_pub_in < r->n_wires);
    for (uint64_t i = 0; i < (uint64_t)r->n_constraints * 3; i++) {
        struct r1cs_lc lc = r1cs_next(r, &cursor);
        for (uint32_t k = 0; k < lc.count; k++) {
            CHECK(r1cs_term_wire(r, lc, k) < r->n_wires);
            CHECK(curve_below(r1cs_term_value(r, lc, k), r->curve->fr_modulus, r->curve->fr_bytes));
        }
    }
    CHECK(cursor == r->constraints + r->constraints_size);
}

#endif
