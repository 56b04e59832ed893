/* What the store wants to know of a snarkjs key. */
#include <stdio.h>
#include <string.h>

#include "common/file/r1cs_file.h"
#include "common/file/zkey.h"
#include "common/groth16/ops.h"
#include "common/msg.h"
#include "shm/store.h"

/* Beside its vectors, synthesis maps the witness file, once, and keeps stacks and tables of its
 * threads. */
enum { SYNTHESIS_OVERHEAD = 32 << 20 };

/* A result travels in one message: the proof, and the public values with quotes and separators. */
enum {
    PROOF_BYTES = 4096,
    PUBLIC_BYTES = 84,
    PUBLICS_MAX = (MSG_PAYLOAD_MAX - PROOF_BYTES) / PUBLIC_BYTES
};

static enum status check_r1cs(const char *path, const struct groth16_key *key)
{
    struct r1cs_file file;
    enum status st = r1cs_open(&file, path);
    if (st != ST_OK)
        return st;
    const struct r1cs *r = &file.r1cs;
    if (r->curve != key->curve)
        st =
            fail(ST_INPUT, "%s: is for %s, the key for %s", path, r->curve->name, key->curve->name);
    else if (r->n_wires != key->n_vars || r1cs_n_public(r) != key->n_public)
        st = fail(ST_INPUT,
                  "%s: has %u variables, %u of them public, the key has %u and %u: it belongs to "
                  "another circuit",
                  path, r->n_wires, r1cs_n_public(r), key->n_vars, key->n_public);
    r1cs_close(&file);
    return st;
}

enum status store_inspect(struct circuit_shape *out, const char *key_path, const char *r1cs)
{
    struct zkey z;
    enum status st = zkey_open(&z, key_path, NULL);
    if (st != ST_OK)
        return st;
    const struct groth16_key *key = &z.key;
    st = key->curve->ops->key_check(key, false, NULL, NULL);
    if (st == ST_OK && key->n_public > PUBLICS_MAX)
        st = fail(ST_INPUT,
                  "%s: has %u public values, at most %d fit a result: prove it with `pinion prove`",
                  key_path, key->n_public, PUBLICS_MAX);
    if (st == ST_OK && r1cs)
        st = check_r1cs(r1cs, key);
    if (st == ST_OK) {
        uint64_t fr = key->curve->fr_bytes;
        *out = (struct circuit_shape){.variables = key->n_vars,
                                      .publics = key->n_public,
                                      .constraints = z.constraints,
                                      .domain = key->domain,
                                      .w_bytes = key->n_vars * fr,
                                      .a_bytes = key->domain * fr,
                                      .b_bytes = key->domain * fr,
                                      .memory = key->n_vars * fr + SYNTHESIS_OVERHEAD};
        snprintf(out->curve, sizeof out->curve, "%s", key->curve->name);
    }
    zkey_close(&z);
    return st;
}
