/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_DEVICE_HIP_H
#define ROOFTILE_DEVICE_HIP_H

#include "gpu.h"
#include "telemetry.h"

struct hip {
    struct gpu gpu; /* first */
    struct hip_calls calls;
    struct telemetry telemetry;
};

#endif
