#include "common/file/wtns.h"

#include <inttypes.h>

#include "common/file/prime.h"
#include "common/file/sections.h"
#include "common/groth16/key.h"

enum { WTNS_VERSION = 2, SECTION_HEADER = 1, SECTION_VALUES = 2 };

static enum status parse_header(struct wtns *w, const struct sections *sections)
{
    struct section header;
    enum status st = sections_get(sections, SECTION_HEADER, "header", 4, &header);
    if (st == ST_OK)
        st = prime_read(&w->curve, sections->path, SECTION_HEADER, header.data, header.size);
    if (st == ST_OK)
        st =
            sections_get_exact(sections, SECTION_HEADER, "header", w->curve->fr_bytes + 8, &header);
    if (st != ST_OK)
        return st;
    w->n = section_u32(header.data + 4 + w->curve->fr_bytes);
    if (w->n == 0)
        return fail(ST_INPUT, "%s: section 1 (header): no values", sections->path);
    return ST_OK;
}

static enum status check_values(const struct wtns *w)
{
    size_t size = w->curve->fr_bytes;
    static const uint8_t one[CURVE_MAX_FR_BYTES] = {1};
    if (memcmp(w->values, one, size) != 0)
        return fail(ST_INPUT, "%s: section 2 (values): value 0 is not the constant 1", w->map.path);
    for (size_t i = 0; i < w->n; i++)
        if (!prime_is_canonical(w->curve, w->values + i * size))
            return fail(ST_INPUT,
                        "%s: section 2 (values): value %zu is not below the group order of %s",
                        w->map.path, i, w->curve->name);
    return ST_OK;
}

enum status wtns_parse(struct wtns *out, const struct file_map *map)
{
    struct sections sections;
    struct section values;
    struct wtns w = {.map = *map};
    enum status st = sections_parse(&sections, map, "wtns", WTNS_VERSION);
    if (st == ST_OK)
        st = parse_header(&w, &sections);
    if (st == ST_OK)
        st = sections_get_exact(&sections, SECTION_VALUES, "values",
                                (uint64_t)w.n * w.curve->fr_bytes, &values);
    if (st != ST_OK)
        return st;
    w.values = values.data;
    st = check_values(&w);
    if (st == ST_OK)
        *out = w;
    return st;
}

enum status wtns_open(struct wtns *out, const char *path)
{
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st != ST_OK)
        return st;
    file_map_prefetch(map.data, map.size);
    st = wtns_parse(out, &map);
    if (st != ST_OK)
        file_unmap(&map);
    return st;
}

void wtns_close(struct wtns *w)
{
    file_unmap(&w->map);
    *w = (struct wtns){0};
}

enum status wtns_check_fits(const struct wtns *w, const struct groth16_key *key)
{
    if (w->curve->id != key->curve->id)
        return fail(ST_INPUT, "%s: is a witness on %s, but %s is a key on %s", w->map.path,
                    w->curve->name, key->path, key->curve->name);
    if (w->n != key->n_vars)
        return fail(ST_INPUT,
                    "%s: has %" PRIu32 " values, but %s has %" PRIu32
                    " variables: witness and key are of different circuits",
                    w->map.path, w->n, key->path, key->n_vars);
    return ST_OK;
}
