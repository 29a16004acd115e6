/* SPDX-License-Identifier: MIT
 *
 * Where a K tile of an operand lies in LDS, and which lane moves what of it: index functions, with which gemm_banks
 * counts bank conflicts; and behind them the moves themselves, registers to LDS and LDS to fragments. Include it after
 * tile.h.
 *
 * A K tile is `rows` x `depth` elements, k fastest, in units of 16 bytes. The row fragments of tile.h are some of them.
 * If the operand is contiguous along k in memory too, a move is 16 bytes of one row. Otherwise a lane loads 16 bytes of
 * each of `k_block` adjacent k and transposes them, so that each of its rows gets `k_block` elements at once.
 *
 * Banks. 32 banks of 4 bytes serve 128 bytes per clock: 8 lanes of 16 bytes, 16 of 8, 32 of 4. gemm_banks.hip has which
 * lanes are served together: on AMD they read the same unit of eight rows, on NVIDIA four units of two rows. What they
 * ask for has to lie in different eighths of a line of 128 bytes:
 *   plain     rows one after the other: lanes that read a column of units meet in one bank
 *   padded    a unit is left free behind each row, so that a column moves by one eighth per row
 *   swizzled  nothing is left free: the number of the eighth is xor-ed with a number that differs between the rows
 *             which lanes ask for together
 */
typedef vec<uint32_t, 4>::type quad;
enum { K_TILE_PLAIN, K_TILE_PADDED, K_TILE_SWIZZLED };

template <unsigned row_count, unsigned depth_count, unsigned element_bytes, bool is_k_contiguous, int order_of,
    unsigned lane_count>
struct k_tile {
    static constexpr unsigned rows = row_count, depth = depth_count, lanes = lane_count;
    static constexpr unsigned bytes = element_bytes, pack = 16 / bytes; /* of an element; elements of a unit */
    static constexpr unsigned chunks = depth / pack;
    static constexpr bool k_contiguous = is_k_contiguous;
    static constexpr int order = order_of;
    static constexpr unsigned row_units = chunks + (order == K_TILE_PADDED ? 1 : 0);
    static constexpr unsigned units = rows * row_units;
    static constexpr unsigned moves = rows * chunks / lanes; /* of 16 bytes, per lane */
    static constexpr unsigned k_block = k_contiguous || moves < 2 ? 1 : moves < pack ? moves : pack;
    static constexpr unsigned words = k_contiguous ? 4 : k_block * bytes / 4; /* per write to LDS */
    static_assert(rows * chunks % lanes == 0 && moves > 0, "K tiles are not whole moves per lane");
    static_assert(k_contiguous || (rows % (8 * pack) == 0 && words > 0 && moves % k_block == 0 && depth % k_block == 0),
        "K tiles are not whole blocks per lane");
};

/* Of three bits, to the right. */
__device__ static constexpr unsigned rotate_3_bits(unsigned bits)
{
    return (bits >> 1 | bits << 2) & 7;
}

/* Lanes of NVIDIA ask for half a line of one row and half a line of the next, which have to be different halves: the
 * lowest bit of the row chooses. Shorter rows share a line, so that adjacent ones cannot meet. */
template <class k_tile_t> __device__ static constexpr unsigned k_tile_swizzle_halves(unsigned exchange)
{
    return tile_adjacent_lanes > 1 && k_tile_t::chunks >= 8 ? rotate_3_bits(exchange) : exchange;
}

/* What the low bits of a unit's number are xor-ed with. It is linear over bits: where x and y have no bit in common,
 * swizzle(x + y) is swizzle(x) ^ swizzle(y). */
template <class k_tile_t> __device__ static constexpr unsigned k_tile_swizzle(unsigned row)
{
    if (k_tile_t::order != K_TILE_SWIZZLED)
        return 0;
    constexpr unsigned per_line = k_tile_t::chunks < 8 ? 8 / k_tile_t::chunks : 1; /* rows */
    constexpr unsigned positions = k_tile_t::chunks < 8 ? k_tile_t::chunks : 8;
    const unsigned near = row / per_line % positions;
    if (k_tile_t::k_contiguous)
        return k_tile_swizzle_halves<k_tile_t>(near);
    if (k_tile_t::chunks == 2) /* see k_tile_split_units */
        return (row / 8 ^ row / 64) % 8;
    /* Writes go to rows `pack` apart, so higher bits of the row must count too. That of row 16 would undo what rows 4
     * apart gain in reads (see the groups in gemm_banks.hip), so with four units to the row these bits are rotated. */
    const unsigned far = (row / 8 ^ row / 64) % 8;
    return k_tile_t::chunks == 4 ? near ^ rotate_3_bits(far) : k_tile_swizzle_halves<k_tile_t>(near ^ far);
}

/* Rows of two units, swizzled. A wave reads both units of eight rows, and lanes that read a first unit may be served
 * together with lanes that read a second one (gemm_banks.hip). So the first units of eight rows are one line, their
 * second units the next. */
template <class k_tile_t>
static constexpr bool k_tile_split_units =
    k_tile_t::order == K_TILE_SWIZZLED && !k_tile_t::k_contiguous && k_tile_t::chunks == 2;

/* The unit of `row` that holds its elements chunk * pack and on. */
template <class k_tile_t> __device__ static constexpr unsigned k_tile_unit(unsigned row, unsigned chunk)
{
    if (k_tile_split_units<k_tile_t>)
        return (row / 8 * 16 + chunk * 8 + row % 8) ^ k_tile_swizzle<k_tile_t>(row);
    return (row * k_tile_t::row_units + chunk) ^ k_tile_swizzle<k_tile_t>(row);
}

/* The unit of row + rows and chunk + chunks, given that of row and chunk, by constants alone: one address register
 * serves many reads. row and rows must have no bit in common, nor chunk and chunks; rows is a multiple of 8. */
template <class k_tile_t>
__device__ static constexpr unsigned k_tile_unit_plus(unsigned unit, unsigned rows, unsigned chunks)
{
    if (k_tile_t::order != K_TILE_SWIZZLED)
        return unit + rows * k_tile_t::row_units + chunks;
    if (k_tile_split_units<k_tile_t>)
        return (unit ^ k_tile_swizzle<k_tile_t>(rows)) + rows * 2 + chunks * 8;
    /* The swizzle stays within eight units; the rest is a constant offset in the instruction. */
    return (unit ^ ((k_tile_swizzle<k_tile_t>(rows) ^ chunks) & 7)) + rows * k_tile_t::row_units + (chunks & ~7u);
}

/* The row and k of the first element of a lane's move. Moves of a block that is transposed follow each other. */
template <class k_tile_t> __device__ static constexpr unsigned k_tile_move_row(unsigned lane, unsigned move)
{
    if (k_tile_t::k_contiguous)
        return (move * k_tile_t::lanes + lane) / k_tile_t::chunks;
    const unsigned block = move / k_tile_t::k_block * k_tile_t::lanes + lane;
    return (block / 8 / (k_tile_t::depth / k_tile_t::k_block) * 8 + block % 8) * k_tile_t::pack;
}

template <class k_tile_t> __device__ static constexpr unsigned k_tile_move_k(unsigned lane, unsigned move)
{
    if (k_tile_t::k_contiguous)
        return (move * k_tile_t::lanes + lane) % k_tile_t::chunks * k_tile_t::pack;
    const unsigned block = move / k_tile_t::k_block * k_tile_t::lanes + lane;
    return block / 8 % (k_tile_t::depth / k_tile_t::k_block) * k_tile_t::k_block + move % k_tile_t::k_block;
}

/* A group of instructions whose operands fit one read of 16 bytes, as most targets' row fragments (tile.h) are shorter.
 * The order of k only has to agree between A and B, so the fragments of `count` instructions may be contiguous: element
 * e of a row fragment of instruction g is at tile_k_offset * count + g * row_fragment + e. A lane reads `lane_units`
 * consecutive units, from k_tile_first_unit on, of each of its `rows` rows, which are `row_stride` apart. */
template <class tile_t> struct k_tile_group {
    static constexpr unsigned row_fragment_bytes =
        static_cast<unsigned>(tile_t::row_fragment) * sizeof(typename tile_t::in_t);
    static constexpr unsigned count = row_fragment_bytes < 16 ? 16 / row_fragment_bytes : 1;
    static constexpr unsigned depth = count * static_cast<unsigned>(tile_t::k);
    static constexpr unsigned lane_units = row_fragment_bytes < 16 ? 1 : row_fragment_bytes / 16;
    static constexpr unsigned rows = static_cast<unsigned>(tile_t::a_rows);
    static constexpr unsigned row_stride = static_cast<unsigned>(tile_t::m) / rows;
};

/* The first unit that a lane reads of a group; `k` is tile_a_k or tile_b_k of its element 0. */
template <class tile_t> __device__ unsigned k_tile_first_unit(unsigned k)
{
    return tile_k_offset<tile_t>(k) / static_cast<unsigned>(tile_t::row_fragment) * k_tile_group<tile_t>::lane_units;
}

/* ---- registers to LDS, LDS to fragments ---- */

/* Word `word` of row `row` of a transposed block: that row's element of moves word * 4 / bytes and following. */
template <unsigned bytes>
__device__ static uint32_t k_tile_transposed_word(const quad *moves, unsigned row, unsigned word)
{
    if constexpr (bytes == 8)
        return moves[word / 2][row * 2 + word % 2];
    if constexpr (bytes == 4)
        return moves[word][row];
    if constexpr (bytes == 2)
        return permute_bytes(
            moves[word * 2 + 1][row / 2], moves[word * 2][row / 2], row % 2 ? 0x07060302u : 0x05040100u);
    const unsigned at = row / 4, low = row % 4; /* the byte in its word; selectors take one of two words */
    const uint32_t pair = 0x0c0c0000u | (4 + low) << 8 | low, upper = 0x00000c0cu | (4 + low) << 24 | low << 16;
    return permute_bytes(moves[word * 4 + 1][at], moves[word * 4][at], pair) |
           permute_bytes(moves[word * 4 + 3][at], moves[word * 4 + 2][at], upper);
}

/* Stores a lane's moves of a K tile, transposed if the operand is not contiguous along k. */
template <class k_tile_t>
__device__ static void k_tile_put(quad *into, const quad (&moves)[k_tile_t::moves], unsigned lane)
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
                    words[word] = k_tile_transposed_word<k_tile_t::bytes>(moves + first, i, word);
                const unsigned at =
                    k_tile_unit<k_tile_t>(row + i, k / k_tile_t::pack) * 4 + k % k_tile_t::pack * k_tile_t::bytes / 4;
                *reinterpret_cast<part *>(reinterpret_cast<uint32_t *>(into) + at) = words;
            }
        }
    }
}

/* A fragment as words, whatever its elements are. */
template <class vector_t> struct k_tile_words {
    typedef typename simt_tile_vector<uint32_t, static_cast<int>(sizeof(vector_t) / 4)>::type type;
};

/* The fragments of a group of instructions from the units that the lane read of each of its rows. */
template <class group_t, class part_t>
__device__ static void k_tile_distribute(
    part_t (&into)[group_t::count], const quad (&units)[group_t::rows][group_t::lane_units])
{
    typedef typename k_tile_words<part_t>::type words;
    constexpr unsigned row_fragment_words = sizeof(part_t) / 4 / group_t::rows;
    words parts[group_t::count];
#pragma unroll
    for (unsigned p = 0; p < group_t::rows; ++p) {
#pragma unroll
        for (unsigned c = 0; c < group_t::lane_units; ++c) {
#pragma unroll
            for (unsigned w = 0; w < 4; ++w)
                parts[w / row_fragment_words % group_t::count]
                     [p * row_fragment_words + c * 4 % row_fragment_words + w % row_fragment_words] = units[p][c][w];
        }
    }
#pragma unroll
    for (unsigned g = 0; g < group_t::count; ++g)
        into[g] = __builtin_bit_cast(part_t, parts[g]);
}

/* Reads the fragments of tile `number` for the group of instructions of a step. `offset`: the unit that the lane reads
 * first of tile 0 and step 0. */
template <class group_t, class k_tile_t, class part_t>
__device__ static void k_tile_read(
    part_t (&into)[group_t::count], const quad *lds, unsigned offset, unsigned number, unsigned step)
{
    quad units[group_t::rows][group_t::lane_units];
#pragma unroll
    for (unsigned p = 0; p < group_t::rows; ++p) {
#pragma unroll
        for (unsigned c = 0; c < group_t::lane_units; ++c) {
            const unsigned chunk = step * (group_t::depth / k_tile_t::pack) + c;
            units[p][c] = lds[k_tile_unit_plus<k_tile_t>(
                offset, number * group_t::rows * group_t::row_stride + p * group_t::row_stride, chunk)];
        }
    }
    k_tile_distribute<group_t>(into, units);
}
