/* What a view of the ledger is made of; for the ledger's own sources. */
#ifndef PINION_SHM_LEDGER_VIEW_H
#define PINION_SHM_LEDGER_VIEW_H

#include "shm/ledger.h"

/* Header fields are checked and copied when attaching: what another process does to the header
 * later moves no pointer. */
struct ledger {
    struct ledger_header *header; /* the mapping */
    struct client_entry *client;
    struct slot_entry *slot;
    size_t bytes; /* of the mapping */
    uint32_t clients, slots;
    uint64_t instance;
    struct arena_desc arena;
    uint32_t next_slot; /* writer: where to look for a free slot first */
    bool writer;
    char name[256];
};

enum ledger_access { LEDGER_READ, LEDGER_WRITE };

/* Opens, maps and checks the object. Besides the statuses of ledger_attach, *version_differs says
 * that only the header's frozen part could be read: then the view has header, bytes and name set
 * and nothing else, and the status is ST_OK. */
enum status ledger_view_open(struct ledger **out, const char *name, enum ledger_access access,
                             bool *version_differs) MUST_CHECK;

/* Checks what a header says about its object of `bytes` bytes. */
enum status ledger_header_check(const struct ledger_header *h, uint64_t bytes,
                                const char *name) MUST_CHECK;

#endif
