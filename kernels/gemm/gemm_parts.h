/* SPDX-License-Identifier: MIT
 *
 * Units of 16 bytes to fragments. The source that includes it defines before: fragment, group_of, GROUP (see gemm_slab.h) and
 * quad, 16 bytes.
 *
 * A lane reads 16 bytes at a time: of each of its rows (two on NVIDIA) what it needs for GROUP instructions.
 */
/* Words move, whatever the elements are. */
template <class vector_t> struct words_of {
    typedef typename simt_tile_vector<uint32_t, static_cast<int>(sizeof(vector_t) / 4)>::type type;
};

/* What a lane holds of GROUP instructions, from the units that it read of each of its rows. */
template <class part_t>
__device__ static void deal_out(part_t (&into)[GROUP], const quad (&units)[group_of::rows][group_of::lane_units])
{
    typedef typename words_of<part_t>::type words;
    constexpr unsigned piece_words = sizeof(part_t) / 4 / group_of::rows;
    words parts[GROUP];
    UNROLL
    for (unsigned p = 0; p < group_of::rows; ++p) {
        UNROLL
        for (unsigned c = 0; c < group_of::lane_units; ++c) {
            UNROLL
            for (unsigned w = 0; w < 4; ++w)
                parts[w / piece_words % GROUP][p * piece_words + c * 4 % piece_words + w % piece_words] = units[p][c][w];
        }
    }
    UNROLL
    for (unsigned g = 0; g < GROUP; ++g)
        into[g] = __builtin_bit_cast(part_t, parts[g]);
}

/* What a lane needs of tile `number` for GROUP instructions, of step `step`. */
template <class slab_t, class part_t>
__device__ static void read_parts(part_t (&into)[GROUP], const quad *slab_at, unsigned place, unsigned number,
                                  unsigned step)
{
    quad units[group_of::rows][group_of::lane_units];
    UNROLL
    for (unsigned p = 0; p < group_of::rows; ++p) {
        UNROLL
        for (unsigned c = 0; c < group_of::lane_units; ++c) {
            const unsigned chunk = step * (group_of::depth / slab_t::pack) + c;
            units[p][c] = slab_at[slab_unit_beyond<slab_t>(place, number * M + p * group_of::apart, chunk)];
        }
    }
    deal_out(into, units);
}
