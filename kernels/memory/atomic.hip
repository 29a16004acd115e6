/* SPDX-License-Identifier: MIT
 *
 * Atomic operations: how many a device completes, by operation, type, and how the lanes share addresses. Work-item t
 * works on counter t % counters, `spacing` elements from the next counter, `iterations` times:
 *     counters 1                     all on one address
 *     counters 32, spacing 1         all on one line (of 128 bytes, for counters of 4 bytes)
 *     counters many, spacing 1       adjacent lanes on adjacent words
 *     counters many, spacing 32      every lane on its own line
 *
 * In memory only every `every`-th workgroup works. The hardware gives workgroups to the XCCs of a device in turn: with
 * every = the number of XCCs those that work share one, and with 1 the counters travel between all.
 *
 * No operation returns anything, as in counting and scattering. The counters end with known values, whatever the order:
 *     ADD   adds 1
 *     MAX   offers t plus the iteration
 *     CAS   iteration k makes k + 1 of k. A work-item in iteration k finds k, and changes it, or more: so all end
 *           with `iterations`, without the retries of a loop, whose number would not be known
 *
 * clang uses the hardware's operations on floats only where they are right for every kind of memory, including host
 * memory, and otherwise makes a loop of compare-and-swap. These counters are in device memory, where the instruction is
 * right, so on AMD it is named here; the manifest knows which targets have it. The CPU has none and swaps.
 *
 * There is no maximum of system scope: PCIe has none, so the compiler would make a loop of swaps.
 *
 * Defines: T the counter's type, _Float16 for a packed pair; OP; SCOPE 0 = the device, 1 = the whole system; LDS 1 =
 * counters in LDS, one set per workgroup, copied out at the end; BLOCK work-items.
 */
#include "portable.h"

enum { ADD, MAX, CAS };

template <class number_t> struct counter_of {
    typedef number_t type;
};
template <> struct counter_of<float16> {
    typedef vec<float16, 2>::type type;
};
typedef typename counter_of<T>::type counter;

static constexpr bool WHOLE = __is_same(T, uint32_t) || __is_same(T, uint64_t);

#if defined(__AMDGCN__)

#if defined(__GFX12__)
#define SCOPE_WORDS " scope:SCOPE_DEV", " scope:SCOPE_SYS"
#define MAX_WORD "max_num"
#elif defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
#define SCOPE_WORDS "", " sc1"
#define MAX_WORD "max"
#else
#define SCOPE_WORDS "", ""
#define MAX_WORD "max"
#endif
#if defined(__GFX10__)
#define MEMORY_MAX_32 "global_atomic_fmax"
#define MEMORY_MAX_64 "global_atomic_fmax_x2"
#else
#define MEMORY_MAX_32 "global_atomic_" MAX_WORD "_f32"
#define MEMORY_MAX_64 "global_atomic_" MAX_WORD "_f64"
#endif

#define IN_MEMORY_SCOPED(name, device, system)                                                                         \
    if constexpr (SCOPE)                                                                                               \
        asm volatile(name " %0, %1, off" system ::"v"(at), "v"(value) : "memory");                                     \
    else                                                                                                               \
        asm volatile(name " %0, %1, off" device ::"v"(at), "v"(value) : "memory")
#define IN_MEMORY_WORDS(name, words) IN_MEMORY_SCOPED(name, words)
#define IN_MEMORY(name) IN_MEMORY_WORDS(name, SCOPE_WORDS)
#define IN_LDS(name)                                                                                                   \
    asm volatile(name " %0, %1" ::"v"((__attribute__((address_space(3))) counter *)at), "v"(value) : "memory")

/* Each branch is compiled only for its type, so only on targets where the manifest allows that type. */
__device__ static void on_float(counter *at, counter value)
{
    if constexpr (OP == ADD && LDS) {
        if constexpr (__is_same(T, float16))
            IN_LDS("ds_pk_add_f16");
        else if constexpr (sizeof(T) == 4)
            IN_LDS("ds_add_f32");
        else
            IN_LDS("ds_add_f64");
    } else if constexpr (OP == ADD) {
        if constexpr (__is_same(T, float16)) {
            IN_MEMORY("global_atomic_pk_add_f16");
        } else if constexpr (sizeof(T) == 4) {
            IN_MEMORY("global_atomic_add_f32");
        } else {
            IN_MEMORY("global_atomic_add_f64");
        }
    } else if constexpr (LDS) {
        if constexpr (sizeof(T) == 4)
            IN_LDS("ds_" MAX_WORD "_f32");
        else
            IN_LDS("ds_" MAX_WORD "_f64");
    } else if constexpr (sizeof(T) == 4) {
        IN_MEMORY(MEMORY_MAX_32);
    } else {
        IN_MEMORY(MEMORY_MAX_64);
    }
}

/* The compiler does not track memory operations issued by inline assembly. */
__device__ static void wait_for_lds()
{
    if constexpr (!WHOLE && LDS) {
#if defined(__GFX12__)
        asm volatile("s_wait_dscnt 0x0" ::: "memory");
#else
        asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
#endif
    }
}

template <class whole_t> __device__ static void on_integer(whole_t *at, whole_t value, whole_t expected)
{
    if constexpr (OP == ADD && SCOPE)
        __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    else if constexpr (OP == ADD)
        atomicAdd(at, value);
    else if constexpr (OP == MAX)
        atomicMax(at, value);
    else if constexpr (SCOPE)
        __hip_atomic_compare_exchange_strong(
            at, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    else
        atomicCAS(at, expected, value);
}

#elif defined(__CUDACC__)

#define IN_MEMORY(type, registers, bits)                                                                               \
    if constexpr (SCOPE)                                                                                               \
        asm volatile("red.relaxed.sys.global.add." type " [%0], %1;" ::"l"(at), registers(bits) : "memory");           \
    else                                                                                                               \
        asm volatile("red.relaxed.gpu.global.add." type " [%0], %1;" ::"l"(at), registers(bits) : "memory")

/* Additions in memory only: there are no other instructions, and manifests allow nothing else. */
template <class counter_t> __device__ static void on_float(counter_t *at, counter_t value)
{
    static_assert(OP == ADD && !LDS, "the device has no such instruction");
    if constexpr (__is_same(counter_t, vec<float16, 2>::type)) {
        IN_MEMORY("noftz.f16x2", "r", __builtin_bit_cast(uint32_t, value));
    } else if constexpr (sizeof(counter_t) == 4) {
        IN_MEMORY("f32", "f", value);
    } else {
        IN_MEMORY("f64", "d", value);
    }
}

__device__ static void wait_for_lds() {}

template <class whole_t> __device__ static void on_integer(whole_t *at, whole_t value, whole_t expected)
{
    if constexpr (OP == ADD && SCOPE)
        simt_cuda_fetch_add_system(at, value);
    else if constexpr (OP == ADD)
        atomicAdd(at, value);
    else if constexpr (OP == MAX)
        atomicMax(at, value);
    else if constexpr (SCOPE)
        simt_cuda_swap_system(at, expected, value);
    else
        atomicCAS(at, expected, value);
}

#else

/* The CPU has one scope. */
template <class bits_t> __device__ static void swap_in(counter *at, counter value, bits_t *bits)
{
    bits_t seen = *bits;
    for (;;) {
        const counter old = __builtin_bit_cast(counter, seen);
        counter next = old + value;
        if constexpr (OP == MAX && !__is_same(T, float16))
            next = old < value ? value : old;
        const bits_t found = atomicCAS(bits, seen, __builtin_bit_cast(bits_t, next));
        if (found == seen)
            return;
        seen = found;
    }
}

__device__ static void on_float(counter *at, counter value)
{
    if constexpr (sizeof(counter) == 4)
        swap_in(at, value, reinterpret_cast<uint32_t *>(at));
    else
        swap_in(at, value, reinterpret_cast<uint64_t *>(at));
}

__device__ static void wait_for_lds() {}

template <class whole_t> __device__ static void on_integer(whole_t *at, whole_t value, whole_t expected)
{
    if constexpr (OP == ADD)
        atomicAdd(at, value);
    else if constexpr (OP == MAX)
        atomicMax(at, value);
    else
        atomicCAS(at, expected, value);
}

#endif

/* A template, so that only the branch for this type is compiled. */
template <class counter_t> __device__ static void once(counter_t *at, unsigned iteration, unsigned self)
{
    if constexpr (!WHOLE)
        on_float(at, static_cast<counter_t>(static_cast<T>(OP == ADD ? 1 : self + iteration)));
    else if constexpr (OP == ADD)
        on_integer<counter_t>(at, 1, 0);
    else if constexpr (OP == MAX)
        on_integer<counter_t>(at, self + iteration, 0);
    else
        on_integer<counter_t>(at, iteration + 1, iteration);
}

/* Unrolled by four, to make the loop counter cheap. */
__device__ static void repeat(counter *at, unsigned iterations, unsigned self)
{
    unsigned k = 0;
#pragma unroll 1
    for (; k + 4 <= iterations; k += 4) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j)
            once(at, k + j, self);
    }

#pragma unroll 1
    for (; k < iterations; ++k)
        once(at, k, self);
}

/* Only one of the two is compiled: the target may lack the other's instruction. */
#if !LDS
extern "C" __global__ __launch_bounds__(BLOCK) void atomic_global(
    counter *__restrict out, uint32_t counters, uint32_t spacing, uint32_t iterations, uint32_t every)
{
    if (blockIdx.x % every)
        return;
    const unsigned self = blockIdx.x / every * BLOCK + threadIdx.x;
    counter *const at = out + static_cast<uint64_t>(self % counters) * spacing;
    repeat(at, iterations, self);
}
#else

extern "C" __global__ __launch_bounds__(BLOCK) void atomic_lds(
    counter *__restrict out, uint32_t counters, uint32_t spacing, uint32_t iterations)
{
    DYNAMIC_SHARED(counter, area);
    const unsigned words = counters * spacing;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < words; i += BLOCK)
        area[i] = 0;
    __syncthreads();
    counter *const at = area + threadIdx.x % counters * spacing;
    repeat(at, iterations, threadIdx.x);
    wait_for_lds();
    __syncthreads();
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < words; i += BLOCK)
        out[static_cast<uint64_t>(blockIdx.x) * words + i] = area[i];
}
#endif
