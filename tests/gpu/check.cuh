/* check.h for CUDA sources, and timing. */
#ifndef PINION_TESTS_GPU_CHECK_CUH
#define PINION_TESTS_GPU_CHECK_CUH

#include <cuda_runtime.h>

#include "tests/gpu/check.h"

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
