/* SPDX-License-Identifier: MIT
 *
 * The sum that a work-item of gather must have: every access is asked whose it is, and the work-item's own are added.
 */
#include "portable.h"

extern "C" __global__ void gather_reference(double *result, const uint64_t *index, const uint32_t *table,
    const uint32_t *order, const uint32_t *groups, uint32_t n, uint32_t run, uint32_t words, uint32_t depth,
    uint32_t block, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint32_t group = static_cast<uint32_t>(index[sample] / block), lane = index[sample] % block;
    const uint32_t rows = n / (block * depth) * depth; /* rows of `block` accesses in whole tiles */
    uint32_t sum = 0;
    for (uint32_t row = 0; static_cast<uint64_t>(row) * block + lane < n; ++row) {
        const uint32_t owner = row < rows ? row / depth % groups[0] : (row - rows) % groups[0];
        if (owner != group)
            continue;
        const uint32_t i = row * block + lane;
        for (uint32_t w = 0; w < words; ++w)
            sum += table[(static_cast<uint64_t>(order[i / run]) * run + i % run) * words + w];
    }
    result[sample] = sum;
}
