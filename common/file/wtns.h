/* snarkjs' witness file, memory-mapped. */
#ifndef PINION_FILE_WTNS_H
#define PINION_FILE_WTNS_H

#include "common/curve.h"
#include "common/file/map.h"

struct wtns {
    struct file_map map;
    const struct curve *curve;
    uint32_t n;            /* values; at least 1 */
    const uint8_t *values; /* n canonical integers, curve->fr_bytes each, any alignment; borrows
                            * from map */
};

/* ST_INPUT names path, section and reason: among others a value that is not below the group order
 * (its index, not the value: witness data is never shown), and a value 0 that is not 1. */
enum status wtns_open(struct wtns *out, const char *path) MUST_CHECK;
void wtns_close(struct wtns *w);

/* wtns_open for bytes that are in memory already. Borrows them: no wtns_close. */
enum status wtns_parse(struct wtns *out, const struct file_map *map) MUST_CHECK;

/* ST_INPUT unless the witness has the curve and the length of the key, both named. */
struct groth16_key;
enum status wtns_check_fits(const struct wtns *w, const struct groth16_key *key) MUST_CHECK;

#endif
