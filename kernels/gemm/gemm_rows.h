/* SPDX-License-Identifier: MIT
 *
 * A workgroup's tile of D = A * B on matrix cores where rows of A and of B (columns of the product) are contiguous
 * along k, but do not lie at a fixed distance: grouped products, convolutions. The source that includes it says where K
 * tiles come from; this is what happens to them: memory, registers, LDS, fragments, products. gemm_k_tile.h has the
 * layout.
 *
 * Defines: IN element type of tile.h, of 16 bits; M, K instruction; BM BN BK tile; WM WN waves. Include portable.h,
 * tile.h, gemm_k_tile.h before it.
 *
 * The source defines a struct, here source_t, with
 *     uint32_t count, whole;    K tiles, and how many of the first can be loaded 16 bytes at a time (see rows_fit)
 * and two functions that load the next K tile into registers:
 *     void fetch_whole(source_t &, staged_tiles &)                  16 bytes at a time
 *     void fetch_any(source_t &, staged_tiles &, unsigned lane)     any K tile, zeros beyond the end of k
 * With source_t::masked it also has
 *     uint32_t row_mask[a_tile::moves]    per move of A just loaded: all bits set if its row exists; if none are, it
 *                                         counts as zeros, and what was loaded (from anywhere) is dropped
 */
using fragment = tile<M, M, K, IN, float>;
typedef fragment::in_t element;

static constexpr unsigned LANES = WM * WN * ROOFTILE_WAVE;
static constexpr unsigned TILES_M = BM / WM / M, TILES_N = BN / WN / M; /* accumulators of a wave */
using group_of = k_tile_group<fragment>;
static constexpr unsigned GROUP = group_of::count, STEPS = BK / group_of::depth;
using a_tile = k_tile<BM, BK, sizeof(element), true, K_TILE_SWIZZLED, LANES>;
using b_tile = k_tile<BN, BK, sizeof(element), true, K_TILE_SWIZZLED, LANES>;
static constexpr unsigned BUFFER = a_tile::units + b_tile::units; /* units of 16 bytes */

/* k_tile_unit_plus: the numbers must have no bit in common. */
static_assert((BM / WM & (BM / WM - 1)) == 0 && (BN / WN & (BN / WN - 1)) == 0 && (BK & (BK - 1)) == 0,
    "a wave's rows and columns and BK are powers of two");
static_assert(BM % (WM * M) == 0 && BN % (WN * M) == 0 && BK % group_of::depth == 0, "tiles do not nest");

/* Rows of matrices start anywhere; on NVIDIA, see rows_fit. */
typedef unaligned_vec<uint32_t, 4, sizeof(element)>::type unaligned_quad;

struct staged_tiles {
    quad a[a_tile::moves], b[b_tile::moves];
};

/* ---- memory to registers ---- */

/* Can rows that begin at `from`, and every `stride` elements from there, be loaded 16 bytes at a time? NVIDIA's loads
 * must be aligned. If not, `whole` of a source is 0, and its fetch_any uses fetch_rows_cut. */
__device__ static bool rows_fit(const element *from, uint64_t stride)
{
    constexpr unsigned unit = alignof(unaligned_quad);
    if constexpr (unit == sizeof(element))
        return true;
    return reinterpret_cast<size_t>(from) % unit == 0 && stride * sizeof(element) % unit == 0;
}

/* A lane's move: `from` is the same in all lanes, the byte offset its own, and the instruction adds the two. Opaque
 * each time, or the compiler would widen the offset to 64 bits ahead of the loop, where it no longer fits the
 * instruction. */
__device__ static quad fetch_move(const element *from, uint32_t &offset)
{
    offset = opaque(offset);
    return *reinterpret_cast<const unaligned_quad *>(reinterpret_cast<const char *>(from) + offset);
}

/* The same where k ends `left` elements into the K tile: zeros beyond. `k` is the move's first element. */
__device__ static quad fetch_cut(const element *from, uint32_t offset, uint32_t k, uint32_t left)
{
    constexpr unsigned pack = a_tile::pack;
    const element *const at = reinterpret_cast<const element *>(reinterpret_cast<const char *>(from) + offset);
    element elements[pack];
#pragma unroll
    for (unsigned e = 0; e < pack; ++e)
        elements[e] = k + e < left ? at[e] : element(0);
    quad value;
    __builtin_memcpy(&value, elements, sizeof(value));
    return value;
}

/* Byte offsets of a lane's moves from the tile's first row. Rows beyond the edge read the last row and are never
 * stored. */
template <class k_tile_t>
__device__ static void find_offsets(uint32_t (&into)[k_tile_t::moves], uint64_t stride, uint32_t rows, unsigned lane)
{
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move) {
        const uint32_t row = k_tile_move_row<k_tile_t>(lane, move);
        const uint32_t row_mask = row < rows ? row : rows - 1;
        into[move] = static_cast<uint32_t>((row_mask * stride + k_tile_move_k<k_tile_t>(lane, move)) * sizeof(element));
    }
}

template <class k_tile_t>
__device__ static void fetch_rows(
    quad (&into)[k_tile_t::moves], const element *from, uint32_t (&offset)[k_tile_t::moves])
{
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move)
        into[move] = fetch_move(from, offset[move]);
}

template <class k_tile_t>
__device__ static void fetch_rows_cut(quad (&into)[k_tile_t::moves], const element *from,
    const uint32_t (&offset)[k_tile_t::moves], uint32_t left, unsigned lane)
{
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move)
        into[move] = fetch_cut(from, offset[move], k_tile_move_k<k_tile_t>(lane, move), left);
}

/* ---- registers to LDS ---- */

template <class source_t>
__device__ static void put_both(quad *k_tiles, staged_tiles &next, const source_t &source, unsigned lane)
{
    if constexpr (source_t::masked) {
#pragma unroll
        for (unsigned move = 0; move < a_tile::moves; ++move) {
#pragma unroll
            for (unsigned word = 0; word < 4; ++word)
                next.a[move][word] &= source.row_mask[move];
        }
    }
    k_tile_put<a_tile>(k_tiles, next.a, lane);
    k_tile_put<b_tile>(k_tiles + a_tile::units, next.b, lane);
}

/* ---- LDS to fragments to products ---- */

#include "gemm_tiles.h"

/* ---- the loop ---- */

/* The next K tile is loaded into registers while this one is used, so that nobody waits for a load just issued. */
template <class source_t>
__device__ void accumulate(totals &total, quad *k_tiles, source_t &source, const lds_offsets &at, unsigned lane)
{
    staged_tiles next;
    fetch_any(source, next, lane);
    uint32_t number = 0;
#pragma unroll 1
    for (; number + 1 < source.whole; ++number) {
        put_both(k_tiles, next, source, lane);
        lds_barrier();
        fetch_whole(source, next);
        schedule_fence(); /* issue the loads before the products */
        multiply(total, k_tiles, at);
        lds_barrier();
    }
#pragma unroll 1
    for (; number < source.count; ++number) {
        put_both(k_tiles, next, source, lane);
        lds_barrier();
        if (number + 1 < source.count)
            fetch_any(source, next, lane);
        multiply(total, k_tiles, at);
        lds_barrier();
    }
}

/* ---- results ---- */

/* Stores the rows and columns of the tile that exist; out_t is a type of tile.h. */
template <class out_t>
__device__ void store_tile(typename out_t::type *d, const totals &total, uint64_t stride, uint32_t rows,
    uint32_t columns, unsigned wave_row, unsigned wave_column)
{
    const uint32_t width = static_cast<uint32_t>(stride);
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j) {
#pragma unroll
            for (unsigned e = 0; e < fragment::c_count; ++e) {
                const uint32_t r = wave_row + i * M + tile_c_row<fragment>(e);
                const uint32_t q = wave_column + j * M + tile_c_column<fragment>(e);
                if (r < rows && q < columns)
                    d[r * width + q] = tile_encode<out_t>(total[i][j][e]);
            }
        }
    }
}
