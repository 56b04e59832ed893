/* Any bytes as a proving key; with a small one that opens, every point is checked and a proof is
 * made. The witness is that of a test circuit with as many variables, else an arbitrary one: most
 * proofs must then be found to be wrong, none may be returned that does not verify. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/file/wtns.h"
#include "common/file/zkey.h"
#include "common/groth16/groth16.h"
#include "common/groth16/ops.h"

enum { MAX_DOMAIN = 256, MAX_VARS = 256 };

static struct pool *the_pool(void)
{
    static struct pool *pool;
    if (!pool)
        CHECK(pool_create(&pool, 1) == ST_OK);
    return pool;
}

static const char *const circuits[] = {"bn128/mul2",      "bn128/nopub",     "bn128/nopriv",
                                       "bn128/domexact",  "bls12381/mul2",   "bls12381/nopub",
                                       "bls12381/nopriv", "bls12381/domover"};
enum { CIRCUITS = sizeof circuits / sizeof circuits[0] };

/* The real witness for keys of that shape, NULL if there is none. */
static const uint8_t *real_witness(const struct groth16_key *key)
{
    static struct wtns witnesses[CIRCUITS];
    for (size_t i = 0; i < CIRCUITS; i++) {
        struct wtns *w = &witnesses[i];
        if (!w->values) {
            char path[512];
            snprintf(path, sizeof path, "%s/circom/%s/witness.wtns", PINION_TEST_DATA, circuits[i]);
            CHECK(wtns_open(w, path) == ST_OK);
        }
        if (w->curve->id == key->curve->id && w->n == key->n_vars)
            return w->values;
    }
    return NULL;
}

/* 1, 0, 1, 2, ... */
static const uint8_t *any_witness(const struct groth16_key *key)
{
    static uint8_t values[MAX_VARS * CURVE_MAX_FR_BYTES];
    memset(values, 0, sizeof values);
    values[0] = 1;
    for (size_t i = 2; i < key->n_vars; i++)
        values[i * key->curve->fr_bytes] = (uint8_t)(i - 1);
    return values;
}

static void check_proof(const struct groth16_key *key, const uint8_t *w,
                        const struct groth16_proof *proof)
{
    struct groth16_vkey vk;
    CHECK(key->curve->ops->vkey(key, &vk) == ST_OK);
    CHECK(groth16_verify(&vk, w + key->curve->fr_bytes, proof) == ST_OK);
    groth16_vkey_fini(&vk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zkey z;
    struct file_map map = fuzz_map(data, size);
    struct pool *pool = the_pool();
    if (zkey_parse(&z, &map, pool) != ST_OK || z.key.domain > MAX_DOMAIN || z.key.n_vars > MAX_VARS)
        return 0;

    enum status checked = z.key.curve->ops->key_check(&z.key, true, pool, NULL);
    if (checked != ST_OK)
        fuzz_check_refusal(checked);

    const struct groth16_randomness rs = {.r = {5}, .s = {7}};
    const uint8_t *real = real_witness(&z.key), *w = real ? real : any_witness(&z.key);
    struct groth16_proof proof;
    status_clear();
    enum status st = groth16_prove(&z.key, w, &rs, pool, NULL, NULL, &proof);
    if (st == ST_OK)
        check_proof(&z.key, w, &proof);
    else
        fuzz_check_refusal(st);
    return 0;
}
