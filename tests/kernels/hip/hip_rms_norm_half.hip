#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__global__ void rmsnorm(__half *out, const __half *in, const __half *weight, int hidden, float epsilon)
{
    __shared__ float s_variance;
    __shared__ float partial[64];
    float variance = 0.0f;

    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        const float x = __half2float(in[blockIdx.x * hidden + i]);
        variance += x * x;
    }
    for (int d = warpSize / 2; d > 0; d /= 2)
        variance += __shfl_down_sync(0xffffffffffffffffull, variance, d);
    if (threadIdx.x % warpSize == 0)
        partial[threadIdx.x / warpSize] = variance;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (int w = 0; w < (blockDim.x + warpSize - 1) / warpSize; ++w)
            all += partial[w];
        s_variance = 1.0f / sqrtf(all / hidden + epsilon);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        float x = (float)in[blockIdx.x * hidden + i];
        out[blockIdx.x * hidden + i] = ((__half)(x * s_variance)) * weight[i];
    }
}
