/* The whole tables of G1 and G2 of a toy curve: every sum, difference, double and multiple, from
 * operands with denominators, against chord and tangent. */
#include "tests/unit/test.h"

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/ff/fr.h"

enum { ORDER_LIMIT = 256 };

#define GROUP g1
#define COORD fq
#include "tests/unit/group_checks.inc"

#define GROUP g2
#define COORD fq2
#include "tests/unit/group_checks.inc"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_table),
        cmocka_unit_test(g2_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
