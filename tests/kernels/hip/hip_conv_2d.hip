#include <hip/hip_runtime.h>

template <int RADIUS>
static __device__ float box(const float *in, int pitch, int x, int y)
{
    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy)
        for (int dx = -RADIUS; dx <= RADIUS; ++dx)
            sum += in[(y + dy) * pitch + x + dx];
    return sum;
}

__global__ void box_filter(const float *in, float *out, int w, int h)
{
    const int2 at = make_int2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
    if (at.x < w && at.y < h)
        out[at.y * w + at.x] = box<1>(in, w + 2, at.x + 1, at.y + 1);
}
