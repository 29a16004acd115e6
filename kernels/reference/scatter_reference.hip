/* SPDX-License-Identifier: MIT
 *
 * What a word of scatter's table must hold: its own number if some access goes to its element, else the initial zero.
 */
#include "portable.h"

extern "C" __global__ void scatter_reference(double *result, const uint64_t *index, const uint32_t *order,
    uint32_t count, uint32_t run, uint32_t words, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t wanted = index[sample] / words / run;
    bool hit = false;
    for (uint32_t k = 0; k < count; ++k)
        hit = hit || order[k] == wanted;
    result[sample] = hit ? index[sample] : 0;
}
