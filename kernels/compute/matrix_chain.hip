/* SPDX-License-Identifier: MIT
 *
 * Latency of the matrix instructions: one wave, one accumulator, each instruction adds to the result of the one before.
 * That is the dependency through C, as a GEMM has it; hardware forwards it, so it may be shorter than that through A or
 * B.
 *
 * Clocks are read around loops * UNROLLED instructions, few enough for a counter of 20 bits, and the shortest of all
 * rounds counts: the first ones still load the loop into the instruction cache. The time of two consecutive reads of
 * the clock is subtracted. Each round restarts from zero, and totals are halved, as in matrix_peak.
 *
 * Defines: IN, M, K as in matrix_peak; XF32 1 for tile_xf32 in place of IN; UNROLLED instructions per iteration of the
 * loop; TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"

#if XF32
using in = tile_xf32;
#else
using in = IN;
#endif
using fragment = tile<M, M, K, in, in::acc_t>;
typedef fragment::in_t element;
template <class type_t> struct total_of {
    typedef type_t type;
};
template <> struct total_of<int32_t> {
    typedef uint32_t type;
};
typedef total_of<fragment::acc_t>::type total_t;
typedef simt_tile_vector<total_t, fragment::c_count>::type totals;

__device__ static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Registers for two waves per SIMD, for the reason given in matrix_peak.hip. */
extern "C" __global__ __launch_bounds__(ROOFTILE_WAVE, 2) void matrix_chain(double *__restrict out,
    uint64_t *__restrict cycles, const element *__restrict left, const element *__restrict right, uint32_t loops,
    uint32_t rounds)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    const fragment::a_t a = tile_load_a<fragment>(left, fragment::a_depth, 1);
    const fragment::b_t b = tile_load_b<fragment>(right, M, 1);
    totals total = static_cast<totals>(total_t(0));
    uint64_t shortest = mask, overhead = mask;
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; ++round) {
        fragment::c_t acc = tile_fill<fragment>(0);
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
#pragma unroll 1
        for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
            for (int step = 0; step < UNROLLED; ++step)
                acc = tile_mma<fragment>(a, b, acc);
        }
        total = total / static_cast<totals>(total_t(2)) + __builtin_bit_cast(totals, acc);
        keep(total[0]); /* before the second clock: the chain ends with its result */
        schedule_fence();
        const uint64_t end = read_cycles();
        shortest = smaller(shortest, (end - begin) & mask);
        overhead = smaller(overhead, (begin - before) & mask);
    }
#pragma unroll
    for (int e = 0; e < fragment::c_count; ++e)
        out[tile_c_row<fragment>(e) * M + tile_c_column<fragment>(e)] = static_cast<double>(total[e]);
    cycles[lane_id()] = shortest > overhead ? shortest - overhead : 0;
}
