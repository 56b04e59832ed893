/* snarkjs' JSON files: proof.json, public.json, verification_key.json. Written byte for byte as
 * snarkjs writes them.
 *
 * Readers: ST_INPUT for malformed JSON (with line and column), a missing, doubled or mistyped
 * member, another protocol, a wrong or unknown curve, a wrong number of elements; ST_INVALID for an
 * integer that does not fit the field's bytes, and for (0, 0), which is no point but would read as
 * infinity. Integers that fit but are not below the modulus are passed on: verify refuses them.
 * Members that nobody needs, vk_alphabeta_12 among them, are ignored. Files over JSON_MAX_SIZE are
 * refused, proofs over PROOF_JSON_MAX_SIZE: reading takes up to 40 bytes of memory for a byte. */
#ifndef PINION_FILE_PROOF_JSON_H
#define PINION_FILE_PROOF_JSON_H

#include "common/file/map.h"
#include "common/groth16/key.h"

enum { JSON_MAX_SIZE = 64 << 20, PROOF_JSON_MAX_SIZE = 1 << 20 };

/* out is to be freed with groth16_vkey_fini. */
enum status vkey_json_read(const char *path, struct groth16_vkey *out) MUST_CHECK;
/* curve: what the proof must be on; a proof that names no curve is taken to be. */
enum status proof_json_read(const char *path, const struct curve *curve,
                            struct groth16_proof *out) MUST_CHECK;
/* *out: n values of curve->fr_bytes, malloc'd, also for n = 0. n: how many the verification key
 * has.
 */
enum status public_json_read(const char *path, const struct curve *curve, uint32_t n,
                             uint8_t **out) MUST_CHECK;

/* The same for a text that is in memory already. */
enum status vkey_json_parse(const struct file_map *text, struct groth16_vkey *out) MUST_CHECK;
enum status proof_json_parse(const struct file_map *text, const struct curve *curve,
                             struct groth16_proof *out) MUST_CHECK;
enum status public_json_parse(const struct file_map *text, const struct curve *curve, uint32_t n,
                              uint8_t **out) MUST_CHECK;

/* Any JSON object or array of at most max_size bytes; jansson's, owned by the caller. */
struct json_t;
enum status json_parse(const struct file_map *text, size_t max_size,
                       struct json_t **out) MUST_CHECK;

/* The text, malloc'd, NUL-terminated, no trailing newline. ST_RESOURCE: no memory. */
enum status vkey_json_format(const struct groth16_vkey *vk, char **out) MUST_CHECK;
enum status proof_json_format(const struct groth16_proof *proof, char **out) MUST_CHECK;
/* publics: n canonical values, curve->fr_bytes each. */
enum status public_json_format(const struct curve *curve, const uint8_t *publics, uint32_t n,
                               char **out) MUST_CHECK;

#endif
