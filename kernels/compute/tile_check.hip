/* SPDX-License-Identifier: MIT
 *
 * Where tile.h says that the elements of a fragment are, by one wave. tile_check writes the coordinates, to be compared
 * with the tables of the hardware; tile_cover counts how often each element of A, B and C occurs, and copies a C
 * through a fragment.
 *
 * Defines: IN element type of tile.h; M rows and columns, K depth; TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"

using fragment = tile<M, M, K, IN, IN::acc_t>;

extern "C" __global__ void tile_check(uint32_t *__restrict a, uint32_t *__restrict b, uint32_t *__restrict c)
{
    for (int e = 0; e < fragment::a_count; ++e)
        a[lane_id() * fragment::a_count + e] = tile_a_row<fragment>(e) * K + tile_a_k<fragment>(e);
    for (int e = 0; e < fragment::b_count; ++e)
        b[lane_id() * fragment::b_count + e] = tile_b_k<fragment>(e) * M + tile_b_column<fragment>(e);
    for (int e = 0; e < fragment::c_count; ++e)
        c[lane_id() * fragment::c_count + e] = tile_c_row<fragment>(e) * M + tile_c_column<fragment>(e);
}

extern "C" __global__ void tile_cover(uint32_t *__restrict a, uint32_t *__restrict b, uint32_t *__restrict c,
    fragment::acc_t *__restrict copy, const fragment::acc_t *__restrict from)
{
    for (int e = 0; e < fragment::a_count; ++e)
        atomicAdd(&a[tile_a_row<fragment>(e) * K + tile_a_k<fragment>(e)], 1u);
    for (int e = 0; e < fragment::b_count; ++e)
        atomicAdd(&b[tile_b_k<fragment>(e) * M + tile_b_column<fragment>(e)], 1u);
    for (int e = 0; e < fragment::c_count; ++e)
        atomicAdd(&c[tile_c_row<fragment>(e) * M + tile_c_column<fragment>(e)], 1u);
    tile_store_c<fragment>(copy, M, 1, tile_load_c<fragment>(from, M, 1));
}
