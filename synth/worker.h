/* A synthesis process: takes a job with its slice, computes the vectors into the slice, submits it,
 * again and again. */
#ifndef PINION_SYNTH_WORKER_H
#define PINION_SYNTH_WORKER_H

#include <stdatomic.h>

#include "common/pool.h"
#include "common/status.h"

struct worker_options {
    const char *where;       /* directory of the state, or the socket's address */
    unsigned threads;        /* 0: what the coordinator's configuration says */
    const atomic_bool *stop; /* true: finish the job at hand, then return */
};

/* Until stopped. ST_OK: stopped. Jobs that fail are reported and logged; what is returned otherwise
 * ended the process: as member_join, and ST_STALE when the arena was made anew. */
enum status worker_run(const struct worker_options *options) MUST_CHECK;

#endif
