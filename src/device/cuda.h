/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_DEVICE_CUDA_H
#define ROOFTILE_DEVICE_CUDA_H

#include "gpu.h"
#include "telemetry_nvml.h"

struct cuda {
    struct gpu gpu; /* first */
    struct cuda_calls calls;
    struct gpu_context *contexts[GPU_MAX_DEVICES]; /* of the device that was opened and of peers that were used */
    struct nvml nvml;
};

#endif
