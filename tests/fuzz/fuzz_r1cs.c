/* Any bytes as a constraint system. */
#include "tests/fuzz/fuzz.h"
#include "tests/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct r1cs_file f;
    struct file_map map = fuzz_map(data, size);
    enum status st = r1cs_parse(&f, &map);
    if (st == ST_OK)
        walk_r1cs(&f.r1cs);
    else
        fuzz_check_refusal(st);
    return 0;
}
