#include <stdatomic.h>

#include "common/ff/fr.h"
#include "common/groth16/steps.h"

/* Records come in any order, so two threads may add to the same row. One lock guards 64 consecutive
 * rows: threads work far from each other, and a lock that nobody else wants stays in the cache. */
enum {
    LOCKS = 256,
    ROWS_LOG = 6,
    RECORD = GROTH16_COEF_HEADER + FR_BYTES,
    MIN_CHUNK = 2048,
    AHEAD = 8
};

struct row_lock {
    _Alignas(64) atomic_flag taken;
};

struct job {
    const struct groth16_key *key;
    const uint8_t *w;
    fr *out[2];
    size_t chunks;
    struct row_lock locks[LOCKS];
};

/* What consecutive records of one row add up to. */
struct run {
    uint32_t matrix, row;
    bool any;
    fr sum;  /* Montgomery */
    fr ones; /* sum of the coefficients whose witness value is 1, twice Montgomery */
};

static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void run_flush(struct job *j, struct run *run)
{
    if (!run->any)
        return;
    if (!fr_is_zero(&run->ones)) {
        fr t;
        fr_to_canonical(&t, &run->ones); /* twice Montgomery to once */
        fr_add(&run->sum, &run->sum, &t);
    }
    atomic_flag *lock = &j->locks[(run->row >> ROWS_LOG) % LOCKS].taken;
    /* acquire: pairs with the release below of whoever wrote this row before */
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        ;
    fr *r = &j->out[run->matrix][run->row];
    fr_add(r, r, &run->sum);
    atomic_flag_clear_explicit(lock, memory_order_release);
}

/* Adds coefficient times w to the run. The coefficient may be any integer below 2^(64 limbs). */
static void run_add(struct run *run, const uint8_t *coefficient, const fr *w)
{
    fr c, rest = *w;
    fr_load(&c, coefficient);
    run->any = true;
    rest.l[0] -= 1;
    if (!fr_is_zero(&rest)) {
        fr_mul(&c, w, &c);
        fr_add(&run->sum, &run->sum, &c);
        return;
    }
    if (!fr_is_reduced(&c)) {
        fr_from_canonical(&c, &c);
        fr_to_canonical(&c, &c);
    }
    fr_add(&run->ones, &run->ones, &c);
}

/* One record's place. Read once, checked here and used as checked: the key is usually a mapped
 * file, and whoever overwrites that in place must spoil the proof, not the heap. */
struct place {
    uint32_t matrix, row, signal;
};

static bool place_read(struct place *p, const struct job *j, const uint8_t *record)
{
    *p = (struct place){u32_at(record), u32_at(record + 4), u32_at(record + 8)};
    return p->matrix <= 1 && p->row < j->key->domain && p->signal < j->key->n_vars;
}

static void records_task(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    struct job *j = arg;
    size_t begin, end;
    pool_chunk(j->key->n_coefs, chunk, j->chunks, &begin, &end);
    struct run run = {.any = false};
    for (size_t i = begin; i < end; i++) {
        const uint8_t *record = j->key->coefs + i * RECORD;
        struct place p;
        if (!place_read(&p, j, record))
            continue;
        if (p.matrix != run.matrix || p.row != run.row) {
            run_flush(j, &run);
            run = (struct run){.matrix = p.matrix, .row = p.row};
        }
        if (i + AHEAD < end) /* signals are scattered */
            __builtin_prefetch(j->w +
                               (size_t)u32_at(record + (size_t)AHEAD * RECORD + 8) * FR_BYTES);
        fr w;
        fr_load(&w, j->w + (size_t)p.signal * FR_BYTES);
        if (!fr_is_zero(&w))
            run_add(&run, record + GROTH16_COEF_HEADER, &w);
    }
    run_flush(j, &run);
}

static void clear_task(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    struct job *j = arg;
    size_t begin, end;
    pool_chunk(j->key->domain, chunk, j->chunks, &begin, &end);
    memset(j->out[0] + begin, 0, (end - begin) * sizeof(fr));
    memset(j->out[1] + begin, 0, (end - begin) * sizeof(fr));
}

static size_t chunks_of(size_t n, const struct pool *pool)
{
    size_t most = 16 * (size_t)pool_threads(pool), chunks = n / MIN_CHUNK + 1;
    return chunks < most ? chunks : most;
}

void step_evaluate(const struct groth16_key *key, const uint8_t *w, void *a, void *b,
                   struct pool *pool)
{
    struct job j = {.key = key, .w = w, .out = {a, b}};
    for (size_t i = 0; i < LOCKS; i++)
        atomic_flag_clear_explicit(&j.locks[i].taken, memory_order_relaxed); /* no thread yet */
    j.chunks = chunks_of(key->domain, pool);
    pool_run(pool, j.chunks, clear_task, &j);
    j.chunks = chunks_of(key->n_coefs, pool);
    pool_run(pool, j.chunks, records_task, &j);
}
