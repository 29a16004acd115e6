/* SPDX-License-Identifier: MIT
 *
 * The header of every kernel; tile.h adds matrix fragments. The same .hip source is built
 *   for an AMD GPU by any clang that has the target (no ROCm needed, compiler builtins only):
 *       clang++ -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc --offload-arch=gfx942 -O3 -std=c++17
 *               -I kernels/include -DT=float -o stream.hsaco stream.hip
 *   for an NVIDIA GPU by nvcc: nvcc -x cu -cubin -arch=sm_90a -O3 -std=c++17 -I kernels/include -DT=float -o stream.cubin stream.hip
 *       or by clang 19 and later, as PTX, which the driver of the GPU compiles (no CUDA toolkit needed):
 *       clang++ -x cuda --cuda-device-only -nocudainc -nocudalib -S --cuda-gpu-arch=sm_90a -O3 -std=c++17 ... -o stream.ptx stream.hip
 *   for the CPU device through cpu_unit.cpp, whose head has the command.
 *
 * Every name below means the same on each of them. C++17, no standard headers, no exceptions, no run-time initialisers.
 * On the CPU a source file is the body of a class. So, on every device, outside of functions a source may have:
 *       kernels, __device__ functions and function templates, types, enums, using, `static constexpr` scalars and arrays.
 * No namespaces, no `extern`, no variables, no __shared__ outside of functions; __device__ functions are always inlined and
 * do not recurse; local structs are fine but cannot call __device__ functions from their own members (pass values).
 *
 * Definition and export
 *   KERNEL void f(T *a, uint64_t n) { ... }    a kernel: plain pointers and scalars (or vec types) as parameters
 *   KERNEL_EXPORT(f)                           after it, once; makes it visible to the driver
 *   KERNEL __launch_bounds__(256) void f(...)  promise: at most 256 work-items in a workgroup; no effect on the CPU
 *   KERNEL __launch_bounds__(256, 2) void f(...)  and registers for 2 waves on each SIMD, at least
 *   __device__ float g(float x) { ... }        a function that kernels call; may use every name of this header
 *
 * Where am I: unsigned x, y, z of
 *   threadIdx blockIdx blockDim gridDim        as in HIP
 *   wave_size()     64 or 32, a constant expression (ROOFTILE_WAVE is the same as a macro)
 *   lane_id()       0 .. wave_size() - 1: the work-item's linear number in its workgroup, modulo the wave
 *   wave_id()       its linear number divided by the wave
 *   thread_id()     its linear number (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x
 *
 * Memory of the workgroup (LDS); its content is undefined until written
 *   __shared__ float t[256];                   inside a function; no initialiser
 *   DYNAMIC_SHARED(float, t);                  float *t: as many bytes as the launch asked for, aligned to 16
 *   __syncthreads()                            every work-item that has not returned; orders LDS and global memory
 *   lds_barrier()                              the same for LDS alone: loads from memory may stay on the way
 *
 * Wave operations: every lane of the wave that has not returned must take part. T is any type of 4 or 8 bytes. Reading a
 * lane that has returned gives an unspecified value (poison on the CPU).
 *   __shfl(v, lane)       v of lane `lane` modulo the wave
 *   __shfl_xor(v, mask)   v of lane_id() ^ mask
 *   __shfl_up(v, d)       v of lane_id() - d; the own v below lane 0
 *   __shfl_down(v, d)     v of lane_id() + d; the own v beyond the last lane
 *   __ballot(p)           uint64_t: bit i = lane i takes part and its p is true
 *   __any(p) __all(p)     bool over the lanes that take part
 *   row_rotate(v)         v of the lane before within each 16 lanes, the last one's for the first; 4 bytes. One DPP move on AMD
 *   row_permute(v, low, high)        v of any lane of the own 16 lanes: lane l takes that of lane (high:low >> 4 * (l % 16)) % 16;
 *   row_permute_other(v, low, high)  of the other 16 of 32. Both 4 bytes, low and high equal in all lanes; on AMD gfx10 and newer
 *   push_lane(v, lane)    sends v to lane `lane` modulo the wave, each to another one; 4 bytes (ds_permute on AMD)
 *   xor_lane<mask>(v)     __shfl_xor by a constant below 32; 4 bytes (ds_swizzle on AMD)
 *   wave_reduce_add(v) wave_reduce_max(v) wave_reduce_min(v)
 *                         over all lanes (none may have returned), the same bits in every lane: butterfly, widest step first
 *
 * Vectors and memory access
 *   vec<T, N>::type       N elements with element-wise operators and [i]; N = 1 is T itself
 *   pick(m, a, b)         of each element a's where m's is true (comparing vectors gives one), else b's
 *   loose_vec<T, N>::type the same where only its elements are aligned (a third parameter: to so many bytes instead; NVIDIA
 *                         has no access that is aligned to less than an element: there such a one is to be aligned whole)
 *   load_loose<T, N>(p) store_loose<T, N>(v, p)   N elements from p, which is aligned to one: one access, but on NVIDIA, where it is
 *                         one if p happens to be aligned to all
 *   load_nt(p) store_nt(v, p)   non-temporal (streaming) access of scalars and vectors, p aligned to its type
 *   atomicAdd atomicSub atomicMin atomicMax atomicAnd atomicOr atomicXor atomicExch (p, v), atomicCAS(p, expected, v)
 *                         relaxed, device scope, return the old value; int, unsigned, uint64_t; atomicAdd also float, double
 *
 * Arithmetic on float
 *   fma(a, b, c)          a * b + c rounded once; float, double, and vectors of them
 *   fast_exp2 fast_exp fast_log2 fast_log fast_rsqrt fast_rcp fast_sqrt
 *                         the hardware's approximation, a few units in the last place; denormals may count as 0
 *   fast_sin_turns(x)     the sine of x whole turns, |x| < 256; the error is absolute, some 1e-6
 *   float16               _Float16
 *
 * Dot products of packed words: acc + a . b for each 32-bit word. r is one register: uint32_t on AMD, a vec of uint32_t of 16,
 * 32 or 64 bytes on the CPU. A manifest must require the fact that is named, or the source does not compile.
 *   dot_i8(acc, a, b)     four bytes of each word, device.i8_dot; acc is an r too and wraps. The bytes of a are 0 .. 127:
 *                         AMD takes them as signed, AVX-512 VNNI as unsigned
 *   dot_bf16(acc, a, b)   two bfloat16 of each word, device.bf16_dot; acc is float, or as many of them as a has words. Each
 *                         product is exact, each addition may round, denormals count as 0
 *   dot_i4(acc, a, b)     eight signed numbers of four bits of each word; otherwise as dot_i8. device.i8_dot: AMD targets have all of
 *   dot_f16(acc, a, b)    them or none. Two f16 of each word; otherwise as dot_bf16. A CPU has neither and does them in
 *                         parts: that proves results and says nothing about speed
 *
 * Bits and bytes
 *   bit_mask(word, number)   all bits if that bit of the word is set, else none; number < 32
 *   permute_bytes(high, low, selectors)   a word of four bytes, each named by a byte of selectors: 0 .. 3 of low, 4 .. 7 of high,
 *                         12 is zero
 *
 * Clocks
 *   read_cycles()         uint64_t: shader clocks on AMD (20 bits on gfx11, so only short differences), ticks of the time
 *                         stamp counter on the CPU (constant rate, not core clocks)
 *   read_realtime()       uint64_t at a constant rate: 100 MHz on AMD, the time stamp counter on the CPU
 *
 *   cycle_counter_bits()  how many bits of read_cycles() count before it starts again at 0; a constant expression
 *
 * Talking to the host while the kernel runs, through pinned memory
 *   load_host(p) store_host(p, v)   what the host wrote last, and for the host to see at once; 4 or 8 bytes. The store comes
 *                         after every earlier one of this work-item
 *   nap()                 waits a few microseconds (AMD: 4 us at 2 GHz) without keeping others from running
 *
 * Benchmarks against the optimiser
 *   keep(v)               v counts as used, so what computed it stays. In a loop over work-items on the CPU it stops
 *                         vectorisation of that loop: use a vec and one keep at the end
 *   opaque(v)             v, but the compiler must treat it as unknown: stops hoisting and folding. Scalars and pointers
 *   opaque_uniform(v)     the same for a value equal in all lanes (kept in a scalar register on AMD)
 *   memory_fence_compiler()  memory may have changed here as far as the compiler knows: re-reads stay re-reads
 *   schedule_fence()      what the source has before this is issued before what comes after, as far as the compiler knows how
 *   UNROLL  NO_UNROLL  UNROLL_BY(4)            before a loop
 *
 * What is underneath: simt_amd.h, simt_nvidia.h or simt_cpu.h, and simt_common.h for what is the same on all.
 */
#ifndef ROOFTILE_PORTABLE_H
#define ROOFTILE_PORTABLE_H

/* An NVIDIA GPU. nvcc says so by itself (and that it is nvcc by __NVCC__), clang in a header of its own that is not taken. */
#if defined(__CUDA__) && !defined(__CUDACC__)
#define __CUDACC__ 1
#endif

/* Names in these headers are lower case or begin with SIMT_: a manifest may define T, N, VEC, TILE and the like. */
#define UNROLL _Pragma("unroll")
#if defined(__NVCC__)
#define NO_UNROLL _Pragma("unroll 1")
#else
#define NO_UNROLL _Pragma("nounroll")
#endif
#define SIMT_PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(count) SIMT_PRAGMA(unroll count)

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
template <class element_t, int count, int alignment = sizeof(element_t)> struct loose_vec {
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
