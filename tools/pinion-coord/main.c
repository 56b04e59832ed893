/* pinion-coord: reads the configuration and runs the coordinator. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/log.h"
#include "conf/conf.h"
#include "shm/coord/coord.h"

enum { DESCRIPTORS = 65536 };

static const char usage[] =
    "usage: pinion-coord [--dir DIR] [--config FILE] [--arena SIZE]\n"
    "\n"
    "Owns the arena, the journal of jobs and the socket DIR/coord.sock. One runs per directory.\n"
    "SIGTERM or SIGINT lets running jobs end first; the second one stops at once, losing nothing.\n"
    "SIGHUP rereads the configuration; what waits for a restart is logged.\n"
    "\n"
    "  --dir DIR      state, spool, circuits and socket; default $PINION_DIR, else "
    "/var/lib/pinion\n"
    "  --config FILE  see conf/pinion.cfg; default: none, every key has a default\n"
    "  --arena SIZE   instead of the configured arena.size, such as 16G\n";

struct arguments {
    const char *dir, *config, *arena;
};

static enum status parse(struct arguments *out, int argc, char **argv)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},   {"config", required_argument, NULL, 'c'},
        {"arena", required_argument, NULL, 'a'}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},     {0},
    };
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 'h' || c == 'v') {
            (void)fputs(c == 'h' ? usage : "pinion-coord " PINION_VERSION "\n", stdout);
            exit(0);
        }
        if (c == '?')
            return fail(ST_USAGE, "%s: unknown or without its value (--help)", argv[optind - 1]);
        *(c == 'd' ? &out->dir : c == 'c' ? &out->config : &out->arena) = optarg;
    }
    return optind == argc ? ST_OK : fail(ST_USAGE, "%s: unexpected (--help)", argv[optind]);
}

static struct desk_config describe_desk(const struct conf *conf, const char *source)
{
    static const char *const backends[] = {"auto", "cpu", "cuda"};
    return (struct desk_config){.version = PINION_VERSION,
                                .source = source,
                                .backend = backends[conf->gpud.backend],
                                .devices = conf->gpud.devices,
                                .allow_seed = conf->allow_seed,
                                .ageing_ms = conf->queue.ageing_seconds * 1000,
                                .lease_ms = conf->lease.seconds * 1000,
                                .term_ms = conf->lease.term_seconds * 1000,
                                .kill_ms = conf->lease.kill_seconds * 1000,
                                .host_memory = conf->budget.host_memory,
                                .key_budget = conf->gpud.key_budget,
                                .stuck_factor = conf->timeouts.stuck_factor,
                                .stuck_ms = conf->timeouts.stuck_seconds * 1000,
                                .upload_idle_ms = conf->upload.idle_seconds * 1000,
                                .journal_keep = conf->journal.keep,
                                .journal_keep_ms = conf->journal.keep_days * 86400000,
                                .synth_threads = conf->synth.threads,
                                .gpud_threads = conf->gpud.threads};
}

/* What the coordinator was started with, and what it runs with. */
struct source {
    struct arguments arguments;
    struct conf conf;
};

static enum status load(struct conf *conf, const struct arguments *a)
{
    conf_init(conf);
    enum status st = a->config ? conf_load(conf, a->config) : ST_OK;
    if (st == ST_OK && a->arena && conf_size_parse(&conf->arena.size, a->arena) != ST_OK) {
        status_clear();
        st = fail(ST_USAGE, "--arena %s: is no size, such as 512M or 16G", a->arena);
    }
    return st;
}

static void say_if_waits(const char *key, bool changed)
{
    if (changed)
        log_event(LEVEL_WARN, NULL, "changed, but waits for a restart", log_string("key", key));
}

/* What the arena, the ledger and the spool are made with holds until they are made again. */
static void keep_what_is_fixed(struct conf *fresh, const struct conf *now)
{
    say_if_waits("arena", memcmp(&fresh->arena, &now->arena, sizeof now->arena) != 0);
    say_if_waits("slots", fresh->slots != now->slots);
    say_if_waits("clients", fresh->clients != now->clients);
    say_if_waits("budget", fresh->budget.host_memory != now->budget.host_memory);
    say_if_waits("upload.max_bytes", fresh->upload.max_bytes != now->upload.max_bytes);
    say_if_waits("log.format", fresh->log.format != now->log.format);
    fresh->arena = now->arena;
    fresh->slots = now->slots;
    fresh->clients = now->clients;
    fresh->budget = now->budget;
    fresh->upload.max_bytes = now->upload.max_bytes;
    fresh->log.format = now->log.format;
}

static enum status reread(void *arg, struct desk_config *desk)
{
    struct source *s = arg;
    struct conf fresh;
    enum status st = load(&fresh, &s->arguments);
    if (st != ST_OK)
        return st;
    keep_what_is_fixed(&fresh, &s->conf);
    s->conf = fresh;
    log_set_level((enum log_level)fresh.log.level);
    *desk = describe_desk(&s->conf, s->arguments.config ? s->arguments.config : "");
    return ST_OK;
}

static enum status run(const struct arguments *a)
{
    static const enum arena_kind kinds[] = {ARENA_AUTO, ARENA_HUGETLB, ARENA_POSIX};
    struct source source = {.arguments = *a};
    const struct conf *conf = &source.conf;
    enum status st = load(&source.conf, a);
    if (st != ST_OK)
        return st;
    log_init("coord", (enum log_format)conf->log.format, (enum log_level)conf->log.level, 2);
    struct coord_options options = {.dir = a->dir,
                                    .arena_kind = kinds[conf->arena.kind],
                                    .arena_bytes = conf->arena.size,
                                    .arena_chunk = conf->arena.chunk,
                                    .huge_mount = conf->arena.huge_mount,
                                    .slots = (uint32_t)conf->slots,
                                    .clients = (uint32_t)conf->clients,
                                    .upload_max = conf->upload.max_bytes,
                                    .admin_group = conf->admin_group,
                                    .inspect = store_inspect,
                                    .reread = reread,
                                    .reread_arg = &source,
                                    .desk = describe_desk(conf, a->config ? a->config : "")};
    return coord_run(&options);
}

/* Every connection and every process that is watched takes a descriptor. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* what there is will do for most */
}

int main(int argc, char **argv)
{
    sigset_t set;
    const char *dir = getenv("PINION_DIR");
    struct arguments a = {.dir = dir && *dir ? dir : "/var/lib/pinion"};
    /* before the first thread, so that none but the server takes them */
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    enum status st = parse(&a, argc, argv);
    if (st == ST_OK)
        st = run(&a);
    if (st != ST_OK)
        (void)fprintf(stderr, "pinion-coord: %s\n", status_message());
    return status_exit_code(st);
}
