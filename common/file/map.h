/* A file mapped read-only, of any size.
 *
 * The mapping keeps the old file alive when it is replaced or deleted. A file that is truncated
 * under the mapping would kill the process with SIGBUS: file_map_guard turns that into a message
 * with the path and exit code 3. Any thread may call; one thread at a time for one map. */
#ifndef PINION_FILE_MAP_H
#define PINION_FILE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct file_map {
    const char *path; /* for messages; borrowed until file_unmap */
    const uint8_t *data;
    size_t size;
};

/* ST_INPUT: missing, not a regular file, empty, unreadable. ST_RESOURCE: no address space, no file
 * descriptor. Never blocks on a pipe. */
enum status file_map(struct file_map *out, const char *path) MUST_CHECK;
void file_unmap(struct file_map *map); /* zeroed or unmapped already: nothing happens */

/* Hints that these bytes will be read soon, from begin on: starts reading them from disk. */
void file_map_prefetch(const void *begin, size_t size);

/* Installs the SIGBUS handler, once, from main. The handler knows the first 64 maps that are open
 * at the same time; a fault elsewhere keeps its default action. */
void file_map_guard(void);

#endif
