#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/file/output.h"
#include "common/file/proof_json.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"

/* An answer that came early although nothing has happened: too many wait at the coordinator. */
enum { PARK_MS = 900, EARLY_MS = 100, PAUSE_MS = 300 };

void remote_result_fini(struct remote_result *r)
{
    json_decref(r->body);
    json_decref(r->outcome);
    *r = (struct remote_result){.body = NULL};
}

static bool has_ended(const char *state)
{
    static const char *const ended[] = {"done", "failed", "cancelled", "held"};
    for (size_t i = 0; i < sizeof ended / sizeof ended[0]; i++)
        if (strcmp(state, ended[i]) == 0)
            return true;
    return false;
}

static enum status read_outcome(struct remote_result *out, const struct msg *m, const char *id)
{
    json_error_t error;
    if (strcmp(out->state, "done") != 0)
        return ST_OK;
    out->outcome = m->payload ? json_loadb((const char *)m->payload, m->payload_len,
                                           JSON_REJECT_DUPLICATES, &error)
                              : NULL;
    if (json_is_object(json_object_get(out->outcome, "proof")) &&
        json_is_array(json_object_get(out->outcome, "public")))
        return ST_OK;
    return fail(ST_INTERNAL, "job %s: is done, but its result is not readable", id);
}

/* One question, parked by the coordinator until the job ends. */
static enum status ask(struct client *c, struct remote_result *out, const char *id,
                       uint64_t wait_ms)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st = remote_call(
        c, &reply, "wait",
        json_pack("{s:s, s:I, s:b}", "id", id, "wait_ms", (json_int_t)wait_ms, "proof", 1), NULL,
        0);
    if (st == ST_OK) {
        out->body = json_incref(reply.msg.body);
        st = msg_string(&out->state, out->body, "state", 1, 16);
    }
    if (st == ST_OK)
        st = msg_string_opt(&out->error, out->body, "error", MSG_TEXT_MAX, "");
    if (st == ST_OK)
        st = read_outcome(out, &reply.msg, id);
    client_reply_fini(&reply);
    return st;
}

enum status remote_wait(struct client *c, struct remote_result *out, const char *id,
                        uint64_t timeout_ms)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    double start = clock_ms();
    for (;;) {
        struct remote_result r = {.body = NULL};
        double asked = clock_ms();
        double left = timeout_ms ? (double)timeout_ms - (clock_ms() - start) : PARK_MS;
        enum status st = ask(c, &r, id, left > PARK_MS ? PARK_MS : left > 0 ? (uint64_t)left : 0);
        if (st == ST_OK && !has_ended(r.state) && left <= 0)
            st = fail(ST_RESOURCE, "job %s: still %s after %" PRIu64 " s", id, r.state,
                      timeout_ms / 1000);
        if (st == ST_OK && has_ended(r.state)) {
            *out = r;
            return ST_OK;
        }
        remote_result_fini(&r);
        if (st != ST_OK)
            return st;
        if (clock_ms() - asked < EARLY_MS)
            nanosleep(&pause, NULL);
    }
}

enum status remote_verdict(const struct remote_result *r, const char *id)
{
    if (strcmp(r->state, "done") == 0)
        return ST_OK;
    return fail(ST_INVALID, "job %s: %s%s%s", id, r->state, *r->error ? ": " : "", r->error);
}

json_t *remote_result_json(const struct remote_result *r, const char *id)
{
    json_t *out = json_pack("{s:s, s:s}", "id", id, "state", r->state);
    static const char *const kept[] = {"attempts", "error", "stages", "position"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        json_t *value = json_object_get(r->body, kept[i]);
        if (value)
            json_object_set(out, kept[i], value);
    }
    if (r->outcome) {
        json_object_set(out, "proof", json_object_get(r->outcome, "proof"));
        json_object_set(out, "public", json_object_get(r->outcome, "public"));
    }
    return out;
}

static enum status proof_text(char **out, const json_t *value, const struct curve *curve)
{
    struct groth16_proof proof;
    char *compact = json_dumps(value, JSON_COMPACT);
    if (!compact)
        return fail(ST_RESOURCE, "no memory");
    struct file_map text = {"proof", (const uint8_t *)compact, strlen(compact)};
    enum status st = proof_json_parse(&text, curve, &proof);
    free(compact);
    return st == ST_OK ? proof_json_format(&proof, out) : st;
}

static enum status public_text(char **out, const json_t *value, const struct curve *curve)
{
    uint8_t *values = NULL;
    uint32_t n = (uint32_t)json_array_size(value);
    char *compact = json_dumps(value, JSON_COMPACT);
    if (!compact)
        return fail(ST_RESOURCE, "no memory");
    struct file_map text = {"public", (const uint8_t *)compact, strlen(compact)};
    enum status st = public_json_parse(&text, curve, n, &values);
    free(compact);
    if (st == ST_OK)
        st = public_json_format(curve, values, n, out);
    free(values);
    return st;
}

enum status remote_write(const struct remote_result *r, const char *proof_path,
                         const char *public_path)
{
    const json_t *proof = json_object_get(r->outcome, "proof");
    const char *name = json_string_value(json_object_get(proof, "curve"));
    const struct curve *curve = name ? curve_by_name(name) : NULL;
    char *a = NULL, *b = NULL;
    if (!curve)
        return fail(ST_INTERNAL, "the proof names no curve that is known here");
    enum status st = proof_text(&a, proof, curve);
    if (st == ST_OK)
        st = public_text(&b, json_object_get(r->outcome, "public"), curve);
    if (st == ST_OK && proof_path && public_path)
        st = output_write_pair(proof_path, a, public_path, b);
    else if (st == ST_OK && (proof_path || public_path))
        st = output_write(proof_path ? proof_path : public_path, proof_path ? a : b);
    free(a);
    free(b);
    return st;
}
