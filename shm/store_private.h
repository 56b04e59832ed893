/* What the parts of the store share. */
#ifndef PINION_SHM_STORE_PRIVATE_H
#define PINION_SHM_STORE_PRIVATE_H

#include <limits.h>
#include <pthread.h>

#include "shm/store.h"

/* The file an addition copied, so that its repetition is known again: another file, or the same
 * one changed, is another request. */
struct store_source {
    char key[PATH_MAX], r1cs[PATH_MAX]; /* "" for none */
    uint64_t bytes;
    int64_t changed; /* nanoseconds */
};

struct store_entry {
    struct circuit circuit;
    struct store_source source;
};

/* One addition. The thread owns everything but `ended` until it has set that. */
struct addition {
    struct store_entry entry;
    const char *dir;
    store_inspector *inspect;
    enum status status;
    char message[1024];
    pthread_t thread;
    bool running;         /* the thread exists and is not joined */
    bool failed;          /* joined; its failure was not told yet */
    pthread_mutex_t lock; /* guards the following */
    bool ended, cancelled;
    void (*wake)(void *arg);
    void *arg;
};

struct store {
    char *dir;
    store_inspector *inspect;
    struct store_entry *entries; /* by name */
    size_t count, capacity;
    struct addition addition;
};

/* "DIR/NAME/file", or "DIR/.NAME~/file" while it is being added; file may be "". */
enum status store_path(char *out, size_t size, const char *dir, const char *name, bool adding,
                       const char *file) MUST_CHECK;

/* Removes DIR/entry with the files in it; fine when there is none. */
enum status store_remove_directory(const char *dir, const char *entry) MUST_CHECK;

/* meta.json of an entry. Reading checks every member; ST_INPUT names the file. */
enum status store_meta_write(const struct store_entry *e, const char *path) MUST_CHECK;
enum status store_meta_read(struct store_entry *out, const char *dir, const char *name) MUST_CHECK;

/* Builds the circuit of a->entry: copies, checks, publishes. On the store's thread. */
enum status store_build(struct addition *a) MUST_CHECK;

/* Whether the addition is to be broken off. */
bool store_cancelled(struct addition *a);

#endif
