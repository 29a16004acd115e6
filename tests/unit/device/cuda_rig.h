/* SPDX-License-Identifier: MIT
 *
 * What the tests of the CUDA backend share: the stand-ins for libcuda (tests/double), which are built beside the tests.
 */
#ifndef ROOFTILE_TESTS_CUDA_RIG_H
#define ROOFTILE_TESTS_CUDA_RIG_H

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

#include "../../../src/device/cuda.h"
#include "../../double/fake_cuda.h"
#include "rooftile/file.h"

#define FULL "fake_cuda"
#define BARE "fake_cuda_bare"
#define BROKEN "fake_cuda_broken"

/* Path of a stand-in; the memory is the program's. */
static inline const char *fake_path(const char *name)
{
    static struct arena arena;
    char *dir = path_self_dir(&arena);
    return arena_printf(&arena, "%s/double/lib%s.so", dir, name);
}

/* What the user's environment says about CUDA must not reach the tests. */
static inline void clear_environment(void)
{
    static const char *const names[] = {"ROOFTILE_CUDA_LIBRARY", "ROOFTILE_NVML_LIBRARY", "LD_LIBRARY_PATH",
                                        "FAKE_CUDA_DEVICES",     "FAKE_CUDA_FAIL",        "FAKE_CUDA_NAME",
                                        "FAKE_CUDA_CAPABILITY",  "CUDA_VISIBLE_DEVICES",  "NVIDIA_VISIBLE_DEVICES",
                                        "FAKE_CUDA_NO_PEER"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
        unsetenv(names[i]);
}

static inline void use_fake(const char *name)
{
    clear_environment();
    setenv("ROOFTILE_CUDA_LIBRARY", fake_path(name), 1);
    setenv("ROOFTILE_NVML_LIBRARY", "/nonexistent.so", 1);
}

/* The inside of a stand-in that the backend has loaded, or will. */
static inline struct fake_cuda_state *fake_state(const char *name)
{
    struct fake_cuda_state *(*get)(void);
    void *handle = dlopen(fake_path(name), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *address = dlsym(handle, "fake_cuda_state");
    memcpy(&get, &address, sizeof(get));
    return get();
}

static inline struct device *open_fake(const char *library, struct device_info *info)
{
    const struct device_request request = {.backend = "cuda"};
    struct device *device = NULL;
    struct err err = {0};
    use_fake(library);
    if (device_cuda.open(&device, &request, info, &err))
        fail_msg("%s", err.text);
    return device;
}

static inline void nothing_is_left(const struct fake_cuda_state *fake)
{
    assert_int_equal(fake->live_memory, 0);
    assert_int_equal(fake->live_host, 0);
    assert_int_equal(fake->live_events, 0);
    assert_int_equal(fake->live_streams, 0);
    assert_int_equal(fake->live_modules, 0);
    assert_int_equal(fake->live_graphs, 0);
    assert_int_equal(fake->live_contexts, 0);
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
    if (device->ops->load(&store->module, device, fake_path(FULL), &err) ||
        device->ops->kernel(&store->launch.kernel, &store->info, device, store->module, "store", &err) ||
        device->ops->alloc(&store->to, device, words * sizeof(uint32_t), SPACE_DEVICE, &err))
        fail_msg("%s", err.text);
    memset(store->to, 0, words * sizeof(uint32_t));
    store->args[0] = &store->to;
    store->args[1] = &store->value;
    store->launch.args = store->args;
}

static inline void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text ? text : "", part);
}

#endif
