/* Progress of long work: who works reports stages, who started the work shows them. Thread-safe for
 * one worker. */
#ifndef PINION_PROGRESS_H
#define PINION_PROGRESS_H

#include <stddef.h>

/* Embed as the first member, or use as is. */
struct progress {
    /* stage: static text such as "msm b2". done of total units of that stage; total 0 if unknown.
     */
    void (*report)(struct progress *self, const char *stage, size_t done, size_t total);
};

static inline void progress_report(struct progress *p, const char *stage, size_t done, size_t total)
{
    if (p)
        p->report(p, stage, done, total);
}

#endif
