/* SPDX-License-Identifier: MIT
 *
 * What a work-item of the CPU device can do. Included once: inside `struct simt` by simt_cpu.h, or at file scope for
 * plain HIP; so no include guard and nothing but __device__ functions. Private: see portable.h for the contract.
 */

/* In a plain loop: records the address of this code, if any of it is left. */
__device__ static void simt_mark_site()
{
    asm volatile("1: .pushsection simt_sites,\"a\"\n .p2align 2\n .long 1b - .\n .popsection" ::: "memory");
}

__device__ unsigned thread_id() SIMT_CONST
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ unsigned lane_id() SIMT_CONST
{
    return thread_id() % ROOFTILE_WAVE;
}

__device__ unsigned wave_id() SIMT_CONST
{
    return thread_id() / ROOFTILE_WAVE;
}

__device__ void __syncthreads(simt_place simt_at = SIMT_HERE) SIMT_CONST
{
    struct simt_lane *const self = simt_self;
    if (self) {
        self->barrier(self, simt_at.number);
        SIMT_RESUME(self);
    } else {
        simt_mark_site();
    }
}

__device__ void lds_barrier(simt_place simt_at = SIMT_HERE) SIMT_CONST
{
    __syncthreads(simt_at);
}

__device__ static uint32_t bit_mask(uint32_t word, uint32_t number)
{
    return 0u - (word >> number & 1u);
}

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

/* Takes part in a wave operation. */
__device__ const struct simt_exchange *simt_wave(uint64_t value, simt_place simt_at) SIMT_CONST
{
    struct simt_lane *const self = simt_self;
    const struct simt_exchange *const exchange = self->wave(self, simt_at.number, value);
    SIMT_RESUME(self);
    return exchange;
}

template <class type_t> __device__ type_t simt_read_lane(type_t value, unsigned lane, simt_place simt_at) SIMT_CONST
{
    static_assert(sizeof(type_t) == 4 || sizeof(type_t) == 8, "wave operations take types of 4 or 8 bytes");
    if (!simt_self) {
        simt_mark_site();
        return value;
    }
    const struct simt_exchange *const exchange = simt_wave(simt_to_bits(value), simt_at);
    const bool active = exchange->active >> lane & 1u;
    return simt_from_bits<type_t>(active ? exchange->slot[lane] : uint64_t(SIMT_POISON) << 32 | SIMT_POISON);
}

template <class type_t> __device__ type_t row_rotate(type_t value SIMT_SITE) SIMT_CONST
{
    static_assert(sizeof(type_t) == 4, "a row rotation takes 4 bytes");
    const unsigned self = lane_id();
    return simt_read_lane(value, self - self % 16 + (self + 15) % 16 SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t row_permute(type_t value, uint32_t low, uint32_t high SIMT_SITE) SIMT_CONST
{
    static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
    const unsigned self = lane_id(), from = (self % 16 < 8 ? low : high) >> 4 * (self % 8) & 15;
    return simt_read_lane(value, self - self % 16 + from SIMT_PASS_SITE);
}

template <class type_t>
__device__ type_t row_permute_other(type_t value, uint32_t low, uint32_t high SIMT_SITE) SIMT_CONST
{
    static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
    const unsigned self = lane_id(), from = (self % 16 < 8 ? low : high) >> 4 * (self % 8) & 15;
    return simt_read_lane(value, (self - self % 16 ^ 16) + from SIMT_PASS_SITE);
}

template <unsigned mask, class type_t> __device__ type_t xor_lane(type_t value SIMT_SITE) SIMT_CONST
{
    static_assert(sizeof(type_t) == 4 && mask < 32, "a swizzle takes 4 bytes, within 32 lanes");
    return simt_read_lane(value, lane_id() ^ mask SIMT_PASS_SITE);
}

/* Every lane announces where its value goes, and looks for the one that is sent to it. */
template <class type_t> __device__ type_t push_lane(type_t value, unsigned lane SIMT_SITE) SIMT_CONST
{
    static_assert(sizeof(type_t) == 4, "a lane is sent 4 bytes");
    if (!simt_self) {
        simt_mark_site();
        return value;
    }
    const uint64_t sent = uint64_t(lane % ROOFTILE_WAVE) << 32 | simt_to_bits(value);
    const struct simt_exchange *const exchange = simt_wave(sent, simt_at);
    for (unsigned from = 0; from < ROOFTILE_WAVE; ++from)
        if (exchange->active >> from & 1u && exchange->slot[from] >> 32 == lane_id())
            return simt_from_bits<type_t>(exchange->slot[from]);
    return simt_from_bits<type_t>(SIMT_POISON);
}

__device__ uint64_t __ballot(bool predicate, simt_place simt_at = SIMT_HERE) SIMT_CONST
{
    if (simt_self)
        return simt_wave(predicate, simt_at)->votes;
    simt_mark_site();
    return predicate;
}

__device__ bool __any(bool predicate, simt_place simt_at = SIMT_HERE) SIMT_CONST
{
    return __ballot(predicate, simt_at) != 0;
}

__device__ bool __all(bool predicate, simt_place simt_at = SIMT_HERE) SIMT_CONST
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
    return power * __builtin_bit_cast(float, (half + 127) << 23) * __builtin_bit_cast(float, (n - half + 127) << 23);
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

__device__ static float fast_rsqrt(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}

__device__ static float fast_rcp(float x)
{
    return 1.0f / x;
}

__device__ static float fast_sqrt(float x)
{
    return __builtin_sqrtf(x);
}

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
    asm volatile("" ::: "memory");
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
