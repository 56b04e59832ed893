/* Batched additions agree with single ones: for every pair of points of the toy curves, and for all
 * kinds of operands of the others, at every fill of a batch. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/ec/batch_add.h"
#include "common/ff/fr.h"
#include "tests/unit/random.h"

/* Multiples of the generator, from 0 times on: all of the subgroup on a toy curve. On the others
 * few, so that equal and opposite ones meet. */
static size_t points_count(void)
{
    return FR_BITS < 10 ? (size_t)fr_modulus.l[0] : 24;
}

#define GROUP g1
#define COORD fq
#include "tests/unit/batch_add_cases.inc"

#define GROUP g2
#define COORD fq2
#include "tests/unit/batch_add_cases.inc"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_every_pair),  cmocka_unit_test(g2_every_pair),
        cmocka_unit_test(g1_every_fill),  cmocka_unit_test(g2_every_fill),
        cmocka_unit_test(g1_any_garbage), cmocka_unit_test(g2_any_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
