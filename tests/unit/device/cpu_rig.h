/* SPDX-License-Identifier: MIT
 *
 * What the tests of the CPU device share: test_cpu.hip compiled as the driver does it, for both wave sizes, and a
 * device with the module loaded.
 */
#ifndef ROOFTILE_TESTS_CPU_RIG_H
#define ROOFTILE_TESTS_CPU_RIG_H

#include <math.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/cpu_target.h"
#include "rooftile/device.h"
#include "rooftile/spawn.h"

#define POISON 0x7fbadbadu
#define LANES 256u

/* The module of test_cpu.hip for each wave size, made once. */
static char folder[] = "/tmp/rooftile_test_cpu_XXXXXX";
static struct {
    uint32_t wave;
    char path[128];
} modules[] = {{.wave = 64}, {.wave = 32}};

static inline const char *module_path(uint32_t wave)
{
    return modules[wave == 32].path;
}

/* The kernels of test_cpu.hip. */
static const char exports[] =
    "-DROOFTILE_KERNELS=SIMT_EXPORT(scale) SIMT_EXPORT(arguments) SIMT_EXPORT(grid) SIMT_EXPORT(reverse) "
    "SIMT_EXPORT(reverse_without_barrier) SIMT_EXPORT(scan) SIMT_EXPORT(early_return) "
    "SIMT_EXPORT(different_barriers) SIMT_EXPORT(different_waves) SIMT_EXPORT(different_waits) "
    "SIMT_EXPORT(shuffles) SIMT_EXPORT(inactive) SIMT_EXPORT(one_wave) SIMT_EXPORT(unwritten) "
    "SIMT_EXPORT(functions) SIMT_EXPORT(atomics) SIMT_EXPORT(hidden) SIMT_EXPORT(nothing)";

/* Runs clang++ on the test's source as the driver does, with `extra` at the end; its output lives in `arena`. */
static inline char *compile(uint32_t wave, const char *const *extra, struct arena *arena)
{
    static const char *const fixed[] = {"clang++",
                                        "-std=c++17",
                                        "-O3",
                                        "-fPIC",
                                        "-fno-exceptions",
                                        "-fno-rtti",
                                        "-fno-threadsafe-statics",
                                        "-fvisibility=hidden",
                                        "-fno-math-errno",
                                        "-ffp-contract=fast",
                                        "-fno-stack-protector",
                                        "-Wall",
                                        "-Wextra",
                                        "-Werror",
                                        "-I" ROOFTILE_SOURCE_DIR "/kernels/include",
                                        "-DROOFTILE_SOURCE=\"" ROOFTILE_SOURCE_DIR "/tests/unit/device/test_cpu.hip\"",
                                        exports,
                                        ROOFTILE_SOURCE_DIR "/kernels/include/cpu_unit.cpp"};
    const char *argv[64] = {0};
    size_t used = 0, count = 0;
    struct text target = {0};
    struct err err = {0};
    struct spawn_result result;
    const char **flags;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); ++i)
        argv[used++] = fixed[i];
    cpu_target_detect(&target, "");
    assert_int_equal(cpu_target_flags(target.data, &flags, &count, arena, &err), STATUS_OK);
    for (size_t i = 0; i < count; ++i)
        argv[used++] = flags[i];
    argv[used++] = wave == 32 ? "-DROOFTILE_WAVE=32" : "-DROOFTILE_WAVE=64";
    for (size_t i = 0; extra[i]; ++i)
        argv[used++] = extra[i];
    assert_int_equal(spawn_run(&result, argv, NULL, 1 << 24, 120000, arena, &err), STATUS_OK);
    if (result.exit_code)
        fail_msg("clang++: %s", result.errors);
    text_release(&target);
    return result.output;
}

static inline int build_modules(void **state)
{
    (void)state;
    struct arena arena = {0};
    if (!spawn_which(&arena, "clang++")) {
        print_message("no clang++: the CPU device's kernels are not tested\n");
        arena_release(&arena);
        exit(0);
    }
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); ++i) {
        snprintf(modules[i].path, sizeof(modules[i].path), "%s/wave%u.so", folder, modules[i].wave);
        const char *const extra[] = {"-shared", "-nostdlib++", "-o", modules[i].path, NULL};
        compile(modules[i].wave, extra, &arena);
    }
    arena_release(&arena);
    return 0;
}

static inline int remove_modules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); ++i)
        unlink(modules[i].path);
    return rmdir(folder);
}

/* An open device with the module loaded. */
struct rig {
    struct device *device;
    struct device_info info;
    struct device_module *module;
    struct err err;
};

static inline void rig_open(struct rig *rig, struct device_request request)
{
    *rig = (struct rig){0};
    if (device_cpu.open(&rig->device, &request, &rig->info, &rig->err))
        fail_msg("%s", rig->err.text);
    if (device_cpu.load(&rig->module, rig->device, module_path(request.wave), &rig->err))
        fail_msg("%s", rig->err.text);
}

static inline void rig_close(struct rig *rig)
{
    device_cpu.unload(rig->device, rig->module);
    device_cpu.close(rig->device);
}

static inline const struct device_kernel *rig_kernel(struct rig *rig, const char *name, struct kernel_info *info)
{
    const struct device_kernel *kernel = NULL;
    struct kernel_info ignored;
    if (device_cpu.kernel(&kernel, info ? info : &ignored, rig->device, rig->module, name, &rig->err))
        fail_msg("%s", rig->err.text);
    return kernel;
}

static inline enum status rig_launch(struct rig *rig, const char *name, struct device_launch launch)
{
    launch.kernel = rig_kernel(rig, name, NULL);
    for (int i = 0; i < 3; ++i) {
        launch.grid[i] = launch.grid[i] ? launch.grid[i] : 1;
        launch.block[i] = launch.block[i] ? launch.block[i] : 1;
    }
    return device_cpu.launch(rig->device, &launch, &rig->err);
}

static const uint32_t waves[] = {64, 32};
static const enum lane_order orders[] = {LANES_FORWARD, LANES_BACKWARD, LANES_SHUFFLED};
#define EACH(i, array) (size_t i = 0; i < sizeof(array) / sizeof((array)[0]); ++i)

#endif
