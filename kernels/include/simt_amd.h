/* SPDX-License-Identifier: MIT
 *
 * portable.h on AMD GPUs, from compiler builtins only. Private: the contract is in portable.h.
 */
#ifndef ROOFTILE_SIMT_AMD_H
#define ROOFTILE_SIMT_AMD_H

#ifndef __device__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
/* clang's own launch_bounds attribute has no effect on AMD targets: without this every kernel is built for 1,024
 * work-items, which caps CDNA at 128 VGPRs. */
#define SIMT_LANES(lanes) __attribute__((amdgpu_flat_work_group_size(1, lanes)))
#define SIMT_LANES_WAVES(lanes, waves)                                                                                 \
    __attribute__((amdgpu_flat_work_group_size(1, lanes), amdgpu_waves_per_eu(waves)))
#define SIMT_THIRD(first, second, third, ...) third
#define __launch_bounds__(...) SIMT_THIRD(__VA_ARGS__, SIMT_LANES_WAVES, SIMT_LANES, )(__VA_ARGS__)
#endif

#define DYNAMIC_SHARED(type, name) extern __attribute__((shared, aligned(16))) type name[]

/* Where waves have two sizes the build says which: compilers since LLVM 22 have no macro for it. */
#if !defined(ROOFTILE_WAVE) && defined(__GFX9__)
#define ROOFTILE_WAVE 64u
#elif !defined(ROOFTILE_WAVE)
#define ROOFTILE_WAVE 32u
#endif
#define SIMT_SITE
#define SIMT_PASS_SITE
#define SIMT_ATOMIC(operation) __hip_atomic_##operation
#define SIMT_EXCHANGE __hip_atomic_exchange
#define SIMT_COMPARE_EXCHANGE(at, expected, value, order)                                                              \
    __hip_atomic_compare_exchange_strong(at, expected, value, __ATOMIC_RELAXED, order)
#define SIMT_RELAXED __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT

__device__ static inline simt_dim3 simt_thread_index()
{
    return {static_cast<unsigned>(__builtin_amdgcn_workitem_id_x()),
        static_cast<unsigned>(__builtin_amdgcn_workitem_id_y()),
        static_cast<unsigned>(__builtin_amdgcn_workitem_id_z())};
}

__device__ static inline simt_dim3 simt_block_index()
{
    return {static_cast<unsigned>(__builtin_amdgcn_workgroup_id_x()),
        static_cast<unsigned>(__builtin_amdgcn_workgroup_id_y()),
        static_cast<unsigned>(__builtin_amdgcn_workgroup_id_z())};
}

__device__ static inline simt_dim3 simt_block_size()
{
    return {static_cast<unsigned>(__builtin_amdgcn_workgroup_size_x()),
        static_cast<unsigned>(__builtin_amdgcn_workgroup_size_y()),
        static_cast<unsigned>(__builtin_amdgcn_workgroup_size_z())};
}

/* The packet counts work-items; workgroups are never partial here. */
__device__ static inline simt_dim3 simt_grid_size()
{
    return {__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
        __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(),
        __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z()};
}

#define threadIdx (simt_thread_index())
#define blockIdx (simt_block_index())
#define blockDim (simt_block_size())
#define gridDim (simt_grid_size())

__device__ static inline unsigned thread_id()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ static inline unsigned lane_id()
{
#if ROOFTILE_WAVE == 64
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#else
    return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#endif
}

__device__ static inline unsigned wave_id()
{
    return thread_id() / ROOFTILE_WAVE;
}

__device__ static inline void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* In assembly, because the compiler's barrier waits for every load in flight: on RDNA because two compute units share a
 * workgroup but no cache, on others in case the barrier is interrupted. */
__device__ static inline void lds_barrier()
{
#if defined(__GFX12__)
    asm volatile("s_wait_dscnt 0x0\n\ts_barrier_signal -1\n\ts_barrier_wait -1" ::: "memory");
#else
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
#endif
}

__device__ static inline uint32_t permute_bytes(uint32_t high, uint32_t low, uint32_t selectors)
{
    return __builtin_amdgcn_perm(high, low, selectors);
}

__device__ static inline uint32_t bit_mask(uint32_t word, uint32_t number)
{
    return static_cast<uint32_t>(__builtin_amdgcn_sbfe(static_cast<int>(word), number, 1));
}

__device__ static inline void schedule_fence()
{
#if __has_builtin(__builtin_amdgcn_sched_barrier)
    __builtin_amdgcn_sched_barrier(0);
#endif
}

struct simt_words {
    int low, high;
};

template <class type_t> __device__ type_t simt_read_lane(type_t value, unsigned lane)
{
    const int at = static_cast<int>(lane * 4);
    if constexpr (sizeof(type_t) == 4) {
        return __builtin_bit_cast(type_t, __builtin_amdgcn_ds_bpermute(at, __builtin_bit_cast(int, value)));
    } else {
        static_assert(sizeof(type_t) == 8, "wave operations take types of 4 or 8 bytes");
        const simt_words words = __builtin_bit_cast(simt_words, value);
        return __builtin_bit_cast(type_t,
            simt_words{__builtin_amdgcn_ds_bpermute(at, words.low), __builtin_amdgcn_ds_bpermute(at, words.high)});
    }
}

/* 0x121 is row_ror:1; all rows and banks. */
template <class type_t> __device__ type_t row_rotate(type_t value)
{
    static_assert(sizeof(type_t) == 4, "a DPP move takes 4 bytes");
    return __builtin_bit_cast(type_t, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, value), 0x121, 0xf, 0xf, true));
}

/* LLVM does not know that WMMA and, before 22, v_permlane16 work on all lanes together: if only some lanes use the
 * result, it moves them behind the branch that those take (llvm-project pull requests 142962, 165602, 178314, 182162;
 * clang 22 still moves the WMMA of gfx11). In HIP asm statements are convergent: even an empty one stays where it is,
 * and with it the computation of what it reads. */
#define SIMT_HERE(vgprs) asm("" : "+v"(vgprs))

#if __has_builtin(__builtin_amdgcn_permlane16)
template <class type_t> __device__ type_t row_permute(type_t value, uint32_t low, uint32_t high)
{
    static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
    unsigned bits = __builtin_bit_cast(unsigned, value);
    bits = __builtin_amdgcn_permlane16(bits, bits, low, high, false, false);
    SIMT_HERE(bits);
    return __builtin_bit_cast(type_t, bits);
}

template <class type_t> __device__ type_t row_permute_other(type_t value, uint32_t low, uint32_t high)
{
    static_assert(sizeof(type_t) == 4, "a permutation of a row takes 4 bytes");
    unsigned bits = __builtin_bit_cast(unsigned, value);
    bits = __builtin_amdgcn_permlanex16(bits, bits, low, high, false, false);
    SIMT_HERE(bits);
    return __builtin_bit_cast(type_t, bits);
}
#endif

template <class type_t> __device__ type_t push_lane(type_t value, unsigned lane)
{
    static_assert(sizeof(type_t) == 4, "a lane is sent 4 bytes");
    const int at = static_cast<int>(lane % ROOFTILE_WAVE * 4);
    return __builtin_bit_cast(type_t, __builtin_amdgcn_ds_permute(at, __builtin_bit_cast(int, value)));
}

/* Bits 10 to 14 are the mask of the exclusive or, 0 to 4 that of the bits that are kept: all. */
template <unsigned mask, class type_t> __device__ type_t xor_lane(type_t value)
{
    static_assert(sizeof(type_t) == 4 && mask < 32, "a swizzle takes 4 bytes, within 32 lanes");
    return __builtin_bit_cast(type_t, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, value), mask << 10 | 0x1f));
}

__device__ static inline uint64_t __ballot(bool predicate)
{
#if !__has_builtin(__builtin_amdgcn_ballot_w64) /* clang 14; 33 is llvm::CmpInst::ICMP_NE */
    return __builtin_amdgcn_uicmp(static_cast<unsigned>(predicate), 0u, 33);
#elif ROOFTILE_WAVE == 64
    return __builtin_amdgcn_ballot_w64(predicate);
#else
    return __builtin_amdgcn_ballot_w32(predicate);
#endif
}

__device__ static inline bool __any(bool predicate)
{
    return __ballot(predicate) != 0;
}

__device__ static inline bool __all(bool predicate)
{
    return __ballot(!predicate) == 0;
}

template <class type_t> __device__ type_t simt_fetch_add(type_t *at, type_t value)
{
    return __hip_atomic_fetch_add(at, value, SIMT_RELAXED);
}

__device__ static inline float fast_exp2(float x)
{
#if __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else
    return __builtin_exp2f(x);
#endif
}

__device__ static inline float fast_log2(float x)
{
#if __has_builtin(__builtin_amdgcn_logf)
    return __builtin_amdgcn_logf(x);
#else
    return __builtin_log2f(x);
#endif
}

__device__ static inline float fast_rsqrt(float x)
{
    return __builtin_amdgcn_rsqf(x);
}

__device__ static inline float fast_rcp(float x)
{
    return __builtin_amdgcn_rcpf(x);
}

__device__ static inline float fast_sqrt(float x)
{
    return __builtin_amdgcn_sqrtf(x);
}

__device__ static inline float fast_sin_turns(float x)
{
    return __builtin_amdgcn_sinf(x);
}

#if __has_builtin(__builtin_amdgcn_sudot4)
__device__ static inline uint32_t dot_i8(uint32_t acc, uint32_t a, uint32_t b)
{
    return static_cast<uint32_t>(
        __builtin_amdgcn_sudot4(true, static_cast<int>(a), true, static_cast<int>(b), static_cast<int>(acc), false));
}
#elif __has_builtin(__builtin_amdgcn_sdot4)
__device__ static inline uint32_t dot_i8(uint32_t acc, uint32_t a, uint32_t b)
{
    return static_cast<uint32_t>(
        __builtin_amdgcn_sdot4(static_cast<int>(a), static_cast<int>(b), static_cast<int>(acc), false));
}
#endif

#if __has_builtin(__builtin_amdgcn_sudot8)
__device__ static inline uint32_t dot_i4(uint32_t acc, uint32_t a, uint32_t b)
{
    return static_cast<uint32_t>(
        __builtin_amdgcn_sudot8(true, static_cast<int>(a), true, static_cast<int>(b), static_cast<int>(acc), false));
}
#elif __has_builtin(__builtin_amdgcn_sdot8)
__device__ static inline uint32_t dot_i4(uint32_t acc, uint32_t a, uint32_t b)
{
    return static_cast<uint32_t>(
        __builtin_amdgcn_sdot8(static_cast<int>(a), static_cast<int>(b), static_cast<int>(acc), false));
}
#endif

#if __has_builtin(__builtin_amdgcn_fdot2)
typedef _Float16 simt_f16x2 __attribute__((ext_vector_type(2)));
__device__ static inline float dot_f16(float acc, uint32_t a, uint32_t b)
{
    return __builtin_amdgcn_fdot2(__builtin_bit_cast(simt_f16x2, a), __builtin_bit_cast(simt_f16x2, b), acc, false);
}
#endif

#if __has_builtin(__builtin_amdgcn_fdot2_f32_bf16)
#if __clang_major__ >= 18
typedef __bf16 simt_bf16x2 __attribute__((ext_vector_type(2)));
#else /* the builtin took the bits */
typedef short simt_bf16x2 __attribute__((ext_vector_type(2)));
#endif
__device__ static inline float dot_bf16(float acc, uint32_t a, uint32_t b)
{
    return __builtin_amdgcn_fdot2_f32_bf16(
        __builtin_bit_cast(simt_bf16x2, a), __builtin_bit_cast(simt_bf16x2, b), acc, false);
}
#endif

__device__ static inline uint64_t read_cycles()
{
    return __builtin_readcyclecounter();
}

/* gfx11 and gfx12 have no s_memrealtime: they ask through a message (128 = return a value, 3 = real time). */
__device__ static inline uint64_t read_realtime()
{
#if (defined(__GFX11__) || defined(__GFX12__)) && __has_builtin(__builtin_amdgcn_s_sendmsg_rtnl)
    return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#elif defined(__GFX11__) || defined(__GFX12__) /* clang 15 has the instruction only */
    uint64_t ticks;
    asm volatile("s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_waitcnt lgkmcnt(0)" : "=s"(ticks));
    return ticks;
#else
    return __builtin_amdgcn_s_memrealtime();
#endif
}

/* gfx11 has SHADER_CYCLES in one hardware register of 20 bits. */
__device__ static constexpr unsigned cycle_counter_bits()
{
#if defined(__GFX11__)
    return 20;
#else
    return 64;
#endif
}

template <class type_t> __device__ type_t load_host(const type_t *at)
{
    return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

template <class type_t> __device__ void store_host(type_t *at, type_t value)
{
    __hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

/* 127 times 64 clocks. */
__device__ static inline void nap()
{
    __builtin_amdgcn_s_sleep(127);
}

template <class type_t> __device__ void keep(type_t value)
{
    asm volatile("" ::"v"(value));
}

template <class type_t> __device__ type_t opaque(type_t value)
{
    asm volatile("" : "+v"(value));
    return value;
}

template <class type_t> __device__ type_t opaque_uniform(type_t value)
{
    if constexpr (sizeof(type_t) == 2) { /* before gfx12 nothing loads 16 bits into a scalar register */
        uint32_t bits = __builtin_amdgcn_readfirstlane(__builtin_bit_cast(uint16_t, value));
        asm volatile("" : "+s"(bits));
        return __builtin_bit_cast(type_t, static_cast<uint16_t>(bits));
    } else if constexpr (sizeof(type_t) == 4) { /* what was computed in vector registers moves */
        int bits = __builtin_amdgcn_readfirstlane(__builtin_bit_cast(int, value));
        asm volatile("" : "+s"(bits));
        return __builtin_bit_cast(type_t, bits);
    } else {
        asm volatile("" : "+s"(value));
        return value;
    }
}

#include "simt_common.h"

#endif
