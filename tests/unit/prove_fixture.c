#include "tests/unit/prove_fixture.h"

#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/file/proof_json.h"
#include "common/groth16/groth16.h"
#include "common/groth16/ops.h"

enum { ARENA_BYTES = 8 << 20, THREADS = 2 };

void prove_fixture_init(struct prove_fixture *f)
{
    const struct arena_options options = {.kind = ARENA_PRIVATE, .bytes = ARENA_BYTES};
    *f = (struct prove_fixture){.next = 0};
    assert_int_equal(pool_create(&f->pool, THREADS), ST_OK);
    assert_int_equal(arena_create(&f->arena, &options), ST_OK);
    assert_int_equal(arena_map_all(&f->map, f->arena), ST_OK);
}

void prove_fixture_fini(struct prove_fixture *f)
{
    arena_unmap(&f->map);
    arena_detach(f->arena);
    pool_destroy(f->pool);
}

/* Pages one by one, the later of two first, with a page between that belongs to nobody: as
 * scattered as it gets, until the record is full. */
static uint32_t scatter(struct prove_fixture *f, struct extent *out, uint32_t cap, uint64_t bytes)
{
    uint64_t page = arena_desc(f->arena)->page;
    uint32_t n = 0;
    while (bytes > 0) {
        uint64_t take = n + 1 < cap ? page : bytes;
        out[n++] = (struct extent){f->next + page, take};
        f->next += take + page;
        bytes -= take;
    }
    for (uint32_t i = 0; i + 1 < n; i += 2)
        if (out[i].bytes == out[i + 1].bytes) {
            struct extent e = out[i];
            out[i] = out[i + 1];
            out[i + 1] = e;
        }
    return n;
}

static void fill(struct prove_fixture *f, struct slice_record *r, const struct synthesis *s,
                 const struct wtns *w)
{
    struct slice_plan plan;
    struct arena_map map;
    assert_int_equal(synthesis_plan(s, &plan, arena_desc(f->arena)->page), ST_OK);
    *r = (struct slice_record){.state = SLOT_COPYING,
                               .w_bytes = plan.w_bytes,
                               .a_bytes = plan.a_bytes,
                               .b_bytes = plan.b_bytes,
                               .a_offset = plan.a_offset,
                               .b_offset = plan.b_offset,
                               .c_offset = plan.c_offset};
    r->w_extents = scatter(f, r->extent, 4, plan.w_mapped);
    r->abc_extents = scatter(f, r->extent + r->w_extents, SLICE_MAX_EXTENTS - 4, plan.abc_mapped);
    assert_int_equal(
        arena_map_slice(&map, f->arena, r->extent, r->w_extents + r->abc_extents, ARENA_WRITE),
        ST_OK);
    synthesis_write(s, w, &plan, map.base, f->pool);
    arena_unmap(&map);
}

void prove_fixture_slice(struct prove_fixture *f, struct slice_record *out, const char *zkey,
                         const char *wtns, uint32_t generation)
{
    struct synthesis s;
    struct wtns w;
    assert_int_equal(synthesis_open(&s, zkey, NULL, f->pool), ST_OK);
    assert_int_equal(wtns_open(&w, wtns), ST_OK);
    assert_int_equal(synthesis_check(&s, &w, f->pool, NULL), ST_OK);
    fill(f, out, &s, &w);
    out->generation = generation;
    wtns_close(&w);
    synthesis_close(&s);
}

void prove_fixture_spoil(struct prove_fixture *f, const struct slice_record *r, uint64_t offset)
{
    struct arena_map map;
    assert_int_equal(arena_map_slice(&map, f->arena, r->extent, r->w_extents, ARENA_WRITE), ST_OK);
    ((uint8_t *)map.base)[offset] ^= 1;
    arena_unmap(&map);
}

bool prove_fixture_verifies(const char *zkey, const char *proof, const char *publics)
{
    struct zkey z;
    struct groth16_vkey vk;
    struct groth16_proof p;
    uint8_t *values = NULL;
    assert_int_equal(zkey_open(&z, zkey, NULL), ST_OK);
    const struct curve *curve = z.key.curve;
    struct file_map a = {"proof", (const uint8_t *)proof, strlen(proof)};
    struct file_map b = {"public", (const uint8_t *)publics, strlen(publics)};
    assert_int_equal(curve->ops->vkey(&z.key, &vk), ST_OK);
    assert_int_equal(proof_json_parse(&a, curve, &p), ST_OK);
    assert_int_equal(public_json_parse(&b, curve, z.key.n_public, &values), ST_OK);
    bool valid = groth16_verify(&vk, values, &p) == ST_OK;
    status_clear();
    free(values);
    groth16_vkey_fini(&vk);
    zkey_close(&z);
    return valid;
}
