/* SPDX-License-Identifier: MIT
 *
 * D = alpha * A * B + beta * C on the vector units, tiled twice:
 *
 *              BN
 *          +---------+ k      A workgroup makes a BM x BN tile of D, in K tiles of BK. They go through LDS once, where
 *        k | B  tile | |      each value serves BN or BM times.
 *          +---------+ v
 *    +---+ +---------+        A lane makes TM x TN of that in registers: TM * TN fused multiply-adds for TM + TN values
 *    | A | | lane  . | BM     read from LDS. Its rows and columns come in runs of VA and NV contiguous ones, and the
 *    |   | | . . . . |        runs of the lanes alternate, so that lanes which read at once read adjacent banks.
 *    +---+ +---------+
 *     k ->
 *
 * A lane may make RI x RJ register tiles from the same K tile, one after the other: gemm_panels.h, for CPUs.
 *
 * Defines (kernels/gemm/README.md has the steps and what each gains):
 *   LX LY    lanes of a workgroup along n and m
 *   TM RUNS  the register tile: TM rows, RUNS packs of NV columns
 *   RI RJ    register tiles of a lane along m and n
 *   WIDTH    bytes of a pack: of loads, of LDS reads, of an accumulator. NV = WIDTH / sizeof(T); the size of T: one by
 *            one
 *   BK_BYTES bytes of a K tile along k: BK = BK_BYTES / sizeof(T)
 *   STAGES   1: load, barrier, use, barrier 2: while a K tile is used the next one is loaded into registers and stored
 *            to the other half of LDS; one barrier each
 *   TA TB    1: the operand is stored transposed: A as k x m, B as n x k, row after row
 *
 * In LDS both operands have their tile's direction innermost: [k][row of A] and [k][column of B]. An operand that is
 * contiguous along k in memory is transposed on the way, in blocks of Q x Q that a lane holds in registers.
 *
 * Any m, n, k, any leading dimension: blocks that reach over the edge are loaded element by element with zeros beyond
 * it, and tiles of D are stored element by element there. blockIdx.z is the matrix of a batch.
 */
#include "portable.h"

static constexpr unsigned NV = WIDTH / sizeof(T), BK = BK_BYTES / sizeof(T);
static constexpr unsigned LANES = LX * LY, TN = RUNS * NV, BM = LY * TM * RI, BN = LX * TN * RJ;
static constexpr unsigned A_PANEL = LY * TM, B_PANEL = LX * TN; /* rows and columns that all lanes make at a time */
static constexpr bool SEVERAL = RI * RJ > 1;                    /* register tiles per lane */
static constexpr unsigned K_UNROLL =
    SEVERAL ? 4 : 2; /* enough to hide the reads of LDS; more takes registers for reads ahead */
static constexpr unsigned LOWEST_BIT = TM & (~TM + 1),
                          VA = SEVERAL ? 1 : LOWEST_BIT < NV ? LOWEST_BIT : NV; /* contiguous rows of a lane */
static constexpr unsigned Q = NV < 4 ? NV : A_PANEL % 4 ? 2 : 4; /* side of a transposed block */
static constexpr unsigned A_PACK =
    A_PANEL % NV == 0 ? NV : Q; /* elements of a move of A: none reaches over a panel's end */
static_assert(!SEVERAL || STAGES == 1, "several register tiles are not double buffered");
static_assert(A_PANEL % (TA ? A_PACK : Q) == 0 && BK % Q == 0, "tiles do not nest");

typedef typename vec<T, NV>::type pack_t;
typedef typename vec<T, Q>::type quad_t;
/* Rows of matrices start anywhere: memory is read with the alignment of an element. (Structs, because templates drop
 * the alignment of a typedef.) */
struct __attribute__((packed, aligned(sizeof(T)))) unaligned_pack {
    pack_t values;
};
struct __attribute__((packed, aligned(sizeof(T)))) unaligned_quad {
    quad_t values;
};
typedef vec < T, VA<2 ? 2 : VA>::type run_t;

/* An operand's K tile in LDS: `wide` rows or columns, in panels of `panel`; `width` elements to a move that does not
 * transpose. */
template <unsigned wide, unsigned panel, bool transposed, unsigned width> struct k_tile_layout {
    static constexpr unsigned pack = width, wide_ = wide, panel_ = panel;
    /* One panel is padded, so that the stores of a transposed block fall on different banks. Several are a cache line
     * apart, so that they do not fall on the same sets of a cache. */
    static constexpr bool whole = panel == wide;
    static constexpr unsigned stride = whole ? panel + (transposed ? 16 / sizeof(T) : 0) : panel;
    static constexpr unsigned size = BK * stride + (whole ? 0 : 64 / sizeof(T));
    static constexpr unsigned elements = wide / panel * size;
    static constexpr unsigned packs = transposed ? wide / Q * (BK / Q) : wide / pack * BK;
    static constexpr unsigned moves = (packs + LANES - 1) / LANES;

    static constexpr unsigned at(unsigned where, unsigned k)
    {
        return where / panel * size + k * stride + where % panel;
    }
};
typedef k_tile_layout<BM, A_PANEL, !TA, A_PACK> a_tile;
typedef k_tile_layout<BN, B_PANEL, TB, NV> b_tile;
static constexpr unsigned BUFFER = a_tile::elements + b_tile::elements;

template <unsigned count, class values_t> __device__ static inline T element(const values_t &values, unsigned index)
{
    if constexpr (count == 1)
        return values;
    else
        return values[index];
}

template <unsigned count, class values_t>
__device__ static inline void set_element(values_t &values, unsigned index, T value)
{
    if constexpr (count == 1)
        values = value;
    else
        values[index] = value;
}

/* `count` adjacent elements of memory, of which `exist` are inside the matrix; zeros for the others. */
template <unsigned count, class values_t, class unaligned_t>
__device__ static inline values_t fetch(const T *from, uint64_t exist)
{
    if constexpr (ISOLATE == ISOLATE_MATH)
        return values_t(static_cast<T>(exist));
    if constexpr (count > 1)
        if (exist >= count)
            return reinterpret_cast<const unaligned_t *>(from)->values;
    values_t values = values_t(0);
#pragma unroll
    for (unsigned e = 0; e < count; ++e)
        if (e < exist)
            set_element<count>(values, e, from[e]);
    return values;
}

__device__ static inline uint64_t left(uint64_t end, uint64_t begin)
{
    return begin < end ? end - begin : 0;
}

/* An operand in memory: k x wide or, transposed, wide x k. */
struct operand {
    const T *at;     /* this workgroup's first row or column */
    uint64_t stride; /* elements from row to row in memory */
    uint64_t wide;   /* rows or columns from there to the edge */
};

/* Where a move goes: the registers of one are a pack, or a block of Q x Q. */
struct place {
    unsigned where, k;
};
template <class k_tile, bool transposed> __device__ static inline place place_of(unsigned number)
{
    constexpr unsigned across = transposed ? BK / Q : k_tile::packs / BK;
    if constexpr (transposed)
        return {number / across * Q, number % across * Q};
    return {number % across * k_tile::pack, number / across};
}

template <class k_tile, bool transposed> struct staged {
    typename vec<T, k_tile::pack>::type pack;
};
template <class k_tile> struct staged<k_tile, true> {
    quad_t row[Q];
};

template <class k_tile, bool transposed>
__device__ static inline void load_move(
    staged<k_tile, transposed> &staged, const operand &from, uint64_t k_begin, uint64_t k_end, place to)
{
    const unsigned where = to.where, k = to.k;
    if constexpr (transposed) {
#pragma unroll
        for (unsigned i = 0; i < Q; ++i)
            staged.row[i] = fetch<Q, quad_t, unaligned_quad>(from.at + (where + i) * from.stride + k_begin + k,
                where + i < from.wide ? left(k_end, k_begin + k) : 0);
    } else {
        const T *const at = from.at + (k_begin + k) * from.stride + where;
        const uint64_t exist = k_begin + k < k_end ? left(from.wide, where) : 0;
        if constexpr (k_tile::pack == NV)
            staged.pack = fetch<NV, pack_t, unaligned_pack>(at, exist);
        else
            staged.pack = fetch<Q, quad_t, unaligned_quad>(at, exist);
    }
}

template <class k_tile, bool transposed>
__device__ static inline void store_move(T *lds, const staged<k_tile, transposed> &staged, place to)
{
    if constexpr (transposed) {
#pragma unroll
        for (unsigned j = 0; j < Q; ++j) {
            quad_t column;
#pragma unroll
            for (unsigned i = 0; i < Q; ++i)
                set_element<Q>(column, i, element<Q>(staged.row[i], j));
            *reinterpret_cast<quad_t *>(lds + k_tile::at(to.where, to.k + j)) = column;
        }
    } else {
        typedef typename vec<T, k_tile::pack>::type pack_t_;
        *reinterpret_cast<pack_t_ *>(lds + k_tile::at(to.where, to.k)) = staged.pack;
    }
}

/* All moves of a K tile, distributed over the lanes. */
template <class k_tile, bool transposed>
__device__ static inline void load_k_tile(staged<k_tile, transposed> (&staged)[k_tile::moves], const operand &from,
    uint64_t k_begin, uint64_t k_end, unsigned lane)
{
#pragma unroll
    for (unsigned t = 0; t < k_tile::moves; ++t)
        if (k_tile::packs % LANES == 0 || t * LANES + lane < k_tile::packs)
            load_move<k_tile, transposed>(
                staged[t], from, k_begin, k_end, place_of<k_tile, transposed>(t * LANES + lane));
}

template <class k_tile, bool transposed>
__device__ static inline void store_k_tile(
    T *lds, const staged<k_tile, transposed> (&staged)[k_tile::moves], unsigned lane)
{
#pragma unroll
    for (unsigned t = 0; t < k_tile::moves; ++t)
        if (k_tile::packs % LANES == 0 || t * LANES + lane < k_tile::packs)
            store_move<k_tile, transposed>(lds, staged[t], place_of<k_tile, transposed>(t * LANES + lane));
}

/* Memory to LDS without keeping anything in registers. */
template <class k_tile, bool transposed>
__device__ static inline void copy_k_tile(T *lds, const operand &from, uint64_t k_begin, uint64_t k_end, unsigned lane)
{
#pragma unroll k_tile::moves
    for (unsigned number = lane; number < k_tile::packs; number += LANES) {
        staged<k_tile, transposed> staged;
        load_move<k_tile, transposed>(staged, from, k_begin, k_end, place_of<k_tile, transposed>(number));
        store_move<k_tile, transposed>(lds, staged, place_of<k_tile, transposed>(number));
    }
}

/* Adds the products of `depth` k to a register tile. */
__device__ static inline void multiply(pack_t (&sum)[TM][RUNS], const T *a, const T *b, unsigned depth)
{
    if constexpr (ISOLATE == ISOLATE_LOADS) /* the tiles are used all the same, or nobody would load them */
        depth = depth ? 1 : 0;
#pragma unroll K_UNROLL
    for (unsigned k = 0; k < depth; ++k) {
        pack_t columns[RUNS];
#pragma unroll
        for (unsigned j = 0; j < RUNS; ++j)
            columns[j] = *reinterpret_cast<const pack_t *>(b + k * b_tile::stride + j * LX * NV);
#pragma unroll
        for (unsigned i = 0; i < TM; i += VA) {
            const T *const rows = a + k * a_tile::stride + i * LY;
            T values[VA];
            if constexpr (VA > 1) {
                const run_t run = *reinterpret_cast<const run_t *>(rows);
#pragma unroll
                for (unsigned e = 0; e < VA; ++e)
                    values[e] = run[e];
            } else {
#pragma unroll
                for (unsigned e = 0; e < VA; ++e)
                    values[e] = rows[e];
            }
#pragma unroll
            for (unsigned e = 0; e < VA; ++e) {
                const pack_t broadcast = static_cast<pack_t>(values[e]);
#pragma unroll
                for (unsigned j = 0; j < RUNS; ++j)
                    sum[i + e][j] = fma(broadcast, columns[j], sum[i + e][j]);
            }
        }
    }
}

/* A register tile of D: alpha * sum + beta * C, of the `rows` and `columns` that exist from `d` on. With beta 0 C is
 * not read, whatever it holds. */
__device__ static inline void store_tile(
    T *d, const T *c, const pack_t (&sum)[TM][RUNS], uint64_t stride, uint64_t rows, uint64_t columns, T alpha, T beta)
{
#pragma unroll
    for (unsigned i = 0; i < TM; ++i) {
        const unsigned row = i / VA * VA * LY + i % VA;
#pragma unroll
        for (unsigned j = 0; j < RUNS; ++j) {
            const unsigned column = j * LX * NV;
            const uint64_t at = row * stride + column;
            if (row < rows && column + NV <= columns) {
                pack_t value = sum[i][j] * static_cast<pack_t>(alpha);
                if (beta != 0)
                    value =
                        fma(static_cast<pack_t>(beta), reinterpret_cast<const unaligned_pack *>(c + at)->values, value);
                reinterpret_cast<unaligned_pack *>(d + at)->values = value;
                continue;
            }
#pragma unroll
            for (unsigned e = 0; e < NV; ++e)
                if (row < rows && column + e < columns) {
                    const T value = element<NV>(sum[i][j], e) * alpha;
                    d[at + e] = beta != 0 ? fma(beta, c[at + e], value) : value;
                }
        }
    }
}

#include "gemm_panels.h"

extern "C" __global__ __launch_bounds__(LANES, 2) void gemm_tile(T *__restrict d, const T *__restrict a,
    const T *__restrict b, const T *c, uint32_t m, uint32_t n, uint32_t k, uint32_t a_stride, uint32_t b_stride,
    uint32_t d_stride, uint32_t rows, uint64_t a_batch, uint64_t b_batch, uint64_t d_batch, T alpha, T beta)
{
    __shared__ T k_tiles[STAGES * BUFFER] __attribute__((aligned(64)));
    const unsigned x = threadIdx.x, y = threadIdx.y, lane = y * LX + x, first_row = y * VA, first_column = x * NV;
    unsigned columns = BN;
    if constexpr (SEVERAL) /* the same share for all workgroups, in whole register tiles */
        columns = ((n - 1) / gridDim.x / B_PANEL + 1) * B_PANEL;
    const uint64_t row = blockIdx.y * static_cast<uint64_t>(rows), column = blockIdx.x * static_cast<uint64_t>(columns);
    const uint64_t rows_left = left(m, row);
    const operand from_a = {
        a + blockIdx.z * a_batch + (TA ? row : row * a_stride), a_stride, rows < rows_left ? rows : rows_left};
    const operand from_b = {b + blockIdx.z * b_batch + (TB ? column * b_stride : column), b_stride,
        SEVERAL && columns < left(n, column) ? columns : left(n, column)};
    const uint64_t tile = blockIdx.z * d_batch + row * d_stride + column; /* in D and in C */
    T *now = k_tiles, *next = k_tiles + BUFFER;

    if constexpr (SEVERAL) {
        multiply_panels(d, c, k_tiles, from_a, from_b, {tile, first_row, first_column}, k, d_stride, alpha, beta);
        return;
    }
    pack_t sum[TM][RUNS] = {};
    if constexpr (STAGES == 1) {
        for (uint64_t depth = 0; depth < k; depth += BK) {
            copy_k_tile<a_tile, !TA>(now, from_a, depth, k, lane);
            copy_k_tile<b_tile, TB>(now + a_tile::elements, from_b, depth, k, lane);
            __syncthreads();
            multiply(sum, now + first_row, now + a_tile::elements + first_column, BK);
            __syncthreads();
        }
    } else {
        staged<a_tile, !TA> moves_a[a_tile::moves];
        staged<b_tile, TB> moves_b[b_tile::moves];
        copy_k_tile<a_tile, !TA>(now, from_a, 0, k, lane);
        copy_k_tile<b_tile, TB>(now + a_tile::elements, from_b, 0, k, lane);
        __syncthreads();
        for (uint64_t depth = BK; depth < k; depth += BK) {
            load_k_tile<a_tile, !TA>(moves_a, from_a, depth, k, lane);
            load_k_tile<b_tile, TB>(moves_b, from_b, depth, k, lane);
            multiply(sum, now + first_row, now + a_tile::elements + first_column, BK);
            store_k_tile<a_tile, !TA>(next, moves_a, lane);
            store_k_tile<b_tile, TB>(next + a_tile::elements, moves_b, lane);
            __syncthreads();
            T *const used = now;
            now = next;
            next = used;
        }
        multiply(sum, now + first_row, now + a_tile::elements + first_column, BK);
    }
    const uint64_t at = tile + first_row * static_cast<uint64_t>(d_stride) + first_column;
    store_tile(
        d + at, c + at, sum, d_stride, left(from_a.wide, first_row), left(from_b.wide, first_column), alpha, beta);
}
