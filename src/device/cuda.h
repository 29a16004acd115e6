/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend: what is NVIDIA's own, over gpu.h. cuda_api.c has the calls, cuda_code.c those about code,
 * cuda_library.c where drivers keep their library and what it exports, cuda_properties.c what a device says about
 * itself, cuda.c the rest of the tables.
 */
#ifndef ROOFTILE_DEVICE_CUDA_H
#define ROOFTILE_DEVICE_CUDA_H

#include "cuda_api.h"
#include "gpu.h"
#include "telemetry_nvml.h"

enum { CUDA_MAX_DEVICES = 64 };

struct cuda {
    struct gpu gpu; /* first */
    struct cuda_api api;
    /* Primary contexts, of the device that was opened and of peers that were used; a device's handle is valid with its
     * context. */
    struct CUctx_st *contexts[CUDA_MAX_DEVICES];
    int handles[CUDA_MAX_DEVICES];
    struct nvml nvml;
};

static inline const struct cuda_api *cuda_api_of(const struct gpu *gpu)
{
    return &((const struct cuda *)gpu)->api;
}

/* The status and text of an error code; STATUS_OK for CUDA_OK. After an error of a kernel the context is lost, and
 * every call fails with it: that is ERR_DEVICE_LOST. */
enum status cuda_check(const struct cuda_api *api, cuda_error code, const char *function, struct err *err);
#define CUDA_TRY(gpu, err, function, ...)                                                                              \
    cuda_check(cuda_api_of(gpu), cuda_api_of(gpu)->function(__VA_ARGS__), #function, (err))

extern const struct gpu_vendor cuda_vendor;
extern const struct gpu_api cuda_calls;

/* Of the device that was opened. */
int cuda_handle_of(const struct gpu *gpu);
/* Releases the contexts. */
void cuda_leave(struct gpu *gpu);

/* cuda_code.c: as the members of gpu_api. A file has a cubin, which is for this very architecture, or PTX, which the
 * driver compiles now. */
enum status cuda_load(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err);
void cuda_unload(const struct gpu *gpu, struct gpu_code *code);
enum status cuda_find(struct gpu_function **function, const struct gpu *gpu, struct gpu_code *code, const char *symbol,
                      struct err *err);
enum status cuda_prepare(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *function,
                         struct err *err);

/* cuda_library.c: as the members of gpu_vendor. */
#define CUDA_NAME "libcuda.so.1"
extern const struct vendor_symbol cuda_symbols[];
extern const struct gpu_need cuda_needs[];
bool cuda_search(struct gpu_search *search);

enum status cuda_describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                          struct err *err);

#endif
