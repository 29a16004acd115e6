#include <hip/hip_runtime.h>
#include <math.h>

struct Gelu {
    template <typename scalar_t>
    __device__ scalar_t operator()(scalar_t x) const
    {
        const float s = sqrtf(2.0f / M_PI);
        return 0.5f * x * (1.0f + tanhf(s * (x + 0.044715f * x * x * x)));
    }
};

template <typename T, typename F>
__device__ void map(T *out, const T *in, int n, F f)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(in[i]);
}

extern "C" __global__ void gelu_forward(float *out, const float *in, int n)
{
    map(out, in, n, Gelu());
}
