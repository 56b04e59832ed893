/* A key of the tests of the coordinator: a text with its sizes, "w a b memory". */
#ifndef PINION_TESTS_TEST_KEY_H
#define PINION_TESTS_TEST_KEY_H

#include <stdio.h>
#include <stdlib.h>

#include "shm/store.h"

static inline enum status test_key_inspect(struct circuit_shape *out, const char *key,
                                           const char *r1cs)
{
    char text[128] = "";
    FILE *f = fopen(key, "r");
    (void)r1cs;
    char *p = f ? fgets(text, sizeof text, f) : NULL;
    if (f)
        (void)fclose(f);
    if (!p || text[0] < '0' || text[0] > '9')
        return fail(ST_INPUT, "%s: is no key", key);
    *out = (struct circuit_shape){.curve = "bn254", .variables = 1};
    out->w_bytes = strtoull(p, &p, 10);
    out->a_bytes = strtoull(p, &p, 10);
    out->b_bytes = strtoull(p, &p, 10);
    out->memory = strtoull(p, &p, 10);
    return ST_OK;
}

#endif
