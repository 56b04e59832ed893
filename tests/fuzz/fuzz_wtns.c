/* Any bytes as a witness. */
#include "tests/fuzz/fuzz.h"
#include "tests/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wtns w;
    struct file_map map = fuzz_map(data, size);
    enum status st = wtns_parse(&w, &map);
    if (st == ST_OK)
        walk_wtns(&w);
    else
        fuzz_check_refusal(st);
    return 0;
}
