/* Values are built with jansson, whose indented output is JSON.stringify's. jansson releases what a
 * failed *_append_new or *_set_new was given, passes NULL on as a failure, and reports each: so a
 * builder returns NULL if anything below it had no memory. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/decimal.h"
#include "common/file/proof_json.h"
#include "common/groth16/ops.h"

/* array with item appended, NULL if either is or memory is short. */
static json_t *append(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *integer(const uint8_t *value, size_t n)
{
    char text[DECIMAL_MAX(DECIMAL_MAX_BYTES)];
    size_t length = decimal_format(text, value, n);
    return json_stringn(text, length);
}

/* An array of count integers of n bytes. */
static json_t *integers(const uint8_t *values, size_t count, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        array = append(array, integer(values + i * n, n));
    return array;
}

/* An element of the field of that degree. */
static json_t *coordinate(const uint8_t *value, size_t degree, size_t fq_bytes)
{
    return degree == 1 ? integer(value, fq_bytes) : integers(value, degree, fq_bytes);
}

static json_t *point(const uint8_t *xy, size_t degree, size_t fq_bytes)
{
    static const uint8_t zero[2 * CURVE_MAX_FQ_BYTES], one[2 * CURVE_MAX_FQ_BYTES] = {1};
    size_t size = degree * fq_bytes;
    bool infinite = memcmp(xy, zero, size) == 0 && memcmp(xy + size, zero, size) == 0;
    json_t *array = json_array();
    array = append(array, coordinate(xy, degree, fq_bytes));
    array = append(array, coordinate(infinite ? one : xy + size, degree, fq_bytes));
    return append(array, coordinate(infinite ? zero : one, degree, fq_bytes));
}

static json_t *points_g1(const uint8_t *points, size_t n, size_t fq_bytes)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        array = append(array, point(points + i * 2 * fq_bytes, 1, fq_bytes));
    return array;
}

/* An element of Fq12: two arrays of three of two integers. */
static json_t *fq12(const uint8_t *value, size_t fq_bytes)
{
    json_t *array = json_array();
    for (size_t i = 0; i < 2; i++) {
        json_t *half = json_array();
        for (size_t j = 0; j < 3; j++)
            half = append(half, integers(value + (3 * i + j) * 2 * fq_bytes, 2, fq_bytes));
        array = append(array, half);
    }
    return array;
}

/* Consumes json, which may be NULL. */
static enum status dump(json_t *json, char **out)
{
    char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    json_decref(json);
    if (!text)
        return fail(ST_RESOURCE, "no memory for JSON output");
    *out = text;
    return ST_OK;
}

enum status vkey_json_format(const struct groth16_vkey *vk, char **out)
{
    size_t q = vk->curve->fq_bytes;
    uint8_t alphabeta[12 * CURVE_MAX_FQ_BYTES];
    vk->curve->ops->alphabeta(vk, alphabeta);

    json_t *json = json_object();
    json = set(json, "protocol", json_string("groth16"));
    json = set(json, "curve", json_string(vk->curve->snarkjs_name));
    json = set(json, "nPublic", json_integer(vk->n_public));
    json = set(json, "vk_alpha_1", point(vk->alpha1, 1, q));
    json = set(json, "vk_beta_2", point(vk->beta2, 2, q));
    json = set(json, "vk_gamma_2", point(vk->gamma2, 2, q));
    json = set(json, "vk_delta_2", point(vk->delta2, 2, q));
    json = set(json, "vk_alphabeta_12", fq12(alphabeta, q));
    json = set(json, "IC", points_g1(vk->ic, (size_t)vk->n_public + 1, q));
    return dump(json, out);
}

enum status proof_json_format(const struct groth16_proof *proof, char **out)
{
    size_t q = proof->curve->fq_bytes;
    json_t *json = json_object();
    json = set(json, "pi_a", point(proof->a, 1, q));
    json = set(json, "pi_b", point(proof->b, 2, q));
    json = set(json, "pi_c", point(proof->c, 1, q));
    json = set(json, "protocol", json_string("groth16"));
    json = set(json, "curve", json_string(proof->curve->snarkjs_name));
    return dump(json, out);
}

enum status public_json_format(const struct curve *curve, const uint8_t *publics, uint32_t n,
                               char **out)
{
    return dump(integers(publics, n, curve->fr_bytes), out);
}
