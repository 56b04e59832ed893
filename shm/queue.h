/* The queue: which waiting job gets room next. Pure: no clock, no I/O; one thread.
 *
 * Order: effective class, then number. A job starts in its priority's class and climbs one class
 * for every ageing interval waited, up to critical; there the lowest number is first, so every job
 * is overtaken only by jobs submitted before it or during its first three intervals.
 *
 * The head's reservation: a job that is first but finds no room becomes the reserved head and stays
 * it until it is taken or removed; no job, of whatever class, is then preferred to it. Others are
 * given only what the head has no use for (backfill): what is left of each resource when the head's
 * need is set aside. A candidate that needs something of which the head lacks any is not taken, so
 * the head's wait is bounded by the end of what was running when it became the head.
 *
 * Suspects run alone: taken only when nothing runs, and nothing is taken while one runs. Behind a
 * suspect head nothing is backfilled. */
#ifndef PINION_SHM_QUEUE_H
#define PINION_SHM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/job.h"

struct queue;

enum {
    QUEUE_SCAN = 256, /* candidates looked at behind a blocked head, in order */
};

struct queue_entry {
    uint64_t number; /* the job's; unique in the queue */
    enum job_priority priority;
    bool suspect;
    uint64_t w_bytes,
        abc_bytes;   /* of the arena, each rounded up to pages; their sum fits 64 bits */
    uint64_t memory; /* bytes of working memory of its synthesis */
    int64_t since;   /* when it began to wait, ms of the clock of now. Clamped between those of its
                        neighbours of the same priority: a clock that steps cannot break the order */
};

/* What is free now. */
struct queue_room {
    uint64_t bytes;  /* of the arena */
    uint64_t memory; /* bytes of working memory */
    uint32_t slots;
    uint32_t running; /* jobs that hold room */
    bool alone;       /* one of them is a suspect */
    /* Whether the arena can really cut e's extents; NULL when bytes say all. */
    bool (*fits)(void *arg, const struct queue_entry *e);
    void *arg;
};

/* ageing_ms > 0: the time in which a job climbs one class. ST_RESOURCE. */
enum status queue_create(struct queue **out, int64_t ageing_ms) MUST_CHECK;
void queue_destroy(struct queue *q);

/* Another time, from now on. */
void queue_set_ageing(struct queue *q, int64_t ageing_ms);

/* Adds a copy of *e. O(1) for the newest number. A number already waiting is ST_INTERNAL. */
enum status queue_push(struct queue *q, const struct queue_entry *e) MUST_CHECK;

/* Takes the entry out, whether it was there; its reservation ends. */
bool queue_remove(struct queue *q, uint64_t number);

/* Takes the next job that has room into *out; false when there is none: nothing waits, or the head
 * is blocked (queue_head) and nothing may go before it. */
bool queue_take(struct queue *q, struct queue_entry *out, const struct queue_room *room,
                int64_t now);

/* The reserved head, NULL without one. Borrowed until the next call that changes q. */
const struct queue_entry *queue_head(const struct queue *q);

/* How many jobs are before that one at now. False when it does not wait, or more than QUEUE_SCAN
 * are. */
bool queue_position(const struct queue *q, size_t *position, uint64_t number, int64_t now);

size_t queue_count(const struct queue *q);

/* The class in which e competes at now. */
enum job_priority queue_class(const struct queue *q, const struct queue_entry *e, int64_t now);

#endif
