/* SPDX-License-Identifier: MIT
 *
 * Every call of every function that a library must have fails with every kind of code, while a device is opened, does
 * everything and is closed: whoever called hears of it in words that help, and nothing is left behind.
 */
#include "gpu_rig.h"

/* What a code means for those who called, and how it is said. */
struct fault {
    unsigned code;
    enum status status;
    const char *says;
    bool for_good; /* whatever is called afterwards fails alike */
};

static const struct fault hip_faults[] = {
    {2, ERR_DEVICE_MEMORY, "hipErrorOutOfMemory (2)", false},
    {200, ERR_DEVICE, "error 200", false},
    {209, ERR_DEVICE, "error 209", false},
    {214, ERR_DEVICE_LOST, "error 214", false},
    {700, ERR_DEVICE_LOST, "error 700", false},
    {702, ERR_DEVICE_LOST, "error 702", false},
    {709, ERR_DEVICE_LOST, "error 709", false},
    {710, ERR_DEVICE_LOST, "error 710", false},
    {719, ERR_DEVICE_LOST, "hipErrorLaunchFailure (719)", false},
    {801, ERR_UNSUPPORTED, "error 801", false},
    {1234, ERR_DEVICE, "error 1234", false},
};

static const struct fault cuda_faults[] = {
    {2, ERR_DEVICE_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", false},
    {200, ERR_DEVICE, "CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid", false},
    {214, ERR_DEVICE_LOST, "error 214", false},
    {700, ERR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered", true},
    {709, ERR_DEVICE_LOST, "error 709", false},
    {715, ERR_DEVICE_LOST, "error 715", false},
    {716, ERR_DEVICE_LOST, "error 716", false},
    {719, ERR_DEVICE_LOST, "CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure", true},
    {801, ERR_UNSUPPORTED, "error 801", false},
    {1234, ERR_DEVICE, "error 1234", false},
};

/* Calls of a function that may fail unheard: all of cleaning up, which has nobody to tell; of what tells something that
 * may stay unknown; and the first of those that find the step of the clock. */
struct unheard {
    const char *function;
    unsigned calls;
};
enum { ALL = 1000000 };

static const struct unheard hip_unheard[] = {
    {"hipFree", ALL},         {"hipEventDestroy", ALL},       {"hipStreamDestroy", ALL},
    {"hipModuleUnload", ALL}, {"hipDeviceGetAttribute", ALL}, {NULL, 0},
};
static const struct unheard cuda_unheard[] = {
    {"cuMemFree_v2", ALL},
    {"cuEventDestroy_v2", ALL},
    {"cuStreamDestroy_v2", ALL},
    {"cuModuleUnload", ALL},
    {"cuDevicePrimaryCtxRelease_v2", ALL},
    {"cuDeviceGetAttribute", ALL},
    {"cuDriverGetVersion", ALL},
    {"cuEventRecord", 64},
    {"cuEventElapsedTime", 63},
    {"cuCtxSynchronize", 1},
    {NULL, 0},
};

static const struct suite {
    const struct gpu_rig *rig;
    const struct fault *faults;
    size_t fault_count;
    const struct unheard *unheard;
    const char *attribute; /* function of the device's facts, */
    unsigned facts;        /* ... how many are asked for, */
    unsigned refused;      /* ... and without how many there is no device */
} suites[] = {
    {&hip_rig, hip_faults, COUNT_OF(hip_faults), hip_unheard, "hipDeviceGetAttribute", 17,
     4}, /* wave, units, work-items of a workgroup, LDS */
    {&cuda_rig, cuda_faults, COUNT_OF(cuda_faults), cuda_unheard, "cuDeviceGetAttribute", 16,
     9}, /* the grid and the capability, too */
};

static bool may_be_ignored(const struct suite *suite, const char *function, unsigned nth)
{
    for (const struct unheard *row = suite->unheard; row->function; ++row)
        if (strcmp(function, row->function) == 0)
            return nth <= row->calls;
    return false;
}

/* Without them there is no device, whatever the code. */
static bool counts_devices(const struct gpu_rig *rig, const char *function)
{
    return strcmp(function, rig->init) == 0 || strcmp(function, rig->get_count) == 0 ||
           strcmp(function, "cuDeviceGet") == 0;
}

/* Opens, does everything and closes, with the nth call of a function failing. True when there was an nth call. */
static bool survives_failure(const struct suite *suite, const char *function, unsigned nth, const struct fault *fault)
{
    const struct gpu_rig *rig = suite->rig;
    const struct device_request request = {0};
    struct fake_gpu_state *fake = fake_state(rig->full);
    struct device *device = NULL;
    struct device_info info = {.backend = "none"};
    struct err err = {0};
    char told[128];
    uint32_t result;
    snprintf(told, sizeof(told), "%s:%u:%u", function, nth, fault->code);
    tell_fake(rig, "FAIL", told);
    enum status status = rig->ops->open(&device, &request, &info, &err);
    if (status) {
        assert_null(device);
        assert_string_equal(info.backend, "none");
    } else {
        status = do_everything(rig, device, &result, &err);
        device->ops->close(device);
    }
    nothing_is_left(fake);
    const bool ignored = may_be_ignored(suite, function, nth);
    if (status) {
        assert_true(fake->failed);
        if (!ignored || !fault->for_good) /* else another function was the first to be heard */
            assert_says(err.text, function);
        assert_says(err.text, fault->says);
        assert_int_equal(status, counts_devices(rig, function) ? ERR_DEVICE_LOST : fault->status);
    } else if (fake->failed && !ignored) {
        fail_msg("nobody noticed that %s failed at call %u", function, nth);
    }
    return fake->failed;
}

static void survives_any_failing_call(void **state)
{
    const struct suite *suite = *state;
    use_fake(suite->rig, suite->rig->full);
    for (const struct library_symbol *row = suite->rig->vendor->place.symbols; row->name; ++row)
        for (size_t k = 0; k < suite->fault_count && row->need == GPU_REQUIRED; ++k) {
            unsigned nth = 1;
            while (survives_failure(suite, row->name, nth, &suite->faults[k]))
                ++nth;
            if (nth == 1)
                fail_msg("%s is required and never called", row->name);
        }
}

static void needs_the_facts_that_launches_need(void **state)
{
    const struct suite *suite = *state;
    const struct gpu_rig *rig = suite->rig;
    const struct device_request request = {0};
    unsigned refused = 0, nth = 0;
    use_fake(rig, rig->full);
    for (;;) {
        struct device *device = NULL;
        struct device_info info;
        struct err err = {0};
        char told[64];
        snprintf(told, sizeof(told), "%s:%u:1", suite->attribute, ++nth);
        tell_fake(rig, "FAIL", told);
        if (rig->ops->open(&device, &request, &info, &err) == STATUS_OK)
            device->ops->close(device);
        else
            ++refused;
        if (!fake_state(rig->full)->failed)
            break;
    }
    assert_int_equal(nth - 1, suite->facts);
    assert_int_equal(refused, suite->refused);
}

/* CUDA: the context is lost with a kernel's fault, and everything fails until a new one is made. */
static void a_fault_loses_the_device(void **state)
{
    const struct gpu_rig *rig = *state;
    struct device_info info;
    struct store store;
    struct err err = {0};
    uint32_t result = 0;
    struct fake_gpu_state *fake = fake_state(rig->full);
    struct device *device = open_fake(rig, rig->full, &info);
    store_open(&store, device, 64);
    tell_fake(rig, "FAIL", "cuCtxSynchronize:1:700");
    assert_int_equal(device->ops->launch(device, &store.launch, &err), STATUS_OK);
    assert_int_equal(device->ops->wait(device, &err), ERR_DEVICE_LOST);
    assert_string_equal(err.text,
                        "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered");
    assert_int_equal(device->ops->launch(device, &store.launch, &err), ERR_DEVICE_LOST);
    device->ops->unload(device, store.module);
    device->ops->close(device);
    nothing_is_left(fake);
    device = open_fake(rig, rig->full, &info);
    assert_int_equal(do_everything(rig, device, &result, &err), STATUS_OK);
    device->ops->close(device);
}

/* ---- codes alone ---- */

/* A library without names has its numbers. */
static void classifies_codes(void **state)
{
    static const struct {
        const struct gpu_rig *rig;
        gpu_error code;
        enum status status;
        const char *text;
    } cases[] = {
        {&hip_rig, 0, STATUS_OK, NULL},
        {&hip_rig, 2, ERR_DEVICE_MEMORY, "hipErrorOutOfMemory (2)"},
        {&hip_rig, 100, ERR_DEVICE_LOST, "hipErrorNoDevice (100)"},
        {&hip_rig, 101, ERR_DEVICE, "hipErrorInvalidDevice (101)"},
        {&hip_rig, 214, ERR_DEVICE_LOST, NULL},
        {&hip_rig, 700, ERR_DEVICE_LOST, NULL},
        {&hip_rig, 702, ERR_DEVICE_LOST, NULL},
        {&hip_rig, 719, ERR_DEVICE_LOST, "hipErrorLaunchFailure (719)"},
        {&hip_rig, 801, ERR_UNSUPPORTED, NULL},
        {&hip_rig, 999, ERR_DEVICE, "hipErrorUnknown (999)"},
        {&hip_rig, 1054, ERR_DEVICE, NULL},
        {&hip_rig, 4000000000u, ERR_DEVICE, NULL},
        {&cuda_rig, 0, STATUS_OK, NULL},
        {&cuda_rig, 2, ERR_DEVICE_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"},
        {&cuda_rig, 715, ERR_DEVICE_LOST, NULL},
        {&cuda_rig, 716, ERR_DEVICE_LOST, NULL},
        {&cuda_rig, 709, ERR_DEVICE_LOST, NULL},
        {&cuda_rig, 719, ERR_DEVICE_LOST, "CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure"},
        {&cuda_rig, 801, ERR_UNSUPPORTED, NULL},
        {&cuda_rig, 701, ERR_DEVICE, NULL},
        {&cuda_rig, 4242, ERR_DEVICE, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        for (int bare = 0; bare < 2; ++bare) {
            const struct gpu_rig *rig = cases[i].rig;
            struct gpu *gpu = gpu_new(rig->vendor);
            struct err err = {0};
            char text[128];
            use_fake(rig, bare ? rig->bare : rig->full);
            assert_int_equal(gpu_find_library(gpu, &err), STATUS_OK);
            assert_int_equal(gpu_check(gpu, cases[i].code, offsetof(struct gpu_calls, init), &err), cases[i].status);
            if (cases[i].text && !bare)
                snprintf(text, sizeof(text), "%s: %s", rig->init, cases[i].text);
            else
                snprintf(text, sizeof(text), "%s: error %u", rig->init, cases[i].code);
            assert_string_equal(err.text, cases[i].code ? text : "");
            free(gpu);
        }
}

#define WITH(vendor, at, test)                                                                                         \
    {                                                                                                                  \
#vendor ": " #test, test, NULL, NULL, (void *)(uintptr_t)&suites[at]                                           \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(hip, 0, survives_any_failing_call),
        WITH(cuda, 1, survives_any_failing_call),
        WITH(hip, 0, needs_the_facts_that_launches_need),
        WITH(cuda, 1, needs_the_facts_that_launches_need),
        ON(cuda, a_fault_loses_the_device),
        cmocka_unit_test(classifies_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
