/* CUDA devices as the C code sees them: choice, memory, and what went wrong.
 *
 * Every failure of the CUDA runtime becomes a status where it is met: ST_RESOURCE for no device, no
 * usable driver and no memory; ST_INTERNAL for anything else, after which device_lost() may be
 * true: then the process cannot use the device any more and everything in it is gone. Any thread;
 * a device is chosen per thread. */
#ifndef PINION_CUDA_DEVICE_H
#define PINION_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "common/status.h"

enum { DEVICE_NAME_BYTES = 48 };

struct device {
    int index;
    char name[DEVICE_NAME_BYTES];
    unsigned processors;       /* streaming multiprocessors */
    uint64_t memory, l2_bytes; /* memory: all of it */
};

/* How many there are; 0 without a usable driver. */
int device_count(void);

/* Device index, ready for use: its context is made and a kernel that must give a known answer has
 * run. The calling thread's device from now on. */
enum status device_open(struct device *out, int index) MUST_CHECK;

/* The calling thread uses device index, which has been opened. */
enum status device_use(int index) MUST_CHECK;

/* Bytes that are free at the moment. */
enum status device_free_memory(uint64_t *out) MUST_CHECK;

/* A block of device memory, 256-byte aligned; what names it in the message. Zero bytes give NULL.
 * Debug builds fill it with a pattern. */
enum status device_alloc(void **out, size_t bytes, const char *what) MUST_CHECK;
void device_free(void *block); /* NULL is fine */

/* A block of pinned host memory. */
enum status device_host_alloc(void **out, size_t bytes, const char *what) MUST_CHECK;
void device_host_free(void *block);

/* Device bytes that device_alloc has given out and device_free has not got back; all devices. */
uint64_t device_allocated(void);

/* Whether a device has failed for good, for this process. */
bool device_lost(void);

#ifdef __cplusplus
}
#endif

#endif
