#include <stdio.h>
#include <string.h>

#include "tools/pinion/command.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"

static const json_t *at(const json_t *body, const char *group, const char *name)
{
    const json_t *inside = group ? json_object_get(body, group) : body;
    return json_object_get(inside, name);
}

static long long integer(const json_t *body, const char *group, const char *name)
{
    return (long long)json_integer_value(at(body, group, name));
}

static double mib(const json_t *body, const char *group, const char *name)
{
    return (double)integer(body, group, name) / (1 << 20);
}

static const char *text(const json_t *body, const char *group, const char *name)
{
    const char *s = json_string_value(at(body, group, name));
    return s ? s : "?";
}

static void print_processes(const json_t *b)
{
    const json_t *gpud = json_object_get(b, "gpud");
    const json_t *synths = json_object_get(b, "synths");
    size_t n = json_array_size(synths);
    printf("coordinator  pid %lld, version %s, up %lld s%s\n", integer(b, "coord", "pid"),
           text(b, NULL, "version"), integer(b, NULL, "uptime_ms") / 1000,
           json_is_true(json_object_get(b, "drained"))    ? ", drained"
           : json_is_true(json_object_get(b, "draining")) ? ", draining"
                                                          : "");
    if (json_is_object(gpud))
        printf("daemon       pid %lld\n", integer(gpud, NULL, "pid"));
    else
        printf("daemon       none\n");
    printf("synthesis   ");
    for (size_t i = 0; i < n; i++)
        printf(" %lld", integer(json_array_get(synths, i), NULL, "pid"));
    printf("%s\n", n == 0 ? " none" : "");
}

static void print_devices(const json_t *b)
{
    const json_t *devices = json_object_get(b, "devices"), *keys = json_object_get(b, "keys");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *d = json_array_get(devices, i);
        printf("device       %s, %.0f %% busy, copies %.1f GB/s\n", text(d, NULL, "name"),
               100 * json_number_value(json_object_get(d, "busy")),
               json_number_value(json_object_get(d, "copy_gbps")));
    }
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *k = json_array_get(keys, i);
        printf("key          %s, %s, %.1f MiB\n", text(k, NULL, "circuit"),
               text(k, NULL, "resident"), mib(k, NULL, "bytes"));
    }
}

static void print_human(const json_t *b)
{
    print_processes(b);
    printf("arena        %.1f MiB (%s): %.1f granted, %.1f free, %.1f quarantined\n",
           mib(b, "arena", "bytes"), text(b, "arena", "kind"), mib(b, "arena", "granted"),
           mib(b, "arena", "free"), mib(b, "arena", "quarantined"));
    printf("jobs         %lld waiting, %lld running, %lld done, %lld failed, %lld held\n",
           integer(b, "jobs", "waiting"), integer(b, "jobs", "running"), integer(b, "jobs", "done"),
           integer(b, "jobs", "failed"), integer(b, "jobs", "held"));
    print_devices(b);
    printf("since start  %lld restarts of processes, %lld slices synthesized again\n",
           integer(b, NULL, "restarts"), integer(b, NULL, "resynthesized"));
}

static enum status run(const void *options, char **operands)
{
    (void)operands;
    const struct remote_options *o = options;
    struct client_reply reply = {.bytes = NULL};
    enum status st = remote_ask(o->dir, &reply, "status", NULL);
    if (st == ST_OK && o->json) {
        json_object_del(reply.msg.body, "ok");
        st = session_print_json(json_incref(reply.msg.body));
    } else if (st == ST_OK) {
        print_human(reply.msg.body);
    }
    client_reply_fini(&reply);
    return st;
}

static const struct remote_options defaults;
static const struct option_spec options[] = {REMOTE_OPTIONS, {0}};

const struct command cmd_status = {
    .name = "status",
    .operands = "",
    .summary = "what the daemons are doing",
    .about = "Shows processes, arena, jobs, devices and keys of the running daemons.\n",
    .examples = "  pinion status\n  pinion status --json\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
