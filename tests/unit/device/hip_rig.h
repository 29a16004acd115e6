/* SPDX-License-Identifier: MIT
 *
 * What the tests of the HIP backend share: the stand-ins for libamdhip64 (tests/double), which are built beside the
 * tests.
 */
#ifndef ROOFTILE_TESTS_HIP_RIG_H
#define ROOFTILE_TESTS_HIP_RIG_H

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

#include "../../../src/device/hip.h"
#include "../../double/fake_hip.h"
#include "rooftile/file.h"

#define FULL "fake_hip"
#define OLD "fake_hip_old"
#define BARE "fake_hip_bare"
#define BROKEN "fake_hip_broken"

/* Path of a stand-in; the memory is the program's. */
static inline const char *fake_path(const char *name)
{
    static struct arena arena;
    char *dir = path_self_dir(&arena);
    return arena_printf(&arena, "%s/double/lib%s.so", dir, name);
}

/* What the user's environment says about HIP must not reach the tests. */
static inline void clear_environment(void)
{
    static const char *const names[] = {"ROOFTILE_HIP_LIBRARY", "ROCM_PATH",         "LD_LIBRARY_PATH",
                                        "FAKE_HIP_DEVICES",     "FAKE_HIP_FAIL",     "ROCR_VISIBLE_DEVICES",
                                        "HIP_VISIBLE_DEVICES",  "GPU_DEVICE_ORDINAL"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
        unsetenv(names[i]);
}

static inline void use_fake(const char *name)
{
    clear_environment();
    setenv("ROOFTILE_HIP_LIBRARY", fake_path(name), 1);
    setenv("ROOFTILE_CUDA_LIBRARY", "/nonexistent.so", 1);
}

/* The inside of a stand-in that the backend has loaded, or will. */
static inline struct fake_hip_state *fake_state(const char *name)
{
    struct fake_hip_state *(*get)(void);
    void *handle = dlopen(fake_path(name), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *address = dlsym(handle, "fake_hip_state");
    memcpy(&get, &address, sizeof(get));
    return get();
}

static inline void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text ? text : "", part);
}

#endif
