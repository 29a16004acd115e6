/* SPDX-License-Identifier: MIT
 *
 * Units of 16 bytes in LDS to fragments. The source that includes it defines before: fragment, group_of, GROUP (see
 * k_tile_group in gemm_k_tile.h) and quad, 16 bytes.
 *
 * A lane reads 16 bytes at a time: of each of its rows (two on NVIDIA) what it needs for GROUP instructions.
 */
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
