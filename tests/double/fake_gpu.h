/* SPDX-License-Identifier: MIT
 *
 * A libamdhip64 and a libcuda of host memory, for tests: fake_gpu.c with two skins. Their kernels
 * are "store" (void *to, uint32_t value), which writes its value to every work-item's place, "launch_empty", and as far
 * as a run needs them the services (kernels/service) and "pointer_chase". Launches run at once, except that
 * service_blocking looks at its control only when the device is waited for. Time is virtual: a launch takes a fixed
 * time, a recorded event 3 us (CUDA's each second one of the first 64 in a context 3.008 us, so that the clock's step
 * can be found: 8 ns), a copy in a stream 8 us and a nanosecond per 25 bytes. What they are told through the
 * environment at each call, X being HIP or CUDA:
 *
 *   FAKE_X_DEVICES=n              as many devices, 1 by default
 *   FAKE_X_FAIL=function:nth:code the nth call of the function in a process fails with that error code; "abort" and
 *                                 "hang" instead of a code do that
 *   FAKE_X_ONCE=file              only the first process to come there fails; it leaves that file
 *   FAKE_X_GONE=file              once that file exists there are no devices any more
 *   FAKE_X_NO_PEER=1              no device reaches another's memory
 *   FAKE_X_KERNEL_NS=n            what store and launch_empty take, 12000 by default
 *   FAKE_X_ON=device              FAIL and KERNEL_NS hold while this device is the current one
 *   FAKE_X_SYNC=1                 service_blocking runs at once too, and gives up
 *   FAKE_X_CLOCK=mhz[,from,mhz,n] core clock, 2100 by default; another one for n probes from the given one on
 *   FAKE_X_CLOCK=stuck | wrap     the constant counter stands still; a 20-bit cycle counter and a step of 1 ms
 *   FAKE_X_LOSE=n                 each n-th launch of launch_count has no effect
 *   FAKE_X_NAME=text              name of the device
 *   FAKE_X_LINKS=n[,from,to,m]    copies between devices run at n GB/s, those from one device to another one at m; each
 *                                 stream has a clock of its own, so that copies in several run at once
 *   FAKE_X_HASH=n                 service_hash finds 0 from its nth launch on
 *   FAKE_X_FLUSH=0                flushing has no effect: pointer_chase takes 100 us always, else 200 us after a flush
 *
 *   FAKE_HIP_NO_RATE=1            the rate of the constant counter (100 MHz, 25 in the old library) is not told
 *   FAKE_HIP_NO_DISPATCH=1        hipExtModuleLaunchKernel is there, and not supported
 *   FAKE_HIP_OTHER=file           once that file exists the device is a gfx1100
 *   FAKE_CUDA_CAPABILITY=n        90 by default
 *   FAKE_CUDA_SECOND_ARGUMENT=n   bytes of the second argument of store, 4 by default
 *
 * A function that takes something back takes it even when it is told to fail. CUDA: a code object that begins with
 * "bad" is refused, with a line in the log; a kernel's fault is for good: whatever is called after a function was told
 * to fail with 700 or 719 in this process fails alike, until the context is released; calls that need a context fail
 * without one.
 */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stdint.h>

#define FAKE_GPU_MEMORY_BYTES ((uint64_t)1 << 30)

struct fake_gpu_state {
    unsigned seen;   /* calls of the function that is to fail; a test sets it to 0 before it starts */
    unsigned failed; /* of those, told to fail */
    int live_memory, live_host, live_events, live_streams, live_modules, live_graphs, live_contexts;
    int capturing;                         /* a stream is */
    unsigned launches;                     /* so far, those of graphs included */
    double now_ns;                         /* of the device */
    uint32_t grid[3], block[3], lds_bytes; /* of the last launch, as passed */
    int launch_extended;                   /* it came through hipExtModuleLaunchKernel */
    int launch_cooperative;                /* it was a cooperative one */
    int current_device;                    /* -1: no context is current */
    int memory_device;                     /* that was the current one at the last allocation of device memory */
    unsigned host_flags;                   /* of the last allocation of pinned memory */
    uint64_t
        peer_enabled;   /* bit 1 << (from * 8 + to): device `from` was given the memory of `to`; of the first eight */
    int most_lds_bytes; /* cuda: that the last function was allowed */
    unsigned sticky;    /* cuda: what every call fails with */
};

/* Exported as "fake_gpu_state" by both. */
struct fake_gpu_state *fake_gpu_state(void);

#endif
