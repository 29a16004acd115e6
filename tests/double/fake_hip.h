/* SPDX-License-Identifier: MIT
 *
 * A libamdhip64 of host memory, for tests. Its kernels are "store" (void *to, uint32_t value), which writes its value to
 * every work-item's place, "launch_empty", and as far as a run needs them the services (kernels/service) and
 * "pointer_chase". Launches run at once, except that service_hold looks at its control only when the device is waited for.
 * Time is virtual: a launch takes a fixed time, a recorded event 3 us, a copy in a stream 8 us and a nanosecond per 25 bytes. What it is told through the environment, at each call:
 *   FAKE_HIP_DEVICES=n              as many devices, 1 by default
 *   FAKE_HIP_FAIL=function:nth:code the nth call of the function in a process fails with that error code; "abort" and
 *                                   "hang" instead of a code do that
 *   FAKE_HIP_ONCE=file              only the first process to come there fails; it leaves that file
 *   FAKE_HIP_GONE=file              once that file exists there are no devices any more
 *   FAKE_HIP_NO_PEER=1              no device reaches another's memory
 *   FAKE_HIP_KERNEL_NS=n            what store and launch_empty take, 12000 by default
 *   FAKE_HIP_NO_RATE=1              the rate of the constant counter (100 MHz, 25 in the old library) is not told
 *   FAKE_HIP_SYNC=1                 service_hold runs at once too, and gives up
 *   FAKE_HIP_NO_DISPATCH=1          hipExtModuleLaunchKernel is there, and not supported
 *   FAKE_HIP_CLOCK=mhz[,from,mhz,n] core clock, 2100 by default; another one for n probes from the given one on
 *   FAKE_HIP_CLOCK=stuck | wrap     the constant counter stands still; a 20-bit cycle counter and a step of 1 ms
 *   FAKE_HIP_LOSE=n                 each n-th launch of launch_count has no effect
 *   FAKE_HIP_FLUSH=0                flushing has no effect: pointer_chase takes 100 us always, else 200 us after a flush
 *
 * A function that takes something back takes it even when it is told to fail.
 */
#ifndef FAKE_HIP_H
#define FAKE_HIP_H

#include <stdint.h>

#define FAKE_HIP_MEMORY_BYTES ((uint64_t)1 << 30)

struct fake_hip_state {
    unsigned seen;   /* calls of the function that is to fail; a test sets it to 0 before it starts */
    unsigned failed; /* of those, told to fail */
    int live_memory, live_host, live_events, live_streams, live_modules, live_graphs;
    int capturing;         /* a stream is */
    unsigned launches;     /* so far, those of graphs included */
    double now_ns;         /* of the device */
    uint32_t grid[3], block[3], lds_bytes; /* of the last launch, as passed */
    int launch_extended;                   /* it came through hipExtModuleLaunchKernel */
    int launch_cooperative;                /* it came through hipModuleLaunchCooperativeKernel */
    int current_device;
    unsigned host_flags;   /* of the last hipHostMalloc */
    int memory_device;     /* that was the current one at the last hipMalloc */
    unsigned peer_enabled; /* bit 1 << (from * 4 + to): device `from` was given the memory of `to`; of the first four */
};

/* Exported as "fake_hip_state". */
struct fake_hip_state *fake_hip_state(void);

#endif
