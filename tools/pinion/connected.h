/* `pinion prove --connect`: the four files, proved by running daemons. */
#ifndef PINION_TOOLS_CONNECTED_H
#define PINION_TOOLS_CONNECTED_H

#include "common/progress.h"
#include "common/status.h"

/* where: directory or address of the daemons. key: a file whose copy is in their store, or the name
 * of a circuit there. seed may be NULL. ST_INPUT for a key they do not know and for a job that
 * failed as bad input, naming the reason. */
enum status connected_prove(const char *where, const char *key, const char *witness,
                            const char *proof, const char *publics, const char *seed,
                            struct progress *progress) MUST_CHECK;

#endif
