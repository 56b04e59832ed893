/* For tests: files in memory, and the container of zkey, wtns and r1cs taken apart and put together
 * again, so that one thing can be made wrong. All memory is malloc'd; a failed allocation or a file
 * that is not there fails the test. */
#ifndef PINION_TESTS_CONTAINER_H
#define PINION_TESTS_CONTAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/file/map.h"

#ifndef PINION_TEST_DATA
#define PINION_TEST_DATA "tests/data"
#endif

enum { CONTAINER_MAX = 16 };

struct blob {
    uint8_t *data;
    size_t size;
};

struct blob blob_copy(const void *data, size_t size);
/* name: below tests/data */
struct blob blob_read(const char *name);
void blob_free(struct blob *b);

struct container {
    char magic[4];
    uint32_t version, claimed; /* claimed: the section count that the header states */
    size_t n;
    struct {
        uint32_t id;
        uint64_t claimed; /* size */
        struct blob blob;
    } sections[CONTAINER_MAX];
};

struct container container_read(const char *name);
struct blob container_build(const struct container *c);
void container_free(struct container *c);

/* The data of the section with that id. */
struct blob *container_section(struct container *c, uint32_t id);
void container_drop(struct container *c, uint32_t id);
void container_double(struct container *c, uint32_t id);
/* Cuts or extends (with zero bytes) the section; its header follows. */
void container_resize(struct container *c, uint32_t id, size_t size);

/* A reader under test: parses, and if the file is accepted reads everything that its contract says
 * is safe to read. */
typedef enum status reader(const struct file_map *map);

/* Calls the reader with a copy of the bytes on the heap, where a sanitizer sees every stray read.
 * Fails the test unless the result is ST_OK, or ST_INPUT with one line that begins with the path.
 */
enum status reader_try(reader *read, const void *data, size_t size);
enum status reader_try_container(reader *read, const struct container *c);

/* No prefix of the file, no container with a section dropped, doubled or of another size, and no
 * lie about a size may be accepted. */
void reader_refuses_damage(reader *read, const char *name);

/* Sets the u32 at each offset of a section to values that have broken parsers; whatever is accepted
 * must be safe to read. */
void reader_survives_fields(reader *read, const char *name, uint32_t id);

#endif
