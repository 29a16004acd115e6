/* SPDX-License-Identifier: MIT
 *
 * What nvcc alone needs of portable.h on NVIDIA GPUs: what it has by names in CUDA's headers, and what clang has and it
 * has not. Private: the contract is in portable.h.
 */
#ifndef ROOFTILE_SIMT_NVIDIA_NVCC_H
#define ROOFTILE_SIMT_NVIDIA_NVCC_H

/* Of CUDA's headers those that declare what the compiler knows by name, and nothing with templates: a manifest's T or N
 * would be replaced in them. For the same reason nvcc is told that it has its cuda_runtime.h already
 * (-D__CUDA_RUNTIME_H__). */
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#define __CUDA_DEVICE_RUNTIME_API_H__
#include "crt/host_defines.h"
#include "device_launch_parameters.h"
#include "device_atomic_functions.h"
#include "sm_20_atomic_functions.h"
#include "sm_32_atomic_functions.h"
#include "sm_60_atomic_functions.h"
#undef __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__

#include "simt_nvidia_vec.h"

#undef __launch_bounds__

/* clang's word for a vector, which nvcc would ignore and make one element of: this one it refuses in device code. */
#define ext_vector_type(count) vector_size(16)

/* The host compiler's, which device code may not call. */
__device__ static inline int simt_trailing_zeros(uint64_t bits)
{
    uint64_t reversed;
    int count;
    asm("brev.b64 %0, %1;" : "=l"(reversed) : "l"(bits));
    asm("clz.b64 %0, %1;" : "=r"(count) : "l"(reversed));
    return count;
}
#define __builtin_ctz(x) simt_trailing_zeros(x)
#define __builtin_ctzll(x) simt_trailing_zeros(x)

/* By its name nvcc knows what it is. */
extern "C" __device__ __device_builtin__ void __syncthreads();

/* CUDA names its types; ours of the same size are others (unsigned long). */
template <class type_t> struct simt_atomic_word {
    typedef type_t type;
};
template <> struct simt_atomic_word<unsigned long> {
    typedef unsigned long long type;
};
template <> struct simt_atomic_word<long> {
    typedef long long type;
};

#define SIMT_CUDA_ATOMIC(name, call)                                                                                   \
    template <class type_t, class... rest_t>                                                                           \
    __device__ static type_t simt_cuda_##name(type_t *at, type_t value, rest_t...)                                     \
    {                                                                                                                  \
        typedef typename simt_atomic_word<type_t>::type word_t;                                                        \
        return static_cast<type_t>(call(reinterpret_cast<word_t *>(at), static_cast<word_t>(value)));                  \
    }
SIMT_CUDA_ATOMIC(fetch_add, ::atomicAdd)
SIMT_CUDA_ATOMIC(fetch_add_system, ::atomicAdd_system)
SIMT_CUDA_ATOMIC(fetch_min, ::atomicMin)
SIMT_CUDA_ATOMIC(fetch_max, ::atomicMax)
SIMT_CUDA_ATOMIC(fetch_and, ::atomicAnd)
SIMT_CUDA_ATOMIC(fetch_or, ::atomicOr)
SIMT_CUDA_ATOMIC(fetch_xor, ::atomicXor)
SIMT_CUDA_ATOMIC(exchange, ::atomicExch)

template <class type_t> __device__ static type_t simt_fetch_add(type_t *at, type_t value)
{
    return simt_cuda_fetch_add(at, value);
}

template <class type_t> __device__ static type_t simt_cuda_swap(type_t *at, type_t expected, type_t value)
{
    typedef typename simt_atomic_word<type_t>::type word_t;
    return static_cast<type_t>(
        ::atomicCAS(reinterpret_cast<word_t *>(at), static_cast<word_t>(expected), static_cast<word_t>(value)));
}

template <class type_t> __device__ static type_t simt_cuda_swap_system(type_t *at, type_t expected, type_t value)
{
    typedef typename simt_atomic_word<type_t>::type word_t;
    return static_cast<type_t>(
        ::atomicCAS_system(reinterpret_cast<word_t *>(at), static_cast<word_t>(expected), static_cast<word_t>(value)));
}
#define SIMT_ATOMIC(operation) simt_cuda_##operation
#define SIMT_EXCHANGE simt_cuda_exchange
#define SIMT_COMPARE_EXCHANGE(at, expected, value, order) (*(expected) = simt_cuda_swap(at, *(expected), value))
#define SIMT_RELAXED 0

/* CUDA's headers have these names for other types. */
#define atomicAdd simt_atomic_add
#define atomicSub simt_atomic_sub
#define atomicMin simt_atomic_min
#define atomicMax simt_atomic_max
#define atomicAnd simt_atomic_and
#define atomicOr simt_atomic_or
#define atomicXor simt_atomic_xor
#define atomicExch simt_atomic_exchange
#define atomicCAS simt_atomic_compare_exchange

__device__ static inline float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

__device__ static inline double fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

__device__ static inline float16 fma(float16 a, float16 b, float16 c)
{
    float16 result;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return result;
}

template <class element_t, int count, int alignment>
__device__ static simt_vec<element_t, count, alignment> fma(simt_vec<element_t, count, alignment> a,
    simt_vec<element_t, count, alignment> b, simt_vec<element_t, count, alignment> c)
{
    simt_vec<element_t, count, alignment> result;
    if constexpr (simt_is_half<element_t>::value && count % 2 == 0) {
        uint32_t words[3][count / 2];
        __builtin_memcpy(words[0], a.at, sizeof(words[0]));
        __builtin_memcpy(words[1], b.at, sizeof(words[1]));
        __builtin_memcpy(words[2], c.at, sizeof(words[2]));
#pragma unroll
        for (int w = 0; w < count / 2; ++w)
            asm("fma.rn.f16x2 %0, %1, %2, %3;"
                : "=r"(words[0][w])
                : "r"(words[0][w]), "r"(words[1][w]), "r"(words[2][w]));
        __builtin_memcpy(result.at, words[0], sizeof(words[0]));
    } else {
#pragma unroll
        for (int e = 0; e < count; ++e) {
            if constexpr (simt_is_whole<element_t>::value)
                result.at[e] = static_cast<element_t>(a.at[e] * b.at[e] + c.at[e]);
            else
                result.at[e] = fma(a.at[e], b.at[e], c.at[e]);
        }
    }
    return result;
}

#define SIMT_OWN_FMA

#endif
