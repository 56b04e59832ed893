#include <stdio.h>
#include <string.h>

#include "gpud/backend.h"
#if PINION_WITH_CUDA
#include "gpud/cuda/device.h"
#endif

#if PINION_WITH_CUDA
static enum status create_cuda(struct backend **out)
{
    return backend_cuda_create(out, 0);
}

static bool any_device(void)
{
    return device_count() > 0;
}
#else
static enum status create_cuda(struct backend **out)
{
    (void)out;
    return fail(ST_RESOURCE, "backend cuda: built without CUDA; use cpu or auto");
}

static bool any_device(void)
{
    return false;
}
#endif

/* A device that is there and does not work is worth a warning, none at all is not. */
static enum status create_any(struct backend **out, struct pool *pool, char *warning, size_t size)
{
    if (any_device()) {
        enum status st = create_cuda(out);
        if (st == ST_OK)
            return ST_OK;
        snprintf(warning, size, "proving on the processor: %s", status_message());
        status_clear();
    }
    return backend_cpu_create(out, pool);
}

enum status backend_create(struct backend **out, const char *name, struct pool *pool, char *warning,
                           size_t warning_bytes)
{
    warning[0] = '\0';
    if (strcmp(name, "cpu") == 0)
        return backend_cpu_create(out, pool);
    if (strcmp(name, "cuda") == 0)
        return create_cuda(out);
    if (strcmp(name, "auto") == 0)
        return create_any(out, pool, warning, warning_bytes);
    return fail(ST_USAGE, "backend %s: must be cpu, cuda or auto", name);
}
