/* SPDX-License-Identifier: MIT
 *
 * The HIP backend: what is AMD's own, over gpu.h. hip_api.c has the calls, hip_library.c where ROCm keeps its libraries
 * and what they export, hip_properties.c what a device says about itself, hip.c the rest of the tables.
 */
#ifndef ROOFTILE_DEVICE_HIP_H
#define ROOFTILE_DEVICE_HIP_H

#include "gpu.h"
#include "hip_api.h"
#include "telemetry.h"

struct hip {
    struct gpu gpu; /* first */
    struct hip_api api;
    struct telemetry telemetry;
};

static inline const struct hip_api *hip_api_of(const struct gpu *gpu)
{
    return &((const struct hip *)gpu)->api;
}

/* The status and text of an error code; STATUS_OK for HIP_SUCCESS. */
enum status hip_check(const struct hip_api *api, hip_error code, const char *function, struct err *err);
#define HIP_TRY(gpu, err, function, ...)                                                                               \
    hip_check(hip_api_of(gpu), hip_api_of(gpu)->function(__VA_ARGS__), #function, (err))

extern const struct gpu_vendor hip_vendor;
extern const struct gpu_api hip_calls;

/* hip_library.c: as the members of gpu_vendor. */
#define HIP_STEM "libamdhip64.so"
extern const struct vendor_symbol hip_symbols[];
extern const struct gpu_need hip_needs[];
bool hip_search(struct gpu_search *search);

enum status hip_describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                         struct err *err);

#endif
