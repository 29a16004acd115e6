/* SPDX-License-Identifier: MIT
 *
 * portable.h on the CPU device. A kernel source is the body of a class derived from `struct simt` (cpu_unit.cpp).
 * Kernels and device functions are always-inlined members of it, so threadIdx and the like are fields of a local
 * object, which the compiler keeps in registers: that is what lets the loop over work-items vectorise. A thread_local
 * threadIdx would not. Private: the contract is in portable.h.
 *
 * Each kernel is compiled twice. One function is a plain loop over work-items, in which nobody can wait: a barrier or
 * wave operation there only leaves its code address in the section simt_sites, if it survives optimisation. The host
 * reads that section and runs kernels that have any such address by the other function, with a fiber per work-item,
 * where waiting calls the host.
 */
#ifndef ROOFTILE_SIMT_CPU_H
#define ROOFTILE_SIMT_CPU_H

#include "simt_abi.h"

#ifndef ROOFTILE_WAVE
#define ROOFTILE_WAVE 64u
#endif
static_assert(ROOFTILE_WAVE == 64 || ROOFTILE_WAVE == 32, "ROOFTILE_WAVE is 64 or 32");

#define __device__ __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static thread_local

#define SIMT_HIDDEN __attribute__((visibility("hidden")))
/* Each plain loop has its own section, whose bounds the linker defines: they tell what kernel a site belongs to. */
#define SIMT_EXPORT(f)                                                                                                 \
    __attribute__((noinline, flatten, section("simt_plain_" #f))) static void simt_plain_##f(                          \
        const simt_launch *launch, uint64_t begin, uint64_t end)                                                       \
    {                                                                                                                  \
        simt_call<&unit::f>::plain(launch, begin, end);                                                                \
    }                                                                                                                  \
    __attribute__((noinline, flatten)) static void simt_lane_##f(simt_lane *lane)                                      \
    {                                                                                                                  \
        simt_call<&unit::f>::lane(lane);                                                                               \
    }                                                                                                                  \
    static const char simt_begin_##f[] __asm__("__start_simt_plain_" #f) SIMT_HIDDEN;                                  \
    static const char simt_end_##f[] __asm__("__stop_simt_plain_" #f) SIMT_HIDDEN;                                     \
    __attribute__((used, section("simt_kernels"))) static inline const simt_kernel simt_kernel_##f = {#f,              \
        simt_call<&unit::f>::arg_count, simt_call<&unit::f>::args, simt_plain_##f, simt_lane_##f, simt_begin_##f,      \
        simt_end_##f};

/* A wait is known by its place in the source: code addresses would differ between unrolled copies of it. */
#define SIMT_HERE (static_cast<unsigned>(__builtin_LINE()) * 256u + static_cast<unsigned>(__builtin_COLUMN()) % 256u)
#define SIMT_SITE , unsigned simt_at = SIMT_HERE
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

    /* In a plain loop: records the address of this code, if any of it is left. */
    __device__ static void simt_mark_site()
    {
        asm volatile("1: .pushsection simt_sites,\"a\"\n .p2align 2\n .long 1b - .\n .popsection" ::: "memory");
    }

    __device__ unsigned thread_id() const
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }

    __device__ unsigned lane_id() const { return thread_id() % ROOFTILE_WAVE; }

    __device__ unsigned wave_id() const { return thread_id() / ROOFTILE_WAVE; }

    __device__ void __syncthreads(unsigned simt_at = SIMT_HERE) const
    {
        if (simt_self)
            simt_self->barrier(simt_self, simt_at);
        else
            simt_mark_site();
    }

    __device__ void lds_barrier(unsigned simt_at = SIMT_HERE) const { __syncthreads(simt_at); }

    __device__ static uint32_t bit_mask(uint32_t word, uint32_t number) { return 0u - (word >> number & 1u); }

    __device__ static uint32_t permute_bytes(uint32_t high, uint32_t low, uint32_t selectors)
    {
        const uint64_t bytes = static_cast<uint64_t>(high) << 32 | low;
        uint32_t value = 0;
        for (unsigned i = 0; i < 32; i += 8) {
            const unsigned selector = selectors >> i & 0xffu;
            if (selector < 8)
                value |= static_cast<uint32_t>(bytes >> selector * 8 & 0xffu) << i;
        }
        return value;
    }

    __device__ static void schedule_fence() {}

    template <class type_t> __device__ type_t simt_read_lane(type_t value, unsigned lane, unsigned simt_at) const
    {
        static_assert(sizeof(type_t) == 4 || sizeof(type_t) == 8, "wave operations take types of 4 or 8 bytes");
        if (!simt_self) {
            simt_mark_site();
            return value;
        }
        const struct simt_exchange *const exchange = simt_self->wave(simt_self, simt_at, simt_to_bits(value));
        const bool active = exchange->active >> lane & 1u;
        return simt_from_bits<type_t>(active ? exchange->slot[lane] : uint64_t(SIMT_POISON) << 32 | SIMT_POISON);
    }

    template <class type_t> __device__ type_t row_rotate(type_t value SIMT_SITE) const
    {
        static_assert(sizeof(type_t) == 4, "a row rotation takes 4 bytes");
        const unsigned self = lane_id();
        return simt_read_lane(value, self - self % 16 + (self + 15) % 16 SIMT_PASS_SITE);
    }

    template <class type_t> __device__ type_t row_permute(type_t value, uint32_t low, uint32_t high SIMT_SITE) const
    {
        static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
        const unsigned self = lane_id(), from = (self % 16 < 8 ? low : high) >> 4 * (self % 8) & 15;
        return simt_read_lane(value, self - self % 16 + from SIMT_PASS_SITE);
    }

    template <class type_t>
    __device__ type_t row_permute_other(type_t value, uint32_t low, uint32_t high SIMT_SITE) const
    {
        static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
        const unsigned self = lane_id(), from = (self % 16 < 8 ? low : high) >> 4 * (self % 8) & 15;
        return simt_read_lane(value, (self - self % 16 ^ 16) + from SIMT_PASS_SITE);
    }

    template <unsigned mask, class type_t> __device__ type_t xor_lane(type_t value SIMT_SITE) const
    {
        static_assert(sizeof(type_t) == 4 && mask < 32, "a swizzle takes 4 bytes, within 32 lanes");
        return simt_read_lane(value, lane_id() ^ mask SIMT_PASS_SITE);
    }

    /* Every lane announces where its value goes, and looks for the one that is sent to it. */
    template <class type_t> __device__ type_t push_lane(type_t value, unsigned lane, unsigned simt_at = SIMT_HERE) const
    {
        static_assert(sizeof(type_t) == 4, "a lane is sent 4 bytes");
        if (!simt_self) {
            simt_mark_site();
            return value;
        }
        const uint64_t sent = uint64_t(lane % ROOFTILE_WAVE) << 32 | simt_to_bits(value);
        const struct simt_exchange *const exchange = simt_self->wave(simt_self, simt_at, sent);
        for (unsigned from = 0; from < ROOFTILE_WAVE; ++from)
            if (exchange->active >> from & 1u && exchange->slot[from] >> 32 == lane_id())
                return simt_from_bits<type_t>(exchange->slot[from]);
        return simt_from_bits<type_t>(SIMT_POISON);
    }

    template <class type_t> __device__ static uint64_t simt_to_bits(type_t value)
    {
        if constexpr (sizeof(type_t) == 4)
            return __builtin_bit_cast(uint32_t, value);
        else
            return __builtin_bit_cast(uint64_t, value);
    }

    template <class type_t> __device__ static type_t simt_from_bits(uint64_t bits)
    {
        if constexpr (sizeof(type_t) == 4)
            return __builtin_bit_cast(type_t, static_cast<uint32_t>(bits));
        else
            return __builtin_bit_cast(type_t, bits);
    }

    __device__ uint64_t __ballot(bool predicate, unsigned simt_at = SIMT_HERE) const
    {
        if (simt_self)
            return simt_self->wave(simt_self, simt_at, predicate)->votes;
        simt_mark_site();
        return predicate;
    }

    __device__ bool __any(bool predicate, unsigned simt_at = SIMT_HERE) const
    {
        return __ballot(predicate, simt_at) != 0;
    }

    __device__ bool __all(bool predicate, unsigned simt_at = SIMT_HERE) const
    {
        return __ballot(!predicate, simt_at) == 0;
    }

    /* clang 14 has no atomic addition of floating point on this target. */
    template <class type_t> __device__ static type_t simt_fetch_add(type_t *at, type_t value)
    {
        if constexpr (__is_integral(type_t)) {
            return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
        } else {
            type_t seen, sum;
            __atomic_load(at, &seen, __ATOMIC_RELAXED);
            do
                sum = seen + value;
            while (!__atomic_compare_exchange(at, &seen, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
            return seen;
        }
    }

    /* 2^x: x = n + f with |f| <= 0.5, the Taylor series of 2^f to the 7th power (relative error below 1e-8), scaled in
     * two steps so that neither overflows. Branch-free, so that it vectorises. */
    __device__ static float fast_exp2(float x)
    {
        const float bounded = x > 200.0f ? 200.0f : x < -200.0f ? -200.0f : x;
        const float shifted = bounded + 0x1.8p23f; /* the low mantissa bits are now n */
        const int n = __builtin_bit_cast(int, shifted) - __builtin_bit_cast(int, 0x1.8p23f);
        const float f = bounded - (shifted - 0x1.8p23f);
        float power = 1.52527338e-5f;
        power = power * f + 1.54035304e-4f;
        power = power * f + 1.33335581e-3f;
        power = power * f + 9.61812911e-3f;
        power = power * f + 5.55041087e-2f;
        power = power * f + 2.40226507e-1f;
        power = power * f + 6.93147181e-1f;
        power = power * f + 1.0f;
        const int half = n >> 1;
        return power * __builtin_bit_cast(float, (half + 127) << 23) *
               __builtin_bit_cast(float, (n - half + 127) << 23);
    }

    /* log2(x): x = m * 2^e with m in [2/3, 4/3), then 2/ln2 * atanh((m-1)/(m+1)) as a series (s <= 0.2, 6 terms). */
    __device__ static float fast_log2(float x)
    {
        const float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
        const int bits = __builtin_bit_cast(int, scaled);
        const int e = (bits - 0x3f2aaaab) >> 23;
        const float m = __builtin_bit_cast(float, bits - static_cast<int>(static_cast<unsigned>(e) << 23));
        const float s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
        float series = 1.0f / 11.0f;
        series = series * s2 + 1.0f / 9.0f;
        series = series * s2 + 1.0f / 7.0f;
        series = series * s2 + 1.0f / 5.0f;
        series = series * s2 + 1.0f / 3.0f;
        series = series * s2 + 1.0f;
        const float result = static_cast<float>(x < 0x1p-126f ? e - 23 : e) + 2.88539008f * s * series;
        const float edge = x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : x; /* also inf and NaN */
        return x > 0.0f && x < __builtin_inff() ? result : edge;
    }

    __device__ static float fast_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }

    __device__ static float fast_rcp(float x) { return 1.0f / x; }

    __device__ static float fast_sqrt(float x) { return __builtin_sqrtf(x); }

    /* sin(2 pi x): to within half a turn, mirrored to within a quarter, then the Taylor series to the 13th power. */
    __device__ static float fast_sin_turns(float x)
    {
        const float near = x - ((x + 0x1.8p23f) - 0x1.8p23f), size = __builtin_fabsf(near);
        const float angle = 6.283185307f * (size > 0.25f ? 0.5f - size : size), square = angle * angle;
        float series = 1.0f / 6227020800.0f;
        series = series * square - 1.0f / 39916800.0f;
        series = series * square + 1.0f / 362880.0f;
        series = series * square - 1.0f / 5040.0f;
        series = series * square + 1.0f / 120.0f;
        series = series * square - 1.0f / 6.0f;
        return __builtin_copysignf(angle + angle * square * series, near);
    }

#include "simt_dot_cpu.h"

    __device__ static uint64_t read_cycles()
    {
#if defined(__aarch64__)
        uint64_t ticks;
        asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
#else
        return __builtin_readcyclecounter();
#endif
    }

    __device__ static uint64_t read_realtime()
    {
        return read_cycles();
    }

    __device__ static constexpr unsigned cycle_counter_bits()
    {
        return 64;
    }

    template <class type_t> __device__ static type_t load_host(const type_t *at)
    {
        return __atomic_load_n(at, __ATOMIC_RELAXED);
    }

    template <class type_t> __device__ static void store_host(type_t *at, type_t value)
    {
        __atomic_store_n(at, value, __ATOMIC_RELEASE);
    }

    __device__ static void nap()
    {
        memory_fence_compiler();
    }

    /* asm takes vectors of 4 and 8 bytes as the float or double with their bits. */
    template <class type_t> __device__ static auto simt_in_register(type_t value)
    {
        if constexpr (sizeof(type_t) == 4)
            return __builtin_bit_cast(float, value);
        else if constexpr (sizeof(type_t) == 8)
            return __builtin_bit_cast(double, value);
        else
            return value;
    }

    template <class type_t> __device__ static void keep(type_t value)
    {
        if constexpr (simt_home_of<type_t>() == SIMT_IN_INTEGER)
            asm volatile("" ::"r"(value));
        else if constexpr (simt_home_of<type_t>() == SIMT_IN_VECTOR)
            asm volatile("" ::SIMT_VECTOR(simt_in_register(value)));
        else
            asm volatile("" ::"m"(value));
    }

    template <class type_t> __device__ static type_t opaque(type_t value)
    {
        if constexpr (simt_home_of<type_t>() == SIMT_IN_INTEGER)
            asm volatile("" : "+r"(value));
        else if constexpr (simt_home_of<type_t>() == SIMT_IN_VECTOR) {
            auto in_register = simt_in_register(value);
            asm volatile("" : "+" SIMT_VECTOR(in_register));
            value = __builtin_bit_cast(type_t, in_register);
        } else
            asm volatile("" : "+m"(value));
        return value;
    }

    template <class type_t> __device__ static type_t opaque_uniform(type_t value)
    {
        return opaque(value);
    }

#include "simt_common.h"
};

#define DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(this->simt_lds)

/* Compile-time 0 .. count-1, to index arguments, without the standard library's <utility>. */
template <size_t... indices> struct simt_indices {
};
#if __has_builtin(__make_integer_seq)
template <class, size_t... indices> using simt_indices_of = simt_indices<indices...>;
template <size_t count> using simt_count_to = __make_integer_seq<simt_indices_of, size_t, count>;
#else
template <size_t count> using simt_count_to = simt_indices<__integer_pack(count)...>;
#endif

/* How to run one kernel, and what its parameters are. */
template <auto kernel> struct simt_call;
template <class unit_t, class... arg_t, void (unit_t::*kernel)(arg_t...)> struct simt_call<kernel> {
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
        unit_t group;
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
                (unit_t(group).*kernel)(args_values...);
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
    __device__ static void plain_items(const unit_t &group, arg_t... args_values)
    {
        const simt_dim3 size = group.blockDim;
        for (unsigned z = 0; z < size.z; ++z)
            for (unsigned y = 0; y < size.y; ++y)
#pragma clang loop vectorize(assume_safety)
                for (unsigned x = 0; x < size.x; ++x) {
                    unit_t item = group;
                    item.threadIdx = {x, y, z};
                    (item.*kernel)(args_values...);
                }
    }

    __device__ static void lane(simt_lane *self)
    {
        lane_unpacked(self, simt_count_to<sizeof...(arg_t)>{});
    }

    template <size_t... indices> __device__ static void lane_unpacked(simt_lane *self, simt_indices<indices...>)
    {
        if (!self)
            __builtin_unreachable(); /* so that code of plain loops vanishes */
        const simt_group *const group = self->group;
        const simt_launch *const launch = group->launch;
        unit_t item;
        item.simt_self = self;
        item.simt_lds = launch->lds;
        item.threadIdx = {self->thread[0], self->thread[1], self->thread[2]};
        item.blockIdx = {group->index[0], group->index[1], group->index[2]};
        item.blockDim = {launch->block[0], launch->block[1], launch->block[2]};
        item.gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
        (item.*kernel)(*static_cast<const arg_t *>(launch->args[indices])...);
    }
};

#endif
