/* SPDX-License-Identifier: MIT
 *
 * Where a slab of an operand lies in LDS and which lane moves what of it: index functions only, shared by the kernels
 * that move slabs and by gemm_banks, which counts their bank conflicts.
 *
 * A slab is `rows` x `depth` elements, k fastest, in units of 16 bytes: a piece of a lane's part of a fragment (tile.h)
 * is some of them.
 * The operand's own memory is either along k as well (`along`), so a move is 16 bytes of one row, or across: then a
 * lane loads 16 bytes of `turn` neighbouring k and turns them, so that each of its rows gets `turn` elements at once.
 *
 * Banks. 32 banks of 4 bytes serve 128 bytes per clock: 8 lanes of 16 bytes, 16 of 8, 32 of 4. Which lanes are served
 * together is in gemm_banks.hip: on AMD they read the same unit of eight rows, on NVIDIA four units of two rows. What
 * they ask for has to lie in different eighths of a line of 128 bytes:
 *   plain     rows one after the other: lanes that read a column of units meet in one bank
 *   padded    a unit is left free behind each row, so that a column moves on by one eighth per row
 *   swizzled  nothing is left free: the eighth is exchanged with another one of its line, by exclusive or with a number
 *             that differs between the rows which lanes ask for together
 */
enum { SLAB_PLAIN, SLAB_PADDED, SLAB_SWIZZLED };

template <unsigned row_count, unsigned depth_count, unsigned bytes, bool is_along, int order_of, unsigned lane_count>
struct slab {
    static constexpr unsigned rows = row_count, depth = depth_count, lanes = lane_count;
    static constexpr unsigned pack = 16 / bytes; /* elements of a unit */
    static constexpr unsigned chunks = depth / pack;
    static constexpr bool along = is_along;
    static constexpr int order = order_of;
    static constexpr unsigned row_units = chunks + (order == SLAB_PADDED ? 1 : 0);
    static constexpr unsigned units = rows * row_units;
    static constexpr unsigned moves = rows * chunks / lanes; /* of 16 bytes, per lane */
    static constexpr unsigned turn = along || moves < 2 ? 1 : moves < pack ? moves : pack;
    static constexpr unsigned words = along ? 4 : turn * bytes / 4; /* of a write to LDS */
    static_assert(rows * chunks % lanes == 0 && moves > 0, "slabs are not whole moves per lane");
    static_assert(along || (rows % (8 * pack) == 0 && words > 0 && moves % turn == 0 && depth % turn == 0),
                  "slabs are not whole blocks per lane");
};

/* Three bits, the lowest becomes the highest. */
__device__ static constexpr unsigned slab_turned(unsigned bits)
{
    return (bits >> 1 | bits << 2) & 7;
}

/* Lanes of NVIDIA ask for half a line of one row and half a line of the next, which are to be different halves: the
 * lowest bit of the row decides. Shorter rows share a line, so that neighbours cannot meet. */
template <class slab_t> __device__ static constexpr unsigned slab_halves(unsigned exchange)
{
    return tile_beside > 1 && slab_t::chunks >= 8 ? slab_turned(exchange) : exchange;
}

/* What the low bits of a unit's number are exchanged by, exclusive or: in rows whose bits do not meet it adds up, so
 * exchange(x + y) is exchange(x) ^ exchange(y). */
template <class slab_t> __device__ static constexpr unsigned slab_exchange(unsigned row)
{
    if (slab_t::order != SLAB_SWIZZLED)
        return 0;
    constexpr unsigned per_line = slab_t::chunks < 8 ? 8 / slab_t::chunks : 1; /* rows */
    constexpr unsigned places = slab_t::chunks < 8 ? slab_t::chunks : 8;
    const unsigned near = row / per_line % places;
    if (slab_t::along)
        return slab_halves<slab_t>(near);
    if (slab_t::chunks == 2) /* see slab_split */
        return (row / 8 ^ row / 64) % 8;
    /* Writes go to rows that are `pack` apart: higher bits of the row must count too. Row 16's would undo what rows 4
     * apart gain in reads (see the groups in gemm_banks.hip), so with four units to the row these bits turn. */
    const unsigned far = (row / 8 ^ row / 64) % 8;
    return slab_t::chunks == 4 ? near ^ slab_turned(far) : slab_halves<slab_t>(near ^ far);
}

/* Rows of two units, swizzled. A wave reads both units of eight rows, and half the lanes of one may be served with the other
 * half of either (gemm_banks.hip). So first units of eight rows are a line, their second units the next. */
template <class slab_t> static constexpr bool slab_split = slab_t::order == SLAB_SWIZZLED && !slab_t::along && slab_t::chunks == 2;

/* The unit of `row` that holds its elements chunk * pack and on. */
template <class slab_t> __device__ static constexpr unsigned slab_unit(unsigned row, unsigned chunk)
{
    if (slab_split<slab_t>)
        return (row / 8 * 16 + chunk * 8 + row % 8) ^ slab_exchange<slab_t>(row);
    return (row * slab_t::row_units + chunk) ^ slab_exchange<slab_t>(row);
}

/* The same for row + rows and chunk + chunks, from the unit of row and chunk, by constants alone: one register with an
 * address serves many reads. Bits of row and rows must not meet, nor those of chunk and chunks; rows are eights. */
template <class slab_t>
__device__ static constexpr unsigned slab_unit_beyond(unsigned unit, unsigned rows, unsigned chunks)
{
    if (slab_t::order != SLAB_SWIZZLED)
        return unit + rows * slab_t::row_units + chunks;
    if (slab_split<slab_t>)
        return (unit ^ slab_exchange<slab_t>(rows)) + rows * 2 + chunks * 8;
    /* Exchanges are within eight units: what lies beyond only moves, as a constant in the instruction. */
    return (unit ^ ((slab_exchange<slab_t>(rows) ^ chunks) & 7)) + rows * slab_t::row_units + (chunks & ~7u);
}

/* Move number `move` of a lane: the row and k of its first element. Across, moves of one block follow each other. */
template <class slab_t> __device__ static constexpr unsigned slab_move_row(unsigned lane, unsigned move)
{
    if (slab_t::along)
        return (move * slab_t::lanes + lane) / slab_t::chunks;
    const unsigned block = move / slab_t::turn * slab_t::lanes + lane;
    return (block / 8 / (slab_t::depth / slab_t::turn) * 8 + block % 8) * slab_t::pack;
}

template <class slab_t> __device__ static constexpr unsigned slab_move_k(unsigned lane, unsigned move)
{
    if (slab_t::along)
        return (move * slab_t::lanes + lane) % slab_t::chunks * slab_t::pack;
    const unsigned block = move / slab_t::turn * slab_t::lanes + lane;
    return block / 8 % (slab_t::depth / slab_t::turn) * slab_t::turn + move % slab_t::turn;
}

/* Instructions whose operands one read of 16 bytes holds: most targets have less than that in a piece of a lane's part
 * (tile.h). Which k is where only has to agree between A and B, so what a lane holds of several instructions may lie side
 * by side: element e of piece p of instruction g stands `e` behind the piece's place * count + g * tile_t::piece. So a
 * lane reads, of each of its `rows` rows, which are `apart`, `lane_units` units behind each other; from slab_first_unit on. */
template <class tile_t> struct slab_group {
    static constexpr unsigned piece_bytes = static_cast<unsigned>(tile_t::piece) * sizeof(typename tile_t::in_t);
    static constexpr unsigned count = piece_bytes < 16 ? 16 / piece_bytes : 1;
    static constexpr unsigned depth = count * static_cast<unsigned>(tile_t::k);
    static constexpr unsigned lane_units = piece_bytes < 16 ? 1 : piece_bytes / 16;
    static constexpr unsigned rows = static_cast<unsigned>(tile_t::a_rows);
    static constexpr unsigned apart = static_cast<unsigned>(tile_t::m) / rows;
};

/* The unit of a group's depth that a lane reads first; `k` is tile_a_k or tile_b_k of its element 0. */
template <class tile_t> __device__ unsigned slab_first_unit(unsigned k)
{
    return tile_k_place<tile_t>(k) / static_cast<unsigned>(tile_t::piece) * slab_group<tile_t>::lane_units;
}
