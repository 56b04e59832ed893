#include "shm/queue.h"

#include <stdlib.h>
#include <string.h>

/* The waiting jobs of one priority by number: at[begin..end) of capacity. New jobs have the highest
 * number and leave from the front, so both ends move and the middle seldom does. */
struct line {
    struct queue_entry *at;
    size_t begin, end, capacity;
};

struct queue {
    struct line lines[JOB_PRIORITIES];
    int64_t ageing_ms;
    uint64_t reserved; /* number of the reserved head */
    bool has_reserved;
};

/* A walk over all lines in the queue's order. */
struct cursor {
    size_t next[JOB_PRIORITIES];
};

void queue_set_ageing(struct queue *q, int64_t ageing_ms)
{
    CHECK(ageing_ms > 0);
    q->ageing_ms = ageing_ms;
}

enum status queue_create(struct queue **out, int64_t ageing_ms)
{
    CHECK(ageing_ms > 0);
    struct queue *q = calloc(1, sizeof *q);
    if (q == NULL)
        return fail(ST_RESOURCE, "queue: out of memory");
    q->ageing_ms = ageing_ms;
    *out = q;
    return ST_OK;
}

void queue_destroy(struct queue *q)
{
    if (q == NULL)
        return;
    for (int p = 0; p < JOB_PRIORITIES; p++)
        free(q->lines[p].at);
    free(q);
}

size_t queue_count(const struct queue *q)
{
    size_t count = 0;
    for (int p = 0; p < JOB_PRIORITIES; p++)
        count += q->lines[p].end - q->lines[p].begin;
    return count;
}

enum job_priority queue_class(const struct queue *q, const struct queue_entry *e, int64_t now)
{
    int64_t waited, climbed;
    if (__builtin_sub_overflow(now, e->since, &waited))
        waited = now > e->since ? INT64_MAX : 0;
    climbed = waited > 0 ? waited / q->ageing_ms : 0;
    if (climbed >= PRIORITY_CRITICAL - (int64_t)e->priority)
        return PRIORITY_CRITICAL;
    return e->priority + (enum job_priority)climbed;
}

/* The place of number in the line: of the first entry that is not below it. */
static size_t lower_bound(const struct line *line, uint64_t number)
{
    size_t low = line->begin, high = line->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (line->at[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room for one more at the end: by moving to the front while half is unused, else by growing. */
static enum status reserve(struct line *line)
{
    if (line->end < line->capacity)
        return ST_OK;
    size_t count = line->end - line->begin;
    if (line->begin > line->capacity / 2) {
        memmove(line->at, line->at + line->begin, count * sizeof *line->at);
        line->begin = 0;
        line->end = count;
        return ST_OK;
    }
    size_t capacity = line->capacity == 0 ? 64 : 2 * line->capacity;
    struct queue_entry *at = reallocarray(line->at, capacity, sizeof *at);
    if (at == NULL)
        return fail(ST_RESOURCE, "queue: out of memory for %zu waiting jobs", count + 1);
    line->at = at;
    line->capacity = capacity;
    return ST_OK;
}

/* Opens a gap before place, moving the shorter side; returns the gap. */
static struct queue_entry *open_gap(struct line *line, size_t place)
{
    if (line->begin > 0 && place - line->begin < line->end - place) {
        memmove(line->at + line->begin - 1, line->at + line->begin,
                (place - line->begin) * sizeof *line->at);
        line->begin--;
        return line->at + place - 1;
    }
    memmove(line->at + place + 1, line->at + place, (line->end - place) * sizeof *line->at);
    line->end++;
    return line->at + place;
}

static void close_gap(struct line *line, size_t place)
{
    if (place - line->begin < line->end - place) {
        memmove(line->at + line->begin + 1, line->at + line->begin,
                (place - line->begin) * sizeof *line->at);
        line->begin++;
        return;
    }
    memmove(line->at + place, line->at + place + 1, (line->end - place - 1) * sizeof *line->at);
    line->end--;
}

/* Where number waits: a line and a place in it. */
static bool find(const struct queue *q, uint64_t number, int *in, size_t *place)
{
    for (int p = 0; p < JOB_PRIORITIES; p++) {
        const struct line *line = &q->lines[p];
        *place = lower_bound(line, number);
        if (*place < line->end && line->at[*place].number == number) {
            *in = p;
            return true;
        }
    }
    return false;
}

enum status queue_push(struct queue *q, const struct queue_entry *e)
{
    CHECK((unsigned)e->priority < JOB_PRIORITIES);
    CHECK(e->w_bytes + e->abc_bytes >= e->w_bytes);
    int in;
    size_t place;
    if (find(q, e->number, &in, &place))
        return fail(ST_INTERNAL, "queue: job %llu waits already", (unsigned long long)e->number);
    struct line *line = &q->lines[e->priority];
    enum status st = reserve(line);
    if (st != ST_OK)
        return st;
    place = lower_bound(line, e->number);
    struct queue_entry *gap = open_gap(line, place);
    *gap = *e;
    if (gap + 1 < line->at + line->end && gap->since > gap[1].since)
        gap->since = gap[1].since;
    if (gap > line->at + line->begin && gap->since < gap[-1].since)
        gap->since = gap[-1].since;
    return ST_OK;
}

bool queue_remove(struct queue *q, uint64_t number)
{
    int in;
    size_t place;
    if (!find(q, number, &in, &place))
        return false;
    close_gap(&q->lines[in], place);
    if (q->has_reserved && q->reserved == number)
        q->has_reserved = false;
    return true;
}

const struct queue_entry *queue_head(const struct queue *q)
{
    int in;
    size_t place;
    if (!q->has_reserved)
        return NULL;
    CHECK(find(q, q->reserved, &in, &place));
    return &q->lines[in].at[place];
}

static struct cursor cursor_start(const struct queue *q)
{
    struct cursor c;
    for (int p = 0; p < JOB_PRIORITIES; p++)
        c.next[p] = q->lines[p].begin;
    return c;
}

/* The next entry in order, NULL at the end. Within a line since never decreases with the number, so
 * the front of each line is its best. */
static const struct queue_entry *cursor_next(struct cursor *c, const struct queue *q, int64_t now)
{
    const struct queue_entry *best = NULL;
    enum job_priority best_class = PRIORITY_LOW;
    for (int p = 0; p < JOB_PRIORITIES; p++) {
        if (c->next[p] == q->lines[p].end)
            continue;
        const struct queue_entry *e = &q->lines[p].at[c->next[p]];
        enum job_priority class = queue_class(q, e, now);
        if (best == NULL || class > best_class ||
            (class == best_class && e->number < best->number)) {
            best = e;
            best_class = class;
        }
    }
    if (best != NULL)
        c->next[best->priority]++;
    return best;
}

bool queue_position(const struct queue *q, size_t *position, uint64_t number, int64_t now)
{
    const struct queue_entry *e;
    struct cursor c = cursor_start(q);
    if (q->has_reserved && q->reserved == number) {
        *position = 0;
        return true;
    }
    /* the reserved head goes before all, whatever its place */
    size_t before = q->has_reserved ? 1 : 0;
    for (int i = 0; i <= QUEUE_SCAN && (e = cursor_next(&c, q, now)) != NULL; i++) {
        if (e->number == number) {
            *position = before;
            return true;
        }
        before += q->has_reserved && e->number == q->reserved ? 0 : 1;
    }
    return false;
}

static bool has_room(const struct queue_entry *e, const struct queue_room *room)
{
    if (room->alone || (e->suspect && room->running > 0))
        return false;
    return room->slots > 0 && e->w_bytes + e->abc_bytes <= room->bytes &&
           e->memory <= room->memory && (room->fits == NULL || room->fits(room->arg, e));
}

static uint64_t less(uint64_t from, uint64_t take)
{
    return from > take ? from - take : 0;
}

/* The first job behind the blocked head that fits into what the head has no use for, NULL if none.
 * The head needs a slot too, so one is set aside. */
static const struct queue_entry *backfill(const struct queue *q, const struct queue_entry *head,
                                          const struct queue_room *room, int64_t now)
{
    if (head->suspect || room->alone)
        return NULL;
    struct queue_room rest = *room;
    rest.bytes = less(room->bytes, head->w_bytes + head->abc_bytes);
    rest.memory = less(room->memory, head->memory);
    rest.slots = room->slots > 0 ? room->slots - 1 : 0;
    struct cursor c = cursor_start(q);
    for (int i = 0; i <= QUEUE_SCAN; i++) {
        const struct queue_entry *e = cursor_next(&c, q, now);
        if (e == NULL)
            return NULL;
        if (e != head && !e->suspect && has_room(e, &rest))
            return e;
    }
    return NULL;
}

bool queue_take(struct queue *q, struct queue_entry *out, const struct queue_room *room,
                int64_t now)
{
    const struct queue_entry *e = queue_head(q);
    if (e == NULL) {
        struct cursor c = cursor_start(q);
        e = cursor_next(&c, q, now);
    }
    if (e == NULL)
        return false;
    if (!has_room(e, room)) {
        q->reserved = e->number;
        q->has_reserved = true;
        e = backfill(q, e, room, now);
        if (e == NULL)
            return false;
    }
    *out = *e;
    CHECK(queue_remove(q, e->number));
    return true;
}
