/* SPDX-License-Identifier: MIT
 *
 * What clang alone needs of portable.h on NVIDIA GPUs: builtins instead of CUDA's headers, none of which has to be
 * there. Vectors and float16 are its own, as on AMD. Private: the contract is in portable.h.
 *
 * There is no libdevice: what a builtin would call is not there, and says so when the code is made ("no libcall
 * available").
 */
#ifndef ROOFTILE_SIMT_NVIDIA_CLANG_H
#define ROOFTILE_SIMT_NVIDIA_CLANG_H

/* A call that was left would pass its arguments through a stack. What is inlined is not kept besides: LLVM 22 cannot
 * compile functions of their own that take 32-bit pointers to shared memory. */
#define __device__ __attribute__((device, always_inline, internal_linkage))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

__device__ static inline simt_dim3 simt_thread_index()
{
    return {static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x()), static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_y()),
        static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_z())};
}

__device__ static inline simt_dim3 simt_block_index()
{
    return {static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x()),
        static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_y()), static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_z())};
}

__device__ static inline simt_dim3 simt_block_size()
{
    return {static_cast<unsigned>(__nvvm_read_ptx_sreg_ntid_x()), static_cast<unsigned>(__nvvm_read_ptx_sreg_ntid_y()),
        static_cast<unsigned>(__nvvm_read_ptx_sreg_ntid_z())};
}

__device__ static inline simt_dim3 simt_grid_size()
{
    return {static_cast<unsigned>(__nvvm_read_ptx_sreg_nctaid_x()),
        static_cast<unsigned>(__nvvm_read_ptx_sreg_nctaid_y()), static_cast<unsigned>(__nvvm_read_ptx_sreg_nctaid_z())};
}

#define threadIdx (simt_thread_index())
#define blockIdx (simt_block_index())
#define blockDim (simt_block_size())
#define gridDim (simt_grid_size())

/* As portable.h says: an alignment below an element's is the whole vector's. */
template <class element_t, int count, int alignment = sizeof(element_t)> struct unaligned_vec {
    typedef typename simt_vec_of<element_t, count>::type whole_t;
    static constexpr int bytes = alignment < static_cast<int>(alignof(element_t)) ? alignof(whole_t) : alignment;
    typedef element_t type __attribute__((ext_vector_type(count), aligned(bytes)));
};

template <class mask_t, class type_t> __device__ static type_t select(mask_t mask, type_t a, type_t b)
{
    return mask ? a : b;
}

/* ---- atomics ---- */

#define SIMT_ATOMIC(operation) __scoped_atomic_##operation
#define SIMT_EXCHANGE __scoped_atomic_exchange_n
#define SIMT_COMPARE_EXCHANGE(at, expected, value, order)                                                              \
    __scoped_atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_RELAXED, order)
#define SIMT_RELAXED __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE

template <class type_t> __device__ static type_t simt_fetch_add(type_t *at, type_t value)
{
    return __scoped_atomic_fetch_add(at, value, SIMT_RELAXED);
}

/* By its own builtins: up to LLVM 19 the scope of the others is lost. */
template <class type_t> __device__ static type_t simt_cuda_fetch_add_system(type_t *at, type_t value)
{
    if constexpr (sizeof(type_t) == 4)
        return static_cast<type_t>(__nvvm_atom_sys_add_gen_i(reinterpret_cast<int *>(at), static_cast<int>(value)));
    else
        return static_cast<type_t>(
            __nvvm_atom_sys_add_gen_ll(reinterpret_cast<long long *>(at), static_cast<long long>(value)));
}

template <class type_t> __device__ static type_t simt_cuda_swap_system(type_t *at, type_t expected, type_t value)
{
    if constexpr (sizeof(type_t) == 4)
        return static_cast<type_t>(__nvvm_atom_sys_cas_gen_i(
            reinterpret_cast<int *>(at), static_cast<int>(expected), static_cast<int>(value)));
    else
        return static_cast<type_t>(__nvvm_atom_sys_cas_gen_ll(
            reinterpret_cast<long long *>(at), static_cast<long long>(expected), static_cast<long long>(value)));
}

#endif
