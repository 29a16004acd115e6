/* SPDX-License-Identifier: MIT
 *
 * A libcuda of host memory, for tests: an H200 whose kernels and clock are those of fake_kernels.h. Launches run at
 * once, except that service_hold looks at its control only when the device is waited for. Time is virtual: a launch
 * takes a fixed time, a recorded event 3 us (each second one of the first 64 in a context 3.008 us, so that the clock's
 * step can be found: 8 ns), a copy in a stream 8 us and a nanosecond per 25 bytes. What it is told through the
 * environment, at each call: FAKE_CUDA_DEVICES=n              as many devices, 1 by default
 *   FAKE_CUDA_FAIL=function:nth:code the nth call of the function in a process fails with that error code; "abort" and
 *                                    "hang" instead of a code do that
 *   FAKE_CUDA_ONCE=file              only the first process to come there fails; it leaves that file
 *   FAKE_CUDA_GONE=file              once that file exists there are no devices any more
 *   FAKE_CUDA_NO_PEER=1              no device reaches another's memory
 *   FAKE_CUDA_KERNEL_NS=n            what store and launch_empty take, 12000 by default
 *   FAKE_CUDA_SYNC=1                 service_hold runs at once too, and gives up
 *   FAKE_CUDA_CLOCK=mhz[,from,mhz,n] core clock, 2100 by default; another one for n probes from the given one on
 *   FAKE_CUDA_CLOCK=stuck | wrap     the constant counter stands still; a 20-bit cycle counter and a step of 1 ms
 *   FAKE_CUDA_LOSE=n                 each n-th launch of launch_count has no effect
 *   FAKE_CUDA_FLUSH=0                flushing has no effect: pointer_chase takes 100 us always, else 200 us after a
 * flush FAKE_CUDA_NAME=text              name of the device FAKE_CUDA_CAPABILITY=n           90 by default
 *   FAKE_CUDA_SECOND_ARGUMENT=n      bytes of the second argument of store, 4 by default
 *
 * A code object that begins with "bad" is refused, with a line in the log. A kernel's fault is for good: whatever is
 * called after a function was told to fail with 700 or 719 in this process fails alike, until the context is released.
 * A function that takes something back takes it even when it fails. Calls that need a context fail without one.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdint.h>

#define FAKE_CUDA_MEMORY_BYTES ((uint64_t)1 << 30)

struct fake_cuda_state {
    unsigned seen;   /* calls of the function that is to fail; a test sets it to 0 before it starts */
    unsigned failed; /* of those, told to fail */
    int live_memory, live_host, live_events, live_streams, live_modules, live_graphs, live_contexts;
    int capturing;                         /* a stream is */
    unsigned launches;                     /* so far, those of graphs included */
    double now_ns;                         /* of the device */
    uint32_t grid[3], block[3], lds_bytes; /* of the last launch, as passed */
    int launch_cooperative;                /* it came through cuLaunchCooperativeKernel */
    int most_lds_bytes;                    /* that the last function was allowed */
    int current_device;                    /* -1: no context is current */
    int memory_device;                     /* that was the current one at the last cuMemAlloc */
    unsigned peer_enabled; /* bit 1 << (from * 4 + to): device `from` was given the memory of `to`; of the first four */
    unsigned sticky;       /* what every call fails with */
};

/* Exported as "fake_cuda_state". */
struct fake_cuda_state *fake_cuda_state(void);

#endif
