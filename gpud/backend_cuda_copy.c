/* Vectors on their way to the device. */
#include <string.h>

#include "gpud/backend_cuda_private.h"
#include "gpud/cuda/values.h"
#include "gpud/vectors.h"

/* The bytes [at, at + bytes) of the slice, piece by piece. */
static enum status copy_vector(struct cuda *c, uint8_t *to, const struct vectors *v, uint64_t at,
                               uint64_t bytes)
{
    for (uint32_t i = 0; i < v->n_pieces && bytes > 0; i++) {
        const struct piece *p = &v->pieces[i];
        if (at < p->at || at >= p->at + p->bytes)
            continue;
        uint64_t skip = at - p->at, n = p->bytes - skip < bytes ? p->bytes - skip : bytes;
        CUDA_TRY(cudaMemcpyAsync(to, p->from + skip, n, cudaMemcpyHostToDevice, c->copying));
        to += n;
        at += n;
        bytes -= n;
    }
    CHECK(bytes == 0);
    return ST_OK;
}

static enum status enqueue_copy(struct cuda *c, struct lane *l, const struct groth16_key *key,
                                const struct vectors *v)
{
    const struct curve *curve = key->curve;
    struct results *results = l->results;
    CUDA_TRY(cudaMemsetAsync(l->unreduced, 0xff, sizeof results->unreduced, c->copying));
    enum status st = copy_vector(c, l->w, v, 0, v->w_bytes);
    if (st == ST_OK)
        st = copy_vector(c, l->a, v, v->a_offset, v->a_bytes);
    if (st == ST_OK)
        st = copy_vector(c, l->b, v, v->b_offset, v->b_bytes);
    if (st == ST_OK)
        st = cuda_values_check(curve->id, l->w, key->n_vars, &l->unreduced[0], c->copying);
    if (st == ST_OK)
        st = cuda_values_check(curve->id, l->a, key->domain, &l->unreduced[1], c->copying);
    if (st == ST_OK)
        st = cuda_values_check(curve->id, l->b, key->domain, &l->unreduced[2], c->copying);
    if (st != ST_OK)
        return st;
    CUDA_TRY(cudaMemcpyAsync(results->unreduced, l->unreduced, sizeof results->unreduced,
                             cudaMemcpyDeviceToHost, c->copying));
    CUDA_TRY(cudaMemcpyAsync(results + 1, l->w, cuda_publics_bytes(key), cudaMemcpyDeviceToHost,
                             c->copying));
    return ST_OK;
}

/* What the device has found. */
static enum status check_copied(const struct lane *l, const struct groth16_key *key)
{
    static const char *const names[CUDA_CHECKED] = {"w", "a", "b"};
    static const uint8_t one[CURVE_MAX_FR_BYTES] = {1};
    for (int i = 0; i < CUDA_CHECKED; i++)
        if (l->results->unreduced[i] != UINT64_MAX)
            return fail(ST_INTERNAL, "%s: %s[%llu] of the slice is not below the group order",
                        key->path, names[i], (unsigned long long)l->results->unreduced[i]);
    if (memcmp(l->results + 1, one, key->curve->fr_bytes) != 0)
        return fail(ST_INTERNAL, "%s: w[0] of the slice is not 1", key->path);
    return ST_OK;
}

enum status cuda_job_copy(struct backend *b, unsigned lane, const struct backend_key *key,
                          const struct vectors *v)
{
    struct cuda *c = cuda_device_of(b);
    struct lane *l = &c->lane[lane];
    enum status st = vectors_check(v, key->key);
    if (st == ST_OK)
        st = device_use(c->device.index);
    if (st != ST_OK)
        return st;
    st = enqueue_copy(c, l, key->key, v);
    /* also after a failure: the slice is not read any more once this function has returned */
    CUDA_TRY(cudaStreamSynchronize(c->copying));
    return st == ST_OK ? check_copied(l, key->key) : st;
}

/* ---- memory that pieces lie in ---- */

void cuda_memory_remove(struct backend *b, const void *base)
{
    struct cuda *c = cuda_device_of(b);
    (void)base; /* there is one */
    while (c->n_chunks > 0)
        (void)cudaHostUnregister(c->chunk[--c->n_chunks]); /* fails only on a lost device */
}

/* The mapping is not written through: the driver's interface has no const. */
static void *without_const(const uint8_t *p)
{
    union {
        const uint8_t *from;
        void *to;
    } u = {p};
    return u.to;
}

static enum status register_chunks(struct cuda *c, const uint8_t *base, uint64_t bytes,
                                   uint64_t chunk)
{
    const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterReadOnly;
    for (uint64_t at = 0; at < bytes; at += chunk) {
        uint64_t n = bytes - at < chunk ? bytes - at : chunk;
        void *p = without_const(base + at);
        if (c->n_chunks == CUDA_CHUNKS_MAX)
            return fail(ST_RESOURCE, "%s: more than %d chunks of memory to pin", c->base.name,
                        CUDA_CHUNKS_MAX);
        CUDA_TRY(cudaHostRegister(p, n, flags));
        c->chunk[c->n_chunks++] = p;
    }
    return ST_OK;
}

enum status cuda_memory_add(struct backend *b, const void *base, uint64_t bytes, uint64_t chunk)
{
    struct cuda *c = cuda_device_of(b);
    enum status st = device_use(c->device.index);
    if (st == ST_OK && c->n_chunks > 0)
        st = fail(ST_INTERNAL, "%s: memory is pinned already", b->name);
    if (st == ST_OK)
        st = register_chunks(c, base, bytes, chunk ? chunk : bytes);
    if (st != ST_OK)
        cuda_memory_remove(b, base);
    return st;
}
