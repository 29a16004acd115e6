/* SPDX-License-Identifier: MIT
 *
 * What the kernels of a mixture of experts must compute, each element by its definition. Pair p is choice p % top of
 * token p / top; sorted by expert, and among equals in their own order, pairs have slots 0, 1, 2, ...
 *
 * Defines: DTYPE of rows and matrices, see reference_types.h.
 */
#include "portable.h"
#include "reference_types.h"
#include "reference_exp.h"

typedef reference_element<DTYPE> element;

/* ---- the gate ---- */

/* Does expert a rank before expert b? Larger logits first, among equals the lower number. */
__device__ static bool is_before(const float *logits, uint32_t a, uint32_t b)
{
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
}

__device__ static uint32_t rank_of(const float *logits, uint32_t experts, uint32_t expert)
{
    uint32_t rank = 0;
    for (uint32_t other = 0; other < experts; ++other)
        rank += is_before(logits, other, expert);
    return rank;
}

/* The chosen expert (choice), or its weight: exp(logit) over the sum of the chosen (renormalise) or of all. */
extern "C" __global__ void moe_gate_reference(double *result, const uint64_t *index, const float *logits,
    uint32_t experts, uint32_t top, uint32_t renormalise, uint32_t choice, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const float *const row = logits + index[sample] / top * experts;
    const uint32_t rank = static_cast<uint32_t>(index[sample] % top);
    uint32_t chosen = 0, best = 0;
    for (uint32_t expert = 0; expert < experts; ++expert) {
        const uint32_t place_rank = rank_of(row, experts, expert);
        chosen = place_rank == rank ? expert : chosen;
        best = place_rank == 0 ? expert : best;
    }
    double sum = 0;
    for (uint32_t expert = 0; expert < experts; ++expert)
        if (!renormalise || rank_of(row, experts, expert) < top)
            sum += exp_exact(static_cast<double>(row[expert]) - row[best]);
    result[sample] = choice ? chosen : exp_exact(static_cast<double>(row[chosen]) - row[best]) / sum;
}

/* ---- sorting by expert ---- */

/* Pairs of experts below `expert`. */
__device__ static uint32_t pairs_below(const uint32_t *ids, uint32_t pairs, uint32_t expert)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < pairs; ++p)
        count += ids[p] < expert;
    return count;
}

__device__ static uint32_t slot_of(const uint32_t *ids, uint32_t pairs, uint32_t pair)
{
    uint32_t slot = pairs_below(ids, pairs, ids[pair]);
    for (uint32_t p = 0; p < pair; ++p)
        slot += ids[p] == ids[pair];
    return slot;
}

__device__ static uint32_t pair_of(const uint32_t *ids, uint32_t pairs, uint32_t experts, uint32_t slot)
{
    uint32_t expert = 0, beyond = experts; /* the last expert whose slots begin at or before this one */
    while (beyond - expert > 1) {
        const uint32_t middle = (expert + beyond) / 2;
        if (pairs_below(ids, pairs, middle) <= slot)
            expert = middle;
        else
            beyond = middle;
    }
    uint32_t ahead = slot - pairs_below(ids, pairs, expert), pair = 0;
    for (; pair < pairs; ++pair)
        if (ids[pair] == expert && ahead-- == 0)
            break;
    return pair;
}

/* Element i of the plan: offsets of the experts (experts + 1 of them), slots of the pairs, tokens of the slots. */
extern "C" __global__ void moe_plan_reference(double *result, const uint64_t *index, const uint32_t *ids,
    uint32_t experts, uint32_t pairs, uint32_t top, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint32_t i = static_cast<uint32_t>(index[sample]), slots = experts + 1, tokens = slots + pairs;
    result[sample] = i < slots    ? pairs_below(ids, pairs, i)
                     : i < tokens ? slot_of(ids, pairs, i - slots)
                                  : pair_of(ids, pairs, experts, i - tokens) / top;
}

/* Rows in the order of slots. */
extern "C" __global__ void moe_permute_reference(double *result, const uint64_t *index, const uint32_t *ids,
    const element *x, uint32_t experts, uint32_t pairs, uint32_t top, uint32_t columns, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint32_t slot = static_cast<uint32_t>(index[sample] / columns);
    const uint64_t token = pair_of(ids, pairs, experts, slot) / top;
    result[sample] = reference_number<DTYPE>(x[token * columns + index[sample] % columns]);
}

/* And back: the weighted sum of each token's rows. */
extern "C" __global__ void moe_unpermute_reference(double *result, const uint64_t *index, const element *rows,
    const uint32_t *slots, const float *weights, uint32_t top, uint32_t columns, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t token = index[sample] / columns, column = index[sample] % columns;
    double sum = 0;
    for (uint64_t p = token * top; p < (token + 1) * top; ++p)
        sum += static_cast<double>(weights[p]) *
               reference_number<DTYPE>(rows[slots[p] * static_cast<uint64_t>(columns) + column]);
    result[sample] = sum;
}

/* ---- grouped GEMM ---- */

extern "C" __global__ void moe_gemm_reference(double *result, const uint64_t *index, const element *a, const element *b,
    const uint32_t *offsets, uint32_t n, uint32_t k, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t row = index[sample] / n, column = index[sample] % n;
    uint64_t expert = 0;
    while (offsets[expert + 1] <= row)
        ++expert;
    double sum = 0;
    for (uint64_t q = 0; q < k; ++q)
        sum += reference_number<DTYPE>(a[row * k + q]) * reference_number<DTYPE>(b[(expert * n + column) * k + q]);
    result[sample] = sum;
}
