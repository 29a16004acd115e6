/* SPDX-License-Identifier: MIT
 *
 * A libamdhip64 of host memory, for tests. It has one kernel, "store" (void *to, uint32_t value), which writes its
 * value to every work-item's place. What it is told through the environment, at each call: FAKE_HIP_DEVICES=n as many
 * devices, 1 by default FAKE_HIP_FAIL=function:nth:code        the nth call of the function fails with that error;
 * "abort" and "hang" instead of a code do that A function that gives something back gives it back even when it is told
 * to fail.
 */
#ifndef FAKE_HIP_H
#define FAKE_HIP_H

#include <stdint.h>

#define FAKE_HIP_MEMORY_BYTES ((uint64_t)1 << 30)

struct fake_hip_state {
    unsigned seen;   /* calls of the function that is to fail; a test sets it to 0 before it starts */
    unsigned failed; /* of those, told to fail */
    int live_memory, live_host, live_events, live_streams, live_modules;
    uint32_t grid[3], block[3], lds_bytes; /* of the last launch, as passed */
    int launch_extended;                   /* it came through hipExtModuleLaunchKernel */
    int current_device;
};

/* Exported as "fake_hip_state". */
struct fake_hip_state *fake_hip_state(void);

#endif
