/* The queue against a list that is sorted anew at every step, and what its order promises. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm/queue.h"
#include "tests/unit/random.h"

enum { MODEL_MAX = 512 };

static const int64_t AGEING = 1000;

static struct queue_entry entry(uint64_t number, enum job_priority p, uint64_t bytes, int64_t since)
{
    return (struct queue_entry){.number = number,
                                .priority = p,
                                .w_bytes = bytes / 4,
                                .abc_bytes = bytes - bytes / 4,
                                .since = since};
}

static struct queue_room room(uint64_t bytes)
{
    return (struct queue_room){.bytes = bytes, .memory = UINT64_MAX, .slots = 100, .running = 1};
}

static struct queue *make(void)
{
    struct queue *q;
    assert_int_equal(queue_create(&q, AGEING), ST_OK);
    return q;
}

static void push(struct queue *q, struct queue_entry e)
{
    assert_int_equal(queue_push(q, &e), ST_OK);
}

static uint64_t take(struct queue *q, struct queue_room r, int64_t now)
{
    struct queue_entry e;
    return queue_take(q, &e, &r, now) ? e.number : 0;
}

/* --- the model: a bag of entries --- */

struct model {
    struct queue_entry at[MODEL_MAX];
    size_t count;
    uint64_t reserved;
};

static int model_class(const struct queue_entry *e, int64_t now)
{
    int64_t class = e->priority + (now - e->since) / AGEING;
    return class > PRIORITY_CRITICAL ? PRIORITY_CRITICAL : (int)class;
}

static int64_t model_now;

static int by_order(const void *a, const void *b)
{
    const struct queue_entry *x = a, *y = b;
    int cx = model_class(x, model_now), cy = model_class(y, model_now);
    return cx != cy ? cy - cx : x->number < y->number ? -1 : 1;
}

static bool model_fits(const struct queue_entry *e, const struct queue_room *r)
{
    return r->slots >= 1 && e->w_bytes + e->abc_bytes <= r->bytes && e->memory <= r->memory &&
           !r->alone && !(e->suspect && r->running > 0);
}

static uint64_t model_remove(struct model *m, size_t i)
{
    uint64_t number = m->at[i].number;
    m->at[i] = m->at[--m->count];
    if (m->reserved == number)
        m->reserved = 0;
    return number;
}

static uint64_t model_take(struct model *m, const struct queue_room *r, int64_t now)
{
    size_t head = 0;
    model_now = now;
    if (m->count == 0)
        return 0;
    qsort(m->at, m->count, sizeof m->at[0], by_order);
    for (size_t i = 0; i < m->count; i++)
        if (m->at[i].number == m->reserved)
            head = i;
    struct queue_entry h = m->at[head];
    if (model_fits(&h, r))
        return model_remove(m, head);
    m->reserved = h.number;
    if (h.suspect || r->slots < 1)
        return 0;
    for (size_t i = 0; i < m->count && i <= QUEUE_SCAN; i++) {
        struct queue_entry *e = &m->at[i];
        bool harmless = (e->w_bytes + e->abc_bytes == 0 ||
                         h.w_bytes + h.abc_bytes + e->w_bytes + e->abc_bytes <= r->bytes) &&
                        (e->memory == 0 || h.memory + e->memory <= r->memory) && r->slots >= 2;
        if (i != head && !e->suspect && harmless && model_fits(e, r))
            return model_remove(m, i);
    }
    return 0;
}

static void model_agrees(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)time(NULL), next = 1, taken = 0, backfilled = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    static struct model m;
    struct queue *q = make();
    int64_t now = 0;
    for (int step = 0; step < 20000; step++) {
        uint64_t r = random_u64(&seed);
        now += (int64_t)(r % 64);
        r >>= 8;
        if (r % 8 < 3 && m.count < MODEL_MAX) {
            r >>= 3;
            struct queue_entry e = entry(next++, (enum job_priority)(r % 4), r / 4 % 64, now);
            e.memory = r / 256 % 8;
            e.suspect = r / 2048 % 64 == 0;
            m.at[m.count++] = e;
            push(q, e);
        } else if (r % 8 == 3 && m.count > 0) {
            /* leaves the queue, and sometimes comes back with its old number and time */
            size_t i = r / 8 % m.count;
            struct queue_entry e = m.at[i];
            model_remove(&m, i);
            assert_true(queue_remove(q, e.number));
            assert_false(queue_remove(q, e.number));
            if (r / 4096 % 2 == 0) {
                m.at[m.count++] = e;
                push(q, e);
            }
        } else {
            r >>= 3;
            struct queue_room free = {.bytes = r % 80,
                                      .memory = r / 128 % 12,
                                      .slots = r / 4096 % 4,
                                      .running = r / 65536 % 3,
                                      .alone = r / 1048576 % 16 == 0};
            uint64_t want = model_take(&m, &free, now);
            assert_int_equal(take(q, free, now), want);
            taken += want != 0;
            backfilled += want != 0 && m.reserved != 0;
        }
        assert_int_equal(queue_count(q), m.count);
        assert_int_equal(queue_head(q) != NULL ? queue_head(q)->number : 0, m.reserved);
    }
    assert_true(taken > 2000 && backfilled > 20); /* or the test tests nothing */
    queue_destroy(q);
}

/* --- the order --- */

static void first_come_first_served(void **state)
{
    (void)state;
    struct queue *q = make();
    push(q, entry(1, PRIORITY_NORMAL, 1, 0));
    push(q, entry(2, PRIORITY_CRITICAL, 1, 0));
    push(q, entry(3, PRIORITY_NORMAL, 1, 0));
    push(q, entry(4, PRIORITY_LOW, 1, 0));
    push(q, entry(5, PRIORITY_HIGH, 1, 0));
    struct queue_entry twice = entry(3, PRIORITY_LOW, 1, 0);
    assert_int_equal(queue_push(q, &twice), ST_INTERNAL);
    status_clear();
    static const uint64_t order[] = {2, 5, 1, 3, 4, 0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(take(q, room(1), 0), order[i]);
    queue_destroy(q);
}

static void waiting_jobs_climb(void **state)
{
    (void)state;
    struct queue *q = make();
    struct queue_entry low = entry(1, PRIORITY_LOW, 1, 0);
    for (int64_t now = 0; now < 5 * AGEING; now += AGEING / 2) {
        int64_t class = now / AGEING;
        assert_int_equal(queue_class(q, &low, now), class < 3 ? class : 3);
    }
    assert_int_equal(queue_class(q, &low, -5), PRIORITY_LOW);
    assert_int_equal(queue_class(q, &low, INT64_MAX), PRIORITY_CRITICAL);
    low.since = INT64_MIN;
    assert_int_equal(queue_class(q, &low, INT64_MAX), PRIORITY_CRITICAL);
    queue_destroy(q);
}

/* A stream of critical jobs that always finds one waiting: the low job goes once it has climbed. */
static void overtaking_is_bounded(void **state)
{
    (void)state;
    struct queue *q = make();
    uint64_t number = 1, taken = 0;
    push(q, entry(number, PRIORITY_LOW, 1, 0));
    int64_t now = 0;
    for (; taken != 1 && now < 10 * AGEING; now += 10) {
        push(q, entry(++number, PRIORITY_CRITICAL, 1, now));
        push(q, entry(++number, PRIORITY_CRITICAL, 1, now));
        taken = take(q, room(1), now);
    }
    assert_int_equal(taken, 1);
    assert_true(now <= 3 * AGEING + 10);
    queue_destroy(q);
}

static void clock_steps_keep_the_order(void **state)
{
    (void)state;
    struct queue *q = make();
    push(q, entry(1, PRIORITY_NORMAL, 1, 9 * AGEING));
    push(q, entry(2, PRIORITY_NORMAL, 1, 0)); /* the clock went back */
    push(q, entry(3, PRIORITY_HIGH, 1, 9 * AGEING));
    assert_int_equal(take(q, room(1), 9 * AGEING), 3);
    assert_int_equal(take(q, room(1), 9 * AGEING), 1);
    assert_int_equal(take(q, room(1), 9 * AGEING), 2);
    queue_destroy(q);
}

/* --- the reservation --- */

static void nothing_precedes_the_reserved_head(void **state)
{
    (void)state;
    struct queue *q = make();
    push(q, entry(1, PRIORITY_NORMAL, 100, 0));
    assert_int_equal(take(q, room(99), 0), 0);
    assert_int_equal(queue_head(q)->number, 1);
    push(q, entry(2, PRIORITY_CRITICAL, 1, 0));
    assert_int_equal(take(q, room(99), 0), 0); /* it would take what the head waits for */
    assert_int_equal(take(q, room(100), 0), 1);
    assert_null(queue_head(q));
    assert_int_equal(take(q, room(0), 0), 0);
    assert_true(queue_remove(q, 2));
    assert_null(queue_head(q));
    queue_destroy(q);
}

static void backfill_leaves_the_heads_need(void **state)
{
    (void)state;
    struct queue *q = make();
    struct queue_entry head = entry(1, PRIORITY_NORMAL, 60, 0);
    head.memory = 10;
    push(q, head);
    push(q, entry(2, PRIORITY_NORMAL, 41, 0));
    push(q, entry(3, PRIORITY_LOW, 40, 0));
    struct queue_room free = room(100);
    free.memory = 9;
    assert_int_equal(take(q, free, 0),
                     3); /* the head lacks memory; 100 - 60 bytes are of no use to it */
    free.slots = 1;
    push(q, entry(4, PRIORITY_LOW, 40, 0));
    assert_int_equal(take(q, free, 0), 0); /* the last slot is the head's */
    free.memory = 10;
    assert_int_equal(take(q, free, 0), 1);
    queue_destroy(q);
}

static bool refuse_wide(void *arg, const struct queue_entry *e)
{
    return e->w_bytes + e->abc_bytes <= *(const uint64_t *)arg;
}

static void asks_whether_extents_can_be_cut(void **state)
{
    (void)state;
    uint64_t widest = 10;
    struct queue *q = make();
    struct queue_room free = room(100);
    free.fits = refuse_wide;
    free.arg = &widest;
    push(q, entry(1, PRIORITY_NORMAL, 11, 0));
    push(q, entry(2, PRIORITY_NORMAL, 10, 0));
    assert_int_equal(take(q, free, 0), 2);
    widest = 11;
    assert_int_equal(take(q, free, 0), 1);
    queue_destroy(q);
}

static void suspects_run_alone(void **state)
{
    (void)state;
    struct queue *q = make();
    struct queue_entry suspect = entry(1, PRIORITY_NORMAL, 1, 0);
    suspect.suspect = true;
    push(q, suspect);
    push(q, entry(2, PRIORITY_CRITICAL, 1, 0));
    push(q, entry(3, PRIORITY_NORMAL, 1, 0));
    assert_int_equal(take(q, room(100), 0), 2);
    assert_int_equal(take(q, room(100), 0), 0); /* 2 runs, and 3 would only prolong the wait */
    struct queue_room empty = room(100);
    empty.running = 0;
    assert_int_equal(take(q, empty, 0), 1);
    struct queue_room alone = room(100);
    alone.alone = true;
    assert_int_equal(take(q, alone, 0), 0);
    assert_int_equal(take(q, room(100), 0), 3);
    queue_destroy(q);
}

/* An arena of 100, one job that needs all of it, small jobs that come faster than they end: once
 * the big one is the head it is not overtaken, and it starts when what ran then has ended. */
static size_t position(const struct queue *q, uint64_t number, int64_t now)
{
    size_t p = SIZE_MAX;
    return queue_position(q, &p, number, now) ? p : SIZE_MAX;
}

static void positions_follow_the_order(void **state)
{
    (void)state;
    struct queue *q = make();
    push(q, entry(1, PRIORITY_LOW, 10, 0));
    push(q, entry(2, PRIORITY_NORMAL, 100, 0));
    push(q, entry(3, PRIORITY_NORMAL, 10, 500));
    assert_int_equal(position(q, 2, 500), 0);
    assert_int_equal(position(q, 3, 500), 1);
    assert_int_equal(position(q, 1, 500), 2);
    assert_int_equal(position(q, 4, 500), SIZE_MAX);
    assert_int_equal(take(q, room(50), 500), 0); /* 2 is the reserved head now */
    push(q, entry(4, PRIORITY_CRITICAL, 100, 500));
    assert_int_equal(position(q, 2, 500), 0);
    assert_int_equal(position(q, 4, 500), 1);
    assert_int_equal(position(q, 3, 500), 2);
    assert_int_equal(position(q, 1, 500), 3);
    for (uint64_t n = 5; n < 5 + QUEUE_SCAN; n++)
        push(q, entry(n, PRIORITY_HIGH, 10, 500));
    assert_int_equal(position(q, 1, 500), SIZE_MAX); /* too far behind to be counted */
    queue_destroy(q);
}

static void the_biggest_is_not_starved(void **state)
{
    (void)state;
    enum { ARENA = 100, SMALL = 10, DURATION = 50, BIG_COMES = 100, END = 3000 };
    static uint64_t started_at[END];
    const uint64_t big = 1000000;
    uint64_t free = ARENA, number = 0;
    int64_t head_since = -1, start = -1;
    struct queue *q = make();
    for (int64_t now = 0; now < END && start < 0; now++) {
        free += now >= DURATION ? SMALL * started_at[now - DURATION] : 0;
        push(q, entry(++number, PRIORITY_NORMAL, SMALL, now));
        push(q, entry(++number, PRIORITY_HIGH, SMALL, now));
        if (now == BIG_COMES)
            push(q, entry(big, PRIORITY_CRITICAL, ARENA, now));
        for (uint64_t n = take(q, room(free), now); n != 0; n = take(q, room(free), now)) {
            assert_true(head_since < 0 || n == big);
            if (n == big) {
                start = now;
                break;
            }
            free -= SMALL;
            started_at[now]++;
        }
        if (head_since < 0 && queue_head(q) != NULL && queue_head(q)->number == big)
            head_since = now;
    }
    assert_true(head_since >= 0 && start > head_since);
    assert_true(start - head_since <= DURATION);
    queue_destroy(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_agrees),
        cmocka_unit_test(first_come_first_served),
        cmocka_unit_test(waiting_jobs_climb),
        cmocka_unit_test(overtaking_is_bounded),
        cmocka_unit_test(clock_steps_keep_the_order),
        cmocka_unit_test(nothing_precedes_the_reserved_head),
        cmocka_unit_test(backfill_leaves_the_heads_need),
        cmocka_unit_test(asks_whether_extents_can_be_cut),
        cmocka_unit_test(suspects_run_alone),
        cmocka_unit_test(positions_follow_the_order),
        cmocka_unit_test(the_biggest_is_not_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
