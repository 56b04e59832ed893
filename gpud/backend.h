/* What proves: one device, or the processor, behind one interface.
 *
 * A backend keeps the keys that are loaded into it, and has BACKEND_LANES lanes: places for the
 * vectors of one job each, so that one job's vectors are copied while another's are proved. All
 * memory is taken by key_load and lane_reserve, none by job_copy and job_prove.
 *
 * Threads: key_load, key_unload, lane_reserve and job_copy from one thread, job_prove from one
 * other, the two at the same time, but never both in one lane. Failures: ST_RESOURCE, no memory or
 * no device; ST_INTERNAL, a device that failed (what it holds is lost) or a slice whose values are
 * out of range. */
#ifndef PINION_GPUD_BACKEND_H
#define PINION_GPUD_BACKEND_H

#include "common/groth16/groth16.h"

enum { BACKEND_LANES = 2 };

/* A run of bytes of a slice: where they are, and where in the vectors w | a | b | c, laid out as
 * the slice is mapped, they belong. */
struct piece {
    const uint8_t *from;
    uint64_t at, bytes;
};

/* The vectors of one job: pieces in the arena, in order, with no gap but padding. A vector never
 * starts inside a piece's padding; one piece may hold the end of one vector and the begin of the
 * next. */
struct vectors {
    uint64_t w_bytes, a_bytes, b_bytes, c_bytes; /* 0: absent */
    uint64_t a_offset, b_offset, c_offset;       /* w is at 0 */
    const struct piece *pieces;
    uint32_t n_pieces;
};

struct backend;
struct backend_key; /* a loaded key, in the backend's own form */

struct backend_ops {
    /* Bytes of the budget that the key takes while loaded, its share of the lanes included. */
    uint64_t (*key_bytes)(const struct backend *b, const struct groth16_key *key);

    /* key is borrowed until key_unload. */
    enum status (*key_load)(struct backend *b, struct backend_key **out,
                            const struct groth16_key *key) MUST_CHECK;
    void (*key_unload)(struct backend *b, struct backend_key *key);

    /* Makes the lane large enough for jobs of the key; whatever is in it is lost. */
    enum status (*lane_reserve)(struct backend *b, unsigned lane,
                                const struct backend_key *key) MUST_CHECK;

    /* Copies the vectors into the lane. Nothing of the slice is read after it returns. Untrusted
     * bytes: a value that is not below the group order, or a w[0] that is not 1, is refused. */
    enum status (*job_copy)(struct backend *b, unsigned lane, const struct backend_key *key,
                            const struct vectors *v) MUST_CHECK;

    /* Proves what the lane holds; destroys it. The proof is not verified. Writes the n_public
     * public values (canonical, fr_bytes each) that it proved for to publics. progress may be NULL.
     */
    enum status (*job_prove)(struct backend *b, unsigned lane, const struct backend_key *key,
                             const struct groth16_randomness *rs, struct progress *progress,
                             struct groth16_timings *timings, struct groth16_proof *out,
                             uint8_t *publics) MUST_CHECK;

    /* Tells about memory that pieces will lie in, read-only and mapped until memory_remove, so that
     * it can be copied from faster. chunk: no piece crosses a multiple of it; 0: one chunk.
     * ST_RESOURCE: it cannot be used. NULL: does nothing for this backend. */
    enum status (*memory_add)(struct backend *b, const void *base, uint64_t bytes,
                              uint64_t chunk) MUST_CHECK;
    void (*memory_remove)(struct backend *b, const void *base);

    /* Whether the device has failed for good and only another process can use it. NULL: never. */
    bool (*lost)(const struct backend *b);

    /* No key is loaded any more, no memory added. */
    void (*destroy)(struct backend *b);
};

/* First member of every backend. Immutable once made, but for what the implementation adds. */
struct backend {
    const struct backend_ops *ops;
    char name[64];   /* as status shows it: "cpu", "cuda:0 NVIDIA H200" */
    uint64_t memory; /* a device's own, that keys may take; 0: the processor's */
};

/* The processor; pool is borrowed until destroy, and no one else uses it meanwhile. */
enum status backend_cpu_create(struct backend **out, struct pool *pool) MUST_CHECK;

/* CUDA device number index. One thread creates it; see above for the rest. ST_RESOURCE: no such
 * device, or no driver; ST_INTERNAL: it computes wrongly. Only where PINION_WITH_CUDA is defined.
 */
enum status backend_cuda_create(struct backend **out, int index) MUST_CHECK;

/* By name: "cpu", "cuda" (device 0), or "auto": cuda where there is a device that works, else cpu.
 * warning (any size): why auto had to do with the processor although there is a device; else "".
 * pool as for the processor. ST_RESOURCE: cuda is not there, or not in this build; ST_USAGE: no
 * such name. */
enum status backend_create(struct backend **out, const char *name, struct pool *pool, char *warning,
                           size_t warning_bytes) MUST_CHECK;

/* Whether it is a device and not the processor. */
static inline bool backend_is_device(const struct backend *b)
{
    return b->memory != 0;
}

static inline enum status backend_memory_add(struct backend *b, const void *base, uint64_t bytes,
                                             uint64_t chunk)
{
    return b->ops->memory_add ? b->ops->memory_add(b, base, bytes, chunk) : ST_OK;
}

static inline void backend_memory_remove(struct backend *b, const void *base)
{
    if (b->ops->memory_remove)
        b->ops->memory_remove(b, base);
}

static inline bool backend_lost(const struct backend *b)
{
    return b->ops->lost && b->ops->lost(b);
}

/* NULL is fine. */
static inline void backend_destroy(struct backend *b)
{
    if (b)
        b->ops->destroy(b);
}

#endif
