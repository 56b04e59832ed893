/* The container of zkey, wtns and r1cs: magic, version, sections by id. */
#ifndef PINION_FILE_SECTIONS_H
#define PINION_FILE_SECTIONS_H

#include <string.h>

#include "common/file/map.h"

enum { SECTIONS_MAX_ID = 10 };

struct section {
    const uint8_t *data; /* NULL: absent */
    uint64_t size;
};

/* Sections of known id; others are skipped, as all readers of this container do. */
struct sections {
    const char *path;
    struct section by_id[SECTIONS_MAX_ID + 1];
};

/* Checks magic, version, the section count and every length against the size of the file: each
 * section lies inside, none with an id in 1..SECTIONS_MAX_ID comes twice, and nothing follows the
 * last. ST_INPUT names path, section and reason. */
enum status sections_parse(struct sections *out, const struct file_map *map, const char magic[4],
                           uint32_t version) MUST_CHECK;

/* The section of that id; ST_INPUT "section N (what) is missing", or too short for min_size bytes.
 */
enum status sections_get(const struct sections *s, unsigned id, const char *what, uint64_t min_size,
                         struct section *out) MUST_CHECK;

/* As sections_get, for a section whose size the header of the file fixes: ST_INPUT names both. */
enum status sections_get_exact(const struct sections *s, unsigned id, const char *what,
                               uint64_t size, struct section *out) MUST_CHECK;

/* Little-endian integers at any alignment. */
static inline uint32_t section_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t section_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

#endif
