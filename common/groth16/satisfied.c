#include <stdatomic.h>

#include "common/ff/fr.h"
#include "common/groth16/r1cs.h"
#include "common/groth16/steps.h"

enum { CHUNKS = 256 };

struct job {
    const struct r1cs *r1cs;
    const uint8_t *w;
    const uint8_t *start[CHUNKS]; /* where the constraints of each chunk begin */
    size_t chunks;
    _Atomic uint64_t first; /* lowest failing constraint so far */
};

/* sum of coefficient * w / R: both factors are plain integers. */
static void evaluate_lc(fr *r, const struct job *j, const uint8_t **cursor)
{
    struct r1cs_lc lc = r1cs_next(j->r1cs, cursor);
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < lc.count; i++) {
        fr c, w;
        fr_load(&w, j->w + (size_t)r1cs_term_wire(j->r1cs, lc, i) * FR_BYTES);
        if (fr_is_zero(&w))
            continue;
        fr_load(&c, r1cs_term_value(j->r1cs, lc, i));
        fr_mul(&c, &c, &w);
        fr_add(r, r, &c);
    }
}

static bool constraint_holds(const struct job *j, const uint8_t **cursor)
{
    fr a, b, c;
    evaluate_lc(&a, j, cursor);
    evaluate_lc(&b, j, cursor);
    evaluate_lc(&c, j, cursor);
    fr_mul(&a, &a, &b); /* A B / R^3 */
    fr_to_canonical(&c, &c);
    fr_to_canonical(&c, &c); /* C / R^3 */
    return fr_equal(&a, &c);
}

static void check_task(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    struct job *j = arg;
    size_t begin, end;
    pool_chunk(j->r1cs->n_constraints, chunk, j->chunks, &begin, &end);
    const uint8_t *cursor = j->start[chunk];
    for (size_t i = begin; i < end; i++) {
        if (constraint_holds(j, &cursor))
            continue;
        /* relaxed: a minimum, read when the loop has ended */
        uint64_t first = atomic_load_explicit(&j->first, memory_order_relaxed);
        while (i < first && !atomic_compare_exchange_weak_explicit(
                                &j->first, &first, i, memory_order_relaxed, memory_order_relaxed))
            ;
        return;
    }
}

uint64_t step_first_unsatisfied(const struct r1cs *r1cs, const uint8_t *w, struct pool *pool)
{
    struct job j = {.r1cs = r1cs, .w = w};
    uint32_t n = r1cs->n_constraints;
    j.chunks = n < CHUNKS ? n : CHUNKS;
    atomic_store_explicit(&j.first, UINT64_MAX, memory_order_relaxed); /* no thread yet */
    const uint8_t *cursor = r1cs->constraints;
    size_t begin, end;
    for (size_t chunk = 0; chunk < j.chunks; chunk++) {
        j.start[chunk] = cursor;
        pool_chunk(n, chunk, j.chunks, &begin, &end);
        for (size_t i = begin; i < end; i++)
            for (int k = 0; k < 3; k++)
                r1cs_next(r1cs, &cursor);
    }
    pool_run(pool, j.chunks, check_task, &j);
    return atomic_load_explicit(&j.first, memory_order_relaxed);
}
