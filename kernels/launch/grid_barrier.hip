/* SPDX-License-Identifier: MIT
 *
 * All workgroups of a cooperative launch wait for each other, `rounds` times. The counter starts at 0 and only grows:
 * round r is over when it has reached r times the workgroups. It cannot reach the next multiple before this workgroup
 * arrives again, so a counter outside of these bounds is a barrier that did not hold.
 */
#include "portable.h"

extern "C" __global__ void grid_barrier(uint32_t *held, uint32_t *counter, uint32_t rounds, uint32_t groups)
{
    uint32_t good = 0;
#pragma unroll 1
    for (uint32_t round = 1; round <= rounds; round++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            uint32_t seen = atomicAdd(counter, 1u) + 1;
#pragma unroll 1
            while (seen < round * groups)
                seen = atomicAdd(counter, opaque_uniform(0u));
            good += seen < (round + 1) * groups;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        held[blockIdx.x] = good;
}
