/* SPDX-License-Identifier: MIT
 *
 * Two products in a row on matrix fragments: what is in the accumulators of the first becomes the B of the second without
 * leaving the registers, as in attention: S = K * Q' (keys x queries), P = f(S), O = V' * P. Include it after tile.h.
 *
 * For that a lane has to have the same columns in C and in B. On NVIDIA it has not, but it has the same rows in C and in A: there
 * each product is worked out turned, as C' = B' * A', and A's fragment is an instruction's B. A kernel need not know, as long as it
 * takes from here what tile.h has for others:
 *   tile_chain_mma<F>(a, b, c)        A * B + C, which something that all lanes do has to use: another product, a loop's next turn
 *   tile_chain_c_row<F>(e)            where element e of this lane stands in C, in which column see below
 * Rows of A and columns of B and the k of both are as in tile.h: where products are turned, lanes hold both alike.
 *
 * The first product's C tiles, one below the other, have tiles * F::m rows; these are the second's k. Which row stands at which
 * k of an instruction is whatever costs least on the target, so the second's A has to be laid out by it:
 *   tile_chain_b<F>(b, c)             steps B fragments of the C tiles of floats, steps * F::k == tiles * F::m. Rounded to the
 *                                     nearest code (bf16: on AMD ties away from 0); NaNs need not stay NaNs
 *   tile_chain_row<F>(step, place, e) the row that lanes of this place have at element e of each piece (tile.h) of instruction
 *                                     `step`, in A and in B; the place of a lane is tile_k_place<F>(tile_a_k<F>(0)) / F::piece
 * On MFMA, gfx12 and NVIDIA that is nobody's work: a lane's elements of C are its elements of B. On gfx11 B stands in both halves
 * of the wave and C in one, so halves are exchanged.
 *
 * Columns of C. A lane's elements are of one column on AMD, of two on NVIDIA; the CPU's permuted layout has more.
 *   tile_columns<F>          how many columns a lane has elements of
 *   tile_column_t<F>         a float for each, with [i]
 *   tile_column_at<F>(e)     which of them element e of C is in
 *   tile_chain_c_column<F>(i)   where column i of this lane stands in C
 *   tile_column_max<F>(x) tile_column_sum<F>(x)   the largest, the sum, over the lanes that have elements of a column, in all of
 *                            them; every lane of the wave takes part
 * All of it for square tiles of float accumulators.
 */
#ifndef ROOFTILE_TILE_CHAIN_H
#define ROOFTILE_TILE_CHAIN_H

#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
template <class tile_t> static constexpr unsigned tile_columns = tile_t::c_count;
#elif SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
template <class tile_t> static constexpr unsigned tile_columns = 2;
#else
template <class tile_t> static constexpr unsigned tile_columns = 1;
#endif
/* Elements that follow each other in one column. */
template <class tile_t>
static constexpr unsigned simt_tile_column_run = tile_columns<tile_t> == 2 ? 2 : tile_t::c_count / tile_columns<tile_t>;
template <class tile_t> using tile_column_t = typename simt_tile_vector<float, static_cast<int>(tile_columns<tile_t>)>::type;

template <class tile_t> __device__ static constexpr unsigned tile_column_at(unsigned e)
{
    return e / simt_tile_column_run<tile_t> % tile_columns<tile_t>;
}

/* The lane's element `number` of those in its column `column`. */
template <class tile_t> __device__ static constexpr unsigned simt_tile_column_element(unsigned column, unsigned number)
{
    constexpr unsigned run = simt_tile_column_run<tile_t>;
    return (number / run * tile_columns<tile_t> + column) * run + number % run;
}

template <class tile_t> __device__ static unsigned simt_tile_chain_row(unsigned lane, unsigned e)
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
    return simt_tile_c_column<tile_t>(lane, e);
#else
    return simt_tile_c_row<tile_t>(lane, e);
#endif
}

template <class tile_t> __device__ unsigned tile_chain_c_row(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_chain_row<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ unsigned tile_chain_c_column(unsigned i) SIMT_TILE_CONST
{
    const unsigned e = simt_tile_column_element<tile_t>(i, 0);
#if SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
    return tile_c_row<tile_t>(e);
#else
    return tile_c_column<tile_t>(e);
#endif
}

template <class tile_t>
__device__ typename tile_t::c_t tile_chain_mma(typename tile_t::a_t a, typename tile_t::b_t b, typename tile_t::c_t c) SIMT_TILE_CONST
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
    return tile_mma<tile_t>(b, a, c);
#elif defined(__AMDGCN__) /* not held where it stands (see SIMT_HERE): that takes registers of its own */
    return simt_tile_product<tile_t>(a, 0, b, c);
#else
    return tile_mma<tile_t>(a, b, c);
#endif
}

struct simt_tile_larger {
    float a, b;
    __device__ float result() const
    {
        return __builtin_fmaxf(a, b);
    }
};
struct simt_tile_added {
    float a, b;
    __device__ float result() const
    {
        return a + b;
    }
};

#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
/* Lane x of simt_tile_c_row's numbers, which are (lane * 7 + 5) % wave: 55 is the inverse of 7. */
__device__ static unsigned simt_tile_c_lane(unsigned x)
{
    return (x + ROOFTILE_WAVE - 5) * 55 % ROOFTILE_WAVE;
}

template <class tile_t, class pair_t> __device__ tile_column_t<tile_t> simt_tile_over(tile_column_t<tile_t> x)
{
    const unsigned self = (lane_id() * 7 + 5) % ROOFTILE_WAVE;
    for (unsigned mask = 1; mask < tile_t::m; mask *= 2)
        for (unsigned i = 0; i < tile_columns<tile_t>; ++i)
            x[i] = pair_t{x[i], __shfl(x[i], simt_tile_c_lane(self ^ mask))}.result();
    return x;
}
#elif SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
template <class tile_t, class pair_t> __device__ tile_column_t<tile_t> simt_tile_over(tile_column_t<tile_t> x)
{
    UNROLL
    for (unsigned mask = 1; mask < 4; mask *= 2) {
        UNROLL
        for (unsigned i = 0; i < tile_columns<tile_t>; ++i)
            x[i] = pair_t{x[i], __shfl_xor(x[i], mask)}.result();
    }
    return x;
}
#else
template <class tile_t, class pair_t> __device__ tile_column_t<tile_t> simt_tile_over(tile_column_t<tile_t> x)
{
    if constexpr (tile_t::n == 16 && ROOFTILE_WAVE == 32)
        x[0] = pair_t{x[0], row_permute_other(x[0], 0x76543210u, 0xfedcba98u)}.result();
    if constexpr (tile_t::n == 16 && ROOFTILE_WAVE == 64)
        x[0] = pair_t{x[0], __shfl_xor(x[0], 16)}.result();
    if constexpr (ROOFTILE_WAVE == 64)
        x[0] = pair_t{x[0], __shfl_xor(x[0], 32)}.result();
    return x;
}
#endif

template <class tile_t> __device__ tile_column_t<tile_t> tile_column_max(tile_column_t<tile_t> x)
{
    return simt_tile_over<tile_t, simt_tile_larger>(x);
}

template <class tile_t> __device__ tile_column_t<tile_t> tile_column_sum(tile_column_t<tile_t> x)
{
    return simt_tile_over<tile_t, simt_tile_added>(x);
}

/* Codes of the floats that one word holds: two or four. */
#if defined(__CUDACC__)
template <class in> __device__ static uint32_t simt_tile_word(const float *x)
{
    if constexpr (in::bits == 8) {
        static_assert(in::mantissa == 3, "the instruction names the type");
        uint16_t low, high;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(x[1]), "f"(x[0]));
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(x[3]), "f"(x[2]));
        return static_cast<uint32_t>(high) << 16 | low;
    } else {
        uint32_t word;
        if constexpr (in::mantissa == 7)
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(x[1]), "f"(x[0]));
        else
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(x[1]), "f"(x[0]));
        return word;
    }
}
#else
template <class in> __device__ static uint32_t simt_tile_word(const float *x)
{
    if constexpr (in::bits == 8) {
        typename simt_tile_vector<float, 4>::type four = {x[0], x[1], x[2], x[3]};
        return __builtin_bit_cast(uint32_t, tile_encode4<in>(four));
    } else if constexpr (in::mantissa == 7) {
        const uint32_t low = __builtin_bit_cast(uint32_t, x[0]) + 0x8000u, high = __builtin_bit_cast(uint32_t, x[1]) + 0x8000u;
        return permute_bytes(high, low, 0x07060302u);
    } else {
        const typename simt_tile_vector<typename in::type, 2>::type two = {tile_encode<in>(x[0]), tile_encode<in>(x[1])};
        return __builtin_bit_cast(uint32_t, two);
    }
}
#endif

template <class tile_t> __device__ static unsigned tile_chain_row(unsigned step, unsigned place, unsigned e)
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
    return step * tile_t::k + place * tile_t::a_count + e;
#elif SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
    return step * tile_t::k + e % 8 * 2 + e / 8;
#else
    constexpr unsigned each = tile_t::c_count / tile_columns<tile_t>; /* of a tile, in a column */
    const unsigned number = step * tile_t::piece + e; /* of the lane's C tiles, one after the other */
    const unsigned lane = tile_columns<tile_t> == 1 ? place * tile_t::m : place; /* one of them */
    return number / each * tile_t::m + simt_tile_chain_row<tile_t>(lane, simt_tile_column_element<tile_t>(0, number % each));
#endif
}

#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
template <class tile_t, unsigned steps, unsigned tiles>
__device__ void tile_chain_b(typename tile_t::b_t (&b)[steps], const typename tile_t::c_t (&c)[tiles])
{
    static_assert(steps * tile_t::k == tiles * tile_t::m, "rows of C are k of B");
    for (unsigned step = 0; step < steps; ++step)
        for (unsigned e = 0; e < tile_t::b_count; ++e) {
            const unsigned row = step * tile_t::k + tile_b_k<tile_t>(e), column = tile_b_column<tile_t>(e);
            const unsigned from = simt_tile_c_lane(column / tile_t::c_count * tile_t::m + row % tile_t::m);
            float value = 0;
            for (unsigned number = 0; number < tiles; ++number)
                for (unsigned other = 0; other < tile_t::c_count; ++other) {
                    const float offered = __shfl(c[number][other], from);
                    if (number == row / tile_t::m && other == tile_t::c_count - 1 - column % tile_t::c_count)
                        value = offered;
                }
            b[step][e] = tile_encode<typename tile_t::in>(value);
        }
}
#else
template <class tile_t, unsigned steps, unsigned tiles>
__device__ void tile_chain_b(typename tile_t::b_t (&b)[steps], const typename tile_t::c_t (&c)[tiles])
{
    static_assert(steps * tile_t::k == tiles * tile_t::m && sizeof(typename tile_t::b_t) % 4 == 0, "rows of C are k of B");
    constexpr unsigned pack = 4 / sizeof(typename tile_t::in_t), step_words = sizeof(typename tile_t::b_t) / 4;
    UNROLL
    for (unsigned step = 0; step < steps; ++step) {
        uint32_t words[step_words];
#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
        static_assert(pack == 2 && step_words == 8, "16 k of two bytes, of which C has every second one");
        const bool upper = lane_id() >= 16;
        UNROLL
        for (unsigned w = 0; w < 4; ++w) {
            const float pair[2] = {c[step][2 * w], c[step][2 * w + 1]};
            const uint32_t own = simt_tile_word<typename tile_t::in>(pair);
            const uint32_t other = row_permute_other(own, 0x76543210u, 0xfedcba98u);
            words[w] = upper ? other : own;
            words[4 + w] = upper ? own : other;
        }
#else
        constexpr unsigned each = tile_t::c_count / tile_columns<tile_t>, piece = tile_t::piece;
        UNROLL
        for (unsigned w = 0; w < step_words; ++w) {
            float values[pack];
            UNROLL
            for (unsigned i = 0; i < pack; ++i) {
                const unsigned at = w * pack + i, number = step * piece + at % piece;
                values[i] = c[number / each][simt_tile_column_element<tile_t>(at / piece, number % each)];
            }
            words[w] = simt_tile_word<typename tile_t::in>(values);
        }
#endif
        __builtin_memcpy(&b[step], words, sizeof(words));
    }
}
#endif

#endif
