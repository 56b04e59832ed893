/* runtime.h for kernels' sources. */
#ifndef PINION_CUDA_DEVICE_CUH
#define PINION_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include "gpud/cuda/runtime.h"

#endif
