#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/client.h"
#include "common/log.h"
#include "common/pool.h"
#include "conf/conf.h"
#include "tools/pinion/command.h"
#include "tools/pinion/supervise.h"

enum { SYNTHS_MAX = 64, DEFAULT_SYNTHS_MAX = 4, PATH_BYTES = 4096 };

struct up_options {
    const char *dir, *config, *arena, *backend;
    uint64_t synths;
};

/* The programs lie beside this one. */
struct programs {
    char coord[PATH_BYTES], gpud[PATH_BYTES], synth[PATH_BYTES];
};

static enum status find_programs(struct programs *p)
{
    char self[PATH_BYTES - 32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return fail(ST_RESOURCE, "/proc/self/exe: %m");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(p->coord, sizeof p->coord, "%s/pinion-coord", self);
    snprintf(p->gpud, sizeof p->gpud, "%s/pinion-gpud", self);
    snprintf(p->synth, sizeof p->synth, "%s/pinion-synth", self);
    return ST_OK;
}

static void append(struct supervised *s, const char *option, const char *value)
{
    size_t n = 0;
    if (!value)
        return;
    while (s->args[n])
        n++;
    CHECK(n + 2 < SUPERVISE_ARGS);
    s->args[n] = option;
    s->args[n + 1] = value;
}

static uint64_t default_synths(void)
{
    unsigned half = pool_available_threads() / 2;
    return half < 1 ? 1 : half < DEFAULT_SYNTHS_MAX ? half : DEFAULT_SYNTHS_MAX;
}

/* Synthesis processes share the processors unless the configuration says what each may use. */
static unsigned share_of_threads(const struct conf *conf, uint64_t synths)
{
    unsigned all = pool_available_threads();
    if (conf->synth.threads != 0)
        return (unsigned)conf->synth.threads;
    return all > synths ? all / (unsigned)synths : 1;
}

static enum status run_all(const struct up_options *o, const struct conf *conf)
{
    struct programs programs;
    struct supervised all[2 + SYNTHS_MAX] = {0};
    char threads[16];
    const char *dir = o->dir ? o->dir : client_default_where();
    uint64_t synths = o->synths ? o->synths : default_synths();
    enum status st = find_programs(&programs);
    if (st != ST_OK)
        return st;
    snprintf(threads, sizeof threads, "%u", share_of_threads(conf, synths));
    const char *format = conf->log.format == LOG_JSON ? "json" : "text";
    all[0] = (struct supervised){.name = "pinion-coord",
                                 .args = {programs.coord},
                                 .order = 0,
                                 .rereads = true,
                                 .essential = true};
    append(&all[0], "--dir", dir);
    append(&all[0], "--config", o->config);
    append(&all[0], "--arena", o->arena);
    all[1] = (struct supervised){
        .name = "pinion-gpud", .args = {programs.gpud}, .order = 1, .essential = true};
    append(&all[1], "--dir", dir);
    append(&all[1], "--backend", o->backend);
    append(&all[1], "--log-format", format);
    for (uint64_t i = 0; i < synths; i++) {
        struct supervised *s = &all[2 + i];
        *s = (struct supervised){.name = "pinion-synth", .args = {programs.synth}, .order = 2};
        append(s, "--dir", dir);
        append(s, "--threads", threads);
        append(s, "--log-format", format);
    }
    return supervise(all, 2 + (size_t)synths);
}

static enum status run(const void *options, char **operands)
{
    (void)operands;
    const struct up_options *o = options;
    struct conf conf;
    char address[CLIENT_ADDRESS_MAX];
    uint64_t bytes;
    conf_init(&conf);
    enum status st = o->config ? conf_load(&conf, o->config) : ST_OK;
    if (st == ST_OK && o->arena && conf_size_parse(&bytes, o->arena) != ST_OK) {
        status_clear();
        st = fail(ST_USAGE, "--arena %s: is no size, such as 512M or 16G", o->arena);
    }
    if (st == ST_OK)
        st = client_address(address, o->dir ? o->dir : client_default_where());
    if (st != ST_OK)
        return st;
    log_init("pinion-up", (enum log_format)conf.log.format, (enum log_level)conf.log.level, 2);
    return run_all(o, &conf);
}

static const struct up_options defaults;

static const struct option_spec options[] = {
    {"synths", "N", "synthesis processes (default: half of the processors, at most 4)",
     OPTION_NUMBER, offsetof(struct up_options, synths), 1, SYNTHS_MAX},
    {"arena", "SIZE", "size of the arena, such as 16G (default: the configuration's)", OPTION_TEXT,
     offsetof(struct up_options, arena), 0, 0},
    {"backend", "auto|cpu|cuda", "what to prove on (default: the configuration's)", OPTION_CHOICE,
     offsetof(struct up_options, backend), 0, 0},
    {"config", "FILE", "configuration (default: none, all defaults)", OPTION_TEXT,
     offsetof(struct up_options, config), 0, 0},
    {"dir", "DIR", "state, spool and socket (default: $PINION_DIR, else /var/lib/pinion)",
     OPTION_TEXT, offsetof(struct up_options, dir), 0, 0},
    {0},
};

const struct command cmd_up = {
    .name = "up",
    .operands = "",
    .summary = "run coordinator, daemon and synthesis",
    .about =
        "Runs pinion-coord, pinion-gpud and N times pinion-synth in the foreground, starts each\n"
        "again when it dies, and stops all of them, in order, on SIGINT or SIGTERM; a second\n"
        "signal kills them. SIGHUP does the same on a terminal; elsewhere it makes the "
        "coordinator\n"
        "read its configuration again. A coordinator or daemon that refuses to start ends it,\n"
        "with its exit code. Accepted jobs survive all of this.\n",
    .examples = "  pinion up --dir ./state --synths 2 --arena 1G\n"
                "  pinion up --config pinion.cfg\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
