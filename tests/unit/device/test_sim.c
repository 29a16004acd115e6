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
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(reads_are_zero_and_kernels_unknown),
        cmocka_unit_test(needs_a_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
