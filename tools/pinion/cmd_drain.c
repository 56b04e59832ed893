/* drain, keys: what administrators ask of the daemons. */
#include <stdio.h>
#include <string.h>

#include "tools/pinion/command.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"

struct drain_options {
    struct remote_options remote;
    bool off;
};

struct keys_options {
    struct remote_options remote;
    const char *evict;
};

static enum status run_drain(const void *options, char **operands)
{
    (void)operands;
    const struct drain_options *o = options;
    struct client_reply reply = {.bytes = NULL};
    enum status st = remote_ask(o->remote.dir, &reply, "drain", json_pack("{s:b}", "on", !o->off));
    if (st == ST_OK && o->remote.json)
        st = session_print_json(json_pack("{s:b}", "draining", !o->off));
    else if (st == ST_OK)
        printf("%s\n", o->off
                           ? "jobs are given out again"
                           : "no more jobs are given out; `pinion status` says when it is empty");
    client_reply_fini(&reply);
    return st;
}

static void print_key(const json_t *key)
{
    const char *circuit = json_string_value(json_object_get(key, "circuit"));
    const char *resident = json_string_value(json_object_get(key, "resident"));
    double mib = (double)json_integer_value(json_object_get(key, "bytes")) / (1 << 20);
    printf("%-20s %-8s %10.1f MiB\n", circuit ? circuit : "?", resident ? resident : "?", mib);
}

static enum status run_keys(const void *options, char **operands)
{
    (void)operands;
    const struct keys_options *o = options;
    struct client_reply reply = {.bytes = NULL};
    json_t *members = o->evict ? json_pack("{s:s}", "evict", o->evict) : NULL;
    enum status st = remote_ask(o->remote.dir, &reply, "keys", members);
    if (st != ST_OK)
        return st;
    json_t *keys = json_object_get(reply.msg.body, "keys");
    const json_t *key;
    size_t i;
    if (o->remote.json)
        st = session_print_json(json_pack("{s:O}", "keys", keys));
    for (i = 0; !o->remote.json && (key = json_array_get(keys, i)) != NULL; i++)
        print_key(key);
    client_reply_fini(&reply);
    return st;
}

static const struct drain_options drain_defaults;
static const struct keys_options keys_defaults;

static const struct option_spec drain_options[] = {
    {"off", NULL, "give out jobs again", OPTION_FLAG, offsetof(struct drain_options, off), 0, 0},
    REMOTE_OPTIONS,
    {0},
};

static const struct option_spec keys_options[] = {
    {"evict", "CIRCUIT", "give up the key of this circuit as soon as no job uses it", OPTION_TEXT,
     offsetof(struct keys_options, evict), 0, 0},
    REMOTE_OPTIONS,
    {0},
};

const struct command cmd_drain = {
    .name = "drain",
    .operands = "",
    .summary = "finish what runs, start nothing new",
    .about = "Tells the coordinator to give out no more jobs. Accepted jobs stay in the queue.\n",
    .examples = "  pinion drain\n  pinion drain --off\n",
    .options = drain_options,
    .defaults = &drain_defaults,
    .options_size = sizeof drain_defaults,
    .run = run_drain,
};

const struct command cmd_keys = {
    .name = "keys",
    .operands = "",
    .summary = "the proving keys that are loaded",
    .about = "Lists the proving keys that the daemon keeps loaded.\n",
    .examples = "  pinion keys\n  pinion keys --evict vote\n",
    .options = keys_options,
    .defaults = &keys_defaults,
    .options_size = sizeof keys_defaults,
    .run = run_keys,
};
