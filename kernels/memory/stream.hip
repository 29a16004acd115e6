/* SPDX-License-Identifier: MIT
 *
 * Streaming kernels: how fast memory can be read, written, and both. copy, scale (BabelStream's mul), add, triad and
 * dot do what BabelStream's do, init sets three arrays as its preparation does. read and write are what BabelStream
 * leaves out; update scales one array in place, so that every line is both read and written.
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

/* Elements [begin, end) of the arrays. */
struct span {
    uint64_t begin, end;
};

__device__ static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The part of the arrays that belongs to this workgroup. */
__device__ inline span own_slice(uint64_t n, uint64_t slice)
{
    const uint64_t begin = smaller(blockIdx.x * slice, n);
    return {begin, smaller(begin + slice, n)};
}

/* A block of one has lane 0 only; the constant lets the compiler fold offsets. */
__device__ inline unsigned lane()
{
    return BLOCK == 1 ? 0 : threadIdx.x;
}

/* Pack number `offset` behind element `base`. The base is the same for all lanes and the offset has 32 bits: on AMD
 * that is a scalar address and one vector register, without 64-bit vector arithmetic. */
__device__ static inline pack load(const T *from, uint64_t base, unsigned offset)
{
    return reinterpret_cast<const pack *>(from + base)[offset];
}

__device__ static inline void store(T *to, uint64_t base, unsigned offset, pack value)
{
    pack *const at = &reinterpret_cast<pack *>(to + base)[offset];
    if constexpr (NT)
        store_nt(value, at);
    else
        *at = value;
}

/* Walks a span in whole tiles, then whole rows, then single elements, so any n is right. Calls on_pack(base, offset, d)
 * for the lane's pack in row d of a tile, and on_element(i) for elements that fill no row. */
template <class on_pack_t, class on_element_t>
__device__ inline void walk_once(span range, const on_pack_t &on_pack, const on_element_t &on_element)
{
    uint64_t base = range.begin;
#if defined(                                                                                                           \
    __CUDACC__) /* nvcc would unroll by four: more in flight than DEPTH says, and on sm_100 registers that spill */
#pragma unroll 1
#endif
    for (; base + TILE <= range.end; base += TILE) {
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            on_pack(base, d * BLOCK + lane(), d);
    }
#pragma unroll 1
    for (; base + ROW <= range.end; base += ROW)
        on_pack(base, lane(), 0);
#pragma unroll 1
    for (uint64_t i = base + lane(); i < range.end; i += BLOCK)
        on_element(i);
}

/* The workgroup's slice, `passes` times. The fence keeps the compiler from reusing what it loaded in the pass before.
 */
template <class on_pack_t, class on_element_t>
__device__ inline void walk(
    uint64_t n, uint64_t slice, uint32_t passes, const on_pack_t &on_pack, const on_element_t &on_element)
{
    const span own = own_slice(n, slice);
    for (unsigned pass = 0; pass < passes; ++pass) {
        memory_fence_compiler();
        walk_once(own, on_pack, on_element);
    }
}

/* The whole array, `passes` times: from the workgroup's entry to the end, then from the start to the entry. Entries are
 * whole tiles from the start, spread evenly. */
template <class on_pack_t, class on_element_t>
__device__ inline void walk_shared(
    uint64_t n, uint32_t passes, const on_pack_t &on_pack, const on_element_t &on_element)
{
    const uint64_t entry = n / TILE * blockIdx.x / gridDim.x * TILE;
    for (unsigned part = 0; part < 2 * passes; ++part) {
        memory_fence_compiler();
        walk_once(part % 2 ? span{0, entry} : span{entry, n}, on_pack, on_element);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void stream_write(
    T *__restrict a, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    const pack value = static_cast<pack>(s);
    walk(
        n, slice, passes, [&](uint64_t base, unsigned offset, unsigned) { store(a, base, offset, value); },
        [&](uint64_t i) { a[i] = s; });
}
KERNEL_EXPORT(stream_write)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_write_shared(
    T *__restrict a, T s, uint64_t n, uint32_t passes)
{
    const pack value = static_cast<pack>(s);
    walk_shared(
        n, passes, [&](uint64_t base, unsigned offset, unsigned) { store(a, base, offset, value); },
        [&](uint64_t i) { a[i] = s; });
}
KERNEL_EXPORT(stream_write_shared)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_init(T *__restrict a, T *__restrict b, T *__restrict c,
    T first, T second, T third, uint64_t n, uint64_t slice, uint32_t passes)
{
    const pack firsts = static_cast<pack>(first), seconds = static_cast<pack>(second),
               thirds = static_cast<pack>(third);
    walk(
        n, slice, passes,
        [&](uint64_t base, unsigned offset, unsigned) {
            store(a, base, offset, firsts);
            store(b, base, offset, seconds);
            store(c, base, offset, thirds);
        },
        [&](uint64_t i) {
            a[i] = first;
            b[i] = second;
            c[i] = third;
        });
}
KERNEL_EXPORT(stream_init)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_update(
    T *__restrict a, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(
        n, slice, passes,
        [&](uint64_t base, unsigned offset, unsigned) { store(a, base, offset, s * load(a, base, offset)); },
        [&](uint64_t i) { a[i] = s * a[i]; });
}
KERNEL_EXPORT(stream_update)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_copy(
    T *__restrict c, const T *__restrict a, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(
        n, slice, passes,
        [&](uint64_t base, unsigned offset, unsigned) { store(c, base, offset, load(a, base, offset)); },
        [&](uint64_t i) { c[i] = a[i]; });
}
KERNEL_EXPORT(stream_copy)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_scale(
    T *__restrict b, const T *__restrict c, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(
        n, slice, passes,
        [&](uint64_t base, unsigned offset, unsigned) { store(b, base, offset, s * load(c, base, offset)); },
        [&](uint64_t i) { b[i] = s * c[i]; });
}
KERNEL_EXPORT(stream_scale)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_add(
    T *__restrict c, const T *__restrict a, const T *__restrict b, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(
        n, slice, passes,
        [&](uint64_t base, unsigned offset, unsigned) {
            store(c, base, offset, load(a, base, offset) + load(b, base, offset));
        },
        [&](uint64_t i) { c[i] = a[i] + b[i]; });
}
KERNEL_EXPORT(stream_add)

extern "C" __global__ __launch_bounds__(BLOCK) void stream_triad(
    T *__restrict a, const T *__restrict b, const T *__restrict c, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    walk(
        n, slice, passes,
        [&](uint64_t base, unsigned offset, unsigned) {
            store(a, base, offset, load(b, base, offset) + s * load(c, base, offset));
        },
        [&](uint64_t i) { a[i] = b[i] + s * c[i]; });
}
KERNEL_EXPORT(stream_triad)

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

__device__ inline T sum_all(const sums &sum)
{
    T total = sum.rest;
#pragma unroll
    for (unsigned d = 0; d < DEPTH; ++d)
        total += pack_sum(sum.of_row[d]);
    return group_sum(total);
}

/* Sums up what it reads, so that nothing can be left out: result[g] is the sum of workgroup g's slice, over all passes.
 */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_read(
    T *__restrict result, const T *__restrict a, uint64_t n, uint64_t slice, uint32_t passes)
{
    sums sum = {};
    walk(
        n, slice, passes, [&](uint64_t base, unsigned offset, unsigned d) { sum.of_row[d] += load(a, base, offset); },
        [&](uint64_t i) { sum.rest += a[i]; });
    const T total = sum_all(sum);
    if (threadIdx.x == 0)
        result[blockIdx.x] = total;
}
KERNEL_EXPORT(stream_read)

/* Each result is the sum of the whole array, over all passes. */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_read_shared(
    T *__restrict result, const T *__restrict a, uint64_t n, uint32_t passes)
{
    sums sum = {};
    walk_shared(
        n, passes, [&](uint64_t base, unsigned offset, unsigned d) { sum.of_row[d] += load(a, base, offset); },
        [&](uint64_t i) { sum.rest += a[i]; });
    const T total = sum_all(sum);
    if (threadIdx.x == 0)
        result[blockIdx.x] = total;
}
KERNEL_EXPORT(stream_read_shared)

/* First step of the dot product: partial[g] is the sum over workgroup g's slice. */
extern "C" __global__ __launch_bounds__(BLOCK) void stream_dot(
    T *__restrict partial, const T *__restrict a, const T *__restrict b, uint64_t n, uint64_t slice)
{
    sums sum = {};
    walk(
        n, slice, 1,
        [&](uint64_t base, unsigned offset, unsigned d) {
            sum.of_row[d] += load(a, base, offset) * load(b, base, offset);
        },
        [&](uint64_t i) { sum.rest += a[i] * b[i]; });
    const T total = sum_all(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}
KERNEL_EXPORT(stream_dot)

/* Second step: one workgroup adds the partial sums. It is a launch of its own because nothing else orders workgroups.
 */
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
KERNEL_EXPORT(stream_dot_finish)
