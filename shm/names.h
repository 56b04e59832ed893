/* The names of what one installation shares, all derived from its directory, so that several live
 * side by side. Any thread. */
#ifndef PINION_SHM_NAMES_H
#define PINION_SHM_NAMES_H

#include "common/status.h"

enum { NAMES_BYTES = 64 };

struct names {
    char tag[17];             /* FNV-1a, 64 bits, of the directory's real path, in hex */
    char ledger[NAMES_BYTES]; /* "/pinion-TAG-ledger", POSIX shared memory */
    char arena[NAMES_BYTES];  /* "/pinion-TAG-arena", POSIX shared memory or under hugetlbfs */
};

/* ST_RESOURCE when the directory does not exist or may not be looked at. */
enum status names_derive(struct names *out, const char *directory) MUST_CHECK;

#endif
