/* What the status says beyond counts, for people who watch: a map of the arena, the mean time of each
 * stage, and what happened last. */
#include <stdio.h>
#include <string.h>

#include "shm/coord/desk_private.h"

/* ---- events ---- */

void view_note(struct desk *d, const char *event, const char *id, uint32_t uid)
{
    struct desk_note *n = &d->notes[d->note_count++ % NOTES];
    *n = (struct desk_note){.at = desk_wall(d), .event = event, .uid = uid};
    if (id)
        snprintf(n->id, sizeof n->id, "%s", id);
}

/* The oldest first. Jobs of others are not named. */
json_t *view_events(const struct desk *d, const struct request *r)
{
    json_t *list = json_array();
    bool all = d->host->is_admin(d->host->arg, r->peer.uid);
    size_t first = d->note_count > NOTES ? d->note_count - NOTES : 0;
    for (size_t i = first; i < d->note_count; i++) {
        const struct desk_note *n = &d->notes[i % NOTES];
        bool named = n->id[0] && (all || n->uid == r->peer.uid);
        json_array_append_new(list, json_pack("{s:I, s:s, s:s?}", "at", (json_int_t)n->at, "event",
                                              n->event, "job", named ? n->id : NULL));
    }
    return list;
}

/* ---- stages ---- */

static struct desk_mean *find_mean(struct desk *d, const char *name)
{
    for (size_t i = 0; i < d->mean_count; i++)
        if (strcmp(d->means[i].stage, name) == 0)
            return &d->means[i];
    if (d->mean_count == MEANS_MAX || strlen(name) > STAGE_NAME_MAX)
        return NULL;
    struct desk_mean *m = &d->means[d->mean_count++];
    *m = (struct desk_mean){.count = 0};
    snprintf(m->stage, sizeof m->stage, "%s", name);
    return m;
}

void view_learn(struct desk *d, json_t *stages)
{
    const char *name;
    json_t *value;
    json_object_foreach(stages, name, value)
    {
        struct desk_mean *m = json_is_number(value) ? find_mean(d, name) : NULL;
        if (!m)
            continue;
        m->count += m->count < MEAN_OF;
        m->ms += (json_number_value(value) - m->ms) / (double)m->count;
    }
}

json_t *view_means(const struct desk *d)
{
    json_t *means = json_object();
    for (size_t i = 0; i < d->mean_count; i++)
        json_object_set_new(means, d->means[i].stage, json_real(d->means[i].ms));
    return means;
}

/* ---- the map ---- */

/* Marks the cells that an extent touches; where slices meet, the state nearest to its end stays. */
static void mark(char *map, const struct desk *d, const struct extent *e, enum slot_state state)
{
    uint64_t cell = (d->arena->bytes + MAP_CELLS - 1) / MAP_CELLS;
    for (uint64_t i = e->offset / cell; i <= (e->offset + e->bytes - 1) / cell; i++) {
        char letter = slot_state_name(state)[0];
        const char *order = ".WSCPLQ";
        if (strchr(order, letter) > strchr(order, map[i]))
            map[i] = letter;
    }
}

/* One letter for each MAP_CELLS-th of the arena: the first of a state's name, or a dot. */
json_t *view_map(const struct desk *d)
{
    char map[MAP_CELLS + 1];
    memset(map, '.', MAP_CELLS);
    map[MAP_CELLS] = '\0';
    for (uint32_t i = 0; i < d->slot_count; i++) {
        struct slice_record r;
        if (d->slots[i].state == SLOT_FREE)
            continue;
        CHECK(ledger_read_slot(d->ledger, i, &r) == ST_OK);
        for (uint32_t e = 0; e < slice_held_extents(&r); e++)
            mark(map, d, &r.extent[e], r.state);
    }
    return json_string(map);
}
