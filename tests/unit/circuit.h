/* Random constraint systems in memory with a witness that satisfies them, of any shape. */
#ifndef PINION_TESTS_CIRCUIT_H
#define PINION_TESTS_CIRCUIT_H

#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/ff/fr.h"
#include "common/groth16/r1cs.h"
#include "common/groth16/steps.h"
#include "tests/unit/random.h"

struct shape {
    uint32_t constraints, pub_out, pub_in, wires;
};

struct circuit {
    struct r1cs r1cs;
    uint8_t *constraints; /* owned; r1cs borrows */
    uint8_t *w;           /* owned; canonical */
};

enum { CIRCUIT_TERM = 4 + FR_BYTES, CIRCUIT_MAX_TERMS = 5 };

/* A canonical value: often 0, 1, -1 or short. */
static inline fr circuit_value(uint64_t *seed)
{
    fr v = {{0}};
    switch (random_u64(seed) % 6) {
    case 0:
        break;
    case 1:
        v.l[0] = 1;
        break;
    case 2:
        v = fr_modulus;
        v.l[0] -= 1;
        break;
    case 3:
        v.l[0] = random_u64(seed) % 90;
        break;
    default:
        for (int i = 0; i < FR_LIMBS; i++)
            v.l[i] = random_biased_u64(seed);
        fr_from_canonical(&v, &v);
        fr_to_canonical(&v, &v);
    }
    return v;
}

static inline uint8_t *circuit_put_term(uint8_t *p, uint32_t wire, const fr *value)
{
    memcpy(p, &wire, 4);
    fr_store(p + 4, value);
    return p + CIRCUIT_TERM;
}

/* The value of a linear combination in Montgomery form, over the wires from first on. */
static inline fr circuit_lc(const struct circuit *c, struct r1cs_lc lc, uint32_t first)
{
    fr sum = {{0}};
    for (uint32_t i = 0; i < lc.count; i++) {
        uint32_t wire = r1cs_term_wire(&c->r1cs, lc, i);
        fr k, w;
        fr_load(&k, r1cs_term_value(&c->r1cs, lc, i));
        fr_load(&w, c->w + (size_t)wire * FR_BYTES);
        fr_from_canonical(&k, &k);
        fr_from_canonical(&w, &w);
        fr_mul(&k, &k, &w);
        if (wire >= first)
            fr_add(&sum, &sum, &k);
    }
    return sum;
}

/* A random linear combination at p; repeated wires and coefficients 0 happen. */
static inline uint8_t *circuit_put_lc(const struct circuit *c, uint8_t *p, uint64_t *seed,
                                      fr *value)
{
    uint32_t count = random_u64(seed) % CIRCUIT_MAX_TERMS;
    struct r1cs_lc lc = {count, p + 4};
    memcpy(p, &count, 4);
    p += 4;
    for (uint32_t i = 0; i < count; i++) {
        fr k = circuit_value(seed);
        p = circuit_put_term(p, (random_u64(seed) >> 32) * c->r1cs.n_wires >> 32, &k);
    }
    *value = circuit_lc(c, lc, 0);
    return p;
}

/* A B = C: random A, B and C, and C gets what is missing on wire 0. */
static inline uint8_t *circuit_put_constraint(const struct circuit *c, uint8_t *p, uint64_t *seed)
{
    fr a, b, value;
    p = circuit_put_lc(c, p, seed, &a);
    p = circuit_put_lc(c, p, seed, &b);
    uint8_t *counter = p;
    p = circuit_put_lc(c, p, seed, &value);
    fr_mul(&a, &a, &b);
    fr_sub(&a, &a, &value);
    fr_to_canonical(&a, &a);
    p = circuit_put_term(p, 0, &a);
    uint32_t count = r1cs_u32(counter) + 1;
    memcpy(counter, &count, 4);
    return p;
}

static inline struct circuit circuit_create(struct shape s, uint64_t seed)
{
    struct circuit c = {.r1cs = {.curve = &instance_curve,
                                 .path = "test.r1cs",
                                 .n_wires = s.wires,
                                 .n_pub_out = s.pub_out,
                                 .n_pub_in = s.pub_in,
                                 .n_prv_in = s.wires - 1 - s.pub_out - s.pub_in,
                                 .n_labels = s.wires,
                                 .n_constraints = s.constraints}};
    c.w = malloc((size_t)s.wires * FR_BYTES);
    c.constraints = malloc((size_t)s.constraints * 3 * (4 + CIRCUIT_MAX_TERMS * CIRCUIT_TERM) + 1);
    assert_non_null(c.w);
    assert_non_null(c.constraints);
    fr one = {{1}};
    fr_store(c.w, &one);
    for (uint32_t i = 1; i < s.wires; i++) {
        fr v = circuit_value(&seed);
        fr_store(c.w + (size_t)i * FR_BYTES, &v);
    }
    uint8_t *p = c.constraints;
    for (uint32_t i = 0; i < s.constraints; i++)
        p = circuit_put_constraint(&c, p, &seed);
    c.r1cs.constraints = c.constraints;
    c.r1cs.constraints_size = (size_t)(p - c.constraints);
    return c;
}

static inline void circuit_destroy(struct circuit *c)
{
    free(c->constraints);
    free(c->w);
}

static inline struct pool *test_pool(unsigned threads)
{
    struct pool *pool;
    assert_int_equal(pool_create(&pool, threads), ST_OK);
    return pool;
}

#endif
