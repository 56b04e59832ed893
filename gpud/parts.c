#include "gpud/parts.h"

#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/msg.h"

enum { THREADS_MAX = 4096, BACKEND_NAME_MAX = 16, WARNING_BYTES = 512 };

/* A key budget that is not configured: half of the machine's memory. */
static uint64_t auto_budget(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_C(1) << 30;
}

static enum status create_device(struct parts *p, const char *name)
{
    char warning[WARNING_BYTES];
    enum status st = backend_create(&p->device, name, p->device_pool, warning, sizeof warning);
    if (st == ST_OK && warning[0] != '\0')
        log_event(LEVEL_WARN, NULL, "no device", log_string("reason", warning));
    return st;
}

/* What keys may take: what is configured, but not more than the device has. */
static uint64_t budget_of(const struct backend *device, uint64_t configured)
{
    uint64_t most = device->memory ? device->memory : auto_budget();
    if (configured == 0 || (device->memory && configured > most))
        return most;
    return configured;
}

/* The second backend and the evaluation only work when a proof was wrong: their threads sleep. */
static enum status create(struct parts *p, const char *backend, unsigned threads, uint64_t budget)
{
    enum status st = pool_create(&p->device_pool, threads);
    if (st == ST_OK)
        st = pool_create(&p->second_pool, threads);
    if (st == ST_OK)
        st = pool_create(&p->pool, threads);
    if (st == ST_OK)
        st = create_device(p, backend);
    if (st == ST_OK)
        st = backend_cpu_create(&p->second, p->second_pool);
    if (st == ST_OK)
        st = keys_create(&p->keys, p->device, budget_of(p->device, budget));
    return st;
}

enum status parts_init(struct parts *out, const char *backend, unsigned threads,
                       const json_t *config)
{
    struct parts p = {.keys = NULL};
    const char *name;
    int64_t n, budget;
    enum status st = msg_string_opt(&name, config, "backend", BACKEND_NAME_MAX, "auto");
    if (st == ST_OK)
        st = msg_int_opt(&n, config, "threads", 0, THREADS_MAX, 0);
    if (st == ST_OK)
        st = msg_int_opt(&budget, config, "key_budget", 0, INT64_MAX, 0);
    if (st == ST_OK)
        st =
            create(&p, backend ? backend : name, threads ? threads : (unsigned)n, (uint64_t)budget);
    if (st == ST_OK)
        *out = p;
    else
        parts_fini(&p);
    return st;
}

void parts_fini(struct parts *p)
{
    keys_destroy(p->keys);
    backend_destroy(p->device);
    backend_destroy(p->second);
    pool_destroy(p->device_pool);
    pool_destroy(p->second_pool);
    pool_destroy(p->pool);
    *p = (struct parts){.keys = NULL};
}
