/* SPDX-License-Identifier: MIT */
#include "build_fixture.h"

#include "../code/codeobj_image.h"
#include "rooftile/hash.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct build_result build_one(struct fixture *fixture, const char *image, enum build_kind kind, const char *arch)
{
    const struct build_options options = {.include_dir = fixture_path(fixture, "include"), .jobs = 1};
    const struct build_request request = {.image = image, .target = {.kind = kind, .arch = arch, .wave = 64}};
    struct build_result result = {0};
    struct err err = {0};
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    return result;
}

static const char *write_bytes(struct fixture *fixture, const char *name, const void *bytes, size_t size)
{
    struct err err = {0};
    const char *path = fixture_path(fixture, name);
    assert_int_equal(file_write(path, bytes, size, &err), STATUS_OK);
    return path;
}

static void expect_message(const struct build_result *result, enum build_state state, const char *message)
{
    assert_int_equal(result->state, state);
    assert_non_null(strstr(result->message, message));
}

static void test_plain(void **state)
{
    struct fixture *fixture = *state;
    size_t size;
    const void *image = image_make(&size, image_note, sizeof(image_note) - 1, 0x54c, &fixture->arena);
    const char *path = write_bytes(fixture, "a.hsaco", image, size);
    char sha256[HASH_TEXT];
    hash_sha256(sha256, image, size);
    const struct build_result good = build_one(fixture, path, BUILD_AMD, "gfx942");
    assert_int_equal(good.state, BUILD_CACHED);
    assert_string_equal(good.object, path);
    assert_string_equal(good.sha256, sha256);
    const struct build_result other = build_one(fixture, path, BUILD_AMD, "gfx1100");
    expect_message(&other, BUILD_SKIPPED, "a.hsaco is for gfx942, this device is gfx1100");
    const struct build_result host = build_one(fixture, path, BUILD_CPU, "x86-64-v3");
    expect_message(&host, BUILD_SKIPPED, "a.hsaco is for gfx942, this device is the CPU");
    const char *text = write_bytes(fixture, "b.hsaco", "hello", 5);
    const struct build_result broken = build_one(fixture, text, BUILD_AMD, "gfx942");
    expect_message(&broken, BUILD_FAILED, "b.hsaco: not a code object");
    const struct build_result library = build_one(fixture, text, BUILD_CPU, "x86-64-v3");
    assert_int_equal(library.state, BUILD_CACHED);
}

/* Each target gets its own entry, as a file of its own, and the same one again. */
static void test_bundle(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *id, *arch;
        uint32_t flags;
    } targets[] = {{"hipv4-amdgcn-amd-amdhsa--gfx90a", "gfx90a", 0x53f},
                   {"hipv4-amdgcn-amd-amdhsa--gfx1100", "gfx1100", 0x41}};
    struct image_entry entries[COUNT(targets)];
    size_t size;
    for (size_t k = 0; k < COUNT(targets); k++) {
        entries[k].id = targets[k].id;
        entries[k].data = image_make(&entries[k].size, "\x80", 1, targets[k].flags, &fixture->arena);
    }
    const void *bundle = image_bundle(&size, entries, COUNT(entries), &fixture->arena);
    const char *path = write_bytes(fixture, "b.hipfb", bundle, size);
    for (size_t k = 0; k < COUNT(targets); k++) {
        const struct build_result first = build_one(fixture, path, BUILD_AMD, targets[k].arch);
        const struct build_result second = build_one(fixture, path, BUILD_AMD, targets[k].arch);
        assert_int_equal(first.state, BUILD_CACHED);
        assert_string_equal(first.object, second.object);
        assert_memory_equal(fixture_read(fixture, first.object), entries[k].data, entries[k].size);
    }
    const struct build_result other = build_one(fixture, path, BUILD_AMD, "gfx942");
    expect_message(&other, BUILD_SKIPPED, "b.hipfb is for gfx90a gfx1100, this device is gfx942");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_plain, fixture_setup, fixture_teardown),
                                       cmocka_unit_test_setup_teardown(test_bundle, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
