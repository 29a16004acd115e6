/* SPDX-License-Identifier: MIT
 *
 * NVIDIA GPUs. Nothing tells a kernel's own begin and end from its launch.
 */
#include "cuda.h"

#include <dlfcn.h>

#include "nvtx.h"

static void sense(struct device_sense *sense, struct gpu *gpu)
{
    nvml_sense(sense, &((struct cuda *)gpu)->nvml);
}

static void close_device(struct gpu *gpu)
{
    cuda_leave(gpu);
    nvml_close(&((struct cuda *)gpu)->nvml);
}

static int count_devices(struct text *why)
{
    return gpu_count(why, &cuda_vendor, GPU_COUNT_TIMEOUT_MS);
}

static enum status open_device(struct device **device, const struct device_request *request, struct device_info *info,
                               struct err *err)
{
    return gpu_open(device, &cuda_vendor, request, info, err);
}

static const struct gpu_hint hints[] = {
    {CUDA_NO_DEVICE, true, NULL},
    {CUDA_OPERATING_SYSTEM, true, NULL},
    {CUDA_UNKNOWN, true, NULL},
    {CUDA_STUB_LIBRARY, false, "this is the toolkit's stub to link with, not the driver's library"},
    {CUDA_SYSTEM_NOT_READY, false, "NVSwitch systems need the service nvidia-fabricmanager"},
    {CUDA_SYSTEM_DRIVER_MISMATCH, false, "the library and the kernel's module are of different releases"},
    {0, false, NULL},
};

static const struct gpu_device_file files[] = {
    {"nvidiactl", "nvidiactl", "the nvidia driver is not loaded, or this container was not given it"},
    {"nvidia-uvm", "nvidia-uvm", "the module nvidia_uvm is not loaded, or this container was not given it"},
    {"nvidia[0-9]*", "nvidia0", "no card, or this container was not given one"},
    {NULL, NULL, NULL},
};

static const char *const masks[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", NULL};

const struct gpu_vendor cuda_vendor = {
    .ops = &device_cuda,
    .api = &cuda_calls,
    .size_bytes = sizeof(struct cuda),
    .library = "libcuda",
    .whole = "CUDA's driver",
    .variable = "ROOFTILE_CUDA_LIBRARY",
    .absent = "no " CUDA_NAME ", which NVIDIA's driver brings, in the loader's path, /usr/local/nvidia/lib64 or "
              "/usr/lib/wsl/lib (ROOFTILE_CUDA_LIBRARY names another place)",
    .open_flags = RTLD_LOCAL,
    .symbols = cuda_symbols,
    .needs = cuda_needs,
    .search = cuda_search,
    .no_device = CUDA_NO_DEVICE,
    .hints = hints,
    .files = files,
    .masks = masks,
    .attributes =
        {
            [GPU_CAPABILITY_MAJOR] = {CUDA_CAPABILITY_MAJOR, true, false},
            [GPU_CAPABILITY_MINOR] = {CUDA_CAPABILITY_MINOR, true, true},
            [GPU_WAVE] = {CUDA_WARP_SIZE, true, false},
            [GPU_UNITS] = {CUDA_MULTIPROCESSOR_COUNT, true, false},
            [GPU_BLOCK] = {CUDA_MAX_THREADS_PER_BLOCK, true, false},
            [GPU_GRID_X] = {CUDA_MAX_GRID_X, true, false},
            [GPU_GRID_Y] = {CUDA_MAX_GRID_Y, true, false},
            [GPU_GRID_Z] = {CUDA_MAX_GRID_Z, true, false},
            [GPU_LDS] = {CUDA_MAX_SHARED_MEMORY_OPTIN, true, false},
            [GPU_CORE_KHZ] = {CUDA_CLOCK_RATE, false, true},
            [GPU_MEMORY_KHZ] = {CUDA_MEMORY_CLOCK_RATE, false, true},
            [GPU_L2] = {CUDA_L2_CACHE_SIZE, false, true},
            [GPU_TOGETHER] = {CUDA_COOPERATIVE_LAUNCH, false, true},
            [GPU_MANAGED] = {CUDA_MANAGED_MEMORY, false, true},
            [GPU_PAGEABLE] = {CUDA_PAGEABLE_MEMORY_ACCESS, false, true},
            [GPU_UNIFIED] = {CUDA_UNIFIED_ADDRESSING, false, true},
        },
    .lacks_spaces = SPACE_BIT(SPACE_FINE) | SPACE_BIT(SPACE_PINNED_COARSE),
    .describe = cuda_describe,
    .sense = sense,
    .close = close_device,
    .find_ranges = nvtx_find,
    .no_ranges = NVTX_MISSING,
};

const struct device_ops device_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs through the driver's libcuda, which is looked for when it is needed",
    GPU_OPERATIONS,
    .count = count_devices,
    .open = open_device,
};
