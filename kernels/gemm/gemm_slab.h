/* SPDX-License-Identifier: MIT
 *
 * Where a slab of an operand lies in LDS and which lane moves what of it: index functions only, shared by the kernels
 * that move slabs and by gemm_banks, which counts their bank conflicts.
 *
 * A slab is `rows` x `depth` elements, k fastest, in units of 16 bytes: a lane's part of a fragment is some of them.
 * The operand's own memory is either along k as well (`along`), so a move is 16 bytes of one row, or across: then a
 * lane loads 16 bytes of `turn` neighbouring k and turns them, so that each of its rows gets `turn` elements at once.
 *
 * Banks. 32 banks of 4 bytes serve 128 bytes per clock: 8 lanes of 16 bytes, 16 of 8, 32 of 4. Which lanes are served
 * together is in gemm_banks.hip. What they ask for has to lie in different eighths of a line of 128 bytes:
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
        return near;
    /* Writes go to rows that are `pack` apart: higher bits of the row must count too. Row 16's would undo what rows 4
     * apart gain in reads (see the groups in gemm_banks.hip), so with four units to the row these bits turn. */
    const unsigned far = (row / 8 ^ row / 64) % 8;
    return near ^ (slab_t::chunks == 4 ? (far >> 1 | far << 2) & 7 : far);
}

/* The unit of `row` that holds its elements chunk * pack and on. */
template <class slab_t> __device__ static constexpr unsigned slab_unit(unsigned row, unsigned chunk)
{
    return (row * slab_t::row_units + chunk) ^ slab_exchange<slab_t>(row);
}

/* The same for row + rows and chunk + chunks, from the unit of row and chunk, by constants alone: one register with an
 * address serves many reads. Bits of row and rows must not meet, nor those of chunk and chunks. */
template <class slab_t>
__device__ static constexpr unsigned slab_unit_beyond(unsigned unit, unsigned rows, unsigned chunks)
{
    if (slab_t::order != SLAB_SWIZZLED)
        return unit + rows * slab_t::row_units + chunks;
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

/* Instructions whose operands one read of 16 bytes holds: most targets have less than that in a lane. Which k is where
 * only has to agree between A and B, so what a lane holds of several instructions may lie side by side: element e of
 * instruction g stands `e` behind the lane's place * count + g * a_count. */
template <class tile_t> struct slab_group {
    static constexpr unsigned lane_bytes = static_cast<unsigned>(tile_t::a_count) * sizeof(typename tile_t::in_t);
    static constexpr unsigned count = lane_bytes < 16 ? 16 / lane_bytes : 1;
    static constexpr unsigned depth = count * static_cast<unsigned>(tile_t::k);
    static constexpr unsigned lane_units = lane_bytes < 16 ? 1 : lane_bytes / 16;
};
