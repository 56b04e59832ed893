/* Any text as a proof; one that reads is written, and what was written reads back the same. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "common/file/proof_json.h"

static void round_trip(const struct groth16_proof *proof)
{
    struct groth16_proof back;
    size_t q = proof->curve->fq_bytes;
    char *text;
    CHECK(proof_json_format(proof, &text) == ST_OK);
    struct file_map map = fuzz_map((const uint8_t *)text, strlen(text));
    CHECK(proof_json_parse(&map, proof->curve, &back) == ST_OK);
    CHECK(memcmp(back.a, proof->a, 2 * q) == 0);
    CHECK(memcmp(back.b, proof->b, 4 * q) == 0);
    CHECK(memcmp(back.c, proof->c, 2 * q) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const curves[] = {"bn254", "bls12_381"};
    for (size_t i = 0; i < 2; i++) {
        struct groth16_proof proof;
        struct file_map map = fuzz_map(data, size);
        enum status st = proof_json_parse(&map, curve_by_name(curves[i]), &proof);
        if (st == ST_OK)
            round_trip(&proof);
        else
            fuzz_check_refusal(st);
    }
    return 0;
}
