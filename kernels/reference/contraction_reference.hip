/* SPDX-License-Identifier: MIT
 *
 * x -> 1.5 - x / 2, FMAS times, in closed form: x_n = 1 + (x_0 - 1) * (-1/2)^n.
 */
#include "portable.h"

extern "C" __global__ void contraction_reference(
    double *result, const uint64_t *index, const T *start, uint32_t fmas, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    double power = 1;
    for (uint32_t step = 0; step < fmas; ++step)
        power *= -0.5;
    result[sample] = 1 + (start[index[sample]] - 1) * power;
}
