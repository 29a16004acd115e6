/* SPDX-License-Identifier: MIT
 *
 * Matrix fragments: D = A * B + C by one wave, over the matrix instructions of the target (MFMA of gfx908, gfx90a, gfx94x,
 * gfx950; WMMA of gfx11, gfx12) and over plain loops on the CPU device. A kernel includes it after portable.h.
 *
 *     using F = tile<16, 16, 16, tile_f16, float>;              M, N, K: A is M x K, B is K x N, C and D are M x N
 *     F::c_t c = tile_fill<F>(0);
 *     for (unsigned k = 0; k < depth; k += F::k)
 *         c = tile_mma<F>(tile_load_a<F>(a + k, depth, 1), tile_load_b<F>(b + k * n, n, 1), c);
 *     tile_store_c<F>(d, n, 1, c);
 *
 * Element types, and F::in_t, how memory holds one element
 *   tile_f64              double
 *   tile_f32 tile_xf32    float; the instruction for xf32 reads 10 bits of its mantissa
 *   tile_f16 tile_bf16    uint16_t, its bits
 *   tile_e4m3 tile_e5m2 tile_e4m3fnuz tile_e5m2fnuz           uint8_t, its bits: OCP's formats and FNUZ
 *   tile_i8               int8_t
 *   The names are the manifests' dtypes, so a define may be "IN": "tile_{dtype}". IN::acc_t, which F::acc_t has to be, is
 *   double for f64, int32_t for i8 (sums wrap) and float for the others. Products of f16 and narrower are exact. In which
 *   order the K products are added, and what is rounded between, is the hardware's; gfx908 and gfx90a may take denormals
 *   of f16 and bf16 as 0.
 *
 * Is there one?
 *   tile_supported<M, N, K, in, acc>   a constant: the target has that instruction. The CPU device has at wave 64 all
 *   shapes of MFMA, at wave 32 those of gfx12. Of a tile that is not supported only tile_mma does not compile. Manifests
 *   tell targets apart by variants and say `require`, see matrix_peak.json.
 *
 * What a lane holds
 *   F::a_t b_t c_t        vectors of F::a_count, b_count, c_count elements, with [e] and element-wise operators. Each element
 *                         of a matrix is in one place (lane, e); on gfx11 each of A and B is in two, and both must be there.
 *   tile_a_row<F>(e)  tile_a_k<F>(e)         where element e of this lane stands in A
 *   tile_b_k<F>(e)    tile_b_column<F>(e)    in B
 *   tile_c_row<F>(e)  tile_c_column<F>(e)    in C and D
 *   F::run                elements e .. e + run - 1, where run divides e, have consecutive k: one load where memory has them
 *                         side by side. Beyond that a kernel knows nothing but these functions: layouts differ between
 *                         targets, and the CPU has one that is nobody's.
 *
 * Work. Every lane of the wave takes part in tile_mma; none may have returned. Strides are in elements.
 *   tile_fill<F>(value)                      a C of equal elements
 *   tile_load_a<F>(from, row, k)             element (r, q) is from[r * row + q * k]
 *   tile_load_b<F>(from, k, column)          element (q, s) is from[q * k + s * column]
 *   tile_load_c<F>(from, row, column)        of acc_t
 *   tile_store_c<F>(to, row, column, c)
 *   tile_mma<F>(a, b, c)                     A * B + C: on a GPU one instruction
 *
 * TILE_LAYOUT, a define, for the CPU: 0 is MFMA's layout at wave 64 and gfx12's at wave 32; 1 a permuted one, in which A, B
 * and C each have an order of lanes of their own, for kernels that ignore coordinates to fail; 11 is gfx11's, at wave 32.
 */
#ifndef ROOFTILE_TILE_H
#define ROOFTILE_TILE_H

template <class element_t, class sum_t> struct simt_tile_plain {
    typedef element_t type;
    typedef sum_t acc_t;
};
struct tile_f64 : simt_tile_plain<double, double> {};
struct tile_f32 : simt_tile_plain<float, float> {};
struct tile_xf32 : simt_tile_plain<float, float> {};
struct tile_i8 : simt_tile_plain<int8_t, int32_t> {};

/* Formats as in the table of src/kernel/dtype.c: stored bits of the mantissa, bias, and what the largest codes mean. */
template <class bits_t, int mantissa_bits, int exponent_bias, bool has_infinity, bool is_fnuz>
struct simt_tile_float : simt_tile_plain<bits_t, float> {
    static constexpr int mantissa = mantissa_bits, bias = exponent_bias;
    static constexpr bool infinity = has_infinity, fnuz = is_fnuz;
};
struct tile_f16 : simt_tile_float<uint16_t, 10, 15, true, false> {};
struct tile_bf16 : simt_tile_float<uint16_t, 7, 127, true, false> {};
struct tile_e4m3 : simt_tile_float<uint8_t, 3, 7, false, false> {};
struct tile_e5m2 : simt_tile_float<uint8_t, 2, 15, true, false> {};
struct tile_e4m3fnuz : simt_tile_float<uint8_t, 3, 8, false, true> {};
struct tile_e5m2fnuz : simt_tile_float<uint8_t, 2, 16, false, true> {};

/* ext_vector_type, not vec: a vector of one element has [0] too. */
template <class element_t, int count> struct simt_tile_vector {
    typedef element_t type __attribute__((ext_vector_type(count)));
};

/* Which instruction there is: value, and on AMD how it is called. */
#if defined(__AMDGCN__)
#include "simt_tile_amd.h"
#else
#include "simt_tile_cpu.h"
#endif
#include "simt_tile_layout.h"

template <int rows, int columns, int depth, class input, class sum> struct tile {
    typedef input in;
    typedef typename input::type in_t;
    typedef sum acc_t;
    typedef simt_tile_has<rows, columns, depth, input, sum> has;
    static constexpr int m = rows, n = columns, k = depth;
    static constexpr bool supported = has::value;
    static constexpr int a_count = rows * depth / SIMT_TILE_INPUT_LANES;
    static constexpr int b_count = depth * columns / SIMT_TILE_INPUT_LANES;
    static constexpr int c_count = rows * columns / static_cast<int>(ROOFTILE_WAVE);
    static constexpr int run = SIMT_TILE_RUN(a_count, static_cast<int>(sizeof(in_t)));
    typedef typename simt_tile_vector<in_t, a_count>::type a_t;
    typedef typename simt_tile_vector<in_t, b_count>::type b_t;
    typedef typename simt_tile_vector<acc_t, c_count>::type c_t;
};

template <int m, int n, int k, class in, class acc_t>
static constexpr bool tile_supported = simt_tile_has<m, n, k, in, acc_t>::value;

template <class tile_t> __device__ unsigned tile_a_row(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_a_row<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ unsigned tile_a_k(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_a_k<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ unsigned tile_b_k(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_b_k<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ unsigned tile_b_column(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_b_column<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ unsigned tile_c_row(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_c_row<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ unsigned tile_c_column(unsigned e) SIMT_TILE_CONST
{
    return simt_tile_c_column<tile_t>(lane_id(), e);
}

template <class tile_t> __device__ typename tile_t::c_t tile_fill(typename tile_t::acc_t value) SIMT_TILE_CONST
{
    return static_cast<typename tile_t::c_t>(value);
}

template <class tile_t>
__device__ typename tile_t::a_t tile_load_a(const typename tile_t::in_t *from, size_t row, size_t k) SIMT_TILE_CONST
{
    typename tile_t::a_t a = {};
    UNROLL
    for (int e = 0; e < tile_t::a_count; ++e)
        a[e] = from[tile_a_row<tile_t>(e) * row + tile_a_k<tile_t>(e) * k];
    return a;
}

template <class tile_t>
__device__ typename tile_t::b_t tile_load_b(const typename tile_t::in_t *from, size_t k, size_t column) SIMT_TILE_CONST
{
    typename tile_t::b_t b = {};
    UNROLL
    for (int e = 0; e < tile_t::b_count; ++e)
        b[e] = from[tile_b_k<tile_t>(e) * k + tile_b_column<tile_t>(e) * column];
    return b;
}

template <class tile_t>
__device__ typename tile_t::c_t tile_load_c(const typename tile_t::acc_t *from, size_t row,
                                            size_t column) SIMT_TILE_CONST
{
    typename tile_t::c_t c = {};
    UNROLL
    for (int e = 0; e < tile_t::c_count; ++e)
        c[e] = from[tile_c_row<tile_t>(e) * row + tile_c_column<tile_t>(e) * column];
    return c;
}

template <class tile_t>
__device__ void tile_store_c(typename tile_t::acc_t *to, size_t row, size_t column,
                             typename tile_t::c_t c) SIMT_TILE_CONST
{
    UNROLL
    for (int e = 0; e < tile_t::c_count; ++e)
        to[tile_c_row<tile_t>(e) * row + tile_c_column<tile_t>(e) * column] = c[e];
}

#endif
