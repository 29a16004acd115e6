/* SPDX-License-Identifier: MIT
 *
 * Round trip of an atomic that returns the old value: each adds what the one before returned, so they form a chain, and
 * the numbers are Fibonacci's modulo 2^32: one that was lost or done twice shows. One lane; in memory, where the atomic
 * units of the L2 do it, or in LDS.
 *
 * Defines: LDS: 1 in the workgroup's memory.
 */
#include "portable.h"

/* Steps per iteration of the loop. */
static constexpr unsigned UNROLLED = 32;

extern "C" __global__ __launch_bounds__(64) void atomic_chase(uint32_t *__restrict out, uint32_t *__restrict cell,
    uint64_t *__restrict cycles, const uint32_t *__restrict start, uint32_t phases, uint32_t loops)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    __shared__ uint32_t local[1];
    /* An address that could differ between lanes: for a uniform one compilers first add up the lanes of a wave. */
    uint32_t *const at = (LDS ? local : cell) + opaque(0u);
    atomicExch(at, start[0]);
    uint32_t value = opaque(start[1]);
    uint64_t shortest = mask;
#pragma unroll 1
    for (uint32_t phase = 0; phase < phases; ++phase) {
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
#pragma unroll 1
        for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
            for (unsigned step = 0; step < UNROLLED; ++step)
                value = opaque(atomicAdd(at, value));
        }
        const uint64_t end = read_cycles();
        const uint64_t taken = ((end - begin) & mask) - ((begin - before) & mask);
        shortest = taken < shortest ? taken : shortest;
    }
    out[0] = value;
    out[1] = atomicAdd(at, 0u);
    cycles[0] = shortest;
}
