#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/clock.h"
#include "tools/pinion/command.h"
#include "tools/pinion/remote.h"
#include "tools/pinion/session.h"
#include "tools/pinion/top_frame.h"

enum { COLUMNS = 80, ROWS = 24, LEAST_COLUMNS = 20 };

struct top_options {
    struct remote_options remote;
    uint64_t interval; /* seconds */
    bool once;
};

/* The terminal while it is ours: another screen, no cursor, keys without Enter. */
static struct termios before;
static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void enter_screen(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART: ends the wait */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", stdout);
}

static void leave_screen(void)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void measure(struct top_style *style)
{
    struct winsize w;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 1;
    style->columns = known ? w.ws_col : COLUMNS;
    style->rows = known ? w.ws_row - 1U : ROWS;
    if (style->columns < LEAST_COLUMNS)
        style->columns = LEAST_COLUMNS;
}

/* What a frame needs of the one before. */
struct history {
    double at_ms;
    json_int_t done;
    bool known;
};

static double rate(struct history *h, const json_t *status)
{
    json_int_t done = json_integer_value(json_object_get(json_object_get(status, "jobs"), "done"));
    double now = clock_ms(), per_second = -1;
    if (h->known && done >= h->done && now > h->at_ms)
        per_second = 1e3 * (double)(done - h->done) / (now - h->at_ms);
    *h = (struct history){now, done, true};
    return per_second;
}

/* Until a key, a signal, or the time has passed; whether to go on. */
static bool wait_for_key(uint64_t seconds)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;
    if (poll(&p, 1, (int)seconds * 1000) > 0 && read(STDIN_FILENO, &key, 1) <= 0)
        return false;
    return key != 'q' && key != 'Q' && !interrupted;
}

static void draw(const json_t *status, const char *trouble, const struct top_style *style)
{
    fputs("\033[H", stdout);
    if (status)
        top_frame(stdout, status, style, "\033[K\r\n");
    else
        printf("%.*s\033[K\r\n", (int)style->columns, trouble);
    fputs("\033[J", stdout);
    printf("\033[%u;1Hq quits", style->rows + 1);
    fflush(stdout);
}

/* A coordinator that is gone is waited for. */
static void watch(const struct top_options *o, struct top_style *style)
{
    struct history history = {.known = false};
    do {
        struct client_reply reply = {.bytes = NULL};
        enum status st = remote_ask(o->remote.dir, &reply, "status", NULL);
        measure(style);
        style->per_second = st == ST_OK ? rate(&history, reply.msg.body) : -1;
        history.known = st == ST_OK;
        draw(st == ST_OK ? reply.msg.body : NULL, status_message(), style);
        client_reply_fini(&reply);
        status_clear();
    } while (wait_for_key(o->interval));
}

static enum status print_once(const struct top_options *o, struct top_style *style)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st = remote_ask(o->remote.dir, &reply, "status", NULL);
    if (st == ST_OK && o->remote.json)
        st = session_print_json(json_incref(reply.msg.body));
    else if (st == ST_OK)
        top_frame(stdout, reply.msg.body, style, "\n");
    client_reply_fini(&reply);
    return st;
}

static enum status run(const void *options, char **operands)
{
    (void)operands;
    const struct top_options *o = options;
    struct top_style style = {.where = o->remote.dir ? o->remote.dir : client_default_where(),
                              .columns = COLUMNS,
                              .per_second = -1};
    bool terminal = isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    if (o->once || o->remote.json || !terminal)
        return print_once(o, &style);
    style.colour = true;
    enter_screen();
    watch(o, &style);
    leave_screen();
    return ST_OK;
}

static const struct top_options defaults = {.interval = 1};
static const struct option_spec options[] = {
    {"interval", "S", "seconds between two frames (default: 1)", OPTION_NUMBER,
     offsetof(struct top_options, interval), 1, 3600},
    {"once", NULL, "print one frame and end; so does output that is no terminal", OPTION_FLAG,
     offsetof(struct top_options, once), 0, 0},
    REMOTE_OPTIONS,
    {0}};

const struct command cmd_top = {
    .name = "top",
    .operands = "",
    .summary = "watch the daemons at work",
    .about =
        "Shows a map of the arena, jobs, processes, devices, mean times of the stages and what\n"
        "happened last, again and again until q is pressed.\n",
    .examples = "  pinion top\n  pinion top --interval 5\n  pinion top --once\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
