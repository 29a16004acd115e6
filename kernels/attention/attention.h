/* SPDX-License-Identifier: MIT
 *
 * O = softmax(scale * Q K') V over the keys of one sequence and head, for up to BM queries: what prefill and decode
 * have in common. Include it after portable.h and tile.h.
 *
 *        keys ->  BN          A workgroup has BM queries, each wave M of them, whose part of Q and O stays in
 *                 registers.
 *            +--------+       Tiles of BN keys go through LDS once per workgroup.
 *            | K' (D) |
 *      +---+ +--------+       Both products are computed transposed: S' = K Q' and O' = V' P'. A column of an
 *   BM | Q | |   S    |       accumulator is then a query, and a lane has elements of one query only (tile_chain.h):
 *      +---+ +--------+       its maximum takes one exchange with another lane, its rescaling none, and P' becomes an
 *            |  V     | -> O  operand without moving. V' needs contiguous keys: V is transposed on its way to LDS, and
 *            +--------+       its keys are stored in the order in which P' comes out of the first product.
 *
 * On NVIDIA it is S = Q K' and O = P V, and a lane has elements of two queries; tile_chain.h hides that.
 *
 * Softmax is computed in powers of two and one pass: `top` is the largest score so far, and what was summed relative to
 * a smaller one is scaled down. A query that sees no key, or only scores of minus infinity, gives 0.
 *
 * The loop: with PREFETCH the next tile is loaded into registers while one is used. Tiles that every query sees in full
 * come first and are not masked; those on the diagonal and at the end of a sequence follow.
 *
 * Defines: IN type of q, k, v; D; M, K instruction; BN; WAVES_M x WAVES_D waves of a workgroup: WAVES_D of them share
 * queries, each has a part of O and computes all of S; SWIZZLE PREFETCH; QLDS: Q stays in LDS, for heads whose Q and O
 * do not both fit registers; PAGE tokens of a page of keys, 0: a sequence's keys are contiguous; TILE_LAYOUT.
 */
#ifndef ROOFTILE_ATTENTION_H
#define ROOFTILE_ATTENTION_H

#include "tile_chain.h"
#include "../gemm/gemm_k_tile.h"

using fragment = tile<M, M, K, IN, float>;
typedef fragment::in_t element;
typedef fragment::c_t scores;
typedef tile_column_t<fragment> column_t;
using group_of = k_tile_group<fragment>;

static constexpr unsigned LANES = WAVES_M * WAVES_D * ROOFTILE_WAVE, BM = WAVES_M * M;
static constexpr unsigned GROUP = group_of::count, TILES_N = BN / M, TILES_D = D / WAVES_D / M;
static constexpr unsigned D_STEPS = D / group_of::depth, N_STEPS = BN / group_of::depth;
static constexpr unsigned K_READS = D_STEPS * TILES_N, V_READS = N_STEPS * TILES_D;
static constexpr unsigned AHEAD = D > 128 ? 1 : 2; /* fragments that are read from LDS ahead of use */
using key_tile = k_tile<BN, D, sizeof(element), true, SWIZZLE, LANES>;
using value_tile = k_tile<D, BN, sizeof(element), false, SWIZZLE, LANES>;
using query_tile = k_tile<BM, D, sizeof(element), true, SWIZZLE, LANES>;
/* Contiguous keys of a tile in memory, and how many such runs a tile has. */
static constexpr unsigned RUN = PAGE > 0 && PAGE < BN ? PAGE : BN, RUNS = BN / RUN;
static_assert(PAGE == 0 || PAGE % RUN == 0, "a tile is whole pages, or a part of one");
static_assert(BN % M == 0 && D % (WAVES_D * M) == 0 && D % group_of::depth == 0 && BN % group_of::depth == 0,
    "tiles do not nest");

/* ---- memory to registers to LDS ---- */

/* Which key is in `slot` of a row of V' in LDS: a group of instructions reads 16 bytes per lane, see k_tile_group. */
__device__ static unsigned key_at(unsigned slot)
{
    constexpr unsigned row_fragment = fragment::row_fragment, part = GROUP * row_fragment;
    const unsigned rest = slot % group_of::depth;
    return tile_chain_row<fragment>(
        slot / group_of::depth * GROUP + rest % part / row_fragment, rest / part, rest % row_fragment);
}

template <class k_tile_t> __device__ static unsigned move_key(unsigned lane, unsigned move)
{
    return k_tile_t::k_contiguous ? k_tile_move_row<k_tile_t>(lane, move) : key_at(k_tile_move_k<k_tile_t>(lane, move));
}

/* ---- LDS to fragments ---- */

/* The unit where a lane's reads of the rows from `row` on begin. */
template <class k_tile_t> __device__ unsigned base_a(unsigned row)
{
    return k_tile_unit<k_tile_t>(row + tile_a_row<fragment>(0), k_tile_first_unit<fragment>(tile_a_k<fragment>(0)));
}

/* The first row of the wave's part of O'. */
__device__ unsigned first_d()
{
    return threadIdx.x / ROOFTILE_WAVE % WAVES_D * (TILES_D * M);
}

/* The wave's part of Q: in registers, or its place in LDS. */
struct queries {
    fragment::b_t parts[QLDS ? 1 : D_STEPS][GROUP];
    const quad *lds;
    unsigned base;
};

/* Loads the queries from `row` on. Queries at `rows` and beyond read the last one. */
__device__ void load_queries(
    queries &into, quad *lds, const element *from, uint64_t stride, uint32_t row, uint32_t rows)
{
    const unsigned unit = k_tile_first_unit<fragment>(tile_b_k<fragment>(0)),
                   wave_row = threadIdx.x / ROOFTILE_WAVE / WAVES_D * M;
    into.lds = lds;
    if constexpr (QLDS) {
        into.base = k_tile_unit<query_tile>(wave_row + tile_b_column<fragment>(0), unit);
        quad moves[query_tile::moves];
#pragma unroll
        for (unsigned move = 0; move < query_tile::moves; ++move) {
            const uint32_t own = row + k_tile_move_row<query_tile>(threadIdx.x, move);
            moves[move] = *reinterpret_cast<const quad *>(
                from + (own < rows ? own : rows - 1) * stride + k_tile_move_k<query_tile>(threadIdx.x, move));
        }
        k_tile_put<query_tile>(lds, moves, threadIdx.x); /* a barrier follows before the first product */
    } else {
        const quad *at[group_of::rows];
#pragma unroll
        for (unsigned p = 0; p < group_of::rows; ++p) {
            const uint32_t own = row + wave_row + tile_b_column<fragment>(0) + p * group_of::row_stride;
            at[p] = reinterpret_cast<const quad *>(from + (own < rows ? own : rows - 1) * stride);
        }
#pragma unroll
        for (unsigned step = 0; step < D_STEPS; ++step) {
            quad units[group_of::rows][group_of::lane_units];
#pragma unroll
            for (unsigned p = 0; p < group_of::rows; ++p) {
#pragma unroll
                for (unsigned c = 0; c < group_of::lane_units; ++c)
                    units[p][c] = at[p][step * (group_of::depth / key_tile::pack) + unit + c];
            }
            k_tile_distribute<group_of>(into.parts[step], units);
        }
    }
}

/* ---- one tile of keys ---- */

struct state {
    scores out[TILES_D]; /* O' so far, not yet divided by sum */
    column_t top, sum;   /* the largest raw score; the sum over this lane's elements */
};

/* Sums of this lane's elements by column. In pairs where there is one column, which CDNA adds in one instruction. */
__device__ static column_t column_sum(scores x)
{
    column_t sum = {};
    if constexpr (tile_columns<fragment> == 1) {
        typedef simt_tile_vector<float, 2>::type pair;
        pair both = {x[0], x[1]};
#pragma unroll
        for (unsigned e = 2; e < fragment::c_count; e += 2)
            both += pair{x[e], x[e + 1]};
        sum[0] = both[0] + both[1];
    } else {
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e)
            sum[tile_column_at<fragment>(e)] += x[e];
    }
    return sum;
}

/* One step of the online softmax: scores become powers of two relative to the largest so far, and the sums are
 * rescaled. */
__device__ void softmax_step(state &now, scores (&s)[TILES_N], float scale)
{
    column_t top = now.top;
#pragma unroll
    for (unsigned j = 0; j < TILES_N; ++j) {
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e)
            top[tile_column_at<fragment>(e)] = __builtin_fmaxf(top[tile_column_at<fragment>(e)], s[j][e]);
    }
    top = tile_column_max<fragment>(top);
    column_t base, shrink;
    bool grew = false;
#pragma unroll
    for (unsigned i = 0; i < tile_columns<fragment>; ++i) {
        base[i] = top[i] > -__builtin_inff() ? top[i] * scale : 0.0f;
        shrink[i] = fast_exp2(fma(now.top[i], scale, -base[i]));
        grew = grew || top[i] > now.top[i];
    }
    now.top = top;
#pragma unroll
    for (unsigned j = 0; j < TILES_N; ++j) {
        scores exponent;
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e)
            exponent[e] = base[tile_column_at<fragment>(e)];
        exponent = fma(s[j], static_cast<scores>(scale), -exponent);
#pragma unroll
        for (unsigned e = 0; e < fragment::c_count; ++e)
            s[j][e] = fast_exp2(exponent[e]);
    }
    if (__any(grew)) {
        now.sum *= shrink;
#pragma unroll
        for (unsigned i = 0; i < TILES_D; ++i) {
            scores by;
#pragma unroll
            for (unsigned e = 0; e < fragment::c_count; ++e)
                by[e] = shrink[tile_column_at<fragment>(e)];
            now.out[i] *= by;
        }
    }
    scores sum = s[0];
#pragma unroll
    for (unsigned j = 1; j < TILES_N; ++j)
        sum += s[j];
    now.sum += column_sum(sum);
}

/* One tile of keys. `seen`: how many of them the query of each of this lane's columns sees; used if masked. */
template <bool masked>
__device__ void attend_tile(state &now, const quad *keys, const quad *values, const queries &q, float scale,
    const int32_t (&seen)[tile_columns<fragment>])
{
    scores s[TILES_N];
    if constexpr (ISOLATE == ISOLATE_LOADS) { /* the tiles are used all the same, or nobody would load them */
        keep(keys[threadIdx.x % key_tile::units][0] + values[threadIdx.x % value_tile::units][0]);
        return;
    }
#pragma unroll
    for (unsigned j = 0; j < TILES_N; ++j)
        s[j] = tile_fill<fragment>(0);
    const unsigned k_base = base_a<key_tile>(0), v_base = base_a<value_tile>(first_d());
    fragment::a_t k[AHEAD + 1][GROUP];
    fragment::b_t from_lds[GROUP];
#pragma unroll
    for (unsigned at = 0; at < K_READS + AHEAD; ++at) {
        if (at < K_READS)
            k_tile_read<group_of, key_tile>(k[at % (AHEAD + 1)], keys, k_base, at % TILES_N, at / TILES_N);
        if (at < AHEAD)
            continue;
        const unsigned use = at - AHEAD, j = use % TILES_N, step = use / TILES_N;
        if (QLDS && j == 0)
            k_tile_read<group_of, query_tile>(from_lds, q.lds, q.base, 0, step);
#pragma unroll
        for (unsigned g = 0; g < GROUP; ++g)
            s[j] = tile_chain_mma<fragment>(
                k[use % (AHEAD + 1)][g], QLDS ? from_lds[g] : q.parts[QLDS ? 0 : step][g], s[j]);
        schedule_fence();
    }
    if constexpr (masked) {
#pragma unroll
        for (unsigned j = 0; j < TILES_N; ++j) {
#pragma unroll
            for (unsigned e = 0; e < fragment::c_count; ++e) {
                const int32_t key = static_cast<int32_t>(j * M + tile_chain_c_row<fragment>(e));
                s[j][e] = key < seen[tile_column_at<fragment>(e)] ? s[j][e] : -__builtin_inff();
            }
        }
    }
    softmax_step(now, s, scale);
    fragment::b_t p[N_STEPS * GROUP];
    tile_chain_b<fragment>(p, s);
    fragment::a_t v[AHEAD + 1][GROUP];
#pragma unroll
    for (unsigned at = 0; at < V_READS + AHEAD; ++at) {
        if (at < V_READS)
            k_tile_read<group_of, value_tile>(v[at % (AHEAD + 1)], values, v_base, at % TILES_D, at / TILES_D);
        if (at < AHEAD)
            continue;
        const unsigned use = at - AHEAD, i = use % TILES_D, step = use / TILES_D;
#pragma unroll
        for (unsigned g = 0; g < GROUP; ++g)
            now.out[i] = tile_chain_mma<fragment>(v[use % (AHEAD + 1)][g], p[step * GROUP + g], now.out[i]);
        schedule_fence();
    }
}

/* ---- the loop over tiles ---- */

/* Where the keys and values of one sequence and head are. Pointers are the same in all lanes, offsets are a lane's own
 * and stay from tile to tile: a load takes both and needs no arithmetic. */
struct addresses {
    const element *k, *v;                                            /* of token 0 */
    const uint32_t *table;                                           /* pages of this sequence, if PAGE */
    uint32_t first;                                                  /* the sequence's first token, unless PAGE */
    uint32_t pages;                                                  /* so many */
    uint32_t stride;                                                 /* elements from token to token */
    uint32_t k_offset[key_tile::moves], v_offset[value_tile::moves]; /* bytes from the run's first key */
    uint32_t k_run[key_tile::moves], v_run[value_tile::moves];
};

struct staged_tiles {
    quad k[key_tile::moves], v[value_tile::moves];
};

/* Sets offsets for a tile of `rows` keys. Keys beyond them, which no query sees, read the last one. */
template <class k_tile_t>
__device__ static void set_tile_offsets(uint32_t (&offset)[k_tile_t::moves], uint32_t (&row_fragment)[k_tile_t::moves],
    uint32_t stride, uint32_t rows, unsigned lane)
{
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move) {
        const unsigned own = move_key<k_tile_t>(lane, move), key = own < rows ? own : rows - 1;
        const unsigned d =
            k_tile_t::k_contiguous ? k_tile_move_k<k_tile_t>(lane, move) : k_tile_move_row<k_tile_t>(lane, move);
        offset[move] = (key % RUN * stride + d) * sizeof(element);
        row_fragment[move] = key / RUN;
    }
}

__device__ static void set_offsets(addresses &address, uint32_t rows, unsigned lane)
{
    set_tile_offsets<key_tile>(address.k_offset, address.k_run, address.stride, rows, lane);
    set_tile_offsets<value_tile>(address.v_offset, address.v_run, address.stride, rows, lane);
}

/* Offsets are opaque each time, or the compiler would widen them to 64 bits ahead of the loop, where they no longer fit
 * the instruction. */
template <class k_tile_t>
__device__ static void fetch(quad (&into)[k_tile_t::moves], const element *from, const uint64_t (&begin)[RUNS],
    uint32_t (&offset)[k_tile_t::moves], const uint32_t (&row_fragment)[k_tile_t::moves])
{
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move)
        offset[move] = opaque(offset[move]);
#pragma unroll
    for (unsigned move = 0; move < k_tile_t::moves; ++move) {
        uint64_t at = begin[0];
        const uint32_t own =
            RUNS > 1 ? opaque(row_fragment[move]) : 0; /* else the masks of all runs stay in scalar registers */
#pragma unroll
        for (unsigned i = 1; i < RUNS; ++i) /* begin[own] would put the array into scratch memory */
            at ^= (begin[i] ^ begin[0]) & -static_cast<uint64_t>(own == i);
        into[move] = ISOLATE == ISOLATE_MATH
            ? static_cast<quad>(offset[move])
            : *reinterpret_cast<const quad *>(reinterpret_cast<const char *>(from + at) + offset[move]);
    }
}

__device__ static void fetch_tile(staged_tiles &next, addresses &address, uint32_t number)
{
    uint64_t begin[RUNS];
#pragma unroll
    for (unsigned i = 0; i < RUNS; ++i) {
        uint64_t token = address.first + number * BN;
        if constexpr (PAGE > 0) {
            const uint32_t key = number * BN + i * RUN, page = key / PAGE;
            token = address.table[page < address.pages ? page : address.pages - 1] * static_cast<uint64_t>(PAGE) +
                    key % PAGE;
        }
        begin[i] = token * address.stride;
        if constexpr (RUNS > 1) { /* else begin[] goes to scratch memory */
            const uint32_t high = opaque_uniform(static_cast<uint32_t>(begin[i] >> 32));
            begin[i] = static_cast<uint64_t>(high) << 32 | opaque_uniform(static_cast<uint32_t>(begin[i]));
        }
    }
    fetch<key_tile>(next.k, address.k, begin, address.k_offset, address.k_run);
    fetch<value_tile>(next.v, address.v, begin, address.v_offset, address.v_run);
}

/* Tiles [number, last) of a sequence of `end` keys, of which all queries see the first `clear`. */
__device__ void attend(state &now, quad *keys, quad *values, const queries &q, addresses &address, float scale,
    uint32_t number, uint32_t last, uint32_t end, uint32_t clear, const int32_t (&seen)[tile_columns<fragment>])
{
    const unsigned lane = threadIdx.x;
    const uint32_t whole = clear / BN < last ? clear / BN : last;
    staged_tiles next = {};
    set_offsets(address, number < last ? end - number * BN : 1, lane);
    if (PREFETCH && number < last)
        fetch_tile(next, address, number);
#pragma unroll 1
    for (; number + PREFETCH < whole; ++number) {
        if (!PREFETCH)
            fetch_tile(next, address, number);
        k_tile_put<key_tile>(keys, next.k, lane);
        k_tile_put<value_tile>(values, next.v, lane);
        lds_barrier();
        if (PREFETCH)
            fetch_tile(next, address, number + 1);
        schedule_fence(); /* issue the loads before the products */
        attend_tile<false>(now, keys, values, q, scale, seen);
        lds_barrier();
    }
#pragma unroll 1
    for (; number < last; ++number) {
        if (!PREFETCH) {
            set_offsets(address, end - number * BN, lane);
            fetch_tile(next, address, number);
        }
        k_tile_put<key_tile>(keys, next.k, lane);
        k_tile_put<value_tile>(values, next.v, lane);
        lds_barrier();
        if (PREFETCH && number + 1 < last) {
            set_offsets(address, end - (number + 1) * BN, lane);
            fetch_tile(next, address, number + 1);
        }
        int32_t rest[tile_columns<fragment>];
#pragma unroll
        for (unsigned i = 0; i < tile_columns<fragment>; ++i)
            rest[i] = seen[i] - static_cast<int32_t>(number * BN);
        attend_tile<true>(now, keys, values, q, scale, rest);
        lds_barrier();
    }
}

/* Before the first key. */
__device__ state state_begin()
{
    state now = {{}, static_cast<column_t>(-__builtin_inff()), static_cast<column_t>(0.0f)};
#pragma unroll
    for (unsigned i = 0; i < TILES_D; ++i)
        now.out[i] = tile_fill<fragment>(0);
    return now;
}

#endif
