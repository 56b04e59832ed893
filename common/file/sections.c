#include "common/file/sections.h"

#include <ctype.h>
#include <inttypes.h>

/* u32 id, u64 length */
enum { FILE_HEADER = 12, SECTION_HEADER = 12 };

/* Says what the file is instead, if that is easy to tell: swapped arguments are a common mistake.
 */
static enum status fail_magic(const struct file_map *map, const char magic[4])
{
    char found[5] = {0};
    for (size_t i = 0; i < 4 && i < map->size; i++)
        found[i] = isprint(map->data[i]) ? (char)map->data[i] : '?';
    return fail(ST_INPUT, "%s: not a %.4s file: it starts with \"%s\"", map->path, magic, found);
}

static enum status check_header(const struct file_map *map, const char magic[4], uint32_t version)
{
    if (map->size < 4 || memcmp(map->data, magic, 4) != 0)
        return fail_magic(map, magic);
    if (map->size < FILE_HEADER)
        return fail(ST_INPUT, "%s: %zu bytes are too few for a %.4s file: it is truncated",
                    map->path, map->size, magic);
    uint32_t found = section_u32(map->data + 4);
    if (found != version)
        return fail(ST_INPUT, "%s: %.4s version %" PRIu32 " is not supported, only %" PRIu32,
                    map->path, magic, found, version);
    return ST_OK;
}

/* Reads the section whose header is at *pos <= map->size and moves *pos behind it. */
static enum status next_section(struct sections *s, const struct file_map *map, uint64_t index,
                                size_t *pos)
{
    if (map->size - *pos < SECTION_HEADER)
        return fail(ST_INPUT,
                    "%s: the file ends before the header of its section number %" PRIu64
                    ": it is truncated",
                    map->path, index + 1);
    uint32_t id = section_u32(map->data + *pos);
    uint64_t size = section_u64(map->data + *pos + 4);
    *pos += SECTION_HEADER;
    if (size > map->size - *pos)
        return fail(ST_INPUT,
                    "%s: section %" PRIu32 " claims %" PRIu64
                    " bytes but %zu are left in the file: it is truncated or damaged",
                    map->path, id, size, map->size - *pos);
    if (id >= 1 && id <= SECTIONS_MAX_ID) {
        if (s->by_id[id].data)
            return fail(ST_INPUT, "%s: section %" PRIu32 " comes twice", map->path, id);
        s->by_id[id] = (struct section){map->data + *pos, size};
    }
    *pos += size;
    return ST_OK;
}

enum status sections_parse(struct sections *out, const struct file_map *map, const char magic[4],
                           uint32_t version)
{
    enum status st = check_header(map, magic, version);
    if (st != ST_OK)
        return st;

    struct sections s = {.path = map->path};
    uint32_t count = section_u32(map->data + 8);
    size_t pos = FILE_HEADER;
    if (count > (map->size - pos) / SECTION_HEADER)
        return fail(ST_INPUT,
                    "%s: claims %" PRIu32 " sections but has room for at most %zu: it is truncated "
                    "or damaged",
                    map->path, count, (map->size - pos) / SECTION_HEADER);
    for (uint32_t i = 0; i < count; i++) {
        st = next_section(&s, map, i, &pos);
        if (st != ST_OK)
            return st;
    }
    if (pos != map->size)
        return fail(ST_INPUT, "%s: %zu bytes follow the last section", map->path, map->size - pos);
    *out = s;
    return ST_OK;
}

enum status sections_get(const struct sections *s, unsigned id, const char *what, uint64_t min_size,
                         struct section *out)
{
    const struct section *found = &s->by_id[id];
    if (!found->data)
        return fail(ST_INPUT, "%s: section %u (%s) is missing", s->path, id, what);
    if (found->size < min_size)
        return fail(ST_INPUT,
                    "%s: section %u (%s) has %" PRIu64 " bytes, too few: it needs %" PRIu64,
                    s->path, id, what, found->size, min_size);
    *out = *found;
    return ST_OK;
}

enum status sections_get_exact(const struct sections *s, unsigned id, const char *what,
                               uint64_t size, struct section *out)
{
    struct section found;
    enum status st = sections_get(s, id, what, 0, &found);
    if (st != ST_OK)
        return st;
    if (found.size != size)
        return fail(ST_INPUT,
                    "%s: section %u (%s) has %" PRIu64 " bytes but the header implies %" PRIu64,
                    s->path, id, what, found.size, size);
    *out = found;
    return ST_OK;
}
