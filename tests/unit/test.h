/* What every unit test includes: cmocka in its required order. */
#ifndef PINION_TESTS_TEST_H
#define PINION_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* cmocka's; ours is in common/status.h */

#endif
