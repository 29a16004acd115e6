/* SPDX-License-Identifier: MIT */
#include "hip_rig.h"

#include <sys/stat.h>

static void copy_file(const char *to, const char *from)
{
    struct arena arena = {0};
    struct err err = {0};
    char *data;
    size_t length;
    assert_int_equal(file_read(&data, &length, from, FILE_LIMIT_BYTES, &arena, &err), STATUS_OK);
    assert_int_equal(file_write(to, data, length, &err), STATUS_OK);
    arena_release(&arena);
}

/* A folder with a subfolder "lib" of stand-ins under the names that ROCm gives its libraries. */
struct install {
    char root[32], lib[40];
};

static const char *const installed[][2] = {
    {"libamdhip64.so", OLD},       {"libamdhip64.so.9", OLD},           {"libamdhip64.so.9.9.99", OLD},
    {"libamdhip64.so.10.1", FULL}, {"libamdhip64.so.10.debug", BROKEN}, {"libamdhip64.so.txt", NULL},
};
enum { INSTALLED = sizeof(installed) / sizeof(installed[0]) };

static struct install install(void)
{
    struct install made = {.root = "/tmp/rooftile_test_rocm_XXXXXX"};
    assert_non_null(mkdtemp(made.root));
    snprintf(made.lib, sizeof(made.lib), "%s/lib", made.root);
    assert_int_equal(mkdir(made.lib, 0755), 0);
    for (size_t i = 0; i < INSTALLED; ++i) {
        char path[128];
        struct err err = {0};
        snprintf(path, sizeof(path), "%s/%s", made.lib, installed[i][0]);
        if (installed[i][1])
            copy_file(path, fake_path(installed[i][1]));
        else
            assert_int_equal(file_write(path, "no library", 10, &err), STATUS_OK);
    }
    return made;
}

static void uninstall(const struct install *made)
{
    for (size_t i = 0; i < INSTALLED; ++i) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", made->lib, installed[i][0]);
        unlink(path);
    }
    rmdir(made->lib);
    rmdir(made->root);
}

static void takes_the_highest_version_of_rocm_path(void **state)
{
    struct hip_library library;
    struct err err = {0};
    (void)state;
    const struct install made = install();
    clear_environment();
    setenv("ROCM_PATH", made.root, 1);
    assert_int_equal(hip_library_open(&library, &err), STATUS_OK);
    assert_true(text_starts(library.path, made.lib));
    assert_true(text_ends(library.path, "/libamdhip64.so.10.1"));
    uninstall(&made);
}

static void searches_the_loaders_folders(void **state)
{
    struct hip_library library;
    struct err err = {0};
    char path[128];
    (void)state;
    if (file_is_dir("/opt/rocm"))
        skip(); /* it comes first */
    const struct install made = install();
    clear_environment();
    snprintf(path, sizeof(path), ":/nonexistent:%s:", made.lib);
    setenv("LD_LIBRARY_PATH", path, 1);
    assert_int_equal(hip_library_open(&library, &err), STATUS_OK);
    assert_true(text_starts(library.path, made.lib));
    uninstall(&made);
}

static void names_what_is_missing(void **state)
{
    struct hip_library library;
    struct err err = {0};
    (void)state;
    use_fake(BROKEN);
    assert_int_equal(hip_library_open(&library, &err), ERR_DEVICE_LOST);
    assert_true(text_ends(err.text, "libfake_hip_broken.so lacks hipMemsetAsync"));
    setenv("ROOFTILE_HIP_LIBRARY", "libm.so.6", 1);
    assert_int_equal(hip_library_open(&library, &err), ERR_DEVICE_LOST);
    assert_string_equal(err.text, "libm.so.6 lacks all functions of HIP");
    setenv("ROOFTILE_HIP_LIBRARY", "/nonexistent.so", 1);
    assert_int_equal(hip_library_open(&library, &err), ERR_DEVICE_LOST);
    assert_says(err.text, "/nonexistent.so: cannot open shared object file");
    setenv("ROOFTILE_HIP_LIBRARY", "/dev/null", 1);
    assert_int_equal(hip_library_open(&library, &err), ERR_DEVICE_LOST);
    assert_says(err.text, "/dev/null: ");
}

/* Only where the machine has no library of its own. */
static void lists_where_it_searched(void **state)
{
    struct hip_library library;
    struct err err = {0};
    (void)state;
    clear_environment();
    if (hip_library_open(&library, &err) == STATUS_OK)
        skip();
    assert_says(err.text,
                "no libamdhip64.so in $ROCM_PATH/lib, /opt/rocm/lib, /opt/rocm/core*/lib or the loader's path");
}

static void knows_both_names_of_a_function(void **state)
{
    static const struct {
        const char *library;
        bool extended, renewed;
    } cases[] = {{FULL, true, true}, {OLD, true, false}, {BARE, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct hip_library library;
        struct err err = {0};
        use_fake(cases[i].library);
        assert_int_equal(hip_library_open(&library, &err), STATUS_OK);
        assert_int_equal(library.api.hipExtModuleLaunchKernel != NULL, cases[i].extended);
        assert_int_equal(library.api.hipGetDevicePropertiesR0600 != NULL, cases[i].renewed);
    }
}

static void error_codes_have_statuses_and_texts(void **state)
{
    static const struct {
        hip_error code;
        enum status status;
        const char *text, *bare_text; /* of a library without names */
    } cases[] = {
        {0, STATUS_OK, "", ""},
        {2, ERR_DEVICE_MEMORY, "hipCall: hipErrorOutOfMemory (2)", "hipCall: error 2"},
        {100, ERR_DEVICE_LOST, "hipCall: hipErrorNoDevice (100)", "hipCall: error 100"},
        {101, ERR_DEVICE, "hipCall: hipErrorInvalidDevice (101)", "hipCall: error 101"},
        {214, ERR_DEVICE_LOST, "hipCall: error 214", "hipCall: error 214"},
        {700, ERR_DEVICE_LOST, "hipCall: error 700", "hipCall: error 700"},
        {702, ERR_DEVICE_LOST, "hipCall: error 702", "hipCall: error 702"},
        {719, ERR_DEVICE_LOST, "hipCall: hipErrorLaunchFailure (719)", "hipCall: error 719"},
        {801, ERR_UNSUPPORTED, "hipCall: error 801", "hipCall: error 801"},
        {999, ERR_DEVICE, "hipCall: hipErrorUnknown (999)", "hipCall: error 999"},
        {1054, ERR_DEVICE, "hipCall: error 1054", "hipCall: error 1054"},
        {4000000000u, ERR_DEVICE, "hipCall: error 4000000000", "hipCall: error 4000000000"},
    };
    struct hip_library library;
    struct err err = {0};
    (void)state;
    use_fake(FULL);
    assert_int_equal(hip_library_open(&library, &err), STATUS_OK);
    const struct hip_api bare = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        err = (struct err){0};
        assert_int_equal(hip_check(&library.api, cases[i].code, "hipCall", &err), cases[i].status);
        assert_string_equal(err.text, cases[i].text);
        assert_int_equal(hip_check(&bare, cases[i].code, "hipCall", &err), cases[i].status);
        assert_string_equal(err.text, cases[i].bare_text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_highest_version_of_rocm_path),
        cmocka_unit_test(searches_the_loaders_folders),
        cmocka_unit_test(names_what_is_missing),
        cmocka_unit_test(lists_where_it_searched),
        cmocka_unit_test(knows_both_names_of_a_function),
        cmocka_unit_test(error_codes_have_statuses_and_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
