#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "shm/job.h"
#include "tools/pinion/command.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"

enum { DEADLINE_MAX = 31536000 };

struct submit_options {
    struct remote_options remote;
    const char *circuit, *witness, *input, *id, *priority, *seed;
    uint64_t deadline;
    bool wait;
};

struct submitted {
    char id[JOB_ID_MAX + 1];
    char *path; /* owned */
};

struct batch {
    const struct submit_options *options;
    struct client *client;
    struct progress_line line;
    struct submitted *jobs; /* owned */
    size_t count;
    int64_t deadline_ms;
};

static void batch_fini(struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->jobs[i].path);
    free(b->jobs);
    client_close(b->client);
    progress_line_fini(&b->line);
}

static bool is_witness(const char *name)
{
    size_t len = strlen(name);
    return len > 5 && strcmp(name + len - 5, ".wtns") == 0;
}

/* Adds a job; name makes its id when there are several, NULL for the only one. */
static enum status add(struct batch *b, const char *path, const char *name)
{
    struct submitted *more = realloc(b->jobs, (b->count + 1) * sizeof *more);
    if (more)
        b->jobs = more;
    struct submitted *job = more ? &more[b->count] : NULL;
    const char *given = b->options->id;
    char *copy = strdup(path);
    if (!more || !copy) {
        free(copy);
        return fail(ST_RESOURCE, "no memory");
    }
    job->path = copy;
    b->count++;
    if (!given)
        return job_id_generate(job->id);
    int n = snprintf(job->id, sizeof job->id, "%s%s%.*s", given, name ? "-" : "",
                     name ? (int)strlen(name) - 5 : 0, name ? name : "");
    if (n >= (int)sizeof job->id)
        return fail(ST_USAGE, "--id %s: the ids made of it and the files' names are too long",
                    given);
    return job_id_check(job->id);
}

static int only_witnesses(const struct dirent *e)
{
    return is_witness(e->d_name);
}

static enum status add_directory(struct batch *b, const char *dir)
{
    struct dirent **names;
    enum status st = ST_OK;
    int n = scandir(dir, &names, only_witnesses, alphasort);
    if (n < 0)
        return fail(ST_INPUT, "%s: %m", dir);
    if (n == 0)
        st = fail(ST_INPUT, "%s: holds no file *.wtns", dir);
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (st == ST_OK && asprintf(&path, "%s/%s", dir, names[i]->d_name) < 0)
            st = fail(ST_RESOURCE, "no memory");
        if (st == ST_OK)
            st = add(b, path, names[i]->d_name);
        free(path);
        free(names[i]);
    }
    free(names);
    return st;
}

static enum status collect(struct batch *b)
{
    struct stat s;
    const char *path = b->options->witness;
    if (stat(path, &s) != 0)
        return fail(ST_INPUT, "%s: %m", path);
    return S_ISDIR(s.st_mode) ? add_directory(b, path) : add(b, path, NULL);
}

static enum status submit_one(struct batch *b, size_t i)
{
    const struct submit_options *o = b->options;
    struct submitted *s = &b->jobs[i];
    const struct remote_job job = {.id = s->id,
                                   .circuit = o->circuit,
                                   .witness = s->path,
                                   .priority = o->priority,
                                   .seed = o->seed,
                                   .deadline_ms = b->deadline_ms};
    bool one = b->count == 1;
    if (!one)
        progress_report(&b->line.progress, "submit", i, b->count);
    enum status st = remote_submit(b->client, &job, one ? &b->line.progress : NULL);
    if (st != ST_OK || o->wait)
        return st;
    if (o->remote.json)
        return session_print_json(json_pack("{s:s, s:s}", "id", s->id, "witness", s->path));
    printf("%s\n", s->id);
    return ST_OK;
}

/* Waits for job i; *bad counts those that failed. */
static enum status wait_one(struct batch *b, size_t i, size_t *bad)
{
    struct remote_result r = {.body = NULL};
    const char *id = b->jobs[i].id;
    progress_report(&b->line.progress, "prove", i, b->count);
    enum status st = remote_wait(b->client, &r, id, 0);
    if (st != ST_OK)
        return st;
    bool done = remote_verdict(&r, id) == ST_OK;
    *bad += !done;
    if (b->options->remote.json)
        st = session_print_json(remote_result_json(&r, id));
    else if (done)
        printf("%s done\n", id);
    else if (b->count > 1)
        printf("%s %s: %s\n", id, r.state, r.error);
    if (b->count > 1)
        status_clear(); /* the count is what is reported in the end */
    remote_result_fini(&r);
    return st == ST_OK && !done && b->count == 1 ? ST_INVALID : st;
}

static enum status run_batch(struct batch *b)
{
    size_t bad = 0;
    enum status st = collect(b);
    if (st == ST_OK)
        st = remote_dial(&b->client, b->options->remote.dir);
    for (size_t i = 0; st == ST_OK && i < b->count; i++)
        st = submit_one(b, i);
    for (size_t i = 0; st == ST_OK && b->options->wait && i < b->count; i++)
        st = wait_one(b, i, &bad);
    if (st == ST_OK && bad > 0)
        st = fail(ST_INVALID, "%zu of %zu jobs were not proved", bad, b->count);
    return st;
}

static enum status check(const struct submit_options *o)
{
    enum job_priority p;
    if (!o->circuit)
        return fail(ST_USAGE, "submit: --circuit NAME is needed");
    if (o->input)
        return fail(ST_USAGE,
                    "--input %s: witnesses cannot be computed yet: compute the witness "
                    "with the circuit's own program and give --witness",
                    o->input);
    if (!o->witness)
        return fail(ST_USAGE, "submit: --witness FILE is needed");
    return o->priority ? job_priority_parse(&p, o->priority) : ST_OK;
}

static enum status run(const void *options, char **operands)
{
    (void)operands;
    struct batch b = {.options = options};
    enum status st = check(b.options);
    if (st != ST_OK)
        return st == ST_INPUT ? ST_USAGE : st;
    if (b.options->deadline)
        b.deadline_ms = ((int64_t)time(NULL) + (int64_t)b.options->deadline) * 1000;
    progress_line_init(&b.line, true);
    st = run_batch(&b);
    batch_fini(&b);
    return st;
}

static const struct submit_options defaults;

static const struct option_spec options[] = {
    {"circuit", "NAME", "a circuit of `pinion circuit list`", OPTION_TEXT,
     offsetof(struct submit_options, circuit), 0, 0},
    {"witness", "FILE", "a witness (.wtns), or a directory: one job for each *.wtns in it",
     OPTION_TEXT, offsetof(struct submit_options, witness), 0, 0},
    {"input", "FILE", "inputs (.json): not yet", OPTION_TEXT,
     offsetof(struct submit_options, input), 0, 0},
    {"id", "ID", "name of the job (default: random); of a directory's jobs, how names begin",
     OPTION_TEXT, offsetof(struct submit_options, id), 0, 0},
    {"priority", "low|normal|high|critical", "class in the queue (default: normal)", OPTION_CHOICE,
     offsetof(struct submit_options, priority), 0, 0},
    {"deadline", "S", "fails if it has not started after so many seconds", OPTION_NUMBER,
     offsetof(struct submit_options, deadline), 1, DEADLINE_MAX},
    {"wait", NULL, "wait until it has ended; exit code 1 if it was not proved", OPTION_FLAG,
     offsetof(struct submit_options, wait), 0, 0},
    {"seed", "HEX", "r and s, 64 hex digits each; refused unless allow_seed is configured",
     OPTION_TEXT, offsetof(struct submit_options, seed), 0, 0},
    REMOTE_OPTIONS,
    {0},
};

const struct command cmd_submit = {
    .name = "submit",
    .operands = "--circuit NAME --witness FILE",
    .summary = "hand a job to the daemons",
    .about =
        "Sends a witness to the coordinator and prints the job's id once it is on disk there.\n"
        "The same id with the same witness is the same job, so a submission may be repeated.\n",
    .examples = "  pinion submit --circuit vote --witness witness.wtns\n"
                "  pinion submit --circuit vote --witness witnesses/ --wait\n"
                "  pinion submit --circuit vote --witness w.wtns --id ballot-17 --priority high\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
