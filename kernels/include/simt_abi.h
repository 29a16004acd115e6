/* SPDX-License-Identifier: MIT
 *
 * What a kernel module compiled for the CPU and the CPU device of the driver share: C for one, C++ for the other.
 * Private to cpu_unit.cpp, simt_cpu.h and src/device; kernels include portable.h only.
 */
#ifndef ROOFTILE_SIMT_ABI_H
#define ROOFTILE_SIMT_ABI_H

#ifdef __cplusplus
extern "C" {
#else
#include <stdint.h>
#endif

/* Of everything below: a module of another version is refused, so that a stale cache cannot crash the driver. */
#define SIMT_ABI_VERSION 1u
#define SIMT_MODULE_SYMBOL "rooftile_module"

/* Each 32-bit word of memory that nothing has written: a signalling NaN as a float, a huge number as a double, far
 * outside every array as an index. */
#define SIMT_POISON 0x7fbadbadu

#define SIMT_MAX_WAVE 64u

struct simt_launch {
    uint32_t grid[3];  /* workgroups */
    uint32_t block[3]; /* work-items of a workgroup */
    void *const *args; /* one pointer to each argument's value */
    void *lds;         /* dynamic LDS of the calling thread, aligned to 128 */
};

struct simt_group {
    uint32_t index[3]; /* blockIdx */
    const struct simt_launch *launch;
};

/* One wave operation: what each participating lane put in. A wave has two, used in turn, so that a lane that runs ahead
 * to the next operation does not overwrite what slower lanes have yet to read. */
struct simt_exchange {
    uint64_t slot[SIMT_MAX_WAVE];
    uint64_t active; /* lanes that took part */
    uint64_t votes;  /* lanes that put in a value other than 0 */
};

/* A work-item that runs as a fiber. The host has its own fields behind these. */
struct simt_lane {
    const struct simt_group *group;
    uint32_t thread[3]; /* threadIdx */
    uint32_t index;     /* lane of its wave */
    /* Waits for all lanes of the workgroup that have not returned. `site` tells barriers of the source apart. */
    void (*barrier)(struct simt_lane *lane, uint32_t site);
    /* Waits for all lanes of the wave that have not returned; the result is valid until this lane's next wave
     * operation. */
    const struct simt_exchange *(*wave)(struct simt_lane *lane, uint32_t site, uint64_t value);
};

struct simt_arg {
    uint32_t size_bytes;
    uint32_t is_pointer;
};

struct simt_kernel {
    const char *name;
    uint32_t arg_count;
    const struct simt_arg *args;
    /* Workgroups [begin, end) in linear order, as loops over their work-items. Not for kernels that wait. */
    void (*plain)(const struct simt_launch *launch, uint64_t begin, uint64_t end);
    /* One work-item of one workgroup, on its own stack. */
    void (*lane)(struct simt_lane *lane);
    /* The code of `plain`: waiting code inside it means that the kernel needs lanes. */
    const char *plain_begin;
    const char *plain_end;
};

/* Self-relative addresses of the waits that survived optimisation in the plain loops. */
typedef int32_t simt_site;

struct simt_module {
    uint32_t abi_version;
    uint32_t wave;
    const struct simt_kernel *kernels;
    const struct simt_kernel *kernels_end;
    const simt_site *sites; /* NULL: none */
    const simt_site *sites_end;
};

#ifdef __cplusplus
}
#endif

#endif
