/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

#include <math.h>

enum { PLACES = 2, ROUNDS = 3, WORDS = 16 };

struct graphs {
    const struct gpu_rig *rig;
    struct fake_gpu_state *fake;
    struct device *device;
    struct store stores[PLACES];
    struct device_launch launches[PLACES];
};

static void graphs_open(struct graphs *graphs, const struct gpu_rig *rig, const char *library)
{
    struct device_info info;
    graphs->rig = rig;
    graphs->fake = fake_state(library);
    graphs->device = open_fake(rig, library, &info);
    for (uint32_t k = 0; k < PLACES; ++k) {
        store_open(&graphs->stores[k], graphs->device, WORDS);
        graphs->stores[k].value = 7 + k;
        graphs->launches[k] = graphs->stores[k].launch;
    }
}

static void graphs_close(struct graphs *graphs)
{
    for (uint32_t k = 0; k < PLACES; ++k)
        graphs->device->ops->unload(graphs->device, graphs->stores[k].module);
    graphs->device->ops->close(graphs->device);
    nothing_is_left(graphs->fake);
}

static uint32_t last_word(const struct store *store)
{
    return ((const uint32_t *)store->to)[WORDS - 1];
}

/* Every launch as often as asked for, with the arguments of the time of making, in the time that they take together. */
static void repeats_launches(void **state)
{
    const struct gpu_rig *rig = *state;
    for (size_t i = 0; i < COUNT_OF(rig->usable) && rig->usable[i]; ++i) {
        struct graphs graphs;
        struct err err = {0};
        struct device_graph *graph = NULL;
        double time_ns = 0;
        if (rig->usable[i] == rig->bare)
            continue;
        graphs_open(&graphs, rig, rig->usable[i]);
        const struct device_ops *ops = graphs.device->ops;
        const unsigned before = graphs.fake->launches;
        assert_int_equal(ops->graph_make(&graph, graphs.device, graphs.launches, PLACES, ROUNDS, &err), STATUS_OK);
        assert_int_equal(graphs.fake->launches, before);
        assert_int_equal(last_word(&graphs.stores[0]), 0);
        graphs.stores[0].value = 99;
        assert_int_equal(ops->event(graphs.device, 0, 0, &err), STATUS_OK);
        assert_int_equal(ops->graph_launch(graphs.device, graph, 0, &err), STATUS_OK);
        assert_int_equal(ops->event(graphs.device, 1, 0, &err), STATUS_OK);
        assert_int_equal(ops->wait(graphs.device, &err), STATUS_OK);
        assert_int_equal(ops->elapsed(&time_ns, graphs.device, 0, 1, &err), STATUS_OK);
        assert_int_equal(graphs.fake->launches, before + PLACES * ROUNDS);
        assert_true(fabs(time_ns - (PLACES * ROUNDS * 12000 + 3000)) < 1);
        assert_int_equal(last_word(&graphs.stores[0]), 7);
        assert_int_equal(last_word(&graphs.stores[1]), 8);
        ops->graph_free(graphs.device, graph);
        ops->graph_free(graphs.device, NULL);
        graphs_close(&graphs);
    }
}

static void says_what_the_library_lacks(void **state)
{
    const struct gpu_rig *rig = *state;
    struct graphs graphs;
    struct err err = {0};
    struct device_graph *graph = NULL;
    char text[80];
    graphs_open(&graphs, rig, rig->bare);
    assert_int_equal(graphs.device->ops->graph_make(&graph, graphs.device, graphs.launches, PLACES, 1, &err),
                     ERR_UNSUPPORTED);
    snprintf(text, sizeof(text), "lib%s.so lacks %s", rig->bare, rig->capture_begin);
    assert_says(err.text, text);
    assert_null(graph);
    graphs_close(&graphs);
}

static void takes_no_cooperative_launch(void **state)
{
    const struct gpu_rig *rig = *state;
    struct graphs graphs;
    struct err err = {0};
    struct device_graph *graph = NULL;
    graphs_open(&graphs, rig, rig->full);
    graphs.launches[1].cooperative = true;
    assert_int_equal(graphs.device->ops->graph_make(&graph, graphs.device, graphs.launches, PLACES, 1, &err),
                     ERR_UNSUPPORTED);
    assert_string_equal(err.text, "a cooperative launch cannot stand in a graph");
    graphs_close(&graphs);
}

/* No stream is left capturing, and no half of a graph behind. */
static void ends_a_capture_that_fails(void **state)
{
    const struct gpu_rig *rig = *state;
    const struct {
        const char *function;
        unsigned nth;
    } failing[] = {{rig->stream_make, 1}, {rig->capture_begin, 1}, {rig->launch, 1},
                   {rig->launch, 4},      {rig->capture_end, 1},   {rig->instantiate, 1}};
    for (size_t k = 0; k < COUNT_OF(failing); ++k) {
        struct graphs graphs;
        struct err err = {0};
        struct device_graph *graph = NULL;
        char told[64];
        graphs_open(&graphs, rig, rig->full);
        snprintf(told, sizeof(told), "%s:%u:1234", failing[k].function, failing[k].nth);
        tell_fake(rig, "FAIL", told);
        assert_int_equal(graphs.device->ops->graph_make(&graph, graphs.device, graphs.launches, PLACES, ROUNDS, &err),
                         ERR_DEVICE);
        assert_int_equal(graphs.fake->failed, 1);
        assert_says(err.text, "error 1234");
        assert_says(err.text, failing[k].function);
        assert_null(graph);
        tell_fake(rig, "FAIL", NULL);
        assert_int_equal(graphs.device->ops->graph_make(&graph, graphs.device, graphs.launches, PLACES, ROUNDS, &err),
                         STATUS_OK);
        graphs.device->ops->graph_free(graphs.device, graph);
        graphs_close(&graphs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(repeats_launches),
        ON_BOTH(says_what_the_library_lacks),
        ON_BOTH(takes_no_cooperative_launch),
        ON_BOTH(ends_a_capture_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
