/* SPDX-License-Identifier: MIT
 *
 * D = alpha * A * B + beta * C on matrix cores, batched, any layout and any size.
 *
 *                BN
 *            +---------+ k     A workgroup makes a BM x BN tile of D, in K tiles of BK. Its WM x WN waves each make a
 *          k | B  tile | |     part of it from M x M accumulators that stay in registers: a fragment of A serves all of
 *            +---------+ v     the wave's columns, one of B all of its rows.
 *      +---+ +----+----+
 *      | A | |wave|wave| BM    Steps, by parameters, each of which can be measured by itself:
 *      |   | +----+----+       LDS 0       fragments come straight from memory: waves load what others load as well
 *      |   | |wave|wave|       LDS 1       K tiles go through LDS: memory is read once per workgroup, 16 bytes wide
 *      +---+ +----+----+       SWIZZLE     layout in LDS: 0 plain, 1 padded, 2 swizzled (gemm_k_tile.h)
 *       k ->                   PREFETCH    the next K tile is loaded into registers while this one is used, so that
 *                                          nobody waits for loads just issued
 *                              LDS 2       double buffering: one barrier per K tile in place of two
 *                              group       order of the workgroups, so that those which run at the same time share
 *                                          operands in L2 (tile_of)
 *                              SPLIT       split-K: K tiles are distributed over several workgroups, and gemm_reduce
 *                                          adds their sums; for tiles too few to fill the device
 *
 * Scales (gemm_scaled): A and B of 8 bits with factors in f32. SCALES 1, blocks: one for 128 k of a row of A, one
 * for 128 columns by 128 k of B; the sums of each K tile are scaled before they are added to the totals. SCALES 2,
 * rows: one for each row of A and each column of B, applied to the totals at the end.
 *
 * Sizes. Rows beyond the edge read the values of the last row and are never stored, so edges cost nothing. Where k ends
 * within a K tile, and where 16 bytes of an operand that is not contiguous along k reach over its edge, loads go
 * element by element with zeros beyond. Any leading dimension will do, though odd ones make loads unaligned.
 *
 * Defines: IN element type of tile.h, OUT kind of D (out_f32, ...); TA TB whether A, B are stored transposed (A is m x
 * k, or k x m; B is k x n, or n x k; rows contiguous); M, K instruction; BM BN BK; WM WN waves; LDS SWIZZLE PREFETCH
 * SPLIT; SCALES (absent: none); WAVES per SIMD for which there must be registers; TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"
#include "gemm_k_tile.h"

using fragment = tile<M, M, K, IN, IN::acc_t>;
typedef fragment::in_t element;
#ifndef SCALES
#define SCALES 0
#endif
#if SCALES == 0
typedef fragment::acc_t sum;
#else
typedef float sum; /* also of whole numbers, once they are scaled */
#endif
#include "gemm_result.h"

enum { SCALE_NONE, SCALE_BLOCKS, SCALE_ROWS, SCALE_BLOCK = 128 };

static constexpr unsigned LANES = WM * WN * ROOFTILE_WAVE;
static constexpr unsigned TILES_M = BM / WM / M, TILES_N = BN / WN / M; /* accumulators of a wave */
using group_of = k_tile_group<fragment>;
static constexpr unsigned GROUP = group_of::count, STEPS = BK / group_of::depth;
using a_tile = k_tile<BM, BK, sizeof(element), !TA, SWIZZLE, LANES>;
using b_tile = k_tile<BN, BK, sizeof(element), TB, SWIZZLE, LANES>;
static constexpr unsigned BUFFER = a_tile::units + b_tile::units; /* units of 16 bytes */

/* k_tile_unit_plus: the numbers must have no bit in common. */
static_assert((BM / WM & (BM / WM - 1)) == 0 && (BN / WN & (BN / WN - 1)) == 0 && (BK & (BK - 1)) == 0,
    "a wave's rows and columns and BK are powers of two");
static_assert(BM % (WM * M) == 0 && BN % (WN * M) == 0 && BK % group_of::depth == 0, "tiles do not nest");
static_assert(LDS > 0 || !PREFETCH, "without LDS there is nothing to prefetch");
static_assert(LDS < 2 || PREFETCH, "the second buffer is filled from prefetched registers");
static_assert(SCALES != SCALE_BLOCKS || (LDS > 0 && SCALE_BLOCK % BK == 0), "a K tile is within one block of scales");
static_assert(SCALES == SCALE_NONE || SPLIT == 1, "the parts of k are added unscaled");

/* Rows of matrices start anywhere; on NVIDIA, see fits_16_bytes. */
typedef unaligned_vec<uint32_t, 4, sizeof(element)>::type unaligned_quad;

/* An operand as a workgroup sees it: rows are m or n. */
struct operand {
    const element *from;  /* the tile's first row, k = 0 */
    uint64_t stride;      /* of rows if contiguous along k, else of k */
    uint32_t rows, depth; /* what exists from there on */
};

/* ---- memory to registers to LDS ---- */

/* In bytes: 32 bits span a tile, and the instruction adds them to a base in scalar registers. */
template <class k_tile_t> __device__ static uint32_t move_offset(operand from, unsigned lane, unsigned move)
{
    const unsigned row = k_tile_move_row<k_tile_t>(lane, move), k = k_tile_move_k<k_tile_t>(lane, move);
    const uint32_t stride = static_cast<uint32_t>(from.stride);
    if constexpr (k_tile_t::k_contiguous)
        return ((row < from.rows ? row : from.rows - 1) * stride + k) * sizeof(element);
    return (k * stride + (row < from.rows ? row : from.rows - k_tile_t::pack)) * sizeof(element);
}

/* Can whole K tiles be loaded 16 bytes at a time, as move_offset does? NVIDIA's loads must be aligned. */
template <class k_tile_t> __device__ static bool fits_16_bytes(operand from)
{
    constexpr unsigned unit = alignof(unaligned_quad);
    if constexpr (unit > sizeof(element)) {
        if (reinterpret_cast<size_t>(from.from) % unit != 0 || from.stride * sizeof(element) % unit != 0)
            return false;
    }
    return k_tile_t::k_contiguous || from.rows >= k_tile_t::rows ||
           (from.rows % k_tile_t::pack == 0 && from.rows >= k_tile_t::pack);
}

/* Offsets are opaque each time, or the compiler would widen them to 64 bits ahead of the loop, where they no longer fit
 * the instruction. */
template <class k_tile_t>
__device__ static void fetch(quad (&into)[k_tile_t::moves], const element *from, uint32_t (&offset)[k_tile_t::moves])
{
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move)
        offset[move] = opaque(offset[move]);
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move)
        into[move] = *reinterpret_cast<const unaligned_quad *>(reinterpret_cast<const char *>(from) + offset[move]);
}

/* Element by element from the K tile that begins at k = `first`, zeros beyond the edges. */
template <class k_tile_t>
__device__ static void fetch_guarded(quad (&into)[k_tile_t::moves], operand from, uint32_t first, unsigned lane)
{
#pragma unroll 1
    for (unsigned move = 0; move < k_tile_t::moves; ++move) {
        const uint32_t row = k_tile_move_row<k_tile_t>(lane, move), k = first + k_tile_move_k<k_tile_t>(lane, move);
        element pack[k_tile_t::pack];
#pragma unroll
        for (unsigned e = 0; e < k_tile_t::pack; ++e) {
            /* Opaque, or the compiler keeps a mask for each of 16 rows, for which scalar registers do not suffice. */
            const uint32_t first_row = k_tile_t::pack > 8 ? opaque(row) : row;
            const uint32_t r = k_tile_t::k_contiguous ? row : first_row + e, q = k_tile_t::k_contiguous ? k + e : k;
            const uint64_t at = k_tile_t::k_contiguous ? r * from.stride + q : q * from.stride + r;
            pack[e] = r < from.rows && q < from.depth ? from.from[at] : element(0);
        }
        quad value;
        __builtin_memcpy(&value, pack, sizeof(value));
#pragma unroll
        for (unsigned to = 0; to < k_tile_t::moves; ++to) /* registers cannot be indexed */
            into[to] = to == move ? value : into[to];
    }
}

/* ---- LDS or memory to fragments ---- */

#include "gemm_tiles.h"

/* One instruction's fragment straight from memory: zeros for k beyond the edge, the last row for rows beyond it. */
template <class k_tile_t, bool is_a, bool guarded, class part_t>
__device__ void load_part(part_t &into, operand from, unsigned first, uint32_t k)
{
    constexpr unsigned run = k_tile_t::k_contiguous && !guarded ? fragment::run : 1;
    const uint32_t stride = static_cast<uint32_t>(from.stride);
    const char *const at =
        reinterpret_cast<const char *>(from.from + k * (k_tile_t::k_contiguous ? uint64_t(1) : from.stride));
#pragma unroll
    for (unsigned e = 0; e < fragment::a_count; e += run) {
        const uint32_t row = first + (is_a ? tile_a_row<fragment>(e) : tile_b_column<fragment>(e));
        const uint32_t q = is_a ? tile_a_k<fragment>(e) : tile_b_k<fragment>(e);
        const uint32_t r = row < from.rows ? row : from.rows - 1;
        const uint32_t offset = (k_tile_t::k_contiguous ? r * stride + q : q * stride + r) * sizeof(element);
        typename simt_tile_vector<element, run>::type loaded = element(0);
        if (!guarded || k + q < from.depth)
            loaded = load_unaligned<element, run>(reinterpret_cast<const element *>(at + offset));
#pragma unroll
        for (unsigned i = 0; i < run; ++i)
            into[e + i] = loaded[i];
    }
}

/* Adds the products of one instruction's k, straight from memory. */
template <bool guarded>
__device__ void multiply_direct(
    totals &total, operand a, operand b, unsigned wave_row, unsigned wave_column, uint32_t k)
{
    fragment::a_t left[TILES_M];
    fragment::b_t right[TILES_N];
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i)
        load_part<a_tile, true, guarded>(left[i], a, wave_row + i * M, k);
#pragma unroll
    for (unsigned j = 0; j < TILES_N; ++j)
        load_part<b_tile, false, guarded>(right[j], b, wave_column + j * M, k);
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j)
            total[i][j] = tile_mma<fragment>(left[i], right[j], total[i][j]);
    }
}

/* ---- scales ---- */

/* Of a workgroup's tile. Blocks of A are stored block of k by block of k, so that those of adjacent rows are adjacent,
 * with room for whole tiles of rows; of B column block by column block. */
struct scaling {
    const float *a, *b;          /* from the tile's first row, and of B's first column */
    uint32_t a_stride, b_stride; /* from one block of k to the next, from one block of columns to the next */
    uint32_t row, column;        /* of the wave in the tile, and of the matrix */
    uint32_t last_column;
};

/* What a lane needs for one K tile. */
struct k_scales {
#if SCALES == 1
    float a[TILES_M][fragment::c_count], b[TILES_N];
#endif
};

/* Loaded before the next K tile is fetched: loads return in order. */
__device__ void load_scales(k_scales &into, const scaling &by, uint32_t number)
{
#if SCALES == 1
    const uint32_t block = number * BK / SCALE_BLOCK;
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e)
            into.a[i][e] = by.a[block * by.a_stride + by.row + i * M + tile_c_row<fragment>(e)];
    }
#pragma unroll
    for (unsigned j = 0; j < TILES_N; ++j) {
        const uint32_t q = opaque_uniform(by.column + j * M);
        into.b[j] = by.b[(q < by.last_column ? q : by.last_column) / SCALE_BLOCK * by.b_stride + block];
    }
#endif
}

/* Adds the products of one K tile in LDS, scaled. */
__device__ void multiply_scaled(totals &total, const quad *k_tiles, const lds_offsets &at, const k_scales &scale)
{
#if SCALES != 1
    multiply(total, k_tiles, at);
#else
    totals part;
    clear(part);
    multiply(part, k_tiles, at);
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j) {
#pragma unroll
            for (unsigned e = 0; e < fragment::c_count; ++e)
                total[i][j][e] = __builtin_fmaf(part[i][j][e], scale.a[i][e] * scale.b[j], total[i][j][e]);
        }
    }
#endif
}

/* ---- the loop over K tiles ---- */

struct staged_tiles {
    quad a[a_tile::moves], b[b_tile::moves];
};

/* Where a lane's loads are. Base pointers are the same in all lanes and advance from K tile to K tile, offsets are the
 * lane's own and stay: a load takes both and needs no arithmetic. */
struct addresses {
    const element *a, *b;
    uint64_t a_step, b_step;
    uint32_t a_offset[a_tile::moves], b_offset[b_tile::moves];
};

__device__ static addresses addresses_of(operand a, operand b, unsigned lane, uint32_t k_tile_number)
{
    addresses address;
    address.a_step = BK * (a_tile::k_contiguous ? 1 : a.stride);
    address.b_step = BK * (b_tile::k_contiguous ? 1 : b.stride);
    address.a = a.from + k_tile_number * address.a_step;
    address.b = b.from + k_tile_number * address.b_step;
#pragma unroll
    for (unsigned move = 0; move < a_tile::moves; ++move)
        address.a_offset[move] = move_offset<a_tile>(a, lane, move);
#pragma unroll
    for (unsigned move = 0; move < b_tile::moves; ++move)
        address.b_offset[move] = move_offset<b_tile>(b, lane, move);
    return address;
}

__device__ static void fetch_both(staged_tiles &next, addresses &address)
{
    fetch<a_tile>(next.a, address.a, address.a_offset);
    fetch<b_tile>(next.b, address.b, address.b_offset);
    address.a += address.a_step;
    address.b += address.b_step;
}

/* K tiles before number `whole` can be loaded 16 bytes at a time. */
__device__ static void fetch_any(
    staged_tiles &next, addresses &address, operand a, operand b, uint32_t k_tile_number, uint32_t whole, unsigned lane)
{
    if (k_tile_number < whole) {
        fetch_both(next, address);
    } else {
        fetch_guarded<a_tile>(next.a, a, k_tile_number * BK, lane);
        fetch_guarded<b_tile>(next.b, b, k_tile_number * BK, lane);
    }
}

__device__ static void put_both(quad *k_tiles, const staged_tiles &next, unsigned lane)
{
    k_tile_put<a_tile>(k_tiles, next.a, lane);
    k_tile_put<b_tile>(k_tiles + a_tile::units, next.b, lane);
}

/* Stores the K tile that was loaded before to LDS, loads the next one and uses this one. With two buffers there is no
 * barrier at the end: a wave that writes this buffer again has passed the other one's barrier, which no wave reaches
 * before it has finished here. */
__device__ void pipelined_step(totals &total, quad *k_tiles, staged_tiles &next, addresses &address, unsigned lane,
    const lds_offsets &at, const scaling &by, uint32_t number)
{
    put_both(k_tiles, next, lane);
    lds_barrier();
    k_scales scale;
    if constexpr (SCALES == SCALE_BLOCKS)
        load_scales(scale, by, number);
    fetch_both(next, address);
    schedule_fence(); /* issue the loads before the products */
    multiply_scaled(total, k_tiles, at, scale);
    if constexpr (LDS == 1)
        lds_barrier();
    else
        schedule_fence(); /* no wait for the next K tile in the middle of this one's products */
}

/* Adds the products of K tiles [begin, end). */
__device__ void accumulate(totals &total, quad *k_tiles, operand a, operand b, const scaling &by, uint32_t begin,
    uint32_t end, unsigned wave_row, unsigned wave_column)
{
    const unsigned lane = threadIdx.x;
    const lds_offsets at = lds_offsets_of(wave_row, wave_column);
    const uint32_t full = a.depth / BK < end ? a.depth / BK : end; /* K tiles that the end of k does not cut */
    const uint32_t whole = fits_16_bytes<a_tile>(a) && fits_16_bytes<b_tile>(b) ? full : begin;
    addresses address = addresses_of(a, b, lane, begin);
    staged_tiles next = {};
    k_scales scale;
    uint32_t number = begin;
    if constexpr (PREFETCH) {
        if (begin < end)
            fetch_any(next, address, a, b, begin, whole, lane);
#pragma unroll 1
        for (; number + LDS < whole; number += LDS) {
            pipelined_step(total, k_tiles, next, address, lane, at, by, number);
            if constexpr (LDS == 2)
                pipelined_step(total, k_tiles + BUFFER, next, address, lane, at, by, number + 1);
        }
    } else {
#pragma unroll 1
        for (; number < whole; ++number) {
            if constexpr (SCALES == SCALE_BLOCKS)
                load_scales(scale, by, number);
            fetch_both(next, address);
            put_both(k_tiles, next, lane);
            lds_barrier();
            multiply_scaled(total, k_tiles, at, scale);
            lds_barrier();
        }
    }
#pragma unroll 1
    for (; number < end; ++number) {
        if constexpr (!PREFETCH)
            fetch_any(next, address, a, b, number, whole, lane);
        put_both(k_tiles, next, lane);
        lds_barrier();
        if constexpr (SCALES == SCALE_BLOCKS)
            load_scales(scale, by, number);
        if (PREFETCH && number + 1 < end)
            fetch_any(next, address, a, b, number + 1, whole, lane);
        multiply_scaled(total, k_tiles, at, scale);
        lds_barrier();
    }
}

/* The same without LDS, for [begin, end) of k. */
__device__ void add_direct(
    totals &total, operand a, operand b, uint32_t begin, uint32_t end, unsigned wave_row, unsigned wave_column)
{
    const uint32_t last = a.depth < end ? a.depth : end;
    uint32_t k = begin;
#pragma unroll 1
    for (; k + K <= last; k += K)
        multiply_direct<false>(total, a, b, wave_row, wave_column, k);
    if (k < last)
        multiply_direct<true>(total, a, b, wave_row, wave_column, k);
}

/* ---- results ---- */

/* Matrices of a batch are `a_next`, ... elements apart. With SPLIT `partial` gets the sums of each part of k: batch x
 * SPLIT matrices of m x n. */
#if SCALES == 0
extern "C" __global__ __launch_bounds__(LANES, WAVES) void gemm_matrix(OUT::type *__restrict d,
    const OUT::type *__restrict c, const element *__restrict a, const element *__restrict b, sum *__restrict partial,
    uint32_t m, uint32_t n, uint32_t k, uint32_t a_stride, uint32_t b_stride, uint32_t c_stride, uint64_t a_next,
    uint64_t b_next, uint64_t c_next, double alpha, double beta, uint32_t group, uint32_t dies)
#else
extern "C" __global__ __launch_bounds__(LANES, WAVES) void gemm_scaled(OUT::type *__restrict d,
    const element *__restrict a, const element *__restrict b, const float *__restrict a_scale,
    const float *__restrict b_scale, uint32_t m, uint32_t n, uint32_t k, uint32_t a_stride, uint32_t b_stride,
    uint32_t group, uint32_t dies)
#endif
{
#if SCALES == 0
    const float *const a_scale = nullptr, *const b_scale = nullptr;
#else
    const OUT::type *const c = d;
    sum *const partial = nullptr;
    const uint32_t c_stride = n;
    const uint64_t a_next = 0, b_next = 0, c_next = 0;
    const double alpha = 1, beta = 0;
#endif
    const unsigned rows = (m + BM - 1) / BM, columns = (n + BN - 1) / BN;
    unsigned tile_row, tile_column;
    tile_of(tile_row, tile_column, blockIdx.x, rows, columns, group, dies);
    /* The results of divisions are not in scalar registers by themselves. */
    const uint32_t row = opaque_uniform(tile_row) * BM, column = opaque_uniform(tile_column) * BN;
    const uint32_t part = blockIdx.y, matrix = blockIdx.z;
    const unsigned wave = threadIdx.x / ROOFTILE_WAVE;
    const unsigned wave_row = wave / WN * (BM / WM), wave_column = wave % WN * (BN / WN);
    const operand left = {
        a + matrix * a_next + row * static_cast<uint64_t>(a_tile::k_contiguous ? a_stride : 1), a_stride, m - row, k};
    const operand right = {b + matrix * b_next + column * static_cast<uint64_t>(b_tile::k_contiguous ? b_stride : 1),
        b_stride, n - column, k};
    const scaling by = {a_scale + row, b_scale, (m + BM - 1) / BM * BM, (k + SCALE_BLOCK - 1) / SCALE_BLOCK, wave_row,
        column + wave_column, n - 1};
    totals total;
    clear(total);
    const uint32_t k_tile_count = (k + BK - 1) / BK, share = (k_tile_count + SPLIT - 1) / SPLIT;
    const uint32_t begin = part * share < k_tile_count ? part * share : k_tile_count;
    const uint32_t end = begin + share < k_tile_count ? begin + share : k_tile_count;
    if constexpr (LDS > 0) {
        __shared__ quad k_tiles[(LDS > 0 ? LDS : 1) * BUFFER];
        accumulate(total, k_tiles, left, right, by, begin, end, wave_row, wave_column);
    } else {
        add_direct(total, left, right, begin * BK, end * BK, wave_row, wave_column);
    }

    /* Offsets within the tile fit 32 bits. */
    const uint64_t corner = matrix * c_next + row * static_cast<uint64_t>(c_stride) + column;
    const uint64_t corner_partial = ((matrix * SPLIT + part) * static_cast<uint64_t>(m) + row) * n + column;
#pragma unroll
    for (unsigned i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j) {
#pragma unroll
            for (unsigned e = 0; e < fragment::c_count; ++e) {
                const uint32_t r = wave_row + i * M + tile_c_row<fragment>(e);
                const uint32_t q = wave_column + j * M + tile_c_column<fragment>(e);
                if (r >= m - row || q >= n - column)
                    continue;
                sum value = static_cast<sum>(total[i][j][e]);
                if constexpr (SCALES == SCALE_ROWS)
                    value *= by.a[r] * by.b[column + q];
                if constexpr (SPLIT > 1)
                    (partial + corner_partial)[r * n + q] = value;
                else
                    (d + corner)[r * c_stride + q] =
                        blend(value, static_cast<sum>(alpha), static_cast<sum>(beta), c + corner + (r * c_stride + q));
            }
        }
    }
}

/* Adds the parts of k. One work-item per element of D. */
extern "C" __global__ __launch_bounds__(256) void gemm_reduce(OUT::type *__restrict d, const OUT::type *__restrict c,
    const sum *__restrict partial, uint32_t m, uint32_t n, uint32_t c_stride, uint64_t c_next, double alpha,
    double beta)
{
    const uint64_t size = static_cast<uint64_t>(m) * n, matrix = blockIdx.y;
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i >= size)
        return;
    sum product = partial[matrix * SPLIT * size + i];
#pragma unroll
    for (unsigned part = 1; part < SPLIT; ++part)
        product += partial[(matrix * SPLIT + part) * size + i];
    const uint64_t at = matrix * c_next + i / n * c_stride + i % n;
    d[at] = blend(product, static_cast<sum>(alpha), static_cast<sum>(beta), c + at);
}
