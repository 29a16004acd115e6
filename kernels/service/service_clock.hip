/* SPDX-License-Identifier: MIT
 *
 * How fast the device runs right now: one wave reads the counter of core clocks and the counter of constant rate, for
 * as long as the host asks (at least 20 us). Both are read by the same wave, because counters of two XCDs do not
 * compare. The loop adds differences, because gfx11 counts clocks in 20 bits, which wrap after 0.4 ms; the longest step
 * tells whether a wrap was missed. Each pair is read in the same order, so the time of a read cancels.
 *
 * The constant counter steps by 10 ns on AMD, but by 32 ns to 1 us on NVIDIA (%globaltimer, although its unit is the
 * nanosecond), which would be 5 % of 20 us. So measuring starts and ends where the counter has just stepped: the
 * remaining error is one pass of the loop at either end, less than 0.1 us.
 */
#include "portable.h"

/* Words of `report`, in memory that both sides see. The host writes the first two. */
enum { WANTED_TICKS, MOST_LOOPS, CYCLES, TICKS, LOOPS, LONGEST_STEP, COUNTER_BITS, DONE };

extern "C" __global__ __launch_bounds__(1) void service_clock(uint64_t *report, uint32_t *done)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    const uint64_t wanted = load_host(&report[WANTED_TICKS]), most = load_host(&report[MOST_LOOPS]);
    const uint64_t before = read_realtime();
    uint64_t start = before, cycles_before = read_cycles();
    uint64_t cycles = 0, longest = 0, loops = 0;
#pragma unroll 1
    while (start == before && loops < most) {
        start = read_realtime();
        cycles_before = read_cycles();
        ++loops;
    }
    uint64_t ticks_before = start;
    loops = 0;
#pragma unroll 1
    do {
        const uint64_t ticks_now = read_realtime();
        const uint64_t cycles_now = read_cycles();
        const uint64_t step = ticks_now - ticks_before;
        cycles += (cycles_now - cycles_before) & mask;
        longest = step > longest ? step : longest;
        ticks_before = ticks_now;
        cycles_before = cycles_now;
        ++loops;
    } while (ticks_before - start < wanted && loops < most);
    report[CYCLES] = cycles;
    report[TICKS] = ticks_before - start;
    report[LOOPS] = loops;
    report[LONGEST_STEP] = longest;
    report[COUNTER_BITS] = cycle_counter_bits();
    done[0] = 1;
    store_host(&report[DONE], static_cast<uint64_t>(1));
}
