#include "gpud/vectors.h"

#include <string.h>

void slice_vectors_init(struct slice_vectors *out, const struct slice_record *record,
                        const void *base)
{
    uint32_t n = record->w_extents + record->abc_extents;
    uint64_t at = 0;
    CHECK(n <= SLICE_MAX_EXTENTS);
    for (uint32_t i = 0; i < n; i++) {
        const struct extent *e = &record->extent[i];
        out->pieces[i] = (struct piece){(const uint8_t *)base + e->offset, at, e->bytes};
        at += e->bytes;
    }
    out->vectors = (struct vectors){.w_bytes = record->w_bytes,
                                    .a_bytes = record->a_bytes,
                                    .b_bytes = record->b_bytes,
                                    .c_bytes = record->c_bytes,
                                    .a_offset = record->a_offset,
                                    .b_offset = record->b_offset,
                                    .c_offset = record->c_offset,
                                    .pieces = out->pieces,
                                    .n_pieces = n};
}

enum status vectors_check(const struct vectors *v, const struct groth16_key *key)
{
    uint64_t vector = key->domain * key->curve->fr_bytes;
    uint64_t w = (uint64_t)key->n_vars * key->curve->fr_bytes;
    if (v->w_bytes == w && v->a_bytes == vector && v->b_bytes == vector &&
        (v->c_bytes == 0 || v->c_bytes == vector))
        return ST_OK;
    return fail(ST_INTERNAL, "%s: the slice has vectors of other sizes than this key", key->path);
}

void vectors_gather(void *out, const struct vectors *v, uint64_t at, uint64_t bytes)
{
    uint8_t *to = out;
    for (uint32_t i = 0; i < v->n_pieces && bytes > 0; i++) {
        const struct piece *p = &v->pieces[i];
        if (at >= p->at + p->bytes)
            continue;
        uint64_t skip = at - p->at, n = p->bytes - skip < bytes ? p->bytes - skip : bytes;
        memcpy(to, p->from + skip, n);
        to += n;
        at += n;
        bytes -= n;
    }
    CHECK(bytes == 0);
}
