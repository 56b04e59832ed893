#include "gpud/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "gpud/parts.h"
#include "gpud/pipeline_private.h"
#include "gpud/report.h"
#include "shm/member.h"

enum {
    AFTER_STOP_MS = 5000,
    IDLE_WAIT_MS = 500, /* how long an idle daemon's question may wait */
    BUSY_POLL_MS = 20,  /* how often a busy one asks for more */
    PROGRESS_MS = 500,  /* at least every second is promised */
    PATH_BYTES = 4096,
    REFUSAL_BYTES = 512,
};

struct daemon {
    struct member *member;
    struct parts parts;
    struct pipeline *pipeline;
    struct arena_map arena;
    const atomic_bool *stop;
    struct report report;
    struct handle suspect; /* the suspect job inside, which runs alone; generation 0: none */
    double asked_ms, told_ms;
    char refusal[REFUSAL_BYTES]; /* why the last report was not taken, "" if it was */
};

static bool stopping(const struct daemon *d)
{
    /* relaxed: set by a signal handler; nothing else is read after it */
    return atomic_load_explicit(d->stop, memory_order_relaxed);
}

/* Makes a request of which nothing but its success matters. A stale handle means that the job is no
 * longer this daemon's; any other refusal is logged and kept in d->refusal. Only what ends the
 * process is returned. */
static enum status tell(struct daemon *d, const char *job, const char *op, json_t *members,
                        const void *payload, size_t len)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st = member_call(d->member, &reply, op, members, payload, len);
    client_reply_fini(&reply);
    d->refusal[0] = '\0';
    if (st == ST_OK || st == ST_NO_DAEMON || member_orphaned(d->member))
        return st;
    log_event(st == ST_STALE ? LEVEL_INFO : LEVEL_WARN, job, "report refused", log_string("op", op),
              log_string("reason", status_message()));
    if (st != ST_STALE)
        snprintf(d->refusal, sizeof d->refusal, "%s", status_message());
    status_clear();
    return ST_OK;
}

/* ---- from the pipeline to the coordinator ---- */

static enum status tell_copied(struct daemon *d, const struct pipeline_event *e)
{
    return tell(d, e->id, "copied", json_pack("{s:o}", "handle", member_handle_json(e->handle)),
                NULL, 0);
}

static enum status tell_failed(struct daemon *d, const struct pipeline_event *e,
                               enum pipeline_outcome outcome, const char *message)
{
    static const char *const kinds[] = {
        [PIPELINE_PROVED] = "internal",   [PIPELINE_INPUT] = "input",
        [PIPELINE_DEVICE] = "device",     [PIPELINE_RESOURCE] = "resource",
        [PIPELINE_INTERNAL] = "internal",
    };
    const char *kind = kinds[outcome];
    log_event(LEVEL_WARN, e->id, "not proved", log_string("kind", kind),
              log_string("reason", message));
    return tell(d, e->id, "proof_failed",
                json_pack("{s:o, s:s, s:o, s:s}", "handle", member_handle_json(e->handle), "kind",
                          kind, "message", msg_json_text(message), "device", d->parts.device->name),
                NULL, 0);
}

static enum status tell_done(struct daemon *d, const struct pipeline_event *e)
{
    static const char form[] = "{\"proof\": %s, \"public\": %s}";
    size_t size = strlen(e->proof) + strlen(e->publics) + sizeof form;
    char *payload = malloc(size);
    if (!payload)
        return fail(ST_RESOURCE, "no memory");
    int len = snprintf(payload, size, form, e->proof, e->publics);
    json_t *members = json_pack("{s:o, s:o}", "handle", member_handle_json(e->handle), "stages",
                                report_stages(e->times));
    enum status st = tell(d, e->id, "done", members, payload, (size_t)len);
    free(payload);
    /* without another word it would be handed out, proved and refused for ever */
    if (st == ST_OK && d->refusal[0]) {
        char reason[REFUSAL_BYTES];
        memcpy(reason, d->refusal, sizeof reason);
        return tell_failed(d, e, PIPELINE_INTERNAL, reason);
    }
    log_event(LEVEL_INFO, e->id, "proved", log_real("verify_ms", e->times->verify),
              log_bool("device_fault", e->device_fault));
    return st;
}

static enum status deliver(struct daemon *d)
{
    struct pipeline_event e;
    enum status st = ST_OK;
    while (st == ST_OK && pipeline_event(d->pipeline, &e)) {
        FAULT_POINT(e.kind == PIPELINE_COPIED ? "gpud.copied" : "gpud.proved");
        if (e.kind == PIPELINE_COPIED) {
            st = tell_copied(d, &e);
            continue;
        }
        st = e.outcome == PIPELINE_PROVED ? tell_done(d, &e)
                                          : tell_failed(d, &e, e.outcome, e.message);
        FAULT_POINT("gpud.done");
        if (st != ST_OK)
            break;
        member_drop(d->member, e.handle);
        if (e.handle.slot == d->suspect.slot && e.handle.generation == d->suspect.generation)
            d->suspect = (struct handle){0, 0};
        pipeline_forget(d->pipeline, e.handle);
        d->asked_ms = 0; /* there is room: ask at once */
    }
    return st;
}

static enum status tell_progress(struct daemon *d)
{
    double now = clock_ms();
    if (now - d->told_ms < PROGRESS_MS)
        return ST_OK;
    d->told_ms = now;
    return tell(d, NULL, "progress",
                report_progress(&d->report, d->pipeline, d->parts.keys, d->parts.device, now), NULL,
                0);
}

/* ---- from the coordinator to the pipeline ---- */

static enum status read_job(struct pipeline_job *out, bool *suspect, const json_t *job)
{
    enum status st = msg_string(&out->id, job, "id", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_string(&out->circuit, job, "circuit", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_string(&out->key_path, job, "key", 1, PATH_BYTES);
    if (st == ST_OK)
        st = msg_string_opt(&out->seed, job, "randomness", PIPELINE_SEED_DIGITS, NULL);
    if (st == ST_OK)
        st = msg_bool_opt(suspect, job, "suspect", false);
    if (st == ST_OK)
        st = member_handle_read(&out->handle, job, "handle");
    return st;
}

/* A slice is taken by what the ledger says of it. */
static enum status read_record(struct daemon *d, struct slice_record *out, struct handle h)
{
    enum status st = ledger_read(member_ledger(d->member), h, out);
    if (st == ST_OK && (out->state != SLOT_COPYING || out->epoch != member_incarnation(d->member)))
        st = fail(ST_STALE, "slot %u: is %s, not this daemon's to copy", h.slot,
                  slot_state_name(out->state));
    return st;
}

static enum status take_job(struct daemon *d, const json_t *body)
{
    struct pipeline_job job = {.base = d->arena.base};
    struct slice_record record;
    bool suspect = false;
    enum status st = read_job(&job, &suspect, body);
    if (st != ST_OK)
        return st;
    if (job.seed && !member_seed_allowed(d->member))
        job.seed = NULL;
    st = read_record(d, &record, job.handle);
    job.record = &record;
    if (st == ST_OK)
        st = pipeline_add(d->pipeline, &job);
    if (st != ST_OK) { /* not held, and so taken back with the next request */
        log_event(LEVEL_WARN, job.id, "job not taken", log_string("reason", status_message()));
        status_clear();
        return ST_OK;
    }
    FAULT_POINT("gpud.taken");
    member_hold(d->member, job.handle);
    if (suspect)
        d->suspect = job.handle;
    return ST_OK;
}

static enum status give_back(struct daemon *d, const json_t *body)
{
    uint32_t pairs[MSG_HOLDING_MAX][2];
    size_t n = 0;
    enum status st = msg_pairs(pairs, &n, MSG_HOLDING_MAX, body, "give_back");
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct handle h = {pairs[i][0], pairs[i][1]};
        if (pipeline_give_back(d->pipeline, h))
            st = tell(d, NULL, "gave_back", json_pack("{s:o}", "handle", member_handle_json(h)),
                      NULL, 0);
    }
    return st;
}

static enum status take_orders(struct daemon *d, const json_t *body)
{
    size_t i;
    json_t *value;
    enum status st = ST_OK;
    json_array_foreach(json_object_get(body, "jobs"), i, value)
    {
        if (st == ST_OK)
            st = take_job(d, value);
        d->asked_ms = 0;
    }
    json_array_foreach(json_object_get(body, "evict"), i, value)
    {
        if (json_is_string(value))
            pipeline_evict(d->pipeline, json_string_value(value));
    }
    return st == ST_OK ? give_back(d, body) : st;
}

static enum status ask(struct daemon *d, bool idle)
{
    struct client_reply reply = {.bytes = NULL};
    unsigned room = d->suspect.generation ? 0 : pipeline_room(d->pipeline);
    d->asked_ms = clock_ms();
    enum status st = member_call(d->member, &reply, "next",
                                 json_pack("{s:i, s:i, s:b}", "wait_ms", idle ? IDLE_WAIT_MS : 0,
                                           "room", (int)room, "alone_ok", idle),
                                 NULL, 0);
    if (st == ST_OK)
        st = take_orders(d, reply.msg.body);
    client_reply_fini(&reply);
    return st;
}

/* ---- the loop ---- */

static enum status serve(struct daemon *d)
{
    enum status st = ST_OK;
    while (st == ST_OK && !stopping(d)) {
        if (backend_lost(d->parts.device))
            return fail(ST_RESOURCE, "%s: is lost to this process; start another one",
                        d->parts.device->name);
        bool idle = pipeline_room(d->pipeline) == PIPELINE_JOBS;
        if (idle || clock_ms() - d->asked_ms >= BUSY_POLL_MS)
            st = ask(d, idle);
        if (st == ST_OK)
            st = deliver(d);
        if (st == ST_OK)
            st = tell_progress(d);
        if (st == ST_OK && pipeline_room(d->pipeline) < PIPELINE_JOBS && d->asked_ms > 0)
            pipeline_wait(d->pipeline, BUSY_POLL_MS);
        if (st == ST_OK)
            st = deliver(d);
    }
    return st;
}

/* What is being copied or proved is finished; what waits goes back with the goodbye. */
static enum status finish(struct daemon *d)
{
    enum status st = deliver(d);
    pipeline_drain(d->pipeline);
    log_event(LEVEL_INFO, NULL, "finishing");
    while (st == ST_OK && pipeline_busy(d->pipeline)) {
        pipeline_wait(d->pipeline, PROGRESS_MS);
        st = deliver(d);
        if (st == ST_OK)
            st = tell_progress(d);
    }
    return st;
}

static enum status start(struct daemon *d, const struct daemon_options *options)
{
    const struct member_options join = {.where = options->where,
                                        .role = CLIENT_GPUD,
                                        .stop = options->stop,
                                        .ms_after_stop = AFTER_STOP_MS};
    enum status st = member_join(&d->member, &join);
    if (st == ST_OK)
        st = parts_init(&d->parts, options->backend, options->threads, member_config(d->member));
    if (st == ST_OK)
        st = arena_map_all(&d->arena, member_arena(d->member));
    if (st == ST_OK)
        st = backend_memory_add(d->parts.device, d->arena.base, d->arena.bytes,
                                arena_desc(member_arena(d->member))->chunk);
    const struct pipeline_parts parts = {.device = d->parts.device,
                                         .second = d->parts.second,
                                         .keys = d->parts.keys,
                                         .pool = d->parts.pool};
    if (st == ST_OK)
        st = pipeline_create(&d->pipeline, &parts);
    return st;
}

enum status daemon_run(const struct daemon_options *options)
{
    struct daemon d = {.stop = options->stop};
    enum status st = start(&d, options);
    if (st == ST_OK) {
        log_event(LEVEL_INFO, NULL, "ready", log_string("device", d.parts.device->name),
                  log_u64("threads", pool_threads(d.parts.device_pool)),
                  log_u64("arena_bytes", d.arena.bytes));
        st = serve(&d);
        if (st == ST_OK)
            st = finish(&d);
    }
    pipeline_destroy(d.pipeline);
    member_leave(d.member);
    if (d.parts.device)
        backend_memory_remove(d.parts.device, d.arena.base);
    arena_unmap(&d.arena);
    parts_fini(&d.parts);
    return st;
}
