/* SHA-256 (FIPS 180-4), for naming contents: requests, uploads, keys. */
#ifndef PINION_SHA256_H
#define PINION_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /* taken so far */
    uint8_t block[64];
};

void sha256_init(struct sha256 *h);
void sha256_update(struct sha256 *h, const void *bytes, size_t len);
/* The digest of everything taken. h is used up. */
void sha256_final(struct sha256 *h, uint8_t out[32]);

#endif
