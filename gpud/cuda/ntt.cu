#include "gpud/cuda/ntt.h"

#include <cstdlib>
#include <new>

#include "gpud/cuda/device.cuh"
#include "gpud/cuda/ntt_tile.cuh"

enum {
    SMALL_THREADS = 256,
    MAX_VECTORS = 3,
    MAX_LOG = 30,
    ELEMENT_THREADS = 256,
};

template <class P>
static __device__ __forceinline__ field<P> join(uint4 a, uint4 b)
{
    field<P> r = {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    return r;
}

/* 32 bytes in two loads of 16; the structures are aligned to that. */
template <class P>
static __device__ __forceinline__ field<P> load(const field<P> *p)
{
    const uint4 *q = reinterpret_cast<const uint4 *>(p);
    return join<P>(q[0], q[1]);
}

template <class P>
static __device__ __forceinline__ void store(field<P> *p, field<P> x)
{
    uint4 *q = reinterpret_cast<uint4 *>(p);
    q[0] = make_uint4(x.l[0], x.l[1], x.l[2], x.l[3]);
    q[1] = make_uint4(x.l[4], x.l[5], x.l[6], x.l[7]);
}

/* n factors with their quotients, in four planes of 16 bytes an entry: neighbouring threads read
 * neighbouring words. */
template <class P>
struct factor_table {
    uint4 *planes;
    uint64_t n;

    __device__ __forceinline__ shoup<P> load(uint32_t i) const
    {
        return {join<P>(__ldg(planes + i), __ldg(planes + n + i)),
                join<P>(__ldg(planes + 2 * n + i), __ldg(planes + 3 * n + i))};
    }

    __device__ __forceinline__ void store(uint32_t i, shoup<P> s) const
    {
        planes[i] = make_uint4(s.w.l[0], s.w.l[1], s.w.l[2], s.w.l[3]);
        planes[n + i] = make_uint4(s.w.l[4], s.w.l[5], s.w.l[6], s.w.l[7]);
        planes[2 * n + i] = make_uint4(s.q.l[0], s.q.l[1], s.q.l[2], s.q.l[3]);
        planes[3 * n + i] = make_uint4(s.q.l[4], s.q.l[5], s.q.l[6], s.q.l[7]);
    }
};

template <class P>
struct vectors {
    field<P> *v[MAX_VECTORS];
    unsigned count;

    __device__ __forceinline__ field<P> *of(unsigned i) const
    {
        return i == 0 ? v[0] : i == 1 ? v[1] : v[2];
    }
};

template <class P>
struct tables {
    factor_table<P> twiddles;
    factor_table<P> factors; /* of the coset */
    shoup<P> n_inv;
};

template <class P>
static __global__ void fill_table(factor_table<P> table, const ntt_powers<P> *powers)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < table.n;
         i += (uint64_t)gridDim.x * blockDim.x)
        table.store((uint32_t)i, shoup_prepare(ntt_power(*powers, (uint32_t)i)));
}

/* Threads exchange the tile: each leaves its elements where the step of layer from has them and
 * takes those of the step of layer to. What it leaves, nobody else has touched since it took it. */
template <class P>
static __device__ __forceinline__ void exchange(uint4 (*shared)[NTT_TILE], field<P> x[4],
                                                unsigned from, unsigned to)
{
    UNROLL
    for (int c = 0; c < 4; c++) {
        unsigned e = ntt_swizzle(ntt_place(threadIdx.x, from, c));
        shared[0][e] = make_uint4(x[c].l[0], x[c].l[1], x[c].l[2], x[c].l[3]);
        shared[1][e] = make_uint4(x[c].l[4], x[c].l[5], x[c].l[6], x[c].l[7]);
    }
    __syncthreads();
    UNROLL
    for (int c = 0; c < 4; c++) {
        unsigned e = ntt_swizzle(ntt_place(threadIdx.x, to, c));
        x[c] = join<P>(shared[0][e], shared[1][e]);
    }
}

template <class P>
static __device__ __forceinline__ void read_tile(field<P> x[4], const field<P> *v,
                                                 const ntt_tile &t, unsigned layer)
{
    UNROLL
    for (int c = 0; c < 4; c++)
        x[c] = load(v + ntt_element(t, ntt_place(threadIdx.x, layer, c)));
}

template <class P>
static __device__ __forceinline__ void write_tile(field<P> *v, const field<P> x[4],
                                                  const ntt_tile &t, unsigned layer, bool reduce)
{
    UNROLL
    for (int c = 0; c < 4; c++)
        store(v + ntt_element(t, ntt_place(threadIdx.x, layer, c)),
              reduce ? reduce_once(x[c]) : x[c]);
}

/* From the step of layer 0 to the last one; returns the layer whose places x has. */
template <class P>
static __device__ __forceinline__ unsigned inverse_tile(uint4 (*shared)[NTT_TILE], field<P> x[4],
                                                        const ntt_tile &t,
                                                        const factor_table<P> &twiddles)
{
    unsigned layer = 0;
    for (;;) {
        ntt_inverse_step(twiddles, ntt_block(t, threadIdx.x, layer),
                         ntt_step_layers(t.layers, layer), x);
        unsigned next = ntt_next_layer(t.layers, layer);
        if (next == t.layers)
            return layer;
        exchange(shared, x, layer, next);
        layer = next;
    }
}

/* From the last step to that of layer 0. */
template <class P>
static __device__ __forceinline__ void forward_tile(uint4 (*shared)[NTT_TILE], field<P> x[4],
                                                    const ntt_tile &t,
                                                    const factor_table<P> &twiddles)
{
    unsigned layer = ntt_last_layer(t.layers);
    for (;;) {
        ntt_forward_step(twiddles, ntt_block(t, threadIdx.x, layer),
                         ntt_step_layers(t.layers, layer), x);
        if (layer == 0)
            return;
        unsigned previous = ntt_previous_layer(t.layers, layer);
        exchange(shared, x, layer, previous);
        layer = previous;
    }
}

struct pass {
    unsigned log2n, done, layers;
    bool reduce; /* the results */
};

template <class P, bool INVERSE>
static __global__ void __launch_bounds__(NTT_THREADS, 3)
    column_pass(vectors<P> vs, factor_table<P> twiddles, pass p)
{
    __shared__ uint4 shared[2][NTT_TILE];
    field<P> *v = vs.of(blockIdx.x % vs.count);
    ntt_tile t = ntt_tile_make(p.log2n, p.done, p.layers, blockIdx.x / vs.count);
    field<P> x[4];
    read_tile(x, v, t, INVERSE ? 0 : ntt_last_layer(p.layers));
    unsigned layer = 0;
    if (INVERSE)
        layer = inverse_tile(shared, x, t, twiddles);
    else
        forward_tile(shared, x, t, twiddles);
    write_tile(v, x, t, layer, p.reduce);
}

enum middle { MIDDLE_INVERSE, MIDDLE_FORWARD, MIDDLE_EXTEND };

/* The contiguous tiles: the end of the inverse transform, the scaling, the begin of the forward
 * one. Memory is met in the order of layer 0, where neighbours have neighbours. */
template <class P, middle M>
static __global__ void __launch_bounds__(NTT_THREADS, 3)
    middle_pass(vectors<P> vs, tables<P> tabs, pass p)
{
    __shared__ uint4 shared[2][NTT_TILE];
    const unsigned last = NTT_TILE_LOG - 2;
    field<P> *v = vs.of(blockIdx.x % vs.count);
    ntt_tile t =
        ntt_tile_make(p.log2n, p.log2n - NTT_TILE_LOG, NTT_TILE_LOG, blockIdx.x / vs.count);
    field<P> x[4];
    read_tile(x, v, t, 0);
    if (M == MIDDLE_FORWARD)
        exchange(shared, x, 0, last);
    else
        inverse_tile(shared, x, t, tabs.twiddles);
    UNROLL
    for (int c = 0; c < 4; c++) {
        if (M == MIDDLE_INVERSE)
            x[c] = mul(x[c], tabs.n_inv);
        if (M == MIDDLE_EXTEND)
            x[c] = mul(
                x[c], tabs.factors.load((uint32_t)ntt_element(t, ntt_place(threadIdx.x, last, c))));
    }
    if (M == MIDDLE_INVERSE)
        exchange(shared, x, last, 0);
    else
        forward_tile(shared, x, t, tabs.twiddles);
    write_tile(v, x, t, 0, p.reduce);
}

/* Fewer elements than a tile: one block does a vector, layer by layer, in place. */
template <class P, middle M>
static __global__ void small_transform(vectors<P> vs, tables<P> tabs, unsigned log2n)
{
    field<P> *v = vs.of(blockIdx.x);
    uint32_t half = (1U << log2n) / 2, n = 1U << log2n;
    for (unsigned l = 0; M != MIDDLE_FORWARD && l < log2n; l++) {
        for (uint32_t i = threadIdx.x; i < half; i += blockDim.x) {
            uint32_t span = half >> l, block = i / span, at = 2 * span * block + i % span;
            field<P> a = load(v + at), b = load(v + at + span);
            ntt_inverse_pair(ntt_inverse_twiddle(tabs.twiddles, block), block == 0, a, b);
            store(v + at, a);
            store(v + at + span, b);
        }
        __syncthreads();
    }
    for (uint32_t i = threadIdx.x; M != MIDDLE_FORWARD && i < n; i += blockDim.x)
        store(v + i, reduce_once(mul(load(v + i),
                                     M == MIDDLE_INVERSE ? tabs.n_inv : tabs.factors.load(i))));
    __syncthreads();
    for (unsigned l = log2n; M != MIDDLE_INVERSE && l-- > 0;) {
        for (uint32_t i = threadIdx.x; i < half; i += blockDim.x) {
            uint32_t span = half >> l, block = i / span, at = 2 * span * block + i % span;
            field<P> a = load(v + at), b = load(v + at + span);
            ntt_forward_pair(tabs.twiddles.load(block), block == 0, a, b);
            store(v + at, reduce_once(a));
            store(v + at + span, reduce_once(b));
        }
        __syncthreads();
    }
}

/* c = a b */
template <class P>
static __global__ void multiply(field<P> *c, const field<P> *a, const field<P> *b, uint64_t n)
{
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        store(c + i, mul(load(a + i), load(b + i)));
}

/* a = a b - c, canonical. */
template <class P>
static __global__ void multiply_subtract(field<P> *a, const field<P> *b, const field<P> *c,
                                         uint64_t n)
{
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        store(a + i, to_canonical(sub(mul(load(a + i), load(b + i)), load(c + i))));
}

/* The curve is known only at run time: an object for each. */
struct cuda_ntt {
    unsigned log2n;
    virtual enum status init() = 0;
    virtual enum status transform(middle m, void *const *vs, unsigned count,
                                  cudaStream_t stream) const = 0;
    virtual enum status product(void *c, const void *a, const void *b,
                                cudaStream_t stream) const = 0;
    virtual enum status quotient(void *a, const void *b, const void *c,
                                 cudaStream_t stream) const = 0;
    virtual ~cuda_ntt() = default;
};

template <class P>
struct domain final : cuda_ntt {
    tables<P> t = {};

    ~domain() override
    {
        device_free(t.twiddles.planes);
        device_free(t.factors.planes);
    }

    enum status fill(factor_table<P> *table, uint64_t n, const ntt_powers<P> &powers)
    {
        void *planes, *device_powers;
        enum status st = device_alloc(&planes, n * sizeof(shoup<P>), "factors of transforms");
        if (st != ST_OK)
            return st;
        table->planes = static_cast<uint4 *>(planes);
        table->n = n;
        st = device_alloc(&device_powers, sizeof powers, "powers of roots");
        if (st != ST_OK)
            return st;
        st = fill_from(*table, powers, static_cast<ntt_powers<P> *>(device_powers));
        device_free(device_powers);
        return st;
    }

    static enum status fill_from(factor_table<P> table, const ntt_powers<P> &powers,
                                 ntt_powers<P> *device_powers)
    {
        CUDA_TRY(cudaMemcpy(device_powers, &powers, sizeof powers, cudaMemcpyHostToDevice));
        uint64_t blocks = (table.n + ELEMENT_THREADS - 1) / ELEMENT_THREADS;
        fill_table<<<(unsigned)(blocks < 4096 ? blocks : 4096), ELEMENT_THREADS>>>(table,
                                                                                   device_powers);
        CUDA_TRY_LAUNCH("fill_table");
        CUDA_TRY(cudaDeviceSynchronize());
        return ST_OK;
    }

    enum status init() override
    {
        field<P> one;
        set_one(one);
        t.n_inv = shoup_prepare(ntt_factor_powers<P>(log2n, one).scale);
        enum status st = fill(&t.twiddles, log2n ? (uint64_t)1 << (log2n - 1) : 1,
                              ntt_twiddle_powers<P>(log2n, NTT_KIND_SNARKJS));
        if (st == ST_OK)
            st = fill(&t.factors, (uint64_t)1 << log2n,
                      ntt_factor_powers<P>(log2n, ntt_shift<P>(log2n, NTT_KIND_SNARKJS)));
        return st;
    }

    template <middle M>
    enum status run(vectors<P> vs, cudaStream_t stream) const
    {
        if (log2n < NTT_TILE_LOG) {
            small_transform<P, M><<<vs.count, SMALL_THREADS, 0, stream>>>(vs, t, log2n);
            CUDA_TRY_LAUNCH("small_transform");
            return ST_OK;
        }
        ntt_plan plan = ntt_plan_make(log2n);
        unsigned grid = (1U << (log2n - NTT_TILE_LOG)) * vs.count;
        for (unsigned i = 0; M != MIDDLE_FORWARD && i < plan.columns; i++) {
            pass p = {log2n, plan.done[i], plan.done[i + 1] - plan.done[i], false};
            column_pass<P, true><<<grid, NTT_THREADS, 0, stream>>>(vs, t.twiddles, p);
            CUDA_TRY_LAUNCH("column_pass");
        }
        pass middle = {log2n, 0, NTT_TILE_LOG, M == MIDDLE_INVERSE || plan.columns == 0};
        middle_pass<P, M><<<grid, NTT_THREADS, 0, stream>>>(vs, t, middle);
        CUDA_TRY_LAUNCH("middle_pass");
        for (unsigned i = plan.columns; M != MIDDLE_INVERSE && i-- > 0;) {
            pass p = {log2n, plan.done[i], plan.done[i + 1] - plan.done[i], i == 0};
            column_pass<P, false><<<grid, NTT_THREADS, 0, stream>>>(vs, t.twiddles, p);
            CUDA_TRY_LAUNCH("column_pass");
        }
        return ST_OK;
    }

    enum status transform(middle m, void *const *v, unsigned count,
                          cudaStream_t stream) const override
    {
        vectors<P> vs = {};
        vs.count = count;
        for (unsigned i = 0; i < count; i++)
            vs.v[i] = static_cast<field<P> *>(v[i]);
        return m == MIDDLE_INVERSE   ? run<MIDDLE_INVERSE>(vs, stream)
               : m == MIDDLE_FORWARD ? run<MIDDLE_FORWARD>(vs, stream)
                                     : run<MIDDLE_EXTEND>(vs, stream);
    }

    unsigned element_grid() const
    {
        return (unsigned)((((uint64_t)1 << log2n) + ELEMENT_THREADS - 1) / ELEMENT_THREADS);
    }

    enum status product(void *c, const void *a, const void *b, cudaStream_t stream) const override
    {
        multiply<<<element_grid(), ELEMENT_THREADS, 0, stream>>>(
            static_cast<field<P> *>(c), static_cast<const field<P> *>(a),
            static_cast<const field<P> *>(b), (uint64_t)1 << log2n);
        CUDA_TRY_LAUNCH("multiply");
        return ST_OK;
    }

    enum status quotient(void *a, const void *b, const void *c, cudaStream_t stream) const override
    {
        multiply_subtract<<<element_grid(), ELEMENT_THREADS, 0, stream>>>(
            static_cast<field<P> *>(a), static_cast<const field<P> *>(b),
            static_cast<const field<P> *>(c), (uint64_t)1 << log2n);
        CUDA_TRY_LAUNCH("multiply_subtract");
        return ST_OK;
    }
};

uint64_t cuda_ntt_bytes(unsigned log2n)
{
    uint64_t n = (uint64_t)1 << log2n;
    return ((log2n ? n / 2 : 1) + n) * sizeof(shoup<params_fr_bn254>);
}

enum status cuda_ntt_create(struct cuda_ntt **out, enum curve_id curve, unsigned log2n)
{
    unsigned limit = curve == CURVE_BN254 ? params_domain_bn254::TWO_ADICITY : MAX_LOG;
    if (log2n > limit)
        return fail(ST_INPUT, "cuda: a domain of 2^%u: at most 2^%u is supported", log2n, limit);
    cuda_ntt *d = NULL;
    if (curve == CURVE_BN254)
        d = new (std::nothrow) domain<params_fr_bn254>;
    else if (curve == CURVE_BLS12_381)
        d = new (std::nothrow) domain<params_fr_bls12_381>;
    else
        return fail(ST_INTERNAL, "cuda: no transforms for curve %d", (int)curve);
    if (!d)
        return fail(ST_RESOURCE, "no memory");
    d->log2n = log2n;
    enum status st = d->init();
    if (st == ST_OK)
        *out = d;
    else
        delete d;
    return st;
}

void cuda_ntt_destroy(struct cuda_ntt *d)
{
    delete d;
}

enum status cuda_ntt_inverse(const struct cuda_ntt *d, void *a, struct CUstream_st *stream)
{
    return d->transform(MIDDLE_INVERSE, &a, 1, stream);
}

enum status cuda_ntt_forward(const struct cuda_ntt *d, void *a, struct CUstream_st *stream)
{
    return d->transform(MIDDLE_FORWARD, &a, 1, stream);
}

enum status cuda_ntt_quotient(const struct cuda_ntt *d, void *a, void *b, void *c,
                              struct CUstream_st *stream)
{
    void *const vs[MAX_VECTORS] = {a, b, c};
    enum status st = d->product(c, a, b, stream);
    if (st == ST_OK)
        st = d->transform(MIDDLE_EXTEND, vs, MAX_VECTORS, stream);
    if (st == ST_OK)
        st = d->quotient(a, b, c, stream);
    return st;
}
