#include "gpud/cuda/msm.h"

#include <stdlib.h>
#include <string.h>

#include "common/ff/params.h"
#include "gpud/cuda/device.cuh"
#include "gpud/cuda/msm_private.h"

namespace
{

enum {
    MIN_WIDTH = 8, /* 2^(c-1) buckets are a block of threads at least */
    MAX_WIDTH = 24,
    MAX_AFFINE_LEVELS = 24,
    LANES_LOG2 = 7,
    MIN_PASS = 1 << 16,
    ALIGNMENT = 256,
};
const uint64_t MAX_BASES = (uint64_t)1 << 30, MAX_TABLE = (uint64_t)1 << 31,
               MAX_KEYS = (uint64_t)1 << 25, USUAL_ENTRIES = (uint64_t)1 << 28;
static_assert(MSM_LANES == 1 << LANES_LOG2 && MIN_WIDTH > LANES_LOG2, "strips");

/* A curve: the order of its groups; the bits of the shorter of k and r - k, and one for the sign.
 */
struct order {
    uint64_t modulus[4];
    unsigned bits;
};
const struct order order_bn254 = {{BN254_FR_MODULUS}, BN254_FR_BITS};
const struct order order_bls12_381 = {{BLS12_381_FR_MODULUS}, BLS12_381_FR_BITS};

const struct order *order_of(enum curve_id curve)
{
    return curve == CURVE_BN254 ? &order_bn254 : &order_bls12_381;
}

const struct msm_kernels *kernels_of(enum curve_id curve, enum msm_group group)
{
    if (curve == CURVE_BN254)
        return group == MSM_G1 ? &msm_bn254_g1 : &msm_bn254_g2;
    return group == MSM_G1 ? &msm_bls12_381_g1 : &msm_bls12_381_g2;
}

uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

unsigned log2_ceil(uint64_t a)
{
    unsigned bits = 0;
    while ((uint64_t)1 << bits < a)
        bits++;
    return bits;
}

/* The room of a pass, carved out of the workspace; sizes alone where base is NULL. */
struct carving {
    uint8_t *base;
    uint64_t used;

    void *take(uint64_t bytes)
    {
        uint64_t at = used;
        used += divide_up(bytes, ALIGNMENT) * ALIGNMENT;
        return base ? base + at : NULL;
    }
};

struct room {
    struct msm_pass pass;
    struct msm_sort sort;
    void *partial;
    uint64_t bytes;
};

struct room carve(const struct msm_shape *shape, const struct msm_kernels *k, uint32_t n,
                  void *workspace)
{
    struct room r = {};
    struct carving c = {(uint8_t *)workspace, 0};
    uint64_t entries = (uint64_t)n * shape->windows;
    r.pass.entries = (uint32_t)entries;
    r.pass.keys = shape->sets << (shape->width - 1);
    r.pass.affine_levels = shape->affine_levels;
    r.partial = c.take(k->xyzz); /* first: kept from pass to pass */
    for (int i = 0; i < 4; i++)
        r.sort.array[i] = (uint32_t *)c.take(entries * sizeof(uint32_t));
    r.sort.temporary_bytes = msm_sort_temporary(entries, r.pass.keys);
    r.sort.temporary = c.take(r.sort.temporary_bytes);
    r.pass.start = (uint32_t *)c.take((r.pass.keys + 1) * sizeof(uint32_t));
    r.pass.end = (uint32_t *)c.take((r.pass.keys + 1) * sizeof(uint32_t));
    uint64_t jobs = 0;
    for (unsigned level = 0; level < MSM_LEVELS; level++) {
        r.pass.list[level] = (uint32_t)jobs;
        jobs += msm_pairs(r.pass.entries, level);
    }
    r.pass.job = (uint32_t *)c.take(jobs * sizeof(uint32_t));
    r.pass.jobs = (uint32_t *)c.take(MSM_LEVELS * sizeof(uint32_t));
    r.pass.affine = c.take((entries / 2 + 1) * k->affine);
    r.pass.product = c.take((uint64_t)msm_pairs(r.pass.entries, 0) * k->coordinate);
    r.pass.inverse = c.take((uint64_t)MSM_GRID * MSM_LANES * k->coordinate);
    r.pass.xyzz = c.take(((entries >> shape->affine_levels) + 1) * k->xyzz);
    r.pass.strip_sum = c.take((uint64_t)(r.pass.keys >> shape->strip) * 2 * k->xyzz);
    r.pass.block_sum = c.take((r.pass.keys >> (LANES_LOG2 + shape->strip)) * 2 * k->xyzz);
    r.pass.total = c.take(shape->sets * k->xyzz);
    r.bytes = c.used;
    return r;
}

/* log2 of the buckets of a thread, for sets of 2^width buckets. No more threads than run at once;
 * and one set in so few blocks that the device takes them all at once, unless a thread's chain of
 * additions then takes longer than a second turn of the blocks. */
unsigned choose_strip(uint64_t sets, unsigned width)
{
    enum { THREADS = 40000, LONG = 4 };
    unsigned strip = 0;
    while (width > LANES_LOG2 + strip && sets << width > (uint64_t)THREADS << strip)
        strip++;
    while (sets == 1 && width > 2 * LANES_LOG2 + strip && strip < LONG)
        strip++;
    return strip;
}

/* Everything but the width, which is given, and what choose adds. False: too many buckets. */
bool shape_of_width(struct msm_shape *s, const struct cuda_msm_shape *wish)
{
    const struct msm_kernels *k = kernels_of(wish->curve, wish->group);
    unsigned bits = order_of(wish->curve)->bits;
    s->n = wish->n;
    s->windows = (unsigned)divide_up(bits, s->width);
    uint64_t multiples = wish->table_bytes / (wish->n * k->affine);
    multiples = multiples < s->windows ? multiples : s->windows;
    multiples = multiples < MAX_TABLE / wish->n ? multiples : MAX_TABLE / wish->n;
    s->sets = multiples < 1 ? s->windows : (unsigned)divide_up(s->windows, multiples);
    s->multiples = (unsigned)divide_up(s->windows, s->sets);
    s->strip = choose_strip(s->sets, s->width - 1);
    return ((uint64_t)s->sets << (s->width - 1)) <= MAX_KEYS;
}

/* What a sum costs, in additions of the tree: those, and for each pass the buckets' reduction. */
double cost(const struct msm_shape *s)
{
    double keys = (double)((uint64_t)s->sets << (s->width - 1));
    uint64_t entries = s->n * s->windows, passes = divide_up(entries, USUAL_ENTRIES);
    return (double)entries + 6.0 * keys * (double)passes;
}

void choose_pass(struct msm_shape *s, const struct cuda_msm_shape *wish)
{
    const struct msm_kernels *k = kernels_of(wish->curve, wish->group);
    uint64_t most = USUAL_ENTRIES / s->windows, passes = divide_up(s->n, most);
    for (;; passes++) {
        s->pass = (uint32_t)divide_up(s->n, passes);
        if (wish->workspace_bytes == 0 || s->pass <= MIN_PASS ||
            carve(s, k, s->pass, NULL).bytes <= wish->workspace_bytes)
            return;
    }
}

/* An inversion has to be worth while: 2^17 pairs at a level; and most buckets are one sum by then.
 */
void choose_affine_levels(struct msm_shape *s, unsigned wish)
{
    uint64_t entries = s->n * s->windows, keys = (uint64_t)s->sets << (s->width - 1);
    unsigned worth = log2_ceil(entries) > 19 ? log2_ceil(entries) - 18 : 1;
    unsigned needed = log2_ceil(entries / keys + 2);
    s->affine_levels = wish ? wish : worth < needed ? worth : needed;
}

struct msm_shape choose(const struct cuda_msm_shape *wish)
{
    struct msm_shape best = {}, s = {};
    double least = 0;
    unsigned from = wish->width ? wish->width : (unsigned)MIN_WIDTH;
    unsigned to = wish->width ? wish->width : (unsigned)MAX_WIDTH;
    for (s.width = from; s.width <= to; s.width++) {
        if (!shape_of_width(&s, wish))
            continue;
        if (best.width == 0 || cost(&s) < least) {
            best = s;
            least = cost(&s);
        }
    }
    if (best.width == 0)
        return best;
    choose_affine_levels(&best, wish->affine_levels);
    choose_pass(&best, wish);
    return best;
}

enum status check_shape(const struct cuda_msm_shape *s)
{
    if (s->curve != CURVE_BN254 && s->curve != CURVE_BLS12_381)
        return fail(ST_INTERNAL, "no device code for curve %d", (int)s->curve);
    if (s->n < 1 || s->n > MAX_BASES)
        return fail(ST_INTERNAL, "a sum of %llu points: the device takes 1 to 2^30",
                    (unsigned long long)s->n);
    if ((s->width && (s->width < MIN_WIDTH || s->width > MAX_WIDTH)) ||
        s->affine_levels > MAX_AFFINE_LEVELS)
        return fail(ST_INTERNAL, "digits of %u bits, %u affine levels", s->width, s->affine_levels);
    return ST_OK;
}

} // namespace

struct cuda_msm {
    struct msm_shape shape;
    const struct msm_kernels *kernels;
    const struct order *order;
    uint8_t *table;
    uint32_t *infinite;
};

static uint64_t infinite_bytes(uint64_t n)
{
    return divide_up(n, 32) * sizeof(uint32_t);
}

uint64_t cuda_msm_plan_bytes(const struct cuda_msm_shape *wish)
{
    struct msm_shape s = choose(wish);
    return s.n * s.multiples * kernels_of(wish->curve, wish->group)->affine + infinite_bytes(s.n);
}

uint64_t cuda_msm_workspace_bytes(const struct cuda_msm_shape *wish)
{
    struct msm_shape s = choose(wish);
    if (s.width == 0)
        return 0; /* create says why */
    return carve(&s, kernels_of(wish->curve, wish->group), s.pass, NULL).bytes;
}

static enum status fill_multiples(struct cuda_msm *m, void *scratch, uint64_t slice,
                                  cudaStream_t stream)
{
    const struct msm_kernels *k = m->kernels;
    uint64_t n = m->shape.n;
    for (unsigned t = 1; t < m->shape.multiples; t++)
        for (uint64_t i = 0; i < n; i += slice) {
            uint8_t *from = m->table + ((t - 1) * n + i) * k->affine;
            k->multiply(from + n * k->affine, from, n - i < slice ? n - i : slice,
                        m->shape.width * m->shape.sets, scratch, stream);
            CUDA_TRY_LAUNCH("multiples of the key's points");
        }
    CUDA_TRY(cudaStreamSynchronize(stream));
    return ST_OK;
}

/* The multiples beyond the first, in slices that the scratch suffices for. */
static enum status fill_table(struct cuda_msm *m, cudaStream_t stream)
{
    uint64_t slice = m->shape.n < (1 << 20) ? m->shape.n : 1 << 20;
    void *scratch = NULL;
    enum status st = ST_OK;
    if (m->shape.multiples > 1)
        st = device_alloc(&scratch, slice * (m->kernels->xyzz + m->kernels->coordinate),
                          "the multiples of a key's points");
    if (st == ST_OK)
        st = fill_multiples(m, scratch, slice, stream);
    device_free(scratch);
    return st;
}

static enum status load(struct cuda_msm *m, const void *bases, uint64_t n, cudaStream_t stream)
{
    CUDA_TRY(cudaMemcpyAsync(m->table, bases, n * m->kernels->affine, cudaMemcpyDefault, stream));
    m->kernels->find_infinite(m->table, n, m->infinite, stream);
    CUDA_TRY_LAUNCH("search for points at infinity");
    return ST_OK;
}

enum status cuda_msm_create(struct cuda_msm **out, const struct cuda_msm_shape *wish,
                            const void *bases, cudaStream_t stream)
{
    enum status st = check_shape(wish);
    if (st != ST_OK)
        return st;
    struct cuda_msm *m = (struct cuda_msm *)calloc(1, sizeof *m);
    if (!m)
        return fail(ST_RESOURCE, "no memory for a plan");
    m->shape = choose(wish);
    if (m->shape.width == 0) {
        free(m);
        return fail(ST_INTERNAL, "digits of %u bits and no table for them", wish->width);
    }
    m->kernels = kernels_of(wish->curve, wish->group);
    m->order = order_of(wish->curve);
    uint64_t points = m->shape.n * m->shape.multiples * m->kernels->affine;
    st = device_alloc((void **)&m->table, points, "a key's points");
    if (st == ST_OK)
        st = device_alloc((void **)&m->infinite, infinite_bytes(m->shape.n), "a key's points");
    if (st == ST_OK)
        st = load(m, bases, m->shape.n, stream);
    if (st == ST_OK)
        st = fill_table(m, stream);
    if (st != ST_OK) {
        cuda_msm_destroy(m);
        return st;
    }
    *out = m;
    return ST_OK;
}

void cuda_msm_destroy(struct cuda_msm *m)
{
    if (!m)
        return;
    device_free(m->table);
    device_free(m->infinite);
    free(m);
}

enum status cuda_msm_load(struct cuda_msm *m, const void *bases, uint64_t n, cudaStream_t stream)
{
    if (m->shape.multiples > 1 || n > m->shape.n)
        return fail(ST_INTERNAL, "a plan of %llu points, %u multiples: cannot take %llu others",
                    (unsigned long long)m->shape.n, m->shape.multiples, (unsigned long long)n);
    return load(m, bases, n, stream);
}

/* A sum being enqueued. */
struct sum {
    const struct cuda_msm *plan;
    void *workspace, *result;
    struct msm_trace *trace;
    cudaStream_t stream;
};

static enum status enqueue_pass(const struct sum *s, const uint8_t *scalars, uint64_t first,
                                uint32_t n, bool fresh, bool last)
{
    const struct cuda_msm *m = s->plan;
    struct room r = carve(&m->shape, m->kernels, n, s->workspace);
    uint32_t modulus[8];
    memcpy(modulus, m->order->modulus, sizeof modulus);
    r.pass.trace = s->trace;
    r.pass.table = m->table;
    r.pass.infinite = m->infinite;
    msm_mark(s->trace, s->stream, "start", 0);
    CUDA_TRY(msm_plan_entries(&r.pass, &r.sort, &m->shape, modulus, scalars, first, n, s->stream));
    m->kernels->sum_buckets(&r.pass, s->stream);
    m->kernels->reduce(&r.pass, &m->shape, r.partial, fresh, last ? s->result : NULL, s->stream);
    CUDA_TRY_LAUNCH("sum of points");
    return ST_OK;
}

static enum status enqueue(const struct sum *s, const uint8_t *scalars, uint64_t first, uint64_t n)
{
    const struct msm_shape *shape = &s->plan->shape;
    if (first > shape->n || n > shape->n - first)
        return fail(ST_INTERNAL, "a sum of points %llu to %llu of %llu", (unsigned long long)first,
                    (unsigned long long)(first + n), (unsigned long long)shape->n);
    if (n == 0) {
        s->plan->kernels->add_up(NULL, 0, s->result, s->stream);
        CUDA_TRY_LAUNCH("empty sum");
        return ST_OK;
    }
    enum status st = ST_OK;
    for (uint64_t i = 0; i < n && st == ST_OK; i += shape->pass) {
        uint32_t terms = (uint32_t)(n - i < shape->pass ? n - i : shape->pass);
        st = enqueue_pass(s, scalars + i * sizeof s->plan->order->modulus, first + i, terms, i == 0,
                          i + terms == n);
    }
    return st;
}

enum status cuda_msm_launch(const struct cuda_msm *m, const void *scalars, uint64_t first,
                            uint64_t n, void *workspace, void *result, cudaStream_t stream)
{
    struct sum s = {m, workspace, result, NULL, stream};
    return enqueue(&s, (const uint8_t *)scalars, first, n);
}

static void write_trace(const struct msm_trace *trace, const struct msm_shape *s, char *text,
                        size_t size)
{
    int at = snprintf(text, size, "c %u, W %u, S %u, T %u, A %u, strip 2^%u, pass %u\n", s->width,
                      s->windows, s->sets, s->multiples, s->affine_levels, s->strip, s->pass);
    for (unsigned i = 1; i < trace->count && (size_t)at < size; i++) {
        float ms = 0;
        if (cudaEventElapsedTime(&ms, trace->event[i - 1], trace->event[i]) == cudaSuccess)
            at += snprintf(text + at, size - at, "%8.3f %s\n", ms, trace->name[i]);
    }
}

static enum status profile(const struct sum *s, const uint8_t *scalars, uint64_t first, uint64_t n,
                           unsigned *events)
{
    for (; *events < MSM_MARKS; (*events)++)
        CUDA_TRY(cudaEventCreate(&s->trace->event[*events]));
    enum status st = enqueue(s, scalars, first, n);
    if (st != ST_OK)
        return st;
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    return ST_OK;
}

enum status cuda_msm_profile(const struct cuda_msm *m, const void *scalars, uint64_t first,
                             uint64_t n, void *workspace, void *result, cudaStream_t stream,
                             char *text, size_t size)
{
    struct msm_trace trace = {};
    struct sum s = {m, workspace, result, &trace, stream};
    unsigned events = 0;
    enum status st = profile(&s, (const uint8_t *)scalars, first, n, &events);
    if (st == ST_OK)
        write_trace(&trace, &m->shape, text, size);
    while (events > 0)
        (void)cudaEventDestroy(trace.event[--events]); /* nothing depends on it */
    return st;
}

enum status cuda_msm_add_up(enum curve_id curve, enum msm_group group, const void *points,
                            uint64_t count, void *result, cudaStream_t stream)
{
    kernels_of(curve, group)->add_up(points, count, result, stream);
    CUDA_TRY_LAUNCH("sum of partial sums");
    return ST_OK;
}
