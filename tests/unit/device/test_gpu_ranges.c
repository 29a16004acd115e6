/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

static const char *variable_of(const struct gpu_rig *rig)
{
    return rig == &hip_rig ? "ROOFTILE_ROCTX_LIBRARY" : "ROOFTILE_NVTX_LIBRARY";
}

/* What is heard of two ranges, one in the other, by the library that the variable names. */
static void pushes_and_pops(const struct gpu_rig *rig, const char *variable, const char *library)
{
    char path[64] = "/tmp/rooftile-ranges-XXXXXX";
    const int file = mkstemp(path);
    struct device_info info;
    struct err err = {0};
    struct arena arena = {0};
    char *log = NULL;
    size_t length = 0;
    assert_true(file >= 0);
    close(file);
    struct device *device = open_fake(rig, rig->full, &info);
    setenv(variable, fake_path(library), 1);
    setenv("FAKE_ROCTX_LOG", path, 1);
    assert_int_equal(device->ops->range(device, NULL, &err), STATUS_OK); /* before there is a library: nothing */
    assert_int_equal(device->ops->range(device, "gemm/n=1", &err), STATUS_OK);
    assert_int_equal(device->ops->range(device, "warm", &err), STATUS_OK);
    assert_int_equal(device->ops->range(device, NULL, &err), STATUS_OK);
    assert_int_equal(device->ops->range(device, NULL, &err), STATUS_OK);
    assert_int_equal(file_read(&log, &length, path, 4096, &arena, &err), STATUS_OK);
    assert_string_equal(log, "push gemm/n=1\npush warm\npop\npop\n");
    device->ops->close(device);
    arena_release(&arena);
    unsetenv("FAKE_ROCTX_LOG"); /* else the next test's library makes the file again */
    unlink(path);
}

static void speaks_to_a_library(void **state)
{
    pushes_and_pops(*state, variable_of(*state), "fake_roctx");
}

static void speaks_to_a_tool(void **state)
{
    pushes_and_pops(*state, "NVTX_INJECTION64_PATH", "fake_nvtx_tool");
}

/* A tool that does not start, or takes no ranges, or is none. */
static void goes_on_without_a_tool(void **state)
{
    static const char *const cases[][2] = {{"fake_nvtx_tool", "fails"}, {"fake_nvtx_tool", "deaf"}, {"fake_cuda", ""}};
    const struct gpu_rig *rig = *state;
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        struct device_info info;
        struct err err = {0};
        struct device *device = open_fake(rig, rig->full, &info);
        setenv("NVTX_INJECTION64_PATH", fake_path(cases[i][0]), 1);
        setenv("FAKE_NVTX_TOOL", cases[i][1], 1);
        assert_int_equal(device->ops->range(device, "range", &err), ERR_UNSUPPORTED);
        assert_says(err.text, "no tool listens to NVTX (NVTX_INJECTION64_PATH), and");
        assert_int_equal(device->ops->range(device, NULL, &err), STATUS_OK);
        unsetenv("FAKE_NVTX_TOOL");
        device->ops->close(device);
    }
}

static void goes_on_without_a_library(void **state)
{
    const struct gpu_rig *rig = *state;
    const char *const useless[] = {"/nonexistent.so", fake_path(rig->full)};
    for (size_t i = 0; i < COUNT_OF(useless); ++i) {
        struct device_info info;
        struct err err = {0};
        struct device *device = open_fake(rig, rig->full, &info);
        setenv(variable_of(rig), useless[i], 1);
        for (int round = 0; round < 2; ++round)
            assert_int_equal(device->ops->range(device, "range", &err), ERR_UNSUPPORTED);
        assert_says(err.text, rig == &hip_rig ? "neither librocprofiler-sdk-roctx.so nor libroctx64.so can be loaded"
                                              : "there is no libnvToolsExt.so.1 (CUDA 12)");
        assert_int_equal(device->ops->range(device, NULL, &err), STATUS_OK);
        device->ops->close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(speaks_to_a_library),
        ON(cuda, speaks_to_a_tool),
        ON(cuda, goes_on_without_a_tool),
        ON_BOTH(goes_on_without_a_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
