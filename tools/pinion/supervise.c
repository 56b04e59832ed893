#include "tools/pinion/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "tools/pinion/session.h"

enum {
    BACKOFF_MIN_MS = 100,
    BACKOFF_MAX_MS = 5000,
    SETTLED_MS = 10000, /* who lived so long starts again without delay */
    STOP_MS = 120000,   /* who does not end for so long is killed */
    EXEC_FAILED = 127,
    NONE = -1,
};

struct child {
    const struct supervised *what;
    pid_t pid; /* 0: not running */
    double started_ms, due_ms, backoff_ms;
};

struct supervisor {
    struct child *children; /* owned */
    size_t count;
    sigset_t signals, before;
    int signals_taken;
    bool terminal;       /* standard input is one */
    int refusal;         /* exit code of an essential child that will not run; NONE */
    const char *refused; /* its name */
};

/* In the child, between fork and exec: nothing but system calls. */
static void become(const struct supervisor *s, const struct supervised *what, pid_t parent)
{
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    setpgid(0, 0); /* the terminal's ^C is the supervisor's to pass on, in order */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXEC_FAILED);
    /* execv takes the arguments as char * but does not write to them */
    char *args[SUPERVISE_ARGS];
    memcpy(args, what->args, sizeof args);
    execv(args[0], args);
    _exit(EXEC_FAILED);
}

static void start(struct supervisor *s, struct child *c)
{
    pid_t parent = getpid(), pid = fork();
    c->started_ms = clock_ms();
    if (pid == 0)
        become(s, c->what, parent);
    if (pid > 0) {
        c->pid = pid;
        log_event(LEVEL_DEBUG, NULL, "started", log_string("process", c->what->name),
                  log_i64("pid", pid));
        return;
    }
    log_event(LEVEL_ERROR, NULL, "cannot start", log_string("process", c->what->name),
              log_string("reason", strerror(errno)));
    c->due_ms = c->started_ms + BACKOFF_MAX_MS;
}

static void plan_restart(struct child *c)
{
    double now = clock_ms();
    bool settled = now - c->started_ms >= SETTLED_MS;
    c->backoff_ms = settled || c->backoff_ms == 0 ? BACKOFF_MIN_MS : 2 * c->backoff_ms;
    if (c->backoff_ms > BACKOFF_MAX_MS)
        c->backoff_ms = BACKOFF_MAX_MS;
    c->due_ms = now + c->backoff_ms;
}

static bool is_refusal(int status)
{
    if (!WIFEXITED(status))
        return false;
    int code = WEXITSTATUS(status);
    return (code >= status_exit_code(ST_USAGE) && code <= status_exit_code(ST_RESOURCE)) ||
           code == EXEC_FAILED;
}

static void child_ended(struct supervisor *s, struct child *c, int status)
{
    c->pid = 0;
    if (s->signals_taken > 0 || s->refusal != NONE)
        return;
    log_event(LEVEL_WARN, NULL, "process ended", log_string("process", c->what->name),
              log_i64("exit_code", WIFEXITED(status) ? WEXITSTATUS(status) : -1),
              log_i64("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0));
    bool early = clock_ms() - c->started_ms < SETTLED_MS;
    if (is_refusal(status) && early && (c->what->essential || WEXITSTATUS(status) == EXEC_FAILED)) {
        s->refusal = WEXITSTATUS(status);
        s->refused = c->what->name;
        return;
    }
    plan_restart(c);
}

static void reap(struct supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < s->count; i++)
            if (s->children[i].pid == pid)
                child_ended(s, &s->children[i], status);
}

/* Starts what is due; returns ms until the next is, at most a minute. */
static double start_due(struct supervisor *s)
{
    double wait = 60000;
    for (size_t i = 0; i < s->count; i++) {
        struct child *c = &s->children[i];
        if (c->pid != 0)
            continue;
        double left = c->due_ms - clock_ms();
        if (left <= 0)
            start(s, c);
        if (c->pid == 0)
            wait = left > 0 && left < wait ? left : wait;
    }
    return wait;
}

static void pass_on(const struct supervisor *s, int signal)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->children[i].what->rereads && s->children[i].pid != 0)
            kill(s->children[i].pid, signal);
}

/* Waits for a signal or ms. */
static void wait_signal(struct supervisor *s, double ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1e3)};
    t.tv_nsec = (long)((ms - 1e3 * (double)t.tv_sec) * 1e6);
    int signal = sigtimedwait(&s->signals, NULL, &t);
    if (signal == SIGHUP && !s->terminal)
        pass_on(s, SIGHUP);
    else if (signal > 0 && signal != SIGCHLD)
        s->signals_taken++;
    reap(s);
}

static bool any_running(const struct supervisor *s, unsigned order)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->children[i].what->order == order && s->children[i].pid != 0)
            return true;
    return false;
}

static void signal_all(const struct supervisor *s, unsigned order, int signal)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->children[i].what->order == order && s->children[i].pid != 0)
            kill(s->children[i].pid, signal);
}

static void stop_order(struct supervisor *s, unsigned order)
{
    double deadline = clock_ms() + STOP_MS;
    int taken = s->signals_taken;
    bool killed = false;
    signal_all(s, order, SIGTERM);
    while (any_running(s, order)) {
        double left = deadline - clock_ms();
        if (!killed && (left <= 0 || s->signals_taken > (taken > 0 ? taken : 1))) {
            signal_all(s, order, SIGKILL);
            killed = true;
        }
        wait_signal(s, left > 0 && !killed ? left : 1e3);
    }
}

static void stop_all(struct supervisor *s)
{
    unsigned highest = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->children[i].what->order > highest)
            highest = s->children[i].what->order;
    for (unsigned order = highest + 1; order-- > 0;)
        stop_order(s, order);
}

static enum status refusal(const struct supervisor *s)
{
    static const enum status by_code[] = {ST_OK, ST_INVALID, ST_USAGE, ST_INPUT, ST_RESOURCE};
    if (s->refusal == NONE)
        return ST_OK;
    if (s->refusal == EXEC_FAILED)
        return fail(ST_RESOURCE, "%s: cannot be run: it must lie beside pinion", s->refused);
    return fail(by_code[s->refusal], "%s does not start; its reason stands above", s->refused);
}

enum status supervise(const struct supervised *children, size_t n)
{
    struct supervisor s = {.count = n, .refusal = NONE, .terminal = isatty(STDIN_FILENO)};
    s.children = calloc(n, sizeof *s.children);
    if (!s.children)
        return fail(ST_RESOURCE, "no memory");
    for (size_t i = 0; i < n; i++)
        s.children[i].what = &children[i];
    sigemptyset(&s.signals);
    sigaddset(&s.signals, SIGTERM);
    sigaddset(&s.signals, SIGINT);
    sigaddset(&s.signals, SIGHUP);
    sigaddset(&s.signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &s.signals, &s.before);
    while (s.signals_taken == 0 && s.refusal == NONE)
        wait_signal(&s, start_due(&s));
    stop_all(&s);
    sigprocmask(SIG_SETMASK, &s.before, NULL);
    free(s.children);
    return refusal(&s);
}
