#include "hip/hip_runtime.h"

// y = a * x + y, four elements at a time, in a grid-stride loop.
__global__ void saxpy4(float a, const float4 *__restrict__ x, float4 *__restrict__ y, size_t count)
{
    for (size_t i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x; i < count; i += hipBlockDim_x * hipGridDim_x) {
        const float4 xi = x[i];
        float4 yi = y[i];
        yi.x += a * xi.x;
        yi.y += a * xi.y;
        yi.z += a * xi.z;
        yi.w += a * xi.w;
        y[i] = yi;
    }
}
