/* Processes that are kept running: started, started again when they die, stopped in order.
 *
 * One supervisor a process, used from its only thread. It takes SIGTERM, SIGINT, SIGHUP and SIGCHLD
 * while it runs. SIGHUP is a terminal that closes where there is one, and stops; elsewhere it is passed
 * on. Children die with it, however it ends. */
#ifndef PINION_TOOLS_SUPERVISE_H
#define PINION_TOOLS_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

enum { SUPERVISE_MAX = 256, SUPERVISE_ARGS = 24 };

struct supervised {
    const char *name;                 /* for messages */
    const char *args[SUPERVISE_ARGS]; /* a program's path and its arguments, ended by NULL */
    unsigned order;                   /* the highest is stopped first, and waited for */
    bool rereads;                     /* SIGHUP is passed on to it */
    bool essential; /* when it refuses to run (exit codes 2 to 4) there is nothing to supervise */
};

/* Starts all n and keeps them running until a signal: then SIGTERM to those of the highest order,
 * and when they have ended to the next. A second signal kills whatever is left. ST_OK: stopped by a
 * signal. Else why an essential one refused to run, after all others were stopped. */
enum status supervise(const struct supervised *children, size_t n) MUST_CHECK;

#endif
