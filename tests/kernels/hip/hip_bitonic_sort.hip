#include <hip/hip_runtime.h>

__device__ inline void comparator(unsigned int &a, unsigned int &b, bool dir)
{
    if ((a > b) == dir) {
        unsigned int t = a;
        a = b;
        b = t;
    }
}

// Sorts each 512 keys in shared memory.
__global__ void bitonicSortShared(unsigned int *keys)
{
    __shared__ unsigned int s_key[512];
    keys += blockIdx.x * 512;
    s_key[threadIdx.x] = keys[threadIdx.x];
    s_key[threadIdx.x + 256] = keys[threadIdx.x + 256];

    for (unsigned int size = 2; size <= 512; size <<= 1) {
        bool ddd = (threadIdx.x & (size / 2)) == 0 || size == 512;
        for (unsigned int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(s_key[pos], s_key[pos + stride], ddd);
        }
    }
    __syncthreads();
    keys[threadIdx.x] = s_key[threadIdx.x];
    keys[threadIdx.x + 256] = s_key[threadIdx.x + 256];
}
