/* wait, cancel, retry: what is asked of one job. */
#include <stdio.h>
#include <string.h>

#include "tools/pinion/command.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"

struct wait_options {
    struct remote_options remote;
    const char *proof, *publics;
    uint64_t timeout;
};

enum { TIMEOUT_MAX = 31536000, MS = 1000 };

static enum status show(const struct wait_options *o, const struct remote_result *r, const char *id)
{
    enum status verdict = remote_verdict(r, id), st = ST_OK;
    if (verdict == ST_OK && (o->proof || o->publics))
        st = remote_write(r, o->proof, o->publics);
    if (st == ST_OK && o->remote.json)
        st = session_print_json(remote_result_json(r, id));
    else if (st == ST_OK && verdict == ST_OK)
        printf("%s %s\n", id, r->state);
    return st == ST_OK ? verdict : st;
}

static enum status run_wait(const void *options, char **operands)
{
    const struct wait_options *o = options;
    struct client *c = NULL;
    struct remote_result r = {.body = NULL};
    const char *inputs[] = {NULL};
    const char *outputs[] = {o->proof ? o->proof : o->publics, o->proof ? o->publics : NULL, NULL};
    enum status st = session_check_outputs(inputs, outputs);
    if (st == ST_OK)
        st = remote_dial(&c, o->remote.dir);
    if (st == ST_OK)
        st = remote_wait(c, &r, operands[0], o->timeout * MS);
    if (st == ST_OK)
        st = show(o, &r, operands[0]);
    remote_result_fini(&r);
    client_close(c);
    return st;
}

/* cancel and retry: {id} -> {id, state} */
static enum status change(const struct remote_options *o, const char *op, const char *id)
{
    struct client_reply reply = {.bytes = NULL};
    const char *state = "";
    enum status st = remote_ask(o->dir, &reply, op, json_pack("{s:s}", "id", id));
    if (st == ST_OK)
        st = msg_string_opt(&state, reply.msg.body, "state", 16, "?");
    if (st == ST_OK && o->json)
        st = session_print_json(json_pack("{s:s, s:s}", "id", id, "state", state));
    else if (st == ST_OK)
        printf("%s %s\n", id, state);
    client_reply_fini(&reply);
    return st;
}

static enum status run_cancel(const void *options, char **operands)
{
    return change(options, "cancel", operands[0]);
}

static enum status run_retry(const void *options, char **operands)
{
    return change(options, "retry", operands[0]);
}

static const struct wait_options wait_defaults;
static const struct remote_options defaults;

static const struct option_spec wait_options[] = {
    {"proof", "FILE", "write the proof there", OPTION_TEXT, offsetof(struct wait_options, proof), 0,
     0},
    {"public", "FILE", "write the public values there", OPTION_TEXT,
     offsetof(struct wait_options, publics), 0, 0},
    {"timeout", "S", "give up after so many seconds (exit 4)", OPTION_NUMBER,
     offsetof(struct wait_options, timeout), 1, TIMEOUT_MAX},
    REMOTE_OPTIONS,
    {0},
};

static const struct option_spec options[] = {REMOTE_OPTIONS, {0}};

const struct command cmd_wait = {
    .name = "wait",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "wait for a job and fetch its proof",
    .about =
        "Waits until the job has ended. Exit code 0: done; 1: failed, cancelled or held; 4: not\n"
        "ended within --timeout.\n",
    .examples = "  pinion wait 7f3a --proof proof.json --public public.json\n"
                "  pinion wait 7f3a --timeout 60 --json\n",
    .options = wait_options,
    .defaults = &wait_defaults,
    .options_size = sizeof wait_defaults,
    .run = run_wait,
};

const struct command cmd_cancel = {
    .name = "cancel",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "cancel a job",
    .about = "Cancels a job that has not ended: one's own, or anyone's for an administrator.\n",
    .examples = "  pinion cancel 7f3a\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run_cancel,
};

const struct command cmd_retry = {
    .name = "retry",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "let a held job run again",
    .about =
        "A job during which processes died three times is held, so that the queue goes on. This\n"
        "puts it back into the queue.\n",
    .examples = "  pinion retry 7f3a\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run_retry,
};
