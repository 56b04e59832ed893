#include "tests/unit/cuda_twin_ntt.h"

#include <stddef.h>

#include <vector>

#include "gpud/cuda/ntt_tile.cuh"

#define TWIN_PASTE_(a, b) a##b
#define TWIN_PASTE(a, b) TWIN_PASTE_(a, b)
using params = TWIN_PASTE(params_fr_, PINION_CURVE);
using fr = field<params>;

static_assert((int)TWIN_TILE_LOG == (int)NTT_TILE_LOG, "the header tells the size of a tile");

struct table {
    std::vector<shoup<params>> t;

    table(size_t n, const ntt_powers<params> &powers)
    {
        for (size_t i = 0; i < n; i++)
            t.push_back(shoup_prepare(ntt_power(powers, (uint32_t)i)));
    }

    shoup<params> load(uint32_t i) const
    {
        return t[i];
    }
};

struct block {
    fr x[NTT_THREADS][4];
    fr shared[NTT_TILE];
    bool good = true;

    void read(const fr *a, const ntt_tile &t, unsigned layer)
    {
        for (unsigned thread = 0; thread < NTT_THREADS; thread++)
            for (unsigned c = 0; c < 4; c++)
                x[thread][c] = a[ntt_element(t, ntt_place(thread, layer, c))];
    }

    void write(fr *a, const ntt_tile &t, unsigned layer)
    {
        for (unsigned thread = 0; thread < NTT_THREADS; thread++)
            for (unsigned c = 0; c < 4; c++) {
                good = good && is_reduced(reduce_once(x[thread][c]));
                a[ntt_element(t, ntt_place(thread, layer, c))] = x[thread][c];
            }
    }

    void exchange(unsigned from, unsigned to)
    {
        std::vector<bool> used(NTT_TILE, false);
        for (unsigned thread = 0; thread < NTT_THREADS; thread++)
            for (unsigned c = 0; c < 4; c++) {
                unsigned e = ntt_swizzle(ntt_place(thread, from, c));
                good = good && !used[e];
                used[e] = true;
                shared[e] = x[thread][c];
            }
        for (unsigned thread = 0; thread < NTT_THREADS; thread++)
            for (unsigned c = 0; c < 4; c++)
                x[thread][c] = shared[ntt_swizzle(ntt_place(thread, to, c))];
    }

    unsigned inverse(const ntt_tile &t, const table &twiddles)
    {
        for (unsigned layer = 0;;) {
            for (unsigned thread = 0; thread < NTT_THREADS; thread++)
                ntt_inverse_step(twiddles, ntt_block(t, thread, layer),
                                 ntt_step_layers(t.layers, layer), x[thread]);
            unsigned next = ntt_next_layer(t.layers, layer);
            if (next == t.layers)
                return layer;
            exchange(layer, next);
            layer = next;
        }
    }

    void forward(const ntt_tile &t, const table &twiddles)
    {
        for (unsigned layer = ntt_last_layer(t.layers);;) {
            for (unsigned thread = 0; thread < NTT_THREADS; thread++)
                ntt_forward_step(twiddles, ntt_block(t, thread, layer),
                                 ntt_step_layers(t.layers, layer), x[thread]);
            if (layer == 0)
                return;
            unsigned previous = ntt_previous_layer(t.layers, layer);
            exchange(layer, previous);
            layer = previous;
        }
    }
};

struct transform {
    const ntt_plan plan;
    const table twiddles, factors;
    block b;

    transform(unsigned log2n, ntt_root_kind kind, fr shift)
        : plan(ntt_plan_make(log2n)),
          twiddles((size_t)1 << (log2n - 1), ntt_twiddle_powers<params>(log2n, kind)),
          factors((size_t)1 << log2n, ntt_factor_powers<params>(log2n, shift))
    {
    }

    void columns(fr *a, unsigned i, bool inverse)
    {
        unsigned layers = plan.done[i + 1] - plan.done[i];
        for (uint32_t tile = 0; tile < 1U << (plan.log2n - NTT_TILE_LOG); tile++) {
            ntt_tile t = ntt_tile_make(plan.log2n, plan.done[i], layers, tile);
            unsigned layer = 0;
            b.read(a, t, inverse ? 0 : ntt_last_layer(layers));
            if (inverse)
                layer = b.inverse(t, twiddles);
            else
                b.forward(t, twiddles);
            b.write(a, t, layer);
        }
    }

    void middle(fr *a, bool inverse, bool forward)
    {
        const unsigned last = NTT_TILE_LOG - 2;
        for (uint32_t tile = 0; tile < 1U << (plan.log2n - NTT_TILE_LOG); tile++) {
            ntt_tile t = ntt_tile_make(plan.log2n, plan.log2n - NTT_TILE_LOG, NTT_TILE_LOG, tile);
            b.read(a, t, inverse ? 0 : last);
            if (inverse)
                b.inverse(t, twiddles);
            for (unsigned thread = 0; inverse && thread < NTT_THREADS; thread++)
                for (unsigned c = 0; c < 4; c++) {
                    uint64_t e = ntt_element(t, ntt_place(thread, last, c));
                    b.x[thread][c] = mul(b.x[thread][c], factors.load((uint32_t)e));
                }
            if (forward)
                b.forward(t, twiddles);
            b.write(a, t, forward ? 0 : last);
        }
    }
};

bool twin_transform(void *elements, unsigned log2n, bool bellman, bool inverse, bool forward)
{
    ntt_root_kind kind = bellman ? NTT_KIND_BELLMAN : NTT_KIND_SNARKJS;
    fr *a = static_cast<fr *>(elements), one;
    set_one(one);
    transform t(log2n, kind, forward ? ntt_shift<params>(log2n, kind) : one);
    for (unsigned i = 0; inverse && i < t.plan.columns; i++)
        t.columns(a, i, true);
    t.middle(a, inverse, forward);
    for (unsigned i = t.plan.columns; forward && i-- > 0;)
        t.columns(a, i, false);
    for (size_t i = 0; i < (size_t)1 << log2n; i++)
        a[i] = reduce_once(a[i]);
    return t.b.good;
}
