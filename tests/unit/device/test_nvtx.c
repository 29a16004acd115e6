/* SPDX-License-Identifier: MIT */
#include "cuda_rig.h"

#include "../../../src/device/nvtx.h"

static void pushes_and_pops(void **state)
{
    char path[64] = "/tmp/rooftile-roctx-XXXXXX";
    const int file = mkstemp(path);
    struct nvtx nvtx = {0};
    struct err err = {0};
    struct arena arena = {0};
    char *log = NULL;
    size_t length = 0;
    (void)state;
    assert_true(file >= 0);
    close(file);
    setenv("ROOFTILE_NVTX_LIBRARY", fake_path("fake_roctx"), 1);
    setenv("FAKE_ROCTX_LOG", path, 1);
    nvtx_pop(&nvtx); /* before there is a library: nothing */
    assert_int_equal(nvtx_push(&nvtx, "gemm/n=1", &err), STATUS_OK);
    assert_int_equal(nvtx_push(&nvtx, "warm", &err), STATUS_OK);
    nvtx_pop(&nvtx);
    nvtx_pop(&nvtx);
    assert_int_equal(file_read(&log, &length, path, 4096, &arena, &err), STATUS_OK);
    assert_string_equal(log, "push gemm/n=1\npush warm\npop\npop\n");
    arena_release(&arena);
    unlink(path);
}

static void goes_on_without_a_library(void **state)
{
    const char *const useless[] = {"/nonexistent.so", fake_path(FULL)};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        struct nvtx nvtx = {0};
        struct err err = {0};
        setenv("ROOFTILE_NVTX_LIBRARY", useless[i], 1);
        for (int round = 0; round < 2; ++round)
            assert_int_equal(nvtx_push(&nvtx, "range", &err), ERR_UNSUPPORTED);
        assert_says(err.text, "libnvToolsExt.so.1 (CUDA 12 and older) cannot be loaded");
        nvtx_pop(&nvtx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_and_pops),
        cmocka_unit_test(goes_on_without_a_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
