#include "common/poly/ntt.h"

#include <assert.h>

enum {
    BLOCK_LOG = 10,  /* layers of the contiguous pass: its blocks stay in the first-level cache */
    COLUMN_LOG = 8,  /* layers of a pass over columns, at most */
    TILE_LOG = 11,   /* elements of its tile: rows of 8 elements or more */
    MAX_PASSES = 4,  /* 10 + 3 * 8 layers exceed every field's 2-adicity */
    TABLE_CHUNK = 10 /* the table is built in chunks of that many bits */
};

static size_t reverse_bits(size_t i, unsigned bits)
{
    size_t r = 0;
    for (unsigned b = 0; b < bits; b++)
        r |= (i >> b & 1) << (bits - 1 - b);
    return r;
}

/* The table holds powers of root. With e = reverse(i), root^-e = -root^(n/2 - e), and negating e
 * flips the bits of i below its highest one. */
static inline size_t mirror(size_t i)
{
    return i ^ ((((size_t)1 << 63) >> __builtin_clzll(i)) - 1);
}

/* u, v = u + v, u - v */
static inline void cross(fr *u, fr *v)
{
    fr s = *u;
    fr_add(u, &s, v);
    fr_sub(v, &s, v);
}

/* u, v = u - w v, u + w v: the Cooley-Tukey butterfly with twiddle -w */
static inline void butterfly_inverse(fr *u, fr *v, const fr *w)
{
    fr t, s = *u;
    fr_mul(&t, v, w);
    fr_sub(u, &s, &t);
    fr_add(v, &s, &t);
}

/* u, v = u + v, (u - v) w: Gentleman-Sande */
static inline void butterfly_forward(fr *u, fr *v, const fr *w)
{
    fr d;
    fr_sub(&d, u, v);
    fr_add(u, u, v);
    fr_mul(v, &d, w);
}

static void block_cross(fr *x, size_t half)
{
    for (size_t i = 0; i < half; i++)
        cross(&x[i], &x[i + half]);
}

/* The first layers of the inverse transform of n contiguous elements that are block number block of
 * their layer. */
static void inverse_layers(const fr *twiddles, fr *x, size_t n, unsigned layers, size_t block)
{
    for (unsigned l = 0; l < layers; l++) {
        size_t half = n >> (l + 1), first = block << l;
        for (size_t b = 0; b < (size_t)1 << l; b++) {
            fr *y = x + 2 * half * b;
            if (first + b == 0) {
                block_cross(y, half);
                continue;
            }
            const fr w = twiddles[mirror(first + b)];
            for (size_t i = 0; i < half; i++)
                butterfly_inverse(&y[i], &y[i + half], &w);
        }
    }
}

/* The last layers of the forward transform, in the opposite order. */
static void forward_layers(const fr *twiddles, fr *x, size_t n, unsigned layers, size_t block)
{
    for (unsigned l = layers; l-- > 0;) {
        size_t half = n >> (l + 1), first = block << l;
        for (size_t b = 0; b < (size_t)1 << l; b++) {
            fr *y = x + 2 * half * b;
            if (first + b == 0) {
                block_cross(y, half);
                continue;
            }
            const fr w = twiddles[first + b];
            for (size_t i = 0; i < half; i++)
                butterfly_forward(&y[i], &y[i + half], &w);
        }
    }
}

/* How the layers are grouped. Pass p covers layers done[p] .. done[p + 1] - 1; the last one, on
 * contiguous blocks, is the innermost for both directions. */
struct plan {
    unsigned passes;
    unsigned done[MAX_PASSES + 1];
};

static struct plan make_plan(unsigned log2n)
{
    unsigned inner = log2n < BLOCK_LOG ? log2n : BLOCK_LOG, outer = log2n - inner;
    unsigned columns = (outer + COLUMN_LOG - 1) / COLUMN_LOG;
    struct plan p = {.passes = columns + 1};
    assert(p.passes <= MAX_PASSES);
    for (unsigned i = 0; i < columns; i++)
        p.done[i] = outer * i / columns;
    p.done[columns] = outer;
    p.done[columns + 1] = log2n;
    return p;
}

struct job {
    const struct ntt_domain *d;
    fr *const *vectors;
    size_t per_vector; /* tasks */
    bool inverse, forward;

    /* a pass over columns */
    unsigned done, layers;
    size_t width; /* of a tile */

    /* the contiguous pass: coefficient in place p of block b is multiplied by
     * powers[p] * shift^reverse(b) in between */
    unsigned inner;
    bool scale;
    fr shift;
    fr powers[1 << BLOCK_LOG];
};

/* One tile: 2^layers rows of width elements, gathered because rows are a power of two apart and
 * would fall on each other in the cache. */
static void column_task(void *arg, size_t task, unsigned thread)
{
    (void)thread;
    const struct job *j = arg;
    fr tile[1 << TILE_LOG];
    size_t size = j->d->n >> j->done, stride = size >> j->layers, rows = (size_t)1 << j->layers;
    size_t in_vector = task % j->per_vector, tiles = stride / j->width;
    size_t block = in_vector / tiles, column = in_vector % tiles * j->width;
    fr *a = j->vectors[task / j->per_vector] + block * size + column;

    for (size_t r = 0; r < rows; r++)
        memcpy(tile + r * j->width, a + r * stride, j->width * sizeof *a);
    if (j->inverse)
        inverse_layers(j->d->twiddles, tile, rows * j->width, j->layers, block);
    else
        forward_layers(j->d->twiddles, tile, rows * j->width, j->layers, block);
    for (size_t r = 0; r < rows; r++)
        memcpy(a + r * stride, tile + r * j->width, j->width * sizeof *a);
}

static void run_columns(struct job *j, size_t count, const struct plan *plan, unsigned pass,
                        bool inverse, struct pool *pool)
{
    j->inverse = inverse;
    j->done = plan->done[pass];
    j->layers = plan->done[pass + 1] - j->done;
    j->width = (size_t)1 << (TILE_LOG - j->layers);
    size_t stride = j->d->n >> plan->done[pass + 1];
    if (j->width > stride)
        j->width = stride;
    j->per_vector = j->d->n / (j->width << j->layers);
    pool_run(pool, j->per_vector * count, column_task, j);
}

/* One contiguous block of every vector: the scale factors are common to all. */
static void block_task(void *arg, size_t block, unsigned thread)
{
    (void)thread;
    const struct job *j = arg;
    const struct ntt_domain *d = j->d;
    size_t size = (size_t)1 << j->inner;
    fr factors[1 << BLOCK_LOG];
    if (j->scale) {
        fr s;
        uint64_t e = reverse_bits(block, d->log2n - j->inner);
        fr_pow(&s, &j->shift, &e, 1);
        for (size_t i = 0; i < size; i++)
            fr_mul(&factors[i], &j->powers[i], &s);
    }
    for (size_t v = 0; v < j->per_vector; v++) {
        fr *a = j->vectors[v] + block * size;
        if (j->inverse)
            inverse_layers(d->twiddles, a, size, j->inner, block);
        for (size_t i = 0; j->scale && i < size; i++)
            fr_mul(&a[i], &a[i], &factors[i]);
        if (j->forward)
            forward_layers(d->twiddles, a, size, j->inner, block);
    }
}

/* Coefficient i, in its bit-reversed place, gets the factor g^i / n. */
static void prepare_scale(struct job *j, const fr *g)
{
    j->scale = true;
    j->shift = *g;
    fr step = *g; /* g^(blocks): what the lowest bit of the reversed place is worth */
    for (unsigned i = j->inner; i < j->d->log2n; i++)
        fr_sqr(&step, &step);
    fr value = j->d->n_inv;
    for (size_t i = 0; i < (size_t)1 << j->inner; i++) {
        j->powers[reverse_bits(i, j->inner)] = value;
        fr_mul(&value, &value, &step);
    }
}

/* Inverse transform, scaling by g^i / n and forward transform: the first two or the last one or
 * all. */
static void transform(const struct ntt_domain *d, fr *const vectors[], size_t count, const fr *g,
                      bool inverse, bool forward, struct pool *pool)
{
    struct plan plan = make_plan(d->log2n);
    unsigned last = plan.passes - 1;
    struct job j = {.d = d, .vectors = vectors, .inner = d->log2n - plan.done[last]};

    for (unsigned p = 0; inverse && p < last; p++)
        run_columns(&j, count, &plan, p, true, pool);
    j.inverse = inverse;
    j.forward = forward;
    j.per_vector = count;
    if (inverse)
        prepare_scale(&j, g);
    pool_run(pool, (size_t)1 << plan.done[last], block_task, &j);
    for (unsigned p = last; forward && p-- > 0;)
        run_columns(&j, count, &plan, p, false, pool);
}

void ntt_inverse(const struct ntt_domain *d, fr *a, struct pool *pool)
{
    transform(d, &a, 1, &fr_one, true, false, pool);
}

void ntt_forward(const struct ntt_domain *d, fr *a, struct pool *pool)
{
    transform(d, &a, 1, &fr_one, false, true, pool);
}

void ntt_coset_extend(const struct ntt_domain *d, fr *const vectors[], size_t count, const fr *g,
                      struct pool *pool)
{
    transform(d, vectors, count, g, true, true, pool);
}

void ntt_reverse(const struct ntt_domain *d, fr *a)
{
    for (size_t i = 0; i < d->n; i++) {
        size_t k = reverse_bits(i, d->log2n);
        if (i < k) {
            fr t = a[i];
            a[i] = a[k];
            a[k] = t;
        }
    }
}

/* The primitive 2^log2n-th root of unity. */
static fr root_of_order(unsigned log2n, enum ntt_root root)
{
    static const fr roots[] = {
        [NTT_ROOT_SNARKJS] = {{CURVE_PARAM(FR_ROOT_SNARKJS)}},
        [NTT_ROOT_BELLMAN] = {{CURVE_PARAM(FR_ROOT_BELLMAN)}},
    };
    fr r = roots[root];
    for (unsigned i = log2n; i < FR_TWO_ADICITY; i++)
        fr_sqr(&r, &r);
    return r;
}

void ntt_coset_shift(fr *g, const struct ntt_domain *d, enum ntt_root root)
{
    static const fr nonresidue = {{CURVE_PARAM(FR_NONRESIDUE)}};
    if (d->log2n < FR_TWO_ADICITY)
        *g = root_of_order(d->log2n + 1, root);
    else
        fr_sqr(g, &nonresidue);
}

struct table {
    fr *t;
    size_t n;
    const fr *bit; /* factor for each bit of the index */
};

static void table_task(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct table *table = arg;
    size_t first = chunk << TABLE_CHUNK, end = first + ((size_t)1 << TABLE_CHUNK);
    if (end > table->n)
        end = table->n;
    fr s = fr_one;
    for (size_t bits = first; bits; bits &= bits - 1)
        fr_mul(&s, &s, &table->bit[__builtin_ctzll(bits)]);
    table->t[first] = s;
    for (size_t m = 1; first + m < end; m *= 2)
        for (size_t i = 0; i < m && first + m + i < end; i++)
            fr_mul(&table->t[first + m + i], &table->t[first + i], &table->bit[__builtin_ctzll(m)]);
}

static void build_table(const struct ntt_domain *d, fr *table, struct pool *pool)
{
    fr bit[FR_TWO_ADICITY] = {{{0}}}; /* bit b of the index is worth root^(n / 2^(b + 2)) */
    fr power = d->root;
    for (unsigned b = d->log2n; b-- > 1;) {
        bit[b - 1] = power;
        fr_sqr(&power, &power);
    }
    struct table t = {table, ntt_table_elements(d->log2n), bit};
    size_t chunks = (t.n + (1 << TABLE_CHUNK) - 1) >> TABLE_CHUNK;
    pool_run(pool, chunks, table_task, &t);
}

enum status ntt_domain_init(struct ntt_domain *d, unsigned log2n, enum ntt_root root, fr *table,
                            struct pool *pool)
{
    if (log2n > FR_TWO_ADICITY)
        return fail(ST_INPUT, "a domain of 2^%u is beyond the field's limit of 2^%d", log2n,
                    FR_TWO_ADICITY);
    *d = (struct ntt_domain){
        .log2n = log2n,
        .n = (size_t)1 << log2n,
        .root = root_of_order(log2n, root),
        .twiddles = table,
    };
    fr_from_u64(&d->n_inv, d->n);
    fr_inv(&d->n_inv, &d->n_inv);

    if (table)
        build_table(d, table, pool);
    return ST_OK;
}
