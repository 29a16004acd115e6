/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/device.h"

static struct device *open_sim(struct device_info *info, uint64_t seed)
{
    static const struct device_info machine = {.arch = "gfx942", .wave = 64, .cus = 304, .memory_bytes = 1 << 20};
    const struct device_request request = {
        .backend = "sim", .model = "mi300x", .seed = seed, .sim_info = &machine, .sim_launch_ns = 5000};
    struct device *device = NULL;
    struct err err = {0};
    assert_int_equal(device_sim.open(&device, &request, info, &err), STATUS_OK);
    return device;
}

static double timed_launch(struct device *device, double lower_bound_ns)
{
    struct device_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .lower_bound_ns = lower_bound_ns};
    struct err err = {0};
    double time_ns = 0;
    assert_int_equal(device->ops->event(device, 0, 0, &err), STATUS_OK);
    assert_int_equal(device->ops->launch(device, &launch, &err), STATUS_OK);
    assert_int_equal(device->ops->event(device, 1, 0, &err), STATUS_OK);
    assert_int_equal(device->ops->elapsed(&time_ns, device, 0, 1, &err), STATUS_OK);
    return time_ns;
}

static void describes_the_machine(void **state)
{
    struct device_info info;
    struct device *device = open_sim(&info, 1);
    (void)state;
    assert_string_equal(info.id, "sim:mi300x");
    assert_string_equal(info.backend, "sim");
    assert_string_equal(info.arch, "gfx942");
    assert_true(info.predicted);
    assert_int_equal(info.max_block, 1024);
    assert_false(device->ops->executes);
    assert_null(device->ops->sense);
    device->ops->close(device);
}

static void same_seed_same_times(void **state)
{
    struct device_info info;
    struct device *one = open_sim(&info, 1), *same = open_sim(&info, 1), *other = open_sim(&info, 2);
    int different = 0;
    (void)state;
    for (int i = 0; i < 100; ++i) {
        const double time_ns = timed_launch(one, 1e6);
        assert_true(time_ns == timed_launch(same, 1e6));
        different += time_ns != timed_launch(other, 1e6);
        assert_true(fabs(time_ns / 1005000 - 1) < 0.05);
    }
    assert_true(different > 90);
    one->ops->close(one);
    same->ops->close(same);
    other->ops->close(other);
}

static void time_is_lower_bound_plus_launch(void **state)
{
    static const struct {
        double lower_bound_ns, time_ns;
    } cases[] = {{0, 5000}, {1e6, 1005000}, {-3, 5000}, {NAN, 5000}};
    struct device_info info;
    struct device *device = open_sim(&info, 1);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
        assert_true(fabs(timed_launch(device, cases[i].lower_bound_ns) / cases[i].time_ns - 1) <
                    0.03); /* noise: 0.5 % */
    device->ops->close(device);
}

static void memory_is_limited(void **state)
{
    struct device_info info;
    struct err err = {0};
    struct device *device = open_sim(&info, 1);
    void *half = NULL, *rest = NULL, *more = NULL;
    (void)state;
    assert_int_equal(device->ops->alloc(&half, device, 1 << 19, SPACE_DEVICE, &err), STATUS_OK);
    assert_int_equal(device->ops->alloc(&more, device, (1 << 19) + 1, SPACE_DEVICE, &err), ERR_DEVICE_MEMORY);
    assert_string_equal(err.text, "524289 bytes asked for, 524288 available");
    assert_null(more);
    assert_int_equal(device->ops->alloc(&rest, device, 1 << 19, SPACE_DEVICE, &err), STATUS_OK);
    device->ops->free(device, half);
    assert_int_equal(device->ops->alloc(&more, device, 1 << 19, SPACE_DEVICE, &err), STATUS_OK);
    device->ops->close(device);
}

static void reads_are_zero_and_kernels_unknown(void **state)
{
    struct device_info info;
    struct err err = {0};
    struct kernel_info kernel_info;
    struct device_module *module;
    const struct device_kernel *kernel;
    struct device *device = open_sim(&info, 1);
    void *memory;
    uint64_t value = 7;
    (void)state;
    assert_int_equal(device->ops->alloc(&memory, device, 8, SPACE_DEVICE, &err), STATUS_OK);
    assert_int_equal(device->ops->write(device, memory, &value, 8, &err), STATUS_OK);
    assert_int_equal(device->ops->read(device, &value, memory, 8, &err), STATUS_OK);
    assert_int_equal(value, 0);
    assert_int_equal(device->ops->load(&module, device, "no such file", &err), STATUS_OK);
    assert_int_equal(device->ops->kernel(&kernel, &kernel_info, device, module, "any", &err), STATUS_OK);
    assert_int_equal(kernel_info.arg_count, 0);
    device->ops->unload(device, module);
    device->ops->close(device);
}

static void needs_a_machine(void **state)
{
    const struct device_request request = {.backend = "sim"};
    struct device_info info;
    struct device *device = NULL;
    struct err err = {0};
    (void)state;
    assert_int_equal(device_sim.open(&device, &request, &info, &err), ERR_DEVICE);
    assert_null(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_the_machine),
        cmocka_unit_test(same_seed_same_times),
        cmocka_unit_test(time_is_lower_bound_plus_launch),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(reads_are_zero_and_kernels_unknown),
        cmocka_unit_test(needs_a_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
