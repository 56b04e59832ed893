/* The instructions that multi-precision arithmetic is made of: 32-bit sums and products that set
 * and use the carry flag. On the device they are PTX's, on the host the same thing with the flag in
 * a variable of the thread, so that what is written with them is tested where there is no device.
 *
 * Suffix _cc sets the flag; addc, subc and madc use it (subc as the borrow). A chain must not be
 * interrupted by another one. Adjacent mad_lo and mad_hi of the same operands become one IMAD.WIDE.
 */
#ifndef PINION_CUDA_CARRY_CUH
#define PINION_CUDA_CARRY_CUH

#include "gpud/cuda/params.cuh"

#ifdef __CUDA_ARCH__

#define CARRY_2(name, instruction, host)                                                           \
    INLINE uint32_t name(uint32_t a, uint32_t b)                                                   \
    {                                                                                              \
        uint32_t r;                                                                                \
        asm volatile(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                       \
        return r;                                                                                  \
    }
#define CARRY_3(name, instruction, host)                                                           \
    INLINE uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                       \
    {                                                                                              \
        uint32_t r;                                                                                \
        asm volatile(instruction " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));           \
        return r;                                                                                  \
    }

#else

inline thread_local uint32_t carry_flag = 0;

/* s = a sum, difference or product of 64 bits, sign included; set: its carry or borrow is kept. */
INLINE uint32_t carry_keep(uint64_t s, bool set)
{
    if (set)
        carry_flag = (uint32_t)(s >> 32) & 1;
    return (uint32_t)s;
}

INLINE uint64_t carry_low(uint32_t a, uint32_t b)
{
    return a * b;
}

INLINE uint64_t carry_high(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b >> 32;
}

#define CARRY_2(name, instruction, host)                                                           \
    INLINE uint32_t name(uint32_t a, uint32_t b)                                                   \
    {                                                                                              \
        return host;                                                                               \
    }
#define CARRY_3(name, instruction, host)                                                           \
    INLINE uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                       \
    {                                                                                              \
        return host;                                                                               \
    }

#endif

CARRY_2(add_cc, "add.cc.u32", carry_keep((uint64_t)a + b, true))
CARRY_2(addc_cc, "addc.cc.u32", carry_keep((uint64_t)a + b + carry_flag, true))
CARRY_2(addc, "addc.u32", carry_keep((uint64_t)a + b + carry_flag, false))
CARRY_2(sub_cc, "sub.cc.u32", carry_keep((uint64_t)a - b, true))
CARRY_2(subc_cc, "subc.cc.u32", carry_keep((uint64_t)a - b - carry_flag, true))
CARRY_2(subc, "subc.u32", carry_keep((uint64_t)a - b - carry_flag, false))
CARRY_3(mad_lo_cc, "mad.lo.cc.u32", carry_keep(carry_low(a, b) + c, true))
CARRY_3(madc_lo_cc, "madc.lo.cc.u32", carry_keep(carry_low(a, b) + c + carry_flag, true))
CARRY_3(madc_hi_cc, "madc.hi.cc.u32", carry_keep(carry_high(a, b) + c + carry_flag, true))
CARRY_3(madc_lo, "madc.lo.u32", carry_keep(carry_low(a, b) + c + carry_flag, false))
CARRY_3(madc_hi, "madc.hi.u32", carry_keep(carry_high(a, b) + c + carry_flag, false))

#undef CARRY_2
#undef CARRY_3

INLINE uint32_t mul_lo(uint32_t a, uint32_t b)
{
    return a * b;
}

INLINE uint32_t mul_hi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

#endif
