/* SPDX-License-Identifier: MIT
 *
 * A workgroup's tile of D = A * B on matrix cores where rows of A and of B (columns of the product) lie along k, but
 * not necessarily behind each other: grouped products, convolutions. The source that includes it says where slabs come
 * from; this is what happens to them: memory, registers, LDS, fragments, products. Layout of LDS: gemm_slab.h.
 *
 * Defines: IN element type of tile.h, of 16 bits; M, K instruction; BM BN BK tile; WM WN waves. Includes portable.h,
 * tile.h, gemm_slab.h before it.
 *
 * A walk is a struct of the source with
 *     uint32_t count, whole;        slabs; the first so many can be fetched 16 bytes at a time (see rows_fit)
 * and two functions. They run in order, one slab after the other:
 *     void fetch_whole(walk &, fetched &)                       16 bytes at a time
 *     void fetch_any(walk &, fetched &, unsigned lane)          the same for any slab, zeros beyond the end of k
 * Where walk::masked, the walk has also
 *     uint32_t there[slab_a::moves]     all bits: the row of each of the lane's last moves of A exists; none: it is
 *                                   zeros here, and what was fetched (from anywhere) is dropped
 */
using fragment = tile<M, M, K, IN, float>;
typedef fragment::in_t element;

static constexpr unsigned LANES = WM * WN * ROOFTILE_WAVE;
static constexpr unsigned TILES_M = BM / WM / M, TILES_N = BN / WN / M; /* accumulators of a wave */
using group_of = slab_group<fragment>;
static constexpr unsigned GROUP = group_of::count, STEPS = BK / group_of::depth;
using slab_a = slab<BM, BK, sizeof(element), true, SLAB_SWIZZLED, LANES>;
using slab_b = slab<BN, BK, sizeof(element), true, SLAB_SWIZZLED, LANES>;
static constexpr unsigned SLABS = slab_a::units + slab_b::units; /* units of 16 bytes */

/* slab_unit_beyond: bits do not meet. */
static_assert((BM / WM & (BM / WM - 1)) == 0 && (BN / WN & (BN / WN - 1)) == 0 && (BK & (BK - 1)) == 0,
              "a wave's rows and columns and BK are powers of two");
static_assert(BM % (WM * M) == 0 && BN % (WN * M) == 0 && BK % group_of::depth == 0, "tiles do not nest");

typedef vec<uint32_t, 4>::type quad;
/* Rows of matrices start anywhere; on NVIDIA, see rows_fit. */
typedef loose_vec<uint32_t, 4, sizeof(element)>::type loose_quad;

struct fetched {
    quad a[slab_a::moves], b[slab_b::moves];
};

/* ---- memory to registers ---- */

/* Can rows that begin at `from`, and every `stride` elements from there, be loaded 16 bytes at a time? NVIDIA's loads are
 * to be aligned. Where they cannot, a walk's `whole` is 0 and fetch_any takes what fetch_rows_cut loads. */
__device__ static bool rows_fit(const element *from, uint64_t stride)
{
    constexpr unsigned unit = alignof(loose_quad);
    if constexpr (unit == sizeof(element))
        return true;
    return reinterpret_cast<size_t>(from) % unit == 0 && stride * sizeof(element) % unit == 0;
}

/* A lane's move from `from`, which is the same in all lanes, and a byte offset of its own: the instruction adds the
 * two. The offset is made opaque each time: widened to 64 bits ahead of the loop, it would no longer fit the
 * instruction. */
__device__ static quad fetch_move(const element *from, uint32_t &offset)
{
    offset = opaque(offset);
    return *reinterpret_cast<const loose_quad *>(reinterpret_cast<const char *>(from) + offset);
}

/* The same where k ends `left` elements behind the slab's begin: zeros beyond. `k`: of the move's first element. */
__device__ static quad fetch_cut(const element *from, uint32_t offset, uint32_t k, uint32_t left)
{
    constexpr unsigned pack = slab_a::pack;
    const element *const at = reinterpret_cast<const element *>(reinterpret_cast<const char *>(from) + offset);
    element elements[pack];
    UNROLL
    for (unsigned e = 0; e < pack; ++e)
        elements[e] = k + e < left ? at[e] : element(0);
    quad value;
    __builtin_memcpy(&value, elements, sizeof(value));
    return value;
}

/* Byte offsets of a lane's moves from the tile's first row; rows beyond the edge are the last one's, never stored. */
template <class slab_t>
__device__ static void find_offsets(uint32_t (&into)[slab_t::moves], uint64_t stride, uint32_t rows, unsigned lane)
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move) {
        const uint32_t row = slab_move_row<slab_t>(lane, move);
        const uint32_t there = row < rows ? row : rows - 1;
        into[move] = static_cast<uint32_t>((there * stride + slab_move_k<slab_t>(lane, move)) * sizeof(element));
    }
}

template <class slab_t>
__device__ static void fetch_rows(quad (&into)[slab_t::moves], const element *from, uint32_t (&offset)[slab_t::moves])
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        into[move] = fetch_move(from, offset[move]);
}

template <class slab_t>
__device__ static void fetch_rows_cut(quad (&into)[slab_t::moves], const element *from,
                                      const uint32_t (&offset)[slab_t::moves], uint32_t left, unsigned lane)
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        into[move] = fetch_cut(from, offset[move], slab_move_k<slab_t>(lane, move), left);
}

/* ---- registers to LDS ---- */

template <class slab_t> __device__ static void put(quad *into, const quad (&moves)[slab_t::moves], unsigned lane)
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        into[slab_unit<slab_t>(slab_move_row<slab_t>(lane, move), slab_move_k<slab_t>(lane, move) / slab_t::pack)] =
            moves[move];
}

template <class walk_t> __device__ static void put_both(quad *slabs, fetched &next, const walk_t &walk, unsigned lane)
{
    if constexpr (walk_t::masked) {
        UNROLL
        for (unsigned move = 0; move < slab_a::moves; ++move) {
            UNROLL
            for (unsigned word = 0; word < 4; ++word)
                next.a[move][word] &= walk.there[move];
        }
    }
    put<slab_a>(slabs, next.a, lane);
    put<slab_b>(slabs + slab_a::units, next.b, lane);
}

/* ---- LDS to fragments to products, and which tile ---- */

#include "gemm_tiles.h"

__device__ void clear(totals &total)
{
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i) {
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j)
            total[i][j] = tile_fill<fragment>(0);
    }
}

/* ---- the loop ---- */

/* The next slab waits in registers while this one is used: nobody waits for loads that have only been issued. */
template <class walk_t>
__device__ void add_slabs(totals &total, quad *slabs, walk_t &walk, const places &at, unsigned lane)
{
    fetched next;
    fetch_any(walk, next, lane);
    uint32_t number = 0;
    NO_UNROLL
    for (; number + 1 < walk.whole; ++number) {
        put_both(slabs, next, walk, lane);
        lds_barrier();
        fetch_whole(walk, next);
        schedule_fence(); /* the earlier they are on the way, the better */
        multiply(total, slabs, at);
        lds_barrier();
    }
    NO_UNROLL
    for (; number < walk.count; ++number) {
        put_both(slabs, next, walk, lane);
        lds_barrier();
        if (number + 1 < walk.count)
            fetch_any(walk, next, lane);
        multiply(total, slabs, at);
        lds_barrier();
    }
}

/* ---- what becomes of it ---- */

/* Rows and columns that exist of the tile at `d`, as OUT, a type of tile.h. */
template <class out_t>
__device__ void store_tile(typename out_t::type *d, const totals &total, uint64_t stride, uint32_t rows,
                           uint32_t columns, unsigned wave_row, unsigned wave_column)
{
    const uint32_t width = static_cast<uint32_t>(stride);
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i) {
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j) {
            UNROLL
            for (unsigned e = 0; e < fragment::c_count; ++e) {
                const uint32_t r = wave_row + i * M + tile_c_row<fragment>(e);
                const uint32_t q = wave_column + j * M + tile_c_column<fragment>(e);
                if (r < rows && q < columns)
                    d[r * width + q] = tile_encode<out_t>(total[i][j][e]);
            }
        }
    }
}
