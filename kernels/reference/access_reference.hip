/* SPDX-License-Identifier: MIT
 *
 * The sum that a work-item of access_read must have: all elements are visited in the order of memory, and those whose
 * access belongs to the work-item are added.
 */
#include "portable.h"

extern "C" __global__ void access_reference(double *result, const uint64_t *index, const uint8_t *data,
    const uint32_t *groups, uint32_t elements, uint32_t stride, uint32_t width, uint32_t depth, uint32_t block,
    uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint32_t unit = width < 4 ? width : 4;
    uint32_t sum = 0;
    for (uint32_t element = 0; element < elements; ++element) {
        const uint32_t access = element / stride + element % stride * (elements / stride);
        const uint32_t group = access / (block * depth) % groups[0], lane = access % block;
        if (static_cast<uint64_t>(group) * block + lane != index[sample])
            continue;
        for (uint32_t b = 0; b < width; ++b)
            sum += static_cast<uint32_t>(data[static_cast<uint64_t>(element) * width + b]) << (8 * (b % unit));
    }
    result[sample] = sum;
}
