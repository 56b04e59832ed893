/* What the programs that run on a device share, C and CUDA: they must start on a machine that has
 * nothing but the driver, so no test library. The first failure ends the program with 1. */
#ifndef PINION_TESTS_GPU_CHECK_H
#define PINION_TESTS_GPU_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "common/status.h"
#include "tests/unit/random.h"

#ifdef __cplusplus
}
#endif

enum { EXIT_SKIPPED = 77 };

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition,            \
                    status_message());                                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define REQUIRE_OK(call) REQUIRE((call) == ST_OK)

#define REQUIRE_CUDA(call)                                                                         \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: failed: %s: %s\n", __FILE__, __LINE__, #call,                  \
                    cudaGetErrorString(error_));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Ends the program as skipped where there is no device. */
static inline void require_device(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return;
    puts("skipped: no CUDA device");
    exit(EXIT_SKIPPED);
}

#endif
