#include "tools/pinion/progress_line.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_MS = 200, APPEAR_MS = 1000 };

static const char erase[] = "\r\033[K";

static void put(const char *text, size_t length)
{
    /* a terminal that refuses a progress line is no reason to stop */
    ssize_t ignored = write(STDERR_FILENO, text, length);
    (void)ignored;
}

static struct timespec after(struct timespec t, long ms)
{
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Called under lock. */
static void draw(struct progress_line *line, const struct timespec *now)
{
    if (!line->stage)
        return;
    double seconds = (double)(now->tv_sec - line->start.tv_sec) +
                     (double)(now->tv_nsec - line->start.tv_nsec) / 1e9;
    char text[128];
    int n = snprintf(text, sizeof text, "%s[%.1f s] %.40s", erase, seconds, line->stage);
    if (line->total > 0 && line->done <= line->total)
        n += snprintf(text + n, sizeof text - (size_t)n, " %.0f %%",
                      100.0 * (double)line->done / (double)line->total);
    put(text, (size_t)n);
    line->shown = true;
}

static void *tick(void *arg)
{
    struct progress_line *line = arg;
    struct timespec due = after(line->start, APPEAR_MS);
    pthread_mutex_lock(&line->lock);
    while (!line->stop) {
        struct timespec now;
        pthread_cond_timedwait(&line->wake, &line->lock, &due);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (line->stop || now.tv_sec < due.tv_sec ||
            (now.tv_sec == due.tv_sec && now.tv_nsec < due.tv_nsec))
            continue;
        draw(line, &now);
        due = after(now, REDRAW_MS);
    }
    pthread_mutex_unlock(&line->lock);
    return NULL;
}

static void report(struct progress *self, const char *stage, size_t done, size_t total)
{
    struct progress_line *line = (struct progress_line *)self; /* its first member */
    if (!line->enabled)
        return;
    pthread_mutex_lock(&line->lock);
    line->stage = stage;
    line->done = done;
    line->total = total;
    pthread_mutex_unlock(&line->lock);
}

static bool terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* The ticker leaves signals to the main thread. */
static bool start(struct progress_line *line)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&line->ticker, NULL, tick, line);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error == 0;
}

void progress_line_init(struct progress_line *line, bool wanted)
{
    *line = (struct progress_line){.progress = {report}};
    if (!wanted || !terminal())
        return;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&line->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&line->lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &line->start);
    line->enabled = start(line);
    if (!line->enabled) {
        pthread_cond_destroy(&line->wake);
        pthread_mutex_destroy(&line->lock);
    }
}

void progress_line_fini(struct progress_line *line)
{
    if (!line->enabled)
        return;
    pthread_mutex_lock(&line->lock);
    line->stop = true;
    pthread_cond_signal(&line->wake);
    pthread_mutex_unlock(&line->lock);
    pthread_join(line->ticker, NULL);
    if (line->shown)
        put(erase, sizeof erase - 1);
    pthread_cond_destroy(&line->wake);
    pthread_mutex_destroy(&line->lock);
    line->enabled = false;
}
