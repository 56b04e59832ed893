/* Any bytes as a proving key; a key that opens is checked point by point, and its verification key
 * derived. */
#include "common/groth16/ops.h"
#include "tests/fuzz/fuzz.h"
#include "tests/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zkey z;
    struct file_map map = fuzz_map(data, size);
    enum status st = zkey_parse(&z, &map, NULL);
    if (st != ST_OK) {
        fuzz_check_refusal(st);
        return 0;
    }
    walk_zkey(&z);
    return 0;
}
