#include "shm/names.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t fnv1a(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

enum status names_derive(struct names *out, const char *directory)
{
    char *path = realpath(directory, NULL);
    if (!path)
        return fail(ST_RESOURCE, "directory %s: %m", directory);
    snprintf(out->tag, sizeof out->tag, "%016" PRIx64, fnv1a(path));
    snprintf(out->ledger, sizeof out->ledger, "/pinion-%s-ledger", out->tag);
    snprintf(out->arena, sizeof out->arena, "/pinion-%s-arena", out->tag);
    free(path);
    return ST_OK;
}
