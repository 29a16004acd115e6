/* SPDX-License-Identifier: MIT
 *
 * Rotary position embedding: each pair (left, right) of a head is rotated by an angle that depends on the pair and the
 * token's position. The table has a row per position: the cosines of all pairs, then their sines, in f32, as inference
 * engines keep it.
 *
 *   PAIRING 0, GPT-NeoX and Llama    pair p is (p, p + dim/2): a pack of left and one of right from the two halves
 *   PAIRING 1, GPT-J                 pair p is (2p, 2p + 1): two adjacent packs, whose even and odd elements are sorted
 *                                    in registers
 *
 * A workgroup has a token. A lane keeps the cosines and sines of its VEC pairs and applies them to all heads.
 *
 * Defines: IN; WIDTH bytes of a pack; DIM elements of a head, a multiple of two packs; BLOCK; PAIRING.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element), PACKS = DIM / 2 / VEC; /* packs of pairs in a head */
static constexpr unsigned HEADS = BLOCK < PACKS ? 1 : BLOCK / PACKS;            /* at once */
typedef pack_floats<VEC> floats;

struct pairs {
    floats left, right;
};

__device__ static inline pairs load_pairs(const element *head, unsigned pack)
{
    if constexpr (PAIRING == 0)
        return {pack_load<IN, VEC>(head + pack * VEC), pack_load<IN, VEC>(head + DIM / 2 + pack * VEC)};
    const floats first = pack_load<IN, VEC>(head + pack * 2 * VEC),
                 second = pack_load<IN, VEC>(head + (pack * 2 + 1) * VEC);
    pairs sorted = {};
#pragma unroll
    for (unsigned p = 0; p < VEC; ++p) {
        sorted.left[p] = 2 * p < VEC ? first[2 * p % VEC] : second[2 * p % VEC];
        sorted.right[p] = 2 * p < VEC ? first[(2 * p + 1) % VEC] : second[(2 * p + 1) % VEC];
    }
    return sorted;
}

__device__ static inline void store_pairs(element *head, unsigned pack, pairs value)
{
    if constexpr (PAIRING == 0) {
        pack_store<IN, VEC>(head + pack * VEC, value.left);
        pack_store<IN, VEC>(head + DIM / 2 + pack * VEC, value.right);
    } else {
        floats first = {}, second = {};
#pragma unroll
        for (unsigned e = 0; e < VEC; ++e) {
            first[e] = e % 2 ? value.right[e / 2] : value.left[e / 2];
            second[e] = e % 2 ? value.right[(VEC + e) / 2] : value.left[(VEC + e) / 2];
        }
        pack_store<IN, VEC>(head + pack * 2 * VEC, first);
        pack_store<IN, VEC>(head + (pack * 2 + 1) * VEC, second);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void rope(element *__restrict y, const element *__restrict x,
    const int32_t *__restrict positions, const float *__restrict table, uint32_t heads)
{
    const unsigned lane = threadIdx.x;
    const uint64_t token = blockIdx.x * static_cast<uint64_t>(heads) * DIM;
    const float *const angles = table + positions[blockIdx.x] * static_cast<uint64_t>(DIM);
    if (lane >= HEADS * PACKS && BLOCK > PACKS)
        return;
    for (unsigned pack = lane % PACKS; pack < PACKS; pack += BLOCK) {
        const floats c = pack_load<tile_f32, VEC>(angles + pack * VEC);
        const floats s = pack_load<tile_f32, VEC>(angles + DIM / 2 + pack * VEC);
#pragma unroll 2
        for (unsigned head = lane / PACKS; head < heads; head += HEADS) {
            const uint64_t at = token + head * DIM;
            const pairs from = load_pairs(x + at, pack);
            store_pairs(y + at, pack, {from.left * c - from.right * s, from.left * s + from.right * c});
        }
    }
}
