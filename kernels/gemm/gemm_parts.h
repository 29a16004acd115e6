/* SPDX-License-Identifier: MIT
 *
 * Registers to LDS and LDS to fragments, in units of 16 bytes. The source that includes it defines before: fragment,
 * element, group_of, GROUP (see k_tile_group in gemm_k_tile.h) and quad, 16 bytes.
 *
 * A lane reads 16 bytes at a time: of each of its rows (two on NVIDIA) what it needs for GROUP instructions.
 */

/* Word `word` of row `row` of a transposed block: that row's element of moves word * 4 / bytes and following. */
__device__ static uint32_t transposed_word(const quad *moves, unsigned row, unsigned word)
{
    if constexpr (sizeof(element) == 8)
        return moves[word / 2][row * 2 + word % 2];
    if constexpr (sizeof(element) == 4)
        return moves[word][row];
    if constexpr (sizeof(element) == 2)
        return permute_bytes(
            moves[word * 2 + 1][row / 2], moves[word * 2][row / 2], row % 2 ? 0x07060302u : 0x05040100u);
    const unsigned at = row / 4, low = row % 4; /* the byte in its word; selectors take one of two words */
    const uint32_t pair = 0x0c0c0000u | (4 + low) << 8 | low, upper = 0x00000c0cu | (4 + low) << 24 | low << 16;
    return permute_bytes(moves[word * 4 + 1][at], moves[word * 4][at], pair) |
           permute_bytes(moves[word * 4 + 3][at], moves[word * 4 + 2][at], upper);
}

/* Stores a lane's moves of a K tile, transposed if the operand is not contiguous along k. */
template <class k_tile_t> __device__ static void put(quad *into, const quad (&moves)[k_tile_t::moves], unsigned lane)
{
    if constexpr (k_tile_t::k_contiguous) {
#pragma unroll
        for (unsigned move = 0; move < k_tile_t::moves; ++move)
            into[k_tile_unit<k_tile_t>(k_tile_move_row<k_tile_t>(lane, move),
                k_tile_move_k<k_tile_t>(lane, move) / k_tile_t::pack)] = moves[move];
    } else {
        typedef typename simt_tile_vector<uint32_t, k_tile_t::words>::type part;
#pragma unroll
        for (unsigned first = 0; first < k_tile_t::moves; first += k_tile_t::k_block) {
            const unsigned row = k_tile_move_row<k_tile_t>(lane, first), k = k_tile_move_k<k_tile_t>(lane, first);
#pragma unroll
            for (unsigned i = 0; i < k_tile_t::pack; ++i) {
                part words;
#pragma unroll
                for (unsigned word = 0; word < k_tile_t::words; ++word)
                    words[word] = transposed_word(moves + first, i, word);
                const unsigned at =
                    k_tile_unit<k_tile_t>(row + i, k / k_tile_t::pack) * 4 + k % k_tile_t::pack * sizeof(element) / 4;
                *reinterpret_cast<part *>(reinterpret_cast<uint32_t *>(into) + at) = words;
            }
        }
    }
}

/* A fragment as words, whatever its elements are. */
template <class vector_t> struct words_of {
    typedef typename simt_tile_vector<uint32_t, static_cast<int>(sizeof(vector_t) / 4)>::type type;
};

/* The fragments of GROUP instructions from the units that the lane read of each of its rows. */
template <class part_t>
__device__ static void distribute(part_t (&into)[GROUP], const quad (&units)[group_of::rows][group_of::lane_units])
{
    typedef typename words_of<part_t>::type words;
    constexpr unsigned row_fragment_words = sizeof(part_t) / 4 / group_of::rows;
    words parts[GROUP];
#pragma unroll
    for (unsigned p = 0; p < group_of::rows; ++p) {
#pragma unroll
        for (unsigned c = 0; c < group_of::lane_units; ++c) {
#pragma unroll
            for (unsigned w = 0; w < 4; ++w)
                parts[w / row_fragment_words % GROUP]
                     [p * row_fragment_words + c * 4 % row_fragment_words + w % row_fragment_words] = units[p][c][w];
        }
    }
#pragma unroll
    for (unsigned g = 0; g < GROUP; ++g)
        into[g] = __builtin_bit_cast(part_t, parts[g]);
}

/* Reads the fragments of tile `number` for the GROUP instructions of a step. `offset`: the unit that the lane reads
 * first of tile 0 and step 0. */
template <class k_tile_t, class part_t>
__device__ static void read_parts(
    part_t (&into)[GROUP], const quad *lds, unsigned offset, unsigned number, unsigned step)
{
    quad units[group_of::rows][group_of::lane_units];
#pragma unroll
    for (unsigned p = 0; p < group_of::rows; ++p) {
#pragma unroll
        for (unsigned c = 0; c < group_of::lane_units; ++c) {
            const unsigned chunk = step * (group_of::depth / k_tile_t::pack) + c;
            units[p][c] = lds[k_tile_unit_plus<k_tile_t>(offset, number * M + p * group_of::row_stride, chunk)];
        }
    }
    distribute(into, units);
}
