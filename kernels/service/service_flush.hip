/* SPDX-License-Identifier: MIT
 *
 * Evicts everything else from every cache by reading and writing more than they hold. Both, because a cache behind the
 * L2 (AMD's Infinity Cache) may keep what is read and let writes pass, or the other way round.
 */
#include "portable.h"

typedef vec<uint32_t, 4>::type words;

extern "C" __global__ __launch_bounds__(256) void service_flush(words *memory, uint64_t count)
{
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count)
        memory[i] += 1u;
}
