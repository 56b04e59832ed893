#include "common/msg.h"

#include <stdlib.h>
#include <string.h>

/* Jansson descends recursively, so the depth is known before it begins. */
static bool too_deep(const char *text, size_t len)
{
    unsigned depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > MSG_DEPTH_MAX)
                return true;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

static enum status parse(json_t **out, const char *text, size_t len)
{
    json_error_t error;
    if (len > MSG_TEXT_MAX)
        return fail(ST_INPUT, "message: %zu bytes of text: at most %d are allowed", len,
                    MSG_TEXT_MAX);
    if (too_deep(text, len))
        return fail(ST_INPUT, "message: nested deeper than %d", MSG_DEPTH_MAX);
    json_t *body = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (body == NULL)
        return json_error_code(&error) == json_error_out_of_memory
                   ? fail(ST_RESOURCE, "message: out of memory")
                   : fail(ST_INPUT, "message: not JSON at byte %d: %s", error.position, error.text);
    if (!json_is_object(body)) {
        json_decref(body);
        return fail(ST_INPUT, "message: must be a JSON object");
    }
    *out = body;
    return ST_OK;
}

enum status msg_decode(struct msg *out, const void *bytes, size_t len)
{
    json_t *body = NULL;
    if (len == 0)
        return fail(ST_INPUT, "message: empty");
    const char *text = bytes, *nul = memchr(bytes, 0, len);
    size_t text_len = nul != NULL ? (size_t)(nul - text) : len;
    size_t payload_len = nul != NULL ? len - text_len - 1 : 0;
    if (payload_len > MSG_PAYLOAD_MAX)
        return fail(ST_INPUT, "message: a payload of %zu bytes: at most %d are allowed",
                    payload_len, MSG_PAYLOAD_MAX);
    enum status st = parse(&body, text, text_len);
    if (st != ST_OK)
        return st;
    out->body = body;
    out->payload = nul != NULL ? (const uint8_t *)nul + 1 : NULL;
    out->payload_len = payload_len;
    return ST_OK;
}

void msg_fini(struct msg *m)
{
    json_decref(m->body);
    *m = (struct msg){0};
}

enum status msg_encode(void **out, size_t *len, const json_t *body, const void *payload,
                       size_t payload_len)
{
    const size_t flags = JSON_COMPACT;
    if (body == NULL)
        return fail(ST_RESOURCE, "message: out of memory");
    size_t text_len = json_dumpb(body, NULL, 0, flags);
    if (text_len == 0 || text_len > MSG_TEXT_MAX || payload_len > MSG_PAYLOAD_MAX)
        return fail(ST_INTERNAL, "message: text of %zu bytes, payload of %zu: cannot be sent",
                    text_len, payload_len);
    char *bytes = malloc(text_len + 1 + payload_len);
    if (bytes == NULL)
        return fail(ST_RESOURCE, "message: out of memory");
    if (json_dumpb(body, bytes, text_len, flags) != text_len) {
        free(bytes);
        return fail(ST_RESOURCE, "message: out of memory");
    }
    *len = text_len;
    if (payload != NULL) {
        bytes[text_len] = '\0';
        memcpy(bytes + text_len + 1, payload, payload_len);
        *len += 1 + payload_len;
    }
    *out = bytes;
    return ST_OK;
}

/* --- the head --- */

/* client, incarnation, seq and holding, all of them required but holding. */
static enum status read_client(struct msg_head *head, const json_t *body)
{
    int64_t client, seq = 0;
    enum status st = msg_int(&client, body, "client", 0, UINT32_MAX);
    if (st == ST_OK)
        st = msg_hex64(&head->incarnation, body, "incarnation");
    if (st == ST_OK)
        st = msg_int(&seq, body, "seq", 0, INT64_MAX);
    if (st == ST_OK)
        st = msg_pairs(head->holding, &head->holding_count, MSG_HOLDING_MAX, body, "holding");
    if (st != ST_OK)
        return st;
    head->client_given = true;
    head->client = (uint32_t)client;
    head->seq = (uint64_t)seq;
    return ST_OK;
}

enum status msg_read_head(struct msg_head *out, const json_t *body)
{
    static const char *const of_clients[] = {"client", "incarnation", "seq", "holding"};
    struct msg_head head = {0};
    const char *op;
    bool any = false;
    enum status st = msg_string(&op, body, "op", 1, MSG_OP_MAX);
    if (st != ST_OK)
        return st;
    memcpy(head.op, op, strlen(op) + 1);
    for (size_t i = 0; i < sizeof of_clients / sizeof of_clients[0]; i++)
        any = any || json_object_get(body, of_clients[i]) != NULL;
    if (any)
        st = read_client(&head, body);
    if (st == ST_OK)
        *out = head;
    return st;
}

/* --- replies --- */

static const struct {
    enum status st;
    const char *code;
} codes[] = {
    {ST_INVALID, "invalid"},   {ST_USAGE, "usage"},         {ST_INPUT, "input"},
    {ST_RESOURCE, "resource"}, {ST_NO_DAEMON, "no_daemon"}, {ST_INTERNAL, "internal"},
};
enum { CODES = sizeof codes / sizeof codes[0] };

json_t *msg_reply_ok(void)
{
    return json_pack("{s:b}", "ok", 1);
}

json_t *msg_reply_error(enum status st, const char *message)
{
    const char *code = "internal";
    for (int i = 0; i < CODES; i++)
        if (codes[i].st == st)
            code = codes[i].code;
    return json_pack("{s:b, s:{s:s, s:o}}", "ok", 0, "error", "code", code, "message",
                     msg_json_text(message));
}

enum status msg_reply_status(const json_t *body)
{
    const json_t *ok = json_object_get(body, "ok");
    const json_t *error = json_object_get(body, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    if (json_is_true(ok))
        return ST_OK;
    if (!json_is_false(ok) || code == NULL || message == NULL)
        return fail(ST_INTERNAL, "message: the reply has neither \"ok\": true nor an error");
    for (int i = 0; i < CODES; i++)
        if (strcmp(codes[i].code, code) == 0)
            return fail(codes[i].st, "%s", message);
    return fail(ST_INTERNAL, "%s", message);
}
