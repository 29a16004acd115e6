/* SPDX-License-Identifier: MIT
 *
 * The gate of a mixture of experts: for each token the TOP experts with the largest logits, in falling order, among
 * equals the lower number first; and their softmax, over the chosen ones (RENORMALISE) or over all experts.
 *
 * LANES lanes share a token (on a CPU one has it all); logit i of a lane is that of expert i * LANES + lane. A logit
 * becomes an integer key of the same order, with the complement of the expert's number as the low 32 bits: the largest
 * of these 64-bit numbers is the next expert, and one butterfly over the lanes finds it. It then gets key 0, and so on
 * TOP times.
 *
 * A row needs one finite logit, and no NaN. -inf is an expert that is masked: it has weight 0.
 *
 * Defines: EXPERTS, TOP, LANES (a power of two, at most the wave), RENORMALISE.
 */
#include "portable.h"

static constexpr unsigned EACH = (EXPERTS + LANES - 1) / LANES; /* logits of a lane */
static constexpr int AT_ONCE = LANES == 1 ? 16 : EACH;
static constexpr float LOG2_E = 1.44269504088896341f;

/* Larger numbers have larger keys, both zeros the same. Only a NaN could have key 0. */
__device__ static uint32_t key_of(float logit)
{
    const uint32_t bits = __builtin_bit_cast(uint32_t, logit + 0.0f);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ static float logit_of(uint32_t key)
{
    return __builtin_bit_cast(float, key >> 31 ? key & 0x7fffffffu : ~key);
}

/* The largest, and the sum, over the lanes of a token; every lane gets the result. */
__device__ uint64_t largest(uint64_t value)
{
#pragma unroll
    for (unsigned mask = LANES / 2; mask > 0; mask /= 2) {
        const uint64_t other = __shfl_xor(value, mask);
        value = other > value ? other : value;
    }
    return value;
}

__device__ float total(float value)
{
#pragma unroll
    for (unsigned mask = LANES / 2; mask > 0; mask /= 2)
        value += __shfl_xor(value, mask);
    return value;
}

extern "C" __global__ __launch_bounds__(256) void moe_gate(
    float *__restrict weights, uint32_t *__restrict ids, const float *__restrict logits, uint32_t tokens)
{
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x, lane = number % LANES;
    const unsigned token = number / LANES;
    const unsigned row = token < tokens ? token : tokens - 1; /* all lanes take part in shuffles */
    const float *const from = logits + static_cast<uint64_t>(row) * EXPERTS;
    uint32_t keys[EACH];
#pragma unroll AT_ONCE
    for (unsigned i = 0; i < EACH; ++i) {
        const unsigned expert = i * LANES + lane;
        keys[i] = EXPERTS % LANES == 0 || expert < EXPERTS ? key_of(from[expert]) : 0;
    }

    unsigned chosen[TOP];
    float weight[TOP], top = 0, sum = 0;
#pragma unroll
    for (unsigned rank = 0; rank < TOP; ++rank) {
        uint32_t key = 0;
        unsigned at = 0;
#pragma unroll AT_ONCE
        for (unsigned i = 0; i < EACH; ++i) {
            at = keys[i] > key ? i : at;
            key = keys[i] > key ? keys[i] : key;
        }
        const uint64_t best = largest(static_cast<uint64_t>(key) << 32 | (0xffffffffu - (at * LANES + lane)));
        chosen[rank] = 0xffffffffu - static_cast<uint32_t>(best);
        const float logit = logit_of(static_cast<uint32_t>(best >> 32));
        if (rank == 0) {
            top = logit;
            if constexpr (!RENORMALISE) {
#pragma unroll AT_ONCE
                for (unsigned i = 0; i < EACH; ++i)
                    sum += keys[i] ? fast_exp2((logit_of(keys[i]) - top) * LOG2_E) : 0.0f;
                sum = total(sum);
            }
        }
        weight[rank] = fast_exp2((logit - top) * LOG2_E);
        sum += RENORMALISE ? weight[rank] : 0.0f;
        if constexpr (LANES == 1) {
            keys[chosen[rank]] = 0;
        } else {
#pragma unroll
            for (unsigned i = 0; i < EACH; ++i) /* registers cannot be indexed */
                keys[i] = i * LANES + lane == chosen[rank] ? 0 : keys[i];
        }
    }

    const float scale = 1.0f / sum;
#pragma unroll
    for (unsigned rank = 0; rank < TOP; ++rank) {
        if (token < tokens && rank % LANES == lane) {
            weights[static_cast<uint64_t>(token) * TOP + rank] = weight[rank] * scale;
            ids[static_cast<uint64_t>(token) * TOP + rank] = chosen[rank];
        }
    }
}
