/* SPDX-License-Identifier: MIT
 *
 * AMD GPUs: what is AMD's own, over gpu.h. Which flag of memory means what: hip_runtime_api.h and clr's hip_memory.cpp.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIP_STEM "libamdhip64.so"

/* Of the names that the loader is asked for: Debian 12 has 5, and the newest must not be a matter of a new release. */
enum { NEWEST_MAJOR = 30, OLDEST_MAJOR = 5 };

#define HIP_TRY(gpu, err, function, ...)                                                                               \
    gpu_check((gpu), calls_of(gpu)->function(__VA_ARGS__), offsetof(struct hip, calls.function), (err))

static const struct hip_calls *calls_of(const struct gpu *gpu)
{
    return &((const struct hip *)gpu)->calls;
}

/* ---- the library ---- */

#define SHARED(member, cuda, hip, need, parameters) {#hip, offsetof(struct gpu, api.member), need},
#define OWN(function, need, parameters) {#function, offsetof(struct hip, calls.function), need},
static const struct library_symbol symbols[] = {
    GPU_CALLS(SHARED) HIP_CALLS(OWN){"hipGetErrorName", offsetof(struct hip, calls.hipGetErrorName), GPU_OPTIONAL},
    /* Older libraries have this function under its C++ name. */
    {"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
     offsetof(struct hip, calls.hipExtModuleLaunchKernel), GPU_OWN_TIMES},
    {NULL, 0, 0},
};

/* "libamdhip64.so" and "libamdhip64.so.7.2", but no "libamdhip64.so.debug". */
static bool is_library(const char *path)
{
    const char *stem = strrchr(path, '/');
    const char *version = stem ? stem + 1 + strlen(HIP_STEM) : "";
    return stem && version[strspn(version, ".0123456789")] == '\0';
}

/* The library of the highest version below folders of a shell pattern; numbers compare as numbers: core-10 is above
 * core-7. */
static bool try_folders(struct gpu_search *search, const char *pattern)
{
    struct text files = {0};
    glob_t found = {0};
    const char *best = NULL;
    text_addf(&files, "%s/" HIP_STEM "*", pattern);
    if (glob(files.data, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; ++i)
            if (is_library(found.gl_pathv[i]) && (!best || strverscmp(found.gl_pathv[i], best) > 0))
                best = found.gl_pathv[i];
    const bool usable = best && gpu_try_library(search, best, true) == GPU_USABLE;
    globfree(&found);
    text_release(&files);
    return usable;
}

/* The folders that the user put before the loader's own are searched like the others, highest version first. */
static bool try_loader_folders(struct gpu_search *search)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    bool usable = false;
    while (path && *path && !usable) {
        struct text folder = {0};
        const size_t length = strcspn(path, ":");
        text_addn(&folder, path, length);
        usable = length && try_folders(search, folder.data);
        text_release(&folder);
        path += length + (path[length] == ':');
    }
    return usable;
}

/* The loader knows its folders, and finds exact names only: each major version is asked for, last the link of
 * development packages. One that it finds and cannot load is the news. */
static bool try_loader(struct gpu_search *search)
{
    enum gpu_found found = GPU_ABSENT;
    char name[64];
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR - 1 && found == GPU_ABSENT; --major) {
        snprintf(name, sizeof(name), major >= OLDEST_MAJOR ? HIP_STEM ".%d" : HIP_STEM, major);
        found = gpu_try_library(search, name, false);
    }
    return found == GPU_USABLE;
}

static bool search_library(struct gpu_search *search)
{
    const char *rocm = getenv("ROCM_PATH");
    if (rocm && *rocm) {
        struct text folder = {0};
        text_addf(&folder, "%s/lib", rocm);
        const bool usable = try_folders(search, folder.data);
        text_release(&folder);
        if (usable)
            return true;
    }
    return try_folders(search, "/opt/rocm/lib") || try_folders(search, "/opt/rocm/core*/lib") ||
           try_loader_folders(search) || try_loader(search);
}

/* ---- calls ---- */

/* A library calls what is newer than itself "unknown": the number says more. */
static const char *error_name(const char **text, const struct gpu *gpu, gpu_error code)
{
    const char *name = calls_of(gpu)->hipGetErrorName ? calls_of(gpu)->hipGetErrorName(code) : NULL;
    (void)text;
    return !name || !*name || (code != GPU_UNKNOWN && strcasestr(name, "unknown")) ? NULL : name;
}

static enum status enter(struct gpu *gpu, int index, struct err *err)
{
    return HIP_TRY(gpu, err, hipSetDevice, index);
}

static enum status reach(struct gpu *gpu, int to, struct err *err)
{
    const gpu_error code = calls_of(gpu)->hipDeviceEnablePeerAccess(to, 0);
    return code == GPU_PEER_ACCESS_ALREADY_ENABLED
               ? STATUS_OK
               : gpu_check(gpu, code, offsetof(struct hip, calls.hipDeviceEnablePeerAccess), err);
}

static enum status copy(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, bool wait, struct err *err)
{
    return wait ? HIP_TRY(gpu, err, hipMemcpy, to, from, size_bytes, HIP_MEMCPY_DEFAULT)
                : HIP_TRY(gpu, err, hipMemcpyAsync, to, from, size_bytes, HIP_MEMCPY_DEFAULT, stream);
}

static enum status alloc_fine(void **pointer, const struct gpu *gpu, uint64_t size_bytes, struct err *err)
{
    return HIP_TRY(gpu, err, hipExtMallocWithFlags, pointer, size_bytes, HIP_MALLOC_FINE_GRAINED);
}

static enum status load(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err)
{
    return HIP_TRY(gpu, err, hipModuleLoad, code, path) ? err_within(err, "%s", path) : STATUS_OK;
}

/* This function counts the grid in work-items. */
enum status hip_launch_marked(struct device *device, const struct device_launch *launch, uint32_t from, uint32_t to,
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
    if (check_events(from, to, err) || gpu_stream_of(&stream, gpu, launch->stream, err))
        return err->status;
    return HIP_TRY(gpu, err, hipExtModuleLaunchKernel, launch->kernel->function, work[0], work[1], work[2],
                   launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes, stream, launch->args, NULL,
                   gpu->events[from], gpu->events[to], 0);
}

/* ---- what a device says about itself ---- */

/* Of the structure that hipGetDeviceProperties fills, larger in each release (R0600: 1472 bytes), only the architecture
 * is read: everything else is an attribute. ROCm 6 changed the layout, gave the function a new name, and still exports
 * the old one with the old layout. */
enum { PROPERTIES_BYTES = 16384, ARCH_AT_R0600 = 1160, ARCH_AT_R0000 = 396, ARCH_BYTES = 256 };

/* "gfx942:sramecc+:xnack-": the target, and the settings of this device. */
static enum status read_arch(char arch[static ARCH_BYTES], const struct gpu *gpu, struct err *err)
{
    const struct hip_calls *calls = calls_of(gpu);
    const bool renewed = calls->hipGetDevicePropertiesR0600;
    if (!renewed && !calls->hipGetDeviceProperties)
        return err_set(err, ERR_DEVICE, "%s lacks hipGetDeviceProperties", gpu->path);
    char *properties = new_zeroed(1, PROPERTIES_BYTES);
    enum status status = renewed ? HIP_TRY(gpu, err, hipGetDevicePropertiesR0600, properties, gpu->index)
                                 : HIP_TRY(gpu, err, hipGetDeviceProperties, properties, gpu->index);
    const char *name = properties + (renewed ? ARCH_AT_R0600 : ARCH_AT_R0000);
    if (!status && !text_starts(name, "gfx"))
        status = err_set(err, ERR_DEVICE, "%s: the device properties have an unknown layout", gpu->path);
    if (!status)
        snprintf(arch, ARCH_BYTES, "%.*s", ARCH_BYTES - 1, name);
    free(properties);
    return status;
}

/* What the operating system says about the card. */
static void read_pci(struct device_info *info, struct gpu *gpu)
{
    struct telemetry *telemetry = &((struct hip *)gpu)->telemetry;
    gpu_read_pci_bdf(info, gpu);
    telemetry_open(telemetry, info->pci_bdf);
    if (info->pci_bdf[0])
        telemetry_describe(info, telemetry);
}

/* AMD's are 16 characters of text, as in "GPU-" and the serial number. */
static void read_uuid(struct device_info *info, const struct gpu *gpu)
{
    char bytes[17] = "";
    struct err ignored = {0};
    if (!gpu->api.uuid || GPU_TRY(gpu, &ignored, uuid, (struct gpu_uuid *)bytes, gpu->handles[gpu->index]))
        return;
    const size_t length = strspn(bytes, "0123456789abcdefABCDEF");
    if (length && !bytes[length])
        snprintf(info->uuid, sizeof(info->uuid), "GPU-%s", bytes);
}

static void read_driver(struct device_info *info, const struct gpu *gpu)
{
    char kernel[32];
    int version = 0;
    struct err ignored = {0};
    sysfs_text(kernel, sizeof(kernel), "/sys/module/amdgpu", "version");
    if (calls_of(gpu)->hipRuntimeGetVersion && !HIP_TRY(gpu, &ignored, hipRuntimeGetVersion, &version) && version > 0)
        snprintf(info->driver, sizeof(info->driver), "HIP %d.%d.%d", version / 10000000, version / 100000 % 100,
                 version % 100000);
    if (kernel[0]) {
        const size_t length = strlen(info->driver);
        snprintf(info->driver + length, sizeof(info->driver) - length, "%samdgpu %s", length ? ", " : "", kernel);
    }
}

static enum status describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                            struct err *err)
{
    char arch[ARCH_BYTES];
    const enum status status = read_arch(arch, gpu, err);
    if (status)
        return status;
    snprintf(info->arch, sizeof(info->arch), "%.*s", (int)strcspn(arch, ":"), arch);
    snprintf(info->target, sizeof(info->target), "%s", info->arch);
    if (strchr(arch, ':'))
        snprintf(info->note, sizeof(info->note), "%s", arch);
    /* Events are read from the constant-rate counter. */
    const uint32_t tick_khz = facts[FACT_WALL_KHZ] ? facts[FACT_WALL_KHZ] : facts[FACT_CLOCK_KHZ];
    info->timer_tick_ns = tick_khz ? 1e6 / tick_khz : 0;
    read_uuid(info, gpu);
    read_pci(info, gpu);
    read_driver(info, gpu);
    return STATUS_OK;
}

static void sense(struct device_sense *sense, struct gpu *gpu)
{
    telemetry_sense(sense, &((struct hip *)gpu)->telemetry);
}

/* ---- the tables ---- */

static const struct gpu_hint hints[] = {
    {GPU_NO_DEVICE, true, NULL},
    {GPU_INVALID_DEVICE, true, NULL},
    {0, false, NULL},
};

static const struct gpu_device_file files[] = {
    {"kfd", "kfd", "the amdgpu driver is not loaded, or this container was not given it"},
    {"dri/renderD*", NULL, NULL},
    {NULL, NULL, NULL},
};

static const char *const masks[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", NULL};

#define ATTRIBUTE(fact, cuda, hip, cuda_rule, hip_rule) [FACT_##fact] = {hip, hip_rule},
const struct gpu_vendor hip_vendor = {
    .ops = &device_hip,
    .size_bytes = sizeof(struct hip),
    .library = "libamdhip64",
    .whole = "HIP",
    .variable = "ROOFTILE_HIP_LIBRARY",
    .absent = "no " HIP_STEM " in $ROCM_PATH/lib, /opt/rocm/lib, /opt/rocm/core*/lib or the loader's path "
              "(ROOFTILE_HIP_LIBRARY names another place)",
    /* Visible to what it loads itself, as in a program that is linked with it: its plug-ins may need its symbols, or
     * those of its own libraries. */
    .open_flags = RTLD_GLOBAL,
    .symbols = symbols,
    .search = search_library,
    .hints = hints,
    .files = files,
    .masks = masks,
    .attributes = {GPU_FACT_TABLE(ATTRIBUTE)},
    .pinned_flags = 0, /* fine-grained: both sides see writes while a kernel runs */
    .pinned_coarse_flags = HIP_HOST_MALLOC_NON_COHERENT,
    .error_name = error_name,
    .enter = enter,
    .reach = reach,
    .copy = copy,
    .alloc_fine = alloc_fine,
    .load = load,
    .describe = describe,
    .sense = sense,
    .find_ranges = roctx_find,
    .no_ranges = ROCTX_MISSING,
};
