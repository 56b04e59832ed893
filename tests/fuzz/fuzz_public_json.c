/* Any text as public signals, as many as it happens to have up to three; what reads is written, and
 * reads back the same. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "common/file/proof_json.h"

static void round_trip(const struct curve *curve, const uint8_t *values, uint32_t n)
{
    uint8_t *back;
    char *text;
    CHECK(public_json_format(curve, values, n, &text) == ST_OK);
    struct file_map map = fuzz_map((const uint8_t *)text, strlen(text));
    CHECK(public_json_parse(&map, curve, n, &back) == ST_OK);
    CHECK(memcmp(back, values, n * curve->fr_bytes) == 0);
    free(back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct curve *curve = curve_by_name("bn254");
    for (uint32_t n = 0; n <= 3; n++) {
        uint8_t *values;
        struct file_map map = fuzz_map(data, size);
        enum status st = public_json_parse(&map, curve, n, &values);
        if (st != ST_OK) {
            fuzz_check_refusal(st);
            continue;
        }
        round_trip(curve, values, n);
        free(values);
    }
    return 0;
}
