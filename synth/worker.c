#include "synth/worker.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "shm/job.h"
#include "shm/member.h"
#include "synth/cache.h"

enum {
    TAKE_WAIT_MS = 500,
    AFTER_STOP_MS = 5000,
    PATH_BYTES = 4096,
    THREADS_MAX = 1024,
    REASON_BYTES = 512,
};

struct worker {
    struct member *member;
    struct pool *pool;
    struct cache *cache;
    const atomic_bool *stop;
};

/* A grant; strings borrow from the reply. */
struct grant {
    const char *id, *key, *r1cs, *witness;
    struct handle handle;
};

struct stages {
    double witness, evaluate;
};

static bool stopping(const struct worker *w)
{
    /* relaxed: set by a signal handler; nothing else is read after it */
    return atomic_load_explicit(w->stop, memory_order_relaxed);
}

static enum status read_grant(struct grant *out, const json_t *body)
{
    const json_t *job = json_object_get(body, "job");
    enum status st = msg_string(&out->id, job, "id", 1, JOB_ID_MAX);
    if (st == ST_OK)
        st = msg_string(&out->key, job, "key", 1, PATH_BYTES);
    if (st == ST_OK)
        st = msg_string_opt(&out->r1cs, job, "r1cs", PATH_BYTES, NULL);
    if (st == ST_OK)
        st = msg_string_opt(&out->witness, job, "witness", PATH_BYTES, NULL);
    if (st == ST_OK)
        st = member_handle_read(&out->handle, body, "handle");
    return st;
}

/* The record must be of the very sizes that the key asks for: then everything written is inside. */
static enum status check_record(const struct slice_record *r, const struct slice_plan *plan,
                                const char *key)
{
    if (r->w_bytes == plan->w_bytes && r->a_bytes == plan->a_bytes && r->b_bytes == plan->b_bytes &&
        r->c_bytes == 0 && r->a_offset == plan->a_offset && r->b_offset == plan->b_offset)
        return ST_OK;
    return fail(ST_INTERNAL, "%s: the slice was granted for other sizes than this key has", key);
}

/* Computes into the mapped slice. */
static enum status fill_mapped(struct worker *w, const struct grant *g,
                               const struct slice_record *r, void *base, struct stages *stages)
{
    const struct synthesis *synthesis;
    struct slice_plan plan;
    struct wtns wtns;
    double start = clock_ms();
    if (!g->witness)
        return fail(ST_INPUT, "job %s: has no witness file", g->id);
    enum status st = cache_get(w->cache, &synthesis, g->key, g->r1cs);
    if (st == ST_OK)
        st = synthesis_plan(synthesis, &plan, arena_desc(member_arena(w->member))->page);
    if (st == ST_OK)
        st = check_record(r, &plan, g->key);
    if (st == ST_OK)
        st = wtns_open(&wtns, g->witness);
    if (st != ST_OK)
        return st;
    st = synthesis_check(synthesis, &wtns, w->pool, NULL);
    double checked = clock_ms();
    if (st == ST_OK) {
        synthesis_write(synthesis, &wtns, &plan, base, w->pool);
        *stages = (struct stages){checked - start, clock_ms() - checked};
    }
    wtns_close(&wtns);
    return st;
}

static enum status fill(struct worker *w, const struct grant *g, struct stages *stages)
{
    struct slice_record r;
    struct arena_map map = {.base = NULL};
    const struct arena *arena = member_arena(w->member);
    enum status st = ledger_read(member_ledger(w->member), g->handle, &r);
    if (st == ST_OK && r.state != SLOT_WRITING)
        st = fail(ST_STALE, "slot %u: is %s, not granted for writing", g->handle.slot,
                  slot_state_name(r.state));
    uint32_t extents = st == ST_OK ? r.w_extents + r.abc_extents : 0;
    FAULT_POINT("synth.granted");
    if (st == ST_OK && (r.flags & SLOT_SCRUB))
        st = arena_scrub(arena, r.extent, extents);
    if (st == ST_OK)
        st = arena_map_slice(&map, arena, r.extent, extents, ARENA_WRITE);
    FAULT_POINT("synth.mapped");
    if (st == ST_OK)
        st = fill_mapped(w, g, &r, map.base, stages);
    FAULT_POINT("synth.written");
    arena_unmap(&map);
    if (st == ST_OK && FAULT_FAILS("synth.unmapped"))
        st = fail(ST_RESOURCE, "job %s: fault", g->id);
    return st;
}

static const char *failure_kind(enum status st)
{
    if (st == ST_INPUT || st == ST_INVALID)
        return "input";
    return st == ST_RESOURCE ? "resource" : "internal";
}

/* Tells the coordinator how a job went. A stale handle is no failure of ours: the job is no longer
 * this process's business. */
static enum status tell(struct worker *w, const struct grant *g, enum status st,
                        const struct stages *stages)
{
    struct client_reply reply = {.bytes = NULL};
    char reason[REASON_BYTES];
    json_t *members;
    snprintf(reason, sizeof reason, "%s", status_message());
    status_clear();
    if (st == ST_OK)
        members = json_pack("{s:o, s:{s:f, s:f}}", "handle", member_handle_json(g->handle),
                            "stages", "witness", stages->witness, "evaluate", stages->evaluate);
    else
        members = json_pack("{s:o, s:s, s:o}", "handle", member_handle_json(g->handle), "kind",
                            failure_kind(st), "message", msg_json_text(reason));
    if (st != ST_OK)
        log_event(LEVEL_WARN, g->id, "job not synthesized", log_string("kind", failure_kind(st)),
                  log_string("reason", reason));
    st = member_call(w->member, &reply, st == ST_OK ? "submitted" : "failed", members, NULL, 0);
    client_reply_fini(&reply);
    if (st == ST_STALE && !member_orphaned(w->member)) {
        log_event(LEVEL_WARN, g->id, "slice was taken back",
                  log_string("reason", status_message()));
        status_clear();
        st = ST_OK;
    }
    return st;
}

static enum status work(struct worker *w, const json_t *body)
{
    struct grant g;
    struct stages stages = {0};
    enum status st = read_grant(&g, body);
    if (st != ST_OK)
        return st;
    member_hold(w->member, g.handle);
    st = fill(w, &g, &stages);
    if (st == ST_STALE) {
        log_event(LEVEL_WARN, g.id, "slice was taken back", log_string("reason", status_message()));
        status_clear();
        st = ST_OK;
    } else {
        if (st == ST_OK)
            log_event(LEVEL_DEBUG, g.id, "slice written", log_u64("slot", g.handle.slot),
                      log_real("evaluate_ms", stages.evaluate));
        st = tell(w, &g, st, &stages);
    }
    FAULT_POINT("synth.submitted");
    member_drop(w->member, g.handle);
    return st;
}

static enum status take_loop(struct worker *w)
{
    enum status st = ST_OK;
    while (st == ST_OK && !stopping(w)) {
        struct client_reply reply = {.bytes = NULL};
        st = member_call(w->member, &reply, "take", json_pack("{s:i}", "wait_ms", TAKE_WAIT_MS),
                         NULL, 0);
        if (st == ST_OK && json_is_object(json_object_get(reply.msg.body, "job")))
            st = work(w, reply.msg.body);
        client_reply_fini(&reply);
    }
    return st;
}

static enum status start_pool(struct worker *w, unsigned threads)
{
    int64_t configured = 0;
    enum status st =
        msg_int_opt(&configured, member_config(w->member), "threads", 0, THREADS_MAX, 0);
    if (st == ST_OK)
        st = pool_create(&w->pool, threads ? threads : (unsigned)configured);
    return st;
}

enum status worker_run(const struct worker_options *options)
{
    struct worker w = {.stop = options->stop};
    const struct member_options join = {.where = options->where,
                                        .role = CLIENT_SYNTH,
                                        .stop = options->stop,
                                        .ms_after_stop = AFTER_STOP_MS};
    enum status st = member_join(&w.member, &join);
    if (st == ST_OK)
        st = start_pool(&w, options->threads);
    if (st == ST_OK)
        st = cache_create(&w.cache, w.pool);
    if (st == ST_OK) {
        log_event(LEVEL_INFO, NULL, "ready", log_u64("threads", pool_threads(w.pool)));
        st = take_loop(&w);
    }
    member_leave(w.member);
    cache_destroy(w.cache);
    pool_destroy(w.pool);
    return st;
}
