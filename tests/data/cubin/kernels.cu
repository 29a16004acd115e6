/* SPDX-License-Identifier: MIT
 *
 * What the cubins here are made of, by nvcc of CUDA 13.0 for ARCH sm_80 and sm_90a; with -Xptxas -v it says what the tests expect:
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
