#include "common/file/zkey.h"

#include <inttypes.h>

#include "common/file/output.h"
#include "common/file/zkey_format.h"

/* A failed write sticks to the stream and shows in output_commit. */
static void put(FILE *f, const void *data, uint64_t size)
{
    (void)fwrite(data, 1, size, f);
}

static void put_u32(FILE *f, uint64_t v)
{
    CHECK(v <= UINT32_MAX);
    uint32_t v32 = (uint32_t)v;
    put(f, &v32, sizeof v32);
}

static void put_section(FILE *f, enum zkey_section id, uint64_t size)
{
    put_u32(f, id);
    put(f, &size, sizeof size);
}

static void put_header(FILE *f, const struct groth16_key *key)
{
    size_t q = key->curve->fq_bytes, r = key->curve->fr_bytes;
    put_section(f, ZKEY_HEADER, ZKEY_HEADER_SIZE(q, r));
    put_u32(f, q);
    put(f, key->curve->fq_modulus, q);
    put_u32(f, r);
    put(f, key->curve->fr_modulus, r);
    put_u32(f, key->n_vars);
    put_u32(f, key->n_public);
    put_u32(f, key->domain);
    put(f, key->alpha1, 2 * q);
    put(f, key->beta1, 2 * q);
    put(f, key->beta2, 4 * q);
    put(f, key->gamma2, 4 * q);
    put(f, key->delta1, 2 * q);
    put(f, key->delta2, 4 * q);
}

static void put_coefs(FILE *f, const struct groth16_key *key)
{
    uint64_t size = key->n_coefs * (GROTH16_COEF_HEADER + key->curve->fr_bytes);
    put_section(f, ZKEY_COEFS, 4 + size);
    put_u32(f, key->n_coefs);
    put(f, key->coefs, size);
}

static void put_array(FILE *f, enum zkey_section id, const void *points, uint64_t size)
{
    put_section(f, id, size);
    put(f, points, size);
}

static void put_contributions(FILE *f)
{
    static const uint8_t unknown_hash[ZKEY_CIRCUIT_HASH];
    put_section(f, ZKEY_CONTRIBUTIONS, ZKEY_CIRCUIT_HASH + 4);
    put(f, unknown_hash, sizeof unknown_hash);
    put_u32(f, 0);
}

static void put_key(FILE *f, const struct groth16_key *key)
{
    uint64_t g1 = 2 * key->curve->fq_bytes, vars = key->n_vars, public = key->n_public;
    put(f, "zkey", 4);
    put_u32(f, ZKEY_VERSION);
    put_u32(f, ZKEY_SECTIONS);
    put_section(f, ZKEY_PROTOCOL, 4);
    put_u32(f, ZKEY_GROTH16);
    put_header(f, key);
    put_coefs(f, key);
    put_array(f, ZKEY_IC, key->ic, (public + 1) * g1);
    put_array(f, ZKEY_H, key->h, key->domain * g1);
    put_array(f, ZKEY_C, key->c, (vars - public - 1) * g1);
    put_array(f, ZKEY_A, key->a, vars * g1);
    put_array(f, ZKEY_B1, key->b1, vars * g1);
    put_array(f, ZKEY_B2, key->b2, vars * 2 * g1);
    put_contributions(f);
}

enum status zkey_write(const char *path, const struct groth16_key *key)
{
    if (key->n_coefs > UINT32_MAX || key->domain > UINT32_MAX)
        return fail(ST_INPUT,
                    "%s: a zkey holds at most 2^32 - 1 coefficients in a domain of at most 2^31, "
                    "this key has %" PRIu64 " in %" PRIu64,
                    path, key->n_coefs, key->domain);
    struct output *o;
    enum status st = output_open(&o, path);
    if (st != ST_OK)
        return st;
    put_key(output_stream(o), key);
    return output_commit(o);
}
