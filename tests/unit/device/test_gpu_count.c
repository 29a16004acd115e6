/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

#include <sys/stat.h>

enum { PLENTY_MS = 30000 };

static void counts_in_a_child(void **state)
{
    static const char *const devices[] = {NULL, "3", "8"};
    const struct gpu_rig *rig = *state;
    for (size_t i = 0; i < COUNT_OF(rig->usable) && rig->usable[i]; ++i)
        for (size_t k = 0; k < COUNT_OF(devices); ++k) {
            struct text why = {0};
            char name[64];
            use_fake(rig, rig->usable[i]);
            snprintf(name, sizeof(name), "%sDEVICES", rig->prefix);
            if (devices[k])
                setenv(name, devices[k], 1);
            assert_int_equal(gpu_count(&why, rig->vendor, PLENTY_MS), devices[k] ? devices[k][0] - '0' : 1);
            assert_int_equal(why.length, 0);
            assert_null(dlopen(fake_path(rig->usable[i]), RTLD_NOW | RTLD_NOLOAD));
            text_release(&why);
        }
}

static void says_why_there_is_none(void **state)
{
    static const struct {
        const struct gpu_rig *rig;
        const char *library, *variable, *value;
        const char *says[2];
    } cases[] = {
        {&hip_rig, "fake_hip", "FAKE_HIP_DEVICES", "0", {"libfake_hip.so finds no GPU"}},
        {&hip_rig,
         "fake_hip",
         "FAKE_HIP_FAIL",
         "hipInit:1:101",
         {"finds no GPU, hipInit: hipErrorInvalidDevice (101)", ""}},
        {&hip_rig,
         "fake_hip",
         "FAKE_HIP_FAIL",
         "hipGetDeviceCount:1:100",
         {"finds no GPU, hipGetDeviceCount: hipErrorNoDevice (100)"}},
        {&hip_rig, "fake_hip", "FAKE_HIP_FAIL", "hipInit:1:1054", {"finds no GPU, hipInit: error 1054"}},
        {&hip_rig, "fake_hip_bare", "FAKE_HIP_FAIL", "hipInit:1:2", {"finds no GPU, hipInit: error 2"}},
        {&hip_rig, "fake_hip", "FAKE_HIP_FAIL", "hipInit:1:abort", {"libamdhip64 died of SIGABRT while counting"}},
        {&hip_rig, "fake_hip_broken", "FAKE_HIP_FAIL", "", {"libfake_hip_broken.so lacks hipMemsetD8Async"}},
        {&hip_rig,
         "fake_hip",
         "ROOFTILE_HIP_LIBRARY",
         "/nonexistent/libamdhip64.so",
         {"/nonexistent/libamdhip64.so: ", "No such file"}},
        {&hip_rig, "fake_hip", "ROOFTILE_HIP_LIBRARY", "libm.so.6", {"libm.so.6 lacks all functions of HIP"}},
        {&cuda_rig,
         "fake_cuda",
         "FAKE_CUDA_DEVICES",
         "0",
         {"libfake_cuda.so finds no GPU", "cuDeviceGetCount: CUDA_ERROR_NO_DEVICE (100)"}},
        {&cuda_rig,
         "fake_cuda",
         "FAKE_CUDA_FAIL",
         "cuInit:1:100",
         {"finds no GPU, cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable"}},
        {&cuda_rig,
         "fake_cuda",
         "FAKE_CUDA_FAIL",
         "cuInit:1:34",
         {"CUDA driver is a stub library: this is the toolkit's stub to link with"}},
        {&cuda_rig,
         "fake_cuda",
         "FAKE_CUDA_FAIL",
         "cuInit:1:802",
         {"cuInit: error 802: NVSwitch systems need the service nvidia-fabricmanager"}},
        {&cuda_rig,
         "fake_cuda",
         "FAKE_CUDA_FAIL",
         "cuInit:1:803",
         {"the library and the kernel's module are of different releases"}},
        {&cuda_rig, "fake_cuda", "FAKE_CUDA_FAIL", "cuInit:1:1054", {"finds no GPU, cuInit: error 1054"}},
        {&cuda_rig, "fake_cuda_bare", "FAKE_CUDA_FAIL", "cuInit:1:2", {"finds no GPU, cuInit: error 2"}},
        {&cuda_rig, "fake_cuda", "FAKE_CUDA_FAIL", "cuInit:1:abort", {"libcuda died of SIGABRT while counting"}},
        {&cuda_rig, "fake_cuda_broken", "FAKE_CUDA_FAIL", "", {"libfake_cuda_broken.so lacks cuMemsetD8Async"}},
        {&cuda_rig,
         "fake_cuda",
         "ROOFTILE_CUDA_LIBRARY",
         "/nonexistent/libcuda.so.1",
         {"/nonexistent/libcuda.so.1: ", "No such file"}},
        {&cuda_rig,
         "fake_cuda",
         "ROOFTILE_CUDA_LIBRARY",
         "libm.so.6",
         {"libm.so.6 lacks all functions of CUDA's driver"}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        struct text why = {0};
        use_fake(cases[i].rig, cases[i].library);
        setenv(cases[i].variable, cases[i].value, 1);
        assert_int_equal(gpu_count(&why, cases[i].rig->vendor, PLENTY_MS), 0);
        for (size_t k = 0; k < 2 && cases[i].says[k]; ++k)
            assert_says(why.data, cases[i].says[k]);
        text_release(&why);
    }
}

static void gives_up_on_a_library_that_hangs(void **state)
{
    const struct gpu_rig *rig = *state;
    struct text why = {0};
    char name[64], value[64];
    use_fake(rig, rig->full);
    snprintf(name, sizeof(name), "%sFAIL", rig->prefix);
    snprintf(value, sizeof(value), "%s:1:hang", rig->get_count);
    setenv(name, value, 1);
    assert_int_equal(gpu_count(&why, rig->vendor, 300), 0);
    snprintf(value, sizeof(value), "%s did not count its devices within 0.3 s", rig->vendor->library);
    assert_string_equal(why.data, value);
    text_release(&why);
}

/* ---- device files ---- */

enum { FILES = 3 };

static const struct absence {
    const struct gpu_vendor *vendor;
    const char *files[FILES];
    int modes[FILES]; /* -1: no such file */
    const char *variable;
    const char *says; /* NULL: nothing */
} absences[] = {
#define AMD                                                                                                            \
    &hip_vendor,                                                                                                       \
    {                                                                                                                  \
        "kfd", "dri/renderD128", NULL                                                                                  \
    }
    {AMD, {-1, -1}, NULL, "/kfd (the amdgpu driver is not loaded, or this container was not given it)"},
    {AMD, {0, -1}, NULL, ": no permission on /tmp/rooftile_test_dev_"},
    {AMD, {0, -1}, NULL, "/kfd (mode 0000, group "},
    {AMD, {0666, 0}, NULL, "/dri/renderD128 (mode 0000, group "},
    {AMD, {0666, 0666}, NULL, NULL},
    {AMD, {0666, -1}, "HIP_VISIBLE_DEVICES", "; HIP_VISIBLE_DEVICES=5 selects devices"},
    {AMD, {0666, -1}, "ROCR_VISIBLE_DEVICES", "; ROCR_VISIBLE_DEVICES=5 selects devices"},
#define NVIDIA                                                                                                         \
    &cuda_vendor,                                                                                                      \
    {                                                                                                                  \
        "nvidiactl", "nvidia-uvm", "nvidia3"                                                                           \
    }
    {NVIDIA, {-1, -1, -1}, NULL, "/nvidiactl (the nvidia driver is not loaded, or this container was not given it)"},
    {NVIDIA, {0, -1, -1}, NULL, "/nvidiactl (mode 0000, group "},
    {NVIDIA,
     {0666, -1, -1},
     NULL,
     "/nvidia-uvm (the module nvidia_uvm is not loaded, or this container was not given it)"},
    {NVIDIA, {0666, 0, 0666}, NULL, "/nvidia-uvm (mode 0000, group "},
    {NVIDIA, {0666, 0666, -1}, NULL, "/nvidia0 (no card, or this container was not given one)"},
    {NVIDIA, {0666, 0666, 0}, NULL, "/nvidia3 (mode 0000, group "},
    {NVIDIA, {0666, 0666, 0666}, NULL, NULL},
    {NVIDIA, {0666, 0666, 0666}, "CUDA_VISIBLE_DEVICES", "; CUDA_VISIBLE_DEVICES=5 selects devices"},
    {NVIDIA, {0666, 0666, 0666}, "NVIDIA_VISIBLE_DEVICES", "; NVIDIA_VISIBLE_DEVICES=5 selects devices"},
};

static void make_file(const char *path, int mode)
{
    if (mode < 0)
        return;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(path, (mode_t)mode), 0);
}

/* access() asks for the real user, and root may do everything. */
static void explain_as_nobody(struct text *why, const struct gpu_vendor *vendor, const char *dev)
{
    const bool root = getuid() == 0;
    if (root)
        assert_int_equal(setresuid(65534, (uid_t)-1, (uid_t)-1), 0);
    gpu_explain_absence(why, vendor, dev);
    if (root)
        assert_int_equal(setresuid(0, (uid_t)-1, (uid_t)-1), 0);
}

static void explains_absence(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(absences); ++i) {
        const struct absence *row = &absences[i];
        char dev[] = "/tmp/rooftile_test_dev_XXXXXX", dri[64], paths[FILES][96];
        struct text why = {0};
        clear_environment();
        assert_non_null(mkdtemp(dev));
        assert_int_equal(chmod(dev, 0755), 0);
        snprintf(dri, sizeof(dri), "%s/dri", dev);
        assert_int_equal(mkdir(dri, 0755), 0);
        for (size_t k = 0; k < FILES && row->files[k]; ++k) {
            snprintf(paths[k], sizeof(paths[k]), "%s/%s", dev, row->files[k]);
            make_file(paths[k], row->modes[k]);
        }
        if (row->variable)
            setenv(row->variable, "5", 1);
        explain_as_nobody(&why, row->vendor, dev);
        if (row->says)
            assert_says(why.data, row->says);
        else
            assert_int_equal(why.length, 0);
        text_release(&why);
        for (size_t k = 0; k < FILES && row->files[k]; ++k)
            unlink(paths[k]);
        rmdir(dri);
        rmdir(dev);
    }
}

/* Where the library has no words of its own, those about this machine's device files follow. */
static void looks_at_the_device_files(void **state)
{
    const struct gpu_rig *rig = *state;
    struct text why = {0}, files = {0};
    use_fake(rig, rig->full);
    tell_fake(rig, "DEVICES", "0");
    setenv(rig->vendor->masks[0], "7", 1);
    gpu_explain_absence(&files, rig->vendor, "/dev");
    assert_says(files.data, "=7 selects devices");
    assert_int_equal(gpu_count(&why, rig->vendor, PLENTY_MS), 0);
    assert_true(text_ends(why.data, files.data));
    text_release(&why);
    text_release(&files);
}

/* An AMD GPU comes first, then an NVIDIA one, then the CPU. */
static void default_device_is_a_counted_gpu(void **state)
{
    struct device_request request;
    struct text reason = {0};
    (void)state;
    use_fake(&cuda_rig, cuda_rig.full);
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
    text_clear(&reason);
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    setenv("FAKE_HIP_DEVICES", "0", 1);
    device_default(&request, &reason);
    assert_string_equal(request.backend, "cpu");
    assert_says(reason.data, "cpu: hip: ");
    assert_says(reason.data, "libfake_hip.so finds no GPU");
    text_release(&reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(counts_in_a_child),
        cmocka_unit_test(says_why_there_is_none),
        ON_BOTH(gives_up_on_a_library_that_hangs),
        cmocka_unit_test(explains_absence),
        ON_BOTH(looks_at_the_device_files),
        cmocka_unit_test(default_device_is_a_counted_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
