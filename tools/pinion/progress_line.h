/* The progress of long work as one line on the terminal, rewritten in place.
 *
 * Appears when the work has lasted a second; says nothing when standard error is not a terminal. A
 * thread of its own redraws the clock while a stage is long. One at a time, used from one thread.
 */
#ifndef PINION_TOOLS_PROGRESS_LINE_H
#define PINION_TOOLS_PROGRESS_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "common/progress.h"

struct progress_line {
    struct progress progress; /* hand this down */
    bool enabled;             /* the rest exists only then */
    pthread_t ticker;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, shown;  /* under lock, as what follows */
    const char *stage; /* NULL: none yet */
    size_t done, total;
    struct timespec start;
};

/* wanted: false for silence. A line that cannot be had is no error. */
void progress_line_init(struct progress_line *line, bool wanted);

/* Takes the line off the screen for good. Zeroed or finished already: nothing happens. */
void progress_line_fini(struct progress_line *line);

#endif
