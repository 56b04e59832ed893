/* What the daemon tells about itself, as JSON. */
#ifndef PINION_GPUD_REPORT_H
#define PINION_GPUD_REPORT_H

#include <jansson.h>

#include "gpud/pipeline.h"

/* What was last reported, for rates. Starts as zeros. */
struct report {
    struct pipeline_totals totals;
    double at_ms;
};

/* {"queue": ms, "key": ..., "copy", "ntt", "msm_h", ..., "verify"}; NULL without memory. */
json_t *report_stages(const struct pipeline_times *t);

/* The members of a progress request, docs/protocol.md; rates are those since the last call. */
json_t *report_progress(struct report *r, struct pipeline *p, struct keys *k,
                        const struct backend *device, double now_ms);

#endif
