#include "tests/unit/cuda_twin.h"

#include <cstring>

#include "gpud/cuda/fq2.cuh"
#include "gpud/cuda/shoup.cuh"

#define TWIN_PASTE_(a, b) a##b
#define TWIN_PASTE(a, b) TWIN_PASTE_(a, b)
using fr = field<TWIN_PASTE(params_fr_, PINION_CURVE)>;
using fq = field<TWIN_PASTE(params_fq_, PINION_CURVE)>;
using fq2 = field2<TWIN_PASTE(params_fq_, PINION_CURVE)>;

template <class F>
static F load(const void *bytes)
{
    F r;
    std::memcpy(&r, bytes, sizeof r);
    return r;
}

template <class F>
static void compute(enum twin_op op, void *out, const void *a_bytes, const void *b_bytes)
{
    F a = load<F>(a_bytes), r;
    switch (op) {
    case TWIN_ADD:
        r = add(a, load<F>(b_bytes));
        break;
    case TWIN_SUB:
        r = sub(a, load<F>(b_bytes));
        break;
    case TWIN_MUL:
        r = mul(a, load<F>(b_bytes));
        break;
    case TWIN_DBL:
        r = dbl(a);
        break;
    case TWIN_NEG:
        r = neg(a);
        break;
    case TWIN_SQR:
        r = sqr(a);
        break;
    case TWIN_INV:
        r = inv(a);
        break;
    case TWIN_FROM_CANONICAL:
        r = from_canonical(a);
        break;
    default:
        r = to_canonical(a);
        break;
    }
    std::memcpy(out, &r, sizeof r);
}

void twin_compute(enum twin_field f, enum twin_op op, void *r, const void *a, const void *b)
{
    if (f == TWIN_FR)
        compute<fr>(op, r, a, b);
    else if (f == TWIN_FQ)
        compute<fq>(op, r, a, b);
    else
        compute<fq2>(op, r, a, b);
}

template <class F>
static void sum_of_products(void *out, const void *a, const void *b, const void *c, const void *d)
{
    F r = mul_add(load<F>(a), load<F>(b), load<F>(c), load<F>(d));
    std::memcpy(out, &r, sizeof r);
}

void twin_mul_add(enum twin_field f, void *r, const void *a, const void *b, const void *c,
                  const void *d)
{
    if (f == TWIN_FR)
        sum_of_products<fr>(r, a, b, c, d);
    else
        sum_of_products<fq>(r, a, b, c, d);
}

bool twin_lazy(enum twin_lazy op, void *out, const void *a_bytes, const void *b_bytes)
{
    fr a = load<fr>(a_bytes), b = load<fr>(b_bytes);
    fr r = op == TWIN_LAZY_MUL   ? mul(a, shoup_prepare(b))
           : op == TWIN_LAZY_ADD ? add_twice(a, b)
                                 : sub_twice(a, b);
    r = reduce_once(r);
    std::memcpy(out, &r, sizeof r);
    return is_reduced(r);
}

template <class F>
static unsigned relations(const void *a_bytes, const void *b_bytes)
{
    F a = load<F>(a_bytes), b = load<F>(b_bytes);
    return (is_zero(a) ? 1U : 0U) | (equal(a, b) ? 2U : 0U);
}

unsigned twin_test(enum twin_field f, const void *a, const void *b)
{
    if (f == TWIN_FR)
        return relations<fr>(a, b) | (is_reduced(load<fr>(a)) ? 4U : 0U);
    if (f == TWIN_FQ)
        return relations<fq>(a, b) | (is_reduced(load<fq>(a)) ? 4U : 0U);
    return relations<fq2>(a, b) | 4U;
}
