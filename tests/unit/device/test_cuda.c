/* SPDX-License-Identifier: MIT */
#include "cuda_rig.h"

#include <math.h>

static void describes_a_device(void **state)
{
    struct device_info info;
    (void)state;
    struct device *device = open_fake(FULL, &info);
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
    assert_int_equal(info.memory_bytes, FAKE_CUDA_MEMORY_BYTES);
    assert_int_equal(info.memory_free_bytes, FAKE_CUDA_MEMORY_BYTES / 2);
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
        use_fake(FULL);
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
        use_fake(FULL);
        setenv("FAKE_CUDA_FAIL", cases[i].fail, 1);
        fake_state(FULL)->seen = 0;
        assert_int_equal(device_cuda.open(&device, &request, &info, &err), STATUS_OK);
        assert_true(fabs(info.timer_tick_ns - cases[i].tick_ns) < 1e-9);
        device->ops->close(device);
    }
}

static void opens_devices_by_number(void **state)
{
    struct device_request request = {.backend = "cuda", .index = 2};
    struct device_info info;
    struct device *device = NULL;
    struct err err = {0};
    (void)state;
    use_fake(FULL);
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    assert_int_equal(device_cuda.open(&device, &request, &info, &err), STATUS_OK);
    assert_int_equal(fake_state(FULL)->current_device, 2);
    assert_string_equal(info.id, "cuda:2");
    device->ops->close(device);
    device = NULL;
    request.index = 3;
    assert_int_equal(device_cuda.open(&device, &request, &info, &err), ERR_DEVICE_LOST);
    assert_string_equal(err.text, "no device cuda:3: the driver counts 3");
    assert_null(device);
    nothing_is_left(fake_state(FULL));
}

/* Everything that a backend does, once; stops at the first error. */
static enum status do_everything(struct device *device, uint32_t *result, struct err *err)
{
    const struct device_ops *ops = device->ops;
    struct device_module *module = NULL;
    struct device_launch launch = {.grid = {4, 1, 1}, .block = {8, 1, 1}, .lds_bytes = 200000, .stream = 1};
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
    static const char *const libraries[] = {FULL, BARE};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        struct fake_cuda_state *fake = fake_state(libraries[i]);
        struct device_info info;
        struct err err = {0};
        uint32_t result = 0;
        struct device *device = open_fake(libraries[i], &info);
        if (do_everything(device, &result, &err))
            fail_msg("%s", err.text);
        assert_int_equal(result, 42);
        assert_int_equal(fake->grid[0], 4);
        assert_int_equal(fake->block[0], 8);
        assert_int_equal(fake->lds_bytes, 200000);
        assert_int_equal(fake->most_lds_bytes, 232448 - 4096);
        assert_int_equal(fake->live_memory, 1);
        device->ops->close(device);
        nothing_is_left(fake);
    }
}

/* Every required function, told to fail at its last call in all of the above: the error is passed on with its words,
 * and nothing is left behind. */
static void passes_errors_on(void **state)
{
    static const char *const cleaning[] = {"cuMemFree_v2", "cuModuleUnload", "cuStreamDestroy_v2", "cuEventDestroy_v2",
                                           "cuDevicePrimaryCtxRelease_v2"};
    static const char *const quiet[] = {"cuDriverGetVersion"}; /* what it tells is then unknown */
    static const char *const names[] = {
#define NAME_OF(name, parameters) #name,
        CUDA_REQUIRED(NAME_OF)};
    struct fake_cuda_state *fake = fake_state(FULL);
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const struct device_request request = {.backend = "cuda"};
        struct device_info info;
        struct device *device = NULL;
        struct err err = {0};
        uint32_t result;
        char told[64];
        unsigned calls = 0;
        for (int round = 0; round < 2; ++round) { /* first count, then fail */
            use_fake(FULL);
            snprintf(told, sizeof(told), "%s:%u:1234", names[i], round ? calls : 1000000);
            setenv("FAKE_CUDA_FAIL", told, 1);
            fake->seen = fake->failed = 0;
            enum status status = device_cuda.open(&device, &request, &info, &err);
            if (!status) {
                status = do_everything(device, &result, &err);
                device_cuda.close(device);
            }
            bool heard = round;
            for (size_t k = 0; k < sizeof(cleaning) / sizeof(cleaning[0]); ++k)
                heard = heard && strcmp(names[i], cleaning[k]) != 0;
            heard = heard && strcmp(names[i], quiet[0]) != 0;
            calls = fake->seen;
            assert_true(calls > 0);
            assert_int_equal(fake->failed, round);
            if (status != STATUS_OK && !heard)
                fail_msg("%s: %s", names[i], err.text);
            if (heard && status == STATUS_OK && strcmp(names[i], "cuDeviceGetAttribute") != 0)
                fail_msg("%s: nobody noticed", names[i]);
            if (heard && status)
                assert_says(err.text, "error 1234");
            nothing_is_left(fake);
        }
    }
}

/* The fault of a kernel: the context is lost, and everything fails until a new one is made. */
static void a_fault_loses_the_device(void **state)
{
    struct device_info info;
    struct store store;
    struct err err = {0};
    uint32_t result = 0;
    (void)state;
    struct fake_cuda_state *fake = fake_state(FULL);
    struct device *device = open_fake(FULL, &info);
    store_open(&store, device, 64);
    setenv("FAKE_CUDA_FAIL", "cuCtxSynchronize:1:700", 1);
    fake->seen = 0;
    assert_int_equal(device->ops->launch(device, &store.launch, &err), STATUS_OK);
    assert_int_equal(device->ops->wait(device, &err), ERR_DEVICE_LOST);
    assert_string_equal(err.text,
                        "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered");
    assert_int_equal(device->ops->launch(device, &store.launch, &err), ERR_DEVICE_LOST);
    device->ops->unload(device, store.module);
    device->ops->close(device);
    nothing_is_left(fake);
    device = open_fake(FULL, &info);
    assert_int_equal(do_everything(device, &result, &err), STATUS_OK);
    device->ops->close(device);
}

static void classifies_errors(void **state)
{
    static const struct {
        cuda_error code;
        enum status status;
        const char *says;
    } cases[] = {
        {2, ERR_DEVICE_MEMORY, "f: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"},
        {715, ERR_DEVICE_LOST, "f: error 715"},
        {716, ERR_DEVICE_LOST, "f: error 716"},
        {709, ERR_DEVICE_LOST, "f: error 709"},
        {719, ERR_DEVICE_LOST, "f: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure"},
        {801, ERR_UNSUPPORTED, "f: error 801"},
        {701, ERR_DEVICE, "f: error 701"},
        {4242, ERR_DEVICE, "f: error 4242"},
    };
    struct cuda_library library;
    struct err err = {0};
    (void)state;
    use_fake(FULL);
    assert_int_equal(cuda_library_open(&library, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        assert_int_equal(cuda_check(&library.api, cases[i].code, "f", &err), cases[i].status);
        assert_string_equal(err.text, cases[i].says);
    }
    assert_int_equal(cuda_check(&library.api, 0, "f", &err), STATUS_OK);
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
    struct device *device = open_fake(FULL, &info), *bare;
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
    assert_int_equal(facts.lds_bytes, 4096);
    device->ops->unload(device, module);
    device->ops->close(device);
    bare = open_fake(BARE, &info); /* before CUDA 12.4 */
    assert_int_equal(bare->ops->load(&module, bare, fake_path(FULL), &err), STATUS_OK);
    assert_int_equal(bare->ops->kernel(&kernel, &facts, bare, module, "store", &err), STATUS_OK);
    assert_int_equal(facts.arg_count, 0);
    bare->ops->unload(bare, module);
    bare->ops->close(bare);
}

static void has_most_spaces(void **state)
{
    static const struct {
        enum device_space space;
        enum status full, bare;
    } cases[] = {
        {SPACE_DEVICE, STATUS_OK, STATUS_OK},
        {SPACE_PAGEABLE, STATUS_OK, STATUS_OK},
        {SPACE_PINNED, STATUS_OK, ERR_UNSUPPORTED},
        {SPACE_MANAGED, STATUS_OK, ERR_UNSUPPORTED},
        {SPACE_FINE, ERR_UNSUPPORTED, ERR_UNSUPPORTED},
        {SPACE_PEER, ERR_UNSUPPORTED, ERR_UNSUPPORTED},
        {SPACE_PINNED_COARSE, ERR_UNSUPPORTED, ERR_UNSUPPORTED},
    };
    struct device_info info, bare_info;
    (void)state;
    struct device *full = open_fake(FULL, &info), *bare = open_fake(BARE, &bare_info);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct err err = {0};
        void *memory = NULL, *other = NULL;
        uint32_t value = 0x12345678, back = 0;
        assert_int_equal(bare->ops->alloc(&other, bare, 64, cases[i].space, &err), cases[i].bare);
        assert_int_equal(full->ops->alloc(&memory, full, 64, cases[i].space, &err), cases[i].full);
        assert_int_equal(info.lacks_spaces >> cases[i].space & 1, cases[i].full != STATUS_OK);
        assert_int_equal(bare_info.lacks_spaces >> cases[i].space & 1, cases[i].bare != STATUS_OK);
        if (cases[i].full) {
            assert_null(memory);
            continue;
        }
        assert_int_equal(full->ops->write(full, memory, &value, sizeof(value), &err), STATUS_OK);
        assert_int_equal(full->ops->read(full, &back, memory, sizeof(back), &err), STATUS_OK);
        assert_int_equal(back, value);
        full->ops->free(full, memory);
    }
    struct err err = {0};
    void *memory = NULL;
    assert_int_equal(full->ops->alloc(&memory, full, FAKE_CUDA_MEMORY_BYTES + 1, SPACE_DEVICE, &err),
                     ERR_DEVICE_MEMORY);
    assert_says(err.text, "1073741825 bytes asked for");
    full->ops->close(full);
    bare->ops->close(bare);
    nothing_is_left(fake_state(FULL));
    nothing_is_left(fake_state(BARE));
}

/* Three devices, of which the second is opened: where memory lies, who reaches it, and which device is current after.
 */
static void has_memory_of_peers(void **state)
{
    static const unsigned enabled[] = {1u << (1 * 4 + 0) | 1u << (2 * 4 + 0), 1u << (0 * 4 + 1) | 1u << (2 * 4 + 1),
                                       1u << (0 * 4 + 2) | 1u << (1 * 4 + 2)};
    const struct device_request request = {.backend = "cuda", .index = 1};
    struct device_info info;
    struct device *device = NULL;
    struct err err = {0};
    void *memory[3] = {NULL}, *none = NULL;
    unsigned all = 0;
    (void)state;
    use_fake(FULL);
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    struct fake_cuda_state *fake = fake_state(FULL);
    fake->peer_enabled = 0;
    assert_int_equal(device_cuda.open(&device, &request, &info, &err), STATUS_OK);
    assert_int_equal(info.index, 1);
    assert_int_equal(info.peers, 2);
    assert_int_equal(info.lacks_spaces, SPACE_BIT(SPACE_FINE) | SPACE_BIT(SPACE_PINNED_COARSE));
    assert_int_equal(info.lacks_kernel_spaces, SPACE_BIT(SPACE_PAGEABLE));
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
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 3, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "no device cuda:3: the driver counts 3");
    setenv("FAKE_CUDA_NO_PEER", "1", 1);
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 0, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "cuda:1 cannot reach the memory of cuda:0");
    unsetenv("FAKE_CUDA_NO_PEER");
    setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2:1:2", 1);
    fake->seen = 0;
    assert_int_equal(device->ops->alloc_peer(&none, device, 64, 0, &err), ERR_DEVICE_MEMORY);
    assert_int_equal(fake->current_device, 1);
    device->ops->close(device);
    nothing_is_left(fake);
}

/* All at once, or not at all. */
static void launches_together(void **state)
{
    static const struct {
        const char *library;
        uint32_t grid;
        enum status status;
        const char *says;
    } cases[] = {
        {FULL, 132, STATUS_OK, ""},
        {FULL, 133, ERR_UNSUPPORTED, "133 x 1 x 1 workgroups cannot run at once on this device"},
        {BARE, 1, ERR_UNSUPPORTED, "libfake_cuda_bare.so lacks cuLaunchCooperativeKernel"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct device_info info;
        struct store store;
        struct err err = {0};
        struct device *device = open_fake(cases[i].library, &info);
        store_open(&store, device, 2048);
        store.launch.grid[0] = cases[i].grid;
        store.launch.cooperative = true;
        assert_int_equal(device->ops->launch(device, &store.launch, &err), cases[i].status);
        if (cases[i].status)
            assert_says(err.text, cases[i].says);
        else
            assert_int_equal(fake_state(FULL)->launch_cooperative, 1);
        device->ops->unload(device, store.module);
        device->ops->close(device);
    }
}

static void counts_resident_workgroups(void **state)
{
    static const struct {
        const char *library;
        enum status status;
    } cases[] = {{FULL, STATUS_OK}, {BARE, ERR_UNSUPPORTED}};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        struct device_info info;
        struct store store;
        struct err err = {0};
        uint32_t count = 0;
        struct device *device = open_fake(cases[i].library, &info);
        store_open(&store, device, 64);
        store.launch.block[0] = 64;
        store.launch.block[1] = 2;
        store.launch.lds_bytes = 1024;
        assert_int_equal(device->ops->resident_blocks(&count, device, &store.launch, &err), cases[i].status);
        assert_int_equal(count, cases[i].status ? 0 : 2048 / 128 - 1);
        device->ops->unload(device, store.module);
        device->ops->close(device);
    }
}

static void refuses_numbers_that_are_too_large(void **state)
{
    struct device_info info;
    struct err err = {0};
    double time_ns;
    (void)state;
    struct device *device = open_fake(FULL, &info);
    assert_int_equal(device->ops->mark(device, 64, 0, &err), ERR_DEVICE);
    assert_string_equal(err.text, "mark 64: there are 64");
    assert_int_equal(device->ops->mark(device, 0, 16, &err), ERR_DEVICE);
    assert_string_equal(err.text, "stream 16: there are 16");
    assert_int_equal(device->ops->elapsed(&time_ns, device, 1, 99, &err), ERR_DEVICE);
    device->ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_a_device),
        cmocka_unit_test(names_architectures),
        cmocka_unit_test(finds_the_step_of_its_clock),
        cmocka_unit_test(opens_devices_by_number),
        cmocka_unit_test(does_everything),
        cmocka_unit_test(passes_errors_on),
        cmocka_unit_test(a_fault_loses_the_device),
        cmocka_unit_test(classifies_errors),
        cmocka_unit_test(loads_code),
        cmocka_unit_test(has_most_spaces),
        cmocka_unit_test(has_memory_of_peers),
        cmocka_unit_test(launches_together),
        cmocka_unit_test(counts_resident_workgroups),
        cmocka_unit_test(refuses_numbers_that_are_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
