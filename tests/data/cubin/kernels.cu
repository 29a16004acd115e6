/* SPDX-License-Identifier: MIT
 *
 * What the cubins here are made of, by nvcc of CUDA 13.0 for ARCH sm_80, sm_90a and sm_100a; with -Xptxas -v it says what the tests expect:
 *   nvcc -D__CUDA_RUNTIME_H__ -cubin -std=c++17 -arch=ARCH -o ARCH.cubin kernels.cu
 */
#define KERNEL extern "C" __attribute__((global))

KERNEL __attribute__((launch_bounds(128))) void in_shared(float *to, const float *from, unsigned char step, double scale)
{
    __attribute__((shared)) float part[96];
    part[step] = from[step] * static_cast<float>(scale);
    asm volatile("bar.sync 0;" ::: "memory");
    to[step] = part[95 - step];
}

/* An index that only the run knows: the array stands on the stack. */
KERNEL void on_stack(unsigned *to, unsigned count)
{
    unsigned kept[40];
    for (unsigned k = 0; k < 40; ++k)
        kept[k] = to[k];
    for (unsigned k = 0; k < count; ++k)
        kept[to[k] % 40] += kept[(k * 7) % 40];
    for (unsigned k = 0; k < 40; ++k)
        to[k] = kept[k];
}

/* More values than registers: spilled, and no array. */
KERNEL __attribute__((maxnreg(24))) void spilled(float *to, unsigned count)
{
    float kept[28];
#pragma unroll
    for (unsigned k = 0; k < 28; ++k)
        kept[k] = to[k];
    for (unsigned turn = 0; turn < count; ++turn)
#pragma unroll
        for (unsigned k = 0; k < 28; ++k)
            kept[k] = kept[(k * 7 + 3) % 28] * kept[k] + 1;
#pragma unroll
    for (unsigned k = 0; k < 28; ++k)
        to[k] = kept[k];
}

/* Barriers 0 to 5: the highest counts. */
KERNEL void named_barriers(unsigned *to)
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
    to[0] = 1;
    asm volatile("bar.sync 5, 64;" ::: "memory");
    to[1] = 2;
}
