/* SPDX-License-Identifier: MIT
 *
 * O = softmax(scale * Q K') V for many queries: flash attention, forward (attention.h has the algorithm). Sequences of
 * any lengths follow each other; q, k, v, o are [token][head][D]; heads_q / heads_kv query heads share a key head.
 * Causal: the last query of a sequence sees all of its keys, each query before it one key less.
 *
 * Defines: those of attention.h; OUT type of o; WAVES per SIMD for which there must be registers.
 */
#include "portable.h"
#include "tile.h"
#include "attention.h"

/* A tile of queries. Tiles are numbered through all sequences; those past the last one do not exist. */
struct query_tile_position {
    uint32_t sequence, row;
    bool exists;
};

__device__ static query_tile_position find_tile(uint32_t number, const uint32_t *q_starts, uint32_t batch)
{
    uint32_t sequence = 0;
    for (; sequence < batch; ++sequence) {
        const uint32_t tiles = (q_starts[sequence + 1] - q_starts[sequence] + BM - 1) / BM;
        if (number < tiles)
            break;
        number -= tiles;
    }
    return {sequence, number * BM, sequence < batch};
}

/* The hardware gives workgroups to the `dies` in turn, each of which has its own L2. Renumbered so that those of a die
 * are consecutive, and the keys of a head stay in one L2. */
__device__ static uint32_t group_by_die(uint32_t number, uint32_t count, uint32_t dies)
{
    const uint32_t share = count / dies;
    return number < share * dies ? number % dies * share + number / dies : number;
}

extern "C" __global__ __launch_bounds__(LANES, WAVES) void attention_prefill(OUT::type *__restrict o,
    const element *__restrict q, const element *__restrict k, const element *__restrict v,
    const uint32_t *__restrict q_starts, const uint32_t *__restrict k_starts, uint32_t batch, uint32_t heads_q,
    uint32_t heads_kv, uint32_t causal, float scale, uint32_t dies)
{
    __shared__ quad keys[key_tile::units];
    __shared__ quad values[value_tile::units];
    __shared__ quad waiting[QLDS ? query_tile::units : 1];
    const uint32_t number = group_by_die(blockIdx.x, gridDim.x, dies), tiles = gridDim.x / heads_q;
    const uint32_t head = number / tiles;
    /* The last queries first: if causal, they have the most work. */
    const query_tile_position at = find_tile(tiles - 1 - number % tiles, q_starts, batch);
    if (!at.exists)
        return;
    const uint32_t q_first = q_starts[at.sequence], q_count = q_starts[at.sequence + 1] - q_first;
    const uint32_t k_first = k_starts[at.sequence], k_count = k_starts[at.sequence + 1] - k_first;
    const int32_t past = static_cast<int32_t>(k_count - q_count);
    const uint32_t last = at.row + BM < q_count ? at.row + BM : q_count;
    const int32_t most = static_cast<int32_t>(last) + past, least = static_cast<int32_t>(at.row) + past + 1;
    const uint32_t end = !causal ? k_count : most > 0 ? static_cast<uint32_t>(most) : 0;
    const uint32_t clear = !causal ? k_count : least > 0 ? static_cast<uint32_t>(least) : 0;

    const uint32_t row = at.row + threadIdx.x / ROOFTILE_WAVE / WAVES_D * M; /* the wave's first */
    const uint64_t q_stride = static_cast<uint64_t>(heads_q) * D;
    queries own;
    load_queries(own, waiting, q + q_first * q_stride + head * D, q_stride, at.row, q_count);
    state now = state_begin();
    int32_t seen[tile_columns<fragment>];
#pragma unroll
    for (unsigned i = 0; i < tile_columns<fragment>; ++i) {
        const int32_t before = static_cast<int32_t>(row + tile_chain_c_column<fragment>(i)) + past + 1;
        seen[i] = causal && before < static_cast<int32_t>(k_count) ? before : static_cast<int32_t>(k_count);
    }
    const uint32_t corner = head / (heads_q / heads_kv) * D;
    addresses address = {k + corner, v + corner, nullptr, k_first, 0, heads_kv * D, {}, {}, {}, {}};
    attend(now, keys, values, own, address, scale, 0, (end + BN - 1) / BN, end, clear, seen);

    const column_t sum = tile_column_sum<fragment>(now.sum);
#pragma unroll
    for (unsigned i = 0; i < TILES_D; ++i) {
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e) {
            const unsigned which = tile_column_at<fragment>(e);
            const uint32_t query = row + tile_chain_c_column<fragment>(which);
            if (query < q_count)
                (o + (q_first + query) * q_stride + head * D)[first_d() + i * M + tile_chain_c_row<fragment>(e)] =
                    tile_encode<OUT>(sum[which] > 0 ? now.out[i][e] * fast_rcp(sum[which]) : 0.0f);
        }
    }
}
