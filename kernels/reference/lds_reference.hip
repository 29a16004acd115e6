/* SPDX-License-Identifier: MIT
 *
 * What lds_read, lds_write and lds_copy must give. Addresses are derived independently, access by access in loops over
 * lanes, with divisions where the kernel masks. READ 1: the weighted sum of what a work-item loads. READ 0: what a word
 * of LDS holds after all lanes have stored: its content if any lane stores to it, else 0.
 */
#include "portable.h"

__device__ static inline uint32_t mixed(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

__device__ static inline uint64_t pack_of(
    uint64_t lane, uint64_t access, uint32_t count, uint32_t pattern, uint32_t stride)
{
    switch (pattern) {
    case 0:
        return lane * stride % count + access * 64;
    case 1:
        return lane / stride % count + access * 64;
    case 2:
        return (lane * stride + (access ^ lane) % stride) % count;
    default:
        return mixed(static_cast<uint32_t>(lane + 64 * access)) % count;
    }
}

__device__ static inline double content(const uint32_t *data, uint64_t word)
{
    return static_cast<double>(data[word % 61]) + static_cast<double>(word);
}

extern "C" __global__ void lds_reference(double *result, const uint64_t *index, const uint32_t *data, uint32_t block,
    uint32_t words, uint32_t pitch, uint32_t depth, uint32_t count, uint32_t pattern, uint32_t stride, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    double found = 0;
    if constexpr (READ) {
        const uint64_t lane = index[sample] % block % 64;
        for (uint32_t d = 0; d < depth; ++d)
            for (uint32_t w = 0; w < words; ++w)
                found += (d + 1.0) * content(data, pack_of(lane, d, count, pattern, stride) * pitch + w);
    } else {
        const uint64_t word = index[sample] % ((count + 64 * depth) * pitch);
        for (uint32_t lane = 0; lane < block && lane < 64; ++lane)
            for (uint32_t d = 0; d < depth; ++d)
                if (pack_of(lane, d, count, pattern, stride) == word / pitch && word % pitch < words)
                    found = content(data, word);
    }
    result[sample] = found;
}
