#include "tools/pinion/connected.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/file/map.h"
#include "common/sha256.h"
#include "shm/job.h"
#include "tools/pinion/remote.h"

static enum status digest_file(uint8_t out[32], const char *path)
{
    struct file_map file;
    struct sha256 h;
    enum status st = file_map(&file, path);
    if (st != ST_OK)
        return st;
    sha256_init(&h);
    sha256_update(&h, file.data, file.size);
    sha256_final(&h, out);
    file_unmap(&file);
    return ST_OK;
}

static enum status find_by_digest(char out[JOB_ID_MAX + 1], const json_t *circuits,
                                  const uint8_t digest[32], const char *key)
{
    size_t i;
    json_t *c;
    json_array_foreach(circuits, i, c)
    {
        uint8_t other[32];
        const char *name;
        enum status st = msg_hex(other, sizeof other, c, "sha256");
        if (st == ST_OK)
            st = msg_string(&name, c, "name", 1, JOB_ID_MAX);
        if (st != ST_OK)
            return st;
        if (memcmp(other, digest, sizeof other) == 0) {
            snprintf(out, JOB_ID_MAX + 1, "%s", name);
            return ST_OK;
        }
    }
    return fail(ST_INPUT,
                "%s: the daemons do not know this key: add it with `pinion circuit add NAME --key "
                "%s`",
                key, key);
}

/* The circuit that a key names: by the content of the file, or by name if there is no such file. */
static enum status find_circuit(char out[JOB_ID_MAX + 1], struct client *c, const char *key)
{
    uint8_t digest[32];
    struct client_reply reply = {.bytes = NULL};
    if (access(key, F_OK) != 0 && job_id_valid(key)) {
        snprintf(out, JOB_ID_MAX + 1, "%s", key);
        return ST_OK;
    }
    enum status st = digest_file(digest, key);
    if (st == ST_OK)
        st = remote_call(c, &reply, "circuit_list", NULL, NULL, 0);
    if (st == ST_OK)
        st = find_by_digest(out, json_object_get(reply.msg.body, "circuits"), digest, key);
    client_reply_fini(&reply);
    return st;
}

static enum status submit_and_wait(struct client *c, struct remote_result *out,
                                   const struct remote_job *job, struct progress *progress)
{
    enum status st = remote_submit(c, job, progress);
    progress_report(progress, "prove", 0, 0);
    if (st == ST_OK)
        st = remote_wait(c, out, job->id, 0);
    if (st != ST_OK)
        return st;
    st = remote_verdict(out, job->id);
    /* here a job that failed is what a bad witness is to the embedded prover */
    return st == ST_INVALID && strcmp(out->state, "failed") == 0 ? ST_INPUT : st;
}

enum status connected_prove(const char *where, const char *key, const char *witness,
                            const char *proof, const char *publics, const char *seed,
                            struct progress *progress)
{
    char circuit[JOB_ID_MAX + 1], id[JOB_ID_MAX + 1];
    struct client *c = NULL;
    struct remote_result result = {.body = NULL};
    enum status st = remote_dial(&c, where);
    if (st == ST_OK)
        st = find_circuit(circuit, c, key);
    if (st == ST_OK)
        st = job_id_generate(id);
    const struct remote_job job = {.id = id, .circuit = circuit, .witness = witness, .seed = seed};
    if (st == ST_OK)
        st = submit_and_wait(c, &result, &job, progress);
    if (st == ST_OK)
        st = remote_write(&result, proof, publics);
    remote_result_fini(&result);
    client_close(c);
    return st;
}
