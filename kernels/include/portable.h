/* SPDX-License-Identifier: MIT
 *
 * The header of kernels; tile.h adds matrix fragments; hip/hip_runtime.h is for sources that stay plain HIP, without
 * the limits of the CPU device below. The same .hip source is compiled
 *   for AMD GPUs by any clang that has the target (compiler builtins only, no ROCm needed):
 *       clang++ -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc --offload-arch=gfx942 -O3
 *               -std=c++17 -I kernels/include -DT=float -o stream.hsaco stream.hip
 *   for NVIDIA GPUs by nvcc:
 *       nvcc -x cu -cubin -arch=sm_90a -O3 -std=c++17 -I kernels/include -DT=float -o stream.cubin stream.hip
 *     or, without a CUDA toolkit, by clang 19 and later to PTX, which the driver of the GPU compiles:
 *       clang++ -x cuda --cuda-device-only -nocudainc -nocudalib -S --cuda-gpu-arch=sm_90a -O3 -std=c++17
 *               -I kernels/include -DT=float -o stream.ptx stream.hip
 *   for the CPU device through cpu_unit.cpp, whose head has the command.
 *
 * HIP's names mean what they mean in HIP, the others the same on every device. C++17, no standard headers, no
 * exceptions, no run-time initialisers. On the CPU a source file is the body of a class. So outside of functions a
 * source may have kernels, __device__ functions and function templates, types, enums, using, and `static constexpr`
 * scalars and arrays; no namespaces, no variables, no __shared__. __device__ functions are always inlined and do not
 * recurse; members of local structs cannot call them (pass values), lambdas can.
 *
 * Kernels
 *   extern "C" __global__ void f(T *a, uint64_t n) { ... }   parameters: plain pointers, scalars, vec types
 *   __launch_bounds__(256)          after __global__: at most 256 work-items in a workgroup; no effect on the CPU
 *   __launch_bounds__(256, 2)       and registers for at least 2 waves on each SIMD, as in HIP
 *   __device__ float g(float x)     a function that kernels call
 *   threadIdx blockIdx blockDim gridDim   with unsigned x, y, z; on the CPU, in a workgroup of one work-item, threadIdx
 *                                   and blockDim are constants
 *
 *   wave_size()     64 or 32, a constant expression (ROOFTILE_WAVE is the same as a macro)
 *   thread_id()     the work-item's linear number: (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x
 *   lane_id()       thread_id() % wave_size()
 *   wave_id()       thread_id() / wave_size()
 *
 * Memory of the workgroup (LDS); its content is undefined until written
 *   __shared__ float t[256];        inside a function, without an initialiser
 *   DYNAMIC_SHARED(float, t);       float *t: as many bytes as the launch asked for, aligned to 16
 *   __syncthreads()                 all work-items that have not returned; orders LDS and global memory
 *   lds_barrier()                   the same for LDS only: loads from memory may stay in flight across it
 *
 * Wave operations. Every lane of the wave that has not returned must take part; T is any type of 4 or 8 bytes. The
 * value of a lane that has returned is unspecified (poison on the CPU).
 *   __shfl(v, lane)                 v of lane `lane` modulo the wave
 *   __shfl_xor(v, mask)             v of lane_id() ^ mask
 *   __shfl_up(v, d) __shfl_down(v, d)   v of lane_id() - d, + d; the lane's own v where there is no such lane
 *   __ballot(p)                     uint64_t: bit i is set if lane i takes part and its p is true
 *   __any(p) __all(p)               bool, over the lanes that take part
 *   wave_reduce_add(v) wave_reduce_max(v) wave_reduce_min(v)
 *                                   over all lanes (none may have returned); the same bits in every lane, as it is a
 *                                   butterfly, widest step first
 *   wave_prefix_add(v)              over the lanes up to this one, of waves that are whole
 *  and for values of 4 bytes
 *   row_rotate(v)                   within each 16 lanes, v of the lane before, cyclically: one DPP move on AMD
 *   row_permute(v, low, high)       v of lane (high:low >> 4 * (l % 16)) % 16 of the lane's own 16; low and high are
 *                                   equal in all lanes; on AMD from gfx10 on
 *   row_permute_other(v, low, high) the same from the other 16 of 32 lanes
 *   push_lane(v, lane)              sends v to lane `lane` modulo the wave, each to a different one: ds_permute on AMD
 *   xor_lane<mask>(v)               __shfl_xor by a constant below 32: ds_swizzle on AMD
 *
 * Vectors and memory access
 *   vec<T, N>::type                 N elements with element-wise operators and [i]; for N = 1 it is T itself
 *   select(m, a, b)                 per element a where m is true, else b; comparing vectors gives an m
 *   unaligned_vec<T, N, A>::type    a vec that is aligned to A bytes only, by default those of an element. NVIDIA
 *                                   cannot access less than an element at a time: an A below that is the whole vector
 *                                   there
 *   load_unaligned<T, N>(p) store_unaligned<T, N>(v, p)
 *                                   N elements at p, which is aligned to one. One access; on NVIDIA only if p happens
 *                                   to be aligned to all
 *   load_nt(p) store_nt(v, p)       non-temporal (streaming) access to scalars and vectors, p aligned to its type
 *   atomicAdd atomicSub atomicMin atomicMax atomicAnd atomicOr atomicXor atomicExch (p, v), atomicCAS(p, expected, v)
 *                                   relaxed, device scope, return the old value; int, unsigned, uint64_t; atomicAdd
 *                                   also float and double
 *
 * Arithmetic
 *   fma(a, b, c)                    a * b + c rounded once; float, double, and vectors of them
 *   fast_exp2 fast_exp fast_log2 fast_log fast_rsqrt fast_rcp fast_sqrt (x)
 *                                   float: the hardware's approximation, a few units in the last place; denormals may
 *                                   count as 0
 *   fast_sin_turns(x)               sin(2 pi x) for |x| < 256, with an absolute error of some 1e-6
 *   float16                         _Float16
 *   bit_mask(word, i)               all bits set if bit i of the word is, else none; i < 32
 *   permute_bytes(high, low, s)     a word whose bytes are named by those of s: 0 to 3 of low, 4 to 7 of high, 12 is
 *                                   zero
 *
 * Dot products of packed words: acc + a . b for each 32-bit word. a and b are one register: uint32_t on a GPU, a vec of
 * uint32_t of 16, 32 or 64 bytes on the CPU. Without the fact that is named (a manifest's `require`) they do not
 * compile.
 *   dot_i8(acc, a, b)               four bytes, device.i8_dot; acc has the type of a and wraps. The bytes of a are 0 to
 *                                   127: AMD takes them as signed, AVX-512 VNNI as unsigned
 *   dot_bf16(acc, a, b)             two bfloat16, device.bf16_dot; acc is float, or one float per word of a. Products
 *                                   are exact, each addition may round, denormals count as 0
 *   dot_i4(acc, a, b)               eight signed numbers of 4 bits; otherwise as dot_i8, also device.i8_dot
 *   dot_f16(acc, a, b)              two f16; otherwise as dot_bf16, but device.i8_dot: AMD targets have all of these or
 *                                   none. A CPU takes dot_i4 and dot_f16 apart: right, but no measure of speed
 *
 * Clocks
 *   read_cycles()                   uint64_t: shader clocks on a GPU, ticks of the time stamp counter on the CPU
 *                                   (constant rate, not core clocks)
 *   cycle_counter_bits()            how many bits read_cycles() counts before it wraps: 20 on gfx11; a constant
 *                                   expression
 *   read_realtime()                 uint64_t at a constant rate: 100 MHz on AMD, nanoseconds on NVIDIA, on the CPU the
 *                                   time stamp counter
 *
 * Talking to the host while the kernel runs, through pinned memory; 4 or 8 bytes
 *   load_host(p)                    what the host wrote last
 *   store_host(p, v)                at once visible to the host, after all earlier stores of this work-item
 *   nap()                           waits a few microseconds (AMD: 4 us at 2 GHz) and lets others run
 *
 * Benchmarks against the optimiser
 *   keep(v)                         counts as a use of v, so what computed it stays. In a loop over work-items on the
 *                                   CPU it stops vectorisation: use a vec and one keep at the end
 *   opaque(v)                       v, but unknown to the compiler: stops hoisting and folding. Scalars and pointers
 *   opaque_uniform(v)               the same for a value that is equal in all lanes (in a scalar register on AMD)
 *   memory_fence_compiler()         tells the compiler that memory may have changed here: later reads stay reads
 *   schedule_fence()                what comes before it is issued first, as far as the compiler decides
 *   UNROLL                          #pragma unroll for use in a macro
 *
 * Implemented by simt_amd.h, simt_nvidia.h and simt_cpu.h, with simt_common.h for what is the same on all.
 */
#ifndef ROOFTILE_PORTABLE_H
#define ROOFTILE_PORTABLE_H

#include "isolate.h"

/* nvcc defines this itself; clang does in its own CUDA header, which is not included. __NVCC__ tells the two apart. */
#if defined(__CUDA__) && !defined(__CUDACC__)
#define __CUDACC__ 1
#endif

/* Names in these headers are lower case or begin with SIMT_: a manifest may define T, N, VEC, TILE and the like. */
#define UNROLL _Pragma("unroll")

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;
#if !defined(__NVCC__) && (defined(__AMDGCN__) || defined(__FLT16_MANT_DIG__))
typedef _Float16 float16;
#endif

struct simt_dim3 {
    unsigned x, y, z;
};

/* The type itself, for a parameter whose argument does not decide it. */
template <class type_t> struct simt_identity {
    typedef type_t type;
};
template <class type_t> using simt_same = typename simt_identity<type_t>::type;

#if !defined(__NVCC__)
/* N elements of T in one register (or as many as they take). */
template <class element_t, int count> struct vec {
    typedef element_t type __attribute__((ext_vector_type(count)));
};
template <class element_t> struct vec<element_t, 1> {
    typedef element_t type;
};
/* A vector of one element too, and aligned to its elements alone. */
template <class element_t, int count> struct simt_vec_of {
    typedef element_t type __attribute__((ext_vector_type(count)));
};
#if !defined(__CUDACC__)
template <class element_t, int count, int alignment = sizeof(element_t)> struct unaligned_vec {
    typedef element_t type __attribute__((ext_vector_type(count), aligned(alignment)));
};
#endif
#endif

#if defined(__CUDACC__)
#include "simt_nvidia.h"
#elif defined(__AMDGCN__)
#include "simt_amd.h"
#elif defined(ROOFTILE_SOURCE)
#include "simt_cpu.h"
#else
#error "compile kernels for a GPU with --cuda-device-only or nvcc -cubin, for the CPU device through cpu_unit.cpp"
#endif

#endif
