/* Sums and differences modulo p on 4 and 6 limbs, without a branch, for x86-64.
 *
 * Compilers do not keep a chain of carries in the flags over that length and turn the last choice
 * into a branch that is taken at random; this is five instructions a limb. Requires p < R/2,
 * R = 2^(64 * LIMBS), and operands below p; so are results. Outputs may alias inputs.
 */
#ifndef PINION_FF_SUM_X86_H
#define PINION_FF_SUM_X86_H

#include <stdint.h>

#define SUM_MOVE(from, to) "mov " from ", " to "\n\t"
#define SUM_OP(op, from, to) op " " from ", " to "\n\t"

/* s = a op b, in the chain op, opc. */
#define SUM_CHAIN_4(op, opc)                                                                       \
    SUM_MOVE("0(%[a])", "%[s0]")                                                                   \
    SUM_MOVE("8(%[a])", "%[s1]")                                                                   \
    SUM_MOVE("16(%[a])", "%[s2]")                                                                  \
    SUM_MOVE("24(%[a])", "%[s3]")                                                                  \
    SUM_OP(op, "0(%[b])", "%[s0]")                                                                 \
    SUM_OP(opc, "8(%[b])", "%[s1]")                                                                \
    SUM_OP(opc, "16(%[b])", "%[s2]")                                                               \
    SUM_OP(opc, "24(%[b])", "%[s3]")
#define SUM_CHAIN_6(op, opc)                                                                       \
    SUM_MOVE("32(%[a])", "%[s4]")                                                                  \
    SUM_MOVE("40(%[a])", "%[s5]")                                                                  \
    SUM_CHAIN_4(op, opc)                                                                           \
    SUM_OP(opc, "32(%[b])", "%[s4]")                                                               \
    SUM_OP(opc, "40(%[b])", "%[s5]")

/* x = s - p, or s where that borrows. */
#define SUM_REDUCE_4                                                                               \
    SUM_MOVE("%[s0]", "%[x0]")                                                                     \
    SUM_MOVE("%[s1]", "%[x1]")                                                                     \
    SUM_MOVE("%[s2]", "%[x2]")                                                                     \
    SUM_MOVE("%[s3]", "%[x3]")                                                                     \
    SUM_OP("sub", "0(%[p])", "%[x0]")                                                              \
    SUM_OP("sbb", "8(%[p])", "%[x1]")                                                              \
    SUM_OP("sbb", "16(%[p])", "%[x2]")                                                             \
    SUM_OP("sbb", "24(%[p])", "%[x3]")
#define SUM_REDUCE_6                                                                               \
    SUM_MOVE("%[s4]", "%[a]")                                                                      \
    SUM_MOVE("%[s5]", "%[b]")                                                                      \
    SUM_REDUCE_4                                                                                   \
    SUM_OP("sbb", "32(%[p])", "%[a]")                                                              \
    SUM_OP("sbb", "40(%[p])", "%[b]")                                                              \
    SUM_OP("cmovc", "%[s4]", "%[a]")                                                               \
    SUM_OP("cmovc", "%[s5]", "%[b]")
#define SUM_KEEP_4                                                                                 \
    SUM_OP("cmovc", "%[s0]", "%[x0]")                                                              \
    SUM_OP("cmovc", "%[s1]", "%[x1]")                                                              \
    SUM_OP("cmovc", "%[s2]", "%[x2]")                                                              \
    SUM_OP("cmovc", "%[s3]", "%[x3]")

/* x = p on borrow, else 0; s += x. */
#define SUM_ZERO_4                                                                                 \
    SUM_MOVE("$0", "%k[x0]")                                                                       \
    SUM_MOVE("$0", "%k[x1]")                                                                       \
    SUM_MOVE("$0", "%k[x2]")                                                                       \
    SUM_MOVE("$0", "%k[x3]")                                                                       \
    SUM_OP("cmovc", "0(%[p])", "%[x0]")                                                            \
    SUM_OP("cmovc", "8(%[p])", "%[x1]")                                                            \
    SUM_OP("cmovc", "16(%[p])", "%[x2]")                                                           \
    SUM_OP("cmovc", "24(%[p])", "%[x3]")
#define SUM_ZERO_6                                                                                 \
    SUM_ZERO_4                                                                                     \
    SUM_MOVE("$0", "%k[a]")                                                                        \
    SUM_MOVE("$0", "%k[b]")                                                                        \
    SUM_OP("cmovc", "32(%[p])", "%[a]")                                                            \
    SUM_OP("cmovc", "40(%[p])", "%[b]")
#define SUM_BACK_4                                                                                 \
    SUM_OP("add", "%[x0]", "%[s0]")                                                                \
    SUM_OP("adc", "%[x1]", "%[s1]")                                                                \
    SUM_OP("adc", "%[x2]", "%[s2]")                                                                \
    SUM_OP("adc", "%[x3]", "%[s3]")
#define SUM_BACK_6                                                                                 \
    SUM_BACK_4                                                                                     \
    SUM_OP("adc", "%[a]", "%[s4]")                                                                 \
    SUM_OP("adc", "%[b]", "%[s5]")

/* Scalars, not arrays: the results would be stored by vector and the next operation's loads could
 * not be forwarded from that. Volatile and the clobber: see mul_adx.h. */
#define SUM_REGISTERS_4                                                                            \
    [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [x0] "=&r"(x0),                \
        [x1] "=&r"(x1), [x2] "=&r"(x2), [x3] "=&r"(x3)
#define SUM_REGISTERS_6                                                                            \
    SUM_REGISTERS_4, [s4] "=&r"(s4), [s5] "=&r"(s5), [a] "+&r"(a_), [b] "+&r"(b_)
#define SUM_RUN_4(r, a, b, p, out, body)                                                           \
    do {                                                                                           \
        uint64_t s0, s1, s2, s3, x0, x1, x2, x3;                                                   \
        __asm__ volatile(body:SUM_REGISTERS_4                                                      \
                         : [a] "r"(a), [b] "r"(b), [p] "r"(p)                                      \
                         : "cc", "memory");                                                        \
        (r)[0] = out##0, (r)[1] = out##1, (r)[2] = out##2, (r)[3] = out##3;                        \
    } while (0)
#define SUM_RUN_6(r, a, b, p, out, out4, out5, body)                                               \
    do {                                                                                           \
        uint64_t s0, s1, s2, s3, s4, s5, x0, x1, x2, x3;                                           \
        uint64_t a_ = (uint64_t)(uintptr_t)(a), b_ = (uint64_t)(uintptr_t)(b);                     \
        __asm__ volatile(body:SUM_REGISTERS_6 : [p] "r"(p) : "cc", "memory");                      \
        (r)[0] = out##0, (r)[1] = out##1, (r)[2] = out##2, (r)[3] = out##3;                        \
        (r)[4] = out4, (r)[5] = out5;                                                              \
    } while (0)

static inline void sum_add_4(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    SUM_RUN_4(r, a, b, p, x, SUM_CHAIN_4("add", "adc") SUM_REDUCE_4 SUM_KEEP_4);
}

static inline void sum_add_6(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    SUM_RUN_6(r, a, b, p, x, a_, b_, SUM_CHAIN_6("add", "adc") SUM_REDUCE_6 SUM_KEEP_4);
}

static inline void sum_sub_4(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    SUM_RUN_4(r, a, b, p, s, SUM_CHAIN_4("sub", "sbb") SUM_ZERO_4 SUM_BACK_4);
}

static inline void sum_sub_6(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    SUM_RUN_6(r, a, b, p, s, s4, s5, SUM_CHAIN_6("sub", "sbb") SUM_ZERO_6 SUM_BACK_6);
}

#endif
