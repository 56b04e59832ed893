/* The ledger: who owns which slice of the arena. This header is for everyone who reads it; the
 * coordinator, its only writer, also includes ledger_write.h.
 *
 * An entry is filled first and becomes true with one store of its word (release). A reader loads
 * the word (acquire), copies the entry, loads the word and the entry's edition again and retries
 * when one moved. There is no lock, and no reader can hold up the writer: a coordinator that dies
 * between any two instructions leaves either the old truth or the new one.
 *
 * Memory orders, in pairs. The writer stores the fields of an entry with release, after the word
 * that put them out of use (FREE) or the new edition; a reader loads fields with acquire, before
 * its second look. A reader that saw a new field therefore also sees that older word or edition,
 * and retries. (Stronger than fences on some machines, free on x86, and ThreadSanitizer can follow
 * it.) */
#ifndef PINION_SHM_LEDGER_H
#define PINION_SHM_LEDGER_H

#include "common/status.h"
#include "shm/layout.h"
#include "shm/slice.h"

struct ledger; /* this process's view of the object; any number of threads may read through it */

/* Attaches read-only and holds the view until ledger_detach; the object itself stays. Trusts none
 * of its bytes. Refuses, naming the reason and the remedy:
 *   ST_NO_DAEMON  there is none, it is not complete, or it was left by an earlier boot;
 *   ST_RESOURCE   another user's, open to others, another layout version, no permission or memory;
 *   ST_INPUT      truncated, a size that disagrees with its header, or a header that is wrong. */
enum status ledger_attach(struct ledger **out, const char *name) MUST_CHECK;
void ledger_detach(struct ledger *l);

/* Copies the record behind h as of one instant. ST_STALE when the slice belongs to another
 * generation by now or to nobody: the caller drops what it was about to do, nothing else. ST_INPUT
 * when there is no such slot, or its record is damaged (slice_check). Never waits for anyone. */
enum status ledger_read(const struct ledger *l, struct handle h,
                        struct slice_record *out) MUST_CHECK;

/* The same for whatever is in a slot: a free one has state FREE and generation set, all else 0.
 * For walking all slots below ledger_slots(). ST_INPUT as above. */
enum status ledger_read_slot(const struct ledger *l, uint32_t slot,
                             struct slice_record *out) MUST_CHECK;

/* A client as of one instant. */
struct client {
    enum client_state state;
    enum client_role role;
    int32_t pid;
    uint64_t start_time;
    uint64_t incarnation;
    uint64_t sequence;
    uint64_t added_ns;
};

/* Copies client `index`; a free entry has state FREE and all else 0. ST_INPUT when there is no
 * such entry or it is damaged. */
enum status ledger_client_read(const struct ledger *l, uint16_t index,
                               struct client *out) MUST_CHECK;

/* Which live or dying client has this incarnation; false if none. */
bool ledger_client_find(const struct ledger *l, uint16_t *index, uint64_t incarnation);

uint32_t ledger_slots(const struct ledger *l);
uint32_t ledger_clients(const struct ledger *l);

/* Drawn when the object was made; another one after it was made anew. */
uint64_t ledger_instance(const struct ledger *l);

/* The arena it speaks of; borrowed until ledger_detach. Checked: a known kind, page, chunk and
 * size as layout.h says, a terminated name. */
const struct arena_desc *ledger_arena(const struct ledger *l);

/* The coordinator of this moment, for messages; it may be dead. */
int32_t ledger_coordinator_pid(const struct ledger *l);

#endif
