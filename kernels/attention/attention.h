/* SPDX-License-Identifier: MIT
 *
 * O = softmax(scale * Q K') V over the keys of one sequence and head, for up to BM queries: what prefill and decode have in common.
 * Include it after portable.h and tile.h.
 *
 *        keys ->  BN                  A workgroup has BM queries, each wave M of them, whose part of Q and O stays in registers.
 *            +--------+               Tiles of BN keys go through LDS once per workgroup.
 *            | K' (D) |
 *      +---+ +--------+               Everything is turned: S' = K Q' and O' = V' P'. So a column of an accumulator is a query,
 *   BM | Q | |   S    | softmax       and a lane has elements of one query only (tile_chain.h): its maximum takes one exchange
 *      +---+ +--------+               with another lane, its rescaling none, and P' becomes an operand where it is.
 *            |  V     | -> O          V' needs keys side by side: V is turned when it is put into LDS, and its keys are put
 *            +--------+               in the order in which P' comes out of the first product. On NVIDIA fragments are of the
 *                                     matrices turned back, S = Q K' and O = P V, and a lane has elements of two queries:
 *                                     tile_chain.h sees to that, nothing here knows.
 *
 * Softmax is in powers of two, in one pass: `top` is the largest score so far, and what was summed up under a smaller one is
 * scaled down. A query that sees no key, or only scores of minus infinity, gives 0.
 *
 * The loop: a tile waits in registers (PREFETCH) while the one before it is used. Tiles which every query sees in full come first
 * and are not masked; those on the diagonal and at the end of a sequence follow.
 *
 * Defines: IN type of q, k, v; D; M, K instruction; BN; WAVES_M x WAVES_D waves of a workgroup,
 * the latter of which share queries and the part of O: each works S out for itself; SWIZZLE PREFETCH; QLDS: Q stays in LDS, for heads of
 * which registers cannot hold both Q and O; PAGE tokens of a page of keys, 0: a sequence's keys lie one after the other; TILE_LAYOUT.
 */
#ifndef ROOFTILE_ATTENTION_H
#define ROOFTILE_ATTENTION_H

#include "tile_chain.h"
#include "../gemm/gemm_slab.h"

using fragment = tile<M, M, K, IN, float>;
typedef fragment::in_t element;
typedef fragment::c_t scores;
typedef tile_column_t<fragment> column_t;
using group_of = slab_group<fragment>;

static constexpr unsigned LANES = WAVES_M * WAVES_D * ROOFTILE_WAVE, BM = WAVES_M * M;
static constexpr unsigned GROUP = group_of::count, TILES_N = BN / M, TILES_D = D / WAVES_D / M;
static constexpr unsigned D_STEPS = D / group_of::depth, N_STEPS = BN / group_of::depth;
static constexpr unsigned K_READS = D_STEPS * TILES_N, V_READS = N_STEPS * TILES_D;
static constexpr unsigned AHEAD = D > 128 ? 1 : 2; /* reads of fragments from LDS on the way while one is used */
using slab_k = slab<BN, D, sizeof(element), true, SWIZZLE, LANES>;
using slab_v = slab<D, BN, sizeof(element), false, SWIZZLE, LANES>;
using slab_q = slab<BM, D, sizeof(element), true, SWIZZLE, LANES>;
/* Keys of a tile that lie one after the other in memory, and how many such pieces a tile has. */
static constexpr unsigned PIECE = PAGE > 0 && PAGE < BN ? PAGE : BN, PIECES = BN / PIECE;
static_assert(PAGE == 0 || PAGE % PIECE == 0, "a tile is whole pages, or a part of one");
static_assert(BN % M == 0 && D % (WAVES_D * M) == 0 && D % group_of::depth == 0 && BN % group_of::depth == 0, "tiles do not nest");

typedef vec<uint32_t, 4>::type quad;
#include "../gemm/gemm_parts.h"

/* ---- memory to registers to LDS ---- */

/* The key that stands at place `slot` of a row of V' in LDS: a group of instructions reads 16 bytes per lane, see slab_group. */
__device__ static unsigned key_at(unsigned slot)
{
    constexpr unsigned piece = fragment::piece, part = GROUP * piece;
    const unsigned rest = slot % group_of::depth;
    return tile_chain_row<fragment>(slot / group_of::depth * GROUP + rest % part / piece, rest / part, rest % piece);
}

template <class slab_t> __device__ static unsigned move_key(unsigned lane, unsigned move)
{
    return slab_t::along ? slab_move_row<slab_t>(lane, move) : key_at(slab_move_k<slab_t>(lane, move));
}

/* Word `word` of what row `row` of a turned block gets: its elements of moves word * 4 / bytes and on. */
__device__ static uint32_t turned(const quad *moves, unsigned row, unsigned word)
{
    if constexpr (sizeof(element) == 2)
        return permute_bytes(moves[word * 2 + 1][row / 2], moves[word * 2][row / 2], row % 2 ? 0x07060302u : 0x05040100u);
    const unsigned at = row / 4, low = row % 4; /* selectors of a byte of the second word, and of the first */
    const uint32_t pair = 0x0c0c0000u | (4 + low) << 8 | low, upper = 0x00000c0cu | (4 + low) << 24 | low << 16;
    return permute_bytes(moves[word * 4 + 1][at], moves[word * 4][at], pair) |
           permute_bytes(moves[word * 4 + 3][at], moves[word * 4 + 2][at], upper);
}

template <class slab_t> __device__ static void put_along(quad *into, const quad (&moves)[slab_t::moves], unsigned lane)
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        into[slab_unit<slab_t>(slab_move_row<slab_t>(lane, move), slab_move_k<slab_t>(lane, move) / slab_t::pack)] = moves[move];
}

__device__ static void put_turned(quad *into, const quad (&moves)[slab_v::moves], unsigned lane)
{
    typedef simt_tile_vector<uint32_t, slab_v::words>::type part;
    UNROLL
    for (unsigned first = 0; first < slab_v::moves; first += slab_v::turn) {
        const unsigned row = slab_move_row<slab_v>(lane, first), slot = slab_move_k<slab_v>(lane, first);
        UNROLL
        for (unsigned i = 0; i < slab_v::pack; ++i) {
            part words;
            UNROLL
            for (unsigned word = 0; word < slab_v::words; ++word)
                words[word] = turned(moves + first, i, word);
            const unsigned at = slab_unit<slab_v>(row + i, slot / slab_v::pack) * 4 + slot % slab_v::pack * sizeof(element) / 4;
            *reinterpret_cast<part *>(reinterpret_cast<uint32_t *>(into) + at) = words;
        }
    }
}

/* ---- LDS to fragments ---- */

/* Where a lane's reads of the rows from `row` on begin. */
template <class slab_t> __device__ unsigned base_a(unsigned row)
{
    return slab_unit<slab_t>(row + tile_a_row<fragment>(0), slab_first_unit<fragment>(tile_a_k<fragment>(0)));
}

/* The first row of the wave's part of O'. */
__device__ unsigned first_d()
{
    return threadIdx.x / ROOFTILE_WAVE % WAVES_D * (TILES_D * M);
}

/* The wave's part of Q: in registers, or where it is in LDS. */
struct queries {
    fragment::b_t parts[QLDS ? 1 : D_STEPS][GROUP];
    const quad *slab_at;
    unsigned base;
};

/* From row `row` on. Queries at `rows` and beyond are read as the last. */
__device__ void load_queries(queries &into, quad *slab_at, const element *from, uint64_t stride, uint32_t row, uint32_t rows)
{
    const unsigned unit = slab_first_unit<fragment>(tile_b_k<fragment>(0)), wave_row = threadIdx.x / ROOFTILE_WAVE / WAVES_D * M;
    into.slab_at = slab_at;
    if constexpr (QLDS) {
        into.base = slab_unit<slab_q>(wave_row + tile_b_column<fragment>(0), unit);
        quad moves[slab_q::moves];
        UNROLL
        for (unsigned move = 0; move < slab_q::moves; ++move) {
            const uint32_t own = row + slab_move_row<slab_q>(threadIdx.x, move);
            moves[move] = *reinterpret_cast<const quad *>(from + (own < rows ? own : rows - 1) * stride +
                                                          slab_move_k<slab_q>(threadIdx.x, move));
        }
        put_along<slab_q>(slab_at, moves, threadIdx.x); /* a barrier comes before the first product */
    } else {
        const quad *at[group_of::rows];
        UNROLL
        for (unsigned p = 0; p < group_of::rows; ++p) {
            const uint32_t own = row + wave_row + tile_b_column<fragment>(0) + p * group_of::apart;
            at[p] = reinterpret_cast<const quad *>(from + (own < rows ? own : rows - 1) * stride);
        }
        UNROLL
        for (unsigned step = 0; step < D_STEPS; ++step) {
            quad units[group_of::rows][group_of::lane_units];
            UNROLL
            for (unsigned p = 0; p < group_of::rows; ++p) {
                UNROLL
                for (unsigned c = 0; c < group_of::lane_units; ++c)
                    units[p][c] = at[p][step * (group_of::depth / slab_k::pack) + unit + c];
            }
            deal_out(into.parts[step], units);
        }
    }
}

/* ---- one tile of keys ---- */

struct state {
    scores out[TILES_D];  /* O' so far, times sum */
    column_t top, sum;    /* of raw scores; of this lane's elements only */
};

/* Of this lane's elements. In two chains where they are of one column: CDNA adds pairs. */
__device__ static column_t column_sum(scores x)
{
    column_t sum = {};
    if constexpr (tile_columns<fragment> == 1) {
        typedef simt_tile_vector<float, 2>::type pair;
        pair both = {x[0], x[1]};
        UNROLL
        for (unsigned e = 2; e < fragment::c_count; e += 2)
            both += pair{x[e], x[e + 1]};
        sum[0] = both[0] + both[1];
    } else {
        UNROLL
        for (unsigned e = 0; e < fragment::c_count; ++e)
            sum[tile_column_at<fragment>(e)] += x[e];
    }
    return sum;
}

/* Powers of two of the scores, relative to their largest so far. */
__device__ void soften(state &now, scores (&s)[TILES_N], float scale)
{
    column_t top = now.top;
    UNROLL
    for (unsigned j = 0; j < TILES_N; ++j) {
        UNROLL
        for (unsigned e = 0; e < fragment::c_count; ++e)
            top[tile_column_at<fragment>(e)] = __builtin_fmaxf(top[tile_column_at<fragment>(e)], s[j][e]);
    }
    top = tile_column_max<fragment>(top);
    column_t base, shrink;
    bool grew = false;
    UNROLL
    for (unsigned i = 0; i < tile_columns<fragment>; ++i) {
        base[i] = top[i] > -__builtin_inff() ? top[i] * scale : 0.0f;
        shrink[i] = fast_exp2(fma(now.top[i], scale, -base[i]));
        grew = grew || top[i] > now.top[i];
    }
    now.top = top;
    UNROLL
    for (unsigned j = 0; j < TILES_N; ++j) {
        scores exponent;
        UNROLL
        for (unsigned e = 0; e < fragment::c_count; ++e)
            exponent[e] = base[tile_column_at<fragment>(e)];
        exponent = fma(s[j], static_cast<scores>(scale), -exponent);
        UNROLL
        for (unsigned e = 0; e < fragment::c_count; ++e)
            s[j][e] = fast_exp2(exponent[e]);
    }
    if (__any(grew)) {
        now.sum *= shrink;
        UNROLL
        for (unsigned i = 0; i < TILES_D; ++i) {
            scores by;
            UNROLL
            for (unsigned e = 0; e < fragment::c_count; ++e)
                by[e] = shrink[tile_column_at<fragment>(e)];
            now.out[i] *= by;
        }
    }
    scores sum = s[0];
    UNROLL
    for (unsigned j = 1; j < TILES_N; ++j)
        sum += s[j];
    now.sum += column_sum(sum);
}

/* `seen`: how many of the tile's keys the query of this lane's columns sees, for the masked ones. */
template <bool masked>
__device__ void attend(state &now, const quad *keys, const quad *values, const queries &q, float scale,
                       const int32_t (&seen)[tile_columns<fragment>])
{
    scores s[TILES_N];
    UNROLL
    for (unsigned j = 0; j < TILES_N; ++j)
        s[j] = tile_fill<fragment>(0);
    const unsigned k_base = base_a<slab_k>(0), v_base = base_a<slab_v>(first_d());
    fragment::a_t k[AHEAD + 1][GROUP];
    fragment::b_t from_lds[GROUP];
    UNROLL
    for (unsigned at = 0; at < K_READS + AHEAD; ++at) {
        if (at < K_READS)
            read_parts<slab_k>(k[at % (AHEAD + 1)], keys, k_base, at % TILES_N, at / TILES_N);
        if (at < AHEAD)
            continue;
        const unsigned use = at - AHEAD, j = use % TILES_N, step = use / TILES_N;
        if (QLDS && j == 0)
            read_parts<slab_q>(from_lds, q.slab_at, q.base, 0, step);
        UNROLL
        for (unsigned g = 0; g < GROUP; ++g)
            s[j] = tile_chain_mma<fragment>(k[use % (AHEAD + 1)][g], QLDS ? from_lds[g] : q.parts[QLDS ? 0 : step][g], s[j]);
        schedule_fence();
    }
    if constexpr (masked) {
        UNROLL
        for (unsigned j = 0; j < TILES_N; ++j) {
            UNROLL
            for (unsigned e = 0; e < fragment::c_count; ++e) {
                const int32_t key = static_cast<int32_t>(j * M + tile_chain_c_row<fragment>(e));
                s[j][e] = key < seen[tile_column_at<fragment>(e)] ? s[j][e] : -__builtin_inff();
            }
        }
    }
    soften(now, s, scale);
    fragment::b_t p[N_STEPS * GROUP];
    tile_chain_b<fragment>(p, s);
    fragment::a_t v[AHEAD + 1][GROUP];
    UNROLL
    for (unsigned at = 0; at < V_READS + AHEAD; ++at) {
        if (at < V_READS)
            read_parts<slab_v>(v[at % (AHEAD + 1)], values, v_base, at % TILES_D, at / TILES_D);
        if (at < AHEAD)
            continue;
        const unsigned use = at - AHEAD, i = use % TILES_D, step = use / TILES_D;
        UNROLL
        for (unsigned g = 0; g < GROUP; ++g)
            now.out[i] = tile_chain_mma<fragment>(v[use % (AHEAD + 1)][g], p[step * GROUP + g], now.out[i]);
        schedule_fence();
    }
}

/* ---- the loop over tiles ---- */

/* Where keys and values are, of one sequence and head. Pointers are the same in all lanes, offsets are a lane's own and stay from tile
 * to tile: a load then takes both and no arithmetic. */
struct route {
    const element *k, *v;  /* of token 0 */
    const uint32_t *table; /* pages of this sequence; without pages nothing */
    uint32_t first;        /* the sequence's first token; without pages */
    uint32_t pages;        /* that it has */
    uint32_t stride;       /* elements from token to token */
    uint32_t k_offset[slab_k::moves], v_offset[slab_v::moves]; /* bytes from the piece's first key */
    uint32_t k_piece[slab_k::moves], v_piece[slab_v::moves];
};

struct fetched {
    quad k[slab_k::moves], v[slab_v::moves];
};

/* Keys at `rows` and beyond, which nobody sees, are read as the one before. */
template <class slab_t>
__device__ static void aim_at(uint32_t (&offset)[slab_t::moves], uint32_t (&piece)[slab_t::moves], uint32_t stride, uint32_t rows,
                              unsigned lane)
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move) {
        const unsigned own = move_key<slab_t>(lane, move), key = own < rows ? own : rows - 1;
        const unsigned d = slab_t::along ? slab_move_k<slab_t>(lane, move) : slab_move_row<slab_t>(lane, move);
        offset[move] = (key % PIECE * stride + d) * sizeof(element);
        piece[move] = key / PIECE;
    }
}

__device__ static void aim(route &way, uint32_t rows, unsigned lane)
{
    aim_at<slab_k>(way.k_offset, way.k_piece, way.stride, rows, lane);
    aim_at<slab_v>(way.v_offset, way.v_piece, way.stride, rows, lane);
}

/* Offsets are made opaque each time: widened to 64 bits ahead of the loop, they would no longer fit the instruction. */
template <class slab_t>
__device__ static void fetch(quad (&into)[slab_t::moves], const element *from, const uint64_t (&begin)[PIECES],
                             uint32_t (&offset)[slab_t::moves], const uint32_t (&piece)[slab_t::moves])
{
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move)
        offset[move] = opaque(offset[move]);
    UNROLL
    for (unsigned move = 0; move < slab_t::moves; ++move) {
        uint64_t at = begin[0];
        const uint32_t own = PIECES > 1 ? opaque(piece[move]) : 0; /* else masks for each piece stay in scalar registers */
        UNROLL
        for (unsigned i = 1; i < PIECES; ++i) /* a choice among loads would become an array in scratch memory */
            at ^= (begin[i] ^ begin[0]) & -static_cast<uint64_t>(own == i);
        into[move] = *reinterpret_cast<const quad *>(reinterpret_cast<const char *>(from + at) + offset[move]);
    }
}

__device__ static void fetch_tile(fetched &next, route &way, uint32_t number)
{
    uint64_t begin[PIECES];
    UNROLL
    for (unsigned i = 0; i < PIECES; ++i) {
        uint64_t token = way.first + number * BN;
        if constexpr (PAGE > 0) {
            const uint32_t key = number * BN + i * PIECE, page = key / PAGE;
            token = way.table[page < way.pages ? page : way.pages - 1] * static_cast<uint64_t>(PAGE) + key % PAGE;
        }
        begin[i] = token * way.stride;
        if constexpr (PIECES > 1) { /* else the choice among pieces becomes an array in scratch memory */
            const uint32_t high = opaque_uniform(static_cast<uint32_t>(begin[i] >> 32));
            begin[i] = static_cast<uint64_t>(high) << 32 | opaque_uniform(static_cast<uint32_t>(begin[i]));
        }
    }
    fetch<slab_k>(next.k, way.k, begin, way.k_offset, way.k_piece);
    fetch<slab_v>(next.v, way.v, begin, way.v_offset, way.v_piece);
}

/* Tiles [number, last) of a sequence of `end` keys, for queries of which all see the first `clear`. */
__device__ void attend_all(state &now, quad *keys, quad *values, const queries &q, route &way, float scale, uint32_t number,
                           uint32_t last, uint32_t end, uint32_t clear, const int32_t (&seen)[tile_columns<fragment>])
{
    const unsigned lane = threadIdx.x;
    const uint32_t whole = clear / BN < last ? clear / BN : last;
    fetched next = {};
    aim(way, number < last ? end - number * BN : 1, lane);
    if (PREFETCH && number < last)
        fetch_tile(next, way, number);
    NO_UNROLL
    for (; number + PREFETCH < whole; ++number) {
        if (!PREFETCH)
            fetch_tile(next, way, number);
        put_along<slab_k>(keys, next.k, lane);
        put_turned(values, next.v, lane);
        lds_barrier();
        if (PREFETCH)
            fetch_tile(next, way, number + 1);
        schedule_fence(); /* the earlier they are on the way, the better */
        attend<false>(now, keys, values, q, scale, seen);
        lds_barrier();
    }
    NO_UNROLL
    for (; number < last; ++number) {
        if (!PREFETCH) {
            aim(way, end - number * BN, lane);
            fetch_tile(next, way, number);
        }
        put_along<slab_k>(keys, next.k, lane);
        put_turned(values, next.v, lane);
        lds_barrier();
        if (PREFETCH && number + 1 < last) {
            aim(way, end - (number + 1) * BN, lane);
            fetch_tile(next, way, number + 1);
        }
        int32_t rest[tile_columns<fragment>];
        UNROLL
        for (unsigned i = 0; i < tile_columns<fragment>; ++i)
            rest[i] = seen[i] - static_cast<int32_t>(number * BN);
        attend<true>(now, keys, values, q, scale, rest);
        lds_barrier();
    }
}

/* Nothing seen so far. */
__device__ state state_begin()
{
    state now = {{}, static_cast<column_t>(-__builtin_inff()), static_cast<column_t>(0.0f)};
    UNROLL
    for (unsigned i = 0; i < TILES_D; ++i)
        now.out[i] = tile_fill<fragment>(0);
    return now;
}

#endif
