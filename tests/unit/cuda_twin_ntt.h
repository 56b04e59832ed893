/* The device's tiled transforms of one instance, run on the host by all threads of a block in turn.
 */
#ifndef PINION_TESTS_CUDA_TWIN_NTT_H
#define PINION_TESTS_CUDA_TWIN_NTT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_TILE_LOG = 10 };

/* a: 2^log2n elements of the instance's fr, reduced, log2n >= TWIN_TILE_LOG; in place. inverse
 * alone: scaled by 1/n. Both: the coset extension. bellman: the other root. False if a value in
 * between is not below 2p, or a place of a tile is used twice. */
bool twin_transform(void *a, unsigned log2n, bool bellman, bool inverse, bool forward);

#ifdef __cplusplus
}
#endif

#endif
