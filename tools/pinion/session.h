/* What a command that computes needs while it runs: threads, instructions, a progress line; and
 * small things that several commands share. */
#ifndef PINION_TOOLS_SESSION_H
#define PINION_TOOLS_SESSION_H

#include <jansson.h>

#include "common/groth16/groth16.h"
#include "common/pool.h"
#include "tools/pinion/options.h"
#include "tools/pinion/progress_line.h"

struct session {
    struct pool *pool; /* owned */
    struct progress_line line;
    bool quiet;
};

/* Selects the instructions, starts the threads. session_end undoes it, after a failure too. */
enum status session_begin(struct session *s, const struct compute_options *options) MUST_CHECK;
void session_end(struct session *s);

/* One "pinion: warning: ..." line on standard error, unless quiet. For after the work, when it has
 * succeeded: a failure says one line, its reason. Ends the progress line. */
void session_warn(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints one line of JSON on standard output. Takes the reference; NULL is lack of memory. */
enum status session_print_json(json_t *value) MUST_CHECK;

/* The time of each stage of a proof, in milliseconds; NULL without memory. */
json_t *session_stages_json(const struct groth16_timings *timings);

/* Before hours of work rather than after: outputs (NULL-terminated) lie in directories that can be
 * written, are no directories themselves, and are neither equal nor one of the inputs
 * (NULL-terminated). ST_USAGE, ST_RESOURCE. */
enum status session_check_outputs(const char *const *inputs, const char *const *outputs) MUST_CHECK;

#endif
