/* SPDX-License-Identifier: MIT
 *
 * Streaming kernels: how fast memory can be read, written, and both. copy, scale (BabelStream's mul), add, triad and
 * dot do what BabelStream's do, init sets three arrays as its preparation does. read and write are what BabelStream
 * skips; update scales one array in place, so that every line is both read and written.
 *
 * All of them walk memory in the same way. Workgroup g owns the slice [g * slice, (g + 1) * slice) of every array and
 * goes over it `passes` times:
 *
 *     one tile per workgroup, one pass       the classic streaming grid: the hardware distributes the workgroups
 *     one slice per compute unit, passes     a private footprint per unit, for the bandwidth of caches
 *
 * In read_shared and write_shared every workgroup goes over the whole array instead, each from its own starting point,
 * so that they do not all touch the same lines at the same time.
 *
 * In a tile the lanes of a workgroup access adjacent packs (coalescing), and each lane has DEPTH packs in flight before
 * it uses the first: by Little's law it is bytes in flight that make bandwidth, not instructions.
 *
 *     tile:  | pack of lane 0 | lane 1 | ... | lane BLOCK-1 |   row 0
 *            | pack of lane 0 | lane 1 | ... | lane BLOCK-1 |   row 1 ... DEPTH-1
 *
 * Defines: T element type; VEC elements in a pack; BLOCK work-items; DEPTH packs per lane and tile; NT 1: non-temporal
 * stores, which bypass the caches and save the read of a line that is overwritten anyway (right beyond the last cache,
 * wrong inside it).
 */
#include "portable.h"

typedef typename vec<T, VEC>::type pack;

static constexpr unsigned ROW = BLOCK * VEC; /* elements that a workgroup touches at once */
static constexpr unsigned TILE = ROW * DEPTH;

__device__ static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What the body of a walk works on: a pack, number `offset` behind element `base` and in `row` of its tile, or one
 * element. The base is the same for all lanes and the offset has 32 bits: on AMD that is a scalar address and one
 * vector register, without 64-bit vector arithmetic. */
struct pack_at {
    uint64_t base;
    unsigned offset, row;
};
struct element_at {
    uint64_t index;
};

__device__ static inline pack load(const T *from, pack_at at)
{
    if constexpr (ISOLATE == ISOLATE_MATH)
        return static_cast<pack>(static_cast<T>(at.offset));
    return reinterpret_cast<const pack *>(from + at.base)[at.offset];
}

__device__ static inline T load(const T *from, element_at at)
{
    if constexpr (ISOLATE == ISOLATE_MATH)
        return static_cast<T>(at.index);
    return from[at.index];
}

__device__ static inline void store(T *to, pack_at at, pack value)
{
    pack *const into = &reinterpret_cast<pack *>(to + at.base)[at.offset];
    if constexpr (ISOLATE)
        keep(value);
    else if constexpr (NT)
        store_nt(value, into);
    else
        *into = value;
}

__device__ static inline void store(T *to, element_at at, T value)
{
    if constexpr (ISOLATE)
        keep(value);
    else
        to[at.index] = value;
}

/* Walks elements [begin, end) in whole tiles, then whole rows, then single elements, so any n is right. */
template <class body_t> __device__ inline void walk_once(uint64_t begin, uint64_t end, const body_t &body)
{
    uint64_t base = begin;
    /* nvcc would unroll by four: more in flight than DEPTH says, and on sm_100 registers that spill. */
#if defined(__CUDACC__)
#pragma unroll 1
#endif
    for (; base + TILE <= end; base += TILE) {
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            body(pack_at{base, d * BLOCK + threadIdx.x, d});
    }
#pragma unroll 1
    for (; base + ROW <= end; base += ROW)
        body(pack_at{base, threadIdx.x, 0});
#pragma unroll 1
    for (uint64_t i = base + threadIdx.x; i < end; i += BLOCK)
        body(element_at{i});
}

/* The workgroup's slice, `passes` times. The fence keeps the compiler from reusing what an earlier pass loaded. */
template <class body_t> __device__ inline void walk(uint64_t n, uint64_t slice, uint32_t passes, const body_t &body)
{
    const uint64_t begin = smaller(blockIdx.x * slice, n), end = smaller(begin + slice, n);
    for (unsigned pass = 0; pass < passes; ++pass) {
        memory_fence_compiler();
        walk_once(begin, end, body);
    }
}

/* The whole array, `passes` times: from the workgroup's entry to the end, then from the start to the entry. Entries are
 * whole tiles from the start, spread evenly. */
template <class body_t> __device__ inline void walk_shared(uint64_t n, uint32_t passes, const body_t &body)
{
    const uint64_t entry = n / TILE * blockIdx.x / gridDim.x * TILE;
    for (unsigned part = 0; part < 2 * passes; ++part) {
        memory_fence_compiler();
        walk_once(part % 2 ? 0 : entry, part % 2 ? entry : n, body);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_write(
    T *__restrict a, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) { store(a, at, s); });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_write_shared(
    T *__restrict a, T s, uint64_t n, uint32_t passes)
{
    walk_shared(n, passes, [&](auto at) { store(a, at, s); });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_init(T *__restrict a, T *__restrict b, T *__restrict c,
    T first, T second, T third, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) {
        store(a, at, first);
        store(b, at, second);
        store(c, at, third);
    });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_update(
    T *__restrict a, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) { store(a, at, s * load(a, at)); });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_copy(
    T *__restrict c, const T *__restrict a, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) { store(c, at, load(a, at)); });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_scale(
    T *__restrict b, const T *__restrict c, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) { store(b, at, s * load(c, at)); });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_add(
    T *__restrict c, const T *__restrict a, const T *__restrict b, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) { store(c, at, load(a, at) + load(b, at)); });
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_triad(
    T *__restrict a, const T *__restrict b, const T *__restrict c, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(n, slice, passes, [&](auto at) { store(a, at, load(b, at) + s * load(c, at)); });
}

__device__ static constexpr unsigned waves()
{
    return BLOCK > wave_size() ? BLOCK / wave_size() : 1;
}

/* The sum of one value per lane, valid in lane 0 of the workgroup. First over the lanes of a wave by shuffles, then
 * over one value per wave through LDS. */
template <class type_t> __device__ type_t group_sum(type_t value)
{
    if constexpr (BLOCK > 1) {
        value = wave_reduce_add(value);
        if constexpr (waves() > 1) {
            __shared__ type_t of_wave[waves()];
            if (lane_id() == 0)
                of_wave[wave_id()] = value;
            __syncthreads();
            if (wave_id() == 0)
                value = wave_reduce_add(lane_id() < waves() ? of_wave[lane_id()] : type_t(0));
        }
    }
    return value;
}

/* Of all elements of a pack; a pack of one element is the element itself. */
template <class pack_t> __device__ static T pack_sum(pack_t value)
{
    if constexpr (VEC == 1) {
        return value;
    } else {
        T sum = value[0];
#pragma unroll
        for (int e = 1; e < VEC; ++e)
            sum += value[e];
        return sum;
    }
}

/* A lane's sums, one per row of a tile: an addition has a latency, and a single sum would wait for it at every pack. */
struct sums {
    pack of_row[DEPTH];
    T rest; /* single elements */
};

__device__ static inline void add(sums &sum, pack_at at, pack value)
{
    sum.of_row[at.row] += value;
}

__device__ static inline void add(sums &sum, element_at, T value)
{
    sum.rest += value;
}

__device__ inline T sum_all(const sums &sum)
{
    T total = sum.rest;
#pragma unroll
    for (unsigned d = 0; d < DEPTH; ++d)
        total += pack_sum(sum.of_row[d]);
    return group_sum(total);
}

/* Sums up what it reads, so no read can be dropped: result[g] is the sum of workgroup g's slice, over all passes. */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_read(
    T *__restrict result, const T *__restrict a, uint64_t n, uint64_t slice, uint32_t passes)
{
    sums sum = {};
    walk(n, slice, passes, [&](auto at) { add(sum, at, load(a, at)); });
    const T total = sum_all(sum);
    if (threadIdx.x == 0)
        result[blockIdx.x] = total;
}

/* Each result is the sum of the whole array, over all passes. */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_read_shared(
    T *__restrict result, const T *__restrict a, uint64_t n, uint32_t passes)
{
    sums sum = {};
    walk_shared(n, passes, [&](auto at) { add(sum, at, load(a, at)); });
    const T total = sum_all(sum);
    if (threadIdx.x == 0)
        result[blockIdx.x] = total;
}

/* First step of the dot product: partial[g] is the sum over workgroup g's slice. */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_dot(
    T *__restrict partial, const T *__restrict a, const T *__restrict b, uint64_t n, uint64_t slice)
{
    sums sum = {};
    walk(n, slice, 1, [&](auto at) { add(sum, at, load(a, at) * load(b, at)); });
    const T total = sum_all(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}

/* Second step: one workgroup adds the partial sums. A separate launch, as nothing else orders workgroups. */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_dot_finish(
    T *__restrict result, const T *__restrict partial, uint32_t count)
{
    T sum = 0;
    for (unsigned g = threadIdx.x; g < count; g += BLOCK)
        sum += partial[g];
    sum = group_sum(sum);
    if (threadIdx.x == 0)
        result[0] = sum;
}
