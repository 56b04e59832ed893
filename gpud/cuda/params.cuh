/* The constants of common/ff/params.h as types, on 32-bit limbs, for the host and the device.
 *
 * Functions of an index, not arrays: in an unrolled loop each limb becomes an immediate operand. */
#ifndef PINION_CUDA_PARAMS_CUH
#define PINION_CUDA_PARAMS_CUH

#include <stdint.h>

#include "common/ff/params.h"

#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#define INLINE __host__ __device__ __forceinline__
#define OUTLINE __host__ __device__ __noinline__
#else
#define HOST_DEVICE
#define INLINE inline
#define OUTLINE
#endif
#if defined(__CUDA_ARCH__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#define PARAMS_LIST(name, ...)                                                                     \
    HOST_DEVICE static constexpr uint64_t name##64(int i)                                          \
    {                                                                                              \
        const uint64_t list[] = {__VA_ARGS__};                                                     \
        return list[i];                                                                            \
    }                                                                                              \
    HOST_DEVICE static constexpr uint32_t name(int i)                                              \
    {                                                                                              \
        return (uint32_t)(name##64(i / 2) >> (32 * (i % 2)));                                      \
    }

/* A prime field. BITS < 32 N: a sum of two elements fits. */
#define PARAMS_FIELD(type, prefix)                                                                 \
    struct type {                                                                                  \
        static constexpr int LIMBS64 = prefix##_LIMBS;                                             \
        static constexpr int N = 2 * prefix##_LIMBS;                                               \
        static constexpr int BITS = prefix##_BITS;                                                 \
        static constexpr uint64_t NEG_INV64 = prefix##_NEG_INV;                                    \
        static constexpr uint32_t NEG_INV = (uint32_t)prefix##_NEG_INV;                            \
        PARAMS_LIST(modulus, prefix##_MODULUS)                                                     \
        PARAMS_LIST(one, prefix##_ONE)                                                             \
        PARAMS_LIST(r2, prefix##_R2)                                                               \
        PARAMS_LIST(r3, prefix##_R3)                                                               \
    };

/* What a scalar field has besides: roots of unity. */
#define PARAMS_DOMAIN(type, prefix)                                                                \
    struct type {                                                                                  \
        static constexpr int TWO_ADICITY = prefix##_TWO_ADICITY;                                   \
        PARAMS_LIST(nonresidue, prefix##_NONRESIDUE)                                               \
        PARAMS_LIST(root_snarkjs, prefix##_ROOT_SNARKJS)                                           \
        PARAMS_LIST(root_bellman, prefix##_ROOT_BELLMAN)                                           \
    };

PARAMS_FIELD(params_fr_bn254, BN254_FR)
PARAMS_FIELD(params_fq_bn254, BN254_FQ)
PARAMS_FIELD(params_fr_bls12_381, BLS12_381_FR)
PARAMS_FIELD(params_fq_bls12_381, BLS12_381_FQ)
PARAMS_FIELD(params_fr_toy_bn, TOY_BN_FR)
PARAMS_FIELD(params_fq_toy_bn, TOY_BN_FQ)
PARAMS_FIELD(params_fr_toy_bls, TOY_BLS_FR)
PARAMS_FIELD(params_fq_toy_bls, TOY_BLS_FQ)

template <class P>
struct params_domain_of;

#define PARAMS_DOMAIN_OF(curve, prefix)                                                            \
    PARAMS_DOMAIN(params_domain_##curve, prefix)                                                   \
    template <>                                                                                    \
    struct params_domain_of<params_fr_##curve> {                                                   \
        using type = params_domain_##curve;                                                        \
    };

PARAMS_DOMAIN_OF(bn254, BN254_FR)
PARAMS_DOMAIN_OF(bls12_381, BLS12_381_FR)
PARAMS_DOMAIN_OF(toy_bn, TOY_BN_FR)
PARAMS_DOMAIN_OF(toy_bls, TOY_BLS_FR)

#undef PARAMS_DOMAIN_OF
#undef PARAMS_DOMAIN
#undef PARAMS_FIELD
#undef PARAMS_LIST

#endif
