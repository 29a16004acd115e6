/* SPDX-License-Identifier: MIT
 *
 * Latency of moving a value between lanes: a chain in which each move passes on what the one before brought. The
 * functions below are the ways. Through the LDS hardware on AMD: a shuffle (ds_bpermute: each lane says from where), a
 * push (ds_permute: each says where to) and a fixed exchange (ds_swizzle). In the vector unit: a rotation within 16
 * lanes (DPP) and a permutation of 16 lanes (v_permlane16, v_permlanex16). All are rotations, or exchanges that the
 * next one undoes in part only: a move that was skipped shows.
 *
 * Defines: OP.
 */
#include "portable.h"

/* Steps per iteration of the loop. */
static constexpr unsigned UNROLLED = 32;

/* Lane l of 16 takes the value of lane l - 1: four bits each, from lane 0 on. */
static constexpr uint32_t BEFORE_LOW = 0x6543210fu, BEFORE_HIGH = 0xedcba987u;

template <class value_t> __device__ value_t move_shuffle(value_t value, unsigned next, unsigned)
{
    return __shfl(value, next);
}

#if !defined(__CUDACC__)
template <class value_t> __device__ value_t move_push(value_t value, unsigned next, unsigned)
{
    return push_lane(value, next);
}
#endif

template <class value_t> __device__ value_t move_swizzle(value_t value, unsigned, unsigned step)
{
    return step % 2 ? xor_lane<5>(value) : xor_lane<26>(value);
}

template <class value_t> __device__ value_t move_dpp(value_t value, unsigned, unsigned)
{
    return row_rotate(value);
}

template <class value_t> __device__ value_t move_permlane(value_t value, unsigned, unsigned)
{
    return row_permute(value, BEFORE_LOW, BEFORE_HIGH);
}

template <class value_t> __device__ value_t move_permlanex(value_t value, unsigned, unsigned)
{
    return row_permute_other(value, BEFORE_LOW, BEFORE_HIGH);
}

extern "C" __global__ __launch_bounds__(64) void lane_exchange(uint32_t *__restrict out, uint64_t *__restrict cycles,
    const uint32_t *__restrict start, uint32_t phases, uint32_t loops)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    const unsigned next = lane_id() + 1;
    uint32_t value = opaque(start[threadIdx.x]);
    uint64_t shortest = mask;
#pragma unroll 1
    for (uint32_t phase = 0; phase < phases; ++phase) {
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
#pragma unroll 1
        for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
            for (unsigned step = 0; step < UNROLLED; ++step)
                value = opaque(OP(value, next, step));
        }
        const uint64_t end = read_cycles();
        const uint64_t taken = ((end - begin) & mask) - ((begin - before) & mask);
        shortest = taken < shortest ? taken : shortest;
    }
    /* One more, because 32 steps of most ways bring all values back to where they began. */
    out[threadIdx.x] = OP(value, next, 0);
    cycles[threadIdx.x] = shortest;
}
