/* Any text as a verification key; with one that reads, a proof that cannot be valid is verified. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "common/file/proof_json.h"
#include "common/groth16/groth16.h"

static void verify(const struct groth16_vkey *vk)
{
    /* all points at infinity, all signals zero */
    const struct groth16_proof proof = {.curve = vk->curve};
    uint8_t *publics = calloc(vk->n_public + 1, vk->curve->fr_bytes);
    CHECK(publics != NULL);
    status_clear();
    CHECK(groth16_verify(vk, publics, &proof) == ST_INVALID);
    free(publics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct groth16_vkey vk;
    struct file_map map = fuzz_map(data, size);
    enum status st = vkey_json_parse(&map, &vk);
    if (st != ST_OK) {
        fuzz_check_refusal(st);
        return 0;
    }
    verify(&vk);
    groth16_vkey_fini(&vk);
    return 0;
}
