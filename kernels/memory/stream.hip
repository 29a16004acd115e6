/* SPDX-License-Identifier: MIT
 *
 * Streaming kernels: how fast memory can be read, written, and both. copy, scale (BabelStream's mul), add, triad and
 * dot have BabelStream's meaning, init sets three arrays as its preparation does; read and write are its missing halves,
 * update scales one array in place (every line is read and stored, none is only one of both).
 *
 * All of them walk memory in the same way. Workgroup g owns the slice [g * slice, (g + 1) * slice) of every array and
 * goes over it `passes` times:
 *
 *     one tile per workgroup, one pass       the classic streaming grid: the hardware deals out workgroups
 *     one slice per compute unit, passes     a private footprint per unit, for the bandwidth of caches
 *
 * read_shared and write_shared own nothing: every workgroup goes over all of the array, each from a place of its own, so
 * that they do not meet by marching in step.
 *
 * In a tile the lanes of a workgroup read neighbouring packs (coalescing), and each lane has DEPTH packs on the way
 * before it uses the first: bytes in flight, not instructions, are what bandwidth is made of (Little's law).
 *
 *     tile:  | pack of lane 0 | lane 1 | ... | lane BLOCK-1 |   row 0
 *            | pack of lane 0 | lane 1 | ... | lane BLOCK-1 |   row 1 ... DEPTH-1
 *
 * Defines: T element type; VEC elements in a pack; BLOCK work-items; DEPTH packs per lane and tile; NT 1 = streaming
 * stores, which go around the caches and spare the read of a line that is overwritten anyway (right beyond the last
 * cache, wrong inside).
 */
#include "portable.h"

typedef typename vec<T, VEC>::type pack;

static constexpr unsigned ROW = BLOCK * VEC; /* elements that a workgroup touches at once */
static constexpr unsigned TILE = ROW * DEPTH;

/* The part of the arrays that belongs to this workgroup: elements [begin, end). */
struct span {
    uint64_t begin, end;
};

__device__ static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

__device__ static inline span slice_of(unsigned group, uint64_t n, uint64_t slice)
{
    const uint64_t begin = smaller(group * slice, n);
    return {begin, smaller(begin + slice, n)};
}

/* A workgroup of one work-item (the CPU device) has lane 0 only, and knowing it turns offsets into constants. */
__device__ static constexpr unsigned lane_of(unsigned thread)
{
    return BLOCK == 1 ? 0 : thread;
}

/* Pack number `place` behind element `at`. The base is the same for all lanes and the offset is 32 bits wide: on AMD
 * that is one scalar address, one vector offset, and no 64-bit vector arithmetic. */
__device__ static inline pack get(const T *from, uint64_t at, unsigned place)
{
    return reinterpret_cast<const pack *>(from + at)[place];
}

__device__ static inline void put(T *to, uint64_t at, unsigned place, pack value)
{
    pack *const here = &reinterpret_cast<pack *>(to + at)[place];
    if constexpr (NT)
        store_nt(value, here);
    else
        *here = value;
}

/* nvcc unrolls the loop over tiles by four: more on the way than DEPTH says, and on sm_100 registers that spill. */
#if defined(__CUDACC__)
#define TILE_BY_TILE NO_UNROLL
#else
#define TILE_BY_TILE
#endif

/* Walks a span: whole tiles, then whole rows, then single elements, so any n is right. `PACKS` is done for the pack
 * at (at, place), `ONE` for element `i`. A macro because on the CPU a kernel's body may not hide in a lambda (it would
 * lose its work-item), and all these walks must stay alike. `SPAN` is the span of pass number `pass`. */
#define WALK_SPANS(passes, SPAN, PACKS, ONE)                                                                           \
    const unsigned lane = lane_of(threadIdx.x);                                                                        \
    for (unsigned pass = 0; pass < (passes); ++pass) {                                                                 \
        memory_fence_compiler(); /* a pass is not the previous one's result */                                         \
        const span mine = SPAN;                                                                                        \
        uint64_t at = mine.begin;                                                                                      \
        TILE_BY_TILE                                                                                                   \
        for (; at + TILE <= mine.end; at += TILE) {                                                                    \
            UNROLL                                                                                                     \
            for (unsigned d = 0; d < DEPTH; ++d) {                                                                     \
                const unsigned place = d * BLOCK + lane;                                                               \
                PACKS;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        NO_UNROLL                                                                                                      \
        for (; at + ROW <= mine.end; at += ROW) {                                                                      \
            const unsigned d = 0, place = lane;                                                                        \
            (void)d;                                                                                                   \
            PACKS;                                                                                                     \
        }                                                                                                              \
        NO_UNROLL                                                                                                      \
        for (uint64_t i = at + lane; i < mine.end; i += BLOCK) {                                                       \
            ONE;                                                                                                       \
        }                                                                                                              \
    }

#define WALK(n, slice, passes, PACKS, ONE)                                                                             \
    const span own = slice_of(blockIdx.x, n, slice);                                                                   \
    WALK_SPANS(passes, own, PACKS, ONE)

/* Where workgroup `group` begins with an array that all share: whole tiles from its start, evenly spread. */
__device__ static inline uint64_t entry_of(unsigned group, unsigned groups, uint64_t n)
{
    return n / TILE * group / groups * TILE;
}

/* From the entry to the end, then from the start to the entry. */
#define WALK_SHARED(n, passes, PACKS, ONE)                                                                             \
    const uint64_t entry = entry_of(blockIdx.x, gridDim.x, n);                                                         \
    WALK_SPANS(2 * (passes), (pass % 2 ? span{0, entry} : span{entry, n}), PACKS, ONE)

KERNEL __launch_bounds__(BLOCK) void stream_write(T *__restrict a, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    const pack value = static_cast<pack>(s);
    WALK(n, slice, passes, put(a, at, place, value), a[i] = s);
}
KERNEL_EXPORT(stream_write)

KERNEL __launch_bounds__(BLOCK) void stream_write_shared(T *__restrict a, T s, uint64_t n, uint32_t passes)
{
    const pack value = static_cast<pack>(s);
    WALK_SHARED(n, passes, put(a, at, place, value), a[i] = s);
}
KERNEL_EXPORT(stream_write_shared)

KERNEL __launch_bounds__(BLOCK) void stream_init(T *__restrict a, T *__restrict b, T *__restrict c, T first, T second,
                                                 T third, uint64_t n, uint64_t slice, uint32_t passes)
{
    const pack firsts = static_cast<pack>(first), seconds = static_cast<pack>(second),
               thirds = static_cast<pack>(third);
    WALK(
        n, slice, passes,
        {
            put(a, at, place, firsts);
            put(b, at, place, seconds);
            put(c, at, place, thirds);
        },
        {
            a[i] = first;
            b[i] = second;
            c[i] = third;
        });
}
KERNEL_EXPORT(stream_init)

KERNEL __launch_bounds__(BLOCK) void stream_update(T *__restrict a, T s, uint64_t n, uint64_t slice, uint32_t passes)
{
    WALK(n, slice, passes, put(a, at, place, s * get(a, at, place)), a[i] = s * a[i]);
}
KERNEL_EXPORT(stream_update)

KERNEL __launch_bounds__(BLOCK) void stream_copy(T *__restrict c, const T *__restrict a, uint64_t n, uint64_t slice,
                                                 uint32_t passes)
{
    WALK(n, slice, passes, put(c, at, place, get(a, at, place)), c[i] = a[i]);
}
KERNEL_EXPORT(stream_copy)

KERNEL __launch_bounds__(BLOCK) void stream_scale(T *__restrict b, const T *__restrict c, T s, uint64_t n,
                                                  uint64_t slice, uint32_t passes)
{
    WALK(n, slice, passes, put(b, at, place, s * get(c, at, place)), b[i] = s * c[i]);
}
KERNEL_EXPORT(stream_scale)

KERNEL __launch_bounds__(BLOCK) void stream_add(T *__restrict c, const T *__restrict a, const T *__restrict b,
                                                uint64_t n, uint64_t slice, uint32_t passes)
{
    WALK(n, slice, passes, put(c, at, place, get(a, at, place) + get(b, at, place)), c[i] = a[i] + b[i]);
}
KERNEL_EXPORT(stream_add)

KERNEL __launch_bounds__(BLOCK) void stream_triad(T *__restrict a, const T *__restrict b, const T *__restrict c, T s,
                                                  uint64_t n, uint64_t slice, uint32_t passes)
{
    WALK(n, slice, passes, put(a, at, place, get(b, at, place) + s * get(c, at, place)), a[i] = b[i] + s * c[i]);
}
KERNEL_EXPORT(stream_triad)

/* One value per lane becomes their sum, known to lane 0 of the workgroup. First the lanes of a wave among
 * themselves through shuffles (no memory, no barrier), then one value per wave through LDS. */
__device__ static constexpr unsigned waves()
{
    return BLOCK > wave_size() ? BLOCK / wave_size() : 1;
}

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
        UNROLL
        for (int e = 1; e < VEC; ++e)
            sum += value[e];
        return sum;
    }
}

/* DEPTH sums per lane: an addition has a latency, and one sum would wait for it at every pack. */
#define SUM_ALL(sums, rest)                                                                                            \
    T total = rest;                                                                                                    \
    UNROLL                                                                                                             \
    for (unsigned d = 0; d < DEPTH; ++d)                                                                               \
        total += pack_sum(sums[d]);                                                                                    \
    total = group_sum(total)

/* Reads everything and shows it: sums[g] is the sum of workgroup g's slice, over all passes. */
KERNEL __launch_bounds__(BLOCK) void stream_read(T *__restrict sums, const T *__restrict a, uint64_t n, uint64_t slice,
                                                 uint32_t passes)
{
    pack sum[DEPTH] = {};
    T rest = 0;
    WALK(n, slice, passes, sum[d] += get(a, at, place), rest += a[i]);
    SUM_ALL(sum, rest);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}
KERNEL_EXPORT(stream_read)

/* Each sum is that of the whole array, over all passes. */
KERNEL __launch_bounds__(BLOCK) void stream_read_shared(T *__restrict sums, const T *__restrict a, uint64_t n,
                                                        uint32_t passes)
{
    pack sum[DEPTH] = {};
    T rest = 0;
    WALK_SHARED(n, passes, sum[d] += get(a, at, place), rest += a[i]);
    SUM_ALL(sum, rest);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}
KERNEL_EXPORT(stream_read_shared)

/* First step of the dot product: partial[g] is the sum over workgroup g's slice. */
KERNEL __launch_bounds__(BLOCK) void stream_dot(T *__restrict partial, const T *__restrict a, const T *__restrict b,
                                                uint64_t n, uint64_t slice)
{
    pack sum[DEPTH] = {};
    T rest = 0;
    WALK(n, slice, 1u, sum[d] += get(a, at, place) * get(b, at, place), rest += a[i] * b[i]);
    SUM_ALL(sum, rest);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}
KERNEL_EXPORT(stream_dot)

/* Second step, one workgroup: the sum of the partial sums. A launch of its own because nothing else orders workgroups.
 */
KERNEL __launch_bounds__(BLOCK) void stream_dot_finish(T *__restrict result, const T *__restrict partial,
                                                       uint32_t count)
{
    T sum = 0;
    for (unsigned g = threadIdx.x; g < count; g += BLOCK)
        sum += partial[g];
    sum = group_sum(sum);
    if (threadIdx.x == 0)
        result[0] = sum;
}
KERNEL_EXPORT(stream_dot_finish)
