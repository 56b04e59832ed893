/* What a daemon is made of, put together from its options and the coordinator's configuration. */
#ifndef PINION_GPUD_PARTS_H
#define PINION_GPUD_PARTS_H

#include <jansson.h>

#include "gpud/pipeline.h"

struct parts {
    struct pool *device_pool, *second_pool, *pool; /* owned */
    struct backend *device, *second;               /* owned */
    struct keys *keys;                             /* owned */
};

/* backend NULL and threads 0: from config, the object of the coordinator's hello. As
 * backend_create. */
enum status parts_init(struct parts *out, const char *backend, unsigned threads,
                       const json_t *config) MUST_CHECK;
void parts_fini(struct parts *p); /* zeroed: nothing happens */

#endif
