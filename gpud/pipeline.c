#include "gpud/pipeline.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "gpud/pipeline_private.h"

/* What a stage is expected to take when nothing is known of the circuit: deliberately long. */
#define COPY_BYTES_PER_MS 500000.0 /* 0.5 GB/s */
#define KEY_BYTES_PER_MS 100000.0
#define PROVE_MS_PER_ROW 0.1
enum { ESTIMATE_FLOOR_MS = 1000, STAGES = 3 };

struct pipeline {
    struct pipeline_parts parts;
    pthread_t threads[STAGES];
    unsigned started;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* anything below has changed */
    bool stopped, draining, sweep;
    uint64_t tickets;
    struct job *lanes[BACKEND_LANES]; /* who has the lane */
    struct job jobs[PIPELINE_JOBS];
    struct pipeline_totals totals;
};

/* ---- jobs; all locked ---- */

static struct job *oldest_in(struct pipeline *p, enum job_stage stage)
{
    struct job *found = NULL;
    for (int i = 0; i < PIPELINE_JOBS; i++) {
        struct job *j = &p->jobs[i];
        if (j->stage == stage && (!found || j->ticket < found->ticket))
            found = j;
    }
    return found;
}

static struct job *find(struct pipeline *p, struct handle h)
{
    for (int i = 0; i < PIPELINE_JOBS; i++) {
        struct job *j = &p->jobs[i];
        if (j->stage != STAGE_NONE && j->handle.slot == h.slot &&
            j->handle.generation == h.generation)
            return j;
    }
    return NULL;
}

static void enter(struct pipeline *p, struct job *j, enum job_stage stage)
{
    j->stage = stage;
    pthread_cond_broadcast(&p->moved);
}

static bool take_lane(struct pipeline *p, struct job *j)
{
    for (unsigned i = 0; i < BACKEND_LANES; i++)
        if (!p->lanes[i]) {
            p->lanes[i] = j;
            j->lane = i;
            return true;
        }
    return false;
}

static void leave_lane(struct pipeline *p, const struct job *j)
{
    for (unsigned i = 0; i < BACKEND_LANES; i++)
        if (p->lanes[i] == j)
            p->lanes[i] = NULL;
}

static bool has_free_lane(const struct pipeline *p)
{
    for (unsigned i = 0; i < BACKEND_LANES; i++)
        if (!p->lanes[i])
            return true;
    return false;
}

/* A known time twice over, else the guess; never so short that a busy machine passes it. */
static unsigned estimate(uint64_t known_us, double guess_ms)
{
    double ms = known_us ? 2e-3 * (double)known_us : guess_ms;
    return ESTIMATE_FLOOR_MS + (unsigned)(ms < 1e9 ? ms : 1e9);
}

static uint64_t us(double ms)
{
    return 1 + (uint64_t)(ms > 0 ? ms * 1e3 : 0);
}

/* ---- the end of a job ---- */

static enum pipeline_outcome outcome_of(enum status st)
{
    switch (st) {
    case ST_OK:
        return PIPELINE_PROVED;
    case ST_INPUT:
    case ST_USAGE:
        return PIPELINE_INPUT;
    case ST_INVALID:
        return PIPELINE_DEVICE;
    case ST_RESOURCE:
        return PIPELINE_RESOURCE;
    default:
        return PIPELINE_INTERNAL;
    }
}

static void end_job(struct pipeline *p, struct job *j, enum status st)
{
    snprintf(j->message, sizeof j->message, "%s", st == ST_OK ? "" : status_message());
    status_clear();
    j->outcome = outcome_of(st);
    if (j->key)
        keys_release(p->parts.keys, j->key);
    j->key = NULL;
    pthread_mutex_lock(&p->lock);
    leave_lane(p, j);
    p->totals.proved += st == ST_OK;
    p->totals.failed += st != ST_OK;
    p->totals.device_faults += j->device_fault;
    enter(p, j, STAGE_ENDED);
    pthread_mutex_unlock(&p->lock);
}

/* ---- the threads ---- */

/* Waits for the oldest job in `from` and moves it on; NULL when the pipeline stops. */
static struct job *next_job(struct pipeline *p, enum job_stage from, enum job_stage to)
{
    struct job *j = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->stopped && !(j = oldest_in(p, from)))
        pthread_cond_wait(&p->moved, &p->lock);
    if (p->stopped)
        j = NULL;
    if (j)
        enter(p, j, to);
    pthread_mutex_unlock(&p->lock);
    return j;
}

/* The copying thread's wait: for a job and a lane; sweeps keys meanwhile, being their thread. */
static struct job *next_to_copy(struct pipeline *p)
{
    struct job *j = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->stopped) {
        if (p->sweep) {
            p->sweep = false;
            pthread_mutex_unlock(&p->lock);
            keys_sweep(p->parts.keys);
            pthread_mutex_lock(&p->lock);
            continue;
        }
        if (!p->draining && has_free_lane(p) && (j = oldest_in(p, STAGE_QUEUED)))
            break;
        pthread_cond_wait(&p->moved, &p->lock);
    }
    if (j) {
        const struct vectors *v = &j->slice.vectors;
        take_lane(p, j);
        j->estimate_ms =
            estimate(0, (double)(v->w_bytes + v->a_bytes + v->b_bytes) / COPY_BYTES_PER_MS +
                            (double)v->w_bytes * 16 / KEY_BYTES_PER_MS);
        enter(p, j, STAGE_COPYING);
    }
    pthread_mutex_unlock(&p->lock);
    return j;
}

static void *copy_thread(void *arg)
{
    struct pipeline *p = arg;
    struct job *j;
    while ((j = next_to_copy(p)) != NULL) {
        const struct vectors *v = &j->slice.vectors;
        j->times.queue = clock_ms() - j->arrived_ms;
        enum status st = stage_copy(&p->parts, j);
        if (st != ST_OK) {
            end_job(p, j, st);
            continue;
        }
        pthread_mutex_lock(&p->lock);
        p->totals.copied_bytes += v->w_bytes + v->a_bytes + v->b_bytes + v->c_bytes;
        p->totals.copy_ms += j->times.copy;
        j->copied = true;
        enter(p, j, STAGE_COPIED);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static void *prove_thread(void *arg)
{
    struct pipeline *p = arg;
    struct job *j;
    while ((j = next_job(p, STAGE_COPIED, STAGE_PROVING)) != NULL) {
        double start = clock_ms();
        uint64_t known = atomic_load_explicit(&j->key->prove_us, memory_order_relaxed);
        pthread_mutex_lock(&p->lock);
        j->estimate_ms = estimate(known, PROVE_MS_PER_ROW * (double)j->key->key->domain);
        pthread_mutex_unlock(&p->lock);
        enum status st = stage_prove(&p->parts, j);
        double ms = clock_ms() - start;
        atomic_store_explicit(&j->key->prove_us, us(ms), memory_order_relaxed);
        if (st != ST_OK) {
            end_job(p, j, st);
            continue;
        }
        pthread_mutex_lock(&p->lock);
        p->totals.busy_ms += ms;
        leave_lane(p, j);
        enter(p, j, STAGE_PROVED);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* A proof that does not verify: made again and judged. */
static enum status remake(struct pipeline *p, struct job *j)
{
    char reason[JOB_MESSAGE_BYTES];
    snprintf(reason, sizeof reason, "%s", status_message());
    status_clear();
    pthread_mutex_lock(&p->lock);
    bool lean = j->lean;
    j->remaking = true;
    j->estimate_ms = estimate(0, 10 * PROVE_MS_PER_ROW * (double)j->key->key->domain);
    pthread_mutex_unlock(&p->lock);
    log_event(LEVEL_WARN, j->id, "proof does not verify, made again",
              log_string("device", p->parts.device->name), log_string("reason", reason));
    enum status st = stage_remake(&p->parts, j, lean);
    if (j->device_fault)
        log_event(LEVEL_ERROR, j->id, "device fault", log_string("device", p->parts.device->name));
    return st;
}

static void *verify_thread(void *arg)
{
    struct pipeline *p = arg;
    struct job *j;
    while ((j = next_job(p, STAGE_PROVED, STAGE_VERIFYING)) != NULL) {
        double start = clock_ms();
        pthread_mutex_lock(&p->lock);
        j->estimate_ms = estimate(0, 0);
        pthread_mutex_unlock(&p->lock);
        enum status st = stage_verify(j);
        if (st == ST_INVALID)
            st = remake(p, j);
        j->times.verify = clock_ms() - start;
        if (st == ST_OK)
            st = stage_format(j);
        end_job(p, j, st);
    }
    return NULL;
}

/* ---- the pipeline ---- */

static enum status start_threads(struct pipeline *p)
{
    static void *(*const run[STAGES])(void *) = {copy_thread, prove_thread, verify_thread};
    sigset_t all, before;
    int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the main thread's */
    while (p->started < STAGES && error == 0) {
        error = pthread_create(&p->threads[p->started], NULL, run[p->started], p);
        p->started += error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? ST_OK : fail(ST_RESOURCE, "no thread: %s", strerror(error));
}

enum status pipeline_create(struct pipeline **out, const struct pipeline_parts *parts)
{
    struct pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return fail(ST_RESOURCE, "no memory");
    pthread_condattr_t monotonic;
    p->parts = *parts;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    enum status st = start_threads(p);
    if (st == ST_OK)
        *out = p;
    else
        pipeline_destroy(p);
    return st;
}

static void clear_job(struct pipeline *p, struct job *j)
{
    if (j->key)
        keys_release(p->parts.keys, j->key);
    free(j->key_path);
    free(j->publics);
    free(j->proof_text);
    free(j->public_text);
    *j = (struct job){.stage = STAGE_NONE};
}

void pipeline_destroy(struct pipeline *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopped = true;
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->lock);
    keys_stop(p->parts.keys);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
    for (int i = 0; i < PIPELINE_JOBS; i++)
        clear_job(p, &p->jobs[i]);
    pthread_cond_destroy(&p->moved);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static enum status fill_job(struct job *j, const struct pipeline_job *from)
{
    char *path = strdup(from->key_path);
    if (!path)
        return fail(ST_RESOURCE, "no memory");
    *j = (struct job){.handle = from->handle, .key_path = path, .arrived_ms = clock_ms()};
    snprintf(j->id, sizeof j->id, "%s", from->id);
    snprintf(j->circuit, sizeof j->circuit, "%s", from->circuit);
    snprintf(j->seed, sizeof j->seed, "%s", from->seed ? from->seed : "");
    slice_vectors_init(&j->slice, from->record, from->base);
    return ST_OK;
}

enum status pipeline_add(struct pipeline *p, const struct pipeline_job *job)
{
    enum status st = ST_OK;
    pthread_mutex_lock(&p->lock);
    if (!find(p, job->handle)) {
        struct job *j = oldest_in(p, STAGE_NONE);
        st = j ? fill_job(j, job) : fail(ST_RESOURCE, "job %s: the pipeline is full", job->id);
        if (st == ST_OK) {
            j->ticket = ++p->tickets;
            enter(p, j, STAGE_QUEUED);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

unsigned pipeline_room(struct pipeline *p)
{
    unsigned room = 0;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < PIPELINE_JOBS; i++)
        room += p->jobs[i].stage == STAGE_NONE;
    pthread_mutex_unlock(&p->lock);
    return room;
}

void pipeline_drain(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->draining = true;
    pthread_mutex_unlock(&p->lock);
}

bool pipeline_busy(struct pipeline *p)
{
    bool busy = false;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < PIPELINE_JOBS; i++) {
        enum job_stage s = p->jobs[i].stage;
        busy = busy || (s != STAGE_NONE && s != STAGE_QUEUED);
    }
    pthread_mutex_unlock(&p->lock);
    return busy;
}

/* Locked. */
static struct job *with_event(struct pipeline *p)
{
    for (int i = 0; i < PIPELINE_JOBS; i++) {
        struct job *j = &p->jobs[i];
        if ((j->copied && !j->copy_told) || (j->stage == STAGE_ENDED && !j->end_told))
            return j;
    }
    return NULL;
}

bool pipeline_event(struct pipeline *p, struct pipeline_event *out)
{
    pthread_mutex_lock(&p->lock);
    struct job *j = with_event(p);
    if (j && j->copied && !j->copy_told) {
        j->copy_told = true;
        *out = (struct pipeline_event){.kind = PIPELINE_COPIED, .handle = j->handle, .id = j->id};
    } else if (j) {
        j->end_told = true;
        *out = (struct pipeline_event){.kind = PIPELINE_ENDED,
                                       .handle = j->handle,
                                       .id = j->id,
                                       .outcome = j->outcome,
                                       .device_fault = j->device_fault,
                                       .message = j->message,
                                       .proof = j->proof_text,
                                       .publics = j->public_text,
                                       .times = &j->times};
    }
    pthread_mutex_unlock(&p->lock);
    return j != NULL;
}

void pipeline_wait(struct pipeline *p, unsigned ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&p->lock);
    int error = 0;
    while (!with_event(p) && error == 0)
        error = pthread_cond_timedwait(&p->moved, &p->lock, &until);
    pthread_mutex_unlock(&p->lock);
}

void pipeline_forget(struct pipeline *p, struct handle h)
{
    pthread_mutex_lock(&p->lock);
    struct job *j = find(p, h);
    CHECK(!j || j->stage == STAGE_ENDED);
    if (j) {
        clear_job(p, j);
        pthread_cond_broadcast(&p->moved);
    }
    pthread_mutex_unlock(&p->lock);
}

bool pipeline_give_back(struct pipeline *p, struct handle h)
{
    pthread_mutex_lock(&p->lock);
    struct job *j = find(p, h);
    bool may = j && j->copy_told && !j->remaking && j->stage != STAGE_ENDED;
    if (may)
        j->lean = true;
    pthread_mutex_unlock(&p->lock);
    return may;
}

void pipeline_evict(struct pipeline *p, const char *circuit)
{
    keys_evict(p->parts.keys, circuit);
    pthread_mutex_lock(&p->lock);
    p->sweep = true;
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->lock);
}

unsigned pipeline_list(struct pipeline *p, struct pipeline_running out[PIPELINE_JOBS])
{
    static const char *const names[] = {"",      "queue",  "copy",   "copied",
                                        "prove", "proved", "verify", "ended"};
    unsigned n = 0;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < PIPELINE_JOBS; i++) {
        const struct job *j = &p->jobs[i];
        if (j->stage != STAGE_NONE)
            out[n++] = (struct pipeline_running){j->handle, names[j->stage], j->estimate_ms};
    }
    pthread_mutex_unlock(&p->lock);
    return n;
}

struct pipeline_totals pipeline_totals(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    struct pipeline_totals t = p->totals;
    pthread_mutex_unlock(&p->lock);
    return t;
}
