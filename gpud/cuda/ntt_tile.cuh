/* The transform as tiles of 2^TILE_LOG elements, four to a thread: who works on what, and the
 * butterflies. The host compiles the same lines, so that a test can be all threads in turn.
 *
 * The order of the layers, their twiddles and the order of the results are those of
 * common/poly/ntt.c. There 2^l blocks make up layer l, and one twiddle serves a block. A tile is
 * 2^layers rows, a power of two apart, of neighbouring elements; a thread does two layers on its
 * four elements, then the tile is exchanged through shared memory. An odd number of layers leaves
 * layer 0 of the tile alone in its step.
 *
 * Values are lazy, below 2p, between passes. */
#ifndef PINION_CUDA_NTT_TILE_CUH
#define PINION_CUDA_NTT_TILE_CUH

#include "gpud/cuda/shoup.cuh"

enum {
    NTT_TILE_LOG = 10,
    NTT_TILE = 1 << NTT_TILE_LOG,
    NTT_THREADS = NTT_TILE / 4,
    NTT_COLUMN_LAYERS = 8, /* of a pass over columns, at most: rows of four elements, 128 bytes */
    NTT_MAX_COLUMNS = 4,   /* passes: 10 + 3 * 8 layers exceed every field's 2-adicity */
};

/* How layers are grouped: pass i over columns does layers done[i] ... done[i + 1] - 1, the pass
 * over contiguous tiles the last NTT_TILE_LOG. For log2n >= NTT_TILE_LOG. */
struct ntt_plan {
    unsigned log2n, columns;
    unsigned done[NTT_MAX_COLUMNS + 1];
};

static inline ntt_plan ntt_plan_make(unsigned log2n)
{
    ntt_plan p = {};
    unsigned outer = log2n - NTT_TILE_LOG;
    p.log2n = log2n;
    p.columns = (outer + NTT_COLUMN_LAYERS - 1) / NTT_COLUMN_LAYERS;
    for (unsigned i = 0; i <= p.columns; i++)
        p.done[i] = p.columns ? outer * i / p.columns : 0;
    return p;
}

struct ntt_tile {
    uint64_t first; /* element in row 0, column 0 */
    uint32_t block; /* of layer done, in which the tile lies */
    unsigned layers, stride_log;
};

/* Tile number tile of the pass that does so many layers after done. NTT_TILE_LOG layers at the end
 * make it contiguous. */
INLINE ntt_tile ntt_tile_make(unsigned log2n, unsigned done, unsigned layers, uint32_t tile)
{
    ntt_tile t;
    unsigned size_log = log2n - done, width_log = NTT_TILE_LOG - layers;
    t.layers = layers;
    t.stride_log = size_log - layers;
    unsigned in_block = t.stride_log - width_log; /* tiles, as a power of two */
    t.block = tile >> in_block;
    uint32_t column = (tile & ((1U << in_block) - 1)) << width_log;
    t.first = ((uint64_t)t.block << size_log) + column;
    return t;
}

/* The vector's element in place e of the tile. */
INLINE uint64_t ntt_element(const ntt_tile &t, unsigned e)
{
    unsigned width_log = NTT_TILE_LOG - t.layers;
    return t.first + ((uint64_t)(e >> width_log) << t.stride_log) + (e & ((1U << width_log) - 1));
}

/* The place in the tile of element c of a thread in the step that begins with a layer. */
INLINE unsigned ntt_place(unsigned thread, unsigned layer, unsigned c)
{
    unsigned step_log = NTT_TILE_LOG - 2 - layer;
    unsigned high = thread >> step_log, low = thread & ((1U << step_log) - 1);
    return (high << (step_log + 2)) | (c << step_log) | low;
}

/* The block of that layer in which the thread's elements lie. */
INLINE uint32_t ntt_block(const ntt_tile &t, unsigned thread, unsigned layer)
{
    return (t.block << layer) + (thread >> (NTT_TILE_LOG - 2 - layer));
}

/* Layers of the step that begins with a layer. */
INLINE unsigned ntt_step_layers(unsigned layers, unsigned layer)
{
    return (layers & 1) && layer == 0 ? 1 : 2;
}

/* Where in shared memory place e is kept, such that eight neighbouring threads meet eight banks of
 * 16 bytes in every step. */
INLINE unsigned ntt_swizzle(unsigned e)
{
    return e ^ ((e >> 4 & 1) * 7) ^ ((e >> 3 & 1) * 2);
}

/* The inverse's twiddle -w is found in the table of the forward transform's: common/poly/ntt.c. */
INLINE uint32_t ntt_mirror(uint32_t i)
{
#ifdef __CUDA_ARCH__
    unsigned zeros = (unsigned)__clz((int)i);
#else
    unsigned zeros = (unsigned)__builtin_clz(i);
#endif
    return i ^ ((0x80000000U >> zeros) - 1);
}

/* u, v = u - w v, u + w v of block i, or u + v, u - v in block 0. */
template <class P>
INLINE void ntt_inverse_pair(const shoup<P> &w, bool unit, field<P> &u, field<P> &v)
{
    field<P> t = v, s;
    if (!unit)
        t = mul(t, w);
    s = add_twice(u, t);
    t = sub_twice(u, t);
    for (int j = 0; j < P::N; j++) {
        u.l[j] = unit ? s.l[j] : t.l[j];
        v.l[j] = unit ? t.l[j] : s.l[j];
    }
}

/* u, v = u + v, (u - v) w of block i. */
template <class P>
INLINE void ntt_forward_pair(const shoup<P> &w, bool unit, field<P> &u, field<P> &v)
{
    field<P> d = sub_twice(u, v);
    u = add_twice(u, v);
    v = d;
    if (!unit)
        v = mul(d, w);
}

/* The twiddle of block i of a layer; of block 0, which has none, any. */
template <class Table>
INLINE auto ntt_inverse_twiddle(const Table &table, uint32_t i)
{
    return table.load(i != 0 ? ntt_mirror(i) : 0);
}

/* The layers of one step on a thread's elements; i: the block of its first layer. */
template <class Table, class P>
INLINE void ntt_inverse_step(const Table &table, uint32_t i, unsigned layers, field<P> x[4])
{
    auto w = ntt_inverse_twiddle(table, i);
    ntt_inverse_pair(w, i == 0, x[0], x[2]);
    ntt_inverse_pair(w, i == 0, x[1], x[3]);
    if (layers == 2) {
        ntt_inverse_pair(ntt_inverse_twiddle(table, 2 * i), i == 0, x[0], x[1]);
        ntt_inverse_pair(ntt_inverse_twiddle(table, 2 * i + 1), false, x[2], x[3]);
    }
}

template <class Table, class P>
INLINE void ntt_forward_step(const Table &table, uint32_t i, unsigned layers, field<P> x[4])
{
    if (layers == 2) {
        ntt_forward_pair(table.load(2 * i), i == 0, x[0], x[1]);
        ntt_forward_pair(table.load(2 * i + 1), false, x[2], x[3]);
    }
    auto w = table.load(i);
    ntt_forward_pair(w, i == 0, x[0], x[2]);
    ntt_forward_pair(w, i == 0, x[1], x[3]);
}

/* The steps of a tile in the order of the inverse transform; the forward transform takes them
 * backwards. */
INLINE unsigned ntt_next_layer(unsigned layers, unsigned layer)
{
    return layer + ntt_step_layers(layers, layer);
}

INLINE unsigned ntt_last_layer(unsigned layers)
{
    return layers == 1 ? 0 : layers - 2;
}

INLINE unsigned ntt_previous_layer(unsigned layers, unsigned layer)
{
    return (layers & 1) && layer == 1 ? 0 : layer - 2;
}

/* Tables. Entry i of a table of powers is scale times the product of bit[b] over the set bits of i,
 * all in Montgomery form. */
template <class P>
struct ntt_powers {
    field<P> scale;
    field<P> bit[32];
};

template <class P>
INLINE field<P> ntt_power(const ntt_powers<P> &powers, uint32_t i)
{
    field<P> r = powers.scale;
    for (unsigned b = 0; i >> b; b++)
        if (i >> b & 1)
            r = mul(r, powers.bit[b]);
    return r;
}

enum ntt_root_kind { NTT_KIND_SNARKJS, NTT_KIND_BELLMAN };

/* The primitive 2^log2n-th root of unity. */
template <class P>
static inline field<P> ntt_root_of_order(unsigned log2n, ntt_root_kind kind)
{
    using D = typename params_domain_of<P>::type;
    field<P> r;
    for (int i = 0; i < P::N; i++)
        r.l[i] = kind == NTT_KIND_SNARKJS ? D::root_snarkjs(i) : D::root_bellman(i);
    for (unsigned i = log2n; i < (unsigned)D::TWO_ADICITY; i++)
        r = sqr(r);
    return r;
}

/* As ntt_coset_shift of common/poly/ntt.h. */
template <class P>
static inline field<P> ntt_shift(unsigned log2n, ntt_root_kind kind)
{
    using D = typename params_domain_of<P>::type;
    if (log2n < (unsigned)D::TWO_ADICITY)
        return ntt_root_of_order<P>(log2n + 1, kind);
    field<P> r;
    for (int i = 0; i < P::N; i++)
        r.l[i] = D::nonresidue(i);
    return sqr(r);
}

/* Twiddles: entry i < n / 2 is root^reverse(i). Bit b of the index is worth root^(n / 2^(b + 2)).
 */
template <class P>
static inline ntt_powers<P> ntt_twiddle_powers(unsigned log2n, ntt_root_kind kind)
{
    ntt_powers<P> p = {};
    set_one(p.scale);
    field<P> power = ntt_root_of_order<P>(log2n, kind);
    for (unsigned b = log2n; b-- > 1;) {
        p.bit[b - 1] = power;
        power = sqr(power);
    }
    return p;
}

/* Factors between the transforms: entry i < n is g^reverse(i) / n. */
template <class P>
static inline ntt_powers<P> ntt_factor_powers(unsigned log2n, field<P> g)
{
    ntt_powers<P> p = {};
    field<P> half, one;
    set_one(one);
    set_one(p.scale);
    half = inv(dbl(one));
    for (unsigned i = 0; i < log2n; i++)
        p.scale = mul(p.scale, half);
    for (unsigned b = log2n; b-- > 0;) {
        p.bit[b] = g;
        g = sqr(g);
    }
    return p;
}

#endif
