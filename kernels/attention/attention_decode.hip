/* SPDX-License-Identifier: MIT
 *
 * O = softmax(scale * Q K') V for one query per sequence over its KV cache (attention.h has the algorithm). q and o are
 * [sequence][head][D]; k and v are [token][head][D], where a sequence's tokens are contiguous, or in pages of PAGE
 * tokens anywhere: page i of sequence s is page table[s * pages + i] of the cache.
 *
 * Every key is read once and used by few queries, so memory is the limit and three things matter:
 *   - query heads that share a key head go together: they are the M rows of one product, and a key is read once for
 *     all;
 *   - the next tiles are in flight while one is used, by few waves, so that each has many registers for them. The waves
 *     share the columns of V, and each computes all scores;
 *   - one sequence and head would keep one compute unit busy: its keys are distributed over SPLIT workgroups, each of
 *     which leaves its partial result, and attention_combine merges them.
 *
 * Defines: those of attention.h, WAVES_M 1; OUT type of o; SPLIT; WAVES per SIMD for which there must be registers.
 */
#include "portable.h"
#include "tile.h"
#include "attention.h"

/* With SPLIT: `sums` gets the O of each part, not divided by its sum; `tops` its largest score, as a power of two, and
 * its sum. A part is [sequence][head]. */
extern "C" __global__ __launch_bounds__(LANES, WAVES) void attention_decode(OUT::type *__restrict o,
    float *__restrict sums, float *__restrict tops, const element *__restrict q, const element *__restrict k,
    const element *__restrict v, const uint32_t *__restrict k_starts, const uint32_t *__restrict table, uint32_t pages,
    uint32_t heads_q, uint32_t heads_kv, float scale)
{
    __shared__ quad keys[key_tile::units];
    __shared__ quad values[value_tile::units];
    __shared__ quad waiting[QLDS ? query_tile::units : 1];
    const uint32_t shared = heads_q / heads_kv, blocks = (shared + M - 1) / M; /* of query heads, per key head */
    const uint32_t head_kv = blockIdx.x / blocks, row = blockIdx.x % blocks * M, heads = shared - row;
    const uint32_t part = blockIdx.y, sequence = blockIdx.z;
    const uint32_t first = k_starts[sequence], count = k_starts[sequence + 1] - first;
    const uint32_t tiles = (count + BN - 1) / BN, share = (tiles + SPLIT - 1) / SPLIT;
    const uint32_t begin = part * share < tiles ? part * share : tiles,
                   end = begin + share < tiles ? begin + share : tiles;

    const uint32_t head =
        sequence * heads_q + head_kv * shared + row; /* the wave's first one, counted through all sequences */
    queries own;
    load_queries(own, waiting, q + head * static_cast<uint64_t>(D), D, 0, heads);
    state now = state_begin();
    int32_t seen[tile_columns<fragment>];
#pragma unroll
    for (unsigned i = 0; i < tile_columns<fragment>; ++i)
        seen[i] = static_cast<int32_t>(count);
    const uint32_t own_pages = PAGE > 0 ? (count + PAGE - 1) / (PAGE > 0 ? PAGE : 1) : 0;
    const uint32_t *const own_table = table + sequence * static_cast<uint64_t>(pages);
    addresses address = {k + head_kv * D, v + head_kv * D, own_table, first, own_pages, heads_kv * D, {}, {}, {}, {}};
    attend(now, keys, values, own, address, scale, begin, end, count, count, seen);

    const column_t sum = tile_column_sum<fragment>(now.sum);
#pragma unroll
    for (unsigned i = 0; i < TILES_D; ++i) {
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e) {
            const unsigned which = tile_column_at<fragment>(e), d = first_d() + i * M + tile_chain_c_row<fragment>(e);
            const uint32_t column = tile_chain_c_column<fragment>(which);
            if (column >= heads)
                continue;
            const uint64_t at = head + column;
            if constexpr (SPLIT == 1) {
                o[at * D + d] = tile_encode<OUT>(sum[which] > 0 ? now.out[i][e] * fast_rcp(sum[which]) : 0.0f);
            } else {
                const uint64_t to = part * static_cast<uint64_t>(gridDim.z) * heads_q + at;
                sums[to * D + d] = now.out[i][e];
                if (d == 0) {
                    tops[to * 2] = now.top[which] * scale;
                    tops[to * 2 + 1] = sum[which];
                }
            }
        }
    }
}

/* One work-item per element of o; `rows` is sequences * heads. Parts that saw nothing have a top of minus infinity. */
extern "C" __global__ __launch_bounds__(256) void attention_combine(
    OUT::type *__restrict o, const float *__restrict sums, const float *__restrict tops, uint64_t rows)
{
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x, row = i / D;
    if (row >= rows)
        return;
    float top = -__builtin_inff();
    for (unsigned part = 0; part < SPLIT; ++part)
        top = __builtin_fmaxf(top, tops[(part * rows + row) * 2]);
    const float base = top > -__builtin_inff() ? top : 0.0f;
    float sum = 0, total = 0;
    for (unsigned part = 0; part < SPLIT; ++part) {
        const float weight = fast_exp2(tops[(part * rows + row) * 2] - base);
        sum += weight * tops[(part * rows + row) * 2 + 1];
        total += weight * sums[part * rows * D + i];
    }
    o[i] = tile_encode<OUT>(sum > 0 ? total * fast_rcp(sum) : 0.0f);
}
