/* Multi-scalar multiplication on the device: r = sum of k[i] P[i], G1 and G2 of both curves.
 *
 * A plan (struct cuda_msm) owns the bases of one query in device memory, with as many of their
 * multiples as its budget allows; it is made once and serves any number of sums. A sum runs on a
 * stream, in a workspace of the caller's: nothing is allocated, nothing waits for the host, no
 * result of the device decides what is launched. Sums of one plan may run at the same time in
 * different workspaces.
 *
 * Threads: a plan is immutable once made; create and destroy with the device current. Failures:
 * ST_RESOURCE, no device memory; ST_INTERNAL, a launch failed. Points are stored affine points as
 * in common/ec/group.inc (Montgomery, infinity all zero), so results are those of common/ec/msm.h
 * to the bit. */
#ifndef PINION_CUDA_MSM_H
#define PINION_CUDA_MSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "common/curve.h"
#include "common/groth16/ops.h"
#include "common/status.h"

struct CUstream_st; /* cudaStream_t */
struct cuda_msm;

struct cuda_msm_shape {
    enum curve_id curve; /* CURVE_BN254 or CURVE_BLS12_381 */
    enum msm_group group;
    uint64_t n;           /* bases, 1 ... 2^30 */
    uint64_t table_bytes; /* device memory for bases and multiples; less than one multiple of each
                             counts as one: no table */
    uint64_t workspace_bytes; /* wish for the workspace: longer sums are cut into passes; 0: none */
    unsigned width;           /* bits of a digit, 8 ... 24; 0: the best */
    unsigned affine_levels;   /* after which sums are not affine any more, 1 ... 24; 0: the best */
};

/* Device memory that a plan of this shape will own. */
uint64_t cuda_msm_plan_bytes(const struct cuda_msm_shape *shape);

/* Bytes of workspace that a sum over such a plan needs: device memory, 256-byte aligned. May exceed
 * the wish, which never goes below a pass of 2^16 terms. */
uint64_t cuda_msm_workspace_bytes(const struct cuda_msm_shape *shape);

/* Makes the plan from n stored points, in host or device memory; they are not needed afterwards.
 * Waits for the device. Allocates plan_bytes and, while it runs, workspace for the multiples.
 * Points that are not on the curve, or of another order, give unspecified sums, nothing worse. */
enum status cuda_msm_create(struct cuda_msm **out, const struct cuda_msm_shape *shape,
                            const void *bases, struct CUstream_st *stream) MUST_CHECK;
void cuda_msm_destroy(struct cuda_msm *plan); /* NULL is fine */

/* Enqueues the replacement of the bases of a plan without table by n <= shape.n others, so that
 * bases can be streamed from pinned host memory: sums enqueued later on that stream use them. bases
 * must stay until the stream has passed. */
enum status cuda_msm_load(struct cuda_msm *plan, const void *bases, uint64_t n,
                          struct CUstream_st *stream) MUST_CHECK;

/* Enqueues result = sum of scalars[i] bases[first + i], i < n.
 *
 * scalars  device memory, 16-byte aligned: n canonical integers of 32 little-endian bytes; those
 * not below the group order give an unspecified sum, nothing worse result   one stored point,
 * memory that the device can write (its own, or pinned host), 16-byte aligned. Must not overlap the
 * workspace. */
enum status cuda_msm_launch(const struct cuda_msm *plan, const void *scalars, uint64_t first,
                            uint64_t n, void *workspace, void *result,
                            struct CUstream_st *stream) MUST_CHECK;

/* The same, but waits, and says how long each part took: a line "ms name" for each to text, at most
 * size bytes with the final 0. For benchmarks. */
enum status cuda_msm_profile(const struct cuda_msm *plan, const void *scalars, uint64_t first,
                             uint64_t n, void *workspace, void *result, struct CUstream_st *stream,
                             char *text, size_t size) MUST_CHECK;

/* Enqueues result = sum of count stored points, in memory that the device can read: parts of a sum
 * whose bases came in pieces. */
enum status cuda_msm_add_up(enum curve_id curve, enum msm_group group, const void *points,
                            uint64_t count, void *result, struct CUstream_st *stream) MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
