/* Messages between processes: a JSON object, optionally followed by a NUL byte and raw bytes.
 *
 *   request  {"op": "...", "client": 3, "incarnation": "9f0c...", "seq": 17, "holding": [[slot,
 * gen]], ...} reply    {"ok": true, ...} or {"ok": false, "error": {"code": "input", "message":
 * "..."}}
 *
 * Everything here treats bytes as hostile: text, payload, nesting and every member are bounded, and
 * a refusal (ST_INPUT) names the member. Any thread; a message belongs to one. */
#ifndef PINION_MSG_H
#define PINION_MSG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum {
    MSG_TEXT_MAX = 64 << 10,
    MSG_PAYLOAD_MAX = 1 << 20,
    MSG_BYTES_MAX = MSG_TEXT_MAX + 1 + MSG_PAYLOAD_MAX,
    MSG_DEPTH_MAX = 16,   /* nested objects and arrays */
    MSG_OP_MAX = 32,      /* characters of an op */
    MSG_HOLDING_MAX = 64, /* handles in a request */
};

struct msg {
    json_t *body;           /* owned; an object */
    const uint8_t *payload; /* borrowed from the bytes decoded; NULL without a payload */
    size_t payload_len;
};

/* Reads len bytes. UTF-8 only, one object, no doubled members, nothing behind it. */
enum status msg_decode(struct msg *out, const void *bytes, size_t len) MUST_CHECK;
void msg_fini(struct msg *m);

/* The bytes of body (borrowed) and payload (NULL with length 0 for none): *out is for free().
 * ST_INTERNAL when too large: text that can be long travels as payload. */
enum status msg_encode(void **out, size_t *len, const json_t *body, const void *payload,
                       size_t payload_len) MUST_CHECK;

/* --- the head that every request has --- */

struct msg_head {
    char op[MSG_OP_MAX + 1];
    bool client_given; /* false: a control request, and the rest is 0 */
    uint32_t client;
    uint64_t incarnation;
    uint64_t seq;
    size_t holding_count;
    uint32_t holding[MSG_HOLDING_MAX][2]; /* slot, generation */
};

/* client, incarnation and seq stand together or not at all; holding only with them. */
enum status msg_read_head(struct msg_head *out, const json_t *body) MUST_CHECK;

/* --- members of an object, by name; ST_INPUT: "member \"name\": ..." ---
 * The _opt forms take the fallback when the member is absent or null. */

/* A string of min to max bytes; *out is borrowed from body. */
enum status msg_string(const char **out, const json_t *body, const char *name, size_t min,
                       size_t max) MUST_CHECK;
enum status msg_string_opt(const char **out, const json_t *body, const char *name, size_t max,
                           const char *fallback) MUST_CHECK;
/* An integer from min to max. */
enum status msg_int(int64_t *out, const json_t *body, const char *name, int64_t min,
                    int64_t max) MUST_CHECK;
enum status msg_int_opt(int64_t *out, const json_t *body, const char *name, int64_t min,
                        int64_t max, int64_t fallback) MUST_CHECK;
enum status msg_bool_opt(bool *out, const json_t *body, const char *name, bool fallback) MUST_CHECK;
/* 64 bits as 1 to 16 hex digits in a string: JSON's integers end at 2^63. */
enum status msg_hex64(uint64_t *out, const json_t *body, const char *name) MUST_CHECK;
/* len bytes as 2 len hex digits in a string. */
enum status msg_hex(uint8_t *out, size_t len, const json_t *body, const char *name) MUST_CHECK;
/* [[a, b], ...], each 0 to 2^32 - 1, at most cap pairs; absent is none. */
enum status msg_pairs(uint32_t (*out)[2], size_t *count, size_t cap, const json_t *body,
                      const char *name) MUST_CHECK;

/* --- building; NULL when out of memory, and msg_encode refuses a NULL body --- */

json_t *msg_json_hex64(uint64_t value);
json_t *msg_json_hex(const uint8_t *bytes, size_t len);
/* Text that may be any bytes, made UTF-8: what is not becomes '?'. */
json_t *msg_json_text(const char *text);

/* {"ok": true} */
json_t *msg_reply_ok(void);
/* {"ok": false, "error": {"code": ..., "message": ...}}; st is not ST_OK. The code is "invalid",
 * "usage", "input", "resource", "no_daemon" or "internal". */
json_t *msg_reply_error(enum status st, const char *message);

/* The other side's view: ST_OK for {"ok": true}, else fail() with the status of its code and its
 * message. A reply that is neither is ST_INTERNAL. */
enum status msg_reply_status(const json_t *body) MUST_CHECK;

#endif
