/* SPDX-License-Identifier: MIT
 *
 * Bandwidth of LDS: how many bytes a compute unit moves between its registers and the shared memory of its workgroups,
 * by the width of the access and by the pattern of the lanes, which decides on bank conflicts.
 *
 * The loop holds DEPTH accesses and no arithmetic: addresses are in registers before it starts, and keep() marks what
 * was loaded as used without an instruction. A compiler fence stands between accesses, or two of 4 bytes would become
 * one ds_read2. The values of the last pass are the result, so that a wrong address shows.
 *
 * Lane l (modulo 64, for either size of a wave) and access d touch pack number
 *     STRIDED    l * stride + 64 * d               conflicts by stride; a padded tile is a stride of width + padding
 *     SHARED     l / stride + 64 * d               groups of `stride` lanes read one address: broadcast
 *     SWIZZLED   l * stride + ((d ^ l) % stride)   column d of a tile of `stride` packs a row, swizzled by xor
 *     RANDOM     a hash of l and d                 what an indirect access gives
 * modulo COUNT, which keeps them within 16 KiB: wrapping changes no bank, and lanes that are served in the same clock
 * never meet. All waves of a workgroup touch the same packs; what is stored depends on the address alone, so it does
 * not matter which of them is last.
 *
 * Defines: WIDTH bytes of an access, 4, 8, 12 or 16; DEPTH accesses in a pass; BLOCK work-items.
 */
#include "portable.h"

enum { STRIDED, SHARED, SWIZZLED, RANDOM };

static constexpr unsigned WORDS = WIDTH / 4;                   /* of a pack */
static constexpr unsigned PITCH = WIDTH == 12 ? 4 : WORDS;     /* words from pack to pack: 12 bytes take 16 */
static constexpr unsigned COUNT = 4096 / PITCH;                /* packs */
static constexpr unsigned AREA = (COUNT + 64 * DEPTH) * PITCH; /* words that a workgroup owns */

typedef unaligned_vec<uint32_t, WORDS, 4 * PITCH>::type words_t;

__device__ static inline unsigned hash(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* What word i of LDS holds: each word has its own value, and every element of data counts. */
__device__ static inline uint32_t content(const uint32_t *data, unsigned i)
{
    return data[i % 61] + i;
}

__device__ static inline unsigned pack_number(unsigned lane, unsigned d, unsigned pattern, unsigned stride)
{
    if (pattern == SWIZZLED)
        return (lane * stride + ((d ^ lane) & (stride - 1))) % COUNT;
    if (pattern == RANDOM)
        return hash(lane + 64 * d) % COUNT;
    return (pattern == STRIDED ? lane * stride : lane / stride) % COUNT + d * 64;
}

/* Three words one by one, because clang would move a vector of three as four; the backend joins them again. */
__device__ static inline words_t get(const uint32_t *from)
{
    if constexpr (WORDS == 3) {
        const uint32_t *const aligned = static_cast<const uint32_t *>(__builtin_assume_aligned(from, 16));
        words_t value = {};
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w)
            value[w] = aligned[w];
        return value;
    } else {
        return *reinterpret_cast<const words_t *>(from);
    }
}

__device__ static inline void put(uint32_t *to, words_t value)
{
    if constexpr (WORDS == 3) {
        uint32_t *const aligned = static_cast<uint32_t *>(__builtin_assume_aligned(to, 16));
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w)
            aligned[w] = value[w];
    } else {
        *reinterpret_cast<words_t *>(to) = value;
    }
}

__device__ static inline uint32_t sum_of(words_t value)
{
    uint32_t sum = value[0];
#pragma unroll
    for (unsigned w = 1; w < WORDS; ++w)
        sum += value[w];
    return sum;
}

/* A vector of two or four words is in one register of a CPU. */
__device__ static inline void keep_words(words_t value)
{
    if constexpr (WORDS == 2 || WORDS == 4)
        keep(value);
    else {
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w)
            keep(value[w]);
    }
}

/* Does body() rounds * passes times and returns the clocks that took. It looks at the clock after each round, because
 * gfx11 counts clocks in 20 bits. The last look comes when the last wave has arrived. */
template <class body_t> __device__ inline uint64_t timed(uint32_t rounds, uint32_t passes, const body_t &body)
{
    __syncthreads();
    uint64_t cycles = 0, before = read_cycles();
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll 1
        for (unsigned pass = 0; pass < passes; ++pass)
            body();
        if (round + 1 == rounds)
            __syncthreads();
        const uint64_t now = read_cycles();
        cycles += (now - before) & ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
        before = now;
    }
    return cycles;
}

extern "C" __global__ __launch_bounds__(BLOCK) void lds_read(uint32_t *__restrict out, uint64_t *__restrict clocks,
    const uint32_t *__restrict data, uint32_t pattern, uint32_t stride, uint32_t rounds, uint32_t passes)
{
    DYNAMIC_SHARED(uint32_t, area);
    const unsigned self = threadIdx.x;
    for (unsigned i = self; i < AREA; i += BLOCK)
        area[i] = content(data, i);
    unsigned at[DEPTH];
    words_t value[DEPTH] = {};
#pragma unroll
    for (unsigned d = 0; d < DEPTH; ++d)
        at[d] = opaque(pack_number(self % 64, d, pattern, stride));
    const uint64_t cycles = timed(rounds, passes, [&] {
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            value[d] = get(&area[at[d] * PITCH]);
        }
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            keep_words(value[d]);
    });
    uint32_t sum = 0;
#pragma unroll
    for (unsigned d = 0; d < DEPTH; ++d)
        sum += (d + 1) * sum_of(value[d]);
    out[blockIdx.x * BLOCK + self] = sum;
    if (self == 0)
        clocks[blockIdx.x] = cycles;
}

/* Outputs what LDS holds afterwards: zero where nothing was to be stored. The launch bounds ask for one resident
 * workgroup only: ptxas would otherwise make room for two of 1,024, for which there are too few registers. */
extern "C" __global__ __launch_bounds__(BLOCK, (BLOCK + 255) / 256) void lds_write(uint32_t *__restrict out,
    uint64_t *__restrict clocks, const uint32_t *__restrict data, uint32_t pattern, uint32_t stride, uint32_t rounds,
    uint32_t passes)
{
    DYNAMIC_SHARED(uint32_t, area);
    const unsigned self = threadIdx.x;
    for (unsigned i = self; i < AREA; i += BLOCK)
        area[i] = 0;
    unsigned at[DEPTH];
    words_t value[DEPTH];
#pragma unroll
    for (unsigned d = 0; d < DEPTH; ++d) {
        at[d] = pack_number(self % 64, d, pattern, stride);
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w)
            value[d][w] = opaque(content(data, at[d] * PITCH + w));
        at[d] = opaque(at[d]);
    }
    const uint64_t cycles = timed(rounds, passes, [&] {
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            put(&area[at[d] * PITCH], value[d]);
        }
        memory_fence_compiler();
    });
    for (unsigned i = self; i < AREA; i += BLOCK)
        out[static_cast<uint64_t>(blockIdx.x) * AREA + i] = area[i];
    if (self == 0)
        clocks[blockIdx.x] = cycles;
}

/* Reads by the pattern and stores in the same pattern to a second area: half of the bytes each way. */
extern "C" __global__ __launch_bounds__(BLOCK) void lds_copy(uint32_t *__restrict out, uint64_t *__restrict clocks,
    const uint32_t *__restrict data, uint32_t pattern, uint32_t stride, uint32_t rounds, uint32_t passes)
{
    DYNAMIC_SHARED(uint32_t, area);
    const unsigned self = threadIdx.x;
    for (unsigned i = self; i < AREA; i += BLOCK) {
        area[i] = content(data, i);
        area[AREA + i] = 0;
    }
    unsigned at[DEPTH];
#pragma unroll
    for (unsigned d = 0; d < DEPTH; ++d)
        at[d] = opaque(pack_number(self % 64, d, pattern, stride));
    const uint64_t cycles = timed(rounds, passes, [&] {
        words_t value[DEPTH];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            value[d] = get(&area[at[d] * PITCH]);
        }
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            put(&area[AREA + at[d] * PITCH], value[d]);
        }
        memory_fence_compiler();
    });
    for (unsigned i = self; i < AREA; i += BLOCK)
        out[static_cast<uint64_t>(blockIdx.x) * AREA + i] = area[AREA + i];
    if (self == 0)
        clocks[blockIdx.x] = cycles;
}
