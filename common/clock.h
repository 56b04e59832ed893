/* Time that only goes forward, for durations. */
#ifndef PINION_CLOCK_H
#define PINION_CLOCK_H

#include <time.h>

/* Milliseconds since some fixed moment. */
static inline double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

#endif
