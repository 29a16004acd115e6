/* SPDX-License-Identifier: MIT
 *
 * What every tiled product on matrix cores does with slabs that lie in LDS (gemm_slab.h): units to fragments, fragments to
 * products; and which tile a workgroup makes. The source that includes it defines before: fragment, group_of, GROUP, STEPS,
 * TILES_M, TILES_N, slab_a, slab_b (B behind A) and quad, 16 bytes of LDS.
 *
 * A lane reads 16 bytes at a time: of each of its rows (two on NVIDIA) what it needs for GROUP instructions.
 */
#include "gemm_parts.h"

/* The units of slabs that a lane reads first: what it reads of other tiles and in later steps is constants away.
 * Opaque, so that no compiler thinks of working them out in the loop. */
struct places {
    unsigned a, b;
};

__device__ places places_of(unsigned wave_row, unsigned wave_column)
{
    const unsigned a_unit = slab_first_unit<fragment>(tile_a_k<fragment>(0));
    const unsigned b_unit = slab_first_unit<fragment>(tile_b_k<fragment>(0));
    return {opaque(slab_unit<slab_a>(wave_row + tile_a_row<fragment>(0), a_unit)),
            opaque(slab_unit<slab_b>(wave_column + tile_b_column<fragment>(0), b_unit))};
}

typedef fragment::c_t totals[TILES_M][TILES_N];

/* One step of a slab, column by column: B of one of them waits in registers. NVIDIA's instructions are in the order of
 * the source, in which this one needs the fewest registers. */
__device__ void multiply_by_column(totals &total, const quad *slabs, const places &at, unsigned step)
{
    fragment::a_t a[TILES_M][GROUP];
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i)
        read_parts<slab_a>(a[i], slabs, at.a, i, step);
    UNROLL
    for (unsigned j = 0; j < TILES_N; ++j) {
        fragment::b_t b[GROUP];
        read_parts<slab_b>(b, slabs + slab_a::units, at.b, j, step);
        UNROLL
        for (unsigned g = 0; g < GROUP; ++g) {
            UNROLL
            for (unsigned i = 0; i < TILES_M; ++i)
                total[i][j] = tile_mma<fragment>(a[i][g], b[g], total[i][j]);
        }
    }
}

/* One slab in LDS. */
__device__ void multiply(totals &total, const quad *slabs, const places &at)
{
    UNROLL
    for (unsigned step = 0; step < STEPS; ++step) {
        if constexpr (group_of::rows > 1) {
            multiply_by_column(total, slabs, at, step);
            continue;
        }
        fragment::a_t a[TILES_M][GROUP];
        fragment::b_t b[TILES_N][GROUP];
        UNROLL
        for (unsigned i = 0; i < TILES_M; ++i)
            read_parts<slab_a>(a[i], slabs, at.a, i, step);
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j)
            read_parts<slab_b>(b[j], slabs + slab_a::units, at.b, j, step);
        UNROLL
        for (unsigned g = 0; g < GROUP; ++g) {
            UNROLL
            for (unsigned i = 0; i < TILES_M; ++i) {
                UNROLL
                for (unsigned j = 0; j < TILES_N; ++j)
                    total[i][j] = tile_mma<fragment>(a[i][g], b[j][g], total[i][j]);
            }
        }
    }
}

/* Which tile a workgroup makes. Workgroups are dealt out to the `spread` dies in turn, each of which has an L2 of its
 * own: neighbours are put back together first. Then they go down `group` rows of tiles before they go on to the next
 * column, so that those which run at once use few rows of A and few columns of B. */
__device__ static void tile_of(unsigned &row, unsigned &column, unsigned number, unsigned rows, unsigned columns,
                               unsigned group, unsigned spread)
{
    const unsigned share = rows * columns / spread;
    if (number < share * spread)
        number = number % spread * share + number / spread;
    const unsigned band = number / (group * columns), within = number % (group * columns);
    const unsigned height = rows - band * group < group ? rows - band * group : group;
    row = band * group + within % height;
    column = within / height;
}
