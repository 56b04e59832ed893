/* Arithmetic modulo p on 4 and 6 limbs with mulx, adcx and adox (BMI2 and ADX).
 *
 * In place of p the products take LIMBS + 1 words: p and -1/p mod 2^64. R = 2^(64 * LIMBS).
 * Required: p odd, its top limb < 2^63 - 1, and p < R/4 for sums of two products. Operands are
 * below p except where said; results always are. Outputs may alias inputs. Only translation units
 * of an adx instance may include this file.
 *
 * Ozturk, Guilford, Gopal, Feghali, "New instructions supporting large integer arithmetic on Intel
 * architecture processors" (2012) for the two carry chains; El Housni, Botrel, "EdMSM" (2022),
 * section 4, for why one spare bit keeps the accumulator within LIMBS + 1 limbs; Longa, "Efficient
 * algorithms for large prime characteristic fields and their application to bilinear pairings"
 * (2022), section 4, for sums of products under one reduction.
 */
#ifndef PINION_FF_MUL_ADX_H
#define PINION_FF_MUL_ADX_H

#include <stdint.h>

/* Operands x and y are addresses as assembler text, e.g. "8(%[b])"; t, t0 ... name the registers of
 * the accumulator. A row is t += x * rdx; the low halves of its products ride on OF, the high
 * halves on CF, and no chain has a carry left at the end. */
#define ADX_REG(t) "%[" t "]"
#define ADX_LOAD(y) "mov " y ", %%rdx\n\t"
#define ADX_CLEAR(t) "xor %k[" t "], %k[" t "]\n\t" /* and both carries */
#define ADX_STEP(word, t0, t1)                                                                     \
    "mulx " word ", %[lo], %[hi]\n\t"                                                              \
    "adox %[lo], " ADX_REG(t0) "\n\t"                                                              \
                               "adcx %[hi], " ADX_REG(t1) "\n\t"
#define ADX_OPEN_STEP(add, word, t0, t1)                                                           \
    "mulx " word ", %[lo], " ADX_REG(t1) "\n\t" add " %[lo], " ADX_REG(t0) "\n\t"

#define ADX_STEPS_4(x, t0, t1, t2, t3, t4)                                                         \
    ADX_STEP(x, t0, t1)                                                                            \
    ADX_STEP("8+" x, t1, t2)                                                                       \
    ADX_STEP("16+" x, t2, t3)                                                                      \
    ADX_STEP("24+" x, t3, t4)
#define ADX_STEPS_6(x, t0, t1, t2, t3, t4, t5, t6)                                                 \
    ADX_STEPS_4(x, t0, t1, t2, t3, t4)                                                             \
    ADX_STEP("32+" x, t4, t5)                                                                      \
    ADX_STEP("40+" x, t5, t6)

/* t = x * y. */
#define ADX_SET_4_(x, y, t0, t1, t2, t3, t4)                                                       \
    ADX_LOAD(y)                                                                                    \
    "mulx " x ", " ADX_REG(t0) ", " ADX_REG(t1) "\n\t" /**/                                        \
        ADX_OPEN_STEP("add", "8+" x, t1, t2) ADX_OPEN_STEP("adc", "16+" x, t2, t3)                 \
            ADX_OPEN_STEP("adc", "24+" x, t3, t4) "adc $0, " ADX_REG(t4) "\n\t"
#define ADX_SET_6_(x, y, t0, t1, t2, t3, t4, t5, t6)                                               \
    ADX_LOAD(y)                                                                                    \
    "mulx " x ", " ADX_REG(t0) ", " ADX_REG(t1) "\n\t" /**/                                        \
        ADX_OPEN_STEP("add", "8+" x, t1, t2) ADX_OPEN_STEP("adc", "16+" x, t2, t3)                 \
            ADX_OPEN_STEP("adc", "24+" x, t3, t4) ADX_OPEN_STEP("adc", "32+" x, t4, t5)            \
                ADX_OPEN_STEP("adc", "40+" x, t5, t6) "adc $0, " ADX_REG(t6) "\n\t"

/* t += x * y where the top limb of t is yet unset. */
#define ADX_NEW_4_(x, y, t0, t1, t2, t3, t4)                                                       \
    ADX_LOAD(y)                                                                                    \
    ADX_CLEAR(t4) ADX_STEPS_4(x, t0, t1, t2, t3, t4) "adox 40(%[p]), " ADX_REG(t4) "\n\t"
#define ADX_NEW_6_(x, y, t0, t1, t2, t3, t4, t5, t6)                                               \
    ADX_LOAD(y)                                                                                    \
    ADX_CLEAR(t6) ADX_STEPS_6(x, t0, t1, t2, t3, t4, t5, t6) "adox 56(%[p]), " ADX_REG(t6) "\n\t"

/* t += x * y. */
#define ADX_ADD_4_(x, y, t0, t1, t2, t3, t4)                                                       \
    ADX_LOAD(y)                                                                                    \
    ADX_CLEAR("lo") ADX_STEPS_4(x, t0, t1, t2, t3, t4) "adox 40(%[p]), " ADX_REG(t4) "\n\t"
#define ADX_ADD_6_(x, y, t0, t1, t2, t3, t4, t5, t6)                                               \
    ADX_LOAD(y)                                                                                    \
    ADX_CLEAR("lo")                                                                                \
    ADX_STEPS_6(x, t0, t1, t2, t3, t4, t5, t6) "adox 56(%[p]), " ADX_REG(t6) "\n\t"

/* t += m p for the m that makes t0 zero: the quotient by 2^64 is what follows t0. */
#define ADX_REDUCE_4_(t0, t1, t2, t3, t4)                                                          \
    "mov 32(%[p]), %%rdx\n\timul " ADX_REG(t0) ", %%rdx\n\t" /**/                                  \
        ADX_CLEAR("lo")                                                                            \
            ADX_STEPS_4("0(%[p])", t0, t1, t2, t3, t4) "adox " ADX_REG(t0) ", " ADX_REG(t4) "\n\t"
#define ADX_REDUCE_6_(t0, t1, t2, t3, t4, t5, t6)                                                  \
    "mov 48(%[p]), %%rdx\n\timul " ADX_REG(t0) ", %%rdx\n\t" /**/                                  \
        ADX_CLEAR("lo") ADX_STEPS_6("0(%[p])", t0, t1, t2, t3, t4, t5,                             \
                                    t6) "adox " ADX_REG(t0) ", " ADX_REG(t6) "\n\t"

/* The accumulator after i reductions: it rotates, so that a quotient costs no move. */
#define ADX_T4_0 "t0", "t1", "t2", "t3", "t4"
#define ADX_T4_1 "t1", "t2", "t3", "t4", "t0"
#define ADX_T4_2 "t2", "t3", "t4", "t0", "t1"
#define ADX_T4_3 "t3", "t4", "t0", "t1", "t2"
#define ADX_T6_0 "t0", "t1", "t2", "t3", "t4", "t5", "t6"
#define ADX_T6_1 "t1", "t2", "t3", "t4", "t5", "t6", "t0"
#define ADX_T6_2 "t2", "t3", "t4", "t5", "t6", "t0", "t1"
#define ADX_T6_3 "t3", "t4", "t5", "t6", "t0", "t1", "t2"
#define ADX_T6_4 "t4", "t5", "t6", "t0", "t1", "t2", "t3"
#define ADX_T6_5 "t5", "t6", "t0", "t1", "t2", "t3", "t4"
#define ADX_SET_4(...) ADX_SET_4_(__VA_ARGS__)
#define ADX_SET_6(...) ADX_SET_6_(__VA_ARGS__)
#define ADX_NEW_4(...) ADX_NEW_4_(__VA_ARGS__)
#define ADX_NEW_6(...) ADX_NEW_6_(__VA_ARGS__)
#define ADX_ADD_4(...) ADX_ADD_4_(__VA_ARGS__)
#define ADX_ADD_6(...) ADX_ADD_6_(__VA_ARGS__)
#define ADX_REDUCE_4(...) ADX_REDUCE_4_(__VA_ARGS__)
#define ADX_REDUCE_6(...) ADX_REDUCE_6_(__VA_ARGS__)

/* o = t - p if that is not negative, else t. */
#define ADX_MINUS(sub, word, t, o) "mov " ADX_REG(t) ", " o "\n\t" sub " " word "(%[p]), " o "\n\t"
#define ADX_KEEP(t, o) "cmovc " ADX_REG(t) ", " o "\n\t"
#define ADX_FINISH_4                                                                               \
    ADX_MINUS("sub", "0", "t4", "%[lo]")                                                           \
    ADX_MINUS("sbb", "8", "t0", "%[hi]")                                                           \
    ADX_MINUS("sbb", "16", "t1", "%%rdx")                                                          \
    ADX_MINUS("sbb", "24", "t2", "%[t3]")                                                          \
    ADX_KEEP("t4", "%[lo]")                                                                        \
    ADX_KEEP("t0", "%[hi]") ADX_KEEP("t1", "%%rdx") ADX_KEEP("t2", "%[t3]")
#define ADX_FINISH_6                                                                               \
    ADX_MINUS("sub", "0", "t6", "%[lo]")                                                           \
    ADX_MINUS("sbb", "8", "t0", "%[hi]")                                                           \
    ADX_MINUS("sbb", "16", "t1", "%%rdx")                                                          \
    ADX_MINUS("sbb", "24", "t2", "%[t5]")                                                          \
    ADX_MINUS("sbb", "32", "t3", "%[a]")                                                           \
    ADX_MINUS("sbb", "40", "t4", "%[b]")                                                           \
    ADX_KEEP("t6", "%[lo]")                                                                        \
    ADX_KEEP("t0", "%[hi]")                                                                        \
    ADX_KEEP("t1", "%%rdx")                                                                        \
    ADX_KEEP("t2", "%[t5]") ADX_KEEP("t3", "%[a]") ADX_KEEP("t4", "%[b]")

/* Runs the body and stores what it finishes with. The operands are declared by a clobber: named one
 * by one they would take registers, and all 13 that a frame pointer and a base pointer leave are in
 * use. Volatile, since gcc 12 otherwise merges two statements on the same addresses in spite of the
 * clobber. */
#define ADX_RUN_4(r, a, b, p, body)                                                                \
    do {                                                                                           \
        uint64_t t0_, t1_, t2_, t3_, t4_, lo_, hi_, d_;                                            \
        __asm__ volatile(body ADX_FINISH_4                                                         \
                         : [t0] "=&r"(t0_), [t1] "=&r"(t1_), [t2] "=&r"(t2_), [t3] "=&r"(t3_),     \
                           [t4] "=&r"(t4_), [lo] "=&r"(lo_), [hi] "=&r"(hi_), "=&d"(d_)            \
                         : [a] "r"(a), [b] "r"(b), [p] "r"(p)                                      \
                         : "cc", "memory");                                                        \
        (r)[0] = lo_, (r)[1] = hi_, (r)[2] = d_, (r)[3] = t3_;                                     \
    } while (0)
#define ADX_RUN_6(r, a, b, p, body)                                                                \
    do {                                                                                           \
        uint64_t t0_, t1_, t2_, t3_, t4_, t5_, t6_, lo_, hi_, d_;                                  \
        uint64_t a_ = (uint64_t)(uintptr_t)(a), b_ = (uint64_t)(uintptr_t)(b);                     \
        __asm__ volatile(                                                                          \
            body ADX_FINISH_6                                                                      \
            : [t0] "=&r"(t0_), [t1] "=&r"(t1_), [t2] "=&r"(t2_), [t3] "=&r"(t3_), [t4] "=&r"(t4_), \
              [t5] "=&r"(t5_), [t6] "=&r"(t6_), [lo] "=&r"(lo_), [hi] "=&r"(hi_),                  \
              "=&d"(d_), [a] "+&r"(a_), [b] "+&r"(b_)                                              \
            : [p] "r"(p)                                                                           \
            : "cc", "memory");                                                                     \
        (r)[0] = lo_, (r)[1] = hi_, (r)[2] = d_, (r)[3] = t5_, (r)[4] = a_, (r)[5] = b_;           \
    } while (0)

/* r = a b / R. b may be any integer below R. */
static inline void adx_mul_4(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    ADX_RUN_4(r, a, b, p,
              ADX_SET_4("0(%[a])", "0(%[b])", ADX_T4_0) ADX_REDUCE_4(ADX_T4_0)
                  ADX_NEW_4("0(%[a])", "8(%[b])", ADX_T4_1) ADX_REDUCE_4(ADX_T4_1)
                      ADX_NEW_4("0(%[a])", "16(%[b])", ADX_T4_2) ADX_REDUCE_4(ADX_T4_2)
                          ADX_NEW_4("0(%[a])", "24(%[b])", ADX_T4_3) ADX_REDUCE_4(ADX_T4_3));
}

static inline void adx_mul_6(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    ADX_RUN_6(r, a, b, p,
              ADX_SET_6("0(%[a])", "0(%[b])", ADX_T6_0) ADX_REDUCE_6(ADX_T6_0)
                  ADX_NEW_6("0(%[a])", "8(%[b])", ADX_T6_1) ADX_REDUCE_6(ADX_T6_1)
                      ADX_NEW_6("0(%[a])", "16(%[b])", ADX_T6_2) ADX_REDUCE_6(ADX_T6_2)
                          ADX_NEW_6("0(%[a])", "24(%[b])", ADX_T6_3) ADX_REDUCE_6(ADX_T6_3)
                              ADX_NEW_6("0(%[a])", "32(%[b])", ADX_T6_4) ADX_REDUCE_6(ADX_T6_4)
                                  ADX_NEW_6("0(%[a])", "40(%[b])", ADX_T6_5)
                                      ADX_REDUCE_6(ADX_T6_5));
}

/* One row of a[0] b[i] + a[1] b[i + s] where the second operands are s bytes apart. */
#define ADX_PAIR_4(first, y0, y1, t)                                                               \
    first("0(%[a])", y0, t) ADX_ADD_4("32(%[a])", y1, t) ADX_REDUCE_4(t)
#define ADX_PAIR_6(first, y0, y1, t)                                                               \
    first("0(%[a])", y0, t) ADX_ADD_6("48(%[a])", y1, t) ADX_REDUCE_6(t)

/* r = (a[0] b[0] + a[1] b[1]) / R: two elements each, one after the other. */
static inline void adx_dot_4(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    ADX_RUN_4(r, a, b, p,
              ADX_PAIR_4(ADX_SET_4, "0(%[b])", "32(%[b])", ADX_T4_0)
                  ADX_PAIR_4(ADX_NEW_4, "8(%[b])", "40(%[b])", ADX_T4_1)
                      ADX_PAIR_4(ADX_NEW_4, "16(%[b])", "48(%[b])", ADX_T4_2)
                          ADX_PAIR_4(ADX_NEW_4, "24(%[b])", "56(%[b])", ADX_T4_3));
}

static inline void adx_dot_6(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    ADX_RUN_6(r, a, b, p,
              ADX_PAIR_6(ADX_SET_6, "0(%[b])", "48(%[b])", ADX_T6_0)
                  ADX_PAIR_6(ADX_NEW_6, "8(%[b])", "56(%[b])", ADX_T6_1)
                      ADX_PAIR_6(ADX_NEW_6, "16(%[b])", "64(%[b])", ADX_T6_2)
                          ADX_PAIR_6(ADX_NEW_6, "24(%[b])", "72(%[b])", ADX_T6_3)
                              ADX_PAIR_6(ADX_NEW_6, "32(%[b])", "80(%[b])", ADX_T6_4)
                                  ADX_PAIR_6(ADX_NEW_6, "40(%[b])", "88(%[b])", ADX_T6_5));
}

/* r = (a[0] b[1] + a[1] b[0]) / R. */
static inline void adx_cross_4(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    ADX_RUN_4(r, a, b, p,
              ADX_PAIR_4(ADX_SET_4, "32(%[b])", "0(%[b])", ADX_T4_0)
                  ADX_PAIR_4(ADX_NEW_4, "40(%[b])", "8(%[b])", ADX_T4_1)
                      ADX_PAIR_4(ADX_NEW_4, "48(%[b])", "16(%[b])", ADX_T4_2)
                          ADX_PAIR_4(ADX_NEW_4, "56(%[b])", "24(%[b])", ADX_T4_3));
}

static inline void adx_cross_6(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    ADX_RUN_6(r, a, b, p,
              ADX_PAIR_6(ADX_SET_6, "48(%[b])", "0(%[b])", ADX_T6_0)
                  ADX_PAIR_6(ADX_NEW_6, "56(%[b])", "8(%[b])", ADX_T6_1)
                      ADX_PAIR_6(ADX_NEW_6, "64(%[b])", "16(%[b])", ADX_T6_2)
                          ADX_PAIR_6(ADX_NEW_6, "72(%[b])", "24(%[b])", ADX_T6_3)
                              ADX_PAIR_6(ADX_NEW_6, "80(%[b])", "32(%[b])", ADX_T6_4)
                                  ADX_PAIR_6(ADX_NEW_6, "88(%[b])", "40(%[b])", ADX_T6_5));
}

#endif
