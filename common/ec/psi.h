/* The endomorphism psi of the twist: to the curve over Fq12, its q-power Frobenius, and back. On G2
 * it multiplies by q, and everywhere psi^2 - t psi + q = 0, t the trace of the curve over Fq. */
#ifndef PINION_EC_PSI_H
#define PINION_EC_PSI_H

#include "common/ec/g2.h"

/* Infinity goes to infinity. */
static inline void g2_psi(g2_affine *r, const g2_affine *q)
{
    static const fq2 px = {{{CURVE_PARAM(FQ_PSI_X_C0)}}, {{CURVE_PARAM(FQ_PSI_X_C1)}}};
    static const fq2 py = {{{CURVE_PARAM(FQ_PSI_Y_C0)}}, {{CURVE_PARAM(FQ_PSI_Y_C1)}}};
    fq2_conjugate(&r->x, &q->x);
    fq2_mul(&r->x, &r->x, &px);
    fq2_conjugate(&r->y, &q->y);
    fq2_mul(&r->y, &r->y, &py);
}

#endif
