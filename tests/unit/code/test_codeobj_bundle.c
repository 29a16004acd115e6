/* SPDX-License-Identifier: MIT
 *
 * Containers, targets and hostile files, all made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "codeobj_image.h"
#include "rooftile/codeobj.h"
#include "rooftile/text.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct fixture {
    struct arena arena;
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_release(&fixture->arena);
    free(fixture);
    return 0;
}

/* ---- by hand: compressed bundles of every version ---- */

static const struct codeobj_file *parsed(struct fixture *fixture, const void *bytes, size_t size)
{
    const struct codeobj_file *file = NULL;
    struct err err = {0};
    if (codeobj_parse(&file, "made", bytes, size, &fixture->arena, &err))
        fail_msg("%s", err.text);
    return file;
}

static unsigned char *compressed(size_t *size, unsigned version, unsigned method, const unsigned char *plain,
                                 size_t plain_size, struct arena *arena)
{
    static const size_t header_sizes[] = {0, 20, 24, 32};
    const size_t header = header_sizes[version], room = plain_size * 2 + 1024;
    unsigned char *out = arena_alloc(arena, header + room);
    unsigned long packed = room;
    if (method == 0)
        assert_int_equal(compress(out + header, &packed, plain, plain_size), Z_OK);
    else
        packed = ZSTD_compress(out + header, room, plain, plain_size, 3);
    memcpy(out, "CCOB", 4);
    image_put(out + 4, version, 2);
    image_put(out + 6, method, 2);
    const unsigned width = version == 3 ? 8 : 4;
    if (version > 1)
        image_put(out + 8, header + packed, width);
    image_put(out + (version > 1 ? 8 + width : 8), plain_size, width);
    *size = header + packed;
    return out;
}

static void test_versions(void **state)
{
    struct fixture *fixture = *state;
    size_t image_size, plain_size, size;
    const unsigned char *image = image_make(&image_size, image_note, sizeof(image_note) - 1, 0x54c, &fixture->arena);
    const struct image_entry entries[] = {{"host-x86_64-unknown-linux--", NULL, 0},
                                          {"hip-spirv64-amd-amdhsa--amdgcnspirv", "\x03\x02\x23\x07", 4},
                                          {"hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", image, image_size}};
    const unsigned char *plain = image_bundle(&plain_size, entries, COUNT(entries), &fixture->arena);
    for (unsigned version = 1; version <= 3; version++)
        for (unsigned method = 0; method < 2; method++) {
            unsigned char *bytes = compressed(&size, version, method, plain, plain_size, &fixture->arena);
            unsigned char *twice = arena_alloc(&fixture->arena, 2 * size + 8);
            memcpy(twice, bytes, size);
            memcpy(twice + size + 8, bytes, size);
            const struct codeobj_file *file = parsed(fixture, twice, 2 * size + 8);
            assert_int_equal(file->count, 2);
            assert_int_equal(file->other_count, 4);
            assert_string_equal(file->objects[0].kernels[0].args[0].value_kind, "global_buffer");
            assert_false(file->objects[0].kernels[0].has_descriptor);
            assert_null(file->objects[0].kernels[0].code);
        }
}

/* ---- targets ---- */

static void test_targets(void **state)
{
    static const struct {
        const char *objects[3], *device;
        int chosen; /* -1: none */
    } cases[] = {
        {{"gfx90a", "gfx942"}, "gfx942:sramecc+:xnack-", 1},
        {{"gfx942:xnack+", "gfx942:xnack-"}, "gfx942:sramecc+:xnack-", 1},
        {{"gfx942", "gfx942:xnack-", "gfx942:xnack+"}, "gfx942:sramecc+:xnack-", 1},
        {{"gfx942", "gfx942:sramecc-"}, "gfx942:sramecc+:xnack-", 0},
        {{"gfx942:xnack+"}, "gfx942:sramecc+:xnack-", -1},
        {{"gfx942:xnack+"}, "gfx942", 0},
        {{"gfx1100"}, "gfx110", -1},
        {{"gfx110"}, "gfx1100", -1},
        {{"gfx9-4-generic", "gfx942"}, "gfx942", 1},
        {{"gfx9-4-generic"}, "gfx942:sramecc+:xnack-", 0},
        {{"gfx12-generic", "gfx11-generic"}, "gfx1151", 1},
        {{"gfx10-3-generic"}, "gfx1011", -1},
    };
    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct codeobj objects[3] = {{0}};
        struct codeobj_file file = {.objects = objects};
        char names[3][32];
        for (; file.count < 3 && cases[k].objects[file.count]; file.count++) {
            struct codeobj *object = &objects[file.count];
            snprintf(names[file.count], sizeof(names[0]), "%s", cases[k].objects[file.count]);
            char *colon = strchr(names[file.count], ':');
            if (colon)
                *colon++ = '\0';
            object->target = names[file.count];
            object->features = colon ? colon : "";
        }
        const struct codeobj *found = codeobj_for_target(&file, cases[k].device);
        if ((found ? (int)(found - objects) : -1) != cases[k].chosen)
            fail_msg("row %zu: %s: %d", k, cases[k].device, found ? (int)(found - objects) : -1);
    }
}

static void test_flags(void **state)
{
    static const struct {
        uint32_t flags;
        const char *target, *features;
    } cases[] = {{0x54c, "gfx942", ""},
                 {0xe4c, "gfx942", "sramecc+:xnack-"},
                 {0xb3f, "gfx90a", "sramecc-:xnack+"},
                 {0x041, "gfx1100", ""},
                 {0x04e, "gfx1201", ""},
                 {0x04f, "gfx950", ""},
                 {0x059, "gfx12-generic", ""}};
    struct fixture *fixture = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        size_t size;
        const void *image = image_make(&size, "\x80", 1, cases[k].flags, &fixture->arena);
        const struct codeobj_file *file = parsed(fixture, image, size);
        assert_string_equal(file->objects[0].target, cases[k].target);
        assert_string_equal(file->objects[0].features, cases[k].features);
        assert_int_equal(file->objects[0].kernel_count, 0);
    }
}

static void test_granules(void **state)
{
    static const struct {
        const char *target;
        uint32_t wave, encoding, allocation;
        bool unified, known;
    } cases[] = {{"gfx906", 64, 4, 4, false, true},         {"gfx908", 64, 4, 4, false, true},
                 {"gfx90a", 64, 8, 8, true, true},          {"gfx942", 64, 8, 8, true, true},
                 {"gfx950", 64, 8, 8, true, true},          {"gfx9-4-generic", 64, 8, 8, true, true},
                 {"gfx1030", 32, 8, 16, false, true},       {"gfx1030", 64, 4, 8, false, true},
                 {"gfx1100", 32, 8, 24, false, true},       {"gfx1100", 64, 4, 12, false, true},
                 {"gfx1102", 32, 8, 16, false, true},       {"gfx1151", 32, 8, 24, false, true},
                 {"gfx1150", 64, 4, 8, false, true},        {"gfx1201", 32, 8, 24, false, true},
                 {"gfx1250", 32, 16, 16, false, true},      {"gfx1250", 64, 0, 0, false, false},
                 {"gfx11-generic", 64, 4, 12, false, true}, {"gfx10-3-generic", 32, 8, 16, false, true},
                 {"gfx1153", 32, 8, 16, false, true},       {"sm_90", 32, 0, 0, false, false},
                 {"gfx942", 32, 0, 0, false, false},        {"gfx700", 64, 0, 0, false, false}};
    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct codeobj_granules granules = {0};
        assert_int_equal(codeobj_granules(&granules, cases[k].target, cases[k].wave), cases[k].known);
        assert_int_equal(granules.encoding, cases[k].encoding);
        assert_int_equal(granules.allocation, cases[k].allocation);
        assert_int_equal(granules.unified, cases[k].unified);
    }
}

/* ---- what is wrong ---- */

static void expect_error(struct fixture *fixture, const void *bytes, size_t size, const char *wanted)
{
    const struct codeobj_file *file = NULL;
    struct err err = {0};
    const enum status status = codeobj_parse(&file, "made", bytes, size, &fixture->arena, &err);
    if (status != ERR_CONFIG || !text_starts(err.text, "made: ") || !strstr(err.text, wanted))
        fail_msg("wanted '%s', got '%s'", wanted, err.text);
}

static void test_messages(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *wanted;
    } cases[] = {
        {"", 0, "the file is empty"},
        {"hello world, this is text", 25, "it begins with 'hell'"},
        {"!<arch>\nmember", 14, "it is an archive"},
        {"BC\xC0\xDE....", 8, "it is LLVM bitcode"},
        {"\177ELF", 4, "not a code object"},
        {"CCOB\x04\0\0\0", 8, "compressed bundle of version 4"},
        {"CCOB\x02\0\x07\0\x18\0\0\0\1\0\0\0________", 24, "unknown compression method 7"},
        {"CCOB\x02\0\0\0\xff\0\0\0\1\0\0\0________", 24, "it claims 255 bytes, there are 24"},
        {"CCOB\x02\0\0\0\x18\0\0\0\xff\xff\xff\xff________", 24, "4294967295 bytes when decompressed"},
        {"CCOB\x02\0\1\0\x1c\0\0\0\1\0\0\0________junk", 28, "damaged or truncated zstd data"},
        {"CCOB\x02\0\0\0\x1c\0\0\0\1\0\0\0________junk", 28, "damaged or truncated zlib data"},
        {"__CLANG_OFFLOAD_BUNDLE__\1\0\0\0\0\0\0\0", 32, "the table of entries ends"},
        {"__CLANG_OFFLOAD_BUNDLE__\xff\xff\xff\xff\0\0\0\0", 32, "it claims 4294967295 entries"},
        {"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0", 32, "its bundle has no AMD GPU entry, only: nothing"},
    };
    struct fixture *fixture = *state;
    for (size_t k = 0; k < COUNT(cases); k++)
        expect_error(fixture, cases[k].bytes, cases[k].size, cases[k].wanted);
}

/* One field of a good image changed. */
static void test_images(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        unsigned width;
        const char *wanted;
    } cases[] = {
        {18, 190, 2, "truncated: its table of symbols is not there"},
        {18, 62, 2, "without HIP kernels (no .hip_fatbin section); a library may have them in files beside it"},
        {7, 65, 1, "PAL (a graphics shader)"},
        {8, 0, 1, "code object version 2"},
        {16, ET_REL, 2, "a relocatable object: link it first"},
        {56, 0, 2, "truncated"},
        {64 + 8, 1u << 20, 8, "truncated: a segment needs"},
        {64 + 32, 1u << 20, 8, "truncated: a segment needs"},
        {64 + 56, PT_LOAD, 4, "no AMDGPU metadata note"},
        {IMAGE_NOTE_AT + 8, 31, 4, "no AMDGPU metadata note"},
        {IMAGE_NOTE_AT + 8, 10, 4, "only the metadata of code object version 2"},
        {IMAGE_NOTE_AT + 20, 0xdf, 1, "the note at byte 196: damaged metadata: its msgpack is truncated at byte 0 of "},
        {IMAGE_NOTE_AT + 20, 0x92, 1, "damaged metadata: its msgpack is not a map"},
    };
    struct fixture *fixture = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        size_t size;
        unsigned char *image = image_make(&size, image_note, sizeof(image_note) - 1, 0x54c, &fixture->arena);
        parsed(fixture, image, size);
        image_put(image + cases[k].at, cases[k].value, cases[k].width);
        expect_error(fixture, image, size, cases[k].wanted);
    }
    size_t size;
    const void *image = image_make(&size, "\x80", 1, 0xff, &fixture->arena);
    expect_error(fixture, image, size, "an unknown processor");
}

/* Metadata that is whole, of more values or arguments than any library has: `count` times `item` behind `head`. */
static void test_bombs(void **state)
{
    static const struct {
        const char *head;
        size_t head_bytes, count;
        unsigned char item;
        const char *wanted;
    } cases[] = {
        {"\xdd\x01\x31\x2d\x00", 5, 20000000, 0xc0, "damaged metadata: more than 16000000 values"},
        {"\x81\xae"
         "amdhsa.kernels\x91\x82\xa5.name\xa1k\xa5.args\xdd\x00\x01\x00\x01",
         38, 65537, 0x80, "kernel 'k': damaged metadata: 65537 arguments, more than 65536"},
    };
    struct fixture *fixture = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        size_t size;
        const size_t bytes = cases[k].head_bytes + cases[k].count;
        unsigned char *note = arena_alloc(&fixture->arena, bytes);
        memcpy(note, cases[k].head, cases[k].head_bytes);
        memset(note + cases[k].head_bytes, cases[k].item, cases[k].count);
        const void *image = image_make(&size, note, bytes, 0x54c, &fixture->arena);
        expect_error(fixture, image, size, cases[k].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
        cmocka_unit_test(test_targets),
        cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
        cmocka_unit_test(test_granules),
        cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_images, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bombs, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
