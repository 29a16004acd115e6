/* SPDX-License-Identifier: MIT
 *
 * Plain HIP for device code, over portable.h, so that kernels compile as people write them, for AMD GPUs without ROCm
 * and for the CPU device. It is found before ROCm's header of this name. What it has:
 *
 *   what portable.h has; for `__global__` functions too that are not extern "C": their symbol is the plain name
 *   dim3, float2 float3 float4 and their like of all types, with make_float4 and operators
 *   warpSize, a constant; __shfl, __shfl_up, __shfl_down, __shfl_xor with a width, and the four with _sync;
 *   __ballot_sync, __any_sync, __all_sync, __activemask, __syncwarp, __lane_id
 *   extern __shared__ T name[], HIP_DYNAMIC_SHARED(T, name), __constant__ and __device__ variables
 *   atomics of any integer; atomicAdd, atomicMin, atomicMax, atomicExch, atomicCAS of float and double; atomicInc and
 *   atomicDec
 *   min, max; the mathematical functions of hip_math.h; __popc, __clz, __ffs, __brev and their like; __ldg;
 *   __threadfence; clock64, wall_clock64; assert
 *
 * hip_fp16.h and hip_bf16.h have __half and __hip_bfloat16. A `__constant__` variable has the value of its initialiser,
 * as nobody copies to it.
 *
 * Not here, with an error that says what to write: host code, template kernels, printf, cooperative groups; and on the
 * CPU device instructions by name. Compiled for NVIDIA only through portable.h.
 */
#ifndef ROOFTILE_HIP_RUNTIME_H
#define ROOFTILE_HIP_RUNTIME_H

#if defined(__CUDACC__) || defined(__CUDA__)
#error "hip/hip_runtime.h is for AMD GPUs and the CPU device: for NVIDIA's GPUs include portable.h"
#endif
#if defined(ROOFTILE_PORTABLE_H) && !defined(__AMDGCN__)
#error "include hip/hip_runtime.h, which has all of portable.h, first or alone"
#endif

#if !defined(__AMDGCN__)
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#define SIMT_FILE_SCOPE
#define _GLIBCXX_IOSTREAM 1 /* <iostream> would ask for a C++ library at run time */
#define SIMT_OWN_FMA        /* the C library's */
#define __HIP__ 1
#define __HIP_DEVICE_COMPILE__ 1
#endif
#define __HIP_PLATFORM_AMD__ 1

#include "../portable.h"

/* ---- words of the language ---- */

#if defined(__AMDGCN__)
/* Launched by its name: see the head. */
#undef __global__
#define __global__ extern "C" __attribute__((global))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#else
#pragma clang diagnostic ignored "-Wignored-attributes" /* of a __device__ variable */
#define __global__ __attribute__((always_inline))
#define __host__
#define __constant__
#define __noinline__
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __managed__ __device__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define HIP_DYNAMIC_SHARED(type, name) DYNAMIC_SHARED(type, name);

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(simt_dim3 from) : x(from.x), y(from.y), z(from.z) {}
};

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

static constexpr int warpSize = ROOFTILE_WAVE;

#include "hip_vector_types.h"
#include "hip_math.h"

/* ---- waves ---- */

template <class type_t> __device__ type_t __shfl(type_t value, int lane, int width SIMT_SITE)
{
    const unsigned first = lane_id() & ~(static_cast<unsigned>(width) - 1);
    return simt_read_lane(value, first + (static_cast<unsigned>(lane) & (width - 1)) SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t __shfl_up(type_t value, unsigned delta, int width SIMT_SITE)
{
    const unsigned self = lane_id();
    return simt_read_lane(value, delta > (self & (width - 1)) ? self : self - delta SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t __shfl_down(type_t value, unsigned delta, int width SIMT_SITE)
{
    const unsigned self = lane_id(), left = static_cast<unsigned>(width) - (self & (width - 1));
    return simt_read_lane(value, delta >= left ? self : self + delta SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t __shfl_xor(type_t value, int mask, int width SIMT_SITE)
{
    const unsigned self = lane_id(), other = self ^ static_cast<unsigned>(mask);
    const unsigned end = (self & ~(static_cast<unsigned>(width) - 1)) + static_cast<unsigned>(width);
    return simt_read_lane(value, other >= end ? self : other SIMT_PASS_SITE);
}

/* Who takes part is known without the mask. */
template <class mask_t, class type_t>
__device__ type_t __shfl_sync(mask_t, type_t value, int lane, int width = warpSize SIMT_SITE)
{
    return __shfl(value, lane, width SIMT_PASS_SITE);
}

template <class mask_t, class type_t>
__device__ type_t __shfl_up_sync(mask_t, type_t value, unsigned delta, int width = warpSize SIMT_SITE)
{
    return __shfl_up(value, delta, width SIMT_PASS_SITE);
}

template <class mask_t, class type_t>
__device__ type_t __shfl_down_sync(mask_t, type_t value, unsigned delta, int width = warpSize SIMT_SITE)
{
    return __shfl_down(value, delta, width SIMT_PASS_SITE);
}

template <class mask_t, class type_t>
__device__ type_t __shfl_xor_sync(mask_t, type_t value, int mask, int width = warpSize SIMT_SITE)
{
    return __shfl_xor(value, mask, width SIMT_PASS_SITE);
}

template <class mask_t> __device__ unsigned long long __ballot_sync(mask_t, bool predicate SIMT_SITE)
{
    return __ballot(predicate SIMT_PASS_SITE);
}

template <class mask_t> __device__ bool __any_sync(mask_t, bool predicate SIMT_SITE)
{
    return __any(predicate SIMT_PASS_SITE);
}

template <class mask_t> __device__ bool __all_sync(mask_t, bool predicate SIMT_SITE)
{
    return __all(predicate SIMT_PASS_SITE);
}

#if defined(__AMDGCN__)
#define SIMT_ONLY_SITE
#define SIMT_PASS_ONLY
#else
#define SIMT_ONLY_SITE simt_place simt_at = SIMT_HERE
#define SIMT_PASS_ONLY , simt_at
#endif

__device__ static inline unsigned long long __activemask(SIMT_ONLY_SITE)
{
    return __ballot(true SIMT_PASS_ONLY);
}

__device__ static inline void __syncwarp(unsigned long long = 0 SIMT_SITE)
{
    __ballot(true SIMT_PASS_SITE);
    memory_fence_compiler();
}

__device__ static inline unsigned __lane_id()
{
    return lane_id();
}

/* ---- atomics that portable.h lacks ---- */

template <size_t bytes> struct simt_bits_of {
    typedef uint32_t type;
};
template <> struct simt_bits_of<8> {
    typedef uint64_t type;
};

/* Any function of the old value; floating point as its bits. */
template <class type_t, class function_t> __device__ static type_t simt_atomic_change(type_t *at, function_t change)
{
    typedef typename simt_bits_of<sizeof(type_t)>::type bits_t;
    bits_t *const word = reinterpret_cast<bits_t *>(at);
    bits_t seen = *word;
    for (;;) {
        const bits_t was = atomicCAS(word, seen, __builtin_bit_cast(bits_t, change(__builtin_bit_cast(type_t, seen))));
        if (was == seen)
            return __builtin_bit_cast(type_t, seen);
        seen = was;
    }
}

#define SIMT_ATOMICS(type_t)                                                                                           \
    __device__ static inline type_t atomicMin(type_t *at, type_t value)                                                \
    {                                                                                                                  \
        return simt_atomic_change(at, [value](type_t old) { return value < old ? value : old; });                      \
    }                                                                                                                  \
    __device__ static inline type_t atomicMax(type_t *at, type_t value)                                                \
    {                                                                                                                  \
        return simt_atomic_change(at, [value](type_t old) { return value > old ? value : old; });                      \
    }                                                                                                                  \
    __device__ static inline type_t atomicExch(type_t *at, type_t value)                                               \
    {                                                                                                                  \
        return simt_atomic_change(at, [value](type_t) { return value; });                                              \
    }
SIMT_ATOMICS(float)
SIMT_ATOMICS(double)
#undef SIMT_ATOMICS

__device__ static inline unsigned atomicInc(unsigned *at, unsigned last)
{
    return simt_atomic_change(at, [last](unsigned old) { return old >= last ? 0u : old + 1; });
}

__device__ static inline unsigned atomicDec(unsigned *at, unsigned last)
{
    return simt_atomic_change(at, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

/* ---- order, clocks ---- */

#if defined(__AMDGCN__)
#define SIMT_FENCE(scope) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, scope)
#else
#define SIMT_FENCE(scope) __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

__device__ static inline void __threadfence_block()
{
    SIMT_FENCE("workgroup");
}

__device__ static inline void __threadfence()
{
    SIMT_FENCE("agent");
}

__device__ static inline void __threadfence_system()
{
    SIMT_FENCE("");
}

__device__ static inline long long clock64()
{
    return static_cast<long long>(read_cycles());
}

__device__ static inline long long wall_clock64()
{
    return static_cast<long long>(read_realtime());
}

template <class type_t> __device__ static type_t __ldg(const type_t *at)
{
    return *at;
}

/* ---- what is not there ---- */

#define SIMT_LEAVE_OUT                                                                                                 \
    "rooftile compiles kernels alone and launches them itself: put host code into another file, or between "           \
    "#ifndef __HIP_DEVICE_COMPILE__ and #endif"
#define SIMT_HOST_CALL(name)                                                                                           \
    template <class... any_t> int name(any_t &&...) __attribute__((unavailable(SIMT_LEAVE_OUT)));
SIMT_HOST_CALL(hipMalloc)
SIMT_HOST_CALL(hipMallocManaged)
SIMT_HOST_CALL(hipHostMalloc)
SIMT_HOST_CALL(hipFree)
SIMT_HOST_CALL(hipMemcpy)
SIMT_HOST_CALL(hipMemset)
SIMT_HOST_CALL(hipSetDevice)
SIMT_HOST_CALL(hipDeviceSynchronize)
SIMT_HOST_CALL(hipGetLastError)
SIMT_HOST_CALL(hipLaunchKernelGGL)
#undef SIMT_HOST_CALL
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice };
enum hipError_t { hipSuccess };
typedef struct ihipStream_t *hipStream_t;

#if defined(__AMDGCN__)
__device__ int printf(const char *, ...)
    __attribute__((unavailable("printf needs a host that listens: store what is to be seen in a buffer")));

/* <assert.h> calls it. */
__device__ static inline void __assert_fail(const char *, const char *, unsigned, const char *)
{
    __builtin_trap();
}
#endif

#endif
