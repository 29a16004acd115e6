/* SPDX-License-Identifier: MIT
 *
 * Atomic operations: how many a device completes, by operation, type, and how the lanes share addresses. Work-item t
 * works on counter t % counters, `spacing` elements from the next, `iterations` times: counters 1 all on one address
 *     counters 32, spacing 1         all on one line (of 128 bytes, 4 each)
 *     counters many, spacing 1       neighbouring lanes on neighbouring words
 *     counters many, spacing 32      every lane on a line of its own
 * No operation returns anything, as in counting and scattering. What the counters end with is known whatever the order:
 *     ADD   adds 1
 *     MAX   offers t plus the iteration
 *     CAS   iteration k makes k + 1 of k. Whoever comes by in iteration k finds k (and changes it) or more: so all end
 *           with `iterations`, without the retries of a loop, whose number nobody could state
 *
 * Defines: T the counter's type; OP; LDS 1 = counters in LDS, one set per workgroup, copied out at the end; BLOCK
 * work-items.
 */
#include "portable.h"

enum { ADD, MAX, CAS };

/* clang takes the hardware's addition of floats only where it is right for every kind of memory, host memory included,
 * and else makes a loop of compare-and-swap. Counters are in device memory: on these targets the instruction is right.
 */
template <class number_t> __device__ static void add_one(number_t *at)
{
#if defined(__gfx90a__) || defined(__gfx908__) || defined(__GFX11__) || defined(__GFX12__)
    if constexpr (!LDS && __is_same(number_t, float)) {
#if defined(__GFX12__)
        asm volatile("global_atomic_add_f32 %0, %1, off scope:SCOPE_DEV" ::"v"(at), "v"(1.0f) : "memory");
#else
        asm volatile("global_atomic_add_f32 %0, %1, off" ::"v"(at), "v"(1.0f) : "memory");
#endif
        return;
    }
#endif
#if defined(__gfx90a__)
    if constexpr (!LDS && __is_same(number_t, double)) {
        asm volatile("global_atomic_add_f64 %0, %1, off" ::"v"(at), "v"(1.0) : "memory");
        return;
    }
#endif
    atomicAdd(at, number_t(1));
}

template <class number_t> __device__ static void once(number_t *at, unsigned iteration, unsigned self)
{
    if constexpr (OP == ADD)
        add_one(at);
    else if constexpr (OP == MAX)
        atomicMax(at, static_cast<number_t>(self + iteration));
    else
        atomicCAS(at, static_cast<number_t>(iteration), static_cast<number_t>(iteration + 1));
}

KERNEL __launch_bounds__(BLOCK) void atomic_global(T *__restrict out, uint32_t counters, uint32_t spacing,
                                                   uint32_t iterations)
{
    const unsigned self = blockIdx.x * BLOCK + threadIdx.x;
    T *const at = out + static_cast<uint64_t>(self % counters) * spacing;
    UNROLL_BY(4)
    for (unsigned k = 0; k < iterations; ++k)
        once(at, k, self);
}
KERNEL_EXPORT(atomic_global)

KERNEL __launch_bounds__(BLOCK) void atomic_lds(T *__restrict out, uint32_t counters, uint32_t spacing,
                                                uint32_t iterations)
{
    DYNAMIC_SHARED(T, area);
    const unsigned words = counters * spacing;
    NO_UNROLL
    for (unsigned i = threadIdx.x; i < words; i += BLOCK)
        area[i] = 0;
    __syncthreads();
    T *const at = area + threadIdx.x % counters * spacing;
    UNROLL_BY(4)
    for (unsigned k = 0; k < iterations; ++k)
        once(at, k, threadIdx.x);
    __syncthreads();
    NO_UNROLL
    for (unsigned i = threadIdx.x; i < words; i += BLOCK)
        out[static_cast<uint64_t>(blockIdx.x) * words + i] = area[i];
}
KERNEL_EXPORT(atomic_lds)
