/* What the mains of the worker processes share: options, the signal that ends them, the exit. */
#ifndef PINION_SERVICE_H
#define PINION_SERVICE_H

#include <stdatomic.h>

#include "common/status.h"

struct service_options {
    const char *where;   /* --dir, else $PINION_DIR, else /var/lib/pinion; or ipc://SOCKET */
    unsigned threads;    /* 0: not given */
    const char *backend; /* "cpu", "cuda", "auto"; NULL: not given */
};

/* Reads the command line of the program `name` (static; also the log's component) and sets up the
 * log; takes --dir, --threads, --log-format, --log-level, and --backend if with_backend. Strings
 * borrow from argv. --help and --version are answered and end the process. ST_USAGE. */
enum status service_begin(struct service_options *out, const char *name, int with_backend, int argc,
                          char **argv) MUST_CHECK;

/* True once SIGTERM or SIGINT arrived; the handlers are installed by the first call, before other
 * threads start. */
const atomic_bool *service_stop(void);

/* Logs why the process ends and returns its exit code. What ended because it was told to is 0. */
int service_end(enum status st);

#endif
