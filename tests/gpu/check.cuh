/* What the programs that run on a device share: they must start on a machine that has nothing but
 * the driver, so no test library. The first failure ends the program with 1. */
#ifndef PINION_TESTS_GPU_CHECK_CUH
#define PINION_TESTS_GPU_CHECK_CUH

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

extern "C" {
#include "common/status.h"
#include "tests/unit/random.h"
}

enum { EXIT_SKIPPED = 77 };

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition,       \
                         status_message());                                                        \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

#define REQUIRE_OK(call) REQUIRE((call) == ST_OK)

#define REQUIRE_CUDA(call)                                                                         \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: failed: %s: %s\n", __FILE__, __LINE__, #call,             \
                         cudaGetErrorString(error_));                                              \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* Ends the program as skipped where there is no device. */
static inline void require_device()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return;
    std::puts("skipped: no CUDA device");
    std::exit(EXIT_SKIPPED);
}

/* The median time of what run enqueues on the default stream, in milliseconds. */
template <class Run>
static inline float median_ms(int repetitions, Run run)
{
    enum { MOST = 64 };
    float times[MOST];
    int n = repetitions < MOST ? repetitions : (int)MOST;
    cudaEvent_t begin, end;
    REQUIRE_CUDA(cudaEventCreate(&begin));
    REQUIRE_CUDA(cudaEventCreate(&end));
    run();
    for (int i = 0; i < n; i++) {
        REQUIRE_CUDA(cudaEventRecord(begin));
        run();
        REQUIRE_CUDA(cudaEventRecord(end));
        REQUIRE_CUDA(cudaEventSynchronize(end));
        float ms;
        REQUIRE_CUDA(cudaEventElapsedTime(&ms, begin, end));
        int at = i;
        for (; at > 0 && times[at - 1] > ms; at--)
            times[at] = times[at - 1];
        times[at] = ms;
    }
    REQUIRE_CUDA(cudaEventDestroy(begin));
    REQUIRE_CUDA(cudaEventDestroy(end));
    return times[n / 2];
}

#endif
