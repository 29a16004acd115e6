/* SPDX-License-Identifier: MIT
 *
 * portable.h on the CPU device. A source that includes portable.h becomes the body of a class derived from `struct
 * simt`, which begins at the end of this file and ends in cpu_unit.cpp. Kernels and device functions are always-inlined
 * members of it, so threadIdx and the like are fields of a local object, which the compiler keeps in registers: that is
 * what lets the loop over work-items vectorise. A thread_local threadIdx would not.
 *
 * Plain HIP, which includes hip/hip_runtime.h, may have anything outside of functions: namespaces, variables, standard
 * headers. It stays at file scope (SIMT_FILE_SCOPE), and threadIdx is thread_local there: right, but rarely a vector
 * loop.
 *
 * Each kernel is compiled twice. One function is a plain loop over work-items, in which nobody can wait: a barrier or
 * wave operation there only leaves its code address in the section simt_sites, if it survives optimisation. The host
 * reads that section and runs kernels that have any such address by the other function, with a fiber per work-item,
 * where waiting calls the host. Private: the contract is in portable.h.
 */
#ifndef ROOFTILE_SIMT_CPU_H
#define ROOFTILE_SIMT_CPU_H

#include "simt_abi.h"

/* Not every kernel can be a vector loop over work-items, and those that compute on vec types need not be. */
#pragma clang diagnostic ignored "-Wpass-failed"

#ifndef ROOFTILE_WAVE
#define ROOFTILE_WAVE 64u
#endif
static_assert(ROOFTILE_WAVE == 64 || ROOFTILE_WAVE == 32, "ROOFTILE_WAVE is 64 or 32");

#define __device__ __attribute__((always_inline))
#define __launch_bounds__(...)
#ifdef SIMT_FILE_SCOPE
/* Static inside a function; with `extern` in front a part of the dynamic LDS (SIMT_DYNAMIC). */
#define __shared__ __attribute__((require_constant_initialization)) thread_local
#define SIMT_KERNEL(f) (&f)
#define SIMT_BOUND extern
#define SIMT_INDEPENDENT /* not as long as their indices share one place */
#else
#define __shared__ static thread_local
#define SIMT_KERNEL(f) (&unit::f)
#define SIMT_BOUND static
#define SIMT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#endif

#define SIMT_HIDDEN __attribute__((visibility("hidden")))
/* Each plain loop has its own section, whose bounds the linker defines: they tell what kernel a site belongs to. */
#define SIMT_EXPORT(f)                                                                                                 \
    __attribute__((noinline, flatten, section("simt_plain_" #f))) static void simt_plain_##f(                          \
        const simt_launch *launch, uint64_t begin, uint64_t end)                                                       \
    {                                                                                                                  \
        simt_call<SIMT_KERNEL(f)>::plain(launch, begin, end);                                                          \
    }                                                                                                                  \
    __attribute__((noinline, flatten)) static void simt_lane_##f(simt_lane *lane)                                      \
    {                                                                                                                  \
        simt_call<SIMT_KERNEL(f)>::lane(lane);                                                                         \
    }                                                                                                                  \
    SIMT_BOUND const char simt_begin_##f[] __asm__("__start_simt_plain_" #f) SIMT_HIDDEN;                              \
    SIMT_BOUND const char simt_end_##f[] __asm__("__stop_simt_plain_" #f) SIMT_HIDDEN;                                 \
    __attribute__((used, section("simt_kernels"))) static inline const simt_kernel simt_kernel_##f = {#f,              \
        simt_call<SIMT_KERNEL(f)>::arg_count, simt_call<SIMT_KERNEL(f)>::args, simt_plain_##f, simt_lane_##f,          \
        simt_begin_##f, simt_end_##f};

/* A wait is known by its place in the source: code addresses would differ between unrolled copies of it. */
struct simt_place {
    unsigned number;
};
#define SIMT_HERE                                                                                                      \
    (simt_place{static_cast<unsigned>(__builtin_LINE()) * 256u + static_cast<unsigned>(__builtin_COLUMN()) % 256u})
#define SIMT_SITE , simt_place simt_at = SIMT_HERE
#define SIMT_PASS_SITE , simt_at
#define SIMT_ATOMIC(operation) __atomic_##operation
#define SIMT_EXCHANGE __atomic_exchange_n
#define SIMT_COMPARE_EXCHANGE(at, expected, value, order)                                                              \
    __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_RELAXED, order)
#define SIMT_RELAXED __ATOMIC_RELAXED

#if defined(__AVX512F__)
#define SIMT_REGISTER_BYTES 64
#elif defined(__AVX__)
#define SIMT_REGISTER_BYTES 32
#else
#define SIMT_REGISTER_BYTES 16
#endif
#if defined(__x86_64__)
#define SIMT_VECTOR "x"
#else
#define SIMT_VECTOR "w"
#endif

/* Where a value lives, for asm constraints. */
enum simt_home { SIMT_IN_INTEGER, SIMT_IN_VECTOR, SIMT_IN_MEMORY };
template <class type_t> struct simt_is_pointer {
    static constexpr bool value = false;
};
template <class type_t> struct simt_is_pointer<type_t *> {
    static constexpr bool value = true;
};
template <class type_t> constexpr simt_home simt_home_of()
{
    if (__is_integral(type_t) || __is_enum(type_t) || simt_is_pointer<type_t>::value)
        return SIMT_IN_INTEGER;
    return sizeof(type_t) >= 4 && sizeof(type_t) <= SIMT_REGISTER_BYTES ? SIMT_IN_VECTOR : SIMT_IN_MEMORY;
}

struct simt {
    simt_dim3 threadIdx, blockIdx, blockDim, gridDim;
    struct simt_lane *simt_self; /* nullptr in plain loops */
    void *simt_lds;
#ifndef SIMT_FILE_SCOPE
#define SIMT_CONST const
#define SIMT_RESUME(self)
#include "simt_cpu_lane.h"
#endif
};

#ifdef SIMT_FILE_SCOPE
static thread_local simt simt_now;
#endif

/* Compile-time 0 .. count-1, to index arguments, without the standard library's <utility>. */
template <size_t... indices> struct simt_indices {
};
#if __has_builtin(__make_integer_seq)
template <class, size_t... indices> using simt_indices_of = simt_indices<indices...>;
template <size_t count> using simt_count_to = __make_integer_seq<simt_indices_of, size_t, count>;
#else
template <size_t count> using simt_count_to = simt_indices<__integer_pack(count)...>;
#endif

__device__ static inline void simt_become(simt &item, simt_lane *self)
{
    const simt_group *const group = self->group;
    const simt_launch *const launch = group->launch;
    item.simt_self = self;
    item.simt_lds = launch->lds;
    item.threadIdx = {self->thread[0], self->thread[1], self->thread[2]};
    item.blockIdx = {group->index[0], group->index[1], group->index[2]};
    item.blockDim = {launch->block[0], launch->block[1], launch->block[2]};
    item.gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
}

/* How to run one kernel, and what its parameters are. call_t::run() runs it as one work-item. */
template <class call_t, class item_t, class... arg_t> struct simt_calls {
    static constexpr uint32_t arg_count = sizeof...(arg_t);
    /* One more than there are, for kernels without parameters. */
    static constexpr simt_arg args[sizeof...(arg_t) + 1] = {{sizeof(arg_t), simt_is_pointer<arg_t>::value}..., {0, 0}};

    __device__ static void plain(const simt_launch *launch, uint64_t begin, uint64_t end)
    {
        plain_unpacked(launch, begin, end, simt_count_to<sizeof...(arg_t)>{});
    }

    template <size_t... indices>
    __device__ static void plain_unpacked(
        const simt_launch *launch, uint64_t begin, uint64_t end, simt_indices<indices...>)
    {
        if (launch->block[0] == 1 && launch->block[1] == 1 && launch->block[2] == 1)
            plain_groups<true>(launch, begin, end, *static_cast<const arg_t *>(launch->args[indices])...);
        else
            plain_groups<false>(launch, begin, end, *static_cast<const arg_t *>(launch->args[indices])...);
    }

    /* Copies of everything in locals: stores of the kernel cannot change them. A workgroup of one work-item has code of
     * its own, where threadIdx is a constant: addresses fold, and loops over lanes vanish. */
    template <bool single>
    __device__ static void plain_groups(const simt_launch *launch, uint64_t begin, uint64_t end, arg_t... args_values)
    {
        item_t group;
        group.simt_self = nullptr;
        group.simt_lds = launch->lds;
        group.threadIdx = {0, 0, 0};
        group.blockDim = {1, 1, 1};
        if constexpr (!single)
            group.blockDim = {launch->block[0], launch->block[1], launch->block[2]};
        group.gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
        const uint64_t row = begin / group.gridDim.x;
        group.blockIdx = {static_cast<unsigned>(begin % group.gridDim.x), static_cast<unsigned>(row % group.gridDim.y),
            static_cast<unsigned>(row / group.gridDim.y)};
        for (uint64_t index = begin; index < end; ++index) {
            if constexpr (single)
                call_t::run(group, args_values...);
            else
                plain_items(group, args_values...);
            if (++group.blockIdx.x < group.gridDim.x)
                continue;
            group.blockIdx.x = 0;
            if (++group.blockIdx.y < group.gridDim.y)
                continue;
            group.blockIdx.y = 0;
            ++group.blockIdx.z;
        }
    }

    /* Work-items are independent here: nothing waits. */
    __device__ static void plain_items(const item_t &group, arg_t... args_values)
    {
        const simt_dim3 size = group.blockDim;
        for (unsigned z = 0; z < size.z; ++z)
            for (unsigned y = 0; y < size.y; ++y)
                SIMT_INDEPENDENT
        for (unsigned x = 0; x < size.x; ++x) {
            item_t item = group;
            item.threadIdx = {x, y, z};
            call_t::run(item, args_values...);
        }
    }

    __device__ static void lane(simt_lane *self) { lane_unpacked(self, simt_count_to<sizeof...(arg_t)>{}); }

    template <size_t... indices> __device__ static void lane_unpacked(simt_lane *self, simt_indices<indices...>)
    {
        if (!self)
            __builtin_unreachable(); /* so that code of plain loops vanishes */
        item_t item;
        simt_become(item, self);
        call_t::run(item, *static_cast<const arg_t *>(self->group->launch->args[indices])...);
    }
};

template <auto kernel> struct simt_call;

#ifdef SIMT_FILE_SCOPE

template <class... arg_t, void (*kernel)(arg_t...)>
struct simt_call<kernel> : simt_calls<simt_call<kernel>, simt, arg_t...> {
    __device__ static void run(const simt &item, arg_t... args_values)
    {
        simt_now = item;
        kernel(args_values...);
    }
};

#define threadIdx simt_now.threadIdx
#define blockIdx simt_now.blockIdx
#define blockDim simt_now.blockDim
#define gridDim simt_now.gridDim
#define simt_self simt_now.simt_self
#define DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(simt_now.simt_lds)

#define SIMT_RESUME(self) simt_become(simt_now, self) /* others ran on this thread meanwhile */
#define SIMT_CONST
#include "simt_cpu_lane.h"

#else

template <class unit_t, class... arg_t, void (unit_t::*kernel)(arg_t...)>
struct simt_call<kernel> : simt_calls<simt_call<kernel>, unit_t, arg_t...> {
    __device__ static void run(unit_t item, arg_t... args_values) { (item.*kernel)(args_values...); }
};

#define DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(this->simt_lds)

/* No member of a class can be extern "C". From here on `extern "C" __global__ void f()` reads
 * `static_assert(true, "C"); __attribute__((always_inline)) void f()`: an assertion that holds, then a member function.
 */
#define extern static_assert(true,
#define __global__ );                                                                                                  \
    __attribute__((always_inline))
struct unit : simt { /* what follows is the kernel's source */

#endif

#endif
