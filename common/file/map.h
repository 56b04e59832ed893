/* A file mapped read-only, of any size.
 *
 * The mapping keeps the old file alive when it is replaced or deleted. A file that is truncated
 * under the mapping would kill the process with SIGBUS: file_map_guard turns that into a message
 * with the path and exit code 3. */
#ifndef PINION_FILE_MAP_H
#define PINION_FILE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct file_map {
    const char *path; /* borrowed until file_unmap */
    const uint8_t *data;
    size_t size;
};

/* ST_INPUT: missing, not a regular file, empty, unreadable. ST_RESOURCE: no address space. */
enum status file_map(struct file_map *out, const char *path) MUST_CHECK;
void file_unmap(struct file_map *map); /* zeroed or unmapped already: nothing happens */

/* Installs the SIGBUS handler, once, from main. */
void file_map_guard(void);

#endif
