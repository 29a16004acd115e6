/* SPDX-License-Identifier: MIT
 *
 * AMD GPUs.
 */
#include "hip.h"

#include <dlfcn.h>

#include "roctx.h"

/* This function counts the grid in work-items. */
static enum status launch_marked(struct device *device, const struct device_launch *launch, uint32_t from, uint32_t to,
                                 struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    uint32_t work[3];
    if (gpu_require(gpu, GPU_OWN_TIMES, err))
        return err->status;
    if (launch->cooperative)
        return err_set(err, ERR_UNSUPPORTED, "a cooperative launch does not tell its own times");
    if (!launch->kernel->function)
        return err_set(err, ERR_UNSUPPORTED, "a library's function does not tell its own times");
    for (int i = 0; i < 3; ++i)
        if (__builtin_mul_overflow(launch->grid[i], launch->block[i], &work[i]))
            return err_set(err, ERR_UNSUPPORTED, "%u workgroups of %u are more than 2^32 work-items", launch->grid[i],
                           launch->block[i]);
    if (gpu_check_marks(from, to, err) || gpu_stream_of(&stream, gpu, launch->stream, err))
        return err->status;
    return HIP_TRY(gpu, err, hipExtModuleLaunchKernel, (struct ihipModuleSymbol_t *)launch->kernel->function, work[0],
                   work[1], work[2], launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes,
                   (struct ihipStream_t *)stream, launch->args, NULL, (struct ihipEvent_t *)gpu->marks[from],
                   (struct ihipEvent_t *)gpu->marks[to], 0);
}

static void sense(struct device_sense *sense, struct gpu *gpu)
{
    telemetry_sense(sense, &((struct hip *)gpu)->telemetry);
}

static int count_devices(struct text *why)
{
    return gpu_count(why, &hip_vendor, GPU_COUNT_TIMEOUT_MS);
}

static enum status open_device(struct device **device, const struct device_request *request, struct device_info *info,
                               struct err *err)
{
    return gpu_open(device, &hip_vendor, request, info, err);
}

static const struct gpu_hint hints[] = {
    {HIP_NO_DEVICE, true, NULL},
    {HIP_INVALID_DEVICE, true, NULL},
    {0, false, NULL},
};

static const struct gpu_device_file files[] = {
    {"kfd", "kfd", "the amdgpu driver is not loaded, or this container was not given it"},
    {"dri/renderD*", NULL, NULL},
    {NULL, NULL, NULL},
};

static const char *const masks[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", NULL};

const struct gpu_vendor hip_vendor = {
    .ops = &device_hip,
    .api = &hip_calls,
    .size_bytes = sizeof(struct hip),
    .library = "libamdhip64",
    .whole = "HIP",
    .variable = "ROOFTILE_HIP_LIBRARY",
    .absent = "no " HIP_STEM " in $ROCM_PATH/lib, /opt/rocm/lib, /opt/rocm/core*/lib or the loader's path "
              "(ROOFTILE_HIP_LIBRARY names another place)",
    /* Visible to what it loads itself, as in a program that is linked with it: its plug-ins may need its symbols, or
     * those of its own libraries. */
    .open_flags = RTLD_GLOBAL,
    .symbols = hip_symbols,
    .needs = hip_needs,
    .search = hip_search,
    .no_device = HIP_NO_DEVICE,
    .hints = hints,
    .files = files,
    .masks = masks,
    .attributes =
        {
            [GPU_WAVE] = {HIP_WARP_SIZE, true, false},
            [GPU_UNITS] = {HIP_MULTIPROCESSOR_COUNT, true, false},
            [GPU_PHYSICAL_UNITS] = {HIP_PHYSICAL_MULTIPROCESSOR_COUNT, false, true}, /* not WGPs */
            [GPU_XCCS] = {HIP_NUMBER_OF_XCCS, false, true},
            [GPU_BLOCK] = {HIP_MAX_THREADS_PER_BLOCK, true, false},
            [GPU_GRID_X] = {HIP_MAX_GRID_X, false, true},
            [GPU_GRID_Y] = {HIP_MAX_GRID_Y, false, true},
            [GPU_GRID_Z] = {HIP_MAX_GRID_Z, false, true},
            [GPU_LDS] = {HIP_MAX_SHARED_MEMORY_PER_BLOCK, true, false},
            [GPU_CORE_KHZ] = {HIP_CLOCK_RATE, false, true},
            [GPU_MEMORY_KHZ] = {HIP_MEMORY_CLOCK_RATE, false, true},
            [GPU_WALL_KHZ] = {HIP_WALL_CLOCK_RATE, false, true},
            [GPU_CLOCK_KHZ] = {HIP_CLOCK_INSTRUCTION_RATE, false, true},
            [GPU_L2] = {HIP_L2_CACHE_SIZE, false, true},
            [GPU_TOGETHER] = {HIP_COOPERATIVE_LAUNCH, false, true},
            [GPU_MANAGED] = {HIP_MANAGED_MEMORY, false, true},
            [GPU_PAGEABLE] = {HIP_PAGEABLE_MEMORY_ACCESS, false, true},
        },
    .describe = hip_describe,
    .sense = sense,
    .find_ranges = roctx_find,
    .no_ranges = ROCTX_MISSING,
};

const struct device_ops device_hip = {
    .name = "hip",
    .summary = "AMD GPUs through libamdhip64, which is looked for when it is needed",
    GPU_OPERATIONS,
    .count = count_devices,
    .open = open_device,
    .launch_marked = launch_marked,
};
