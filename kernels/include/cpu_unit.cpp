/* SPDX-License-Identifier: MIT
 *
 * The translation unit of the CPU device: a kernel source becomes the body of a class, the class a shared object.
 *
 *     clang++ -std=c++17 -O3 -fPIC -shared -nostdlib++ -fno-exceptions -fno-rtti -fno-threadsafe-statics
 *             -fvisibility=hidden -fno-math-errno -ffp-contract=fast -fno-stack-protector
 *             -march=x86-64-v4 -mavx512fp16 -mprefer-vector-width=512     (cpu_target_flags() of the device's target)
 *             -I kernels/include -DROOFTILE_WAVE=64 '-DROOFTILE_SOURCE="/path/stream.hip"' -DT=float -DVEC=4
 *             '-DROOFTILE_KERNELS=SIMT_EXPORT(stream_copy) SIMT_EXPORT(stream_add)'
 *             -o stream.so kernels/include/cpu_unit.cpp
 *
 * clang 14 and later. ROOFTILE_WAVE is 64 or 32, ROOFTILE_KERNELS lists the kernels of the module's table. Add -I with
 * the folder of the source if it includes files from there.
 */
#include "portable.h"

/* Not every kernel can be a vector loop over work-items, and those that compute on vec types need not be. */
#pragma clang diagnostic ignored "-Wpass-failed"

/* No member of a class can be extern "C". Between these lines `extern "C" __global__ void f()` reads
 * `static_assert(true, "C"); __attribute__((always_inline)) void f()`: an assertion that holds, then a member function.
 */
#define extern static_assert(true,
#define __global__ );                                                                                                  \
    __attribute__((always_inline))
struct unit : simt {
#include ROOFTILE_SOURCE
    ROOFTILE_KERNELS
};
#undef extern
#undef __global__

/* Bounds of the sections, which the linker defines when there is anything in them. */
extern "C" {
extern const simt_kernel __start_simt_kernels[] SIMT_HIDDEN __attribute__((weak));
extern const simt_kernel __stop_simt_kernels[] SIMT_HIDDEN __attribute__((weak));
extern const simt_site __start_simt_sites[] SIMT_HIDDEN __attribute__((weak));
extern const simt_site __stop_simt_sites[] SIMT_HIDDEN __attribute__((weak));

extern __attribute__((visibility("default"))) const simt_module rooftile_module;
const simt_module rooftile_module = {
    SIMT_ABI_VERSION, ROOFTILE_WAVE, __start_simt_kernels, __stop_simt_kernels, __start_simt_sites, __stop_simt_sites};
}
