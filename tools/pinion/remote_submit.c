#include <string.h>

#include "common/file/map.h"
#include "common/sha256.h"
#include "tools/pinion/remote.h"

enum { ATTEMPTS = 5 };

static json_t *digest_json(const struct file_map *file)
{
    struct sha256 h;
    uint8_t digest[32];
    sha256_init(&h);
    sha256_update(&h, file->data, file->size);
    sha256_final(&h, digest);
    return msg_json_hex(digest, sizeof digest);
}

static json_t *submit_members(const struct remote_job *job, const struct file_map *file)
{
    json_t *m = json_pack("{s:s, s:s, s:I, s:o}", "id", job->id, "circuit", job->circuit, "size",
                          (json_int_t)file->size, "sha256", digest_json(file));
    if (job->priority)
        json_object_set_new(m, "priority", json_string(job->priority));
    if (job->deadline_ms)
        json_object_set_new(m, "deadline", json_integer(job->deadline_ms));
    if (job->seed)
        json_object_set_new(m, "seed", json_string(job->seed));
    return m;
}

/* Where the upload goes on: the file's size when nothing is missing. */
static enum status read_offset(uint64_t *out, const json_t *body, const struct file_map *file)
{
    int64_t offset;
    enum status st = msg_int(&offset, body, "offset", 0, (int64_t)file->size);
    if (st == ST_OK)
        *out = (uint64_t)offset;
    return st;
}

static enum status upload(struct client *c, const char *id, const struct file_map *file,
                          uint64_t offset, struct progress *progress)
{
    enum status st = ST_OK;
    while (st == ST_OK && offset < file->size) {
        struct client_reply reply = {.bytes = NULL};
        uint64_t n = file->size - offset < MSG_PAYLOAD_MAX ? file->size - offset : MSG_PAYLOAD_MAX;
        uint64_t next = 0;
        progress_report(progress, "upload", offset, file->size);
        st = remote_call(c, &reply, "upload",
                         json_pack("{s:s, s:I}", "id", id, "offset", (json_int_t)offset),
                         file->data + offset, n);
        if (st == ST_OK)
            st = read_offset(&next, reply.msg.body, file);
        if (st == ST_OK && next <= offset)
            st = fail(ST_INTERNAL, "job %s: the upload does not advance", id);
        offset = next;
        client_reply_fini(&reply);
    }
    return st;
}

static enum status announce(struct client *c, const struct remote_job *job,
                            const struct file_map *file, struct progress *progress)
{
    struct client_reply reply = {.bytes = NULL};
    uint64_t offset = file->size;
    enum status st = remote_call(c, &reply, "submit", submit_members(job, file), NULL, 0);
    const json_t *where = st == ST_OK ? json_object_get(reply.msg.body, "upload") : NULL;
    if (json_is_object(where))
        st = read_offset(&offset, where, file);
    client_reply_fini(&reply);
    return st == ST_OK ? upload(c, job->id, file, offset, progress) : st;
}

static enum status submit_once(struct client *c, const struct remote_job *job,
                               const struct file_map *file, struct progress *progress)
{
    struct client_reply reply = {.bytes = NULL};
    enum status st = announce(c, job, file, progress);
    if (st == ST_OK)
        st = remote_call(c, &reply, "commit", json_pack("{s:s}", "id", job->id), NULL, 0);
    client_reply_fini(&reply);
    return st;
}

enum status remote_submit(struct client *c, const struct remote_job *job, struct progress *progress)
{
    struct file_map file;
    enum status st = file_map(&file, job->witness);
    if (st != ST_OK)
        return st;
    /* uploads do not survive a restart of the coordinator: what it then does not know is sent anew
     */
    for (int i = 0; i < ATTEMPTS; i++) {
        st = submit_once(c, job, &file, progress);
        if (st == ST_OK || strcmp(client_refusal(c), "unknown") != 0 || i + 1 == ATTEMPTS)
            break;
        status_clear();
    }
    file_unmap(&file);
    return st;
}
