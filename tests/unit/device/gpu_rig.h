/* SPDX-License-Identifier: MIT
 *
 * What the tests of the GPU backends share: the stand-ins for libamdhip64 and libcuda (tests/double), which are built
 * beside the tests, and what each vendor calls what. Tests run once for each vendor, whose rig is their state.
 */
#ifndef ROOFTILE_TESTS_GPU_RIG_H
#define ROOFTILE_TESTS_GPU_RIG_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../src/device/gpu.h"
#include "../../double/fake_gpu.h"
#include "rooftile/file.h"

/* A test of one vendor, and of both. */
#define ON(vendor, test)                                                                                               \
    {                                                                                                                  \
#vendor ": " #test, test, NULL, NULL, (void *)(uintptr_t)&vendor##_rig                                         \
    }
#define ON_BOTH(test) ON(hip, test), ON(cuda, test)

struct gpu_rig {
    const struct gpu_vendor *vendor;
    const struct device_ops *ops;
    const char *prefix;               /* of the stand-in's variables */
    const char *full, *bare, *broken; /* stand-ins: of everything, of required functions only, without one of those */
    const char *usable[3];            /* those with which a device opens */
    uint32_t lds_bytes;               /* that a launch may ask for */
    uint32_t units;                   /* workgroups of a cooperative launch */
    /* Names of functions. */
    const char *init, *get_count, *alloc, *launch, *launch_together, *stream_make, *capture_begin, *capture_end,
        *instantiate, *missing;
};

static const struct gpu_rig hip_rig = {
    .vendor = &hip_vendor,
    .ops = &device_hip,
    .prefix = "FAKE_HIP_",
    .full = "fake_hip",
    .bare = "fake_hip_bare",
    .broken = "fake_hip_broken",
    .usable = {"fake_hip", "fake_hip_bare", "fake_hip_old"},
    .lds_bytes = 256,
    .units = 304,
    .init = "hipInit",
    .get_count = "hipGetDeviceCount",
    .alloc = "hipMalloc",
    .launch = "hipModuleLaunchKernel",
    .launch_together = "hipModuleLaunchCooperativeKernel",
    .stream_make = "hipStreamCreateWithFlags",
    .capture_begin = "hipStreamBeginCapture",
    .capture_end = "hipStreamEndCapture",
    .instantiate = "hipGraphInstantiateWithFlags",
    .missing = "hipMemsetD8Async",
};

static const struct gpu_rig cuda_rig = {
    .vendor = &cuda_vendor,
    .ops = &device_cuda,
    .prefix = "FAKE_CUDA_",
    .full = "fake_cuda",
    .bare = "fake_cuda_bare",
    .broken = "fake_cuda_broken",
    .usable = {"fake_cuda", "fake_cuda_bare"},
    .lds_bytes = 200000,
    .units = 132,
    .init = "cuInit",
    .get_count = "cuDeviceGetCount",
    .alloc = "cuMemAlloc_v2",
    .launch = "cuLaunchKernel",
    .launch_together = "cuLaunchCooperativeKernel",
    .stream_make = "cuStreamCreate",
    .capture_begin = "cuStreamBeginCapture_v2",
    .capture_end = "cuStreamEndCapture",
    .instantiate = "cuGraphInstantiateWithFlags",
    .missing = "cuMemsetD8Async",
};

/* Path of a stand-in; the memory is the program's. */
static inline const char *fake_path(const char *name)
{
    static struct arena arena;
    char *dir = path_self_dir(&arena);
    return arena_printf(&arena, "%s/double/lib%s.so", dir, name);
}

/* What the user's environment says about GPUs must not reach the tests, nor what the last test said. */
static inline void clear_environment(void)
{
    static const char *const names[] = {"LD_LIBRARY_PATH", "ROCM_PATH", "ROOFTILE_ROCTX_LIBRARY",
                                        "ROOFTILE_NVTX_LIBRARY", "NVTX_INJECTION64_PATH"};
    static const char *const told[] = {"DEVICES", "FAIL", "NO_PEER", "NAME", "CAPABILITY", "NO_DISPATCH"};
    static const struct gpu_rig *const rigs[] = {&hip_rig, &cuda_rig};
    char name[64];
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        unsetenv(names[i]);
    for (size_t i = 0; i < COUNT_OF(rigs); ++i) {
        unsetenv(rigs[i]->vendor->place.variable);
        for (const char *const *mask = rigs[i]->vendor->masks; *mask; ++mask)
            unsetenv(*mask);
        for (size_t k = 0; k < COUNT_OF(told); ++k) {
            snprintf(name, sizeof(name), "%s%s", rigs[i]->prefix, told[k]);
            unsetenv(name);
        }
    }
}

/* The vendor's library is this stand-in, and there is no other GPU. */
static inline void use_fake(const struct gpu_rig *rig, const char *name)
{
    clear_environment();
    setenv(hip_rig.vendor->place.variable, "/nonexistent/hip.so", 1);
    setenv(cuda_rig.vendor->place.variable, "/nonexistent/cuda.so", 1);
    setenv("ROOFTILE_NVML_LIBRARY", "/nonexistent.so", 1);
    setenv(rig->vendor->place.variable, fake_path(name), 1);
}

/* The inside of a stand-in that the backend has loaded, or will. */
static inline struct fake_gpu_state *fake_state(const char *name)
{
    struct fake_gpu_state *(*get)(void);
    void *handle = dlopen(fake_path(name), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *address = dlsym(handle, "fake_gpu_state");
    memcpy(&get, &address, sizeof(get));
    return get();
}

/* Tells the stand-ins something; NULL takes it back. Calls are counted from now on. */
static inline void tell_fake(const struct gpu_rig *rig, const char *what, const char *value)
{
    struct fake_gpu_state *fake = fake_state(rig->full);
    char name[64];
    snprintf(name, sizeof(name), "%s%s", rig->prefix, what);
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    fake->seen = fake->failed = 0;
}

static inline struct device *open_numbered(const struct gpu_rig *rig, int index, struct device_info *info)
{
    const struct device_request request = {.index = index};
    struct device *device = NULL;
    struct err err = {0};
    if (rig->ops->open(&device, &request, info, &err))
        fail_msg("%s", err.text);
    return device;
}

static inline struct device *open_fake(const struct gpu_rig *rig, const char *library, struct device_info *info)
{
    use_fake(rig, library);
    return open_numbered(rig, 0, info);
}

static inline void nothing_is_left(const struct fake_gpu_state *fake)
{
    assert_int_equal(fake->live_memory, 0);
    assert_int_equal(fake->live_host, 0);
    assert_int_equal(fake->live_events, 0);
    assert_int_equal(fake->live_streams, 0);
    assert_int_equal(fake->live_modules, 0);
    assert_int_equal(fake->live_graphs, 0);
    assert_int_equal(fake->live_contexts, 0);
    assert_int_equal(fake->capturing, 0);
}

/* A loaded kernel "store" whose arguments are `to` and `value`. */
struct store {
    struct device_module *module;
    struct kernel_info info;
    struct device_launch launch;
    void *to, *args[2];
    uint32_t value;
};

static inline void store_open(struct store *store, struct device *device, uint32_t words)
{
    struct err err = {0};
    *store = (struct store){.launch = {.grid = {words / 8, 1, 1}, .block = {8, 1, 1}}, .value = 42};
    if (device->ops->load(&store->module, device, fake_path("fake_hip"), &err) ||
        device->ops->kernel(&store->launch.kernel, &store->info, device, store->module, "store", &err) ||
        device->ops->alloc(&store->to, device, words * sizeof(uint32_t), SPACE_DEVICE, &err))
        fail_msg("%s", err.text);
    memset(store->to, 0, words * sizeof(uint32_t));
    store->args[0] = &store->to;
    store->args[1] = &store->value;
    store->launch.args = store->args;
}

/* Everything that a backend does, once; stops at the first error, and leaves memory to be freed by close. */
static inline enum status do_everything(const struct gpu_rig *rig, struct device *device, uint32_t *result,
                                        struct err *err)
{
    const struct device_ops *ops = device->ops;
    struct device_module *module = NULL;
    struct device_launch launch = {.grid = {4, 1, 1}, .block = {8, 1, 1}, .lds_bytes = rig->lds_bytes, .stream = 1};
    struct kernel_info info;
    void *to = NULL, *from = NULL;
    uint32_t value = 42, host[32] = {0};
    double time_ns;
    launch.args = (void *[]){&to, &value};
    enum status status = ops->load(&module, device, fake_path(rig->full), err);
    if (!status)
        status = ops->kernel(&launch.kernel, &info, device, module, "store", err);
    if (!status)
        status = ops->alloc(&to, device, sizeof(host), SPACE_DEVICE, err);
    if (!status)
        status = ops->alloc(&from, device, sizeof(host), SPACE_DEVICE, err);
    if (!status)
        status = ops->write(device, from, host, sizeof(host), err);
    if (!status)
        status = ops->copy(device, to, from, sizeof(host), 0, err);
    if (!status)
        status = ops->fill(device, from, 7, sizeof(host), 0, err);
    if (!status)
        status = ops->event(device, 0, 0, err);
    if (!status)
        status = ops->wait_event(device, 1, 0, err);
    if (!status)
        status = ops->launch(device, &launch, err);
    if (!status)
        status = ops->event(device, 63, 1, err);
    if (!status)
        status = ops->wait(device, err);
    if (!status)
        status = ops->elapsed(&time_ns, device, 0, 63, err);
    if (!status)
        status = ops->read(device, host, to, sizeof(host), err);
    *result = host[31];
    ops->free(device, from);
    ops->unload(device, module);
    return status;
}

static inline void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text ? text : "", part);
}

#endif
