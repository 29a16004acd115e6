/* SPDX-License-Identifier: MIT
 *
 * Cubins of tests/data/cubin, against what ptxas said when it made them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "rooftile/codeobj.h"
#include "rooftile/file.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define LIMIT_BYTES 65536u

static const char *path_of(const char *arch, struct arena *arena)
{
    return arena_printf(arena, "%s/tests/data/cubin/%s.cubin", ROOFTILE_SOURCE_DIR, arch);
}

static const struct {
    const char *arch, *name;
    uint32_t registers, stack_bytes, shared_bytes, max_block, args_bytes, barriers, spill_store_bytes, spill_load_bytes;
} kernels[] = {
    {"sm_80", "in_shared", 12, 0, 384, 128, 32, 1, 0, 0},   {"sm_80", "on_stack", 38, 160, 0, 0, 12, 0, 0, 0},
    {"sm_80", "spilled", 24, 88, 0, 0, 12, 0, 236, 236},    {"sm_80", "named_barriers", 10, 0, 0, 0, 8, 6, 0, 0},
    {"sm_90a", "in_shared", 12, 0, 384, 128, 32, 1, 0, 0},  {"sm_90a", "on_stack", 38, 160, 0, 0, 12, 0, 0, 0},
    {"sm_90a", "spilled", 24, 88, 0, 0, 12, 0, 240, 240},   {"sm_90a", "named_barriers", 10, 0, 0, 0, 8, 6, 0, 0},
    {"sm_100a", "in_shared", 12, 0, 384, 128, 32, 1, 0, 0}, {"sm_100a", "on_stack", 38, 160, 0, 0, 12, 0, 0, 0},
    {"sm_100a", "spilled", 24, 80, 0, 0, 12, 0, 204, 204},  {"sm_100a", "named_barriers", 10, 0, 0, 0, 8, 6, 0, 0},
};

static void reads_kernels(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const struct codeobj_file *file = NULL;
        struct err err = {0};
        assert_int_equal(codeobj_read(&file, path_of(kernels[i].arch, &arena), &arena, &err), STATUS_OK);
        assert_int_equal(file->container, CODEOBJ_PLAIN);
        assert_int_equal(file->count, 1);
        assert_string_equal(file->objects[0].target, kernels[i].arch);
        assert_int_equal(file->objects[0].kernel_count, 4);
        assert_ptr_equal(codeobj_for_target(file, kernels[i].arch), &file->objects[0]);
        assert_null(codeobj_for_target(file, "sm_75"));
        const struct codeobj_kernel *kernel = codeobj_kernel(&file->objects[0], kernels[i].name);
        assert_non_null(kernel);
        assert_int_equal(kernel->vgpr_count, kernels[i].registers);
        assert_int_equal(kernel->private_segment_bytes, kernels[i].stack_bytes);
        assert_int_equal(kernel->group_segment_bytes, kernels[i].shared_bytes);
        assert_int_equal(kernel->max_block, kernels[i].max_block);
        assert_int_equal(kernel->kernarg_bytes, kernels[i].args_bytes);
        assert_int_equal(kernel->barriers, kernels[i].barriers);
        assert_true(kernel->spill_bytes_known);
        assert_int_equal(kernel->spill_store_bytes, kernels[i].spill_store_bytes);
        assert_int_equal(kernel->spill_load_bytes, kernels[i].spill_load_bytes);
        assert_int_equal(kernel->wave, 32);
        assert_true(kernel->code_bytes >= 128 && strlen(kernel->code_sha256) == 64);
    }
    arena_release(&arena);
}

static void reads_arguments(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0, 8, 16, 24}, sizes[] = {8, 8, 1, 8};
    struct arena arena = {0};
    const struct codeobj_file *file = NULL;
    struct err err = {0};
    assert_int_equal(codeobj_read(&file, path_of("sm_90a", &arena), &arena, &err), STATUS_OK);
    const struct codeobj_kernel *kernel = codeobj_kernel(&file->objects[0], "in_shared");
    assert_int_equal(kernel->explicit_count, COUNT(sizes));
    for (size_t k = 0; k < COUNT(sizes); k++) {
        assert_int_equal(kernel->args[k].offset_bytes, offsets[k]);
        assert_int_equal(kernel->args[k].size_bytes, sizes[k]);
    }
    arena_release(&arena);
}

/* A compiler that is older than the marks, or does not say how old it is: what a stack is for is then unknown. */
static void knows_what_it_does_not_know(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const struct codeobj_file *file = NULL;
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(file_read(&data, &size, path_of("sm_80", &arena), LIMIT_BYTES, &arena, &err), STATUS_OK);
    char *release = memmem(data, size, "release 13.0", strlen("release 13.0"));
    assert_non_null(release);
    memcpy(release, "release 12.0", strlen("release 12.0"));
    assert_int_equal(codeobj_parse(&file, "older", data, size, &arena, &err), STATUS_OK);
    assert_false(codeobj_kernel(&file->objects[0], "on_stack")->spill_bytes_known);
    assert_true(codeobj_kernel(&file->objects[0], "spilled")->spill_bytes_known);
    arena_release(&arena);
}

/* Cut anywhere, and with any byte changed: read or refused with a reason, never a crash. */
static void survives_damage(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    char *data = NULL;
    size_t size = 0, refused = 0;
    assert_int_equal(file_read(&data, &size, path_of("sm_80", &arena), LIMIT_BYTES, &arena, &err), STATUS_OK);
    for (size_t at = 0; at < size; at += 13) {
        struct arena each = {0};
        const struct codeobj_file *file = NULL;
        struct err why = {0};
        const char kept = data[at];
        if (codeobj_parse(&file, "cut", data, at, &each, &why)) {
            assert_true(why.text[0] != '\0');
            refused++;
        }
        data[at] = (char)(kept ^ 0x7f);
        codeobj_parse(&file, "changed", data, size, &each, &why);
        data[at] = kept;
        arena_release(&each);
    }
    assert_true(refused > size / 13 / 2);
    arena_release(&arena);
}

/* A second one is no more than any other section. */
static void has_one_table_of_symbols(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const struct codeobj_file *file = NULL;
    char *data = NULL;
    size_t size = 0, tables = 0;
    assert_int_equal(file_read(&data, &size, path_of("sm_80", &arena), LIMIT_BYTES, &arena, &err), STATUS_OK);
    Elf64_Ehdr header;
    Elf64_Shdr section, symbols = {0};
    memcpy(&header, data, sizeof(header));
    for (size_t k = 0; k < header.e_shnum; k++) {
        char *at = data + header.e_shoff + k * sizeof(section);
        memcpy(&section, at, sizeof(section));
        symbols = section.sh_type == SHT_SYMTAB ? section : symbols;
        if (section.sh_type == SHT_SYMTAB || (symbols.sh_type && section.sh_type == SHT_NOBITS)) {
            memcpy(at, &symbols, sizeof(symbols));
            tables++;
        }
    }
    assert_true(tables > 1);
    assert_int_equal(codeobj_parse(&file, "two", data, size, &arena, &err), STATUS_OK);
    assert_int_equal(file->objects[0].kernel_count, 4);
    for (size_t k = 0; k < 4; k++)
        assert_non_null(file->objects[0].kernels[k].name);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_kernels),
        cmocka_unit_test(reads_arguments),
        cmocka_unit_test(knows_what_it_does_not_know),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(has_one_table_of_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
