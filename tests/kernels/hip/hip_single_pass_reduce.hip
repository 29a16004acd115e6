#include <hip/hip_runtime.h>

__device__ unsigned int retirementCount = 0;

// The block that ends last adds up what the others wrote.
__global__ void reduceSinglePass(const float *g_idata, float *g_odata, volatile float *partial, int n)
{
    __shared__ float sums[128];
    __shared__ bool amLast;
    const int tid = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 128 + tid; i < n; i += 128 * gridDim.x)
        sum += g_idata[i];
    sums[tid] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        unsigned int ticket = atomicInc(&retirementCount, gridDim.x - 1);
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (amLast && tid == 0) {
        float total = 0;
        for (unsigned b = 0; b < gridDim.x; ++b)
            total += partial[b];
        *g_odata = total;
    }
}
