/* G1: the points of this instance's curve over Fq. Functions: see group.inc. */
#ifndef PINION_EC_G1_H
#define PINION_EC_G1_H

#include "common/ff/fq.h"

#define GROUP g1
#define COORD fq
#define GROUP_B                                                                                    \
    {                                                                                              \
        {                                                                                          \
            CURVE_PARAM(FQ_B)                                                                      \
        }                                                                                          \
    }
#define GROUP_X                                                                                    \
    {                                                                                              \
        {                                                                                          \
            CURVE_PARAM(FQ_G1_X)                                                                   \
        }                                                                                          \
    }
#define GROUP_Y                                                                                    \
    {                                                                                              \
        {                                                                                          \
            CURVE_PARAM(FQ_G1_Y)                                                                   \
        }                                                                                          \
    }
#include "common/ec/group.inc"

#endif
