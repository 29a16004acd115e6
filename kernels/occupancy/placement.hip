/* SPDX-License-Identifier: MIT
 *
 * Where waves run. Each wave asks the hardware which SIMD it is on, counts itself in while it stays there, and out
 * again. The largest count of a SIMD is the occupancy that it really had. A second launch (placement_count) derives
 * from the locations which units there are, how many workgroups each had, and whether workgroups went to the XCCs in
 * turn.
 *
 * A location has 14 bits, the same for all targets; what a target does not have is 0:
 *
 *     | XCC 13..10 | shader engine 9..7 | shader array 6 | CU or WGP 5..2 | SIMD 1..0 |
 *
 *   gfx9          HW_ID: SIMD 5:4, CU 11:8, SH (array) 12, SE from 13 (3 bits on gfx908 and gfx90a, 2 on others, where
 *                 SEs are those of an XCC); gfx940 and later: XCC_ID 3:0
 *   gfx10 to 12   HW_ID1: SIMD 9:8, WGP 13:10, SA 16, SE 20:18. The first CU of a WGP has SIMDs 0 and 1, the second 2
 *                 and 3
 *   CPU (x86-64)  the processor's number in place of everything above the SIMD
 *
 * Sources: the ISA manuals' HW_ID and HW_ID1; LLVM's SIDefines.h for the registers' numbers; HIP's __smid.
 *
 * Defines: BLOCK work-items; UNIT_BITS: bits of a location below the unit that a workgroup lives in (2; 1 for a CU of a
 * WGP).
 */
#include "portable.h"

static constexpr unsigned LOCATIONS = 1u << 14;

__device__ static constexpr unsigned lanes()
{
    return BLOCK < wave_size() ? BLOCK : wave_size();
}

/* Waves of a workgroup; a workgroup of one work-item (the CPU device) is a wave. */
__device__ static constexpr unsigned waves()
{
    return BLOCK / lanes();
}

#if defined(__AMDGCN__)
/* s_getreg: `count` bits from bit `first` on of hardware register `number`. */
#define HARDWARE_BITS(number, first, count)                                                                            \
    static_cast<uint32_t>(__builtin_amdgcn_s_getreg((number) | (first) << 6 | ((count)-1) << 11))

__device__ static inline uint32_t location()
{
#if defined(__GFX9__)
    uint32_t simd = HARDWARE_BITS(4, 4, 2), unit = HARDWARE_BITS(4, 8, 4), array = HARDWARE_BITS(4, 12, 1);
#if defined(__gfx908__) || defined(__gfx90a__)
    uint32_t engine = HARDWARE_BITS(4, 13, 3);
#else
    uint32_t engine = HARDWARE_BITS(4, 13, 2);
#endif
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
    uint32_t xcc = HARDWARE_BITS(20, 0, 4);
#else
    uint32_t xcc = 0;
#endif
#else
    uint32_t simd = HARDWARE_BITS(23, 8, 2), unit = HARDWARE_BITS(23, 10, 4), array = HARDWARE_BITS(23, 16, 1);
    uint32_t engine = HARDWARE_BITS(23, 18, 3), xcc = 0;
#endif
    return xcc << 10 | engine << 7 | array << 6 | unit << 2 | simd;
}
#elif defined(__CUDACC__)
/* No register names the SIMD: a multiprocessor's warps take turns on its four. */
__device__ static inline uint32_t location()
{
    uint32_t unit, warp;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return unit << 2 | warp % 4;
}
#elif defined(__x86_64__)
/* Linux keeps the processor's number in the low 12 bits of what rdtscp reads besides the time. */
__device__ static inline uint32_t location()
{
    uint32_t low, high, processor;
    asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    return (processor & 0xfffu) << 2;
}
#else
#error "the device has no register that says where code runs"
#endif

/* locations[w]: where wave w of the grid ran. live[p]: waves at location p now, so 0 in the end. peak[p]: the most
 * ever. */
extern "C" __global__ __launch_bounds__(BLOCK) void placement(
    uint32_t *locations, uint32_t *live, uint32_t *peak, uint32_t ticks, uint32_t naps)
{
    const uint64_t begin = read_realtime();
    const uint32_t wave = blockIdx.x * waves() + threadIdx.x / lanes();
    const bool first = threadIdx.x % lanes() == 0;
    const uint32_t here = location();
    if (first) {
        locations[wave] = here;
        atomicMax(&peak[here], atomicAdd(&live[here], 1u) + 1u);
    }
    for (uint32_t k = 0; k < naps && read_realtime() - begin < ticks; ++k)
        nap();
    if (first)
        atomicSub(&live[here], 1u);
}

/* One workgroup. groups[u]: workgroups that ran on unit u; simds[p] and xccs[x]: waves at location p, on XCC x.
 * *in_turn: workgroups whose XCC is their number modulo the XCCs of the device. *ran: all workgroups. */
extern "C" __global__ __launch_bounds__(BLOCK) void placement_count(const uint32_t *locations, uint32_t *groups,
    uint32_t *simds, uint32_t *xccs, uint32_t *units_found, uint32_t *simds_found, uint32_t *xccs_found,
    uint32_t *in_turn, uint32_t *ran, uint32_t grid, uint32_t device_xccs)
{
    for (uint32_t wave = threadIdx.x; wave < grid * waves(); wave += BLOCK) {
        const uint32_t here = locations[wave] % LOCATIONS, xcc = here >> 10;
        if (atomicAdd(&simds[here], 1u) == 0)
            atomicAdd(simds_found, 1u);
        if (atomicAdd(&xccs[xcc], 1u) == 0)
            atomicAdd(xccs_found, 1u);
        if (wave % waves() != 0)
            continue;
        atomicAdd(ran, 1u);
        if (atomicAdd(&groups[here >> UNIT_BITS], 1u) == 0)
            atomicAdd(units_found, 1u);
        if (xcc == wave / waves() % device_xccs)
            atomicAdd(in_turn, 1u);
    }
}
