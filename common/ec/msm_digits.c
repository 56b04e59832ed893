#include "common/ec/msm_digits.h"

/* r = |k| for the representative of k in (-r/2, r/2]; returns whether that was negative. */
static bool scalar_shorten(fr *k)
{
    fr negative;
    unsigned char borrow = 0;
    for (int i = 0; i < FR_LIMBS; i++)
        borrow = limb_sub(borrow, fr_modulus.l[i], k->l[i], &negative.l[i]);
    for (int i = FR_LIMBS - 1; i >= 0; i--) {
        if (k->l[i] == negative.l[i])
            continue;
        if (k->l[i] < negative.l[i])
            return false;
        *k = negative;
        return true;
    }
    return false;
}

/* At most FR_BITS - 1, which is enough for (r - 1) / 2; more is a scalar that was not below r. */
static unsigned scalar_bits(const fr *k)
{
    for (unsigned i = FR_LIMBS; i-- > 0;) {
        if (k->l[i] == 0)
            continue;
        unsigned bits = 64 * i + 64 - (unsigned)__builtin_clzll(k->l[i]);
        return bits < FR_BITS ? bits : FR_BITS - 1;
    }
    return 0;
}

/* Whether a base is a finite point, as far as its coordinates tell: all of them below q, not all
 * zero. */
static bool base_counts(const uint8_t *base, size_t bytes)
{
    bool finite = false;
    for (size_t i = 0; i < bytes; i += FQ_BYTES) {
        fq x;
        fq_load(&x, base + i);
        if (!fq_is_reduced(&x))
            return false;
        finite |= !fq_is_zero(&x);
    }
    return finite;
}

struct measuring {
    struct msm_lengths *lengths;
    uint8_t *bits;
    const uint8_t *bases, *scalars;
    size_t base_bytes, n;
};

static void measure_slice(void *arg, size_t slice, unsigned thread)
{
    (void)thread;
    const struct measuring *m = arg;
    uint32_t *count = m->lengths->count[slice];
    memset(count, 0, sizeof m->lengths->count[slice]);
    size_t i, end;
    pool_chunk(m->n, slice, m->lengths->slices, &i, &end);
    for (; i < end; i++) {
        fr k;
        fr_load(&k, m->scalars + i * FR_BYTES);
        unsigned bits = 0;
        if (!fr_is_zero(&k) && base_counts(m->bases + i * m->base_bytes, m->base_bytes)) {
            scalar_shorten(&k);
            bits = scalar_bits(&k);
        }
        m->bits[i] = (uint8_t)bits;
        count[bits]++;
    }
}

void msm_measure(struct msm_lengths *lengths, uint8_t *bits, const uint8_t *bases,
                 size_t base_bytes, const uint8_t *scalars, size_t n, struct pool *pool)
{
    size_t slices = 4 * (size_t)pool_threads(pool);
    lengths->slices = slices < MSM_MAX_SLICES ? slices : MSM_MAX_SLICES;
    struct measuring m = {lengths, bits, bases, scalars, base_bytes, n};
    pool_run(pool, lengths->slices, measure_slice, &m);
    size_t total = 0;
    for (unsigned b = FR_BITS; b-- > 0;) {
        for (size_t s = 0; s < lengths->slices; s++)
            total += lengths->count[s][b];
        lengths->at_least[b] = total;
    }
}

size_t msm_digits_plan(struct msm_digits *digits, const struct msm_lengths *lengths, unsigned width)
{
    size_t total = 0;
    unsigned j = 0;
    digits->width = width;
    for (unsigned bits = 1; bits < FR_BITS && lengths->at_least[bits] > 0; j++) {
        digits->count[j] = lengths->at_least[bits];
        total += digits->count[j];
        bits = (j + 1) * width - 1; /* the shortest with j + 2 windows */
    }
    digits->windows = j;
    return total;
}

struct recoding {
    const struct msm_digits *digits;
    struct msm_lengths *lengths; /* count is now the next position of each length */
    const uint8_t *bits, *scalars;
    size_t n;
};

/* Digit j is in [-2^(c - 1), 2^(c - 1)): c bits of k plus a carry, less 2^c if that is too much.
 * Stored with 2^(c - 1) added, so that the carry is bit c of the sum. */
static void recode_scalar(const struct msm_digits *digits, const fr *k, unsigned windows,
                          size_t position)
{
    uint64_t limbs[FR_LIMBS + 1];
    memcpy(limbs, k->l, sizeof k->l);
    limbs[FR_LIMBS] = 0;
    unsigned width = digits->width;
    uint64_t mask = ((uint64_t)1 << width) - 1, half = (uint64_t)1 << (width - 1), carry = 0;
    for (unsigned j = 0, at = 0; j < windows; j++, at += width) {
        unsigned limb = at / 64, shift = at % 64;
        uint64_t v = 0;
        if (limb < FR_LIMBS) /* the last window may lie beyond */
            v = limbs[limb] >> shift | limbs[limb + 1] << 1 << (63 - shift);
        v = (v & mask) + carry + half;
        digits->digit[j][position] = (uint16_t)(v & mask);
        carry = v >> width;
    }
}

static void recode_slice(void *arg, size_t slice, unsigned thread)
{
    (void)thread;
    const struct recoding *r = arg;
    const struct msm_digits *digits = r->digits;
    uint32_t *next = r->lengths->count[slice];
    size_t i, end;
    pool_chunk(r->n, slice, r->lengths->slices, &i, &end);
    for (; i < end; i++) {
        unsigned bits = r->bits[i];
        if (bits == 0)
            continue;
        fr k;
        fr_load(&k, r->scalars + i * FR_BYTES);
        uint32_t negative = scalar_shorten(&k);
        uint32_t position = next[bits]++;
        digits->entry[position] = (uint32_t)i | negative << MSM_NEGATIVE_BIT;
        recode_scalar(digits, &k, msm_windows(bits, digits->width), position);
    }
}

void msm_recode(struct msm_digits *digits, uint32_t *entry, uint16_t *planes,
                struct msm_lengths *lengths, const uint8_t *bits, const uint8_t *scalars, size_t n,
                struct pool *pool)
{
    digits->entry = entry;
    for (unsigned j = 0; j < digits->windows; j++) {
        digits->digit[j] = planes;
        planes += digits->count[j];
    }
    uint32_t position = 0;
    for (unsigned b = FR_BITS - 1; b > 0; b--) {
        for (size_t s = 0; s < lengths->slices; s++) {
            uint32_t count = lengths->count[s][b];
            lengths->count[s][b] = position;
            position += count;
        }
    }
    struct recoding r = {digits, lengths, bits, scalars, n};
    pool_run(pool, lengths->slices, recode_slice, &r);
}
