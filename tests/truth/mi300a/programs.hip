/* SPDX-License-Identifier: MIT
 *
 * The programs whose times on an MI300A are published (sarchlab/mgpusim, gpu_perf_scripts/mi300a.csv), written again from
 * what they do, so that predictions can be set against them.
 */
#include "portable.h"

struct alignas(16) four {
    float x, y, z, w;
};

extern "C" __global__ void vectoradd(float *a, const float *b, const float *c, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + c[i];
}

extern "C" __global__ void relu(unsigned n, const float *in, float *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] > 0 ? in[i] : 0;
}

/* A tile of 64 x 64 by 16 x 16 threads, 4 x 4 elements each. `width` counts fours. */
extern "C" __global__ void matrixtranspose(four *out, const four *in, unsigned width)
{
    DYNAMIC_SHARED(four, tile);
    const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = (blockIdx.y * 16 + y) * 4;
    for (unsigned k = 0; k < 4; k++)
        tile[(y * 4 + k) * 16 + x] = in[(row + k) * width + column];
    __syncthreads();
    const unsigned to_column = blockIdx.y * 16 + x, to_row = (blockIdx.x * 16 + y) * 4;
    const four a = tile[(x * 4 + 0) * 16 + y], b = tile[(x * 4 + 1) * 16 + y], c = tile[(x * 4 + 2) * 16 + y],
               d = tile[(x * 4 + 3) * 16 + y];
    out[(to_row + 0) * width + to_column] = four{a.x, b.x, c.x, d.x};
    out[(to_row + 1) * width + to_column] = four{a.y, b.y, c.y, d.y};
    out[(to_row + 2) * width + to_column] = four{a.z, b.z, c.z, d.z};
    out[(to_row + 3) * width + to_column] = four{a.w, b.w, c.w, d.w};
}

__device__ four madd(four sum, four a, four b0, four b1, four b2, four b3)
{
    sum.x += a.x * b0.x + a.y * b1.x + a.z * b2.x + a.w * b3.x;
    sum.y += a.x * b0.y + a.y * b1.y + a.z * b2.y + a.w * b3.y;
    sum.z += a.x * b0.z + a.y * b1.z + a.z * b2.z + a.w * b3.z;
    sum.w += a.x * b0.w + a.y * b1.w + a.z * b2.w + a.w * b3.w;
    return sum;
}

/* 8 x 8 threads, 4 x 4 outputs each. The tile of A goes through `stage`, memory that all workgroups share. */
extern "C" __global__ void matrixmultiplication(const four *a, const four *b, four *c, unsigned width, four *stage)
{
    const unsigned x = threadIdx.x, y = threadIdx.y, fours = width / 4;
    const unsigned gx = blockIdx.x * blockDim.x + x, gy = blockIdx.y * blockDim.y + y;
    four sum[4] = {};
    for (unsigned i = 0; i < fours / blockDim.x; i++) {
        for (unsigned k = 0; k < 4; k++)
            stage[(y * 4 + k) * blockDim.x + x] = a[i * blockDim.x + x + (gy * 4 + k) * fours];
        __syncthreads();
        for (unsigned j = 0; j < 4 * blockDim.x; j += 4) {
            const four *from = &b[gx + (i * 4 * blockDim.x + j) * fours];
            const four b0 = from[0], b1 = from[fours], b2 = from[2 * fours], b3 = from[3 * fours];
            for (unsigned k = 0; k < 4; k++)
                sum[k] = madd(sum[k], stage[j / 4 + (y * 4 + k) * blockDim.x], b0, b1, b2, b3);
        }
    }
    for (unsigned k = 0; k < 4; k++)
        c[gx + (gy * 4 + k) * fours] = sum[k];
}

extern "C" __global__ void atax_rows(const float *a, const float *x, float *tmp, int nx, int ny)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < nx)
        for (int j = 0; j < ny; j++)
            tmp[i] += a[i * ny + j] * x[j];
}

extern "C" __global__ void atax_columns(const float *a, float *y, const float *tmp, int nx, int ny)
{
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (j < ny)
        for (int i = 0; i < nx; i++)
            y[j] += a[i * ny + j] * tmp[i];
}
