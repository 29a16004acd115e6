// SPDX-License-Identifier: MIT
#include "portable.h"

// Counts its launches and does nothing else.
extern "C" __global__ void launch_count(uint32_t *counter)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        atomicAdd(counter, 1u);
}

// Increments an even count (turn 0) or an odd one (turn 1), not atomically. A launch that did not see what the one
// before it wrote finds the wrong parity, and counts that in the second word.
extern "C" __global__ void launch_turn(uint32_t *turns, uint32_t k_block)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        turns[turns[0] % 2 == k_block ? 0 : 1]++;
}

// Writes one word in each page of a buffer that nothing has touched before.
extern "C" __global__ void touch_pages(uint32_t *data, uint32_t words_per_page, uint32_t pages)
{
    const uint32_t page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page < pages)
        data[static_cast<uint64_t>(page) * words_per_page] = page;
}

// Reads what touch_pages has written, for the check.
extern "C" __global__ void read_pages(uint32_t *heads, const uint32_t *data, uint32_t words_per_page, uint32_t pages)
{
    const uint32_t page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page < pages)
        heads[page] = data[static_cast<uint64_t>(page) * words_per_page];
}
