/* SPDX-License-Identifier: MIT
 *
 * The short convolution of Mamba and of gated delta nets: each channel is convolved with four taps of its own over this
 * token and the three before it, then silu. Elements of a token are adjacent. A lane owns a pack of channels and goes
 * over CHUNK tokens with the last three packs in registers, so it reads a token once, but for three before the chunk.
 *
 *     workgroup (channels, chunk of tokens, sequence);   before a sequence's first token are zeros
 *
 * Defines: IN; WIDTH bytes of a pack; BLOCK; CHUNK tokens.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "../norm/silu.h"

typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element), TAPS = 4;
typedef pack_floats<VEC> floats;

extern "C" __global__ __launch_bounds__(BLOCK) void causal_conv1d(element *__restrict y, const element *__restrict x,
    const element *__restrict weight, const element *__restrict bias, uint32_t length, uint32_t channels)
{
    const unsigned channel = (blockIdx.x * BLOCK + threadIdx.x) * VEC;
    if (channel >= channels)
        return;
    const unsigned begin = blockIdx.y * CHUNK, end = begin + CHUNK < length ? begin + CHUNK : length;
    const uint64_t own = static_cast<uint64_t>(blockIdx.z) * length * channels + channel;
    floats taps[TAPS], past[TAPS - 1];
#pragma unroll
    for (unsigned k = 0; k < TAPS; ++k)
        taps[k] = pack_load<IN, VEC>(weight + k * channels + channel);
#pragma unroll
    for (unsigned k = 0; k < TAPS - 1; ++k) {
        past[k] = 0.0f;
        if (begin + k + 1 >= TAPS)
            past[k] = pack_load<IN, VEC>(x + own + static_cast<uint64_t>(begin + k + 1 - TAPS) * channels);
    }
    const floats start = pack_load<IN, VEC>(bias + channel);
#pragma unroll 4
    for (unsigned token = begin; token < end; ++token) {
        const uint64_t at = own + static_cast<uint64_t>(token) * channels;
        const floats now = pack_load<IN, VEC>(x + at);
        floats sum = fma(now, taps[TAPS - 1], start);
#pragma unroll
        for (unsigned k = 0; k < TAPS - 1; ++k)
            sum = fma(past[k], taps[k], sum);
        pack_store<IN, VEC>(y + at, pack_silu<VEC>(sum));
#pragma unroll
        for (unsigned k = 1; k < TAPS - 1; ++k)
            past[k - 1] = past[k];
        past[TAPS - 2] = now;
    }
}
