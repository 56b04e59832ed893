/* Both prime fields of an instance against schoolbook arithmetic: all pairs of a toy field, biased
 * random values of a real one. */
#include "tests/unit/test.h"

#include "common/ff/fq.h"
#include "common/ff/fr.h"
#include "tests/unit/random.h"

static const uint64_t seed = 20250704;

#define FIELD fr
#define FIELD_LIMBS CURVE_PARAM(FR_LIMBS)
#include "tests/unit/field_checks.inc"

#define FIELD fq
#define FIELD_LIMBS CURVE_PARAM(FQ_LIMBS)
#include "tests/unit/field_checks.inc"

#define FIELD_TESTS(field)                                                                         \
    cmocka_unit_test(field##_check_properties), cmocka_unit_test(field##_check_any_integer),       \
        cmocka_unit_test(field##_check_powers), cmocka_unit_test(field##_check_batch_inversion)

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        FIELD_TESTS(fr),
        FIELD_TESTS(fq),
#if CURVE_PARAM(FQ_LIMBS) == 1
        cmocka_unit_test(fr_check_exhaustive),
        cmocka_unit_test(fq_check_exhaustive),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
