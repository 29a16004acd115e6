/* SPDX-License-Identifier: MIT
 *
 * The position of a pointer chase that starts at element 0 after `steps` steps. There is one output, whatever `index`
 * says.
 */
#include "portable.h"

extern "C" __global__ void chase_reference(
    double *result, const uint64_t *index, const uint32_t *ring, uint32_t steps, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    uint32_t at = 0;
    for (uint32_t step = 0; step < steps; ++step)
        at = ring[at];
    result[sample] = index[sample] == 0 ? at : 0;
}
