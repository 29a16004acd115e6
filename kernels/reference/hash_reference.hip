/* SPDX-License-Identifier: MIT
 *
 * Halves of the hashes that service_hash must find: the words of a piece in turn, two to a place.
 */
#include "portable.h"

extern "C" __global__ void hash_reference(
    double *result, const uint64_t *index, const uint32_t *memory, uint64_t count, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t words = count / 2, begin = index[sample] / 2 << 15;
    const uint64_t end = begin + 32768 < words ? begin + 32768 : words;
    uint64_t sum = 0;
    for (uint64_t k = begin; k < end; ++k) {
        const uint64_t place = k / 2 * 0x9e3779b97f4a7c15u;
        uint64_t word = (static_cast<uint64_t>(memory[2 * k + 1]) << 32 | memory[2 * k]) + (k % 2 ? ~place : place);
        word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
        sum += word ^ word >> 32;
    }
    result[sample] = static_cast<uint32_t>(index[sample] % 2 ? sum >> 32 : sum);
}
