/* What every unit test includes: cmocka in its required order. */
#ifndef PINION_TESTS_TEST_H
#define PINION_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* cmocka's; ours is in common/status.h */

#if PINION_ISA_ADX
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>

/* A processor without these instructions skips the instance before it meets one. */
__attribute__((constructor)) static void skip_without_adx(void)
{
    enum { LEAF = 7, BMI2 = 1 << 8, ADX = 1 << 19 };
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(LEAF, 0, &eax, &ebx, &ecx, &edx) && (ebx & BMI2) && (ebx & ADX))
        return;
    puts("skipped: this processor has no BMI2 or no ADX");
    exit(77);
}
#endif

#endif
