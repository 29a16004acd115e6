/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

#include <sys/stat.h>

#define FULL "fake_hip"
#define OLD "fake_hip_old"
#define BARE "fake_hip_bare"
#define BROKEN "fake_hip_broken"

/* What was found where, or why nothing was. */
static enum status search(struct gpu *found, struct err *err)
{
    struct gpu *gpu = gpu_new(&hip_vendor);
    const enum status status = gpu_find_library(gpu, err);
    memcpy(found, gpu, sizeof(*found));
    free(gpu);
    return status;
}

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
    struct gpu library;
    struct err err = {0};
    (void)state;
    const struct install made = install();
    clear_environment();
    setenv("ROCM_PATH", made.root, 1);
    assert_int_equal(search(&library, &err), STATUS_OK);
    assert_true(text_starts(library.library.path, made.lib));
    assert_true(text_ends(library.library.path, "/libamdhip64.so.10.1"));
    uninstall(&made);
}

static void searches_the_loaders_folders(void **state)
{
    struct gpu library;
    struct err err = {0};
    char path[128];
    (void)state;
    if (file_is_dir("/opt/rocm"))
        skip(); /* it comes first */
    const struct install made = install();
    clear_environment();
    snprintf(path, sizeof(path), ":/nonexistent:%s:", made.lib);
    setenv("LD_LIBRARY_PATH", path, 1);
    assert_int_equal(search(&library, &err), STATUS_OK);
    assert_true(text_starts(library.library.path, made.lib));
    uninstall(&made);
}

static void names_what_is_missing(void **state)
{
    struct gpu library;
    struct err err = {0};
    (void)state;
    use_fake(&hip_rig, BROKEN);
    assert_int_equal(search(&library, &err), ERR_DEVICE_LOST);
    assert_true(text_ends(err.text, "libfake_hip_broken.so lacks hipMemsetD8Async"));
    setenv("ROOFTILE_HIP_LIBRARY", "libm.so.6", 1);
    assert_int_equal(search(&library, &err), ERR_DEVICE_LOST);
    assert_string_equal(err.text, "libm.so.6 lacks all functions of HIP");
    setenv("ROOFTILE_HIP_LIBRARY", "/nonexistent.so", 1);
    assert_int_equal(search(&library, &err), ERR_DEVICE_LOST);
    assert_says(err.text, "/nonexistent.so: cannot open shared object file");
    setenv("ROOFTILE_HIP_LIBRARY", "/dev/null", 1);
    assert_int_equal(search(&library, &err), ERR_DEVICE_LOST);
    assert_says(err.text, "/dev/null: ");
}

/* Only where the machine has no library of its own. */
static void lists_where_it_searched(void **state)
{
    struct gpu library;
    struct err err = {0};
    (void)state;
    clear_environment();
    if (search(&library, &err) == STATUS_OK)
        skip();
    assert_says(
        err.text,
        "no $ROCM_PATH/lib/libamdhip64.so*, /opt/rocm/lib/libamdhip64.so*, /opt/rocm/core*/lib/libamdhip64.so*, "
        "$LD_LIBRARY_PATH/libamdhip64.so*, libamdhip64.so.{30..5}, libamdhip64.so; another place: "
        "ROOFTILE_HIP_LIBRARY");
}

static void knows_both_names_of_a_function(void **state)
{
    static const struct {
        const char *library;
        bool extended, renewed;
    } cases[] = {{FULL, true, true}, {OLD, true, false}, {BARE, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct gpu library;
        struct err err = {0};
        use_fake(&hip_rig, cases[i].library);
        assert_int_equal(search(&library, &err), STATUS_OK);
        assert_int_equal(library.api.hipExtModuleLaunchKernel != NULL, cases[i].extended);
        assert_int_equal(library.api.hipGetDevicePropertiesR0600 != NULL, cases[i].renewed);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
