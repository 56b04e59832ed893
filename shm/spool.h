/* The spool: input files of open jobs, and uploads on their way to become one.
 *
 * A directory (0700) of the coordinator's user. The file of job ID is DIR/ID (0600); while it is
 * uploaded it is DIR/ID~, a name that no id can have. Every name passes job_id_valid first and is
 * opened relative to the directory, never through a link. One owner, the coordinator; one thread.
 *
 * An upload is announced with its size and SHA-256, comes in chunks in order, and becomes the file
 * when it is complete, on disk and has that digest. Uploads do not survive the owner: spool_sweep
 * at start removes them, and the client begins again.
 *
 * Failures: ST_INPUT (malformed or refused, naming what is expected), ST_RESOURCE (disk, limits).
 */
#ifndef PINION_SHM_SPOOL_H
#define PINION_SHM_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/job.h"

struct spool;

enum {
    SPOOL_UPLOADS = 64, /* at the same time */
    SPOOL_UPLOADS_OF_USER = 16,
};

/* Creates dir if it is not there; refuses one that others can enter or own, or that is a link.
 * max_bytes: the largest upload. dir is copied. */
enum status spool_open(struct spool **out, const char *dir, uint64_t max_bytes) MUST_CHECK;
void spool_close(struct spool *s); /* uploads are dropped, files stay; NULL is fine */

struct spool_upload {
    const char *id;
    uint32_t uid;
    uint64_t size; /* 1 to max_bytes */
    uint8_t sha256[32];
};

/* Begins the upload, or finds it when the same was announced before: *offset is where the next
 * chunk goes, size when a file of that size is already there (the journal, asked first, knows
 * whose). Refuses an id under upload by another user or with another size or digest. now: ms of any
 * clock that spool_expire is given too. */
enum status spool_begin(struct spool *s, uint64_t *offset, const struct spool_upload *upload,
                        int64_t now) MUST_CHECK;

/* Stores a chunk that begins at offset. A chunk that is there already, whole, is fine and ignored;
 * a gap, a partial overlap and bytes beyond the announced size are refused, naming the offset that
 * is expected. *next is the offset of the next chunk. */
enum status spool_write(struct spool *s, uint64_t *next, const char *id, uint32_t uid,
                        uint64_t offset, const void *bytes, size_t len, int64_t now) MUST_CHECK;

/* Makes the complete upload the file: digest compared, synced, renamed, directory synced. Fine when
 * done before and the file is there. A wrong digest drops the upload. */
enum status spool_commit(struct spool *s, const char *id, uint32_t uid) MUST_CHECK;

/* Drops an upload and its bytes; fine when there is none. */
void spool_abandon(struct spool *s, const char *id);

/* Drops uploads that got nothing for idle_ms. Returns how many. */
size_t spool_expire(struct spool *s, int64_t now, int64_t idle_ms);

/* Removes the file of an ended job; fine when there is none. */
enum status spool_remove(struct spool *s, const char *id) MUST_CHECK;

/* Size of the job's file: ST_INPUT when there is none. */
enum status spool_size(struct spool *s, uint64_t *size, const char *id) MUST_CHECK;

/* The path of the job's file, whether it exists or not; ST_INPUT for a malformed id or when cap is
 * too small. */
enum status spool_path(const struct spool *s, char *out, size_t cap, const char *id) MUST_CHECK;

/* At start: removes every upload and every file for which keep(arg, id) is false or whose name is
 * no id. Directories are left alone. *removed counts. */
enum status spool_sweep(struct spool *s, size_t *removed, bool (*keep)(void *arg, const char *id),
                        void *arg) MUST_CHECK;

#endif
