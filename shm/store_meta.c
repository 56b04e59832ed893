/* meta.json of a circuit. */
#include <string.h>

#include "common/file/map.h"
#include "common/file/output.h"
#include "common/msg.h"
#include "shm/store_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { META_VERSION = 1 };

static json_t *encode_shape(const struct circuit_shape *s)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "curve", s->curve,
                     "variables", (json_int_t)s->variables, "public", (json_int_t)s->publics,
                     "constraints", (json_int_t)s->constraints, "domain", (json_int_t)s->domain,
                     "w_bytes", (json_int_t)s->w_bytes, "a_bytes", (json_int_t)s->a_bytes,
                     "b_bytes", (json_int_t)s->b_bytes, "c_bytes", (json_int_t)s->c_bytes, "memory",
                     (json_int_t)s->memory);
}

static json_t *encode(const struct store_entry *e)
{
    const struct circuit *c = &e->circuit;
    const struct store_source *s = &e->source;
    return json_pack("{s:i, s:s, s:o, s:o, s:I, s:b, s:{s:o, s:o, s:I, s:I}}", "version",
                     META_VERSION, "name", c->name, "shape", encode_shape(&c->shape), "sha256",
                     msg_json_hex(c->sha256, sizeof c->sha256), "key_bytes",
                     (json_int_t)c->key_bytes, "r1cs", c->has_r1cs, "source", "key",
                     msg_json_text(s->key), "r1cs", msg_json_text(s->r1cs), "bytes",
                     (json_int_t)s->bytes, "changed", (json_int_t)s->changed);
}

enum status store_meta_write(const struct store_entry *e, const char *path)
{
    json_t *body = encode(e);
    char *text = body ? json_dumps(body, JSON_INDENT(2)) : NULL;
    json_decref(body);
    if (!text)
        return fail(ST_RESOURCE, "%s: out of memory", path);
    enum status st = output_write(path, text);
    free(text);
    return st;
}

static enum status read_u64(uint64_t *out, const json_t *body, const char *name, int64_t max)
{
    int64_t value = 0;
    enum status st = msg_int(&value, body, name, 0, max);
    *out = (uint64_t)value;
    return st;
}

static enum status decode_shape(struct circuit_shape *out, const json_t *body)
{
    const struct {
        const char *name;
        uint64_t *value;
    } sizes[] = {
        {"constraints", &out->constraints}, {"domain", &out->domain},   {"w_bytes", &out->w_bytes},
        {"a_bytes", &out->a_bytes},         {"b_bytes", &out->b_bytes}, {"c_bytes", &out->c_bytes},
        {"memory", &out->memory},
    };
    const char *curve = "";
    uint64_t variables = 0, publics = 0;
    enum status st = msg_string(&curve, body, "curve", 1, STORE_CURVE_MAX);
    if (st == ST_OK)
        st = read_u64(&variables, body, "variables", UINT32_MAX);
    if (st == ST_OK)
        st = read_u64(&publics, body, "public", UINT32_MAX);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && st == ST_OK; i++)
        st = read_u64(sizes[i].value, body, sizes[i].name, INT64_MAX / 8);
    if (st != ST_OK)
        return st;
    memcpy(out->curve, curve, strlen(curve) + 1);
    out->variables = (uint32_t)variables;
    out->publics = (uint32_t)publics;
    return ST_OK;
}

static enum status decode_source(struct store_source *out, const json_t *body)
{
    const char *key = "", *r1cs = "";
    enum status st = msg_string(&key, body, "key", 0, sizeof out->key - 1);
    if (st == ST_OK)
        st = msg_string(&r1cs, body, "r1cs", 0, sizeof out->r1cs - 1);
    if (st == ST_OK)
        st = read_u64(&out->bytes, body, "bytes", INT64_MAX);
    if (st == ST_OK)
        st = msg_int(&out->changed, body, "changed", INT64_MIN, INT64_MAX);
    if (st != ST_OK)
        return st;
    memcpy(out->key, key, strlen(key) + 1);
    memcpy(out->r1cs, r1cs, strlen(r1cs) + 1);
    return ST_OK;
}

static enum status decode(struct store_entry *out, const json_t *body, const char *name)
{
    struct circuit *c = &out->circuit;
    int64_t version;
    const char *own = "";
    enum status st = msg_int(&version, body, "version", META_VERSION, META_VERSION);
    if (st == ST_OK)
        st = msg_string(&own, body, "name", 1, JOB_ID_MAX);
    if (st == ST_OK && strcmp(own, name) != 0)
        st = fail(ST_INPUT, "is of circuit \"%s\"", own);
    if (st == ST_OK)
        st = decode_shape(&c->shape, json_object_get(body, "shape"));
    if (st == ST_OK)
        st = msg_hex(c->sha256, sizeof c->sha256, body, "sha256");
    if (st == ST_OK)
        st = read_u64(&c->key_bytes, body, "key_bytes", INT64_MAX);
    if (st == ST_OK)
        st = msg_bool_opt(&c->has_r1cs, body, "r1cs", false);
    if (st == ST_OK)
        st = decode_source(&out->source, json_object_get(body, "source"));
    memcpy(&c->tag, c->sha256, sizeof c->tag);
    memcpy(c->name, name, strlen(name) + 1);
    return st;
}

enum status store_meta_read(struct store_entry *out, const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct file_map map = {0};
    struct msg m = {0};
    struct store_entry e = {0};
    enum status st = store_path(path, sizeof path, dir, name, false, "meta.json");
    if (st == ST_OK)
        st = file_map(&map, path);
    if (st != ST_OK)
        return st;
    st = msg_decode(&m, map.data, map.size);
    if (st == ST_OK)
        st = decode(&e, m.body, name);
    if (st == ST_OK)
        *out = e;
    msg_fini(&m);
    file_unmap(&map);
    return st;
}
