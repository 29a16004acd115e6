/* SPDX-License-Identifier: MIT
 *
 * What every tiled product on matrix cores does with K tiles in LDS (gemm_k_tile.h): units to fragments, fragments to
 * products; and which tile a workgroup makes. The source that includes it defines before: fragment, group_of, GROUP,
 * STEPS, TILES_M, TILES_N, a_tile, b_tile (B behind A) and quad, 16 bytes of LDS.
 */
/* The units that a lane reads first; those of other tiles and later steps are constants away. Opaque, so that the
 * compiler does not recompute them in the loop. */
struct lds_offsets {
    unsigned a, b;
};

__device__ lds_offsets lds_offsets_of(unsigned wave_row, unsigned wave_column)
{
    const unsigned a_unit = k_tile_first_unit<fragment>(tile_a_k<fragment>(0));
    const unsigned b_unit = k_tile_first_unit<fragment>(tile_b_k<fragment>(0));
    return {opaque(k_tile_unit<a_tile>(wave_row + tile_a_row<fragment>(0), a_unit)),
        opaque(k_tile_unit<b_tile>(wave_column + tile_b_column<fragment>(0), b_unit))};
}

typedef fragment::c_t totals[TILES_M][TILES_N];

__device__ void clear(totals &total)
{
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j)
            total[i][j] = tile_fill<fragment>(0);
    }
}

/* One step of a K tile, column by column, with B of one column in registers. NVIDIA's compilers keep the order of the
 * source, and this one needs the fewest registers. */
__device__ void multiply_by_column(totals &total, const quad *k_tiles, const lds_offsets &at, unsigned step)
{
    fragment::a_t a[TILES_M][GROUP];
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i)
        k_tile_read<group_of, a_tile>(a[i], k_tiles, at.a, i, step);
#pragma unroll
    for (unsigned j = 0; j < TILES_N; ++j) {
        fragment::b_t b[GROUP];
        k_tile_read<group_of, b_tile>(b, k_tiles + a_tile::units, at.b, j, step);
#pragma unroll
        for (unsigned g = 0; g < GROUP; ++g) {
#pragma unroll
            for (unsigned i = 0; i < TILES_M; ++i)
                total[i][j] = tile_mma<fragment>(a[i][g], b[g], total[i][j]);
        }
    }
}

/* Adds the products of one K tile in LDS. */
__device__ void multiply(totals &total, const quad *k_tiles, const lds_offsets &at)
{
#pragma unroll
    for (unsigned step = 0; step < STEPS; ++step) {
        if constexpr (group_of::rows > 1) {
            multiply_by_column(total, k_tiles, at, step);
            continue;
        }
        fragment::a_t a[TILES_M][GROUP];
        fragment::b_t b[TILES_N][GROUP];
#pragma unroll
        for (unsigned i = 0; i < TILES_M; ++i)
            k_tile_read<group_of, a_tile>(a[i], k_tiles, at.a, i, step);
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j)
            k_tile_read<group_of, b_tile>(b[j], k_tiles + a_tile::units, at.b, j, step);
#pragma unroll
        for (unsigned g = 0; g < GROUP; ++g) {
#pragma unroll
            for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
                for (unsigned j = 0; j < TILES_N; ++j)
                    total[i][j] = tile_mma<fragment>(a[i][g], b[j][g], total[i][j]);
            }
        }
    }
}

/* Which tile a workgroup makes. The hardware gives workgroups to the `dies` in turn, each of which has its own L2, so
 * they are first renumbered to make those of a die consecutive. They then go down `group` rows of tiles before the next
 * column, so that those which run at the same time share few rows of A and columns of B. */
__device__ static void tile_of(
    unsigned &row, unsigned &column, unsigned number, unsigned rows, unsigned columns, unsigned group, unsigned dies)
{
    const unsigned share = rows * columns / dies;
    if (number < share * dies)
        number = number % dies * share + number / dies;
    const unsigned band = number / (group * columns), within = number % (group * columns);
    const unsigned height = rows - band * group < group ? rows - band * group : group;
    row = band * group + within % height;
    column = within / height;
}
