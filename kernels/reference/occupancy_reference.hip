/* SPDX-License-Identifier: MIT
 *
 * Where the chains of occupancy_chase end: each starts one slot behind the one before and takes `steps` steps.
 */
#include "portable.h"

extern "C" __global__ void occupancy_reference(
    double *result, const uint64_t *index, const uint32_t *ring, uint32_t slot_words, uint32_t steps, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    uint32_t at = static_cast<uint32_t>(index[sample]) * slot_words;
    for (uint32_t step = 0; step < steps; ++step)
        at = ring[at];
    result[sample] = at;
}
