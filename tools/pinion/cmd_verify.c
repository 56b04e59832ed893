#include <stdio.h>
#include <stdlib.h>

#include "common/file/proof_json.h"
#include "common/groth16/groth16.h"
#include "tools/pinion/command.h"

static enum status verify(const struct groth16_vkey *vk, const char *public_path,
                          const char *proof_path)
{
    struct groth16_proof proof;
    uint8_t *publics = NULL;
    enum status st = public_json_read(public_path, vk->curve, vk->n_public, &publics);
    if (st == ST_OK)
        st = proof_json_read(proof_path, vk->curve, &proof);
    if (st == ST_OK)
        st = groth16_verify(vk, publics, &proof);
    free(publics);
    return st;
}

static enum status run(const void *options, char **operands)
{
    (void)options;
    struct groth16_vkey vk = {0};
    enum status st = vkey_json_read(operands[0], &vk);
    if (st == ST_OK)
        st = verify(&vk, operands[1], operands[2]);
    groth16_vkey_fini(&vk);
    if (st == ST_OK || st == ST_INVALID)
        puts(st == ST_OK ? "OK" : "INVALID");
    fflush(stdout); /* the answer before the reason, which main prints; main checks for errors */
    return st;
}

static const struct option_spec options[] = {{0}};

const struct command cmd_verify = {
    .name = "verify",
    .operands = "VKEY PUBLIC PROOF",
    .min_operands = 3,
    .max_operands = 3,
    .summary = "check a proof",
    .about =
        "Checks PROOF of the public values PUBLIC with the verification key VKEY, all snarkjs'\n"
        "JSON. Prints OK and exits with 0; or prints INVALID, says why on standard error and\n"
        "exits with 1. Files that are no such JSON, or of another curve: exit code 3.\n",
    .examples = "  pinion verify verification_key.json public.json proof.json\n",
    .options = options,
    .run = run,
};
