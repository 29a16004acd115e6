/* SPDX-License-Identifier: MIT
 *
 * D = alpha * A * B + beta * C on matrix cores, batched, any layout and any size.
 *
 *                BN
 *            +---------+ k     A workgroup makes a BM x BN tile of D, in slabs of BK along k. Its WM x WN waves each
 *          k | B  slab | |     make a part of it out of M x M accumulators that stay in registers: a fragment of A
 *            +---------+ v     serves all of the wave's columns, one of B all of its rows.
 *      +---+ +----+----+
 *      | A | |wave|wave| BM    Steps, by parameters, each of which is there for one reason:
 *      |   | +----+----+       LDS 0       fragments come straight from memory: every wave loads what its neighbours do
 *      |   | |wave|wave|       LDS 1       a slab goes through LDS once: memory is read 16 bytes wide, and once per
 *      +---+ +----+----+                   workgroup
 *       k ->                   SWIZZLE     order in LDS: 0 plain, 1 padded, 2 swizzled (gemm_slab.h)
 *                              PREFETCH    the next slab waits in registers while this one is used: nobody waits for
 *                                          loads that have only been issued
 *                              LDS 2       two buffers: one barrier per slab in place of two
 *                              group       order of the workgroups, so that those which run at the same time share
 *                                          operands in L2 (see tile_of)
 *                              SPLIT       slabs are dealt out to several workgroups, gemm_reduce adds their sums: for
 *                                          tiles too few to fill the device
 *
 * Sizes. Rows beyond the edge read the last row's values, which are never stored, so that edges cost nothing. Where k
 * ends within a slab, and where an operand lies across k and 16 bytes reach over its edge, loads go element by element
 * with zeros beyond. Any leading dimension will do, though odd ones make loads unaligned.
 *
 * Defines: IN element type of tile.h, OUT kind of D (out_f32, ...); TA TB whether A, B are stored transposed (A is m x
 * k, or k x m; B is k x n, or n x k; rows contiguous); M, K instruction; BM BN BK; WM WN waves; LDS SWIZZLE PREFETCH
 * SPLIT; WAVES per SIMD for which there must be registers; TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"

#include "gemm_slab.h"

using fragment = tile<M, M, K, IN, IN::acc_t>;
typedef fragment::in_t element;
typedef fragment::acc_t sum;

#include "gemm_result.h"

static constexpr unsigned LANES = WM * WN * ROOFTILE_WAVE;
static constexpr unsigned TILES_M = BM / WM / M, TILES_N = BN / WN / M; /* accumulators of a wave */
using group_of = slab_group<fragment>;
static constexpr unsigned GROUP = group_of::count, STEPS = BK / group_of::depth;
using slab_a = slab<BM, BK, sizeof(element), !TA, SWIZZLE, LANES>;
using slab_b = slab<BN, BK, sizeof(element), TB, SWIZZLE, LANES>;
static constexpr unsigned BUFFER = slab_a::units + slab_b::units; /* units of 16 bytes */

/* slab_unit_beyond: bits do not meet. */
static_assert((BM / WM & (BM / WM - 1)) == 0 && (BN / WN & (BN / WN - 1)) == 0 && (BK & (BK - 1)) == 0,
              "a wave's rows and columns and BK are powers of two");
static_assert(BM % (WM * M) == 0 && BN % (WN * M) == 0 && BK % group_of::depth == 0, "tiles do not nest");
static_assert(LDS > 0 || !PREFETCH, "without LDS there is nothing to prefetch");
static_assert(LDS < 2 || PREFETCH, "the second buffer is filled from prefetched registers");

typedef vec<uint32_t, 4>::type quad;
/* Rows of matrices start anywhere; on NVIDIA, see is_loose. */
typedef loose_vec<uint32_t, 4, sizeof(element)>::type loose_quad;

/* An operand as a workgroup sees it: rows are m or n. */
struct operand {
    const element *from;  /* the tile's first row, k = 0 */
    uint64_t stride;      /* of rows when along k, else of k */
    uint32_t rows, depth; /* that exist from there on */
};

/* ---- memory to registers to LDS ---- */

/* In bytes, so that the instruction adds it to a base in scalar registers: what a tile spans fits 32 bits. */
template <class slab_t> __device__ static uint32_t move_offset(operand from, unsigned lane, unsigned move)
{
    const unsigned row = slab_move_row<slab_t>(lane, move), k = slab_move_k<slab_t>(lane, move);
    const uint32_t stride = static_cast<uint32_t>(from.stride);
    if constexpr (slab_t::along)
        return ((row < from.rows ? row : from.rows - 1) * stride + k) * sizeof(element);
    return (k * stride + (row < from.rows ? row : from.rows - slab_t::pack)) * sizeof(element);
}

/* Whole slabs can be loaded 16 bytes at a time, see move_offset. NVIDIA's loads are to be aligned. */
template <class slab_t> __device__ static bool is_loose(operand from)
{
    constexpr unsigned unit = alignof(loose_quad);
    if constexpr (unit > sizeof(element)) {
        if (reinterpret_cast<size_t>(from.from) % unit != 0 || from.stride * sizeof(element) % unit != 0)
            return false;
    }
    return slab_t::along || from.rows >= slab_t::rows || (from.rows % slab_t::pack == 0 && from.rows >= slab_t::pack);
}

/* Offsets are made opaque each time: widened to 64 bits ahead of the loop, they would no longer fit the instruction. */
template <class slab_t>
__device__ static void fetch(quad (&into)[slab_t::moves], const element *from, uint32_t (&offset)[slab_t::moves])
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        offset[move] = opaque(offset[move]);
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        into[move] = *reinterpret_cast<const loose_quad *>(reinterpret_cast<const char *>(from) + offset[move]);
}

/* Element by element from the slab that begins at k, zeros beyond the edges. */
template <class slab_t>
__device__ static void fetch_guarded(quad (&into)[slab_t::moves], operand from, uint32_t first, unsigned lane)
{
    NO_UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move) {
        const uint32_t row = slab_move_row<slab_t>(lane, move), k = first + slab_move_k<slab_t>(lane, move);
        element pack[slab_t::pack];
        UNROLL
        for (unsigned e = 0; e < slab_t::pack; ++e) {
            /* Opaque: masks of which of 16 rows exist would take more scalar registers than there are. */
            const uint32_t first_row = slab_t::pack > 8 ? opaque(row) : row;
            const uint32_t r = slab_t::along ? row : first_row + e, q = slab_t::along ? k + e : k;
            const uint64_t at = slab_t::along ? r * from.stride + q : q * from.stride + r;
            pack[e] = r < from.rows && q < from.depth ? from.from[at] : element(0);
        }
        quad value;
        __builtin_memcpy(&value, pack, sizeof(value));
        UNROLL
        for (unsigned to = 0; to < slab_t::moves; ++to) /* a register has no index */
            into[to] = to == move ? value : into[to];
    }
}

/* Word `word` of what row `row` of a turned block gets: its elements of moves word * 4 / bytes and on. */
__device__ static uint32_t turned(const quad *moves, unsigned row, unsigned word)
{
    if constexpr (sizeof(element) == 8)
        return moves[word / 2][row * 2 + word % 2];
    if constexpr (sizeof(element) == 4)
        return moves[word][row];
    if constexpr (sizeof(element) == 2)
        return permute_bytes(moves[word * 2 + 1][row / 2], moves[word * 2][row / 2],
                             row % 2 ? 0x07060302u : 0x05040100u);
    const unsigned at = row / 4, low = row % 4; /* selectors of a byte of the second word, and of the first */
    const uint32_t pair = 0x0c0c0000u | (4 + low) << 8 | low, upper = 0x00000c0cu | (4 + low) << 24 | low << 16;
    return permute_bytes(moves[word * 4 + 1][at], moves[word * 4][at], pair) |
           permute_bytes(moves[word * 4 + 3][at], moves[word * 4 + 2][at], upper);
}

template <class slab_t> __device__ static void put(quad *into, const quad (&moves)[slab_t::moves], unsigned lane)
{
    if constexpr (slab_t::along) {
        UNROLL
        for (unsigned move = 0; move < slab_t::moves; ++move)
            into[slab_unit<slab_t>(slab_move_row<slab_t>(lane, move), slab_move_k<slab_t>(lane, move) / slab_t::pack)] =
                moves[move];
    } else {
        typedef typename simt_tile_vector<uint32_t, slab_t::words>::type part;
        UNROLL
        for (unsigned first = 0; first < slab_t::moves; first += slab_t::turn) {
            const unsigned row = slab_move_row<slab_t>(lane, first), k = slab_move_k<slab_t>(lane, first);
            UNROLL
            for (unsigned i = 0; i < slab_t::pack; ++i) {
                part words;
                UNROLL
                for (unsigned word = 0; word < slab_t::words; ++word)
                    words[word] = turned(moves + first, i, word);
                const unsigned at =
                    slab_unit<slab_t>(row + i, k / slab_t::pack) * 4 + k % slab_t::pack * sizeof(element) / 4;
                *reinterpret_cast<part *>(reinterpret_cast<uint32_t *>(into) + at) = words;
            }
        }
    }
}

/* ---- LDS or memory to fragments ---- */

#include "gemm_tiles.h"

/* One instruction's part straight from memory: k beyond the edge is 0, rows beyond it are the last one. */
template <class slab_t, bool is_a, bool guarded, class part_t>
__device__ void load_part(part_t &into, operand from, unsigned first, uint32_t k)
{
    constexpr unsigned run = slab_t::along && !guarded ? fragment::run : 1;
    const uint32_t stride = static_cast<uint32_t>(from.stride);
    const char *const at = reinterpret_cast<const char *>(from.from + k * (slab_t::along ? uint64_t(1) : from.stride));
    UNROLL
    for (unsigned e = 0; e < fragment::a_count; e += run) {
        const uint32_t row = first + (is_a ? tile_a_row<fragment>(e) : tile_b_column<fragment>(e));
        const uint32_t q = is_a ? tile_a_k<fragment>(e) : tile_b_k<fragment>(e);
        const uint32_t r = row < from.rows ? row : from.rows - 1;
        const uint32_t offset = (slab_t::along ? r * stride + q : q * stride + r) * sizeof(element);
        typename simt_tile_vector<element, run>::type loaded = element(0);
        if (!guarded || k + q < from.depth)
            loaded = load_loose<element, run>(reinterpret_cast<const element *>(at + offset));
        UNROLL
        for (unsigned i = 0; i < run; ++i)
            into[e + i] = loaded[i];
    }
}

/* One instruction deep, in memory. */
template <bool guarded>
__device__ void multiply_direct(totals &total, operand a, operand b, unsigned wave_row, unsigned wave_column,
                                uint32_t k)
{
    fragment::a_t left[TILES_M];
    fragment::b_t right[TILES_N];
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i)
        load_part<slab_a, true, guarded>(left[i], a, wave_row + i * M, k);
    UNROLL
    for (unsigned j = 0; j < TILES_N; ++j)
        load_part<slab_b, false, guarded>(right[j], b, wave_column + j * M, k);
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i) {
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j)
            total[i][j] = tile_mma<fragment>(left[i], right[j], total[i][j]);
    }
}

/* ---- the loop over slabs ---- */

struct fetched {
    quad a[slab_a::moves], b[slab_b::moves];
};

/* Where a lane's loads of a slab begin. Base pointers are the same in all lanes and move on from slab to slab, offsets
 * are a lane's own and stay: a load then takes both and no arithmetic. */
struct route {
    const element *a, *b;
    uint64_t a_step, b_step;
    uint32_t a_offset[slab_a::moves], b_offset[slab_b::moves];
};

__device__ static route route_of(operand a, operand b, unsigned lane, uint32_t slab_number)
{
    route way;
    way.a_step = BK * (slab_a::along ? 1 : a.stride);
    way.b_step = BK * (slab_b::along ? 1 : b.stride);
    way.a = a.from + slab_number * way.a_step;
    way.b = b.from + slab_number * way.b_step;
    UNROLL
    for (unsigned move = 0; move < slab_a::moves; ++move)
        way.a_offset[move] = move_offset<slab_a>(a, lane, move);
    UNROLL
    for (unsigned move = 0; move < slab_b::moves; ++move)
        way.b_offset[move] = move_offset<slab_b>(b, lane, move);
    return way;
}

__device__ static void fetch_both(fetched &next, route &way)
{
    fetch<slab_a>(next.a, way.a, way.a_offset);
    fetch<slab_b>(next.b, way.b, way.b_offset);
    way.a += way.a_step;
    way.b += way.b_step;
}

/* `whole`: slabs before this number can be fetched 16 bytes at a time. */
__device__ static void fetch_any(fetched &next, route &way, operand a, operand b, uint32_t slab_number, uint32_t whole,
                                 unsigned lane)
{
    if (slab_number < whole) {
        fetch_both(next, way);
    } else {
        fetch_guarded<slab_a>(next.a, a, slab_number * BK, lane);
        fetch_guarded<slab_b>(next.b, b, slab_number * BK, lane);
    }
}

__device__ static void put_both(quad *slabs, const fetched &next, unsigned lane)
{
    put<slab_a>(slabs, next.a, lane);
    put<slab_b>(slabs + slab_a::units, next.b, lane);
}

/* What was fetched a slab ago goes to LDS, the next slab is asked for, and this one is used. With two buffers nobody
 * waits at the end: who gets that far ahead as to write this buffer again has passed the barrier of the other one, and
 * so has everybody finished here. */
__device__ void turn_over(totals &total, quad *slabs, fetched &next, route &way, unsigned lane, const places &at)
{
    put_both(slabs, next, lane);
    lds_barrier();
    fetch_both(next, way);
    schedule_fence(); /* the earlier they are on the way, the better */
    multiply(total, slabs, at);
    if constexpr (LDS == 1)
        lds_barrier();
    else
        schedule_fence(); /* the next slab is not waited for in the middle of this one's work */
}

/* Adds the products of slabs [begin, end). */
__device__ void add_slabs(totals &total, quad *slabs, operand a, operand b, uint32_t begin, uint32_t end,
                          unsigned wave_row, unsigned wave_column)
{
    const unsigned lane = threadIdx.x;
    const places at = places_of(wave_row, wave_column);
    const uint32_t full = a.depth / BK < end ? a.depth / BK : end; /* not cut off by the end of k */
    const uint32_t whole = is_loose<slab_a>(a) && is_loose<slab_b>(b) ? full : begin;
    route way = route_of(a, b, lane, begin);
    fetched next = {};
    uint32_t number = begin;
    if constexpr (PREFETCH) {
        if (begin < end)
            fetch_any(next, way, a, b, begin, whole, lane);
        NO_UNROLL
        for (; number + LDS < whole; number += LDS) {
            turn_over(total, slabs, next, way, lane, at);
            if constexpr (LDS == 2)
                turn_over(total, slabs + BUFFER, next, way, lane, at);
        }
    } else {
        NO_UNROLL
        for (; number < whole; ++number) {
            fetch_both(next, way);
            put_both(slabs, next, lane);
            lds_barrier();
            multiply(total, slabs, at);
            lds_barrier();
        }
    }
    NO_UNROLL
    for (; number < end; ++number) {
        if constexpr (!PREFETCH)
            fetch_any(next, way, a, b, number, whole, lane);
        put_both(slabs, next, lane);
        lds_barrier();
        if (PREFETCH && number + 1 < end)
            fetch_any(next, way, a, b, number + 1, whole, lane);
        multiply(total, slabs, at);
        lds_barrier();
    }
}

/* The same without LDS. */
__device__ void add_direct(totals &total, operand a, operand b, uint32_t begin, uint32_t end, unsigned wave_row,
                           unsigned wave_column)
{
    const uint32_t last = a.depth < end ? a.depth : end;
    uint32_t k = begin;
    NO_UNROLL
    for (; k + K <= last; k += K)
        multiply_direct<false>(total, a, b, wave_row, wave_column, k);
    if (k < last)
        multiply_direct<true>(total, a, b, wave_row, wave_column, k);
}

/* ---- results ---- */

/* Row and column strides are `a_stride`, ...; matrices of a batch are `a_next` elements apart. `partial` gets the sums
 * of each part of k when there are several: batch x SPLIT matrices of m x n. */
KERNEL __launch_bounds__(WM *WN *ROOFTILE_WAVE,
                         WAVES) void gemm_matrix(OUT::type *__restrict d, const OUT::type *__restrict c,
                                                 const element *__restrict a, const element *__restrict b,
                                                 sum *__restrict partial, uint32_t m, uint32_t n, uint32_t k,
                                                 uint32_t a_stride, uint32_t b_stride, uint32_t c_stride,
                                                 uint64_t a_next, uint64_t b_next, uint64_t c_next, double alpha,
                                                 double beta, uint32_t group, uint32_t spread)
{
    const unsigned rows = (m + BM - 1) / BM, columns = (n + BN - 1) / BN;
    unsigned tile_row, tile_column;
    tile_of(tile_row, tile_column, blockIdx.x, rows, columns, group, spread);
    /* In scalar registers, where divisions have no result otherwise. */
    const uint32_t row = opaque_uniform(tile_row) * BM, column = opaque_uniform(tile_column) * BN;
    const uint32_t part = blockIdx.y, matrix = blockIdx.z;
    const unsigned wave = threadIdx.x / ROOFTILE_WAVE;
    const unsigned wave_row = wave / WN * (BM / WM), wave_column = wave % WN * (BN / WN);
    const operand left = {a + matrix * a_next + row * static_cast<uint64_t>(slab_a::along ? a_stride : 1), a_stride,
                          m - row, k};
    const operand right = {b + matrix * b_next + column * static_cast<uint64_t>(slab_b::along ? b_stride : 1), b_stride,
                           n - column, k};
    totals total;
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i) {
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j)
            total[i][j] = tile_fill<fragment>(0);
    }
    const uint32_t slab_count = (k + BK - 1) / BK, share = (slab_count + SPLIT - 1) / SPLIT;
    const uint32_t begin = part * share < slab_count ? part * share : slab_count;
    const uint32_t end = begin + share < slab_count ? begin + share : slab_count;
    if constexpr (LDS > 0) {
        __shared__ quad slabs[(LDS > 0 ? LDS : 1) * BUFFER];
        add_slabs(total, slabs, left, right, begin, end, wave_row, wave_column);
    } else {
        add_direct(total, left, right, begin * BK, end * BK, wave_row, wave_column);
    }

    /* Offsets within the tile take 32 bits. */
    const uint64_t corner = matrix * c_next + row * static_cast<uint64_t>(c_stride) + column;
    const uint64_t corner_partial = ((matrix * SPLIT + part) * static_cast<uint64_t>(m) + row) * n + column;
    UNROLL
    for (unsigned i = 0; i < TILES_M; ++i) {
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j) {
            UNROLL
            for (unsigned e = 0; e < fragment::c_count; ++e) {
                const uint32_t r = wave_row + i * M + tile_c_row<fragment>(e);
                const uint32_t q = wave_column + j * M + tile_c_column<fragment>(e);
                if (r >= m - row || q >= n - column)
                    continue;
                if constexpr (SPLIT > 1)
                    (partial + corner_partial)[r * n + q] = total[i][j][e];
                else
                    (d + corner)[r * c_stride + q] = blend(total[i][j][e], static_cast<sum>(alpha),
                                                           static_cast<sum>(beta), c + corner + (r * c_stride + q));
            }
        }
    }
}
KERNEL_EXPORT(gemm_matrix)

/* Adds up the parts of k. One work-item per element of D. */
KERNEL __launch_bounds__(256) void gemm_reduce(OUT::type *__restrict d, const OUT::type *__restrict c,
                                               const sum *__restrict partial, uint32_t m, uint32_t n, uint32_t c_stride,
                                               uint64_t c_next, double alpha, double beta)
{
    const uint64_t size = static_cast<uint64_t>(m) * n, matrix = blockIdx.y;
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i >= size)
        return;
    sum product = partial[matrix * SPLIT * size + i];
    UNROLL
    for (unsigned part = 1; part < SPLIT; ++part)
        product += partial[(matrix * SPLIT + part) * size + i];
    const uint64_t at = matrix * c_next + i / n * c_stride + i % n;
    d[at] = blend(product, static_cast<sum>(alpha), static_cast<sum>(beta), c + at);
}
KERNEL_EXPORT(gemm_reduce)
