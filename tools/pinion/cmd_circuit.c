#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/pinion/command.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"

enum { ADD_AGAIN_NS = 200000000 };

struct circuit_options {
    struct remote_options remote;
    const char *key, *r1cs;
};

static long long number(const json_t *circuit, const char *name)
{
    return (long long)json_integer_value(json_object_get(circuit, name));
}

static void print_circuit(const json_t *c)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    const char *curve = json_string_value(json_object_get(c, "curve"));
    printf("%-20s %-10s %10lld constraints  %10lld variables  %6lld public\n", name ? name : "?",
           curve ? curve : "?", number(c, "constraints"), number(c, "variables"),
           number(c, "public"));
}

static json_t *without_ok(const json_t *body)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)body);
    json_object_del(copy, "ok");
    return copy;
}

/* Asks until the coordinator has copied and checked the key. */
static enum status ask_to_add(struct client *c, struct client_reply *reply, const char *name,
                              const char *key, const char *r1cs, struct progress *progress)
{
    const struct timespec pause = {.tv_nsec = ADD_AGAIN_NS};
    for (;;) {
        json_t *members = json_pack("{s:s, s:s, s:s?}", "name", name, "key", key, "r1cs", r1cs);
        enum status st = remote_call(c, reply, "circuit_add", members, NULL, 0);
        const char *state =
            st == ST_OK ? json_string_value(json_object_get(reply->msg.body, "state")) : NULL;
        if (!state || strcmp(state, "adding") != 0)
            return st;
        client_reply_fini(reply);
        progress_report(progress, "copying and checking the key", 0, 0);
        nanosleep(&pause, NULL);
    }
}

static enum status add(const struct circuit_options *o, const char *name)
{
    char *key = NULL, *r1cs = NULL;
    struct client *c = NULL;
    struct client_reply reply = {.bytes = NULL};
    struct progress_line line = {.enabled = false};
    if (!o->key)
        return fail(ST_USAGE, "circuit add: --key FILE is needed");
    enum status st = remote_absolute(&key, o->key);
    if (st == ST_OK && o->r1cs)
        st = remote_absolute(&r1cs, o->r1cs);
    if (st == ST_OK)
        st = remote_dial(&c, o->remote.dir);
    if (st == ST_OK) {
        progress_line_init(&line, true);
        st = ask_to_add(c, &reply, name, key, r1cs, &line.progress);
        progress_line_fini(&line);
    }
    if (st == ST_OK && o->remote.json)
        st = session_print_json(without_ok(reply.msg.body));
    else if (st == ST_OK)
        print_circuit(reply.msg.body);
    client_reply_fini(&reply);
    client_close(c);
    free(key);
    free(r1cs);
    return st;
}

static enum status list(const struct circuit_options *o)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st = remote_ask(o->remote.dir, &reply, "circuit_list", NULL);
    if (st != ST_OK)
        return st;
    const json_t *all = json_object_get(reply.msg.body, "circuits"), *c;
    size_t i;
    if (o->remote.json)
        st = session_print_json(without_ok(reply.msg.body));
    for (i = 0; !o->remote.json && (c = json_array_get(all, i)) != NULL; i++)
        print_circuit(c);
    client_reply_fini(&reply);
    return st;
}

static enum status remove_circuit(const struct circuit_options *o, const char *name)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st =
        remote_ask(o->remote.dir, &reply, "circuit_remove", json_pack("{s:s}", "name", name));
    client_reply_fini(&reply);
    return st;
}

static enum status run(const void *options, char **operands)
{
    const struct circuit_options *o = options;
    bool is_add = strcmp(operands[0], "add") == 0, is_list = strcmp(operands[0], "list") == 0;
    if (!is_add && !is_list && strcmp(operands[0], "remove") != 0)
        return fail(ST_USAGE, "circuit %s: must be add, list or remove", operands[0]);
    if (is_list != !operands[1])
        return fail(ST_USAGE, is_list ? "circuit list: takes no name" : "circuit %s: name it",
                    operands[0]);
    if (!is_add && (o->key || o->r1cs))
        return fail(ST_USAGE, "circuit %s: --key and --r1cs belong to circuit add", operands[0]);
    if (is_list)
        return list(o);
    return is_add ? add(o, operands[1]) : remove_circuit(o, operands[1]);
}

static const struct circuit_options defaults;

static const struct option_spec options[] = {
    {"key", "FILE", "proving key (.zkey), copied into the circuit store", OPTION_TEXT,
     offsetof(struct circuit_options, key), 0, 0},
    {"r1cs", "FILE", "circuit: with it, a bad witness is refused naming the first constraint",
     OPTION_TEXT, offsetof(struct circuit_options, r1cs), 0, 0},
    REMOTE_OPTIONS,
    {0},
};

const struct command cmd_circuit = {
    .name = "circuit",
    .operands = "add NAME --key KEY | list | remove NAME",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "the circuits that the daemons prove",
    .about =
        "Adds a circuit to the store of the running daemons, lists them, or removes one. Jobs\n"
        "name their circuit; its key is a copy, so what happens to the file later changes no\n"
        "proof. Adding is for root, the daemons' user and the admin group.\n",
    .examples = "  pinion circuit add vote --key vote.zkey --r1cs vote.r1cs\n"
                "  pinion circuit list\n"
                "  pinion circuit remove vote\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
