// SPDX-License-Identifier: MIT
#include "portable.h"

// All workgroups of a cooperative launch wait for each other, `rounds` times. The counter starts at 0 and only grows: round r is
// over when it has reached r times the workgroups. Until this workgroup arrives again it cannot reach the next multiple, so a
// counter outside of these bounds is a barrier that did not hold.
KERNEL void grid_barrier(uint32_t *held, uint32_t *counter, uint32_t rounds, uint32_t groups)
{
    uint32_t good = 0;
    NO_UNROLL
    for (uint32_t round = 1; round <= rounds; round++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            uint32_t seen = atomicAdd(counter, 1u) + 1;
            NO_UNROLL
            while (seen < round * groups)
                seen = atomicAdd(counter, opaque_uniform(0u));
            good += seen < (round + 1) * groups;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        held[blockIdx.x] = good;
}
KERNEL_EXPORT(grid_barrier)
