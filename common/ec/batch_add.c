#include "common/ec/batch_add.h"

#define GROUP g1
#define COORD fq
#include "common/ec/batch_add.inc"

#define GROUP g2
#define COORD fq2
#include "common/ec/batch_add.inc"
