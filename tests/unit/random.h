/* Reproducible random bytes for tests: splitmix64 (Steele, Lea, Flood 2014). Biased values have
 * long runs of equal bits, where carries go wrong. */
#ifndef PINION_TESTS_RANDOM_H
#define PINION_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t random_u64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* A word of a few long runs of zeros and ones. */
static inline uint64_t random_biased_u64(uint64_t *state)
{
    uint64_t v = 0, r = random_u64(state);
    unsigned runs = r % 4;
    for (unsigned i = 0; i <= runs; i++, r >>= 8)
        v ^= ~(uint64_t)0 << (r >> 8) % 64;
    return r & 1 << 20 ? v : random_u64(state);
}

#endif
