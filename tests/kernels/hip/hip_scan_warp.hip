#include <hip/hip_runtime.h>

// Inclusive scan of each 32 elements, whatever the size of a wave.
extern "C" __global__ void shfl_scan(int *data, int width)
{
    const int id = (blockIdx.x * blockDim.x) + threadIdx.x;
    const int lane_in_row = threadIdx.x % width;
    int value = data[id];

#pragma unroll
    for (int i = 1; i <= 16; i *= 2) {
        int n = __shfl_up(value, i, 32);
        if (lane_in_row >= i)
            value += n;
    }
    data[id] = value;
}
