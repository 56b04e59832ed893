/* What the daemon reports of itself: stages, devices, keys; and who may have its keys evicted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/coord/desk_private.h"

/* ---- keys ---- */

struct desk_key *keys_entry(struct desk *d, const char *circuit)
{
    for (size_t i = 0; i < d->key_count; i++)
        if (strcmp(d->keys[i].circuit, circuit) == 0)
            return &d->keys[i];
    d->keys = desk_grow(d->keys, d->key_count, &d->key_capacity, sizeof *d->keys);
    struct desk_key *k = &d->keys[d->key_count++];
    *k = (struct desk_key){.resident = "no"};
    snprintf(k->circuit, sizeof k->circuit, "%s", circuit);
    return k;
}

bool keys_in_use(const struct desk *d, const char *circuit)
{
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const struct desk_slot *s = &d->slots[i];
        if (s->state >= SLOT_SUBMITTED && s->state <= SLOT_LEAN && strcmp(s->circuit, circuit) == 0)
            return true;
    }
    return false;
}

static enum status take_key(struct desk *d, const json_t *entry)
{
    const char *circuit = "", *resident = "";
    int64_t bytes;
    enum status st = msg_string(&circuit, entry, "circuit", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_string(&resident, entry, "resident", 1, STAGE_NAME_MAX);
    if (st == ST_OK)
        st = msg_int(&bytes, entry, "bytes", 0, INT64_MAX / 2);
    if (st == ST_OK && !job_id_valid(circuit))
        st = fail(ST_INPUT, "member \"circuit\": malformed name");
    if (st != ST_OK)
        return st;
    struct desk_key *k = keys_entry(d, circuit);
    snprintf(k->resident, sizeof k->resident, "%s", resident);
    k->bytes = (uint64_t)bytes;
    return ST_OK;
}

static enum status take_keys(struct desk *d, const json_t *keys)
{
    size_t i;
    json_t *entry;
    enum status st = ST_OK;
    if (!keys)
        return ST_OK;
    for (i = 0; i < d->key_count; i++) {
        snprintf(d->keys[i].resident, sizeof d->keys[i].resident, "no");
        d->keys[i].bytes = 0;
    }
    json_array_foreach(keys, i, entry) if (st == ST_OK) st = take_key(d, entry);
    return st;
}

/* ---- stages ---- */

/* [slot, generation, stage, estimate in ms]; one of another generation is old news. */
static enum status take_stage(struct desk *d, uint16_t client, const json_t *entry)
{
    json_int_t slot, generation, estimate;
    const char *stage;
    if (json_unpack_ex((json_t *)(uintptr_t)entry, NULL, JSON_STRICT, "[I, I, s, I]", &slot,
                       &generation, &stage, &estimate) != 0 ||
        slot < 0 || slot > UINT32_MAX || generation < 0 || generation > UINT32_MAX || estimate < 0)
        return fail(ST_INPUT, "member \"running\": must be [[slot, generation, stage, ms], ...]");
    struct handle h = {.slot = (uint32_t)slot, .generation = (uint32_t)generation};
    uint32_t i = slots_find(d, h);
    if (i == d->slot_count || d->slots[i].client != client)
        return ST_OK;
    struct desk_slot *s = &d->slots[i];
    if (strncmp(s->stage, stage, sizeof s->stage - 1) != 0) {
        snprintf(s->stage, sizeof s->stage, "%s", stage);
        s->stage_since = desk_now(d);
    }
    s->stage_estimate = estimate;
    return ST_OK;
}

static bool is_listed(const json_t *running, uint32_t slot)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(running, i, entry) if (json_integer_value(json_array_get(entry, 0)) ==
                                              (json_int_t)slot) return true;
    return false;
}

static enum status take_stages(struct desk *d, uint16_t client, const json_t *running)
{
    size_t i;
    const json_t *entry;
    enum status st = ST_OK;
    if (json_array_size(running) > MSG_HOLDING_MAX)
        return fail(ST_INPUT, "member \"running\": has more than %d elements", MSG_HOLDING_MAX);
    json_array_foreach(running, i, entry) if (st == ST_OK) st = take_stage(d, client, entry);
    for (uint32_t n = 0; n < d->slot_count; n++)
        if (d->slots[n].client == client && !is_listed(running, n))
            d->slots[n].stage[0] = '\0';
    return st;
}

/* ---- devices ---- */

static enum status take_devices(struct desk *d, const json_t *devices)
{
    size_t i;
    const json_t *entry;
    json_t *copy = json_array();
    if (json_array_size(devices) > DEVICES_MAX) {
        json_decref(copy);
        return fail(ST_INPUT, "member \"devices\": has more than %d elements", DEVICES_MAX);
    }
    json_array_foreach(devices, i, entry)
    {
        const json_t *busy = json_object_get(entry, "busy");
        const json_t *gbps = json_object_get(entry, "copy_gbps");
        const char *name = json_string_value(json_object_get(entry, "name"));
        json_array_append_new(
            copy,
            json_pack("{s:s%, s:O?, s:O?}", "name", name ? name : "", name ? strnlen(name, 128) : 0,
                      "busy",
                      json_is_real(busy) || json_is_integer(busy) || json_is_boolean(busy) ? busy
                                                                                           : NULL,
                      "copy_gbps", json_is_real(gbps) || json_is_integer(gbps) ? gbps : NULL));
    }
    json_decref(d->devices);
    d->devices = copy;
    return ST_OK;
}

struct answer handle_progress(struct desk *d, struct request *r)
{
    const json_t *body = r->message.body;
    enum status st = take_stages(d, r->client, json_object_get(body, "running"));
    if (st == ST_OK)
        st = take_devices(d, json_object_get(body, "devices"));
    if (st == ST_OK)
        st = take_keys(d, json_object_get(body, "keys"));
    return st == ST_OK ? answer_done(ANSWER_NOW) : answer_failure(d, st);
}

/* ---- the request ---- */

struct answer handle_keys(struct desk *d, struct request *r)
{
    const char *evict;
    json_t *list = json_array();
    enum status st = msg_string_opt(&evict, r->message.body, "evict", JOB_ID_MAX, NULL);
    if (st == ST_OK && evict && !d->host->is_admin(d->host->arg, r->peer.uid)) {
        json_decref(list);
        return answer_error("refused", "keys: only root, the owner of the daemons and the admin "
                                       "group may evict");
    }
    if (st == ST_OK && evict && !store_find(d->store, evict))
        st = fail(ST_INPUT, "circuit %s: there is none of this name", evict);
    if (st != ST_OK) {
        json_decref(list);
        return answer_failure(d, st);
    }
    if (evict)
        keys_entry(d, evict)->evict = true;
    for (size_t i = 0; list && i < d->key_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "circuit", d->keys[i].circuit,
                                              "resident", d->keys[i].resident, "bytes",
                                              (json_int_t)d->keys[i].bytes));
    return answer_ok(json_pack("{s:o}", "keys", list));
}
