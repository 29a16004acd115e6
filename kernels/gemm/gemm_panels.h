/* SPDX-License-Identifier: MIT
 *
 * gemm_tile with RI x RJ register tiles to a lane, which it makes one after the other from the same K tile. D then
 * holds the sums from K tile to K tile, as registers cannot. This suits CPUs: one lane to the workgroup, LDS in the L2
 * cache. In LDS the rows of each register tile are contiguous ([register tile][k][TM]): the panels of BLAS libraries.
 * Part of gemm_tile.hip, which has the layout, the moves and the products.
 */

/* Memory to LDS, panel by panel. What lies beyond the matrix is not multiplied and need not be cleared. */
template <class k_tile, bool transposed>
__device__ static inline void copy_panels(T *lds, const operand &from, uint64_t k_begin, uint64_t k_end)
{
    constexpr unsigned width = transposed ? Q : k_tile::pack, depth = transposed ? Q : 1;
    const unsigned wide = static_cast<unsigned>(from.wide < k_tile::wide_ ? from.wide : k_tile::wide_);
    const unsigned deep = static_cast<unsigned>(k_end - k_begin < BK ? k_end - k_begin : BK);
    for (unsigned panel = 0; panel < wide; panel += k_tile::panel_) {
        for (unsigned k = 0; k < deep; k += depth) {
#pragma unroll
            for (unsigned within = 0; within < k_tile::panel_; within += width) {
                staged<k_tile, transposed> staged;
                load_move<k_tile, transposed>(staged, from, k_begin, k_end, {panel + within, k});
                store_move<k_tile, transposed>(lds, staged, {panel + within, k});
            }
        }
    }
}

/* Where a lane begins in D and in C, and its first row and column in each panel. */
struct lane_place {
    uint64_t tile;
    unsigned row, column;
};

__device__ inline void multiply_panels(T *d, const T *c, T *k_tiles, const operand &from_a, const operand &from_b,
    lane_place first, uint32_t k, uint32_t d_stride, T alpha, T beta)
{
    T *const of_b = k_tiles + a_tile::elements;
    for (uint64_t depth = 0; depth < k || depth == 0; depth += BK) {
        copy_panels<a_tile, !TA>(k_tiles, from_a, depth, k);
        copy_panels<b_tile, TB>(of_b, from_b, depth, k);
        __syncthreads();
        const T *const add_to = depth ? d : c;
        const unsigned products = static_cast<unsigned>(left(k, depth) < BK ? left(k, depth) : BK);
        for (unsigned rj = 0; rj < RJ && rj * B_PANEL < from_b.wide; ++rj)
            for (unsigned ri = 0; ri < RI && ri * A_PANEL < from_a.wide; ++ri) {
                const unsigned row = ri * A_PANEL + first.row, column = rj * B_PANEL + first.column;
                const uint64_t at = first.tile + row * static_cast<uint64_t>(d_stride) + column;
                pack_t sum[TM][RUNS] = {};
                multiply(
                    sum, k_tiles + ri * a_tile::size + first.row, of_b + rj * b_tile::size + first.column, products);
                store_tile(d + at, add_to + at, sum, d_stride, left(from_a.wide, row), left(from_b.wide, column), alpha,
                    depth ? T(1) : beta);
            }
        __syncthreads();
    }
}
