/* SPDX-License-Identifier: MIT */
#include "hip_rig.h"

#include <math.h>

enum { WORDS = 48, PLACES = 2, ROUNDS = 3 };

struct rig {
    struct device *device;
    struct fake_hip_state *fake;
    struct device_module *module;
    struct device_launch launches[PLACES];
    uint32_t *memory[PLACES];
    uint32_t values[PLACES];
    void *args[PLACES][2];
};

static void rig_open(struct rig *rig, const char *library)
{
    const struct device_request request = {.backend = "hip"};
    struct device_info device_info;
    struct kernel_info info;
    struct err err = {0};
    *rig = (struct rig){.fake = fake_state(library)};
    use_fake(library);
    if (device_hip.open(&rig->device, &request, &device_info, &err))
        fail_msg("%s", err.text);
    const struct device_ops *ops = rig->device->ops;
    assert_int_equal(ops->load(&rig->module, rig->device, fake_path(library), &err), STATUS_OK);
    for (int k = 0; k < PLACES; ++k) {
        void *memory;
        rig->launches[k] = (struct device_launch){.grid = {3, 1, 1}, .block = {16, 1, 1}, .args = rig->args[k]};
        rig->values[k] = 7 + (uint32_t)k;
        assert_int_equal(ops->kernel(&rig->launches[k].kernel, &info, rig->device, rig->module, "store", &err),
                         STATUS_OK);
        assert_int_equal(ops->alloc(&memory, rig->device, WORDS * sizeof(uint32_t), SPACE_DEVICE, &err), STATUS_OK);
        rig->memory[k] = memory;
        memset(memory, 0, WORDS * sizeof(uint32_t));
        rig->args[k][0] = &rig->memory[k];
        rig->args[k][1] = &rig->values[k];
    }
}

static void rig_close(struct rig *rig)
{
    rig->device->ops->unload(rig->device, rig->module);
    rig->device->ops->close(rig->device);
    assert_int_equal(rig->fake->live_graphs, 0);
    assert_int_equal(rig->fake->live_streams, 0);
    assert_int_equal(rig->fake->live_memory, 0);
    assert_int_equal(rig->fake->capturing, 0);
}

/* Every launch as often as asked for, with the arguments of the time of making, in the time that they take together. */
static void repeats_launches(void **state)
{
    static const char *const libraries[] = {FULL, OLD};
    (void)state;
    for (size_t k = 0; k < 2; ++k) {
        struct rig rig;
        struct err err = {0};
        struct device_graph *graph = NULL;
        double time_ns = 0;
        rig_open(&rig, libraries[k]);
        const struct device_ops *ops = rig.device->ops;
        const unsigned before = rig.fake->launches;
        assert_int_equal(ops->graph_make(&graph, rig.device, rig.launches, PLACES, ROUNDS, &err), STATUS_OK);
        assert_int_equal(rig.fake->launches, before);
        assert_int_equal(rig.memory[0][0], 0);
        rig.values[0] = 99;
        assert_int_equal(ops->mark(rig.device, 0, 0, &err), STATUS_OK);
        assert_int_equal(ops->graph_launch(rig.device, graph, 0, &err), STATUS_OK);
        assert_int_equal(ops->mark(rig.device, 1, 0, &err), STATUS_OK);
        assert_int_equal(ops->wait(rig.device, &err), STATUS_OK);
        assert_int_equal(ops->elapsed(&time_ns, rig.device, 0, 1, &err), STATUS_OK);
        assert_int_equal(rig.fake->launches, before + PLACES * ROUNDS);
        assert_true(fabs(time_ns - (PLACES * ROUNDS * 12000 + 3000)) < 1);
        assert_int_equal(rig.memory[0][WORDS - 1], 7);
        assert_int_equal(rig.memory[1][WORDS - 1], 8);
        ops->graph_free(rig.device, graph);
        ops->graph_free(rig.device, NULL);
        rig_close(&rig);
    }
}

static void says_what_the_library_lacks(void **state)
{
    struct rig rig;
    struct err err = {0};
    struct device_graph *graph = NULL;
    (void)state;
    rig_open(&rig, BARE);
    assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, 1, &err), ERR_UNSUPPORTED);
    assert_says(err.text, "libfake_hip_bare.so lacks hipStreamBeginCapture");
    assert_null(graph);
    rig_close(&rig);
}

/* No stream is left capturing, and no half of a graph behind. */
static void ends_a_capture_that_fails(void **state)
{
    static const char *const failing[] = {"hipStreamCreateWithFlags:1", "hipStreamBeginCapture:1",
                                          "hipModuleLaunchKernel:1",    "hipModuleLaunchKernel:4",
                                          "hipStreamEndCapture:1",      "hipGraphInstantiate:1"};
    (void)state;
    for (size_t k = 0; k < sizeof(failing) / sizeof(failing[0]); ++k) {
        struct rig rig;
        struct err err = {0};
        struct device_graph *graph = NULL;
        char told[64];
        rig_open(&rig, FULL);
        snprintf(told, sizeof(told), "%s:1234", failing[k]);
        setenv("FAKE_HIP_FAIL", told, 1);
        rig.fake->seen = rig.fake->failed = 0;
        assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, ROUNDS, &err),
                         ERR_DEVICE);
        assert_int_equal(rig.fake->failed, 1);
        assert_says(err.text, "error 1234");
        assert_null(graph);
        unsetenv("FAKE_HIP_FAIL");
        assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, ROUNDS, &err),
                         STATUS_OK);
        rig.device->ops->graph_free(rig.device, graph);
        rig_close(&rig);
    }
}

/* Its own time, without what an event costs. */
static void tells_a_kernels_own_time(void **state)
{
    struct rig rig;
    struct err err = {0};
    double time_ns = 0;
    (void)state;
    rig_open(&rig, FULL);
    const struct device_ops *ops = rig.device->ops;
    assert_int_equal(ops->launch_marked(rig.device, &rig.launches[0], 2, 3, &err), STATUS_OK);
    assert_int_equal(ops->elapsed(&time_ns, rig.device, 2, 3, &err), STATUS_OK);
    assert_true(fabs(time_ns - 12000) < 1);
    setenv("FAKE_HIP_NO_DISPATCH", "1", 1);
    assert_int_equal(ops->launch_marked(rig.device, &rig.launches[0], 2, 3, &err), ERR_UNSUPPORTED);
    unsetenv("FAKE_HIP_NO_DISPATCH");
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_launches),
        cmocka_unit_test(says_what_the_library_lacks),
        cmocka_unit_test(ends_a_capture_that_fails),
        cmocka_unit_test(tells_a_kernels_own_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
