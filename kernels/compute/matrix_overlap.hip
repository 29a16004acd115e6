/* SPDX-License-Identifier: MIT
 *
 * What can run at the same time as the matrix unit. A step has ACC matrix instructions, each followed by RATIO other
 * instructions that are independent of it: fused multiply-adds (matrix_vector) or 16-byte loads from LDS (matrix_lds).
 * If the two units work at the same time, a step takes as long as the slower of them, otherwise as long as both.
 *
 * SPLIT 0 has both kinds in every wave: can one wave's instructions overlap? SPLIT 1 gives them to different waves: of
 * every eight, waves 4 to 7 take the others, the rest the matrix instructions. Waves go to SIMDs in turn, of which a
 * compute unit has 4 (2 on RDNA), so each SIMD has both kinds. Fences keep the order of the source; nothing in the loop
 * uses the results of the other instructions.
 *
 * Every wave with matrix instructions has one M x M matrix in `out`: the sum of its accumulators, to each element of
 * which the lanes' sum of the other instructions' results is added, its own or, with SPLIT 1, that of wave w + 4.
 * Multiply-adds count steps, x * one + one, exactly; for LDS it is what the last loads gave.
 *
 * Defines: IN, M, K, TILE_LAYOUT as in matrix_peak; ACC; RATIO; SPLIT; BLOCK work-items.
 */
#include "portable.h"
#include "tile.h"

using fragment = tile<M, M, K, IN, IN::acc_t>;
typedef fragment::in_t element;

static constexpr int CHAINS = 16; /* independent multiply-adds, or loads in flight */
static constexpr unsigned WAVES = BLOCK / ROOFTILE_WAVE, GROUP = 4;
static constexpr unsigned MATRIX_WAVES = SPLIT ? WAVES / 2 : WAVES;
typedef vec<uint32_t, 4>::type words;

struct operands {
    fragment::a_t a[ACC];
    fragment::b_t b;
};
struct sums {
    fragment::c_t c[ACC];
};

__device__ operands load_operands(const element *left, const element *right)
{
    operands from;
#pragma unroll
    for (int i = 0; i < ACC; ++i)
        from.a[i] = tile_load_a<fragment>(left + i * M * K, K, 1);
    from.b = tile_load_b<fragment>(right, M, 1);
    return from;
}

/* `extra` is this work-item's result of the other instructions; sums of integers are exact. */
__device__ void store_sums(double *out, const sums &acc, double extra)
{
    __shared__ double of_wave[WAVES];
    const double together = wave_reduce_add(extra);
    if (lane_id() == 0)
        of_wave[wave_id()] = together;
    __syncthreads();
    if (SPLIT && wave_id() / GROUP % 2 == 1)
        return;
    const unsigned mine = SPLIT ? wave_id() / (2 * GROUP) * GROUP + wave_id() % GROUP : wave_id();
    const double other = of_wave[SPLIT ? wave_id() + GROUP : wave_id()];
    double *const to = out + (blockIdx.x * static_cast<size_t>(MATRIX_WAVES) + mine) * (M * M);
#pragma unroll
    for (int e = 0; e < fragment::c_count; ++e) {
        double sum = other;
#pragma unroll
        for (int i = 0; i < ACC; ++i)
            sum += static_cast<double>(acc.c[i][e]);
        to[tile_c_row<fragment>(e) * M + tile_c_column<fragment>(e)] = sum;
    }
}

/* Uniform, so that the compiler keeps all lanes active: matrix instructions ignore which lanes are. */
__device__ bool has_role(unsigned second)
{
    return !SPLIT || opaque_uniform(wave_id() / GROUP % 2) == second;
}

__device__ sums no_sums()
{
    sums acc;
#pragma unroll
    for (int i = 0; i < ACC; ++i)
        acc.c[i] = tile_fill<fragment>(0);
    return acc;
}

extern "C" __global__ __launch_bounds__(BLOCK) void matrix_vector(double *__restrict out,
    const element *__restrict left, const element *__restrict right, float one, uint32_t iterations)
{
    float x[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
        x[i] = 0;
    const float step = opaque(one);
    sums acc = no_sums();
    if (has_role(0)) {
        const operands from = load_operands(left, right);
#pragma unroll 1
        for (uint32_t count = 0; count < iterations; ++count) {
#pragma unroll
            for (int i = 0; i < ACC; ++i) {
                acc.c[i] = tile_mma<fragment>(from.a[i], from.b, acc.c[i]);
#pragma unroll
                for (int r = 0; r < (SPLIT ? 0 : RATIO); ++r) {
                    float &chain = x[(i * RATIO + r) % CHAINS];
                    chain = opaque(fma(chain, step, step));
                }
                schedule_fence();
            }
        }
    }
    if (SPLIT && has_role(1)) {
#pragma unroll 1
        for (uint32_t count = 0; count < iterations; ++count) {
#pragma unroll
            for (int r = 0; r < ACC * RATIO; ++r)
                x[r % CHAINS] = opaque(fma(x[r % CHAINS], step, step));
        }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
        sum += x[i];
    store_sums(out, acc, static_cast<double>(sum));
}

/* Every work-item loads its own column of two packs, in turn, into as many registers as there are loads in flight. */
extern "C" __global__ __launch_bounds__(BLOCK) void matrix_lds(double *__restrict out, const element *__restrict left,
    const element *__restrict right, const uint32_t *__restrict data, uint32_t iterations)
{
    __shared__ words tile_words[2 * BLOCK];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const uint32_t first = (i * BLOCK + thread_id()) * 4;
        tile_words[i * BLOCK + thread_id()] = words{data[first], data[first + 1], data[first + 2], data[first + 3]};
    }
    __syncthreads();
    const words *const column = tile_words + thread_id();
    words value[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
        value[i] = column[i % 2 * BLOCK];
    sums acc = no_sums();
    if (has_role(0)) {
        const operands from = load_operands(left, right);
#pragma unroll 1
        for (uint32_t count = 0; count < iterations; ++count) {
#pragma unroll
            for (int i = 0; i < ACC; ++i) {
                acc.c[i] = tile_mma<fragment>(from.a[i], from.b, acc.c[i]);
#pragma unroll
                for (int r = 0; r < (SPLIT ? 0 : RATIO); ++r) {
                    words &slot = value[(i * RATIO + r) % CHAINS];
                    keep(slot);
                    memory_fence_compiler();
                    slot = column[(i * RATIO + r) % 2 * BLOCK];
                }
                schedule_fence();
            }
        }
    }
    if (SPLIT && has_role(1)) {
#pragma unroll 1
        for (uint32_t count = 0; count < iterations; ++count) {
#pragma unroll
            for (int r = 0; r < ACC * RATIO; ++r) {
                keep(value[r % CHAINS]);
                memory_fence_compiler();
                value[r % CHAINS] = column[r % 2 * BLOCK];
            }
        }
    }
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
        sum += value[i][0] + 3 * value[i][1] + 5 * value[i][2] + 7 * value[i][3];
    store_sums(out, acc, static_cast<double>(sum));
}
