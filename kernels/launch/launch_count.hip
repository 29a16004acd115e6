// SPDX-License-Identifier: MIT
#include "portable.h"

// Counts its launches, and does nothing else.
KERNEL void launch_count(uint32_t *counter)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        atomicAdd(counter, 1u);
}
KERNEL_EXPORT(launch_count)

// Takes its turn: a plain increment of an even count (turn 0) or an odd one (turn 1). A launch that did not see what the one before
// it wrote finds the wrong parity, and counts that in the second word.
KERNEL void launch_turn(uint32_t *turns, uint32_t turn)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        turns[turns[0] % 2 == turn ? 0 : 1]++;
}
KERNEL_EXPORT(launch_turn)

// One word in each page: nothing of the buffer was touched before.
KERNEL void touch_pages(uint32_t *data, uint32_t words_per_page, uint32_t pages)
{
    const uint32_t page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page < pages)
        data[static_cast<uint64_t>(page) * words_per_page] = page;
}
KERNEL_EXPORT(touch_pages)

// What touch_pages has written, for the check.
KERNEL void read_pages(uint32_t *heads, const uint32_t *data, uint32_t words_per_page, uint32_t pages)
{
    const uint32_t page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page < pages)
        heads[page] = data[static_cast<uint64_t>(page) * words_per_page];
}
KERNEL_EXPORT(read_pages)
