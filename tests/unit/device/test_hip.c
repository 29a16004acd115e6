/* SPDX-License-Identifier: MIT */
#include "hip_rig.h"

#include <math.h>

static struct device *open_fake(const char *library, struct device_info *info)
{
    const struct device_request request = {.backend = "hip"};
    struct device *device = NULL;
    struct err err = {0};
    use_fake(library);
    if (device_hip.open(&device, &request, info, &err))
        fail_msg("%s", err.text);
    return device;
}

static void nothing_is_left(const struct fake_hip_state *fake)
{
    assert_int_equal(fake->live_memory, 0);
    assert_int_equal(fake->live_host, 0);
    assert_int_equal(fake->live_events, 0);
    assert_int_equal(fake->live_streams, 0);
    assert_int_equal(fake->live_modules, 0);
}

static void describes_a_device(void **state)
{
    struct device_info info;
    (void)state;
    struct device *device = open_fake(FULL, &info);
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
    assert_int_equal(info.memory_bytes, FAKE_HIP_MEMORY_BYTES);
    assert_int_equal(info.memory_free_bytes, FAKE_HIP_MEMORY_BYTES / 2);
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
        struct device *device = open_fake(libraries[i], &info);
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

static void opens_devices_by_number(void **state)
{
    struct device_request request = {.backend = "hip", .index = 2};
    struct device_info info;
    struct device *device = NULL;
    struct err err = {0};
    (void)state;
    use_fake(FULL);
    setenv("FAKE_HIP_DEVICES", "3", 1);
    assert_int_equal(device_hip.open(&device, &request, &info, &err), STATUS_OK);
    assert_int_equal(fake_state(FULL)->current_device, 2);
    assert_string_equal(info.id, "hip:2");
    device->ops->close(device);
    device = NULL;
    request.index = 3;
    assert_int_equal(device_hip.open(&device, &request, &info, &err), ERR_DEVICE_LOST);
    assert_string_equal(err.text, "no device hip:3: the library counts 3");
    assert_null(device);
}

/* Everything that a backend does, once; stops at the first error. */
static enum status do_everything(struct device *device, uint32_t *result, struct err *err)
{
    const struct device_ops *ops = device->ops;
    struct device_module *module = NULL;
    struct device_launch launch = {.grid = {4, 1, 1}, .block = {8, 1, 1}, .lds_bytes = 256, .stream = 1};
    struct kernel_info info;
    void *to = NULL, *from = NULL;
    uint32_t value = 42, host[32] = {0};
    double time_ns;
    launch.args = (void *[]){&to, &value};
    enum status status = ops->load(&module, device, fake_path(FULL), err);
    if (!status)
        status = ops->kernel(&launch.kernel, &info, device, module, "store", err);
    if (!status)
        status = ops->alloc(&to, device, sizeof(host), SPACE_DEVICE, err);
    if (!status)
        status = ops->alloc(&from, device, sizeof(host), SPACE_DEVICE, err);
    if (!status)
        status = ops->write(device, from, host, sizeof(host), err);
    if (!status)
        status = ops->copy(device, to, from, sizeof(host), 0, err);
    if (!status)
        status = ops->fill(device, from, 7, sizeof(host), 0, err);
    if (!status)
        status = ops->mark(device, 0, 0, err);
    if (!status)
        status = ops->wait_mark(device, 1, 0, err);
    if (!status)
        status = ops->launch(device, &launch, err);
    if (!status)
        status = ops->mark(device, 63, 1, err);
    if (!status)
        status = ops->wait(device, err);
    if (!status)
        status = ops->elapsed(&time_ns, device, 0, 63, err);
    if (!status)
        status = ops->read(device, host, to, sizeof(host), err);
    *result = host[31];
    ops->free(device, from);
    ops->unload(device, module);
    return status; /* `to` is left to close */
}

static void does_everything(void **state)
{
    static const char *const libraries[] = {FULL, OLD, BARE};
    (void)state;
    for (size_t i = 0; i < 3; ++i) {
        struct fake_hip_state *fake = fake_state(libraries[i]);
        struct device_info info;
        struct err err = {0};
        uint32_t result = 0;
        struct device *device = open_fake(libraries[i], &info);
        if (do_everything(device, &result, &err))
            fail_msg("%s", err.text);
        assert_int_equal(result, 42);
        assert_int_equal(fake->grid[0], 4);
        assert_int_equal(fake->block[0], 8);
        assert_int_equal(fake->lds_bytes, 256);
        assert_int_equal(fake->live_memory, 1);
        device->ops->close(device);
        nothing_is_left(fake);
    }
}

static void marks_a_kernels_own_time(void **state)
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
        {FULL, 1u << 31, ERR_UNSUPPORTED, "2147483648 workgroups of 16 are more than 2^32 work-items"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct fake_hip_state *fake = fake_state(cases[i].library);
        struct device_info device_info;
        struct kernel_info info;
        struct device_module *module;
        struct device_launch launch = {.grid = {cases[i].grid, 1, 1}, .block = {16, 1, 1}};
        struct err err = {0};
        uint32_t value = 5;
        void *to;
        double time_ns = -1;
        struct device *device = open_fake(cases[i].library, &device_info);
        const struct device_ops *ops = device->ops;
        assert_int_equal(ops->load(&module, device, fake_path(FULL), &err), STATUS_OK);
        assert_int_equal(ops->kernel(&launch.kernel, &info, device, module, "store", &err), STATUS_OK);
        assert_int_equal(info.arg_count, 0);
        assert_int_equal(ops->alloc(&to, device, 48 * sizeof(value), SPACE_MANAGED, &err),
                         i == 2 ? ERR_UNSUPPORTED : STATUS_OK);
        launch.args = (void *[]){&to, &value};
        assert_int_equal(ops->launch_marked(device, &launch, 2, 3, &err), cases[i].status);
        if (!cases[i].status) {
            assert_true(fake->launch_extended);
            assert_int_equal(fake->grid[0], 3); /* it was given 48 work-items */
            assert_int_equal(((const uint32_t *)to)[47], 5);
            assert_int_equal(ops->elapsed(&time_ns, device, 2, 3, &err), STATUS_OK);
            assert_true(time_ns >= 0);
        } else {
            assert_says(err.text, cases[i].says);
        }
        ops->unload(device, module);
        ops->close(device);
        nothing_is_left(fake);
    }
}

static void has_every_space(void **state)
{
    static const struct {
        enum device_space space;
        enum status full, bare;
    } cases[] = {
        {SPACE_DEVICE, STATUS_OK, STATUS_OK},       {SPACE_PAGEABLE, STATUS_OK, STATUS_OK},
        {SPACE_PINNED, STATUS_OK, ERR_UNSUPPORTED}, {SPACE_MANAGED, STATUS_OK, ERR_UNSUPPORTED},
        {SPACE_FINE, STATUS_OK, ERR_UNSUPPORTED},   {SPACE_PEER, ERR_UNSUPPORTED, ERR_UNSUPPORTED},
        {SPACE_PINNED_COARSE, STATUS_OK, ERR_UNSUPPORTED},
    };
    struct device_info info;
    (void)state;
    struct device *full = open_fake(FULL, &info), *bare = open_fake(BARE, &info);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct err err = {0};
        void *memory = NULL, *other = NULL;
        uint32_t value = 0x12345678, back = 0;
        assert_int_equal(bare->ops->alloc(&other, bare, 64, cases[i].space, &err), cases[i].bare);
        assert_int_equal(full->ops->alloc(&memory, full, 64, cases[i].space, &err), cases[i].full);
        if (cases[i].full) {
            assert_null(memory);
            continue;
        }
        if (cases[i].space == SPACE_PINNED || cases[i].space == SPACE_PINNED_COARSE)
            assert_int_equal(fake_state(FULL)->host_flags, cases[i].space == SPACE_PINNED ? 0 : 0x80000000u);
        assert_int_equal(full->ops->write(full, memory, &value, sizeof(value), &err), STATUS_OK);
        assert_int_equal(full->ops->read(full, &back, memory, sizeof(back), &err), STATUS_OK);
        assert_int_equal(back, value);
        full->ops->free(full, memory);
    }
    full->ops->close(full);
    bare->ops->close(bare);
    nothing_is_left(fake_state(FULL));
    nothing_is_left(fake_state(BARE));
}

/* Three devices, of which the second is opened: where memory lies, who reaches it, and which device is current after. */
static void has_memory_of_peers(void **state)
{
    const struct device_request request = {.backend = "hip", .index = 1};
    struct device_info info;
    struct device *device = NULL;
    struct err err = {0};
    void *memory[3] = {NULL}, *none = NULL;
    (void)state;
    use_fake(FULL);
    setenv("FAKE_HIP_DEVICES", "3", 1);
    struct fake_hip_state *fake = fake_state(FULL);
    fake->peer_enabled = 0;
    assert_int_equal(device_hip.open(&device, &request, &info, &err), STATUS_OK);
    assert_int_equal(info.index, 1);
    assert_int_equal(info.peers, 2);
    assert_int_equal(info.lacks_spaces, 0);
    assert_int_equal(info.lacks_kernel_spaces, SPACE_BIT(SPACE_PAGEABLE));
    static const unsigned enabled[] = {1u << (1 * 4 + 0) | 1u << (2 * 4 + 0), 1u << (0 * 4 + 1) | 1u << (2 * 4 + 1),
                                       1u << (0 * 4 + 2) | 1u << (1 * 4 + 2)};
    unsigned all = 0;
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
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 3, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "no device hip:3: the library counts 3");
    setenv("FAKE_HIP_NO_PEER", "1", 1);
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 0, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "hip:1 cannot reach the memory of hip:0");
    unsetenv("FAKE_HIP_NO_PEER");
    setenv("FAKE_HIP_FAIL", "hipMalloc:1:2", 1);
    fake->seen = 0;
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 0, &err), ERR_DEVICE_MEMORY);
    unsetenv("FAKE_HIP_FAIL");
    assert_int_equal(fake->current_device, 1);
    assert_null(none);
    device->ops->close(device);
    nothing_is_left(fake);
}

/* What a library without the functions, or a machine with one card, lacks is known before anything is asked for. */
static void tells_what_it_lacks(void **state)
{
    static const struct {
        const char *library;
        unsigned spaces;
    } cases[] = {
        {FULL, SPACE_BIT(SPACE_PEER)},
        {BARE, SPACE_BIT(SPACE_PINNED) | SPACE_BIT(SPACE_PINNED_COARSE) | SPACE_BIT(SPACE_MANAGED) |
                   SPACE_BIT(SPACE_FINE) | SPACE_BIT(SPACE_PEER)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct device_info info;
        struct device *device = open_fake(cases[i].library, &info);
        assert_int_equal(info.lacks_spaces, cases[i].spaces);
        assert_int_equal(info.peers, 0);
        device->ops->close(device);
    }
}

static void says_what_is_wrong(void **state)
{
    struct device_info info;
    struct kernel_info kernel_info;
    struct err err = {0};
    struct device_module *module = NULL;
    const struct device_kernel *kernel = NULL;
    void *memory = NULL;
    double time_ns;
    (void)state;
    struct device *device = open_fake(FULL, &info);
    const struct device_ops *ops = device->ops;
    assert_int_equal(ops->alloc(&memory, device, FAKE_HIP_MEMORY_BYTES + 1, SPACE_DEVICE, &err), ERR_DEVICE_MEMORY);
    assert_string_equal(err.text, "1073741825 bytes asked for: hipMalloc: hipErrorOutOfMemory (2)");
    assert_null(memory);
    assert_int_equal(ops->alloc(&memory, device, 0, SPACE_DEVICE, &err), STATUS_OK);
    assert_non_null(memory);
    assert_int_equal(ops->load(&module, device, "/nonexistent.co", &err), ERR_DEVICE);
    assert_string_equal(err.text, "/nonexistent.co: hipModuleLoad: error 301");
    assert_int_equal(ops->load(&module, device, fake_path(FULL), &err), STATUS_OK);
    assert_int_equal(ops->kernel(&kernel, &kernel_info, device, module, "stor", &err), ERR_DEVICE);
    assert_string_equal(err.text, "no kernel 'stor' in the module");
    ops->unload(device, module);
    assert_int_equal(ops->mark(device, 64, 0, &err), ERR_DEVICE);
    assert_string_equal(err.text, "mark 64: there are 64");
    assert_int_equal(ops->elapsed(&time_ns, device, 3, 70, &err), ERR_DEVICE);
    assert_string_equal(err.text, "mark 70: there are 64");
    assert_int_equal(ops->elapsed(&time_ns, device, 0, 1, &err), ERR_DEVICE); /* never reached */
    assert_string_equal(err.text, "hipEventElapsedTime: error 400");
    assert_int_equal(ops->mark(device, 0, 16, &err), ERR_DEVICE);
    assert_string_equal(err.text, "stream 16: there are 16");
    ops->close(device);
    nothing_is_left(fake_state(FULL));
}

/* Cleaning up has nobody to tell, and attributes may be unknown. */
static bool may_be_ignored(const char *function)
{
    static const char *const ignored[] = {"hipFree", "hipEventDestroy", "hipStreamDestroy", "hipModuleUnload"};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); ++i)
        if (strcmp(function, ignored[i]) == 0)
            return true;
    return false;
}

/* What a code means for those who called, and how it is said. */
static const struct fault {
    unsigned code;
    enum status status;
    const char *says;
} faults[] = {
    {2, ERR_DEVICE_MEMORY, "hipErrorOutOfMemory (2)"},
    {200, ERR_DEVICE, "error 200"},
    {209, ERR_DEVICE, "error 209"},
    {214, ERR_DEVICE_LOST, "error 214"},
    {700, ERR_DEVICE_LOST, "error 700"},
    {702, ERR_DEVICE_LOST, "error 702"},
    {709, ERR_DEVICE_LOST, "error 709"},
    {710, ERR_DEVICE_LOST, "error 710"},
    {719, ERR_DEVICE_LOST, "hipErrorLaunchFailure (719)"},
    {801, ERR_UNSUPPORTED, "error 801"},
    {1234, ERR_DEVICE, "error 1234"},
};

/* Without them there is no device, whatever the code. */
static bool counts_devices(const char *function)
{
    return strcmp(function, "hipInit") == 0 || strcmp(function, "hipGetDeviceCount") == 0;
}

/* Opens, does everything and closes, with the nth call of a function failing. True when there was an nth call. */
static bool survives_failure(const char *function, unsigned nth, const struct fault *fault)
{
    const struct device_request request = {.backend = "hip"};
    struct fake_hip_state *fake = fake_state(FULL);
    struct device *device = NULL;
    struct device_info info = {.backend = "none"};
    struct err err = {0};
    char told[128];
    uint32_t result;
    snprintf(told, sizeof(told), "%s:%u:%u", function, nth, fault->code);
    setenv("FAKE_HIP_FAIL", told, 1);
    fake->seen = fake->failed = 0;
    enum status status = device_hip.open(&device, &request, &info, &err);
    if (status) {
        assert_null(device);
        assert_string_equal(info.backend, "none");
    } else {
        status = do_everything(device, &result, &err);
        device->ops->close(device);
    }
    nothing_is_left(fake);
    if (status) {
        assert_says(err.text, function);
        assert_says(err.text, fault->says);
        assert_int_equal(status, counts_devices(function) ? ERR_DEVICE_LOST : fault->status);
        assert_true(fake->failed);
    } else if (fake->failed && !may_be_ignored(function) && strcmp(function, "hipDeviceGetAttribute") != 0) {
        fail_msg("nobody noticed that %s failed at call %u", function, nth);
    }
    return fake->failed;
}

static void survives_any_failing_call(void **state)
{
#define NAME(name, parameters) #name,
    static const char *const required[] = {HIP_REQUIRED(NAME)};
    (void)state;
    use_fake(FULL);
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); ++i)
        for (size_t k = 0; k < sizeof(faults) / sizeof(faults[0]); ++k) {
            unsigned nth = 1;
            while (survives_failure(required[i], nth, &faults[k]))
                ++nth;
            if (nth == 1)
                fail_msg("%s is required and never called", required[i]);
        }
}

static void needs_the_attributes_that_launches_need(void **state)
{
    const struct device_request request = {.backend = "hip"};
    unsigned refused = 0;
    (void)state;
    use_fake(FULL);
    for (unsigned nth = 1; nth <= 14; ++nth) {
        struct device *device = NULL;
        struct device_info info;
        struct err err = {0};
        char told[64];
        snprintf(told, sizeof(told), "hipDeviceGetAttribute:%u:1", nth);
        setenv("FAKE_HIP_FAIL", told, 1);
        fake_state(FULL)->seen = 0;
        if (device_hip.open(&device, &request, &info, &err) == STATUS_OK)
            device->ops->close(device);
        else
            ++refused;
    }
    assert_int_equal(refused, 4); /* wave, units, work-items of a workgroup, LDS */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_a_device),
        cmocka_unit_test(describes_what_an_old_library_tells),
        cmocka_unit_test(opens_devices_by_number),
        cmocka_unit_test(does_everything),
        cmocka_unit_test(marks_a_kernels_own_time),
        cmocka_unit_test(has_every_space),
        cmocka_unit_test(has_memory_of_peers),
        cmocka_unit_test(tells_what_it_lacks),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(survives_any_failing_call),
        cmocka_unit_test(needs_the_attributes_that_launches_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
