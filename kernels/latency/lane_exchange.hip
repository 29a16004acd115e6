/* SPDX-License-Identifier: MIT
 *
 * Latency of moving a value between lanes: a chain in which each move passes on what the one before brought. The ways
 * are rotate_OP below: a shuffle through the LDS hardware (ds_bpermute on AMD), and a rotation within 16 lanes in the
 * vector unit (DPP on AMD). After n steps lane l holds the value that began n lanes away: a move that was skipped
 * shows.
 *
 * Defines: OP.
 */
#include "portable.h"

/* Steps between two looks at the loop counter. */
static constexpr unsigned UNROLLED = 32;

template <class value_t> __device__ value_t rotate_shuffle(value_t value, unsigned from)
{
    return __shfl(value, from);
}

template <class value_t> __device__ value_t rotate_row(value_t value, unsigned)
{
    return row_rotate(value);
}

KERNEL __launch_bounds__(64) void lane_exchange(uint32_t *__restrict out, uint64_t *__restrict cycles,
                                                const uint32_t *__restrict start, uint32_t phases, uint32_t loops)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    const unsigned from = lane_id() + 1;
    uint32_t value = opaque(start[threadIdx.x]);
    uint64_t shortest = mask;
    NO_UNROLL
    for (uint32_t phase = 0; phase < phases; ++phase) {
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
        NO_UNROLL
        for (uint32_t loop = 0; loop < loops; ++loop) {
            UNROLL
            for (unsigned step = 0; step < UNROLLED; ++step)
                value = opaque(OP(value, from));
        }
        const uint64_t end = read_cycles();
        const uint64_t taken = ((end - begin) & mask) - ((begin - before) & mask);
        shortest = taken < shortest ? taken : shortest;
    }
    /* One more, because 32 steps bring all rows back to where they began. */
    out[threadIdx.x] = OP(value, from);
    cycles[threadIdx.x] = shortest;
}
KERNEL_EXPORT(lane_exchange)
