/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

static void opens_devices_by_number(void **state)
{
    const struct gpu_rig *rig = *state;
    const struct device_request request = {.index = 3};
    struct device_info info;
    struct device *device;
    struct err err = {0};
    char id[16], text[64];
    use_fake(rig, rig->full);
    tell_fake(rig, "DEVICES", "3");
    device = open_numbered(rig, 2, &info);
    assert_int_equal(fake_state(rig->full)->current_device, 2);
    snprintf(id, sizeof(id), "%s:2", rig->ops->name);
    assert_string_equal(info.id, id);
    device->ops->close(device);
    device = NULL;
    assert_int_equal(rig->ops->open(&device, &request, &info, &err), ERR_DEVICE_LOST);
    snprintf(text, sizeof(text), "no device %s:3: the library counts 3", rig->ops->name);
    assert_string_equal(err.text, text);
    assert_null(device);
    nothing_is_left(fake_state(rig->full));
}

static void does_everything(void **state)
{
    const struct gpu_rig *rig = *state;
    for (size_t i = 0; i < COUNT_OF(rig->usable) && rig->usable[i]; ++i) {
        struct fake_gpu_state *fake = fake_state(rig->usable[i]);
        struct device_info info;
        struct err err = {0};
        uint32_t result = 0;
        struct device *device = open_fake(rig, rig->usable[i], &info);
        if (do_everything(rig, device, &result, &err))
            fail_msg("%s", err.text);
        assert_int_equal(result, 42);
        assert_int_equal(fake->grid[0], 4);
        assert_int_equal(fake->block[0], 8);
        assert_int_equal(fake->lds_bytes, rig->lds_bytes);
        assert_int_equal(fake->live_memory, 1);
        device->ops->close(device);
        nothing_is_left(fake);
    }
}

/* Kinds of memory: which there are, which of them a library without the functions lacks, and that both are known
 * before. */
static void has_every_space_that_it_names(void **state)
{
    const struct gpu_rig *rig = *state;
    const unsigned never = rig->vendor->lacks_spaces | SPACE_BIT(SPACE_PEER) | SPACE_BIT(SPACE_PINNED_FAR);
    const unsigned always = SPACE_BIT(SPACE_DEVICE) | SPACE_BIT(SPACE_PAGEABLE);
    struct device_info info, bare_info;
    struct device *full = open_fake(rig, rig->full, &info), *bare = open_fake(rig, rig->bare, &bare_info);
    assert_int_equal(never, rig == &hip_rig ? SPACE_BIT(SPACE_PEER) | SPACE_BIT(SPACE_PINNED_FAR)
                                            : SPACE_BIT(SPACE_PEER) | SPACE_BIT(SPACE_PINNED_FAR) |
                                                  SPACE_BIT(SPACE_FINE) | SPACE_BIT(SPACE_PINNED_COARSE));
    assert_int_equal(info.lacks_spaces, never);
    assert_int_equal(bare_info.lacks_spaces, (1u << DEVICE_SPACES) - 1 - always);
    assert_int_equal(info.lacks_kernel_spaces, SPACE_BIT(SPACE_PAGEABLE));
    assert_int_equal(info.peers, 0);
    for (enum device_space space = 0; space < DEVICE_SPACES; ++space) {
        struct err err = {0};
        void *memory = NULL, *other = NULL;
        uint32_t value = 0x12345678, back = 0;
        const bool has = !(never & SPACE_BIT(space)), bare_has = always & SPACE_BIT(space);
        assert_int_equal(bare->ops->alloc(&other, bare, 64, space, &err), bare_has ? STATUS_OK : ERR_UNSUPPORTED);
        assert_int_equal(full->ops->alloc(&memory, full, 64, space, &err), has ? STATUS_OK : ERR_UNSUPPORTED);
        assert_int_equal(memory != NULL, has);
        if (!has)
            continue;
        assert_int_equal(full->ops->write(full, memory, &value, sizeof(value), &err), STATUS_OK);
        assert_int_equal(full->ops->read(full, &back, memory, sizeof(back), &err), STATUS_OK);
        assert_int_equal(back, value);
        full->ops->free(full, memory);
    }
    full->ops->close(full);
    bare->ops->close(bare);
    nothing_is_left(fake_state(rig->full));
    nothing_is_left(fake_state(rig->bare));
}

/* Pinned memory is reached by kernels, and fine-grained unless asked otherwise. */
static void asks_for_pinned_memory_as_it_must_be(void **state)
{
    static const struct {
        const struct gpu_rig *rig;
        enum device_space space;
        unsigned flags;
    } cases[] = {
        {&hip_rig, SPACE_PINNED, 0},
        {&hip_rig, SPACE_PINNED_COARSE, 0x80000000u},
        {&cuda_rig, SPACE_PINNED, 3}, /* portable, mapped */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        struct device_info info;
        struct err err = {0};
        void *memory;
        struct device *device = open_fake(cases[i].rig, cases[i].rig->full, &info);
        assert_int_equal(device->ops->alloc(&memory, device, 64, cases[i].space, &err), STATUS_OK);
        assert_int_equal(fake_state(cases[i].rig->full)->host_flags, cases[i].flags);
        device->ops->close(device);
        nothing_is_left(fake_state(cases[i].rig->full));
    }
}

/* Three devices, of which the second is opened: where memory lies, who reaches it, and which device is current after.
 */
static void has_memory_of_peers(void **state)
{
    static const uint64_t enabled[] = {1u << (1 * 8 + 0) | 1u << (2 * 8 + 0), 1u << (0 * 8 + 1) | 1u << (2 * 8 + 1),
                                       1u << (0 * 8 + 2) | 1u << (1 * 8 + 2)};
    const struct gpu_rig *rig = *state;
    struct device_info info;
    struct err err = {0};
    void *memory[3] = {NULL};
    uint64_t all = 0;
    use_fake(rig, rig->full);
    tell_fake(rig, "DEVICES", "3");
    struct fake_gpu_state *fake = fake_state(rig->full);
    fake->peer_enabled = 0;
    struct device *device = open_numbered(rig, 1, &info);
    assert_int_equal(info.index, 1);
    assert_int_equal(info.peers, 2);
    assert_int_equal(info.lacks_spaces, rig->vendor->lacks_spaces | SPACE_BIT(SPACE_PINNED_FAR));
    for (uint32_t k = 0; k < 3; k++) {
        if (device->ops->alloc_peer(&memory[k], device, 64, k, &err))
            fail_msg("%s", err.text);
        all |= enabled[k];
        assert_int_equal(fake->memory_device, (int)k);
        assert_int_equal(fake->peer_enabled, all);
        assert_int_equal(fake->current_device, 1);
    }
    device->ops->free(device, memory[2]);
    assert_int_equal(device->ops->alloc_peer(&memory[2], device, 64, 2, &err), STATUS_OK); /* access is there already */
    uint32_t value = 77, back = 0;
    assert_int_equal(device->ops->write(device, memory[0], &value, sizeof(value), &err), STATUS_OK);
    assert_int_equal(device->ops->copy(device, memory[2], memory[0], sizeof(value), 0, &err), STATUS_OK);
    assert_int_equal(device->ops->read(device, &back, memory[2], sizeof(back), &err), STATUS_OK);
    assert_int_equal(back, 77);
    device->ops->close(device);
    nothing_is_left(fake);
}

static void says_why_there_is_no_memory_of_a_peer(void **state)
{
    const struct gpu_rig *rig = *state;
    const char *name = rig->ops->name;
    struct device_info info;
    struct err err = {0};
    void *none = NULL;
    char text[96];
    use_fake(rig, rig->full);
    tell_fake(rig, "DEVICES", "3");
    struct fake_gpu_state *fake = fake_state(rig->full);
    struct device *device = open_numbered(rig, 1, &info);
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 3, &err), ERR_UNSUPPORTED);
    snprintf(text, sizeof(text), "no device %s:3: the library counts 3", name);
    assert_string_equal(err.text, text);
    tell_fake(rig, "NO_PEER", "1");
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 0, &err), ERR_UNSUPPORTED);
    snprintf(text, sizeof(text), "%s:1 cannot reach the memory of %s:0", name, name);
    assert_string_equal(err.text, text);
    assert_int_equal(fake->current_device, 1);
    tell_fake(rig, "NO_PEER", NULL);
    snprintf(text, sizeof(text), "%s:1:2", rig->alloc);
    tell_fake(rig, "FAIL", text);
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 0, &err), ERR_DEVICE_MEMORY);
    assert_int_equal(fake->failed, 1);
    tell_fake(rig, "FAIL", NULL);
    assert_int_equal(fake->current_device, 1);
    assert_null(none);
    device->ops->close(device);
    nothing_is_left(fake);
}

static void says_what_is_wrong(void **state)
{
    const struct gpu_rig *rig = *state;
    struct device_info info;
    struct kernel_info kernel_info;
    struct err err = {0};
    struct device_module *module = NULL;
    const struct device_kernel *kernel = NULL;
    void *memory = NULL;
    double time_ns;
    struct device *device = open_fake(rig, rig->full, &info);
    const struct device_ops *ops = device->ops;
    assert_int_equal(ops->alloc(&memory, device, FAKE_GPU_MEMORY_BYTES + 1, SPACE_DEVICE, &err), ERR_DEVICE_MEMORY);
    assert_string_equal(err.text,
                        rig == &hip_rig
                            ? "1073741825 bytes asked for: hipMalloc: hipErrorOutOfMemory (2)"
                            : "1073741825 bytes asked for: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
    assert_null(memory);
    assert_int_equal(ops->alloc(&memory, device, 0, SPACE_DEVICE, &err), STATUS_OK);
    assert_non_null(memory);
    assert_int_equal(ops->load(&module, device, "/nonexistent.co", &err), ERR_DEVICE);
    assert_says(err.text, rig == &hip_rig ? "/nonexistent.co: hipModuleLoad: error 301" : "/nonexistent.co");
    assert_int_equal(ops->load(&module, device, fake_path(rig->full), &err), STATUS_OK);
    assert_int_equal(ops->kernel(&kernel, &kernel_info, device, module, "stor", &err), ERR_DEVICE);
    assert_string_equal(err.text, "no kernel 'stor' in the module");
    ops->unload(device, module);
    assert_int_equal(ops->event(device, 64, 0, &err), ERR_DEVICE);
    assert_string_equal(err.text, "event 64: there are 64");
    assert_int_equal(ops->elapsed(&time_ns, device, 3, 70, &err), ERR_DEVICE);
    assert_string_equal(err.text, "event 70: there are 64");
    assert_int_equal(ops->wait_event(device, 0, 64, &err), ERR_DEVICE);
    assert_string_equal(err.text, "event 64: there are 64");
    assert_int_equal(ops->event(device, 0, 64, &err), ERR_DEVICE);
    assert_string_equal(err.text, "stream 64: there are 64");
    ops->close(device);
    nothing_is_left(fake_state(rig->full));
}

/* All at once, or not at all. */
static void launches_together(void **state)
{
    const struct gpu_rig *rig = *state;
    char too_many[80], lacks[80];
    const struct {
        const char *library;
        uint32_t grid;
        const char *says; /* NULL: it works */
    } cases[] = {{rig->full, rig->units, NULL}, {rig->full, rig->units + 1, too_many}, {rig->bare, 3, lacks}};
    snprintf(too_many, sizeof(too_many), "%u x 1 x 1 workgroups cannot run at once on this device", rig->units + 1);
    snprintf(lacks, sizeof(lacks), "lib%s.so lacks %s", rig->bare, rig->launch_together);
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        struct fake_gpu_state *fake = fake_state(cases[i].library);
        struct device_info info;
        struct device_graph *graph = NULL;
        struct store store;
        struct err err = {0};
        struct device *device = open_fake(rig, cases[i].library, &info);
        assert_int_equal(info.cooperative, cases[i].library == rig->full || rig == &cuda_rig);
        store_open(&store, device, 8192);
        store.launch.grid[0] = cases[i].grid;
        store.launch.cooperative = true;
        assert_int_equal(device->ops->launch(device, &store.launch, &err), cases[i].says ? ERR_UNSUPPORTED : STATUS_OK);
        assert_says(err.text, cases[i].says ? cases[i].says : "");
        assert_int_equal(fake->launch_cooperative, !cases[i].says);
        if (!cases[i].says) {
            assert_int_equal(device->ops->graph_make(&graph, device, &store.launch, 1, 1, &err), ERR_UNSUPPORTED);
            assert_string_equal(err.text, "a cooperative launch cannot stand in a graph");
        }
        store.launch.cooperative = false;
        store.launch.grid[0] = 3;
        assert_int_equal(device->ops->launch(device, &store.launch, &err), STATUS_OK);
        assert_int_equal(fake->launch_cooperative, 0);
        device->ops->unload(device, store.module);
        device->ops->close(device);
        nothing_is_left(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(opens_devices_by_number),
        ON_BOTH(does_everything),
        ON_BOTH(has_every_space_that_it_names),
        cmocka_unit_test(asks_for_pinned_memory_as_it_must_be),
        ON_BOTH(has_memory_of_peers),
        ON_BOTH(says_why_there_is_no_memory_of_a_peer),
        ON_BOTH(says_what_is_wrong),
        ON_BOTH(launches_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
