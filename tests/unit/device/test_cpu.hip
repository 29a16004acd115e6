/* SPDX-License-Identifier: MIT
 *
 * Kernels of test_cpu.c and test_cpu_fiber.c: each shows one rule of the CPU device.
 */
#include "portable.h"

static constexpr unsigned LANES = 256;

extern "C" __global__ void scale(float *__restrict a, const float *__restrict b, const float *__restrict c, float s, uint64_t n)
{
    const uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    if (i < n)
        a[i] = b[i] + s * c[i];
}

extern "C" __global__ void arguments(uint8_t small, double *pointer, uint32_t word, uint64_t wide, float number,
                      vec<float, 4>::type *vectors)
{
    pointer[0] = small + word + double(wide) + number + vectors[0][3];
}

extern "C" __global__ void grid(uint32_t *seen)
{
    const uint64_t block = (uint64_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const uint64_t items = uint64_t(blockDim.x) * blockDim.y * blockDim.z;
    seen[block * items + thread_id()] += threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16 | lane_id() << 24;
}

extern "C" __global__ void reverse(uint32_t *a, const uint32_t *b)
{
    __shared__ uint32_t t[LANES];
    const unsigned at = blockIdx.x * blockDim.x;
    t[threadIdx.x] = b[at + threadIdx.x];
    __syncthreads();
    a[at + threadIdx.x] = t[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void reverse_without_barrier(uint32_t *a, const uint32_t *b)
{
    __shared__ uint32_t t[LANES];
    t[threadIdx.x] = b[threadIdx.x];
    a[threadIdx.x] = t[blockDim.x - 1 - threadIdx.x];
}

/* Hillis-Steele: a barrier in a loop that the compiler unrolls, so one barrier of the source becomes many of the code. */
extern "C" __global__ void scan(uint32_t *a)
{
    DYNAMIC_SHARED(uint32_t, t);
    t[threadIdx.x] = a[threadIdx.x];
    UNROLL
    for (unsigned step = 1; step < LANES; step *= 2) {
        __syncthreads();
        const uint32_t before = threadIdx.x >= step ? t[threadIdx.x - step] : 0;
        __syncthreads();
        t[threadIdx.x] += before;
    }
    a[threadIdx.x] = t[threadIdx.x];
}

/* Lanes that return leave the barriers to the others, some between two of them. */
extern "C" __global__ void early_return(uint32_t *a, uint32_t *b, uint32_t first, uint32_t second)
{
    __shared__ uint32_t t[LANES];
    t[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= first)
        return;
    __syncthreads();
    a[threadIdx.x] = t[(threadIdx.x + 1) % blockDim.x];
    if (threadIdx.x >= second)
        return;
    __syncthreads();
    b[threadIdx.x] = a[(threadIdx.x + 1) % second];
}

extern "C" __global__ void different_barriers(uint32_t *a)
{
    if (blockIdx.x == 1 && threadIdx.x == 70) {
        __syncthreads();
        a[0] = 1;
    } else {
        __syncthreads();
        a[1] = 2;
    }
}

/* Each wave agrees, the workgroup does not. */
extern "C" __global__ void different_waves(uint32_t *a)
{
    if (wave_id() == 1) {
        __syncthreads();
        a[0] = 1;
    } else {
        __syncthreads();
        a[1] = 2;
    }
}

extern "C" __global__ void different_waits(uint32_t *a)
{
    if (lane_id() < 5)
        a[lane_id()] = __shfl(threadIdx.x, 0);
    __syncthreads();
}

extern "C" __global__ void shuffles(uint32_t *a, double *d, uint64_t *m)
{
    const unsigned i = thread_id();
    a[i * 4 + 0] = __shfl(i * 10, i + 3);
    a[i * 4 + 1] = __shfl_xor(i * 10, 5);
    a[i * 4 + 2] = __shfl_up(i * 10, 2);
    a[i * 4 + 3] = __shfl_down(i * 10, 2);
    d[i * 3 + 0] = wave_reduce_add(double(i));
    d[i * 3 + 1] = wave_reduce_max(double(i));
    d[i * 3 + 2] = wave_reduce_min(double(i));
    m[i * 3 + 0] = __ballot(i % 3 == 0);
    m[i * 3 + 1] = __any(i == 40) + 2 * __all(i < 64);
    m[i * 3 + 2] = wave_id() * 1000 + wave_size();
}

/* Only lanes 0 .. 7 of each wave are left when these operations come. */
extern "C" __global__ void inactive(uint32_t *a, uint64_t *m)
{
    const unsigned i = thread_id();
    if (lane_id() >= 8)
        return;
    a[i] = __shfl(i, 7);
    a[i] += __shfl(i, 6);
    m[i] = __ballot(true);
    a[i + blockDim.x] = __shfl(i, 9);
}

/* A wave operation is none of the other waves' business. */
extern "C" __global__ void one_wave(uint32_t *a)
{
    __shared__ uint32_t sum;
    if (wave_id() == 1) {
        const uint32_t all = wave_reduce_add(1u);
        if (lane_id() == 0)
            sum = all;
    }
    __syncthreads();
    a[threadIdx.x] = sum;
}

extern "C" __global__ void unwritten(uint32_t *a)
{
    __shared__ uint32_t t[LANES];
    DYNAMIC_SHARED(uint32_t, more);
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    a[2 * at] = t[threadIdx.x];
    a[2 * at + 1] = more[threadIdx.x];
    t[threadIdx.x] = more[threadIdx.x] = at;
}

extern "C" __global__ void functions(float *y, const float *x, uint32_t n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i * 6 + 0] = fast_exp2(x[i]);
    y[i * 6 + 1] = fast_exp(x[i]);
    y[i * 6 + 2] = fast_log2(x[i]);
    y[i * 6 + 3] = fast_log(x[i]);
    y[i * 6 + 4] = fast_rsqrt(x[i]);
    y[i * 6 + 5] = fast_rcp(x[i]);
}

extern "C" __global__ void atomics(uint32_t *counts, float *sum, double *wide, uint64_t *most)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counts[i % 2], 1u);
    atomicAdd(sum, 1.0f);
    atomicAdd(wide, 0.5);
    atomicMax(most, uint64_t(i) << 32);
    atomicOr(&counts[2], 1u << i % 32);
    atomicCAS(&counts[3], 0u, 17u);
}

/* Values through every way that hides them from the optimiser. */
extern "C" __global__ void hidden(float *a, const float *b)
{
    typedef vec<float, 4>::type quad;
    const unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const quad value = load_nt(reinterpret_cast<const quad *>(b + i));
    keep(value);
    keep(value[0]);
    keep(i);
    memory_fence_compiler();
    store_nt(fma(value, value, quad(opaque(1.0f))), reinterpret_cast<quad *>(a + i + opaque_uniform(0u)));
}

extern "C" __global__ void nothing()
{
}
