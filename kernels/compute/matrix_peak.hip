/* SPDX-License-Identifier: MIT
 *
 * Peak rate of the matrix instructions, on registers.
 *
 * Each wave has ACC independent accumulators, acc[i] += a[i] * b[j], j cycling through FACTORS operands so that the
 * inputs of the multipliers change with every instruction, as those of real data do. ACC has to cover the latency of
 * the instruction (on CDNA passes + 4 of 4 clocks, that is two to four instructions), and accumulators and operands
 * must fit the registers. Work is done in rounds, each of which restarts from zero: sums that only grew would in the
 * end no longer change. A total is half the one before plus the new sum; integers wrap. Every wave does the same, and
 * its total is one M x M matrix of the output.
 *
 * Defines: IN element type of tile.h; OUT what it accumulates in; M rows and columns, K depth of the instruction;
 * SPARSE 2 where A has two of every four, else 1; ACC, FACTORS; BLOCK work-items; WAVES per SIMD for which there must
 * be registers; TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"

using fragment = tile<M, M, K, IN, OUT, SPARSE>;
typedef fragment::in_t element;

/* The type of totals: unsigned where sums wrap, float where C holds the bits of narrow floats. */
template <class type_t> struct total_of {
    typedef type_t type;
};
template <> struct total_of<int32_t> {
    typedef uint32_t type;
};
template <> struct total_of<uint16_t> {
    typedef float type;
};
typedef total_of<fragment::acc_t>::type total_t;
typedef simt_tile_vector<total_t, fragment::c_count>::type totals;

template <class out_t, class c_t> __device__ totals read_totals(c_t c)
{
    if constexpr (sizeof(typename simt_tile_sum<out_t>::type) == 2) {
        totals values = {};
#pragma unroll
        for (int e = 0; e < fragment::c_count; ++e)
            values[e] = tile_decode<out_t>(static_cast<fragment::acc_t>(c[e]));
        return values;
    } else {
        return __builtin_bit_cast(totals, c);
    }
}

/* WAVES is 2: with the registers of one wave alone LLVM moves the f64 accumulators of gfx90a between the two halves of
 * the register file in every step. Those of gfx908 are always in the other half. */
extern "C" __global__ __launch_bounds__(BLOCK, WAVES) void matrix_peak(double *__restrict out,
    const element *__restrict left, const element *__restrict right, uint32_t index, uint32_t iterations,
    uint32_t rounds)
{
    fragment::a_t a[ACC];
    fragment::b_t b[FACTORS];
#pragma unroll
    for (int i = 0; i < ACC; ++i)
        a[i] = tile_load_a<fragment>(left + i * M * fragment::a_depth, fragment::a_depth, 1);
#pragma unroll
    for (int j = 0; j < FACTORS; ++j)
        b[j] = tile_load_b<fragment>(right + j * fragment::b_depth * M, M, 1);
    /* The instruction takes a vector register: one for the whole loop. */
    const uint32_t positions = SPARSE == 2 ? opaque(index) : 0;
    totals total = static_cast<totals>(total_t(0));
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; ++round) {
        fragment::c_t acc[ACC];
#pragma unroll
        for (int i = 0; i < ACC; ++i)
            acc[i] = tile_fill<fragment>(0);
#pragma unroll 1
        for (uint32_t step = 0; step < iterations; ++step) {
#pragma unroll
            for (int j = 0; j < FACTORS; ++j) {
#pragma unroll
                for (int i = 0; i < ACC; ++i)
                    acc[i] = tile_mma<fragment>(a[i], positions, b[j], acc[i]);
            }
        }
        totals sum = read_totals<fragment::out>(acc[0]);
#pragma unroll
        for (int i = 1; i < ACC; ++i)
            sum += read_totals<fragment::out>(acc[i]);
        total = total / static_cast<totals>(total_t(2)) + sum;
    }
    /* All kinds of sums are exact in f64, so the output has one type. */
    double *const mine = out + (blockIdx.x * static_cast<size_t>(BLOCK / wave_size()) + wave_id()) * (M * M);
#pragma unroll
    for (int e = 0; e < fragment::c_count; ++e)
        mine[tile_c_row<fragment>(e) * M + tile_c_column<fragment>(e)] = static_cast<double>(total[e]);
}
