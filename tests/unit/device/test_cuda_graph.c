/* SPDX-License-Identifier: MIT */
#include "cuda_rig.h"

#include <math.h>

enum { PLACES = 2, ROUNDS = 3, WORDS = 16 };

struct rig {
    struct fake_cuda_state *fake;
    struct device *device;
    struct store stores[PLACES];
    struct device_launch launches[PLACES];
};

static void rig_open(struct rig *rig, const char *library)
{
    struct device_info info;
    rig->fake = fake_state(library);
    rig->device = open_fake(library, &info);
    for (uint32_t k = 0; k < PLACES; ++k) {
        store_open(&rig->stores[k], rig->device, WORDS);
        rig->stores[k].value = 7 + k;
        rig->launches[k] = rig->stores[k].launch;
    }
}

static void rig_close(struct rig *rig)
{
    for (uint32_t k = 0; k < PLACES; ++k)
        rig->device->ops->unload(rig->device, rig->stores[k].module);
    rig->device->ops->close(rig->device);
    assert_int_equal(rig->fake->capturing, 0);
    nothing_is_left(rig->fake);
}

static uint32_t last_word(const struct store *store)
{
    return ((const uint32_t *)store->to)[WORDS - 1];
}

/* Every launch as often as asked for, with the arguments of the time of making, in the time that they take together. */
static void repeats_launches(void **state)
{
    struct rig rig;
    struct err err = {0};
    struct device_graph *graph = NULL;
    double time_ns = 0;
    (void)state;
    rig_open(&rig, FULL);
    const struct device_ops *ops = rig.device->ops;
    const unsigned before = rig.fake->launches;
    assert_int_equal(ops->graph_make(&graph, rig.device, rig.launches, PLACES, ROUNDS, &err), STATUS_OK);
    assert_int_equal(rig.fake->launches, before);
    assert_int_equal(last_word(&rig.stores[0]), 0);
    rig.stores[0].value = 99;
    assert_int_equal(ops->mark(rig.device, 0, 0, &err), STATUS_OK);
    assert_int_equal(ops->graph_launch(rig.device, graph, 0, &err), STATUS_OK);
    assert_int_equal(ops->mark(rig.device, 1, 0, &err), STATUS_OK);
    assert_int_equal(ops->wait(rig.device, &err), STATUS_OK);
    assert_int_equal(ops->elapsed(&time_ns, rig.device, 0, 1, &err), STATUS_OK);
    assert_int_equal(rig.fake->launches, before + PLACES * ROUNDS);
    assert_true(fabs(time_ns - (PLACES * ROUNDS * 12000 + 3000)) < 1);
    assert_int_equal(last_word(&rig.stores[0]), 7);
    assert_int_equal(last_word(&rig.stores[1]), 8);
    ops->graph_free(rig.device, graph);
    ops->graph_free(rig.device, NULL);
    rig_close(&rig);
}

static void says_what_the_library_lacks(void **state)
{
    struct rig rig;
    struct err err = {0};
    struct device_graph *graph = NULL;
    (void)state;
    rig_open(&rig, BARE);
    assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, 1, &err), ERR_UNSUPPORTED);
    assert_says(err.text, "libfake_cuda_bare.so lacks cuStreamBeginCapture_v2");
    assert_null(graph);
    rig_close(&rig);
}

static void takes_no_cooperative_launch(void **state)
{
    struct rig rig;
    struct err err = {0};
    struct device_graph *graph = NULL;
    (void)state;
    rig_open(&rig, FULL);
    rig.launches[1].cooperative = true;
    assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, 1, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "a cooperative launch cannot stand in a graph");
    rig_close(&rig);
}

/* No stream is left capturing, and no half of a graph behind. */
static void ends_a_capture_that_fails(void **state)
{
    static const char *const failing[] = {"cuStreamCreate:1",     "cuStreamBeginCapture_v2:1",
                                          "cuLaunchKernel:1",     "cuLaunchKernel:4",
                                          "cuStreamEndCapture:1", "cuGraphInstantiateWithFlags:1"};
    (void)state;
    for (size_t k = 0; k < sizeof(failing) / sizeof(failing[0]); ++k) {
        struct rig rig;
        struct err err = {0};
        struct device_graph *graph = NULL;
        char told[64];
        rig_open(&rig, FULL);
        snprintf(told, sizeof(told), "%s:1234", failing[k]);
        setenv("FAKE_CUDA_FAIL", told, 1);
        rig.fake->seen = rig.fake->failed = 0;
        assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, ROUNDS, &err),
                         ERR_DEVICE);
        assert_int_equal(rig.fake->failed, 1);
        assert_says(err.text, "error 1234");
        assert_null(graph);
        unsetenv("FAKE_CUDA_FAIL");
        assert_int_equal(rig.device->ops->graph_make(&graph, rig.device, rig.launches, PLACES, ROUNDS, &err),
                         STATUS_OK);
        rig.device->ops->graph_free(rig.device, graph);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_launches),
        cmocka_unit_test(says_what_the_library_lacks),
        cmocka_unit_test(takes_no_cooperative_launch),
        cmocka_unit_test(ends_a_capture_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
