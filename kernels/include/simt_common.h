/* SPDX-License-Identifier: MIT
 *
 * Device functions that are the same on all devices. Included once: at file scope for GPUs, inside `struct simt` by
 * simt_cpu.h; so no include guard and nothing but __device__ functions. Private: see portable.h for the contract.
 */

__device__ static constexpr unsigned wave_size()
{
    return ROOFTILE_WAVE;
}

#ifndef SIMT_OWN_SHUFFLES
/* Shuffles move 32-bit words; SIMT_SITE (the caller's place in the source) is empty where it is not needed. */
template <class type_t> __device__ type_t __shfl(type_t value, unsigned lane SIMT_SITE)
{
    return simt_read_lane(value, lane % ROOFTILE_WAVE SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t __shfl_xor(type_t value, unsigned mask SIMT_SITE)
{
    return simt_read_lane(value, (lane_id() ^ mask) % ROOFTILE_WAVE SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t __shfl_up(type_t value, unsigned delta SIMT_SITE)
{
    const unsigned self = lane_id();
    return simt_read_lane(value, delta > self ? self : self - delta SIMT_PASS_SITE);
}

template <class type_t> __device__ type_t __shfl_down(type_t value, unsigned delta SIMT_SITE)
{
    const unsigned self = lane_id();
    return simt_read_lane(value, delta >= ROOFTILE_WAVE - self ? self : self + delta SIMT_PASS_SITE);
}

#endif

template <class type_t> __device__ type_t wave_reduce_add(type_t value SIMT_SITE)
{
#pragma unroll
    for (unsigned step = ROOFTILE_WAVE / 2; step > 0; step /= 2)
        value += __shfl_xor(value, step SIMT_PASS_SITE);
    return value;
}

template <class type_t> __device__ type_t wave_prefix_add(type_t value SIMT_SITE)
{
#pragma unroll
    for (unsigned step = 1; step < ROOFTILE_WAVE; step *= 2) {
        const type_t before = __shfl_up(value, step SIMT_PASS_SITE);
        value += lane_id() >= step ? before : type_t{};
    }
    return value;
}

template <class type_t> __device__ type_t wave_reduce_max(type_t value SIMT_SITE)
{
#pragma unroll
    for (unsigned step = ROOFTILE_WAVE / 2; step > 0; step /= 2) {
        const type_t other = __shfl_xor(value, step SIMT_PASS_SITE);
        value = other > value ? other : value;
    }
    return value;
}

template <class type_t> __device__ type_t wave_reduce_min(type_t value SIMT_SITE)
{
#pragma unroll
    for (unsigned step = ROOFTILE_WAVE / 2; step > 0; step /= 2) {
        const type_t other = __shfl_xor(value, step SIMT_PASS_SITE);
        value = other < value ? other : value;
    }
    return value;
}

#ifndef SIMT_OWN_ACCESS
template <class element_t, int count>
__device__ static typename simt_vec_of<element_t, count>::type load_unaligned(const element_t *from)
{
    return *reinterpret_cast<const typename unaligned_vec<element_t, count>::type *>(from);
}

template <class element_t, int count>
__device__ static void store_unaligned(typename simt_vec_of<element_t, count>::type value, element_t *to)
{
    *reinterpret_cast<typename unaligned_vec<element_t, count>::type *>(to) = value;
}

template <class mask_t, class type_t> __device__ static type_t select(mask_t mask, type_t a, type_t b)
{
    return mask ? a : b;
}

template <class type_t> __device__ static type_t load_nt(const type_t *from)
{
    return __builtin_nontemporal_load(from);
}

template <class type_t> __device__ static void store_nt(type_t value, type_t *to)
{
    __builtin_nontemporal_store(value, to);
}
#endif

#ifndef SIMT_OWN_FMA
__device__ static inline float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

__device__ static inline double fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/* Vectors: clang 14 has no element-wise fma builtin, but contracting makes the same instruction. */
template <class type_t> __device__ static type_t fma(type_t a, type_t b, type_t c)
{
#pragma clang fp contract(fast)
    return a * b + c;
}
#endif

__device__ static inline float fast_exp(float x)
{
    return fast_exp2(x * 1.44269504088896341f);
}

__device__ static inline float fast_log(float x)
{
    return fast_log2(x) * 0.693147180559945309f;
}

template <class type_t> __device__ static type_t atomicAdd(type_t *at, simt_same<type_t> value)
{
    return simt_fetch_add(at, value);
}

/* By addition: old compilers have no atomic subtraction of this scope. */
template <class type_t> __device__ static type_t atomicSub(type_t *at, simt_same<type_t> value)
{
    return simt_fetch_add(at, static_cast<type_t>(type_t(0) - value));
}

template <class type_t> __device__ static type_t atomicMin(type_t *at, simt_same<type_t> value)
{
    return SIMT_ATOMIC(fetch_min)(at, value, SIMT_RELAXED);
}

template <class type_t> __device__ static type_t atomicMax(type_t *at, simt_same<type_t> value)
{
    return SIMT_ATOMIC(fetch_max)(at, value, SIMT_RELAXED);
}

template <class type_t> __device__ static type_t atomicAnd(type_t *at, simt_same<type_t> value)
{
    return SIMT_ATOMIC(fetch_and)(at, value, SIMT_RELAXED);
}

template <class type_t> __device__ static type_t atomicOr(type_t *at, simt_same<type_t> value)
{
    return SIMT_ATOMIC(fetch_or)(at, value, SIMT_RELAXED);
}

template <class type_t> __device__ static type_t atomicXor(type_t *at, simt_same<type_t> value)
{
    return SIMT_ATOMIC(fetch_xor)(at, value, SIMT_RELAXED);
}

template <class type_t> __device__ static type_t atomicExch(type_t *at, simt_same<type_t> value)
{
    return SIMT_EXCHANGE(at, value, SIMT_RELAXED);
}

template <class type_t>
__device__ static type_t atomicCAS(type_t *at, simt_same<type_t> expected, simt_same<type_t> value)
{
    SIMT_COMPARE_EXCHANGE(at, &expected, value, SIMT_RELAXED);
    return expected;
}

/* Memory may have changed as far as the compiler knows. */
__device__ static inline void memory_fence_compiler()
{
    asm volatile("" ::: "memory");
}
