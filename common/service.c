#include "common/service.h"

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/client.h"
#include "common/log.h"

enum { THREADS_MAX = 1024, DECIMAL = 10 };

static atomic_bool stop;

static void on_signal(int signal)
{
    (void)signal;
    /* relaxed: a flag that loops look at; it publishes nothing */
    atomic_store_explicit(&stop, true, memory_order_relaxed);
}

const atomic_bool *service_stop(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    return &stop;
}

static void print_help(const char *name, int with_backend)
{
    printf("usage: %s [OPTION]...\n\n"
           "  --dir DIR            state, spool and socket (default: $PINION_DIR, else "
           "/var/lib/pinion)\n"
           "  --threads N          threads to use (default: the coordinator's configuration)\n%s"
           "  --log-format FORMAT  text or json\n"
           "  --log-level LEVEL    error, warn, info or debug\n"
           "  --help, --version\n\n"
           "Usually started by `pinion up` or as a service.\n",
           name,
           with_backend ? "  --backend B          cpu, cuda or auto (default: the configuration)\n"
                        : "");
}

static enum status read_threads(unsigned *out, const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, DECIMAL);
    if (*text < '0' || *text > '9' || *end != '\0' || n < 1 || n > THREADS_MAX)
        return fail(ST_USAGE, "--threads %s: must be a number from 1 to %d", text, THREADS_MAX);
    *out = (unsigned)n;
    return ST_OK;
}

static int word_index(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

struct reading {
    struct service_options options;
    int format, level;
};

static enum status take_option(struct reading *r, int option, const char *value)
{
    static const char *const formats[] = {"text", "json", NULL};
    static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
    static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
    switch (option) {
    case 'd':
        r->options.where = value;
        return ST_OK;
    case 't':
        return read_threads(&r->options.threads, value);
    case 'b':
        r->options.backend = value;
        return word_index(backends, value) >= 0
                   ? ST_OK
                   : fail(ST_USAGE, "--backend %s: must be cpu, cuda or auto", value);
    case 'f':
        r->format = word_index(formats, value);
        return r->format >= 0 ? ST_OK
                              : fail(ST_USAGE, "--log-format %s: must be text or json", value);
    case 'l':
        r->level = word_index(levels, value);
        return r->level >= 0
                   ? ST_OK
                   : fail(ST_USAGE, "--log-level %s: must be error, warn, info or debug", value);
    default:
        return fail(ST_USAGE, "unknown option, or one without its value; --help shows all");
    }
}

enum status service_begin(struct service_options *out, const char *name, int with_backend, int argc,
                          char **argv)
{
    static const struct option long_options[] = {
        {"dir", required_argument, NULL, 'd'},
        {"threads", required_argument, NULL, 't'},
        {"log-format", required_argument, NULL, 'f'},
        {"log-level", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {"backend", required_argument, NULL, 'b'},
        {NULL, 0, NULL, 0},
    };
    struct reading r = {
        .options = {.where = client_default_where()}, .format = LOG_TEXT, .level = LEVEL_INFO};
    enum status st = ST_OK;
    int option;
    opterr = 0;
    while (st == ST_OK && (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (option == 'h')
            print_help(name, with_backend);
        else if (option == 'v')
            printf("%s %s\n", name, PINION_VERSION);
        if (option == 'h' || option == 'v')
            exit(fflush(stdout) == 0 ? 0 : status_exit_code(ST_RESOURCE));
        st = option == 'b' && !with_backend ? fail(ST_USAGE, "unknown option --backend")
                                            : take_option(&r, option, optarg);
    }
    if (st == ST_OK && optind < argc)
        st = fail(ST_USAGE, "%s: no operand is expected; --help shows the options", argv[optind]);
    log_init(name, r.format < 0 ? LOG_TEXT : (enum log_format)r.format,
             r.level < 0 ? LEVEL_INFO : (enum log_level)r.level, 2);
    *out = r.options;
    return st;
}

int service_end(enum status st)
{
    bool told = atomic_load_explicit(&stop, memory_order_relaxed); /* as in on_signal */
    if (st == ST_OK || (told && st == ST_NO_DAEMON)) {
        log_event(LEVEL_INFO, NULL, "stopped");
        return 0;
    }
    log_event(LEVEL_ERROR, NULL, "ended", log_string("reason", status_message()));
    return status_exit_code(st);
}
