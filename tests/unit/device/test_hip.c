/* SPDX-License-Identifier: MIT
 *
 * What only AMD's backend does.
 */
#include "gpu_rig.h"

#include <math.h>

#define FULL "fake_hip"
#define OLD "fake_hip_old"
#define BARE "fake_hip_bare"

static void describes_a_device(void **state)
{
    struct device_info info;
    (void)state;
    struct device *device = open_fake(&hip_rig, FULL, &info);
    assert_string_equal(info.backend, "hip");
    assert_string_equal(info.id, "hip:0");
    assert_string_equal(info.name, "Fake Instinct 0");
    assert_string_equal(info.arch, "gfx942");
    assert_string_equal(info.target, "gfx942");
    assert_string_equal(info.note, "gfx942:sramecc+:xnack-");
    assert_string_equal(info.pci_bdf, "ffff:00:00.0");
    assert_string_equal(info.pci_id, "");
    assert_string_equal(info.uuid, "GPU-0123456789abcdef");
    assert_true(text_starts(info.driver, "HIP 6.3.42134"));
    assert_int_equal(info.wave, 64);
    assert_int_equal(info.cus, 304); /* units, not WGPs */
    assert_int_equal(info.xccs, 8);
    assert_int_equal(info.max_block, 1024);
    assert_int_equal(info.max_grid[1], 65536);
    assert_int_equal(info.lds_bytes, 65536);
    assert_int_equal(info.memory_bytes, FAKE_GPU_MEMORY_BYTES);
    assert_int_equal(info.memory_free_bytes, FAKE_GPU_MEMORY_BYTES / 2);
    assert_true(fabs(info.core_hz - 2.1e9) < 1 && fabs(info.memory_hz - 1.3e9) < 1);
    assert_true(fabs(info.timer_tick_ns - 10) < 1e-9);
    assert_int_equal(info.cache_count, 1);
    assert_int_equal(info.caches[0].size_bytes, 4194304);
    assert_int_equal(info.caches[0].instances, 8);
    assert_false(info.predicted);
    device->ops->close(device);
}

/* ROCm 5.2: the other layout, attributes that it does not know, and hardly any optional function. */
static void describes_what_an_old_library_tells(void **state)
{
    static const char *const libraries[] = {OLD, BARE};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        struct device_info info;
        struct device *device = open_fake(&hip_rig, libraries[i], &info);
        assert_string_equal(info.arch, "gfx90a");
        assert_int_equal(info.cus, 152);
        assert_int_equal(info.xccs, 0);
        assert_int_equal(info.max_grid[2], 2147483647);
        assert_int_equal(info.caches[0].instances, 1);
        assert_true(fabs(info.timer_tick_ns - 40) < 1e-9);
        assert_string_equal(info.uuid, i ? "" : "GPU-0123456789abcdef");
        device->ops->close(device);
    }
}

static void events_a_kernels_own_time(void **state)
{
    static const struct {
        const char *library;
        uint32_t grid;
        enum status status;
        const char *says;
    } cases[] = {
        {FULL, 3, STATUS_OK, ""},
        {OLD, 3, STATUS_OK, ""},
        {BARE, 3, ERR_UNSUPPORTED, "libfake_hip_bare.so lacks hipExtModuleLaunchKernel"},
        {FULL, (1u << 28) + 3, ERR_UNSUPPORTED, "268435459 workgroups of 16 are more than 2^32 work-items"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct fake_gpu_state *fake = fake_state(cases[i].library);
        struct device_info device_info;
        struct kernel_info info;
        struct device_module *module;
        struct device_launch launch = {.grid = {cases[i].grid, 1, 1}, .block = {16, 1, 1}};
        struct err err = {0};
        uint32_t value = 5;
        void *to;
        double time_ns = -1;
        struct device *device = open_fake(&hip_rig, cases[i].library, &device_info);
        const struct device_ops *ops = device->ops;
        assert_int_equal(ops->load(&module, device, fake_path(FULL), &err), STATUS_OK);
        assert_int_equal(ops->kernel(&launch.kernel, &info, device, module, "store", &err), STATUS_OK);
        assert_int_equal(info.arg_count, 0);
        assert_int_equal(ops->alloc(&to, device, 48 * sizeof(value), SPACE_MANAGED, &err),
                         i == 2 ? ERR_UNSUPPORTED : STATUS_OK);
        launch.args = (void *[]){&to, &value};
        assert_int_equal(ops->launch_with_events(device, &launch, 2, 3, &err), cases[i].status);
        if (!cases[i].status) {
            assert_true(fake->launch_extended);
            assert_int_equal(fake->grid[0], 3); /* it was given 48 work-items */
            assert_int_equal(((const uint32_t *)to)[47], 5);
            assert_int_equal(ops->wait(device, &err), STATUS_OK);
            assert_int_equal(ops->elapsed(&time_ns, device, 2, 3, &err), STATUS_OK);
            assert_true(time_ns >= 0);
        } else {
            assert_says(err.text, cases[i].says);
            if (i == 3) /* the library would launch the three workgroups that are left of such a grid */
                assert_int_equal(ops->launch(device, &launch, &err), ERR_UNSUPPORTED);
        }
        ops->unload(device, module);
        ops->close(device);
        nothing_is_left(fake);
    }
}

/* Its own time, without what an event costs. */
static void tells_a_kernels_own_time(void **state)
{
    struct device_info info;
    struct store store;
    struct err err = {0};
    double time_ns = 0;
    (void)state;
    struct device *device = open_fake(&hip_rig, FULL, &info);
    const struct device_ops *ops = device->ops;
    store_open(&store, device, 64);
    assert_int_equal(ops->elapsed(&time_ns, device, 0, 1, &err), ERR_DEVICE); /* never reached */
    assert_string_equal(err.text, "hipEventElapsedTime: error 400");
    assert_int_equal(ops->launch_with_events(device, &store.launch, 2, 3, &err), STATUS_OK);
    assert_int_equal(ops->elapsed(&time_ns, device, 2, 3, &err), ERR_DEVICE); /* nobody waited yet */
    assert_string_equal(err.text, "hipEventElapsedTime: error 600");
    assert_int_equal(ops->wait(device, &err), STATUS_OK);
    assert_int_equal(ops->elapsed(&time_ns, device, 2, 3, &err), STATUS_OK);
    assert_true(fabs(time_ns - 12000) < 1);
    assert_int_equal(ops->launch_with_events(device, &store.launch, 2, 64, &err), ERR_DEVICE);
    assert_string_equal(err.text, "event 64: there are 64");
    store.launch.cooperative = true;
    assert_int_equal(ops->launch_with_events(device, &store.launch, 2, 3, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "a cooperative launch does not tell its own times");
    store.launch.cooperative = false;
    tell_fake(&hip_rig, "NO_DISPATCH", "1");
    assert_int_equal(ops->launch_with_events(device, &store.launch, 2, 3, &err), ERR_UNSUPPORTED);
    ops->unload(device, store.module);
    ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_a_device),
        cmocka_unit_test(describes_what_an_old_library_tells),
        cmocka_unit_test(events_a_kernels_own_time),
        cmocka_unit_test(tells_a_kernels_own_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
