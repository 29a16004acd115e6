/* SPDX-License-Identifier: MIT */
#include "hip_rig.h"

#include <string.h>

/* All workgroups at once: where the library can, and what it says where not. */
static const struct {
    const char *library;
    uint32_t grid;
    enum status status;
    const char *says;
} cases[] = {
    {FULL, 304, STATUS_OK, ""},
    {FULL, 305, ERR_UNSUPPORTED, "305 x 1 x 1 workgroups cannot run at once on this device"},
    {OLD, 3, ERR_UNSUPPORTED, "libfake_hip_old.so lacks hipModuleLaunchCooperativeKernel"},
    {BARE, 3, ERR_UNSUPPORTED, "libfake_hip_bare.so lacks hipModuleLaunchCooperativeKernel"},
};

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

static void other_ways_refuse(struct device *device, const struct device_launch *launch)
{
    struct device_graph *graph = NULL;
    struct err err = {0};
    assert_int_equal(device->ops->launch_marked(device, launch, 2, 3, &err), ERR_UNSUPPORTED);
    contains(err.text, "a cooperative launch does not tell its own times");
    assert_int_equal(device->ops->graph_make(&graph, device, launch, 1, 1, &err), ERR_UNSUPPORTED);
    contains(err.text, "a cooperative launch cannot stand in a graph");
}

static void launches_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const struct device_request request = {.backend = "hip"};
        struct fake_hip_state *fake = fake_state(cases[i].library);
        struct device_info device_info;
        struct kernel_info info;
        struct device_module *module;
        struct device *device;
        struct device_launch launch = {.grid = {cases[i].grid, 1, 1}, .block = {1, 1, 1}, .cooperative = true};
        struct err err = {0};
        uint32_t value = 5;
        void *to;
        use_fake(cases[i].library);
        assert_int_equal(device_hip.open(&device, &request, &device_info, &err), STATUS_OK);
        assert_int_equal(device_info.cooperative, strcmp(cases[i].library, FULL) == 0);
        const struct device_ops *ops = device->ops;
        assert_int_equal(ops->load(&module, device, fake_path(FULL), &err), STATUS_OK);
        assert_int_equal(ops->kernel(&launch.kernel, &info, device, module, "store", &err), STATUS_OK);
        assert_int_equal(ops->alloc(&to, device, 400 * sizeof(value), SPACE_DEVICE, &err), STATUS_OK);
        launch.args = (void *[]){&to, &value};
        assert_int_equal(ops->launch(device, &launch, &err), cases[i].status);
        if (cases[i].status)
            contains(err.text, cases[i].says);
        assert_int_equal(fake->launch_cooperative, i == 0);
        if (i == 0)
            other_ways_refuse(device, &launch);
        launch.cooperative = false;
        launch.grid[0] = 3;
        assert_int_equal(ops->launch(device, &launch, &err), STATUS_OK);
        assert_int_equal(fake->launch_cooperative, 0);
        ops->unload(device, module);
        ops->close(device);
        assert_int_equal(fake->live_graphs + fake->live_memory + fake->capturing, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
