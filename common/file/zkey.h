/* snarkjs' Groth16 proving key, memory-mapped. */
#ifndef PINION_FILE_ZKEY_H
#define PINION_FILE_ZKEY_H

#include "common/file/map.h"
#include "common/groth16/key.h"

struct zkey {
    struct file_map map;
    struct groth16_key key; /* borrows from map */
    uint32_t constraints;   /* of the circuit; derived from the public rows of section 4 */
    uint32_t contributions; /* 0: the key was never contributed to */
};

/* Opens and validates every count against every length, every coefficient's indices; no point is
 * checked (key_check does). ST_INPUT names path, section and reason. */
enum status zkey_open(struct zkey *out, const char *path, struct pool *pool) MUST_CHECK;
void zkey_close(struct zkey *z);

/* Writes a key, atomically. constraints as in the circuit. Sections in snarkjs' order; no
 * contributions. */
enum status zkey_write(const char *path, const struct groth16_key *key) MUST_CHECK;

#endif
