#include <hip/hip_runtime.h>
#include <cstdint>

constexpr int NUM_BINS = 64;

__global__ void histogram_kernel(const uint8_t *__restrict__ data, unsigned int *__restrict__ bins, int n)
{
    __shared__ unsigned int local[NUM_BINS];
    for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();

    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&local[data[i] % NUM_BINS], 1);
    __syncthreads();

    for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x)
        atomicAdd(&bins[b], local[b]);
}
