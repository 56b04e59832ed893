/* The writer's half of the ledger: only the coordinator, from one thread, for as long as it holds
 * the writer's lock.
 *
 * Crash ordering, slot:
 *   grant    the word is {FREE, generation g}; fields; then {WRITING, ..., g}. Dying before the
 *            word: the slot is free, its fields mean nothing.
 *   publish  edition + 1; the time and, from SUBMITTED to COPYING only, epoch and device; then the
 *            new word. Dying before the word: the old state holds; epoch and device mean nothing
 *            in SUBMITTED, and the time is that of an attempt.
 *   free     {FREE, generation g + 1}: from this store on every handle of g is stale and the
 *            extents are free. Nothing else is written.
 * Client:
 *   add      fields; then {LIVE, role, generation + 1}.
 *   sequence one word, before the effect of the message that carried it.
 *   remove   after every slot that names it was freed or handed on; then {FREE}.
 *
 * The caller keeps its free map after the ledger: extents count as free once the word that frees
 * them is stored, never before. */
#ifndef PINION_SHM_LEDGER_WRITE_H
#define PINION_SHM_LEDGER_WRITE_H

#include "shm/ledger.h"

/* ---- the lock ---- */

struct ledger_lock; /* an exclusive lock on a file, held until release or the process's end */

/* Locks the file at path (made, 0644, if it is not there) and writes this process's pid in it.
 * ST_RESOURCE when another process holds it, naming its pid. The file stays when released. */
enum status ledger_lock_acquire(struct ledger_lock **out, const char *path) MUST_CHECK;
void ledger_lock_release(struct ledger_lock *lock);

/* ---- the object ---- */

/* Makes the object, all free, whatever stood under the name before (which must be this user's).
 * arena is copied. ST_RESOURCE without room, naming it; ST_INPUT for counts out of range. lock
 * proves that no other writer lives. */
enum status ledger_create(struct ledger **out, const struct ledger_lock *lock, const char *name,
                          uint32_t clients, uint32_t slots,
                          const struct arena_desc *arena) MUST_CHECK;

/* Attaches to the object that an earlier coordinator of this boot left, to go on with it. Trusts
 * no byte: every record passes slice_check, no two held extents overlap, every client that a slot
 * names exists. The caller then decides over each slot (its states are those of the crash).
 *   ST_NO_DAEMON  nothing to go on with: none, not complete, of another boot, or of another
 *                 layout version that no live process uses; make a new one;
 *   ST_RESOURCE   another layout version that live processes use, naming their pids; another
 *                 user's; no permission;
 *   ST_INPUT      damaged, saying where and what to do. */
enum status ledger_adopt(struct ledger **out, const struct ledger_lock *lock,
                         const char *name) MUST_CHECK;

/* Removes the name. Views stay usable until detached. An absent one is fine. */
enum status ledger_unlink(const char *name) MUST_CHECK;

/* ---- slots ---- */

/* Publishes a new slice: takes a free slot, and of *r everything that is fixed from grant to FREE,
 * and the flags; its client is `client`, its state WRITING. ST_RESOURCE when no slot is free;
 * ST_INTERNAL when r does not pass slice_check or the client is not live. */
enum status ledger_grant(struct ledger *l, struct handle *out, uint16_t client,
                         const struct slice_record *r) MUST_CHECK;

/* What a new word says, whole. */
struct publication {
    enum slot_state state;
    uint8_t flags;   /* SLOT_NO_ABC is added for LEAN and kept after it, whatever is asked */
    uint16_t client; /* who holds it now, or CLIENT_NONE */
    uint64_t epoch;  /* not 0; used only when a daemon takes it: SUBMITTED to COPYING */
    uint32_t device; /* the same */
};

/* Publishes another state of a granted slice. ST_STALE when h is; ST_INTERNAL when the step is not
 * slice_may_become's, or ends in FREE (ledger_free), or names no known client. */
enum status ledger_publish(struct ledger *l, struct handle h,
                           const struct publication *p) MUST_CHECK;

/* Makes the slot free and every handle of it stale. ST_STALE when h already is. */
enum status ledger_free(struct ledger *l, struct handle h) MUST_CHECK;

/* ---- clients ---- */

/* Adds a live client. ST_RESOURCE when the table is full. ST_INTERNAL for pid <= 0 or an
 * incarnation that is 0 or already in the table. */
enum status ledger_client_add(struct ledger *l, uint16_t *index, enum client_role role, int32_t pid,
                              uint64_t start_time, uint64_t incarnation) MUST_CHECK;

/* Records the highest sequence number taken; to be called before the message has any effect. The
 * client exists and sequence is not below the last one: broken invariants otherwise. */
void ledger_client_sequence(struct ledger *l, uint16_t index, uint64_t sequence);

/* Marks a live client as dying. */
void ledger_client_dying(struct ledger *l, uint16_t index);

/* Forgets a client. No slot names it any more: a broken invariant otherwise. */
void ledger_client_remove(struct ledger *l, uint16_t index);

#endif
