/* snarkjs' Groth16 proving key, memory-mapped. */
#ifndef PINION_FILE_ZKEY_H
#define PINION_FILE_ZKEY_H

#include "common/file/map.h"
#include "common/groth16/key.h"
#include "common/pool.h"

struct zkey {
    struct file_map map;
    struct groth16_key key; /* borrows from map */
    uint32_t constraints;   /* of the circuit; derived from the public rows of section 4 */
    uint32_t contributions; /* 0: the key was never contributed to */
};

/* Opens and validates every count against every length and every coefficient's indices; no point
 * and no coefficient's value is checked (key_check looks at points, values are reduced when used).
 * All ten sections must be there, and exactly as long as the header implies. pool may be NULL.
 * Time: one pass over section 4. ST_INPUT names path, section and reason. */
enum status zkey_open(struct zkey *out, const char *path, struct pool *pool) MUST_CHECK;
void zkey_close(struct zkey *z);

/* zkey_open for bytes that are in memory already. Borrows them: no zkey_close. */
enum status zkey_parse(struct zkey *out, const struct file_map *map, struct pool *pool) MUST_CHECK;

/* Writes a key, atomically, as snarkjs writes a fresh one: same order of sections, no
 * contributions; the hash of the circuit, which nothing reads, is zero. ST_INPUT: more coefficients
 * than the format can count; else as output_open and output_commit fail. */
enum status zkey_write(const char *path, const struct groth16_key *key) MUST_CHECK;

#endif
