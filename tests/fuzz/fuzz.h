/* What every fuzz target defines; libFuzzer or driver.c calls it. */
#ifndef PINION_TESTS_FUZZ_H
#define PINION_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/file/map.h"

/* Returns 0: keep the input if it reached new code. Aborts on a finding. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where the seeds of the targets come from, for those that need more than their input. */
#ifndef PINION_TEST_DATA
#define PINION_TEST_DATA "tests/data"
#endif

static inline struct file_map fuzz_map(const uint8_t *data, size_t size)
{
    status_clear();
    return (struct file_map){"input", data, size};
}

/* A refusal is bad input or, for values, a negative answer; it has a message of one line that names
 * the file. */
static inline void fuzz_check_refusal(enum status st)
{
    CHECK(st == ST_INPUT || st == ST_INVALID);
    CHECK(strncmp(status_message(), "input: ", 7) == 0);
    CHECK(!strchr(status_message(), '\n'));
}

#endif
