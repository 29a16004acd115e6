/* SPDX-License-Identifier: MIT
 *
 * Mamba's selective scan: a recurrence of N states for each channel, over the tokens of a sequence.
 *
 *     state[n] = e^(step * rate[n]) * state[n] + step * b[n] * x      step, x: of token and channel; b, c: of the token
 *     y = sum over n of c[n] * state[n] + skip * x                    rate, skip: of the channel
 *
 * SPLIT adjacent lanes own a channel, each with N / SPLIT of its states and rates in registers, and add up what they
 * have for y; tokens follow each other. A model has too few channels to fill a large GPU with a lane for each. An
 * exponential for each state and token is most of the work, so the rates are kept times log2 e.
 *
 * Defines: IN; N states; SPLIT; BLOCK; AHEAD tokens whose step, x, b and c are loaded before the first of them is used.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

typedef IN::type element;
static constexpr unsigned OWN = N / SPLIT;
typedef pack_floats<OWN> states;
static constexpr float LOG2_E = 1.44269504088896341f;

struct token_data {
    states b, c;
    float step, x;
};

__device__ static inline token_data load_token(
    const element *x, const element *step, const element *b, const element *c, uint64_t own, uint64_t at)
{
    return {pack_load<IN, OWN>(b + own), pack_load<IN, OWN>(c + own), tile_decode<IN>(step[at]),
        tile_decode<IN>(x[at])};
}

extern "C" __global__ __launch_bounds__(BLOCK) void selective_scan(element *__restrict y, const element *__restrict x,
    const element *__restrict step, const float *__restrict rate, const element *__restrict b,
    const element *__restrict c, const float *__restrict skip, uint32_t length, uint32_t channels)
{
    const unsigned lane = blockIdx.x * BLOCK + threadIdx.x, part = lane % SPLIT * OWN;
    const bool exists = lane / SPLIT < channels; /* lanes without a channel repeat the last one's: waves stay whole */
    const unsigned channel = exists ? lane / SPLIT : channels - 1;
    const uint64_t first = static_cast<uint64_t>(blockIdx.y) * length;
    const states rates = load_unaligned<float, OWN>(rate + static_cast<uint64_t>(channel) * N + part) * LOG2_E;
    const float through = skip[channel];
    states state = 0.0f;
    const auto load = [&](uint32_t token) {
        return load_token(x, step, b, c, (first + token) * N + part, (first + token) * channels + channel);
    };
    const auto advance = [&](const token_data &now, uint32_t token) {
        const states power = rates * now.step;
        states decay = {};
#pragma unroll
        for (unsigned n = 0; n < OWN; ++n)
            decay[n] = fast_exp2(power[n]);
        state = fma(decay, state, now.b * (now.step * now.x));
        float sum = pack_sum<OWN>(now.c * state);
#pragma unroll
        for (unsigned distance = 1; distance < SPLIT; distance *= 2)
            sum += __shfl_xor(sum, distance);
        if (exists && part == 0)
            y[(first + token) * channels + channel] = tile_encode<IN>(sum + through * now.x);
    };
    uint32_t token = 0;
    for (; token + AHEAD <= length; token += AHEAD) {
        token_data next[AHEAD];
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k)
            next[k] = load(token + k);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k)
            advance(next[k], token + k);
    }
    for (; token < length; ++token)
        advance(load(token), token);
}
