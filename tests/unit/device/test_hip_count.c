/* SPDX-License-Identifier: MIT */
#include "hip_rig.h"

#include <sys/stat.h>

enum { PLENTY_MS = 30000 };

static void counts_in_a_child(void **state)
{
    static const struct {
        const char *library, *devices;
        int count;
    } cases[] = {{FULL, NULL, 1}, {FULL, "3", 3}, {OLD, "2", 2}, {BARE, "8", 8}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct text why = {0};
        use_fake(cases[i].library);
        if (cases[i].devices)
            setenv("FAKE_HIP_DEVICES", cases[i].devices, 1);
        assert_int_equal(hip_count(&why, PLENTY_MS), cases[i].count);
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
        {FULL, "FAKE_HIP_DEVICES", "0", {"libfake_hip.so finds no GPU"}},
        {FULL, "FAKE_HIP_FAIL", "hipInit:1:101", {"finds no GPU, hipInit: hipErrorInvalidDevice (101)"}},
        {FULL, "FAKE_HIP_FAIL", "hipGetDeviceCount:1:100", {"finds no GPU, hipGetDeviceCount: hipErrorNoDevice (100)"}},
        {FULL, "FAKE_HIP_FAIL", "hipInit:1:1054", {"finds no GPU, hipInit: error 1054"}},
        {BARE, "FAKE_HIP_FAIL", "hipInit:1:2", {"finds no GPU, hipInit: error 2"}},
        {FULL, "FAKE_HIP_FAIL", "hipInit:1:abort", {"libamdhip64 died of SIGABRT while counting"}},
        {BROKEN, "FAKE_HIP_FAIL", "", {"libfake_hip_broken.so lacks hipMemsetAsync"}},
        {FULL,
         "ROOFTILE_HIP_LIBRARY",
         "/nonexistent/libamdhip64.so",
         {"/nonexistent/libamdhip64.so: ", "No such file"}},
        {FULL, "ROOFTILE_HIP_LIBRARY", "libm.so.6", {"libm.so.6 lacks all functions of HIP"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct text why = {0};
        use_fake(cases[i].library);
        setenv(cases[i].variable, cases[i].value, 1);
        assert_int_equal(hip_count(&why, PLENTY_MS), 0);
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
    setenv("FAKE_HIP_FAIL", "hipGetDeviceCount:1:hang", 1);
    assert_int_equal(hip_count(&why, 300), 0);
    assert_string_equal(why.data, "libamdhip64 did not count its devices within 0.3 s");
    text_release(&why);
}

static void make_file(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

/* access() asks for the real user, and root may do everything. */
static void explain_as_nobody(struct text *why, const char *dev)
{
    const bool root = getuid() == 0;
    if (root)
        assert_int_equal(setresuid(65534, (uid_t)-1, (uid_t)-1), 0);
    hip_explain_absence(why, dev);
    if (root)
        assert_int_equal(setresuid(0, (uid_t)-1, (uid_t)-1), 0);
}

static void explains_absence(void **state)
{
    static const struct {
        int kfd, render; /* modes; -1: no such file */
        const char *variable;
        const char *says; /* NULL: nothing */
    } cases[] = {
        {-1, -1, NULL, "/kfd (the amdgpu driver is not loaded, or this container was not given it)"},
        {0, -1, NULL, ": no permission on /tmp/rooftile_test_dev_"},
        {0, -1, NULL, "/kfd (mode 0000, group "},
        {0666, 0, NULL, "/dri/renderD128 (mode 0000, group "},
        {0666, 0666, NULL, NULL},
        {0666, -1, "HIP_VISIBLE_DEVICES", "; HIP_VISIBLE_DEVICES=5 selects devices"},
        {0666, -1, "ROCR_VISIBLE_DEVICES", "; ROCR_VISIBLE_DEVICES=5 selects devices"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char dev[] = "/tmp/rooftile_test_dev_XXXXXX", dri[64], render[96], kfd[64];
        struct text why = {0};
        clear_environment();
        assert_non_null(mkdtemp(dev));
        assert_int_equal(chmod(dev, 0755), 0);
        snprintf(kfd, sizeof(kfd), "%s/kfd", dev);
        snprintf(dri, sizeof(dri), "%s/dri", dev);
        snprintf(render, sizeof(render), "%s/renderD128", dri);
        assert_int_equal(mkdir(dri, 0755), 0);
        if (cases[i].kfd >= 0)
            make_file(kfd, (mode_t)cases[i].kfd);
        if (cases[i].render >= 0)
            make_file(render, (mode_t)cases[i].render);
        if (cases[i].variable)
            setenv(cases[i].variable, "5", 1);
        explain_as_nobody(&why, dev);
        if (cases[i].says)
            assert_says(why.data, cases[i].says);
        else
            assert_int_equal(why.length, 0);
        text_release(&why);
        unlink(render);
        unlink(kfd);
        rmdir(dri);
        rmdir(dev);
    }
}

static void default_device_is_a_counted_gpu(void **state)
{
    struct device_request request;
    struct text reason = {0};
    (void)state;
    use_fake(FULL);
    device_default(&request, &reason);
    assert_string_equal(request.backend, "hip");
    text_clear(&reason);
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
        cmocka_unit_test(counts_in_a_child),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(gives_up_on_a_library_that_hangs),
        cmocka_unit_test(explains_absence),
        cmocka_unit_test(default_device_is_a_counted_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
