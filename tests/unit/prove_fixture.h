/* For tests of proving: the circuits of tests/data, and slices filled from them in an arena that
 * only this process has. Whatever goes wrong fails the test. */
#ifndef PINION_TESTS_PROVE_FIXTURE_H
#define PINION_TESTS_PROVE_FIXTURE_H

#include "shm/arena.h"
#include "shm/slice.h"
#include "synth/synthesis.h"

#ifndef PINION_TEST_DATA
#define PINION_TEST_DATA "tests/data"
#endif
#define FIXTURE_FILE(curve, name, file) PINION_TEST_DATA "/circom/" curve "/" name "/" file

enum { PROVE_PAGE = 4096 };

struct prove_fixture {
    struct pool *pool;
    struct arena *arena;
    struct arena_map map; /* all of it, read-only */
    uint64_t next;        /* first byte not used */
};

void prove_fixture_init(struct prove_fixture *f);
void prove_fixture_fini(struct prove_fixture *f);

/* A slice of scattered pages with the vectors of that witness; generation: that of its record. */
void prove_fixture_slice(struct prove_fixture *f, struct slice_record *out, const char *zkey,
                         const char *wtns, uint32_t generation);

/* Changes a byte of the slice's w at that offset. */
void prove_fixture_spoil(struct prove_fixture *f, const struct slice_record *r, uint64_t offset);

/* Whether proof (a snarkjs text) and publics verify under the key of that zkey. */
bool prove_fixture_verifies(const char *zkey, const char *proof, const char *publics);

#endif
