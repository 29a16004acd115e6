#include <hip/hip_runtime.h>

#define RADIUS 3
#define BLOCK_SIZE 128

__constant__ float c_coefficient[2 * RADIUS + 1] = {1, 2, 3, 4, 3, 2, 1};

__global__ void stencil_1d(const float *in, float *out)
{
    __shared__ float temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS;
    int lindex = threadIdx.x + RADIUS;

    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
    }
    __syncthreads();

    float result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += c_coefficient[offset + RADIUS] * temp[lindex + offset];
    out[gindex - RADIUS] = result;
}
