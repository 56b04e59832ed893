/* The proving keys that are loaded into a backend: a cache under a budget of bytes. A key in use
 * stays; of the others the least recently used one goes first.
 *
 * keys_acquire, keys_sweep and keys_destroy from one thread, that of the backend's key_load; the
 * rest from any. */
#ifndef PINION_GPUD_KEYS_H
#define PINION_GPUD_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "gpud/backend.h"
#include "shm/job.h"

struct keys;

/* A loaded key; borrowed from keys_acquire to keys_release. */
struct key {
    char circuit[JOB_ID_MAX + 1];
    const struct groth16_key *key;
    const struct groth16_vkey *vk;
    struct backend_key *loaded;
    /* of its last job, microseconds, 0: none yet; kept for estimates (relaxed: they are hints) */
    _Atomic uint64_t copy_us, prove_us, verify_us;
};

/* device is borrowed until keys_destroy. */
enum status keys_create(struct keys **out, struct backend *device, uint64_t budget) MUST_CHECK;

/* No key is in use. NULL is fine. */
void keys_destroy(struct keys *k);

/* The key of a circuit, from the zkey at path, loaded if it is not; another file that replaced the
 * one under that path is another key. Waits for keys in use when only they stand in the way; ends
 * waiting, with ST_NO_DAEMON, after keys_stop. ST_RESOURCE when the key alone exceeds the budget or
 * the device has no room; ST_INPUT as zkey_open, and for header points off the curve. *loading_ms
 * is the time it took to load, 0 if it was. */
enum status keys_acquire(struct keys *k, struct key **out, double *loading_ms, const char *circuit,
                         const char *path) MUST_CHECK;
void keys_release(struct keys *k, struct key *key);

/* Marks a circuit's keys to go as soon as nobody uses them, with the next keys_sweep. */
void keys_evict(struct keys *k, const char *circuit);
void keys_sweep(struct keys *k);
void keys_stop(struct keys *k);

struct key_status {
    uint64_t bytes;
    unsigned users;
    char circuit[JOB_ID_MAX + 1];
};

/* Copies the first cap of the loaded keys; returns how many are loaded. */
size_t keys_list(struct keys *k, struct key_status *out, size_t cap);

uint64_t keys_bytes(struct keys *k); /* of all that are loaded */

#endif
