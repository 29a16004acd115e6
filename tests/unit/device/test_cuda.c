/* SPDX-License-Identifier: MIT
 *
 * What only NVIDIA's backend does.
 */
#include "gpu_rig.h"

#include <math.h>

#define FULL "fake_cuda"
#define BARE "fake_cuda_bare"

static void describes_a_device(void **state)
{
    struct device_info info;
    (void)state;
    struct device *device = open_fake(&cuda_rig, FULL, &info);
    assert_string_equal(info.backend, "cuda");
    assert_string_equal(info.id, "cuda:0");
    assert_string_equal(info.name, "NVIDIA Fake H200");
    assert_string_equal(info.arch, "sm_90a");
    assert_string_equal(info.target, "sm_90a");
    assert_string_equal(info.pci_bdf, "FFFF:00:00.0");
    assert_string_equal(info.partition, "");
    assert_string_equal(info.uuid, "GPU-01234567-89ab-cdef-fedc-ba9876543210");
    assert_true(text_starts(info.driver, "CUDA 13.2"));
    assert_int_equal(info.wave, 32);
    assert_int_equal(info.cus, 132);
    assert_int_equal(info.max_block, 1024);
    assert_int_equal(info.max_grid[0], 2147483647);
    assert_int_equal(info.max_grid[2], 65535);
    assert_int_equal(info.lds_bytes, 232448);
    assert_true(info.cooperative);
    assert_int_equal(info.memory_bytes, FAKE_GPU_MEMORY_BYTES);
    assert_int_equal(info.memory_free_bytes, FAKE_GPU_MEMORY_BYTES / 2);
    assert_true(fabs(info.core_hz - 1.98e9) < 1 && fabs(info.memory_hz - 3.201e9) < 1);
    assert_true(fabs(info.timer_tick_ns - 8) < 1e-9);
    assert_true(fabs(info.counter_hz - 1e9) < 1);
    assert_int_equal(info.cache_count, 1);
    assert_int_equal(info.caches[0].size_bytes, 62914560);
    assert_false(info.predicted);
    device->ops->close(device);
    nothing_is_left(fake_state(FULL));
}

static void names_architectures(void **state)
{
    static const struct {
        const char *capability, *name, *arch, *partition, *uuid;
    } cases[] = {
        {"80", "NVIDIA A100-SXM4-80GB", "sm_80", "", "GPU-0123"},
        {"89", "NVIDIA GeForce RTX 4090", "sm_89", "", "GPU-0123"},
        {"90", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "sm_90a", "MIG 1g.10gb", "MIG-0123"},
        {"100", "NVIDIA B200", "sm_100a", "", "GPU-0123"},
        {"120", "", "sm_120a", "", "GPU-0123"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const struct device_request request = {.backend = "cuda"};
        struct device_info info;
        struct device *device = NULL;
        struct err err = {0};
        use_fake(&cuda_rig, FULL);
        setenv("FAKE_CUDA_CAPABILITY", cases[i].capability, 1);
        setenv("FAKE_CUDA_NAME", cases[i].name, 1);
        assert_int_equal(device_cuda.open(&device, &request, &info, &err), STATUS_OK);
        assert_string_equal(info.arch, cases[i].arch);
        assert_string_equal(info.name, cases[i].name[0] ? cases[i].name : cases[i].arch);
        assert_string_equal(info.partition, cases[i].partition);
        assert_true(text_starts(info.uuid, cases[i].uuid));
        device->ops->close(device);
    }
}

/* Half of a microsecond is what CUDA promises where the step cannot be found. */
static void finds_the_step_of_its_clock(void **state)
{
    static const struct {
        const char *fail;
        double tick_ns;
    } cases[] = {{"", 8}, {"cuEventRecord:3:1", 500}, {"cuCtxSynchronize:1:1", 500}, {"cuEventElapsedTime:60:1", 500}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const struct device_request request = {.backend = "cuda"};
        struct device_info info;
        struct device *device = NULL;
        struct err err = {0};
        use_fake(&cuda_rig, FULL);
        tell_fake(&cuda_rig, "FAIL", cases[i].fail);
        assert_int_equal(device_cuda.open(&device, &request, &info, &err), STATUS_OK);
        assert_true(fabs(info.timer_tick_ns - cases[i].tick_ns) < 1e-9);
        device->ops->close(device);
    }
}

static void loads_code(void **state)
{
    struct device_info info;
    struct device_module *module = NULL;
    const struct device_kernel *kernel = NULL;
    struct kernel_info facts;
    struct err err = {0};
    char path[] = "/tmp/rooftile_test_cuda_XXXXXX";
    (void)state;
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "bad", 3) == 3);
    close(file);
    struct device *device = open_fake(&cuda_rig, FULL, &info), *bare;
    assert_int_equal(device->ops->load(&module, device, path, &err), ERR_DEVICE);
    assert_says(err.text,
                "CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid: ptxas line 1; fatal: no version");
    assert_null(strstr(err.text, "and more"));
    assert_int_equal(device->ops->load(&module, device, "/nonexistent.cubin", &err), ERR_DEVICE);
    assert_says(err.text, "/nonexistent.cubin");
    unlink(path);
    assert_int_equal(device->ops->load(&module, device, fake_path(FULL), &err), STATUS_OK);
    assert_int_equal(device->ops->kernel(&kernel, &facts, device, module, "gone", &err), ERR_DEVICE);
    assert_string_equal(err.text, "no kernel 'gone' in the module");
    assert_int_equal(device->ops->kernel(&kernel, &facts, device, module, "store", &err), STATUS_OK);
    assert_true(facts.sizes_only);
    assert_int_equal(facts.arg_count, 2);
    assert_int_equal(facts.args[0].size_bytes, 8);
    assert_int_equal(facts.args[1].size_bytes, 4);
    device->ops->unload(device, module);
    device->ops->close(device);
    bare = open_fake(&cuda_rig, BARE, &info); /* before CUDA 12.4 */
    assert_int_equal(bare->ops->load(&module, bare, fake_path(FULL), &err), STATUS_OK);
    assert_int_equal(bare->ops->kernel(&kernel, &facts, bare, module, "store", &err), STATUS_OK);
    assert_int_equal(facts.arg_count, 0);
    bare->ops->unload(bare, module);
    bare->ops->close(bare);
}

/* Beyond 48 KiB a function must be told how much LDS its launches may ask for. */
static void allows_all_lds(void **state)
{
    struct device_info info;
    struct store store;
    struct err err = {0};
    (void)state;
    struct device *device = open_fake(&cuda_rig, FULL, &info);
    store_open(&store, device, 64);
    assert_int_equal(fake_state(FULL)->most_lds_bytes, 232448 - 4096);
    store.launch.lds_bytes = 232448 - 4096;
    assert_int_equal(device->ops->launch(device, &store.launch, &err), STATUS_OK);
    store.launch.lds_bytes += 4;
    assert_int_equal(device->ops->launch(device, &store.launch, &err), ERR_DEVICE);
    device->ops->unload(device, store.module);
    device->ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_a_device),
        cmocka_unit_test(names_architectures),
        cmocka_unit_test(finds_the_step_of_its_clock),
        cmocka_unit_test(loads_code),
        cmocka_unit_test(allows_all_lds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
