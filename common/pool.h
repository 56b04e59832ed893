/* A pool of worker threads for data-parallel loops.
 *
 * One pool a process, made by its main and handed down. One caller at a time: pool_run returns when
 * all of its tasks have run, and a task must not call pool_run. The caller works too, so a pool of
 * one thread starts none. */
#ifndef PINION_POOL_H
#define PINION_POOL_H

#include <stddef.h>

#include "common/status.h"

struct pool;

/* Threads this process may use: the smallest of its CPU affinity and its cgroup's cpu.max quota
 * (v2; v1's cpu.cfs_quota_us), rounded up; at least 1. */
unsigned pool_available_threads(void);

/* threads = 0 means pool_available_threads(). Fails with ST_RESOURCE. Workers block all
 * signals but those that they cause themselves, such as SIGBUS. */
enum status pool_create(struct pool **out, unsigned threads) MUST_CHECK;
void pool_destroy(struct pool *pool);

/* Number of threads that run tasks, the caller included. */
unsigned pool_threads(const struct pool *pool);

/* Calls task(arg, i, thread) once for every i < n, in any order, on any thread; thread <
 * pool_threads() and no two calls with the same thread overlap, so it may index per-thread scratch.
 * Everything written by the tasks is visible after. */
void pool_run(struct pool *pool, size_t n, void (*task)(void *arg, size_t i, unsigned thread),
              void *arg);

/* The part [*begin, *end) of n items that chunk i of count owns: equal to one. */
static inline void pool_chunk(size_t n, size_t i, size_t count, size_t *begin, size_t *end)
{
    size_t q = n / count, r = n % count;
    *begin = i * q + (i < r ? i : r);
    *end = *begin + q + (i < r ? 1 : 0);
}

#endif
