/* For tests: a directory of their own, removed with everything in it. */
#ifndef PINION_TESTS_SCRATCH_H
#define PINION_TESTS_SCRATCH_H

#include <stddef.h>

/* cmocka's setup and teardown: *state is the path. */
int scratch_setup(void **state);
int scratch_teardown(void **state);

/* "DIRECTORY/name", valid until called four times more. */
const char *scratch_path(void *const *state, const char *name);
void scratch_write(const char *path, const void *data, size_t size);
/* Whether the file's content is that text. */
int scratch_holds(const char *path, const char *text);
/* Directory entries, . and .. apart. */
size_t scratch_count(void *const *state);

#endif
