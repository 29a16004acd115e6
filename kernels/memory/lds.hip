/* SPDX-License-Identifier: MIT
 *
 * Bandwidth of LDS: how many bytes a compute unit moves between its registers and its workgroups' shared memory, by the
 * width of the access and by the pattern of the lanes, which decides on bank conflicts.
 *
 * The loop holds DEPTH accesses and nothing that computes: what a lane accesses lies in registers before it starts, and
 * what it loaded is declared used without an instruction (keep). A fence for the compiler stands between accesses, or
 * two of 4 bytes would become one ds_read2. The last pass's values are the result, so that a wrong address shows.
 *
 * Lane l (its number modulo 64, for either size of a wave) and access d touch the pack of WIDTH bytes
 *     STRIDED    l * stride + 64 * d           conflicts by stride; a padded tile is a stride of width + padding
 *     SHARED     l / stride + 64 * d           groups of `stride` lanes read one address: broadcast
 *     SWIZZLED   l * stride + ((d ^ l) % stride)   column d of a tile of `stride` packs a row, columns swapped by xor
 *     RANDOM     a hash of l and d             what an indirect access gives
 * modulo COUNT, so that they take 16 KiB: wrapping changes no bank, and lanes that are served in one clock never meet.
 * All waves of a workgroup touch the same packs; what is stored depends on the address alone, so it does not matter
 * which of them is last.
 *
 * Defines: WIDTH bytes of an access, 4, 8, 12 or 16; DEPTH accesses in a pass; BLOCK work-items.
 */
#include "portable.h"

enum { STRIDED, SHARED, SWIZZLED, RANDOM };

static constexpr unsigned WORDS = WIDTH / 4;                   /* of a pack */
static constexpr unsigned APART = WIDTH == 12 ? 4 : WORDS;     /* words from pack to pack: 12 bytes are aligned to 16 */
static constexpr unsigned COUNT = 4096 / APART;                /* packs */
static constexpr unsigned AREA = (COUNT + 64 * DEPTH) * APART; /* words that a workgroup owns */

typedef loose_vec<uint32_t, WORDS, 4 * APART>::type words_t;

__device__ static inline unsigned hash(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Of word `i`: each has its own, and every element of data shows. */
__device__ static inline uint32_t content(const uint32_t *data, unsigned i)
{
    return data[i % 61] + i;
}

/* Number of the pack. */
__device__ static inline unsigned place(unsigned lane, unsigned d, unsigned pattern, unsigned stride)
{
    if (pattern == SWIZZLED)
        return (lane * stride + ((d ^ lane) & (stride - 1))) % COUNT;
    if (pattern == RANDOM)
        return hash(lane + 64 * d) % COUNT;
    return (pattern == STRIDED ? lane * stride : lane / stride) % COUNT + d * 64;
}

/* Three words one by one, because clang would move a vector of three as one of four; the backend joins them again. */
__device__ static inline words_t get(const uint32_t *from)
{
    if constexpr (WORDS == 3) {
        const uint32_t *const aligned = static_cast<const uint32_t *>(__builtin_assume_aligned(from, 16));
        words_t value = {};
        UNROLL
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
        UNROLL
        for (unsigned w = 0; w < WORDS; ++w)
            aligned[w] = value[w];
    } else {
        *reinterpret_cast<words_t *>(to) = value;
    }
}

__device__ static inline uint32_t sum_of(words_t value)
{
    uint32_t sum = value[0];
    UNROLL
    for (unsigned w = 1; w < WORDS; ++w)
        sum += value[w];
    return sum;
}

__device__ static inline void keep_words(words_t value)
{
    UNROLL
    for (unsigned w = 0; w < WORDS; ++w)
        keep(value[w]);
}

/* `rounds` times `passes` passes, with a look at the clock after each round: the counter of gfx11 has 20 bits. `BODY`
 * is one pass. What the clock counts ends when the last wave has arrived. */
#define TIMED(cycles, rounds, passes, BODY)                                                                            \
    __syncthreads();                                                                                                   \
    uint64_t cycles = 0, before = read_cycles();                                                                       \
    NO_UNROLL                                                                                                          \
    for (unsigned round = 0; round < (rounds); ++round) {                                                              \
        NO_UNROLL                                                                                                      \
        for (unsigned pass = 0; pass < (passes); ++pass) {                                                             \
            BODY;                                                                                                      \
        }                                                                                                              \
        if (round + 1 == (rounds))                                                                                     \
            __syncthreads();                                                                                           \
        const uint64_t now = read_cycles();                                                                            \
        cycles += (now - before) & ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());                           \
        before = now;                                                                                                  \
    }

KERNEL __launch_bounds__(BLOCK) void lds_read(uint32_t *__restrict out, uint64_t *__restrict clocks,
                                              const uint32_t *__restrict data, uint32_t pattern, uint32_t stride,
                                              uint32_t rounds, uint32_t passes)
{
    DYNAMIC_SHARED(uint32_t, area);
    const unsigned self = threadIdx.x;
    for (unsigned i = self; i < AREA; i += BLOCK)
        area[i] = content(data, i);
    unsigned at[DEPTH];
    words_t value[DEPTH] = {};
    UNROLL
    for (unsigned d = 0; d < DEPTH; ++d)
        at[d] = opaque(place(self % 64, d, pattern, stride));
    TIMED(cycles, rounds, passes, {
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            value[d] = get(&area[at[d] * APART]);
        }
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            keep_words(value[d]);
    });
    uint32_t sum = 0;
    UNROLL
    for (unsigned d = 0; d < DEPTH; ++d)
        sum += (d + 1) * sum_of(value[d]);
    out[blockIdx.x * BLOCK + self] = sum;
    if (self == 0)
        clocks[blockIdx.x] = cycles;
}
KERNEL_EXPORT(lds_read)

/* Shows what lies in LDS afterwards: zero where nothing was to be stored. Its bounds say that one workgroup suffices:
 * ptxas else makes room for two of 1,024, for which its registers are too few. */
KERNEL __launch_bounds__(BLOCK, (BLOCK + 255) / 256) void lds_write(uint32_t *__restrict out,
                                                                    uint64_t *__restrict clocks,
                                                                    const uint32_t *__restrict data, uint32_t pattern,
                                                                    uint32_t stride, uint32_t rounds, uint32_t passes)
{
    DYNAMIC_SHARED(uint32_t, area);
    const unsigned self = threadIdx.x;
    for (unsigned i = self; i < AREA; i += BLOCK)
        area[i] = 0;
    unsigned at[DEPTH];
    words_t value[DEPTH];
    UNROLL
    for (unsigned d = 0; d < DEPTH; ++d) {
        at[d] = place(self % 64, d, pattern, stride);
        UNROLL
        for (unsigned w = 0; w < WORDS; ++w)
            value[d][w] = opaque(content(data, at[d] * APART + w));
        at[d] = opaque(at[d]);
    }
    TIMED(cycles, rounds, passes, {
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            put(&area[at[d] * APART], value[d]);
        }
        memory_fence_compiler();
    });
    for (unsigned i = self; i < AREA; i += BLOCK)
        out[static_cast<uint64_t>(blockIdx.x) * AREA + i] = area[i];
    if (self == 0)
        clocks[blockIdx.x] = cycles;
}
KERNEL_EXPORT(lds_write)

/* Reads by the pattern and stores the same way in a second area: half of the bytes each way. */
KERNEL __launch_bounds__(BLOCK) void lds_copy(uint32_t *__restrict out, uint64_t *__restrict clocks,
                                              const uint32_t *__restrict data, uint32_t pattern, uint32_t stride,
                                              uint32_t rounds, uint32_t passes)
{
    DYNAMIC_SHARED(uint32_t, area);
    const unsigned self = threadIdx.x;
    for (unsigned i = self; i < AREA; i += BLOCK) {
        area[i] = content(data, i);
        area[AREA + i] = 0;
    }
    unsigned at[DEPTH];
    UNROLL
    for (unsigned d = 0; d < DEPTH; ++d)
        at[d] = opaque(place(self % 64, d, pattern, stride));
    TIMED(cycles, rounds, passes, {
        words_t value[DEPTH];
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            value[d] = get(&area[at[d] * APART]);
        }
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d) {
            memory_fence_compiler();
            put(&area[AREA + at[d] * APART], value[d]);
        }
        memory_fence_compiler();
    });
    for (unsigned i = self; i < AREA; i += BLOCK)
        out[static_cast<uint64_t>(blockIdx.x) * AREA + i] = area[AREA + i];
    if (self == 0)
        clocks[blockIdx.x] = cycles;
}
KERNEL_EXPORT(lds_copy)
