/* The host's compilation of the device arithmetic of one instance, as C can call it. Operands are
 * the C types fr, fq, fq2 of the instance, as bytes. */
#ifndef PINION_TESTS_CUDA_TWIN_H
#define PINION_TESTS_CUDA_TWIN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum twin_field { TWIN_FR, TWIN_FQ, TWIN_FQ2 };

enum twin_op {
    TWIN_ADD,
    TWIN_SUB,
    TWIN_MUL,
    TWIN_DBL, /* from here on b is not read */
    TWIN_NEG,
    TWIN_SQR,
    TWIN_INV,
    TWIN_FROM_CANONICAL,
    TWIN_TO_CANONICAL,
    TWIN_OPS
};

/* r = op(a, b). */
void twin_compute(enum twin_field field, enum twin_op op, void *r, const void *a, const void *b);

/* r = a b + c d; not for TWIN_FQ2. Factors at most p. */
void twin_mul_add(enum twin_field field, void *r, const void *a, const void *b, const void *c,
                  const void *d);

/* In fr. r = op(a, b) for lazy a (and b, for sums) below 2p; b of a product is reduced and goes
 * through shoup_prepare. False if the result is not below 2p; it is then reduced. */
enum twin_lazy { TWIN_LAZY_MUL, TWIN_LAZY_ADD, TWIN_LAZY_SUB };
bool twin_lazy(enum twin_lazy op, void *r, const void *a, const void *b);

/* bit 0: zero, bit 1: equal, bit 2: a reduced (always set for TWIN_FQ2). */
unsigned twin_test(enum twin_field field, const void *a, const void *b);

#ifdef __cplusplus
}
#endif

#endif
