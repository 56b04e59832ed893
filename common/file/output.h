/* An output file that appears complete or not at all: written to a temporary name beside its place,
 * then renamed.
 *
 * Temporary files are removed on failure and on SIGINT, SIGTERM and SIGHUP (output_guard, from
 * main). An existing target that is not a regular file (/dev/stdout, a pipe) is written directly.
 */
#ifndef PINION_FILE_OUTPUT_H
#define PINION_FILE_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "common/status.h"

struct output;

/* Creates the temporary file (mode 0666 less umask). path is borrowed until commit or abandon.
 * ST_RESOURCE names the path. */
enum status output_open(struct output **out, const char *path) MUST_CHECK;
FILE *output_stream(struct output *o);
/* Flushes, syncs to disk, renames. Destroys o either way; on failure nothing is left behind. */
enum status output_commit(struct output *o) MUST_CHECK;
void output_abandon(struct output *o); /* removes the temporary file; NULL is fine */

/* Both files or neither: texts a and b to paths path_a and path_b. */
enum status output_write_pair(const char *path_a, const char *a, const char *path_b,
                              const char *b) MUST_CHECK;
enum status output_write(const char *path, const char *text) MUST_CHECK;

void output_guard(void);

#endif
