/* The generators have the group order, and the group law agrees with itself. */
#include "tests/unit/test.h"

#include "common/ec/g1.h"
#include "common/ec/g2.h"
#include "common/ff/fr.h"

static void generator_g1(void **state)
{
    (void)state;
    g1 p, q;
    assert_true(g1_affine_is_on_curve(&g1_generator));
    g1_from_affine(&p, &g1_generator);
    g1_mul(&q, &p, fr_modulus.l, FR_LIMBS);
    assert_true(g1_is_infinity(&q));
}

static void generator_g2(void **state)
{
    (void)state;
    g2 p, q;
    assert_true(g2_affine_is_on_curve(&g2_generator));
    g2_from_affine(&p, &g2_generator);
    g2_mul(&q, &p, fr_modulus.l, FR_LIMBS);
    assert_true(g2_is_infinity(&q));
}

static void multiples_agree(void **state)
{
    (void)state;
    g1 sum;
    g1_set_infinity(&sum);
    for (uint64_t k = 0; k < 300; k++) {
        g1 p, q;
        g1_affine a;
        g1_from_affine(&p, &g1_generator);
        g1_mul(&q, &p, &k, 1);
        assert_true(g1_equal(&q, &sum));
        g1_to_affine(&a, &sum);
        assert_true(g1_affine_is_on_curve(&a));
        g1_add_affine(&sum, &sum, &g1_generator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_g1),
        cmocka_unit_test(generator_g2),
        cmocka_unit_test(multiples_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
