/* The circuit store: proving keys as jobs use them, in a directory of the coordinator's.
 *
 *   DIR/NAME/key.zkey       0444, a copy: what happens to the original later changes no proof
 *   DIR/NAME/circuit.r1cs   0444, where one was given
 *   DIR/NAME/meta.json      0444, what struct circuit says
 *
 * A circuit appears complete or not at all: it is built in DIR/.NAME~, a name no circuit can have,
 * and renamed. One owner, the coordinator; one thread, but for the copying and checking of a key,
 * which runs on a thread of the store's own. */
#ifndef PINION_SHM_STORE_H
#define PINION_SHM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/job.h"

struct store;

enum { STORE_CURVE_MAX = 15 };

/* What a key's file says of itself. */
struct circuit_shape {
    char curve[STORE_CURVE_MAX + 1];
    uint32_t variables, publics;
    uint64_t constraints, domain;
    uint64_t w_bytes, a_bytes, b_bytes, c_bytes; /* the capacity hint: sizes of a job's vectors */
    uint64_t memory;                             /* working memory of one synthesis, bytes */
};

struct circuit {
    char name[JOB_ID_MAX + 1];
    struct circuit_shape shape;
    uint8_t sha256[32]; /* of the key */
    uint64_t tag;       /* the first 8 bytes of sha256: what a ledger's record says */
    uint64_t key_bytes;
    bool has_r1cs;
};

/* Reads and checks a key, and the constraint system that belongs to it (NULL for none). Runs on the
 * store's thread. ST_INPUT, ST_RESOURCE. store_inspect is the one for real keys. */
typedef enum status store_inspector(struct circuit_shape *out, const char *key, const char *r1cs);
store_inspector store_inspect;

/* Opens DIR (made, 0755, if it is not there) and loads what is in it; leftovers of a broken
 * addition are removed, a damaged circuit is logged and left out. wake(arg) is called, from another
 * thread, when an addition has ended; NULL for nobody. ST_RESOURCE. */
enum status store_open(struct store **out, const char *dir, store_inspector *inspect,
                       void (*wake)(void *arg), void *arg) MUST_CHECK;

/* Breaks off an addition; NULL is fine. */
void store_close(struct store *s);

enum store_progress { STORE_ADDING, STORE_READY };

/* Adds a circuit from absolute paths (r1cs NULL for none), or says how far that has come: to be
 * repeated until STORE_READY or a failure, which is told once. One key at a time: a second addition
 * is STORE_ADDING until it gets its turn by being repeated. ST_INPUT for a malformed name, another
 * key under that name, and whatever is wrong with the files. */
enum status store_add(struct store *s, enum store_progress *progress, const char *name,
                      const char *key, const char *r1cs) MUST_CHECK;

/* Takes in what the thread has finished; true when a circuit became ready. After each wake. */
bool store_poll(struct store *s);

/* NULL when there is none. Borrowed until the next store_poll, store_add or store_remove. */
const struct circuit *store_find(const struct store *s, const char *name);

/* Circuit i by name, NULL beyond the last. Borrowed as above. */
const struct circuit *store_at(const struct store *s, size_t i);

/* Removes it; processes that have its key mapped keep what they have. ST_INPUT when there is none.
 */
enum status store_remove(struct store *s, const char *name) MUST_CHECK;

/* Absolute if DIR is. ST_INTERNAL when size is too small. */
enum status store_key_path(const struct store *s, char *out, size_t size,
                           const char *name) MUST_CHECK;
enum status store_r1cs_path(const struct store *s, char *out, size_t size,
                            const char *name) MUST_CHECK;

#endif
