/* SPDX-License-Identifier: MIT */
#include "cuda_rig.h"

#include <sys/stat.h>

enum { PLENTY_MS = 30000 };

static void counts_in_a_child(void **state)
{
    static const struct {
        const char *library, *devices;
        int count;
    } cases[] = {{FULL, NULL, 1}, {FULL, "3", 3}, {BARE, "8", 8}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct text why = {0};
        use_fake(cases[i].library);
        if (cases[i].devices)
            setenv("FAKE_CUDA_DEVICES", cases[i].devices, 1);
        assert_int_equal(cuda_count(&why, PLENTY_MS), cases[i].count);
        assert_int_equal(why.length, 0);
        assert_null(dlopen(fake_path(cases[i].library), RTLD_NOW | RTLD_NOLOAD));
        text_release(&why);
    }
}

static void says_why_there_is_none(void **state)
{
    static const struct {
        const char *library, *variable, *value;
        const char *says[2];
    } cases[] = {
        {FULL,
         "FAKE_CUDA_DEVICES",
         "0",
         {"libfake_cuda.so finds no GPU", "cuDeviceGetCount: CUDA_ERROR_NO_DEVICE (100)"}},
        {FULL, "FAKE_CUDA_FAIL", "cuInit:1:100", {"finds no GPU, cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable"}},
        {FULL,
         "FAKE_CUDA_FAIL",
         "cuInit:1:34",
         {"CUDA driver is a stub library: this is the toolkit's stub to link with"}},
        {FULL,
         "FAKE_CUDA_FAIL",
         "cuInit:1:802",
         {"cuInit: error 802: NVSwitch systems need the service nvidia-fabricmanager"}},
        {FULL, "FAKE_CUDA_FAIL", "cuInit:1:803", {"the library and the kernel's module are of different releases"}},
        {FULL, "FAKE_CUDA_FAIL", "cuInit:1:1054", {"finds no GPU, cuInit: error 1054"}},
        {BARE, "FAKE_CUDA_FAIL", "cuInit:1:2", {"finds no GPU, cuInit: error 2"}},
        {FULL, "FAKE_CUDA_FAIL", "cuInit:1:abort", {"libcuda died of SIGABRT while counting"}},
        {BROKEN, "FAKE_CUDA_FAIL", "", {"libfake_cuda_broken.so lacks cuMemsetD8Async"}},
        {FULL, "ROOFTILE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", {"/nonexistent/libcuda.so.1: ", "No such file"}},
        {FULL, "ROOFTILE_CUDA_LIBRARY", "libm.so.6", {"libm.so.6 lacks all functions of CUDA's driver"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct text why = {0};
        use_fake(cases[i].library);
        setenv(cases[i].variable, cases[i].value, 1);
        assert_int_equal(cuda_count(&why, PLENTY_MS), 0);
        for (size_t k = 0; k < 2 && cases[i].says[k]; ++k)
            assert_says(why.data, cases[i].says[k]);
        text_release(&why);
    }
}

static void gives_up_on_a_library_that_hangs(void **state)
{
    struct text why = {0};
    (void)state;
    use_fake(FULL);
    setenv("FAKE_CUDA_FAIL", "cuDeviceGetCount:1:hang", 1);
    assert_int_equal(cuda_count(&why, 300), 0);
    assert_string_equal(why.data, "libcuda did not count its devices within 0.3 s");
    text_release(&why);
}

static void make_file(const char *dev, const char *name, int mode)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", dev, name);
    if (mode < 0)
        return;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(path, (mode_t)mode), 0);
}

static void remove_file(const char *dev, const char *name)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", dev, name);
    unlink(path);
}

/* access() asks for the real user, and root may do everything. */
static void explain_as_nobody(struct text *why, const char *dev)
{
    const bool root = getuid() == 0;
    if (root)
        assert_int_equal(setresuid(65534, (uid_t)-1, (uid_t)-1), 0);
    cuda_explain_absence(why, dev);
    if (root)
        assert_int_equal(setresuid(0, (uid_t)-1, (uid_t)-1), 0);
}

static void explains_absence(void **state)
{
    static const char *const files[] = {"nvidiactl", "nvidia-uvm", "nvidia3"};
    static const struct {
        int modes[3]; /* -1: no such file */
        const char *variable;
        const char *says; /* NULL: nothing */
    } cases[] = {
        {{-1, -1, -1}, NULL, "/nvidiactl (the nvidia driver is not loaded, or this container was not given it)"},
        {{0, -1, -1}, NULL, "/nvidiactl (mode 0000, group "},
        {{0666, -1, -1}, NULL, "/nvidia-uvm (the module nvidia_uvm is not loaded, or this container was not given it)"},
        {{0666, 0, 0666}, NULL, "/nvidia-uvm (mode 0000, group "},
        {{0666, 0666, -1}, NULL, "/nvidia0 (no card, or this container was not given one)"},
        {{0666, 0666, 0}, NULL, "/nvidia3 (mode 0000, group "},
        {{0666, 0666, 0666}, NULL, NULL},
        {{0666, 0666, 0666}, "CUDA_VISIBLE_DEVICES", "; CUDA_VISIBLE_DEVICES=5 selects devices"},
        {{0666, 0666, 0666}, "NVIDIA_VISIBLE_DEVICES", "; NVIDIA_VISIBLE_DEVICES=5 selects devices"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char dev[] = "/tmp/rooftile_test_dev_XXXXXX";
        struct text why = {0};
        clear_environment();
        assert_non_null(mkdtemp(dev));
        assert_int_equal(chmod(dev, 0755), 0);
        for (size_t k = 0; k < 3; ++k)
            make_file(dev, files[k], cases[i].modes[k]);
        if (cases[i].variable)
            setenv(cases[i].variable, "5", 1);
        explain_as_nobody(&why, dev);
        if (cases[i].says)
            assert_says(why.data, cases[i].says);
        else
            assert_int_equal(why.length, 0);
        text_release(&why);
        for (size_t k = 0; k < 3; ++k)
            remove_file(dev, files[k]);
        rmdir(dev);
    }
}

/* An AMD GPU comes first, then an NVIDIA one, then the CPU. */
static void default_device_is_a_counted_gpu(void **state)
{
    struct device_request request;
    struct text reason = {0};
    (void)state;
    use_fake(FULL);
    setenv("ROOFTILE_HIP_LIBRARY", "/nonexistent/hip.so", 1);
    device_default(&request, &reason);
    assert_string_equal(request.backend, "cuda");
    assert_says(reason.data, "cuda: hip: /nonexistent/hip.so");
    text_clear(&reason);
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    device_default(&request, &reason);
    assert_string_equal(request.backend, "cpu");
    assert_says(reason.data, "libfake_cuda.so finds no GPU");
    text_clear(&reason);
    setenv("FAKE_CUDA_DEVICES", "1", 1);
    setenv("ROOFTILE_HIP_LIBRARY", fake_path("fake_hip"), 1);
    device_default(&request, &reason);
    assert_string_equal(request.backend, "hip");
    unsetenv("ROOFTILE_HIP_LIBRARY");
    text_release(&reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_in_a_child),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(gives_up_on_a_library_that_hangs),
        cmocka_unit_test(explains_absence),
        cmocka_unit_test(default_device_is_a_counted_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
