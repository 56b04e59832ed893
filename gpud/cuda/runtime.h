/* How C and CUDA sources that call the CUDA runtime report its failures. */
#ifndef PINION_CUDA_RUNTIME_H
#define PINION_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>

#include "gpud/cuda/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records that call, of file:line, gave error, and returns the status it means. Finds out whether
 * the device is lost. */
enum status device_failed(cudaError_t error, const char *call, const char *file,
                          int line) MUST_CHECK;

/* Returns from the calling function when the call fails. */
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_error_ = (call);                                                          \
        if (cuda_error_ != cudaSuccess)                                                            \
            return device_failed(cuda_error_, #call, __FILE__, __LINE__);                          \
    } while (0)

/* After a launch: kernel<<<...>>>(...); CUDA_TRY_LAUNCH("kernel"). */
#define CUDA_TRY_LAUNCH(name)                                                                      \
    do {                                                                                           \
        cudaError_t cuda_error_ = cudaGetLastError();                                              \
        if (cuda_error_ != cudaSuccess)                                                            \
            return device_failed(cuda_error_, name, __FILE__, __LINE__);                           \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
