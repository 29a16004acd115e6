/* SPDX-License-Identifier: MIT
 *
 * Holds a stream back until the host has queued what is to run behind it, so that a batch of short launches shows the
 * device's pace and not the host's. It gives up after a bounded number of looks, so it never hangs: where kernels of a
 * stream run at once, or a full queue makes the host wait, it only costs time.
 */
#include "portable.h"

/* Words of `control`, in memory that both sides see. The host writes the first two and clears the others. */
enum { RELEASED, MOST_LOOKS, OUTCOME, LOOKS };
enum { WAS_RELEASED = 1, GAVE_UP = 2 };

extern "C" __global__ __launch_bounds__(1) void service_blocking(uint32_t *control)
{
    const uint32_t most = load_host(&control[MOST_LOOKS]);
    uint32_t looks = 0;
    bool released = load_host(&control[RELEASED]) != 0;
#pragma unroll 1
    while (!released && looks < most) {
        nap();
        released = load_host(&control[RELEASED]) != 0;
        ++looks;
    }
    control[LOOKS] += looks;
    store_host(&control[OUTCOME], load_host(&control[OUTCOME]) | (released ? WAS_RELEASED : GAVE_UP));
}
