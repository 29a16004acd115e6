#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__global__ void haxpy(int n, half a, const half2 *x, half2 *y)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        y[i] = __hfma2(__halves2half2(a, a), x[i], y[i]);
}
