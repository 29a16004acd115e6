/* SPDX-License-Identifier: MIT
 *
 * What atomic_chase ends with, modulo 2^32: (value, cell) -> (cell, cell + value), 32 * phases * loops times.
 */
#include "portable.h"

extern "C" __global__ void fibonacci_reference(
    double *result, const uint64_t *index, const uint32_t *start, uint64_t steps, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    uint32_t cell = start[0], value = start[1];
    for (uint64_t step = 0; step < steps; ++step) {
        const uint32_t sum = cell + value;
        value = cell;
        cell = sum;
    }
    result[sample] = index[sample] == 0 ? value : cell;
}
