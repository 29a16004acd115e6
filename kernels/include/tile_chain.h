/* SPDX-License-Identifier: MIT
 *
 * Two products in a row on matrix fragments: the accumulators of the first become the B of the second without leaving
 * the registers, as in attention: S = K * Q' (keys x queries), P = f(S), O = V' * P. Include it after tile.h.
 *
 * For that a lane needs the same columns in C as in B. On NVIDIA it has not, but it has the same rows in C as in A: so
 * each product is computed transposed there, C' = B' * A', and the fragment of A is an instruction's B. A kernel need
 * not know, as long as it uses these functions in place of those of tile.h:
 *   tile_chain_mma<F>(a, b, c)        A * B + C. It has to be used by something that all lanes do: another product, a
 *                                     loop
 *   tile_chain_c_row<F>(e)            where element e of this lane is in C; for its column see below
 * Rows of A, columns of B and the k of both are as in tile.h: where products are transposed, lanes hold both alike.
 *
 * The C tiles of the first product, one below the other, have tiles * F::m rows, which are the k of the second. Which
 * row becomes which k of an instruction is whatever costs least on the target, so the second A has to follow:
 *   tile_chain_b<F>(b, c)             C tiles of floats to steps fragments of B, steps * F::k == tiles * F::m. Rounded
 *                                     to the nearest code (bf16 on AMD: ties away from 0); NaNs need not stay NaNs
 *   tile_chain_row<F>(step, group, e) the C row that is element e of each row fragment (tile.h) of instruction `step`,
 *                                     in A and in B, in lanes of this k group: tile_k_offset<F>(tile_a_k<F>(0)) /
 *                                     F::row_fragment
 * On MFMA, gfx12 and NVIDIA this moves nothing: a lane's elements of C are its elements of B. On gfx11 both halves of
 * the wave hold B but only one holds each element of C, so the halves are exchanged.
 *
 * Columns of C. A lane's elements are of one column on AMD, of two on NVIDIA; the CPU's permuted layout has more.
 *   tile_columns<F>                   of how many columns a lane has elements
 *   tile_column_t<F>                  a float for each, with [i]
 *   tile_column_at<F>(e)              which of them element e of C is in
 *   tile_chain_c_column<F>(i)         where column i of this lane is in C
 *   tile_column_max<F>(x)             the largest, and the sum, over the lanes that have elements of a column, known to
 *   tile_column_sum<F>(x)             all of them; every lane of the wave takes part
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
/* Consecutive elements of one column. */
template <class tile_t>
static constexpr unsigned simt_tile_column_run = tile_columns<tile_t> == 2 ? 2 : tile_t::c_count / tile_columns<tile_t>;
template <class tile_t>
using tile_column_t = typename simt_tile_vector<float, static_cast<int>(tile_columns<tile_t>)>::type;

template <class tile_t> __device__ static constexpr unsigned tile_column_at(unsigned e)
{
    return e / simt_tile_column_run<tile_t> % tile_columns<tile_t>;
}

/* Which element of C is number `number` in the lane's column `column`. */
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
__device__ typename tile_t::c_t tile_chain_mma(
    typename tile_t::a_t a, typename tile_t::b_t b, typename tile_t::c_t c) SIMT_TILE_CONST
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
    return tile_mma<tile_t>(b, a, c);
#elif defined(__AMDGCN__) /* without SIMT_HERE, which would take registers of its own */
    return simt_tile_product<tile_t>(a, 0, b, c);
#else
    return tile_mma<tile_t>(a, b, c);
#endif
}

struct simt_tile_larger {
    float a, b;
    __device__ float result() const { return __builtin_fmaxf(a, b); }
};
struct simt_tile_added {
    float a, b;
    __device__ float result() const { return a + b; }
};

#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
/* The lane for which (lane * 7 + 5) % wave, the permutation of simt_tile_c_row, is x: 55 is the inverse of 7. */
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
#pragma unroll
    for (unsigned mask = 1; mask < 4; mask *= 2) {
#pragma unroll
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

/* A word of codes: two or four. */
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
        const uint32_t low = __builtin_bit_cast(uint32_t, x[0]) + 0x8000u,
                       high = __builtin_bit_cast(uint32_t, x[1]) + 0x8000u;
        return permute_bytes(high, low, 0x07060302u);
    } else {
        const typename simt_tile_vector<typename in::type, 2>::type two = {
            tile_encode<in>(x[0]), tile_encode<in>(x[1])};
        return __builtin_bit_cast(uint32_t, two);
    }
}
#endif

template <class tile_t> __device__ static unsigned tile_chain_row(unsigned step, unsigned k_group, unsigned e)
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
    return step * tile_t::k + k_group * tile_t::a_count + e;
#elif SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
    return step * tile_t::k + e % 8 * 2 + e / 8;
#else
    constexpr unsigned each = tile_t::c_count / tile_columns<tile_t>; /* elements of a C tile in a column */
    const unsigned number = step * tile_t::row_fragment + e;          /* counted through the lane's C tiles */
    const unsigned lane = tile_columns<tile_t> == 1 ? k_group * tile_t::m : k_group; /* one of the group */
    return number / each * tile_t::m +
           simt_tile_chain_row<tile_t>(lane, simt_tile_column_element<tile_t>(0, number % each));
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
    static_assert(
        steps * tile_t::k == tiles * tile_t::m && sizeof(typename tile_t::b_t) % 4 == 0, "rows of C are k of B");
    constexpr unsigned pack = 4 / sizeof(typename tile_t::in_t), step_words = sizeof(typename tile_t::b_t) / 4;
#pragma unroll
    for (unsigned step = 0; step < steps; ++step) {
        uint32_t words[step_words];
#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
        static_assert(pack == 2 && step_words == 8, "16 k of two bytes, of which C has every second one");
        const bool upper = lane_id() >= 16;
#pragma unroll
        for (unsigned w = 0; w < 4; ++w) {
            const float pair[2] = {c[step][2 * w], c[step][2 * w + 1]};
            const uint32_t own = simt_tile_word<typename tile_t::in>(pair);
            const uint32_t other = row_permute_other(own, 0x76543210u, 0xfedcba98u);
            words[w] = upper ? other : own;
            words[4 + w] = upper ? own : other;
        }
#else
        constexpr unsigned each = tile_t::c_count / tile_columns<tile_t>, row_fragment = tile_t::row_fragment;
#pragma unroll
        for (unsigned w = 0; w < step_words; ++w) {
            float values[pack];
#pragma unroll
            for (unsigned i = 0; i < pack; ++i) {
                const unsigned at = w * pack + i, number = step * row_fragment + at % row_fragment;
                values[i] = c[number / each][simt_tile_column_element<tile_t>(at / row_fragment, number % each)];
            }
            words[w] = simt_tile_word<typename tile_t::in>(values);
        }
#endif
        __builtin_memcpy(&b[step], words, sizeof(words));
    }
}
#endif

#endif
