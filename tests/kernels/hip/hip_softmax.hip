#include <hip/hip_runtime.h>

#ifndef BLOCK
#define BLOCK 256
#endif

// One block per row.
__global__ void softmax_kernel(float *out, const float *inp, int N, int C)
{
    __shared__ float shared[BLOCK];
    int idx = blockIdx.x;
    int tid = threadIdx.x;
    const float *x = inp + idx * C;

    float maxval = -INFINITY;
    for (int i = tid; i < C; i += BLOCK)
        maxval = fmaxf(maxval, x[i]);
    shared[tid] = maxval;
    for (int stride = BLOCK / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride)
            shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
    }
    __syncthreads();
    float offset = shared[0];
    __syncthreads();

    float sumval = 0.0f;
    for (int i = tid; i < C; i += BLOCK)
        sumval += expf(x[i] - offset);
    shared[tid] = sumval;
    for (int stride = BLOCK / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride)
            shared[tid] += shared[tid + stride];
    }
    __syncthreads();
    float sum = shared[0];
    for (int i = tid; i < C; i += BLOCK)
        out[idx * C + i] = expf(x[i] - offset) / sum;
}
