/* The daemon that proves: asks the coordinator for submitted slices, runs them through the pipeline
 * and reports. */
#ifndef PINION_GPUD_DAEMON_H
#define PINION_GPUD_DAEMON_H

#include <stdatomic.h>

#include "common/status.h"

struct daemon_options {
    const char *where;       /* directory of the state, or the socket's address */
    const char *backend;     /* NULL: what the coordinator's configuration says */
    unsigned threads;        /* 0: the same */
    const atomic_bool *stop; /* true: finish what is being copied or proved, then return */
};

/* Until stopped. ST_OK: stopped. Jobs that fail are reported and logged; what is returned otherwise
 * ended the process: as member_join, ST_RESOURCE for a backend that is not there, and ST_STALE when
 * the arena was made anew. */
enum status daemon_run(const struct daemon_options *options) MUST_CHECK;

#endif
