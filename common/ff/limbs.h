/* Multi-precision steps on 64-bit limbs, little-endian, and their form in memory. Any thread; no
 * state. */
#ifndef PINION_FF_LIMBS_H
#define PINION_FF_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* *out = a + b + carry; returns the carry out. */
static inline unsigned char limb_add(unsigned char carry, uint64_t a, uint64_t b, uint64_t *out)
{
    unsigned __int128 s = (unsigned __int128)a + b + carry;
    *out = (uint64_t)s;
    return (unsigned char)(s >> 64);
}

/* *out = a - b - borrow; returns the borrow out. */
static inline unsigned char limb_sub(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *out)
{
    unsigned __int128 d = (unsigned __int128)a - b - borrow;
    *out = (uint64_t)d;
    return (unsigned char)(d >> 64 & 1);
}

/* All ones for bit = 1, zero for 0, such that the compiler cannot make a branch of what follows: it
 * would be mispredicted half of the time. */
static inline uint64_t limb_mask(unsigned char bit)
{
    uint64_t mask = 0 - (uint64_t)bit;
    __asm__("" : "+r"(mask));
    return mask;
}

/* The length in bits of an integer of n limbs; 0 for zero. */
static inline size_t limbs_bits(const uint64_t *l, size_t n)
{
    while (n > 0 && l[n - 1] == 0)
        n--;
    return n == 0 ? 0 : 64 * n - (size_t)__builtin_clzll(l[n - 1]);
}

/* n limbs from or to 8 * n little-endian bytes of any alignment. */
static inline void limbs_load(uint64_t *l, const uint8_t *bytes, size_t n)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Pinion maps little-endian files directly and needs a little-endian machine"
#endif
    memcpy(l, bytes, 8 * n);
}

static inline void limbs_store(uint8_t *bytes, const uint64_t *l, size_t n)
{
    memcpy(bytes, l, 8 * n);
}

#endif
