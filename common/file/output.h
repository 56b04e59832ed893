/* An output file that appears complete or not at all: written to a temporary name in the directory
 * of its target, then renamed.
 *
 * A symbolic link is followed: what it points to is replaced. An existing target that is not a
 * regular file (a pipe, /dev/null), /dev/stdout and /dev/fd/N are written directly. Temporary files
 * are removed on failure and on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU (output_guard, from
 * main). At most OUTPUT_MAX_OPEN at the same time. Any thread may call; one thread at a time for one output.
 *
 * Failures name the path. ST_RESOURCE: its directory does not exist, it may not be written, it is a
 * directory or a dangling link, the disk is full or fails, no memory. */
#ifndef PINION_FILE_OUTPUT_H
#define PINION_FILE_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "common/status.h"

enum { OUTPUT_MAX_OPEN = 8 };

struct output;

/* Creates the temporary file (mode 0666 less umask). path is borrowed until commit or abandon. */
enum status output_open(struct output **out, const char *path) MUST_CHECK;
FILE *output_stream(struct output *o);
/* Flushes, syncs to disk, renames. Destroys o either way; on failure nothing is left behind and the
 * old target is as it was. */
enum status output_commit(struct output *o) MUST_CHECK;
void output_abandon(struct output *o); /* removes the temporary file; NULL is fine */

/* Both or neither: nothing is renamed before both are on disk, and the first is taken back if the
 * second cannot be renamed; signals wait meanwhile. (A crash between the two renames leaves the
 * first new.) Destroys both either way. */
enum status output_commit_pair(struct output *a, struct output *b) MUST_CHECK;

/* Texts a and b to path_a and path_b, both or neither. ST_INPUT also if the paths are the same
 * file. */
enum status output_write_pair(const char *path_a, const char *a, const char *path_b,
                              const char *b) MUST_CHECK;
enum status output_write(const char *path, const char *text) MUST_CHECK;

/* Installs the signal handlers, once, from main. A signal that is ignored stays so, and SIGXFSZ is
 * from then on: a limit of the size of files is a write that fails. */
void output_guard(void);

#endif
