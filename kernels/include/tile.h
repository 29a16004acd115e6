/* SPDX-License-Identifier: MIT
 *
 * Matrix fragments: D = A * B + C by one wave, over the matrix instructions of the target (MFMA of gfx908, gfx90a,
 * gfx94x, gfx950; WMMA of gfx11, gfx12, gfx1250; mma.sync of NVIDIA) and over plain loops on the CPU device. A kernel
 * includes it after portable.h.
 *
 *     using F = tile<16, 16, 16, tile_f16, float>;              M, N, K: A is M x K, B is K x N, C and D are M x N
 *     F::c_t c = tile_fill<F>(0);
 *     for (unsigned k = 0; k < depth; k += F::k)
 *         c = tile_mma<F>(tile_load_a<F>(a + k, depth, 1), tile_load_b<F>(b + k * n, n, 1), c);
 *     tile_store_c<F>(d, n, 1, c);
 *
 * Element types, and F::in_t, how memory holds one element
 *   tile_f64                              double
 *   tile_f32 tile_xf32                    float; the instruction for xf32 reads 10 bits of its mantissa
 *   tile_f16 tile_bf16                    uint16_t, the bits
 *   tile_e4m3 tile_e5m2                   uint8_t, the bits: OCP's 8-bit formats
 *   tile_e4m3fnuz tile_e5m2fnuz           uint8_t, the bits: FNUZ formats
 *   tile_i8                               int8_t
 *   tile_i4 tile_e2m1 tile_e2m3 tile_e3m2 uint8_t: numbers of 4, 4, 6, 6 bits, packed along k in A and in B, from the
 *                                         lowest bit of the first byte on
 *   tile_mx<n>                            the type with number n of the scaled instructions: e4m3, e5m2, e2m3, e3m2,
 *                                         e2m1
 * The names are the manifests' dtypes, so a define may be "IN": "tile_{dtype}". IN::acc_t, which F::acc_t has to be, is
 * double for f64, int32_t for i8 and i4 (sums wrap) and float for the others. f16 and bf16 may also accumulate in their
 * own type; F::acc_t then is its bits. Products of f16 and narrower types are exact. In which order the K products are
 * added, and what is rounded in between, is up to the hardware; gfx908 and gfx90a may take denormals of f16 and bf16 as
 * 0.
 *
 * Is there such an instruction?
 *   tile_supported<M, N, K, in, acc>      a constant. The CPU device has all shapes of MFMA at wave 64, those of gfx12
 *                                         or of TILE_LAYOUT at wave 32. Of a tile that is not supported only tile_mma
 *                                         does not compile
 * Manifests ask matrix_k(dtype) and device.matrix_size for the same, and `require` it: see matrix_peak.json.
 *
 * What a lane holds
 *   F::a_t b_t c_t                        vectors of F::a_count, b_count, c_count elements, with [e] and element-wise
 *                                         operators. Each element of a matrix has one home (lane, e); on gfx11 those of
 *                                         A and B have two, and both must be filled. On gfx11 a C of f16 has elements
 *                                         of 32 bits, whose upper half is unused
 *   tile_a_row<F>(e) tile_a_k<F>(e)       where element e of this lane is in A; k counts elements (bytes, of packed
 *                                         types)
 *   tile_b_k<F>(e) tile_b_column<F>(e)    in B
 *   tile_c_row<F>(e) tile_c_column<F>(e)  in C and D
 *   F::run F::b_run                       elements e to e + run - 1, where run divides e, have consecutive k: one load
 *                                         if they are contiguous in memory. b_run is B's, which differs where A is
 *                                         sparse
 * A kernel must not assume anything else: layouts differ between targets, and the CPU has one that no hardware has.
 *
 *   tile_k_offset<F>(k)                   an order of 0 .. K - 1 in which both A and B may be laid out, as their orders
 *                                         of k only have to agree. It makes each lane's part of a row contiguous
 *   F::a_rows F::b_columns                of how many rows of A (columns of B) a lane has elements: 1, or 2 on NVIDIA
 *   F::row_fragment                       elements in each of them. In that order those of number p begin at offset
 *                                         tile_k_offset<F>(tile_a_k<F>(0)), a multiple of row_fragment, of row
 *                                         tile_a_row<F>(0) + p * M / F::a_rows; they are elements p * row_fragment and
 *                                         on of the lane. Likewise B
 *   tile_adjacent_lanes                   so many lanes in a row have contiguous row fragments of the same row: 4 on
 *                                         NVIDIA, else 1. It matters to layouts in LDS (gemm/gemm_k_tile.h)
 *
 * Work. Every lane of the wave takes part in tile_mma; none may have returned. Strides are in elements.
 *   tile_fill<F>(value)                   a C of equal elements
 *   tile_load_a<F>(from, row, k)          element (r, q) is from[r * row + q * k]
 *   tile_load_b<F>(from, k, column)       element (q, s) is from[q * k + s * column]
 *   tile_load_a<F>(from, row)             with k = 1: runs in loads of up to 16 bytes, to which `from` and `row` are
 *   tile_load_b<F>(from, column)          (`column` is) aligned
 *   tile_load_c<F>(from, row, column)     of acc_t
 *   tile_store_c<F>(to, row, column, c)
 *   tile_mma<F>(a, b, c)                  A * B + C: on a GPU one instruction
 *
 * Sparse A, two of every four: tile<M, N, K, in, acc, 2>, over SMFMAC (gfx94x, gfx950) and SWMMAC (gfx12). Of every
 * four consecutive k A has two elements. So A is M x K/2, and tile_a_k counts what it has; B and C are unchanged.
 *   tile_mma<F>(a, index, b, c)           index: for each two elements of the lane, in their order from the lowest bit,
 *                                         4 bits: their positions among the four, ascending, 2 bits each, the first one
 *                                         low. The same positions p < q everywhere are an index of (p + 4 * q) *
 *                                         0x11111111 in every lane, whatever the layout
 *
 * Conversions, for all types but the packed
 *   tile_decode<in>(code)                 its value, exactly: float, of f64 double, of i8 int32_t
 *   tile_decode4<in>(codes)               the same of four codes in a vector, for types of at most 32 bits
 *   tile_encode<in>(x)                    the code nearest to a float, ties to even. f16 and bf16 overflow to infinity;
 *                                         8-bit floats saturate: a finite x becomes a finite number. Infinity stays
 *                                         infinity, or becomes NaN in types that have none. i8 saturates, its NaN is 0.
 *                                         Any other NaN gives a NaN. By v_cvt_pk_fp8_f32 and its like where the target
 *                                         has one for the type, else by arithmetic
 *   tile_encode4<in>(x)                   the same of four floats in a vector: two instructions for 8-bit floats
 *   tile_quantise(x, rate)                i8 of x * rate, for the rate 127 / largest magnitude
 *
 * TILE_LAYOUT, a define, for the CPU device: 0 is MFMA's layout at wave 64 and gfx12's at wave 32; 1 a permuted one, in
 * which A, B and C each have an order of lanes of their own, so that kernels which ignore the coordinates fail; at wave
 * 32 also 11, gfx11's, 1250, gfx1250's, and 3, NVIDIA's.
 */
#ifndef ROOFTILE_TILE_H
#define ROOFTILE_TILE_H

template <class element_t, class sum_t> struct simt_tile_plain {
    typedef element_t type;
    typedef sum_t acc_t;
    static constexpr int bits = 8 * sizeof(element_t), mantissa = 0;
    static constexpr bool fnuz = false;
};
struct tile_f64 : simt_tile_plain<double, double> {};
struct tile_f32 : simt_tile_plain<float, float> {};
struct tile_xf32 : simt_tile_plain<float, float> {};
struct tile_i8 : simt_tile_plain<int8_t, int32_t> {};

/* Formats as in the table of src/manifest/dtype.c: all bits, mantissa bits, bias, and what the largest codes mean. */
enum simt_tile_top { SIMT_TILE_INFINITY, SIMT_TILE_NAN, SIMT_TILE_FNUZ, SIMT_TILE_FINITE };
template <class element_t, int all_bits, int mantissa_bits, int exponent_bias, simt_tile_top top>
struct simt_tile_float : simt_tile_plain<element_t, float> {
    static constexpr int bits = all_bits, mantissa = mantissa_bits, bias = exponent_bias;
    static constexpr bool infinity = top == SIMT_TILE_INFINITY, fnuz = top == SIMT_TILE_FNUZ,
                          finite = top == SIMT_TILE_FINITE;
};
struct tile_f16 : simt_tile_float<uint16_t, 16, 10, 15, SIMT_TILE_INFINITY> {};
struct tile_bf16 : simt_tile_float<uint16_t, 16, 7, 127, SIMT_TILE_INFINITY> {};
struct tile_e4m3 : simt_tile_float<uint8_t, 8, 3, 7, SIMT_TILE_NAN> {};
struct tile_e5m2 : simt_tile_float<uint8_t, 8, 2, 15, SIMT_TILE_INFINITY> {};
struct tile_e4m3fnuz : simt_tile_float<uint8_t, 8, 3, 8, SIMT_TILE_FNUZ> {};
struct tile_e5m2fnuz : simt_tile_float<uint8_t, 8, 2, 16, SIMT_TILE_FNUZ> {};
/* OCP Microscaling Formats 1.0 */
struct tile_e2m3 : simt_tile_float<uint8_t, 6, 3, 1, SIMT_TILE_FINITE> {};
struct tile_e3m2 : simt_tile_float<uint8_t, 6, 2, 3, SIMT_TILE_FINITE> {};
struct tile_e2m1 : simt_tile_float<uint8_t, 4, 1, 1, SIMT_TILE_FINITE> {};
struct tile_i4 : simt_tile_plain<uint8_t, int32_t> {
    static constexpr int bits = 4;
};

template <int number> struct simt_tile_mx;
template <> struct simt_tile_mx<0> {
    typedef tile_e4m3 type;
};
template <> struct simt_tile_mx<1> {
    typedef tile_e5m2 type;
};
template <> struct simt_tile_mx<2> {
    typedef tile_e2m3 type;
};
template <> struct simt_tile_mx<3> {
    typedef tile_e3m2 type;
};
template <> struct simt_tile_mx<4> {
    typedef tile_e2m1 type;
};
template <int number> using tile_mx = typename simt_tile_mx<number>::type;

/* An element of C: a number, or the bits of one. */
template <class sum_t> struct simt_tile_sum {
    typedef sum_t type;
};
template <> struct simt_tile_sum<tile_f16> {
    typedef uint16_t type;
};
template <> struct simt_tile_sum<tile_bf16> {
    typedef uint16_t type;
};

/* Unlike vec, a vector of one element has [0] too. */
template <class element_t, int count> struct simt_tile_vector : simt_vec_of<element_t, count> {
};

/* Values of SIMT_TILE_LAYOUT. */
#define SIMT_TILE_PERMUTED 1
#define SIMT_TILE_MFMA 2
#define SIMT_TILE_NVIDIA 3
#define SIMT_TILE_GFX11 11
#define SIMT_TILE_GFX12 12
#define SIMT_TILE_GFX1250 1250
/* Defines SIMT_TILE_LAYOUT, and simt_tile_has: which instructions there are, and how they are called. */
#if defined(__AMDGCN__)
#include "simt_tile_amd.h"
#elif defined(__CUDACC__)
#include "simt_tile_nvidia.h"
#else
#include "simt_tile_cpu.h"
#endif
#include "simt_tile_layout.h"
#include "simt_tile_number.h"

template <int rows, int columns, int depth, class input, class sum, int sparsity = 1> struct tile {
    typedef input in;
    typedef typename input::type in_t;
    typedef sum out;
    typedef typename simt_tile_sum<sum>::type acc_t;
    typedef simt_tile_has<rows, columns, depth, input, sum, sparsity> has;
    static constexpr int m = rows, n = columns, k = depth, sparse = sparsity;
    static constexpr bool supported = has::value;
    static constexpr int in_bytes = sizeof(in_t);
    /* Elements along k, in memory. */
    static constexpr int b_depth = depth * input::bits / (8 * in_bytes), a_depth = b_depth / sparsity;
    static constexpr int a_count = rows * a_depth / SIMT_TILE_INPUT_LANES;
    static constexpr int b_count = b_depth * columns / SIMT_TILE_INPUT_LANES;
    static constexpr int c_count = rows * columns / static_cast<int>(ROOFTILE_WAVE);
    static constexpr int a_rows = SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA ? 2 : 1, b_columns = a_rows;
    static constexpr int row_fragment = a_count / a_rows;
    static constexpr int run = SIMT_TILE_RUN(a_count, in_bytes), b_run = run * sparsity;
    typedef typename simt_tile_vector<in_t, a_count>::type a_t;
    typedef typename simt_tile_vector<in_t, b_count>::type b_t;
    typedef typename simt_tile_vector<SIMT_TILE_SUM(acc_t), c_count>::type c_t;
};

static constexpr unsigned tile_adjacent_lanes = SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA ? 4 : 1;

template <int m, int n, int k, class in, class acc_t, int sparsity = 1>
static constexpr bool tile_supported = simt_tile_has<m, n, k, in, acc_t, sparsity>::value;

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

template <class tile_t> __device__ unsigned tile_k_offset(unsigned k) SIMT_TILE_CONST
{
    constexpr unsigned runs = tile_t::row_fragment / tile_t::run, blocks = tile_t::a_depth / tile_t::run;
    constexpr unsigned distance = blocks / runs; /* in runs, between those of a lane */
    const unsigned block = k / tile_t::run;
    return (block % distance * runs + block / distance) * tile_t::run + k % tile_t::run;
}

template <class tile_t> __device__ typename tile_t::c_t tile_fill(typename tile_t::acc_t value) SIMT_TILE_CONST
{
    return static_cast<typename tile_t::c_t>(value);
}

template <class tile_t>
__device__ typename tile_t::a_t tile_load_a(const typename tile_t::in_t *from, size_t row, size_t k) SIMT_TILE_CONST
{
    typename tile_t::a_t a = {};
#pragma unroll
    for (int e = 0; e < tile_t::a_count; ++e)
        a[e] = from[tile_a_row<tile_t>(e) * row + tile_a_k<tile_t>(e) * k];
    return a;
}

template <class tile_t>
__device__ typename tile_t::b_t tile_load_b(const typename tile_t::in_t *from, size_t k, size_t column) SIMT_TILE_CONST
{
    typename tile_t::b_t b = {};
#pragma unroll
    for (int e = 0; e < tile_t::b_count; ++e)
        b[e] = from[tile_b_k<tile_t>(e) * k + tile_b_column<tile_t>(e) * column];
    return b;
}

/* A run of a fragment, in accesses of up to 16 bytes. */
template <class fragment_t, int run, class in_t>
__device__ static void simt_tile_copy(fragment_t &to, int at, const in_t *from)
{
    constexpr int whole = run * static_cast<int>(sizeof(in_t));
    constexpr int bytes = whole % 16 == 0 ? 16 : whole % 8 == 0 ? 8 : whole;
    constexpr int each = bytes / static_cast<int>(sizeof(in_t));
#pragma unroll
    for (int e = 0; e < run; e += each) {
        typename simt_tile_vector<in_t, each>::type part;
        __builtin_memcpy(&part, __builtin_assume_aligned(from + e, bytes), bytes);
#pragma unroll
        for (int i = 0; i < each; ++i)
            to[at + e + i] = part[i];
    }
}

template <class tile_t>
__device__ typename tile_t::a_t tile_load_a(const typename tile_t::in_t *from, size_t row) SIMT_TILE_CONST
{
    typename tile_t::a_t a = {};
#pragma unroll
    for (int e = 0; e < tile_t::a_count; e += tile_t::run)
        simt_tile_copy<typename tile_t::a_t, tile_t::run>(
            a, e, from + tile_a_row<tile_t>(e) * row + tile_a_k<tile_t>(e));
    return a;
}

template <class tile_t>
__device__ typename tile_t::b_t tile_load_b(const typename tile_t::in_t *from, size_t column) SIMT_TILE_CONST
{
    typename tile_t::b_t b = {};
#pragma unroll
    for (int e = 0; e < tile_t::b_count; e += tile_t::b_run)
        simt_tile_copy<typename tile_t::b_t, tile_t::b_run>(
            b, e, from + tile_b_column<tile_t>(e) * column + tile_b_k<tile_t>(e));
    return b;
}

__device__ static inline int8_t tile_quantise(float value, float rate)
{
    return tile_encode<tile_i8>(value * rate);
}

template <class tile_t>
__device__ typename tile_t::c_t tile_load_c(
    const typename tile_t::acc_t *from, size_t row, size_t column) SIMT_TILE_CONST
{
    typename tile_t::c_t c = {};
#pragma unroll
    for (int e = 0; e < tile_t::c_count; ++e)
        c[e] = from[tile_c_row<tile_t>(e) * row + tile_c_column<tile_t>(e) * column];
    return c;
}

template <class tile_t>
__device__ void tile_store_c(
    typename tile_t::acc_t *to, size_t row, size_t column, typename tile_t::c_t c) SIMT_TILE_CONST
{
#pragma unroll
    for (int e = 0; e < tile_t::c_count; ++e)
        to[tile_c_row<tile_t>(e) * row + tile_c_column<tile_t>(e) * column] = static_cast<typename tile_t::acc_t>(c[e]);
}

#endif
