/* SPDX-License-Identifier: MIT
 *
 * portable.h on NVIDIA GPUs, sm_80 and later: what nvcc and clang have in common, most of it inline PTX. What differs
 * is in simt_nvidia_nvcc.h and simt_nvidia_clang.h. Private: the contract is in portable.h. Instructions are named as
 * in "Parallel Thread Execution ISA" 9.0.
 */
#ifndef ROOFTILE_SIMT_NVIDIA_H
#define ROOFTILE_SIMT_NVIDIA_H

#if defined(__clang__)
#include "simt_nvidia_clang.h"
#else
#include "simt_nvidia_nvcc.h"
#endif

#define SIMT_ARCH __CUDA_ARCH__
/* One array for all uses: two of different types in one source would clash. */
#define DYNAMIC_SHARED(type, name)                                                                                     \
    extern __shared__ __attribute__((aligned(16))) unsigned char simt_dynamic_shared[];                                \
    type *const name = reinterpret_cast<type *>(simt_dynamic_shared)

/* A multiprocessor has four SIMDs; CUDA's second number is workgroups on it. */
#define SIMT_LANES(lanes) __attribute__((launch_bounds(lanes)))
#define SIMT_LANES_WAVES(lanes, waves)                                                                                 \
    __attribute__((launch_bounds(lanes, (waves)*128 > (lanes) ? (waves)*128 / (lanes) : 1)))
#define SIMT_THIRD(first, second, third, ...) third
#define __launch_bounds__(...) SIMT_THIRD(__VA_ARGS__, SIMT_LANES_WAVES, SIMT_LANES, )(__VA_ARGS__)

#define ROOFTILE_WAVE 32u
#define SIMT_SITE
#define SIMT_PASS_SITE

__device__ static inline unsigned thread_id()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ static inline unsigned lane_id()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ static inline unsigned wave_id()
{
    return thread_id() / ROOFTILE_WAVE;
}

/* There is only one kind of barrier; loads whose results nobody has used yet stay in flight across it. */
__device__ static inline void lds_barrier()
{
    __syncthreads();
}

__device__ static inline uint32_t bit_mask(uint32_t word, uint32_t number)
{
    return 0u - (word >> number & 1u);
}

/* PRMT takes four bits for each byte: three of the number, and one that repeats the sign. */
__device__ static inline uint32_t permute_bytes(uint32_t high, uint32_t low, uint32_t selectors)
{
    const uint32_t three = selectors & 0x07070707u, zero = selectors >> 3 & 0x01010101u;
    const uint32_t digits = (three & 0x7u) | (three >> 4 & 0x70u) | (three >> 8 & 0x700u) | (three >> 12 & 0x7000u);
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(digits));
    return bytes & ~(zero * 0xffu);
}

/* PTX cannot express it. */
__device__ static inline void schedule_fence() {}

/* ---- lanes ---- */

struct simt_words {
    unsigned low, high;
};

/* `source` is a lane, a mask or a distance. */
#define SIMT_SHUFFLE(name, mode, clamp)                                                                                \
    __device__ static inline unsigned simt_##name(unsigned word, unsigned source)                                      \
    {                                                                                                                  \
        unsigned moved;                                                                                                \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, " clamp ", 0xffffffff;"                                       \
                     : "=r"(moved)                                                                                     \
                     : "r"(word), "r"(source));                                                                        \
        return moved;                                                                                                  \
    }
SIMT_SHUFFLE(shuffle, "idx", "31")
SIMT_SHUFFLE(shuffle_xor, "bfly", "31")
SIMT_SHUFFLE(shuffle_up, "up", "0")
SIMT_SHUFFLE(shuffle_down, "down", "31")

#define SIMT_MOVE_LANES(value, call)                                                                                   \
    if constexpr (sizeof(type_t) == 4) {                                                                               \
        const unsigned word = __builtin_bit_cast(unsigned, value);                                                     \
        return __builtin_bit_cast(type_t, call);                                                                       \
    } else {                                                                                                           \
        static_assert(sizeof(type_t) == 8, "wave operations take types of 4 or 8 bytes");                              \
        const simt_words words = __builtin_bit_cast(simt_words, value);                                                \
        simt_words moved = {};                                                                                         \
        {                                                                                                              \
            const unsigned word = words.low;                                                                           \
            moved.low = call;                                                                                          \
        }                                                                                                              \
        {                                                                                                              \
            const unsigned word = words.high;                                                                          \
            moved.high = call;                                                                                         \
        }                                                                                                              \
        return __builtin_bit_cast(type_t, moved);                                                                      \
    }

/* All lanes are named; the hardware does not wait for those that have returned. */
template <class type_t> __device__ type_t __shfl(type_t value, unsigned lane)
{
    SIMT_MOVE_LANES(value, simt_shuffle(word, lane))
}

template <class type_t> __device__ type_t __shfl_xor(type_t value, unsigned mask)
{
    SIMT_MOVE_LANES(value, simt_shuffle_xor(word, mask))
}

template <class type_t> __device__ type_t __shfl_up(type_t value, unsigned delta)
{
    SIMT_MOVE_LANES(value, simt_shuffle_up(word, delta))
}

template <class type_t> __device__ type_t __shfl_down(type_t value, unsigned delta)
{
    SIMT_MOVE_LANES(value, simt_shuffle_down(word, delta))
}

template <class type_t> __device__ type_t row_rotate(type_t value)
{
    static_assert(sizeof(type_t) == 4, "a row is rotated 4 bytes at a time");
    const unsigned lane = lane_id();
    return __shfl(value, (lane & 16u) | ((lane - 1) & 15u));
}

__device__ static inline unsigned simt_row_source(uint32_t low, uint32_t high)
{
    const unsigned at = lane_id() % 16;
    return (at < 8 ? low >> 4 * at : high >> 4 * (at - 8)) & 15u;
}

template <class type_t> __device__ type_t row_permute(type_t value, uint32_t low, uint32_t high)
{
    static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
    return __shfl(value, (lane_id() & 16u) | simt_row_source(low, high));
}

template <class type_t> __device__ type_t row_permute_other(type_t value, uint32_t low, uint32_t high)
{
    static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
    return __shfl(value, (~lane_id() & 16u) | simt_row_source(low, high));
}

template <unsigned mask, class type_t> __device__ type_t xor_lane(type_t value)
{
    static_assert(sizeof(type_t) == 4 && mask < 32, "an exchange takes 4 bytes, within 32 lanes");
    return __shfl_xor(value, mask);
}

__device__ static inline uint64_t __ballot(bool predicate)
{
    unsigned lanes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(lanes)
                 : "r"(static_cast<unsigned>(predicate)));
    return lanes;
}

__device__ static inline bool __any(bool predicate)
{
    return __ballot(predicate) != 0;
}

__device__ static inline bool __all(bool predicate)
{
    return __ballot(!predicate) == 0;
}

/* ---- memory ---- */

/* Some rows begin at a multiple of the vector, so it pays to test the address. */
template <class element_t, int count>
__device__ static typename simt_vec_of<element_t, count>::type load_unaligned(const element_t *from)
{
    typedef typename simt_vec_of<element_t, count>::type whole_t;
    if (reinterpret_cast<size_t>(from) % alignof(whole_t) == 0)
        return *reinterpret_cast<const whole_t *>(from);
    return *reinterpret_cast<const typename unaligned_vec<element_t, count>::type *>(from);
}

template <class element_t, int count>
__device__ static void store_unaligned(typename simt_vec_of<element_t, count>::type value, element_t *to)
{
    typedef typename simt_vec_of<element_t, count>::type whole_t;
    if (reinterpret_cast<size_t>(to) % alignof(whole_t) == 0)
        *reinterpret_cast<whole_t *>(to) = value;
    else
        *reinterpret_cast<typename unaligned_vec<element_t, count>::type *>(to) = value;
}

/* ld.global.cs and st.global.cs: the data is likely to be accessed only once. */
#define SIMT_STREAM(bytes, word_t, load, store, words, list, in, out, address)                                         \
    template <> struct simt_stream<bytes> {                                                                            \
        __device__ static void get(void *to, const void *from)                                                         \
        {                                                                                                              \
            word_t w[words];                                                                                           \
            asm volatile(load " " list ", [" address "];" : SIMT_ARGS out : "l"(from) : "memory");                     \
            __builtin_memcpy(to, w, bytes);                                                                            \
        }                                                                                                              \
        __device__ static void put(void *to, const void *from)                                                         \
        {                                                                                                              \
            word_t w[words];                                                                                           \
            __builtin_memcpy(w, from, bytes);                                                                          \
            asm volatile(store " [" address "], " list ";" ::SIMT_ARGS in, "l"(to) : "memory");                        \
        }                                                                                                              \
    };
#define SIMT_ARGS(...) __VA_ARGS__
template <int bytes> struct simt_stream;
SIMT_STREAM(1, uint16_t, "ld.global.cs.u8", "st.global.cs.u8", 1, "%0", ("h"(w[0])), ("=h"(w[0])), "%1")
SIMT_STREAM(2, uint16_t, "ld.global.cs.u16", "st.global.cs.u16", 1, "%0", ("h"(w[0])), ("=h"(w[0])), "%1")
SIMT_STREAM(4, uint32_t, "ld.global.cs.u32", "st.global.cs.u32", 1, "%0", ("r"(w[0])), ("=r"(w[0])), "%1")
SIMT_STREAM(8, uint32_t, "ld.global.cs.v2.u32", "st.global.cs.v2.u32", 2, "{%0, %1}", ("r"(w[0]), "r"(w[1])),
    ("=r"(w[0]), "=r"(w[1])), "%2")
SIMT_STREAM(16, uint32_t, "ld.global.cs.v4.u32", "st.global.cs.v4.u32", 4, "{%0, %1, %2, %3}",
    ("r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])), ("=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])), "%4")

template <class type_t> __device__ static type_t load_nt(const type_t *from)
{
    constexpr unsigned each = sizeof(type_t) < 16 ? sizeof(type_t) : 16;
    type_t value;
#pragma unroll
    for (unsigned at = 0; at < sizeof(type_t); at += each)
        simt_stream<each>::get(reinterpret_cast<char *>(&value) + at, reinterpret_cast<const char *>(from) + at);
    return value;
}

template <class type_t> __device__ static void store_nt(type_t value, type_t *to)
{
    constexpr unsigned each = sizeof(type_t) < 16 ? sizeof(type_t) : 16;
#pragma unroll
    for (unsigned at = 0; at < sizeof(type_t); at += each)
        simt_stream<each>::put(reinterpret_cast<char *>(to) + at, reinterpret_cast<const char *>(&value) + at);
}

template <class type_t> __device__ type_t load_host(const type_t *at)
{
    if constexpr (sizeof(type_t) == 4) {
        uint32_t word;
        asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
        return __builtin_bit_cast(type_t, word);
    } else {
        uint64_t word;
        asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
        return __builtin_bit_cast(type_t, word);
    }
}

template <class type_t> __device__ void store_host(type_t *at, type_t value)
{
    if constexpr (sizeof(type_t) == 4)
        asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(at), "r"(__builtin_bit_cast(uint32_t, value)) : "memory");
    else
        asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(at), "l"(__builtin_bit_cast(uint64_t, value)) : "memory");
}

/* Nanoseconds; the hardware may wait for anything from none to twice as many. */
__device__ static inline void nap()
{
    asm volatile("nanosleep.u32 4000;");
}

/* ---- arithmetic ---- */

#define SIMT_APPROXIMATE(name, instruction)                                                                            \
    __device__ static inline float name(float x)                                                                       \
    {                                                                                                                  \
        float result;                                                                                                  \
        asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));                                            \
        return result;                                                                                                 \
    }
SIMT_APPROXIMATE(fast_exp2, "ex2")
SIMT_APPROXIMATE(fast_log2, "lg2")
SIMT_APPROXIMATE(fast_rsqrt, "rsqrt")
SIMT_APPROXIMATE(fast_rcp, "rcp")
SIMT_APPROXIMATE(fast_sqrt, "sqrt")
SIMT_APPROXIMATE(simt_fast_sin, "sin")

/* The instruction takes radians, and is good to 2^-20.5 between -pi and pi. */
__device__ static inline float fast_sin_turns(float x)
{
    float whole;
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(whole) : "f"(x));
    return simt_fast_sin((x - whole) * 6.28318530717958648f);
}

/* DP4A. There are no dot products of other types outside of the matrix units. */
__device__ static inline uint32_t dot_i8(uint32_t acc, uint32_t a, uint32_t b)
{
    uint32_t sum;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(acc));
    return sum;
}

/* ---- clocks ---- */

__device__ static inline uint64_t read_cycles()
{
    uint64_t clocks;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clocks)::"memory");
    return clocks;
}

/* Nanoseconds, in steps of 32 ns on recent devices. */
__device__ static inline uint64_t read_realtime()
{
    uint64_t ticks;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks)::"memory");
    return ticks;
}

__device__ static constexpr unsigned cycle_counter_bits()
{
    return 64;
}

/* ---- against the optimiser ---- */

/* In registers of 4 and 8 bytes, because PTX has none of 1. */
template <class type_t> __device__ type_t opaque(type_t value)
{
    if constexpr (sizeof(type_t) < 4) {
        uint32_t word = 0;
        __builtin_memcpy(&word, &value, sizeof(value));
        asm volatile("" : "+r"(word));
        __builtin_memcpy(&value, &word, sizeof(value));
    } else if constexpr (sizeof(type_t) == 4) {
        uint32_t word = __builtin_bit_cast(uint32_t, value);
        asm volatile("" : "+r"(word));
        value = __builtin_bit_cast(type_t, word);
    } else if constexpr (sizeof(type_t) == 8) {
        uint64_t word = __builtin_bit_cast(uint64_t, value);
        asm volatile("" : "+l"(word));
        value = __builtin_bit_cast(type_t, word);
    } else {
        uint32_t words[sizeof(type_t) / 4];
        __builtin_memcpy(words, &value, sizeof(value));
#pragma unroll
        for (unsigned w = 0; w < sizeof(type_t) / 4; ++w)
            asm volatile("" : "+r"(words[w]));
        __builtin_memcpy(&value, words, sizeof(value));
    }
    return value;
}

template <class type_t> __device__ type_t opaque_uniform(type_t value)
{
    return opaque(value);
}

template <class type_t> __device__ void keep(type_t value)
{
    opaque(value);
}

#define SIMT_OWN_SHUFFLES
#define SIMT_OWN_ACCESS
#include "simt_common.h"

#endif
