/* SPDX-License-Identifier: MIT
 *
 * The empirical roofline: every element is loaded once, goes through FMAS fused multiply-adds, and is stored. From FMAS
 * 1 (all memory) to some hundred (all arithmetic) the rate follows min(peak, intensity * bandwidth), rounded at the
 * ridge depending on how well the two overlap. A lane holds DEPTH vectors, each an independent chain.
 *
 * x -> fma(x, -1/2, c) is a contraction: it stays near its fixed point however often it is done, and its error too.
 *
 * Defines: T; VEC elements per vector; DEPTH vectors per lane; FMAS per element; BLOCK work-items.
 */
#include "portable.h"

typedef typename vec<T, VEC>::type pack;

/* FMAs per iteration of the loop. */
static constexpr int UNROLLED = FMAS < 32 ? FMAS : 32;
static_assert(FMAS % UNROLLED == 0, "FMAS is at most 32 or a multiple of it");

extern "C" __global__ __launch_bounds__(BLOCK) void intensity_sweep(
    T *__restrict out, const T *__restrict in, T half, T add, uint64_t tiles)
{
    const pack slope = static_cast<pack>(opaque(T(0) - half)), shift = static_cast<pack>(opaque(add));
#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t first = tile * DEPTH * BLOCK + threadIdx.x;
        pack x[DEPTH];
#pragma unroll
        for (int k = 0; k < DEPTH; ++k)
            x[k] = reinterpret_cast<const pack *>(in)[first + static_cast<uint64_t>(k) * BLOCK];
#pragma unroll 1
        for (int done = 0; done < FMAS; done += UNROLLED) {
#pragma unroll
            for (int step = 0; step < UNROLLED; ++step) {
#pragma unroll
                for (int k = 0; k < DEPTH; ++k)
                    x[k] = fma(slope, x[k], shift);
            }
        }
#pragma unroll
        for (int k = 0; k < DEPTH; ++k)
            reinterpret_cast<pack *>(out)[first + static_cast<uint64_t>(k) * BLOCK] = x[k];
    }
}
