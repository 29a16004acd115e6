#include <hip/hip_runtime.h>

#define BLOCK_SIZE 256

// Inclusive prefix sum of each block, with two buffers in shared memory.
__global__ void scan_inclusive(const int *in, int *out, int n)
{
    __shared__ int buffer[2][BLOCK_SIZE];
    const int tid = threadIdx.x;
    const int gid = blockIdx.x * BLOCK_SIZE + tid;
    int pin = 0, pout = 1;

    buffer[pin][tid] = gid < n ? in[gid] : 0;
    __syncthreads();
    for (int offset = 1; offset < BLOCK_SIZE; offset *= 2) {
        buffer[pout][tid] = buffer[pin][tid] + (tid >= offset ? buffer[pin][tid - offset] : 0);
        __syncthreads();
        int swap = pin;
        pin = pout;
        pout = swap;
    }
    if (gid < n)
        out[gid] = buffer[pin][tid];
}
