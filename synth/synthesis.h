/* From a witness to the vectors of a slice, for circuits whose key holds the matrices (zkey).
 *
 * A synthesis is a key, and where there is one the circuit's constraint system; it is read-only
 * once opened, so any thread may use it. */
#ifndef PINION_SYNTH_SYNTHESIS_H
#define PINION_SYNTH_SYNTHESIS_H

#include "common/file/r1cs_file.h"
#include "common/file/wtns.h"
#include "common/file/zkey.h"
#include "common/progress.h"
#include "shm/slice.h"

struct synthesis {
    struct zkey zkey;
    struct r1cs_file r1cs;
    bool has_r1cs;
};

/* r1cs may be NULL. ST_INPUT as zkey_open and r1cs_open, and when the two are not of one circuit.
 * The paths are borrowed until synthesis_close. */
enum status synthesis_open(struct synthesis *out, const char *key, const char *r1cs,
                           struct pool *pool) MUST_CHECK;
void synthesis_close(struct synthesis *s); /* zeroed: nothing happens */

/* ST_INPUT unless the witness has the key's curve and length and satisfies the constraint system,
 * if there is one; names the first constraint that fails. progress may be NULL. */
enum status synthesis_check(const struct synthesis *s, const struct wtns *w, struct pool *pool,
                            struct progress *progress) MUST_CHECK;

/* The sizes of its vectors, and where they lie in a slice of an arena with that page. There is no
 * c: what is proved from a zkey computes it as a product. */
enum status synthesis_plan(const struct synthesis *s, struct slice_plan *out,
                           uint64_t page) MUST_CHECK;

/* Writes w, a and b into a mapped slice laid out as synthesis_plan says. The witness has passed
 * synthesis_check. */
void synthesis_write(const struct synthesis *s, const struct wtns *w, const struct slice_plan *plan,
                     void *slice, struct pool *pool);

#endif
