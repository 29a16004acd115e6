#include <hip/hip_runtime.h>

// How many elements of each block are positive.
__global__ void count_positive(const int *in, unsigned long long *out)
{
    __shared__ unsigned long long counts[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int wave = threadIdx.x / warpSize;
    const unsigned long long votes = __ballot(in[i] > 0);
    if (threadIdx.x % warpSize == 0)
        counts[wave] = __popcll(votes);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long all = 0;
        for (unsigned w = 0; w < blockDim.x / warpSize; ++w)
            all += counts[w];
        out[blockIdx.x] = all;
    }
}
