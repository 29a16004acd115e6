/* SPDX-License-Identifier: MIT
 *
 * One hash for each piece of 256 KiB of a buffer, so that the host can tell whether launches left the same without
 * reading all of it back. The wave that owns a piece adds up its words, each mixed with its place. Mixing can be
 * undone, so a change of one word always changes the sum; and the order of additions does not matter.
 */
#include "portable.h"

typedef vec<uint64_t, 2>::type words;
static constexpr uint64_t PIECE = (1 << 18) / sizeof(words);

__device__ static inline uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
    return word ^ word >> 32;
}

extern "C" __global__ __launch_bounds__(ROOFTILE_WAVE) void service_hash(
    uint64_t *hashes, const words *__restrict memory, uint64_t count)
{
    const uint64_t begin = blockIdx.x * PIECE, end = begin + PIECE < count ? begin + PIECE : count;
    uint64_t sum = 0;
#pragma unroll 8
    for (uint64_t i = begin + threadIdx.x; i < end; i += ROOFTILE_WAVE) {
        const words value = memory[i];
        const uint64_t place = i * 0x9e3779b97f4a7c15u;
        sum += mix(value[0] + place) + mix(value[1] + ~place);
    }
    sum = wave_reduce_add(sum);
    if (threadIdx.x == 0)
        hashes[blockIdx.x] = sum;
}
