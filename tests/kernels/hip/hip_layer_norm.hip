#include <hip/hip_runtime.h>

__device__ __forceinline__ float waveSum(float v)
{
#pragma unroll
    for (int mask = warpSize >> 1; mask > 0; mask >>= 1)
        v += __shfl_xor(v, mask);
    return v;
}

// One wave per row.
__global__ void layernorm_forward(float *__restrict__ out, const float *__restrict__ inp, const float *__restrict__ weight,
                                  const float *__restrict__ bias, int C, float eps)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const float *x = inp + row * C;
    float *y = out + row * C;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += warpSize)
        sum += x[c];
    const float mean = waveSum(sum) / C;

    float square = 0.0f;
    for (int c = threadIdx.x; c < C; c += warpSize) {
        const float d = x[c] - mean;
        square += d * d;
    }
    const float rstd = rsqrtf(waveSum(square) / C + eps);

    for (int c = threadIdx.x; c < C; c += warpSize)
        y[c] = (x[c] - mean) * rstd * weight[c] + bias[c];
}
