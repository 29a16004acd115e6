// SPDX-License-Identifier: MIT
#include "portable.h"

// Does nothing: what remains is the cost of a launch.
extern "C" __global__ void launch_empty(uint32_t *flag)
{
    if (flag && threadIdx.x == 0 && blockIdx.x == 0)
        flag[0] = 1;
}
