/* A rank-1 constraint system as circom's r1cs stores it: a view that has been validated once. For
 * every constraint three linear combinations A, B, C with (A w)(B w) = C w.
 *
 * The view is usually of a mapped file, and whoever overwrites that in place must spoil the result,
 * not the heap: walking stays inside the view and names only wires that exist, whatever it says. */
#ifndef PINION_GROTH16_R1CS_H
#define PINION_GROTH16_R1CS_H

#include <string.h>

#include "common/curve.h"

struct r1cs {
    const struct curve *curve;
    const char *path; /* for messages; borrowed */
    uint32_t n_wires, n_pub_out, n_pub_in, n_prv_in, n_constraints;
    uint64_t n_labels;
    /* n_constraints times three linear combinations: u32 count, then count terms of u32 wire and
     * fr_bytes of canonical little-endian coefficient. Borrowed. All wires < n_wires, all
     * coefficients < r, exactly constraints_size bytes. */
    const uint8_t *constraints;
    size_t constraints_size;
    bool has_custom_gates; /* Groth16 cannot express them */
};

static inline uint32_t r1cs_n_public(const struct r1cs *r)
{
    return r->n_pub_out + r->n_pub_in;
}

static inline uint32_t r1cs_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* One linear combination: count terms from terms on. */
struct r1cs_lc {
    uint32_t count;
    const uint8_t *terms;
};

/* Reads the linear combination at *cursor and moves *cursor behind it. One that does not fit in
 * what is left has no terms. */
static inline struct r1cs_lc r1cs_next(const struct r1cs *r, const uint8_t **cursor)
{
    size_t left = r->constraints_size - (size_t)(*cursor - r->constraints);
    size_t term = 4 + (size_t)r->curve->fr_bytes;
    if (left < 4)
        return (struct r1cs_lc){0, *cursor};
    struct r1cs_lc lc = {r1cs_u32(*cursor), *cursor + 4};
    if (lc.count > (left - 4) / term)
        lc.count = 0;
    *cursor = lc.terms + lc.count * term;
    return lc;
}

/* Below n_wires. */
static inline uint32_t r1cs_term_wire(const struct r1cs *r, struct r1cs_lc lc, uint32_t i)
{
    uint32_t wire = r1cs_u32(lc.terms + (size_t)i * (4 + r->curve->fr_bytes));
    return wire < r->n_wires ? wire : 0;
}

static inline const uint8_t *r1cs_term_value(const struct r1cs *r, struct r1cs_lc lc, uint32_t i)
{
    return lc.terms + (size_t)i * (4 + r->curve->fr_bytes) + 4;
}

#endif
