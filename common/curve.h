/* A curve as the layers above see it: names, sizes, and the operations of its fastest instance on
 * this machine.
 *
 * Curve-dependent code is compiled once per curve and instruction set (common/ff/instance.h). Each
 * instance exports one struct curve; curve_by_* return the fastest one that the processor supports,
 * chosen once. Immutable; any thread. */
#ifndef PINION_CURVE_H
#define PINION_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct pool;
struct groth16_key;
struct groth16_vkey;
struct groth16_proof;
struct groth16_randomness;
struct groth16_timings;
struct r1cs;

enum { CURVE_MAX_FQ_BYTES = 48, CURVE_MAX_FR_BYTES = 32 };

enum curve_id { CURVE_NONE, CURVE_BN254, CURVE_BLS12_381, CURVE_TOY_BN, CURVE_TOY_BLS };

struct curve {
    enum curve_id id;
    const char *name;         /* "bn254" */
    const char *snarkjs_name; /* "bn128": what JSON files say */
    const char *isa;          /* "adx": how products are computed */
    size_t fr_bytes, fq_bytes;
    unsigned two_adicity;
    const uint8_t *fr_modulus, *fq_modulus; /* little-endian, fr_bytes and fq_bytes */
    const struct curve_ops *ops;            /* common/groth16/ops.h */
};

/* The curve of that scalar field, whose modulus is given by n little-endian bytes; NULL if unknown.
 */
const struct curve *curve_by_fr_modulus(const uint8_t *modulus, size_t n);

/* The curve of that name: its own, snarkjs' or a usual alias, upper or lower case; NULL if unknown.
 */
const struct curve *curve_by_name(const char *name);

/* Restricts the choice: "portable", "adx" or "auto". Call before the first curve_by_*. ST_USAGE for
 * another name, ST_RESOURCE if this processor cannot run it. */
enum status curve_select_isa(const char *isa) MUST_CHECK;

/* Whether the little-endian integer a of n bytes is below m of n bytes. */
bool curve_below(const uint8_t *a, const uint8_t *m, size_t n);

#endif
