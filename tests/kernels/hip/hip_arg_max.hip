#include <hip/hip_runtime.h>
#include <cfloat>

// The largest element of each block and where it is, packed into 64 bits.
__global__ void arg_max(const float *in, float *value, int *where, int n)
{
    __shared__ unsigned long long best;
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = i < n ? in[i] : -FLT_MAX;
    const unsigned bits = __float_as_uint(x);
    const unsigned key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    atomicMax(&best, (unsigned long long)key << 32 | (0xffffffffu - threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0xffffffffu - (unsigned)best) {
        value[blockIdx.x] = x;
        where[blockIdx.x] = i;
    }
}
