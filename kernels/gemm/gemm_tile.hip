/* SPDX-License-Identifier: MIT
 *
 * D = alpha * A * B + beta * C on the vector units, tiled twice:
 *
 *              BN
 *          +---------+ k      A workgroup makes a BM x BN tile of D, in slabs of BK along k: the slabs go through LDS
 *        k | B  slab | |      once, and each value of them serves BN or BM times.
 *          +---------+ v
 *    +---+ +---------+        A lane makes TM x TN of it in registers: TM * TN fused multiply-adds for TM + TN values
 *    | A | | lane  . | BM     read from LDS. Its rows and columns come in runs of VA and NV neighbours, and the runs of
 * all |   | | . . . . |        lanes follow each other, so that lanes that read at the same time read neighbouring
 * banks.
 *    +---+ +---------+
 *     k ->
 *
 * What is what, by its defines (kernels/gemm/README.md has the steps and what each bought):
 *   LX LY    lanes of a workgroup along n and m. One lane (a CPU): no barriers, and the tile is RI x RJ register tiles,
 * made one after the other from slabs that lie in the caches; D itself keeps the sums from slab to slab. TM RUNS  the
 * register tile: TM rows, RUNS packs of NV columns WIDTH    bytes of a pack: of loads, of LDS reads, of an accumulator.
 * NV = WIDTH / sizeof(T); the size of T: one by one SLAB     bytes of a slab along k: BK = SLAB / sizeof(T) STAGES   2:
 * while a slab is used the next one is on its way through registers into the other half of LDS, and there is one
 * barrier per slab. 1: load, barrier, use, barrier. TA TB    1: the operand is stored transposed: A as k x m, B as n x
 * k, row after row
 *
 * In LDS both operands stand with their tile's direction innermost: [k][row of A] and [k][column of B]. An operand that
 * is contiguous along k in memory is turned on the way, in blocks of Q x Q that a lane has in registers. With one lane
 * the rows of a register tile stand together ([tile][k][TM]), which is the packing that BLAS libraries do.
 *
 * With one lane a workgroup may have fewer `rows` than BM, so that a small matrix is shared out among all cores.
 *
 * Any m, n, k, any leading dimension: blocks that reach over the edge are loaded element by element with zeros beyond
 * it, and tiles of D stored so. blockIdx.z is the matrix of a batch.
 */
#include "portable.h"

static constexpr unsigned NV = WIDTH / sizeof(T), BK = SLAB / sizeof(T);
static constexpr unsigned LANES = LX * LY, TN = RUNS * NV, BM = LY * TM * RI, BN = LX * TN * RJ;
static constexpr bool ONE_LANE = LANES == 1;
static constexpr int K_UNROLL =
    ONE_LANE ? 4 : 2; /* enough to hide the reads of LDS; more takes registers for reads ahead */
static constexpr unsigned VA = ONE_LANE ? TM : TM < NV ? TM : NV; /* neighbouring rows of a lane */
static constexpr unsigned Q = NV < 4 ? NV : 4;                    /* blocks that are turned */
static_assert(ONE_LANE || (RI == 1 && RJ == 1), "only a workgroup of one lane makes several register tiles");
static_assert(TM % VA == 0 && BK % Q == 0 && BM % (TA && !ONE_LANE ? NV : Q) == 0, "tiles do not nest");

typedef typename vec<T, NV>::type pack_t;
typedef typename vec<T, Q>::type quad_t;
/* Rows of matrices start anywhere: memory is read with the alignment of an element. (An alignment that is only a
 * typedef's gets lost in templates.) */
struct __attribute__((packed, aligned(sizeof(T)))) loose_pack {
    pack_t values;
};
struct __attribute__((packed, aligned(sizeof(T)))) loose_quad {
    quad_t values;
};
typedef vec<T, (ONE_LANE || VA < 2 ? 2 : VA)>::type run_t;

/* One operand's slab. WIDE rows or columns; a panel is what stands together for each k. */
template <unsigned wide, unsigned panel, bool turned, unsigned straight> struct slab_of {
    static constexpr unsigned pack = straight; /* elements of a move that is not turned */
    /* A panel of its own per register tile, set apart by a line so that panels do not fall on the same sets of a cache;
     * or the whole tile, padded so that a turned block's stores fall on different banks. */
    static constexpr bool whole = panel == wide;
    static constexpr unsigned stride = whole ? panel + (turned ? 16 / sizeof(T) : 0) : panel;
    static constexpr unsigned size = BK * stride + (whole ? 0 : 64 / sizeof(T));
    static constexpr unsigned elements = wide / panel * size;
    static constexpr unsigned packs = turned ? wide / Q * (BK / Q) : wide / pack * BK;
    static constexpr unsigned moves = (packs + LANES - 1) / LANES;

    static constexpr unsigned at(unsigned where, unsigned k)
    {
        return where / panel * size + k * stride + where % panel;
    }
};
/* A pack must not reach over a panel's end: TM need not be a multiple of NV. */
typedef slab_of<BM, ONE_LANE ? TM : BM, !TA, ONE_LANE ? Q : NV> slab_a;
typedef slab_of<BN, ONE_LANE ? TN : BN, TB, NV> slab_b;
static constexpr unsigned SLABS = slab_a::elements + slab_b::elements;

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

/* `count` neighbours in memory, zeros beyond the edge. `exist`: so many of them do. */
template <unsigned count, class values_t, class loose_t>
__device__ static inline values_t fetch(const T *from, uint64_t exist)
{
    if constexpr (count > 1)
        if (exist >= count)
            return reinterpret_cast<const loose_t *>(from)->values;
    values_t values = values_t(0);
    UNROLL
    for (unsigned e = 0; e < count; ++e)
        if (e < exist)
            set_element<count>(values, e, from[e]);
    return values;
}

__device__ static inline uint64_t left(uint64_t end, uint64_t begin)
{
    return begin < end ? end - begin : 0;
}

/* An operand in memory, seen as k x wide or, turned, as wide x k. */
struct operand {
    const T *at;     /* of this workgroup's first row or column */
    uint64_t stride; /* elements from row to row in memory */
    uint64_t wide;   /* rows or columns from there to the edge */
};

/* What one move carries: a pack, or a block of Q x Q. */
template <class slab, bool turned> struct cargo {
    typename vec<T, slab::pack>::type pack;
};
template <class slab> struct cargo<slab, true> {
    quad_t row[Q];
};

template <class slab, bool turned>
__device__ static inline void load_move(cargo<slab, turned> &cargo, const operand &from, uint64_t k_begin,
                                        uint64_t k_end, unsigned number)
{
    if constexpr (turned) {
        const unsigned where = number / (BK / Q) * Q, k = number % (BK / Q) * Q;
        UNROLL
        for (unsigned i = 0; i < Q; ++i)
            cargo.row[i] = fetch<Q, quad_t, loose_quad>(from.at + (where + i) * from.stride + k_begin + k,
                                                        where + i < from.wide ? left(k_end, k_begin + k) : 0);
    } else {
        constexpr unsigned across = slab::packs / BK;
        const unsigned where = number % across * slab::pack, k = number / across;
        const T *const at = from.at + (k_begin + k) * from.stride + where;
        const uint64_t exist = k_begin + k < k_end ? left(from.wide, where) : 0;
        if constexpr (slab::pack == NV)
            cargo.pack = fetch<NV, pack_t, loose_pack>(at, exist);
        else
            cargo.pack = fetch<Q, quad_t, loose_quad>(at, exist);
    }
}

template <class slab, bool turned>
__device__ static inline void store_move(T *lds, const cargo<slab, turned> &cargo, unsigned number)
{
    if constexpr (turned) {
        const unsigned where = number / (BK / Q) * Q, k = number % (BK / Q) * Q;
        UNROLL
        for (unsigned j = 0; j < Q; ++j) {
            quad_t column;
            UNROLL
            for (unsigned i = 0; i < Q; ++i)
                set_element<Q>(column, i, element<Q>(cargo.row[i], j));
            *reinterpret_cast<quad_t *>(lds + slab::at(where, k + j)) = column;
        }
    } else {
        constexpr unsigned across = slab::packs / BK;
        typedef typename vec<T, slab::pack>::type straight_t;
        *reinterpret_cast<straight_t *>(lds + slab::at(number % across * slab::pack, number / across)) = cargo.pack;
    }
}

/* All moves of a slab, spread over the lanes. */
template <class slab, bool turned>
__device__ static inline void load_slab(cargo<slab, turned> (&cargos)[slab::moves], const operand &from,
                                        uint64_t k_begin, uint64_t k_end, unsigned lane)
{
    UNROLL
    for (unsigned t = 0; t < slab::moves; ++t)
        if (slab::packs % LANES == 0 || t * LANES + lane < slab::packs)
            load_move<slab, turned>(cargos[t], from, k_begin, k_end, t * LANES + lane);
}

template <class slab, bool turned>
__device__ static inline void store_slab(T *lds, const cargo<slab, turned> (&cargos)[slab::moves], unsigned lane)
{
    UNROLL
    for (unsigned t = 0; t < slab::moves; ++t)
        if (slab::packs % LANES == 0 || t * LANES + lane < slab::packs)
            store_move<slab, turned>(lds, cargos[t], t * LANES + lane);
}

/* The same without keeping anything in registers. One lane leaves out what nobody will use. */
template <class slab, bool turned>
__device__ static inline void move_slab(T *lds, const operand &from, uint64_t k_begin, uint64_t k_end, unsigned lane)
{
    constexpr unsigned across = turned ? BK / Q : slab::packs / BK;
    UNROLL_BY(ONE_LANE ? 1 : slab::moves)
    for (unsigned number = lane; number < slab::packs; number += LANES) {
        const unsigned where = turned ? number / across * Q : number % across * slab::pack;
        const unsigned k = turned ? number % across * Q : number / across;
        if (ONE_LANE && (where >= from.wide || k_begin + k >= k_end))
            continue;
        cargo<slab, turned> cargo;
        load_move<slab, turned>(cargo, from, k_begin, k_end, number);
        store_move<slab, turned>(lds, cargo, number);
    }
}

/* A register tile grows by the products of `depth` k. */
__device__ static inline void multiply(pack_t (&sum)[TM][RUNS], const T *a, const T *b, unsigned depth)
{
    UNROLL_BY(K_UNROLL)
    for (unsigned k = 0; k < (ONE_LANE ? depth : BK); ++k) {
        pack_t columns[RUNS];
        UNROLL
        for (unsigned j = 0; j < RUNS; ++j)
            columns[j] = *reinterpret_cast<const pack_t *>(b + k * slab_b::stride + (ONE_LANE ? j : j * LX) * NV);
        UNROLL
        for (unsigned i = 0; i < TM; i += VA) {
            const T *const rows = a + k * slab_a::stride + i * LY;
            T values[VA];
            if constexpr (ONE_LANE || VA == 1) {
                UNROLL
                for (unsigned e = 0; e < VA; ++e)
                    values[e] = rows[e];
            } else {
                const run_t run = *reinterpret_cast<const run_t *>(rows);
                UNROLL
                for (unsigned e = 0; e < VA; ++e)
                    values[e] = run[e];
            }
            UNROLL
            for (unsigned e = 0; e < VA; ++e) {
                const pack_t spread = static_cast<pack_t>(values[e]);
                UNROLL
                for (unsigned j = 0; j < RUNS; ++j)
                    sum[i + e][j] = fma(spread, columns[j], sum[i + e][j]);
            }
        }
    }
}

/* D of a register tile: alpha * sum + beta * C. `rows`, `columns`: so many exist from `d` on. beta 0 does not read C,
 * whatever it holds. */
__device__ static inline void store_tile(T *d, const T *c, const pack_t (&sum)[TM][RUNS], uint64_t stride,
                                         uint64_t rows, uint64_t columns, T alpha, T beta)
{
    UNROLL
    for (unsigned i = 0; i < TM; ++i) {
        const unsigned row = i / VA * VA * LY + i % VA;
        UNROLL
        for (unsigned j = 0; j < RUNS; ++j) {
            const unsigned column = (ONE_LANE ? j : j * LX) * NV;
            const uint64_t at = row * stride + column;
            if (row < rows && column + NV <= columns) {
                pack_t value = sum[i][j] * static_cast<pack_t>(alpha);
                if (beta != 0)
                    value = fma(static_cast<pack_t>(beta), reinterpret_cast<const loose_pack *>(c + at)->values, value);
                reinterpret_cast<loose_pack *>(d + at)->values = value;
                continue;
            }
            UNROLL
            for (unsigned e = 0; e < NV; ++e)
                if (row < rows && column + e < columns) {
                    const T value = element<NV>(sum[i][j], e) * alpha;
                    d[at + e] = beta != 0 ? fma(beta, c[at + e], value) : value;
                }
        }
    }
}

KERNEL __launch_bounds__(LANES, 2) void gemm_tile(T *__restrict d, const T *__restrict a, const T *__restrict b,
                                                  const T *c, uint32_t m, uint32_t n, uint32_t k, uint32_t a_stride,
                                                  uint32_t b_stride, uint32_t d_stride, uint32_t rows, uint64_t a_batch,
                                                  uint64_t b_batch, uint64_t d_batch, T alpha, T beta)
{
    __shared__ T slabs[STAGES * SLABS] __attribute__((aligned(64)));
    const unsigned x = threadIdx.x, y = threadIdx.y, lane = y * LX + x;
    const uint64_t row = blockIdx.y * static_cast<uint64_t>(ONE_LANE ? rows : BM),
                   column = blockIdx.x * static_cast<uint64_t>(BN);
    const operand from_a = {a + blockIdx.z * a_batch + (TA ? row : row * a_stride), a_stride,
                            ONE_LANE && rows < left(m, row) ? rows : left(m, row)};
    const operand from_b = {b + blockIdx.z * b_batch + (TB ? column * b_stride : column), b_stride, left(n, column)};
    const uint64_t tile = blockIdx.z * d_batch + row * d_stride + column; /* C lies as D does */

    if constexpr (ONE_LANE) {
        T *const slab_of_a = slabs, *const slab_of_b = slabs + slab_a::elements;
        for (uint64_t depth = 0; depth < k || depth == 0; depth += BK) {
            move_slab<slab_a, !TA>(slab_of_a, from_a, depth, k, 0);
            move_slab<slab_b, TB>(slab_of_b, from_b, depth, k, 0);
            const unsigned products = static_cast<unsigned>(left(k, depth) < BK ? left(k, depth) : BK);
            for (unsigned rj = 0; rj < RJ && rj * TN < from_b.wide; ++rj)
                for (unsigned ri = 0; ri < RI && ri * TM < from_a.wide; ++ri) {
                    pack_t sum[TM][RUNS] = {};
                    multiply(sum, slab_of_a + ri * slab_a::size, slab_of_b + rj * slab_b::size, products);
                    const uint64_t at = tile + ri * TM * static_cast<uint64_t>(d_stride) + rj * TN;
                    store_tile(d + at, (depth ? d : c) + at, sum, d_stride, from_a.wide - ri * TM,
                               from_b.wide - rj * TN, alpha, depth ? T(1) : beta);
                }
        }
        return;
    }
    pack_t sum[TM][RUNS] = {};
    const unsigned first_row = y * VA, first_column = x * NV;
    if constexpr (STAGES == 1) {
        T *const slab_of_b = slabs + slab_a::elements;
        for (uint64_t depth = 0; depth < k; depth += BK) {
            move_slab<slab_a, !TA>(slabs, from_a, depth, k, lane);
            move_slab<slab_b, TB>(slab_of_b, from_b, depth, k, lane);
            __syncthreads();
            multiply(sum, slabs + first_row, slab_of_b + first_column, BK);
            __syncthreads();
        }
    } else {
        cargo<slab_a, !TA> moves_a[slab_a::moves];
        cargo<slab_b, TB> moves_b[slab_b::moves];
        T *now = slabs, *next = slabs + SLABS;
        move_slab<slab_a, !TA>(now, from_a, 0, k, lane);
        move_slab<slab_b, TB>(now + slab_a::elements, from_b, 0, k, lane);
        __syncthreads();
        for (uint64_t depth = BK; depth < k; depth += BK) {
            load_slab<slab_a, !TA>(moves_a, from_a, depth, k, lane);
            load_slab<slab_b, TB>(moves_b, from_b, depth, k, lane);
            multiply(sum, now + first_row, now + slab_a::elements + first_column, BK);
            store_slab<slab_a, !TA>(next, moves_a, lane);
            store_slab<slab_b, TB>(next + slab_a::elements, moves_b, lane);
            __syncthreads();
            T *const used = now;
            now = next;
            next = used;
        }
        multiply(sum, now + first_row, now + slab_a::elements + first_column, BK);
    }
    const uint64_t at = tile + first_row * static_cast<uint64_t>(d_stride) + first_column;
    store_tile(d + at, c + at, sum, d_stride, left(from_a.wide, first_row), left(from_b.wide, first_column), alpha,
               beta);
}
KERNEL_EXPORT(gemm_tile)
