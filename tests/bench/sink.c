/* A daemon that proves nothing: takes submitted slices as pinion-gpud does and reports them done at
 * once. With it the rate of jobs is that of synthesis, or of the coordinator; see synthesis.py. */
#include <string.h>

#include "common/service.h"
#include "shm/member.h"

enum { ROOM = 16, WAIT_MS = 500, AFTER_STOP_MS = 1000 };

static const char result[] = "{\"proof\": {}, \"public\": []}";

static enum status take_one(struct member *m, const json_t *job)
{
    struct handle h;
    struct client_reply reply = {.bytes = NULL};
    enum status st = member_handle_read(&h, job, "handle");
    if (st != ST_OK)
        return st;
    st = member_call(m, &reply, "done", json_pack("{s:o}", "handle", member_handle_json(h)), result,
                     sizeof result - 1);
    member_drop(m, h);
    client_reply_fini(&reply);
    return st;
}

/* All jobs of a reply are held before the first is reported: what is not listed is taken back. */
static enum status take_all(struct member *m, const json_t *jobs)
{
    size_t i;
    json_t *job;
    struct handle h;
    enum status st = ST_OK;
    json_array_foreach(jobs, i, job)
    {
        if (st == ST_OK)
            st = member_handle_read(&h, job, "handle");
        if (st == ST_OK)
            member_hold(m, h);
    }
    json_array_foreach(jobs, i, job)
    {
        if (st == ST_OK)
            st = take_one(m, job);
    }
    return st;
}

static enum status run(const struct service_options *options)
{
    struct member *m = NULL;
    const struct member_options join = {.where = options->where,
                                        .role = CLIENT_GPUD,
                                        .stop = service_stop(),
                                        .ms_after_stop = AFTER_STOP_MS};
    enum status st = member_join(&m, &join);
    while (st == ST_OK && !atomic_load_explicit(service_stop(), memory_order_relaxed)) {
        struct client_reply reply = {.bytes = NULL};
        st = member_call(m, &reply, "next",
                         json_pack("{s:i, s:i}", "wait_ms", WAIT_MS, "room", ROOM), NULL, 0);
        if (st == ST_OK)
            st = take_all(m, json_object_get(reply.msg.body, "jobs"));
        client_reply_fini(&reply);
    }
    member_leave(m);
    return st;
}

int main(int argc, char **argv)
{
    struct service_options options;
    enum status st = service_begin(&options, "bench-sink", 0, argc, argv);
    if (st == ST_OK)
        st = run(&options);
    return service_end(st);
}
