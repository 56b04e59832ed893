/* The circuits that a synthesis process has open: one mapping a circuit, the least recently used
 * one goes. A file that was replaced under its name is opened anew. One thread. */
#ifndef PINION_SYNTH_CACHE_H
#define PINION_SYNTH_CACHE_H

#include "synth/synthesis.h"

struct cache;

enum { CACHE_CIRCUITS = 8 };

/* pool is borrowed until cache_destroy. */
enum status cache_create(struct cache **out, struct pool *pool) MUST_CHECK;
void cache_destroy(struct cache *c); /* NULL is fine */

/* The synthesis of a key and, unless NULL, a constraint system; borrowed until the next cache_get.
 * Fails as synthesis_open. */
enum status cache_get(struct cache *c, const struct synthesis **out, const char *key,
                      const char *r1cs) MUST_CHECK;

#endif
