/* SPDX-License-Identifier: MIT
 *
 * Where a walk of `steps` steps through a ring ends that starts at element 0; the ring holds the number of the next
 * element. For the chases that take 32 * loops * phases steps.
 */
#include "portable.h"

extern "C" __global__ void ring_reference(
    double *result, const uint64_t *index, const uint32_t *ring, uint64_t steps, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    uint32_t at = 0;
    for (uint64_t step = 0; step < steps; ++step)
        at = ring[at];
    result[sample] = index[sample] == 0 ? at : 0;
}
