/* SPDX-License-Identifier: MIT
 *
 * C = A * B in f32, row-major, tiled twice:
 *
 *              BN
 *          +---------+ k      A workgroup makes a BM x BN tile of C, in slabs of BK along k: the slabs go through LDS
 *        k | B  slab | |      once, and each value of them serves BN or BM times.
 *          +---------+ v
 *    +---+ +---------+        A lane makes TM x TN of it in registers: TM * TN fused multiply-adds for TM + TN values
 *    | A | | lane  . | BM     read from LDS. Its rows are BM / TM apart, its columns come in runs of NV that are
 *    |   | | . . . . |        BN / TN * NV apart, so that lanes that read at the same time read neighbouring banks.
 *    +---+ +---------+
 *     k ->
 *
 * A stays [row][k] in LDS with 4 elements of padding: a lane reads KV values along k at once, rows of neighbouring
 * lanes lie in different banks, and nothing has to be transposed.
 *
 * A_LDS 0 leaves A out of LDS: lanes read it where it is. That is for a CPU, where LDS is only memory that was copied,
 * and copying pays for B alone: its slab is read by all lanes of the workgroup, a row of A by BN / TN of them. A lane's
 * rows are then neighbours, so that lanes beyond the edge have nothing to do.
 *
 * Two LDS buffers: while a slab is used the next one is filled, so there is one barrier per slab. With STAGE the next
 * slab waits in registers while the current one is used, which hides the latency of memory on a GPU; a CPU has no use
 * for that.
 *
 * Any m, n, k: slabs that reach over the edge are loaded element by element with zeros beyond it, and tiles of C stored
 * so.
 *
 * Defines: BM BN BK TM TN tiles; NV width of accumulators and of moves; KV values of A per read; A_LDS; STAGE.
 */
#include "portable.h"

typedef typename vec<float, NV>::type row_pack; /* along n */
typedef typename vec<float, KV>::type k_pack;   /* along k */
/* Rows of matrices start anywhere: memory is read as vectors with the alignment of a float. */
typedef float move_pack __attribute__((ext_vector_type(NV), aligned(4)));
/* Rows of A in LDS are padded by 4 elements. */
typedef float padded_pack __attribute__((ext_vector_type(NV), aligned(16)));

static constexpr unsigned LANES_X = BN / TN, LANES_Y = BM / TM, LANES = LANES_X * LANES_Y;
/* Row i of lane y is row y * LANE_STEP + i * ROW_STEP of the tile. */
static constexpr unsigned ROW_STEP = A_LDS ? LANES_Y : 1, LANE_STEP = A_LDS ? 1 : TM;
static constexpr unsigned RUNS = TN / NV;    /* column packs per lane */
static constexpr unsigned A_STRIDE = BK + 4; /* 4: keeps packs of A aligned for any KV up to 4 */
static constexpr unsigned A_SLAB = A_LDS ? BM * A_STRIDE : 0, B_SLAB = BK * BN; /* elements */
static constexpr int K_UNROLL = 4 / KV; /* products in flight: enough for a CPU, few registers on a GPU */
static constexpr unsigned A_MOVES = A_LDS ? BM * BK / NV / LANES : 1, B_MOVES = BK * BN / NV / LANES;

static_assert(BM % TM == 0 && BN % TN == 0 && TN % NV == 0 && BK % KV == 0 && BK % NV == 0, "tiles do not nest");
static_assert((!A_LDS || BM * BK % (NV * LANES) == 0) && BK * BN % (NV * LANES) == 0,
              "slabs are not whole moves per lane");
static_assert(A_LDS || (KV == 1 && !STAGE), "A outside of LDS is read value by value");

/* The same value in a vector and in a vector of one. */
template <class pack_t> __device__ static float element(pack_t pack, unsigned index)
{
    if constexpr (KV == 1)
        return pack;
    else
        return pack[index];
}

/* NV neighbours of a row-major matrix, zeros beyond its edge. `inside`: all of them are known to exist. */
__device__ static inline move_pack fetch(const float *from, uint64_t row, uint64_t column, uint64_t rows,
                                         uint64_t columns, bool inside)
{
    if (inside)
        return *reinterpret_cast<const move_pack *>(from + row * columns + column);
    move_pack pack = 0.0f;
    UNROLL
    for (unsigned e = 0; e < NV; ++e)
        if (row < rows && column + e < columns)
            pack[e] = from[row * columns + column + e];
    return pack;
}

/* Asks for a line that the next slab needs. Only without STAGE: a CPU core waits for each line of the far cache
 * otherwise. */
__device__ static inline void ask_for(const float *from, uint64_t row, uint64_t column, uint64_t rows, uint64_t columns)
{
    if (row < rows && column < columns)
        __builtin_prefetch(from + row * columns + column, 0, 2);
}

/* Move number `move` of a lane: which row and which column of a slab that is `width` wide. */
__device__ static inline unsigned move_row(unsigned move, unsigned lane, unsigned width)
{
    return (move * LANES + lane) / (width / NV);
}

__device__ static inline unsigned move_column(unsigned move, unsigned lane, unsigned width)
{
    return (move * LANES + lane) % (width / NV) * NV;
}

/* One slab: TM x TN of C in registers grow by `depth` products each. `whole`: all BK of them, and all rows exist.
 * Otherwise none beyond row `last` of the lane's is read; what is computed from that one twice is never stored. */
template <bool whole>
__device__ static void multiply(row_pack (&sum)[TM][RUNS], const float *a, uint64_t stride, unsigned last,
                                const float *b_slab, unsigned depth)
{
    UNROLL_BY(K_UNROLL)
    for (unsigned k = 0; k < (whole ? BK : depth); k += KV) {
        k_pack a_values[TM];
        UNROLL
        for (unsigned i = 0; i < TM; ++i) {
            const unsigned row = whole || i * ROW_STEP < last ? i * ROW_STEP : last;
            a_values[i] = *reinterpret_cast<const k_pack *>(a + row * stride + k);
        }
        UNROLL
        for (unsigned e = 0; e < KV; ++e) {
            row_pack b[RUNS];
            UNROLL
            for (unsigned j = 0; j < RUNS; ++j)
                b[j] = *reinterpret_cast<const row_pack *>(b_slab + (k + e) * BN + j * LANES_X * NV);
            UNROLL
            for (unsigned i = 0; i < TM; ++i) {
                const row_pack spread = static_cast<row_pack>(element(a_values[i], e));
                UNROLL
                for (unsigned j = 0; j < RUNS; ++j)
                    sum[i][j] = fma(spread, b[j], sum[i][j]);
            }
        }
    }
}

/* Puts the lane's part of C down; tiles at the edge go element by element. */
__device__ static inline void store_tile(float *c, const row_pack (&sum)[TM][RUNS], uint64_t row, uint64_t column,
                                         uint64_t m, uint64_t n, bool inside)
{
    UNROLL
    for (unsigned i = 0; i < TM; ++i) {
        UNROLL
        for (unsigned j = 0; j < RUNS; ++j) {
            const uint64_t at_row = row + i * ROW_STEP, at_column = column + j * LANES_X * NV;
            float *const to = c + at_row * n + at_column;
            if (inside) {
                *reinterpret_cast<move_pack *>(to) = sum[i][j];
            } else {
                UNROLL
                for (unsigned e = 0; e < NV; ++e)
                    if (at_row < m && at_column + e < n)
                        to[e] = sum[i][j][e];
            }
        }
    }
}

KERNEL __launch_bounds__(LANES) void gemm_lds(float *__restrict c, const float *__restrict a, const float *__restrict b,
                                              uint32_t m, uint32_t n, uint32_t k)
{
    __shared__ float slabs[2 * (A_SLAB + B_SLAB)] __attribute__((aligned(64)));
    const unsigned x = threadIdx.x, y = threadIdx.y, lane = y * LANES_X + x;
    const uint64_t row = blockIdx.y * static_cast<uint64_t>(BM), column = blockIdx.x * static_cast<uint64_t>(BN);
    const bool a_rows_inside = row + BM <= m, b_columns_inside = column + BN <= n;
    const unsigned slab_count = (k + BK - 1) / BK;
    row_pack sum[TM][RUNS] = {};

    /* Round r loads slab r while slab r - 1 is used. */
    for (unsigned round = 0; round <= slab_count; ++round) {
        const bool load = round < slab_count;
        const uint64_t depth = round * static_cast<uint64_t>(BK);
        const bool inside = depth + BK <= k;
        float *const b_next = slabs + round % 2 * B_SLAB, *const a_next = slabs + 2 * B_SLAB + round % 2 * A_SLAB;
        move_pack a_moves[A_MOVES], b_moves[B_MOVES];
        if (load) {
            if constexpr (A_LDS) {
                UNROLL
                for (unsigned t = 0; t < A_MOVES; ++t) {
                    const unsigned r = move_row(t, lane, BK), q = move_column(t, lane, BK);
                    a_moves[t] = fetch(a, row + r, depth + q, m, k, inside && a_rows_inside);
                    if constexpr (!STAGE)
                        *reinterpret_cast<padded_pack *>(a_next + r * A_STRIDE + q) = a_moves[t];
                }
            }
            UNROLL
            for (unsigned t = 0; t < B_MOVES; ++t) {
                const unsigned r = move_row(t, lane, BN), q = move_column(t, lane, BN);
                b_moves[t] = fetch(b, depth + r, column + q, k, n, inside && b_columns_inside);
                if constexpr (!STAGE) {
                    *reinterpret_cast<row_pack *>(b_next + r * BN + q) = b_moves[t];
                    ask_for(b, depth + BK + r, column + q, k, n);
                }
            }
        }
        if (round > 0) {
            const float *const b_now = slabs + (round - 1) % 2 * B_SLAB + x * NV;
            if constexpr (A_LDS) {
                const float *const a_now = slabs + 2 * B_SLAB + (round - 1) % 2 * A_SLAB + y * A_STRIDE;
                multiply<true>(sum, a_now, A_STRIDE, 0, b_now, BK);
            } else if (row + y * LANE_STEP < m) {
                const float *const a_now = a + (row + y * LANE_STEP) * k + depth - BK;
                const unsigned last = static_cast<unsigned>(m - 1 - row - y * LANE_STEP);
                const unsigned products = depth <= k ? BK : k % BK;
                if (products == BK && (TM - 1) * ROW_STEP <= last)
                    multiply<true>(sum, a_now, k, 0, b_now, BK);
                else
                    multiply<false>(sum, a_now, k, last, b_now, products);
            }
        }
        if constexpr (STAGE) {
            if (load) {
                UNROLL
                for (unsigned t = 0; t < A_MOVES; ++t)
                    *reinterpret_cast<padded_pack *>(a_next + move_row(t, lane, BK) * A_STRIDE +
                                                     move_column(t, lane, BK)) = a_moves[t];
                UNROLL
                for (unsigned t = 0; t < B_MOVES; ++t)
                    *reinterpret_cast<row_pack *>(b_next + move_row(t, lane, BN) * BN + move_column(t, lane, BN)) =
                        b_moves[t];
            }
        }
        __syncthreads();
    }
    store_tile(c, sum, row + y * LANE_STEP, column + x * NV, m, n, a_rows_inside && b_columns_inside);
}
KERNEL_EXPORT(gemm_lds)
