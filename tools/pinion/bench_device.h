/* Benchmarks on a CUDA device: everything resident but, for sums and transforms, the result of a
 * sum, which ends on the host. Only where PINION_WITH_CUDA is defined. */
#ifndef PINION_TOOLS_BENCH_DEVICE_H
#define PINION_TOOLS_BENCH_DEVICE_H

#include "tools/pinion/bench.h"

/* Sums over n stored bases, whose multiples are stored as far as the device has room; each result
 * must be expected. */
enum status bench_device_msm(const struct bench_job *job, const uint8_t *bases,
                             const uint8_t *scalars, size_t n, const uint8_t *expected,
                             struct bench_result *out) MUST_CHECK;

/* Forward transforms of input, n = 2^log2 elements; the inverse must bring it back. */
enum status bench_device_ntt(const struct bench_job *job, const uint8_t *input,
                             struct bench_result *out) MUST_CHECK;

/* Copies of so many bytes from the job's source, timed by the host's clock from the first call to
 * the last byte on the device. */
enum status bench_device_copy(const struct bench_job *job, size_t bytes,
                              struct bench_result *out) MUST_CHECK;

#endif
