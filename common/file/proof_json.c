#include "common/file/proof_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/decimal.h"

/* A place in a document, for messages: path and the member's name, e.g. "proof.json: pi_b[0]". */
struct place {
    char text[512];
};

static struct place place_of(const char *path, const char *member)
{
    struct place p;
    /* of a very long path the end tells more */
    size_t length = strlen(path);
    snprintf(p.text, sizeof p.text, "%s: %s", length > 400 ? path + length - 400 : path, member);
    return p;
}

static struct place element(const struct place *array, size_t i)
{
    struct place p;
    snprintf(p.text, sizeof p.text, "%.480s[%zu]", array->text, i);
    return p;
}

enum status json_parse(const struct file_map *text, size_t max_size, json_t **out)
{
    if (text->size > max_size)
        return fail(ST_INPUT, "%s: %zu bytes are too many for such a file, the limit is %zu",
                    text->path, text->size, max_size);
    json_error_t error;
    json_t *json = json_loadb((const char *)text->data, text->size, JSON_REJECT_DUPLICATES, &error);
    if (json) {
        *out = json;
        return ST_OK;
    }
    if (json_error_code(&error) == json_error_out_of_memory)
        return fail(ST_RESOURCE, "%s: no memory", text->path);
    return fail(ST_INPUT, "%s: line %d, column %d: %s", text->path, error.line, error.column,
                error.text);
}

static enum status check_array(const struct place *at, const json_t *json, size_t n)
{
    if (!json_is_array(json))
        return fail(ST_INPUT, "%s: must be an array of %zu elements", at->text, n);
    if (json_array_size(json) != n)
        return fail(ST_INPUT, "%s: has %zu elements, must have %zu", at->text,
                    json_array_size(json), n);
    return ST_OK;
}

static enum status read_integer(const struct place *at, const json_t *json, uint8_t *out, size_t n)
{
    if (!json_is_string(json))
        return fail(ST_INPUT, "%s: must be a string of decimal digits", at->text);
    return decimal_parse(json_string_value(json), out, n, at->text);
}

/* A coordinate: an integer, or in G2 an array of two. */
static enum status read_coordinate(const struct place *at, const json_t *json, size_t degree,
                                   size_t fq_bytes, uint8_t *out)
{
    if (degree == 1)
        return read_integer(at, json, out, fq_bytes);
    enum status st = check_array(at, json, degree);
    for (size_t i = 0; st == ST_OK && i < degree; i++) {
        struct place part = element(at, i);
        st = read_integer(&part, json_array_get(json, i), out + i * fq_bytes, fq_bytes);
    }
    return st;
}

static bool is_small(const uint8_t *a, size_t size, uint8_t value)
{
    for (size_t i = 1; i < size; i++)
        if (a[i] != 0)
            return false;
    return a[0] == value;
}

/* A point [x, y, z]: z is 1, or the point is infinity, [0, 1, 0]. degree: 1 for G1, 2 for G2. */
static enum status read_point(const struct place *at, const json_t *json, size_t degree,
                              size_t fq_bytes, uint8_t *out)
{
    uint8_t values[3][2 * CURVE_MAX_FQ_BYTES];
    size_t size = degree * fq_bytes;
    enum status st = check_array(at, json, 3);
    for (size_t i = 0; st == ST_OK && i < 3; i++) {
        struct place coordinate = element(at, i);
        st = read_coordinate(&coordinate, json_array_get(json, i), degree, fq_bytes, values[i]);
    }
    if (st != ST_OK)
        return st;

    bool x_is_0 = is_small(values[0], size, 0), z_is_0 = is_small(values[2], size, 0);
    if (x_is_0 && is_small(values[1], size, 1) && z_is_0) {
        memset(out, 0, 2 * size);
        return ST_OK;
    }
    if (!is_small(values[2], size, 1))
        return fail(ST_INPUT,
                    "%s[2]: the third coordinate must be 1 (or the point infinity: 0, 1, 0)",
                    at->text);
    if (x_is_0 && is_small(values[1], size, 0))
        return fail(ST_INVALID, "%s: (0, 0) is not a point of the curve", at->text);
    memcpy(out, values[0], size);
    memcpy(out + size, values[1], size);
    return ST_OK;
}

/* One document and what its points are read with. */
struct document {
    const char *path;
    const json_t *root;
    const struct curve *curve;
};

static enum status get(const struct document *d, const char *name, const json_t **out)
{
    *out = json_object_get(d->root, name);
    return *out ? ST_OK : fail(ST_INPUT, "%s: member \"%s\" is missing", d->path, name);
}

static enum status get_string(const struct document *d, const char *name, const char **out)
{
    const json_t *json;
    enum status st = get(d, name, &json);
    if (st != ST_OK)
        return st;
    if (!json_is_string(json))
        return fail(ST_INPUT, "%s: %s must be a string", d->path, name);
    *out = json_string_value(json);
    return ST_OK;
}

static enum status get_point(const struct document *d, const char *name, size_t degree,
                             uint8_t *out)
{
    const json_t *json;
    enum status st = get(d, name, &json);
    if (st != ST_OK)
        return st;
    struct place at = place_of(d->path, name);
    return read_point(&at, json, degree, d->curve->fq_bytes, out);
}

static enum status check_protocol(const struct document *d)
{
    const char *protocol;
    if (!json_is_object(d->root))
        return fail(ST_INPUT, "%s: must be a JSON object", d->path);
    enum status st = get_string(d, "protocol", &protocol);
    if (st == ST_OK && strcmp(protocol, "groth16") != 0)
        return fail(ST_INPUT, "%s: protocol \"%.32s\" is not supported, only \"groth16\"", d->path,
                    protocol);
    return st;
}

static enum status get_curve(const struct document *d, const struct curve **out)
{
    const char *name;
    enum status st = get_string(d, "curve", &name);
    if (st != ST_OK)
        return st;
    *out = curve_by_name(name);
    if (!*out)
        return fail(ST_INPUT, "%s: curve \"%.32s\" is unknown; bn128 and bls12381 are supported",
                    d->path, name);
    return ST_OK;
}

/* IC and nPublic, which must agree. Allocates vk->ic. */
static enum status get_ic(const struct document *d, struct groth16_vkey *vk)
{
    const json_t *count, *ic;
    enum status st = get(d, "nPublic", &count);
    if (st == ST_OK)
        st = get(d, "IC", &ic);
    if (st != ST_OK)
        return st;
    json_int_t n = json_integer_value(count);
    if (!json_is_integer(count) || n < 0 || n >= UINT32_MAX)
        return fail(ST_INPUT, "%s: nPublic must be a number of public signals", d->path);
    if (!json_is_array(ic) || json_array_size(ic) != (size_t)n + 1)
        return fail(ST_INPUT, "%s: IC must be an array of nPublic + 1 = %zu points, it has %zu",
                    d->path, (size_t)n + 1, json_array_size(ic));

    size_t point = 2 * vk->curve->fq_bytes;
    vk->n_public = (uint32_t)n;
    vk->ic = malloc(((size_t)n + 1) * point);
    if (!vk->ic)
        return fail(ST_RESOURCE, "%s: no memory", d->path);
    struct place at = place_of(d->path, "IC");
    for (size_t i = 0; st == ST_OK && i <= (size_t)n; i++) {
        struct place at_point = element(&at, i);
        st = read_point(&at_point, json_array_get(ic, i), 1, vk->curve->fq_bytes,
                        vk->ic + i * point);
    }
    return st;
}

static enum status read_vkey(struct document *d, struct groth16_vkey *vk)
{
    enum status st = check_protocol(d);
    if (st == ST_OK)
        st = get_curve(d, &d->curve);
    vk->curve = d->curve;
    if (st == ST_OK)
        st = get_point(d, "vk_alpha_1", 1, vk->alpha1);
    if (st == ST_OK)
        st = get_point(d, "vk_beta_2", 2, vk->beta2);
    if (st == ST_OK)
        st = get_point(d, "vk_gamma_2", 2, vk->gamma2);
    if (st == ST_OK)
        st = get_point(d, "vk_delta_2", 2, vk->delta2);
    if (st == ST_OK)
        st = get_ic(d, vk);
    return st;
}

enum status vkey_json_parse(const struct file_map *text, struct groth16_vkey *out)
{
    json_t *root;
    enum status st = json_parse(text, JSON_MAX_SIZE, &root);
    if (st != ST_OK)
        return st;
    struct document d = {.path = text->path, .root = root};
    struct groth16_vkey vk = {0};
    st = read_vkey(&d, &vk);
    if (st == ST_OK)
        *out = vk;
    else
        free(vk.ic);
    json_decref(root);
    return st;
}

static enum status read_proof(struct document *d, struct groth16_proof *proof)
{
    enum status st = check_protocol(d);
    if (st == ST_OK && json_object_get(d->root, "curve")) {
        const struct curve *named;
        st = get_curve(d, &named);
        if (st == ST_OK && named->id != d->curve->id)
            return fail(ST_INPUT, "%s: is a proof on %s, but the verification key is on %s",
                        d->path, named->name, d->curve->name);
    }
    if (st == ST_OK)
        st = get_point(d, "pi_a", 1, proof->a);
    if (st == ST_OK)
        st = get_point(d, "pi_b", 2, proof->b);
    if (st == ST_OK)
        st = get_point(d, "pi_c", 1, proof->c);
    return st;
}

enum status proof_json_parse(const struct file_map *text, const struct curve *curve,
                             struct groth16_proof *out)
{
    json_t *root;
    enum status st = json_parse(text, PROOF_JSON_MAX_SIZE, &root);
    if (st != ST_OK)
        return st;
    struct document d = {text->path, root, curve};
    struct groth16_proof proof = {.curve = curve};
    st = read_proof(&d, &proof);
    if (st == ST_OK)
        *out = proof;
    json_decref(root);
    return st;
}

static enum status read_publics(const struct document *d, uint32_t n, uint8_t *values)
{
    if (!json_is_array(d->root))
        return fail(ST_INPUT, "%s: must be an array of public signals", d->path);
    if (json_array_size(d->root) != n)
        return fail(ST_INPUT, "%s: has %zu public signals, but the verification key has %zu",
                    d->path, json_array_size(d->root), (size_t)n);
    enum status st = ST_OK;
    struct place at = place_of(d->path, "public signals");
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct place signal = element(&at, i);
        st = read_integer(&signal, json_array_get(d->root, i), values + i * d->curve->fr_bytes,
                          d->curve->fr_bytes);
    }
    return st;
}

enum status public_json_parse(const struct file_map *text, const struct curve *curve, uint32_t n,
                              uint8_t **out)
{
    json_t *root;
    enum status st = json_parse(text, JSON_MAX_SIZE, &root);
    if (st != ST_OK)
        return st;
    struct document d = {text->path, root, curve};
    /* for as many as the file has: read_publics writes only if that is n */
    size_t size = json_array_size(root) * curve->fr_bytes;
    uint8_t *values = malloc(size ? size : 1);
    st = values ? read_publics(&d, n, values) : fail(ST_RESOURCE, "%s: no memory", text->path);
    if (st == ST_OK)
        *out = values;
    else
        free(values);
    json_decref(root);
    return st;
}

enum status vkey_json_read(const char *path, struct groth16_vkey *out)
{
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st == ST_OK) {
        st = vkey_json_parse(&map, out);
        file_unmap(&map);
    }
    return st;
}

enum status proof_json_read(const char *path, const struct curve *curve, struct groth16_proof *out)
{
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st == ST_OK) {
        st = proof_json_parse(&map, curve, out);
        file_unmap(&map);
    }
    return st;
}

enum status public_json_read(const char *path, const struct curve *curve, uint32_t n, uint8_t **out)
{
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st == ST_OK) {
        st = public_json_parse(&map, curve, n, out);
        file_unmap(&map);
    }
    return st;
}
