/* G2: the points of this instance's sextic twist over Fq2. Functions: see group.inc. */
#ifndef PINION_EC_G2_H
#define PINION_EC_G2_H

#include "common/ff/fq2.h"

#define GROUP g2
#define COORD fq2
#define GROUP_B                                                                                    \
    {                                                                                              \
        {{CURVE_PARAM(FQ_B2_C0)}},                                                                 \
        {                                                                                          \
            {                                                                                      \
                CURVE_PARAM(FQ_B2_C1)                                                              \
            }                                                                                      \
        }                                                                                          \
    }
#define GROUP_X                                                                                    \
    {                                                                                              \
        {{CURVE_PARAM(FQ_G2_X_C0)}},                                                               \
        {                                                                                          \
            {                                                                                      \
                CURVE_PARAM(FQ_G2_X_C1)                                                            \
            }                                                                                      \
        }                                                                                          \
    }
#define GROUP_Y                                                                                    \
    {                                                                                              \
        {{CURVE_PARAM(FQ_G2_Y_C0)}},                                                               \
        {                                                                                          \
            {                                                                                      \
                CURVE_PARAM(FQ_G2_Y_C1)                                                            \
            }                                                                                      \
        }                                                                                          \
    }
#include "common/ec/group.inc"

#endif
