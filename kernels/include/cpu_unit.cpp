/* SPDX-License-Identifier: MIT
 *
 * The translation unit of the CPU device: a kernel source becomes a shared object, with a table of its kernels.
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
#include ROOFTILE_SOURCE

#if !defined(ROOFTILE_PORTABLE_H)
#error "a kernel includes portable.h, or hip/hip_runtime.h"
#elif defined(SIMT_FILE_SCOPE)
ROOFTILE_KERNELS
#ifdef ROOFTILE_DYNAMIC_LDS
/* More than half of what a launch may have in all, so that it never asks for more of it than is there. */
static thread_local __attribute__((used, aligned(128))) char simt_dynamic_lds[1 << 20] __asm__("simt_dynamic_lds");
#define SIMT_DYNAMIC(name) __asm__(".globl " #name "\n.hidden " #name "\n.set " #name ", simt_dynamic_lds");
ROOFTILE_DYNAMIC_LDS
#endif
#else
    ROOFTILE_KERNELS
}; /* of struct unit, which simt_cpu.h began */
#undef extern
#undef __global__
#endif

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
