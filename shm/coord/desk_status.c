/* The status, as `pinion status --json` prints it. */
#include <unistd.h>

#include "shm/coord/desk_private.h"

static json_t *arena_status(const struct desk *d)
{
    static const char *const kinds[ARENA_KINDS] = {"auto", "hugetlb", "shm", "private"};
    uint64_t quarantined = 0;
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (d->slots[i].state == SLOT_QUARANTINE)
            quarantined += d->slots[i].held_bytes;
    return json_pack("{s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I}", "bytes",
                     (json_int_t)freemap_bytes(d->map), "granted",
                     (json_int_t)freemap_granted_bytes(d->map), "free",
                     (json_int_t)freemap_free_bytes(d->map), "quarantined", (json_int_t)quarantined,
                     "kind", kinds[d->arena->kind], "page", (json_int_t)d->arena->page, "slots",
                     (json_int_t)d->slot_count, "slots_used", (json_int_t)d->used_slots);
}

static json_t *slot_status(const struct desk *d)
{
    json_t *states = json_object();
    for (int state = SLOT_WRITING; state < SLOT_STATES; state++) {
        json_int_t n = 0;
        for (uint32_t i = 0; i < d->slot_count; i++)
            n += d->slots[i].state == (enum slot_state)state;
        json_object_set_new(states, slot_state_name(state), json_integer(n));
    }
    return states;
}

static json_t *job_status(struct desk *d, uint32_t uid)
{
    uint64_t counts[JOB_STATES] = {0};
    json_t *jobs = json_object();
    bool everyone = d->host->is_admin(d->host->arg, uid);
    if (journal_count(d->journal, counts, everyone, uid) != ST_OK)
        status_clear();
    for (int state = 0; state < JOB_STATES; state++)
        json_object_set_new(jobs, job_state_name(state), json_integer((json_int_t)counts[state]));
    return jobs;
}

static json_t *synth_status(const struct desk *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->client_count; i++)
        if (d->clients[i].used && d->clients[i].role == CLIENT_SYNTH)
            json_array_append_new(list, json_pack("{s:i, s:b}", "pid", d->clients[i].pid, "dying",
                                                  d->clients[i].dying));
    return list;
}

static json_t *gpud_status(const struct desk *d)
{
    uint16_t i = clients_gpud(d);
    return i == CLIENT_NONE ? NULL : json_pack("{s:i}", "pid", d->clients[i].pid);
}

static json_t *key_status(const struct desk *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->key_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "circuit", d->keys[i].circuit,
                                              "resident", d->keys[i].resident, "bytes",
                                              (json_int_t)d->keys[i].bytes));
    return list;
}

static json_t *budget_status(const struct desk *d)
{
    uint64_t keys = 0;
    for (size_t i = 0; i < d->key_count; i++)
        keys += d->keys[i].bytes;
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "bytes", (json_int_t)d->config->host_memory,
                     "arena", (json_int_t)d->arena->bytes, "keys", (json_int_t)keys, "synthesis",
                     (json_int_t)d->memory_reserved, "free", (json_int_t)slots_memory_free(d));
}

struct answer handle_status(struct desk *d, struct request *r)
{
    json_t *body = json_pack(
        "{s:o, s:o, s:o, s:o, s:{s:i}, s:o?, s:o, s:O?, s:o, s:I, s:I, s:s, s:i, s:s, s:I, s:I, "
        "s:b, s:b, s:o, s:o, s:o}",
        "arena", arena_status(d), "slots", slot_status(d), "jobs", job_status(d, r->peer.uid),
        "budget", budget_status(d), "coord", "pid", (int)getpid(), "gpud", gpud_status(d), "synths",
        synth_status(d), "devices", d->devices, "keys", key_status(d), "restarts",
        (json_int_t)d->deaths, "resynthesized", (json_int_t)d->resynthesized, "version",
        d->config->version, "protocol", DESK_PROTOCOL, "config", d->config->source, "uptime_ms",
        (json_int_t)(desk_now(d) - d->started), "queued", (json_int_t)queue_count(d->queue),
        "draining", d->draining, "drained", d->draining && desk_is_idle(d), "map", view_map(d),
        "stages", view_means(d), "events", view_events(d, r));
    if (body && !d->devices)
        json_object_set_new(body, "devices", json_array());
    return answer_ok(body);
}
