/* SPDX-License-Identifier: MIT
 *
 * Kernels compiled here, against what LLVM's own tools say of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "rooftile/codeobj.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/spawn.h"
#include "rooftile/text.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char source[] =
    "#define KERNEL extern \"C\" __attribute__((global))\n"
    "struct pair { int a; double b; };\n"
    "KERNEL void axpy(float *y, const float *x, float a, unsigned long n)\n"
    "{\n"
    "    unsigned long i = __builtin_amdgcn_workgroup_id_x() * 256ul + __builtin_amdgcn_workitem_id_x();\n"
    "    if (i < n)\n"
    "        y[i] += a * x[i];\n"
    "}\n"
    "KERNEL void empty() {}\n"
    "KERNEL void by_value(struct pair p, char c, short s, double *out) { *out = p.a * p.b + c + s; }\n"
    "KERNEL __attribute__((amdgpu_flat_work_group_size(128, 128))) void lds(float *out)\n"
    "{\n"
    "    __attribute__((shared)) static float tile[1024];\n"
    "    tile[__builtin_amdgcn_workitem_id_x()] = *out;\n"
    "    __builtin_amdgcn_s_barrier();\n"
    "    *out = tile[1023 - __builtin_amdgcn_workitem_id_x()];\n"
    "}\n"
    "KERNEL void many(float *out) { asm volatile(\"\" ::: \"v100\", \"s70\"); *out = 1; }\n"
    "#if __gfx90a__ || __gfx942__ || __gfx908__\n"
    "KERNEL void acc(float *out) { asm volatile(\"\" ::: \"v30\", \"a40\"); *out = 2; }\n"
    "#endif\n"
    "KERNEL void hidden(unsigned *out) { *out = *(unsigned *)__builtin_amdgcn_implicitarg_ptr(); }\n"
    "KERNEL void stack(int *out, int k)\n"
    "{\n"
    "    int local[64];\n"
    "    for (int i = 0; i < 64; i++)\n"
    "        local[i] = out[i] * i;\n"
    "    out[k] = local[k & 63] + local[out[k] & 63];\n"
    "}\n";

static const char *const archs[] = {"gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx908", "gfx1030"};

/* ---- tools ---- */

struct fixture {
    struct arena arena;
    char dir[64];
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/rooftile-test-XXXXXX");
    *state = fixture;
    return mkdtemp(fixture->dir) ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    char **paths = NULL;
    size_t count = 0;
    struct err err = {0};
    if (!file_list(&paths, &count, fixture->dir, "", &fixture->arena, &err))
        for (size_t k = 0; k < count; k++)
            unlink(paths[k]);
    rmdir(fixture->dir);
    arena_release(&fixture->arena);
    free(fixture);
    return 0;
}

/* Of LLVM's tools; what it is called without a version is often an old one. */
static const char *newest(struct fixture *fixture, const char *tool)
{
    for (int version = 25; version >= 15; version--) {
        const char *name = arena_printf(&fixture->arena, "%s-%d", tool, version);
        if (spawn_which(&fixture->arena, name))
            return name;
    }
    return tool;
}

static void need(struct fixture *fixture, const char *tool)
{
    if (spawn_which(&fixture->arena, tool))
        return;
    printf("skipped: %s is not installed\n", tool);
    skip();
}

static char *run(struct fixture *fixture, const char *const *argv)
{
    struct spawn_result result;
    struct err err = {0};
    if (spawn_run(&result, argv, NULL, 1u << 24, 120000, &fixture->arena, &err))
        fail_msg("%s", err.text);
    if (result.exit_code)
        fail_msg("%s: exit %d: %s", argv[0], result.exit_code, result.errors);
    return result.output;
}

static const char *in_dir(struct fixture *fixture, const char *name)
{
    return path_join(&fixture->arena, fixture->dir, name);
}

static const char *compiled(struct fixture *fixture, const char *arch, const char *extra)
{
    struct err err = {0};
    const char *hip = in_dir(fixture, "k.hip");
    const char *out = in_dir(fixture, arena_printf(&fixture->arena, "k-%s.co", arch));
    assert_int_equal(file_write(hip, source, strlen(source), &err), STATUS_OK);
    const char *const argv[] = {newest(fixture, "clang++"),
                                "-x",
                                "hip",
                                "--cuda-device-only",
                                "-mcode-object-version=5",
                                "--no-gpu-bundle-output",
                                "-nogpulib",
                                "-nogpuinc",
                                "-O2",
                                arena_printf(&fixture->arena, "--offload-arch=%s", arch),
                                hip,
                                "-o",
                                out,
                                extra,
                                NULL};
    run(fixture, argv);
    return out;
}

static const struct codeobj_file *read_file(struct fixture *fixture, const char *path)
{
    const struct codeobj_file *file = NULL;
    struct err err = {0};
    if (codeobj_read(&file, path, &fixture->arena, &err))
        fail_msg("%s", err.text);
    return file;
}

/* ---- against llvm-readelf ---- */

/* Where the reader stands in the tool's list: keys of a kernel, or of its arguments. */
struct notes {
    const struct codeobj *object;
    size_t kernel, arg; /* number + 1 */
    size_t compared;
};

#define KERNEL_FIELD(key, member)                                                                                      \
    {                                                                                                                  \
        key, offsetof(struct codeobj_kernel, member)                                                                   \
    }
static const struct {
    const char *key;
    size_t offset;
} kernel_fields[] = {
    KERNEL_FIELD(".vgpr_count", vgpr_count),
    KERNEL_FIELD(".agpr_count", agpr_count),
    KERNEL_FIELD(".sgpr_count", sgpr_count),
    KERNEL_FIELD(".vgpr_spill_count", vgpr_spills),
    KERNEL_FIELD(".sgpr_spill_count", sgpr_spills),
    KERNEL_FIELD(".group_segment_fixed_size", group_segment_bytes),
    KERNEL_FIELD(".private_segment_fixed_size", private_segment_bytes),
    KERNEL_FIELD(".kernarg_segment_size", kernarg_bytes),
    KERNEL_FIELD(".wavefront_size", wave),
    KERNEL_FIELD(".max_flat_workgroup_size", max_block),
};

static void compare_kernel_key(struct notes *notes, const char *key, const char *value)
{
    assert_in_range(notes->kernel, 1, notes->object->kernel_count);
    const struct codeobj_kernel *kernel = &notes->object->kernels[notes->kernel - 1];
    notes->compared++;
    if (strcmp(key, ".name") == 0)
        assert_string_equal(kernel->name, value);
    else if (strcmp(key, ".symbol") == 0)
        assert_string_equal(kernel->symbol, value);
    else if (strcmp(key, ".uses_dynamic_stack") == 0)
        assert_int_equal(kernel->uses_dynamic_stack, strcmp(value, "true") == 0);
    else if (strcmp(key, ".workgroup_processor_mode") == 0)
        assert_int_equal(kernel->wgp_mode, atol(value));
    for (size_t k = 0; k < COUNT(kernel_fields); k++) {
        uint32_t number;
        memcpy(&number, (const char *)kernel + kernel_fields[k].offset, sizeof(number));
        if (strcmp(key, kernel_fields[k].key) == 0 && number != (uint32_t)atol(value))
            fail_msg("%s: %s is %s, read %u", kernel->name, key, value, number);
    }
}

static void compare_arg_key(struct notes *notes, const char *key, const char *value)
{
    const struct codeobj_kernel *kernel = &notes->object->kernels[notes->kernel - 1];
    assert_in_range(notes->arg, 1, kernel->arg_count);
    const struct codeobj_arg *arg = &kernel->args[notes->arg - 1];
    notes->compared++;
    if (strcmp(key, ".offset") == 0)
        assert_int_equal(arg->offset_bytes, atol(value));
    else if (strcmp(key, ".size") == 0)
        assert_int_equal(arg->size_bytes, atol(value));
    else if (strcmp(key, ".value_kind") == 0)
        assert_string_equal(arg->value_kind, value);
    else if (strcmp(key, ".address_space") == 0)
        assert_string_equal(arg->address_space, value);
    else if (strcmp(key, ".name") == 0)
        assert_string_equal(arg->name, value);
    else
        fail_msg("unexpected key %s of an argument", key);
}

/* "  - .agpr_count:     0", "    .name:  axpy", "      - .offset:  16", "        .size:  4". */
static void compare_notes(const struct codeobj *object, char *printed)
{
    struct notes notes = {.object = object};
    for (char *line = strsep(&printed, "\n"); line; line = strsep(&printed, "\n")) {
        const size_t indent = strspn(line, " ");
        char *key = line + indent, *colon = strchr(key, ':');
        const bool starts = strncmp(key, "- ", 2) == 0;
        const size_t depth = indent + (starts ? 2 : 0);
        if (!colon || (depth != 4 && depth != 8) || key[starts ? 2 : 0] != '.')
            continue;
        key += starts ? 2 : 0;
        *colon++ = '\0';
        colon += strspn(colon, " ");
        if (depth == 4 && starts)
            notes.arg = 0;
        notes.kernel += depth == 4 && starts;
        notes.arg += depth == 8 && starts;
        if (depth == 4 && strcmp(key, ".args"))
            compare_kernel_key(&notes, key, colon);
        else if (depth == 8)
            compare_arg_key(&notes, key, colon);
    }
    assert_int_equal(notes.kernel, object->kernel_count);
    assert_true(notes.compared > 100);
}

/* ---- against llvm-objdump and llvm-nm ---- */

/* LLVM 19 prints bytes for gfx11 and gfx12 descriptors with a prefetch size. */
#define UNDECODED (-2)

static long directive(const char *kernel, const char *printed, const char *name)
{
    char *start = NULL, *at;
    assert_true(asprintf(&start, ".amdhsa_kernel %s\n", kernel) > 0);
    at = strstr(printed, start);
    free(start);
    if (!at)
        return UNDECODED;
    const char *end = strstr(at, ".end_amdhsa_kernel");
    at = strstr(at, name);
    return at && at < end ? atol(at + strlen(name)) : -1;
}

static bool compare_descriptor(const struct codeobj_kernel *kernel, const char *printed)
{
    const long vgprs = directive(kernel->name, printed, ".amdhsa_next_free_vgpr ");
    assert_true(kernel->has_descriptor);
    assert_true(kernel->allocated_vgprs >= kernel->encoded_vgprs);
    assert_true(kernel->allocated_vgprs >= kernel->vgpr_count);
    if (vgprs == UNDECODED)
        return false;
    assert_int_equal(kernel->encoded_vgprs, vgprs);
    return true;
}

static void compare_code(const struct codeobj *object, const struct codeobj_kernel *kernel, const char *names,
                         struct arena *arena)
{
    char hash[HASH_TEXT];
    const char *wanted = arena_printf(arena, "%016llx %016zx T %s\n", (unsigned long long)kernel->code_address,
                                      kernel->code_bytes, kernel->name);
    if (!strstr(names, wanted))
        fail_msg("llvm-nm does not say %s but %s", wanted, names);
    assert_true(kernel->code >= object->bytes &&
                kernel->code + kernel->code_bytes <= object->bytes + object->size_bytes);
    hash_sha256(hash, kernel->code, kernel->code_bytes);
    assert_string_equal(kernel->code_sha256, hash);
    const uint32_t last = kernel->code[kernel->code_bytes - 1];
    assert_int_equal(last, 0xbf); /* s_endpgm, on every target */
}

static void test_compiled(void **state)
{
    struct fixture *fixture = *state;
    need(fixture, newest(fixture, "clang++"));
    need(fixture, newest(fixture, "llvm-readelf"));
    for (size_t k = 0; k < COUNT(archs); k++) {
        const char *path = compiled(fixture, archs[k], k == 3 ? "-mwavefrontsize64" : "-O2");
        const struct codeobj_file *file = read_file(fixture, path);
        const struct codeobj *object = file->objects;
        assert_int_equal(file->container, CODEOBJ_PLAIN);
        assert_int_equal(file->count, 1);
        assert_string_equal(object->target, archs[k]);
        assert_string_equal(object->id, "");
        assert_int_equal(object->abi, 5);
        compare_notes(object, run(fixture, (const char *[]){newest(fixture, "llvm-readelf"), "--notes", path, NULL}));
        const char *printed =
            run(fixture, (const char *[]){newest(fixture, "llvm-objdump"), "-D", "-j", ".rodata", path, NULL});
        const char *names = run(fixture, (const char *[]){newest(fixture, "llvm-nm"), "-S", path, NULL});
        size_t decoded = 0;
        for (size_t n = 0; n < object->kernel_count; n++) {
            decoded += compare_descriptor(&object->kernels[n], printed);
            compare_code(object, &object->kernels[n], names, &fixture->arena);
        }
        assert_true(decoded >= 3);
    }
}

/* What occupancy counts, by hand for the kernels above. */
static void test_registers(void **state)
{
    static const struct {
        const char *arch, *kernel;
        uint32_t allocated, arch_vgprs, acc_vgprs;
    } cases[] = {
        {"gfx942", "acc", 80, 32, 48},    {"gfx942", "many", 104, 104, 0}, {"gfx908", "acc", 44, 44, 44},
        {"gfx1100", "many", 120, 120, 0}, {"gfx1100", "empty", 24, 24, 0}, {"gfx1030", "many", 112, 112, 0},
        {"gfx90a", "empty", 8, 8, 0},
    };
    struct fixture *fixture = *state;
    need(fixture, newest(fixture, "clang++"));
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct codeobj_file *file = read_file(fixture, compiled(fixture, cases[k].arch, "-O2"));
        const struct codeobj_kernel *kernel = codeobj_kernel(file->objects, cases[k].kernel);
        assert_non_null(kernel);
        assert_int_equal(kernel->allocated_vgprs, cases[k].allocated);
        assert_int_equal(kernel->arch_vgprs, cases[k].arch_vgprs);
        assert_int_equal(kernel->acc_vgprs, cases[k].acc_vgprs);
    }
}

static void test_arguments(void **state)
{
    struct fixture *fixture = *state;
    need(fixture, newest(fixture, "clang++"));
    const struct codeobj_file *file = read_file(fixture, compiled(fixture, "gfx942", "-O2"));
    const struct codeobj_kernel *axpy = codeobj_kernel(file->objects, "axpy");
    const struct codeobj_kernel *hidden = codeobj_kernel(file->objects, "hidden");
    assert_int_equal(axpy->explicit_count, 4);
    assert_true(axpy->args[0].is_pointer && axpy->args[1].is_pointer && !axpy->args[2].is_pointer);
    assert_int_equal(axpy->args[3].size_bytes, 8);
    assert_int_equal(axpy->args[3].offset_bytes, 24);
    assert_int_equal(hidden->explicit_count, 1);
    assert_true(hidden->arg_count > 5);
    assert_true(hidden->args[1].hidden && !hidden->args[0].hidden);
    assert_null(codeobj_kernel(file->objects, "axp"));
}

/* ---- containers ---- */

static const char *bundled(struct fixture *fixture, const char *name, const char *compress)
{
    const char *out = in_dir(fixture, name);
    const char *const argv[] = {newest(fixture, "clang-offload-bundler"),
                                "-type=o",
                                "-targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx942,"
                                "hipv4-amdgcn-amd-amdhsa--gfx1100",
                                "-input=/dev/null",
                                arena_printf(&fixture->arena, "-input=%s", compiled(fixture, "gfx942", "-O2")),
                                arena_printf(&fixture->arena, "-input=%s", compiled(fixture, "gfx1100", "-O2")),
                                arena_printf(&fixture->arena, "-output=%s", out),
                                compress,
                                NULL};
    run(fixture, argv);
    return out;
}

static void expect_bundle(const struct codeobj_file *file, enum codeobj_container container, size_t bundles)
{
    assert_int_equal(file->container, container);
    assert_int_equal(file->count, 2 * bundles);
    assert_int_equal(file->other_count, bundles);
    for (size_t k = 0; k < file->count; k++) {
        assert_string_equal(file->objects[k].target, k % 2 ? "gfx1100" : "gfx942");
        assert_non_null(strstr(file->objects[k].id, file->objects[k].target));
        assert_non_null(codeobj_kernel(&file->objects[k], "axpy")->code);
        assert_string_equal(codeobj_kernel(&file->objects[k], "axpy")->code_sha256,
                            codeobj_kernel(&file->objects[k % 2], "axpy")->code_sha256);
    }
}

static void test_bundles(void **state)
{
    struct fixture *fixture = *state;
    need(fixture, newest(fixture, "clang++"));
    need(fixture, newest(fixture, "clang-offload-bundler"));
    const struct codeobj_file *plain = read_file(fixture, bundled(fixture, "b.hipfb", NULL));
    const struct codeobj_file *small = read_file(fixture, bundled(fixture, "c.hipfb", "-compress"));
    expect_bundle(plain, CODEOBJ_BUNDLE, 1);
    expect_bundle(small, CODEOBJ_COMPRESSED, 1);
    assert_string_equal(codeobj_targets(small, &fixture->arena), "gfx942 gfx1100");
    assert_true(text_starts(small->others[0].id, "host-x86_64-unknown-linux-gnu-"));
    assert_string_equal(plain->objects[0].kernels[0].code_sha256, small->objects[0].kernels[0].code_sha256);
}

static void append_aligned(struct text *all, struct fixture *fixture, const char *path)
{
    char *data = NULL;
    size_t size = 0;
    struct err err = {0};
    assert_int_equal(file_read(&data, &size, path, FILE_LIMIT_BYTES, &fixture->arena, &err), STATUS_OK);
    text_addn(all, data, size);
    text_pad(all, (4096 - all->length % 4096) % 4096, '\0');
}

static void test_executable(void **state)
{
    struct fixture *fixture = *state;
    struct text all = {0};
    struct err err = {0};
    need(fixture, newest(fixture, "clang++"));
    need(fixture, newest(fixture, "clang-offload-bundler"));
    append_aligned(&all, fixture, bundled(fixture, "b.hipfb", NULL));
    append_aligned(&all, fixture, bundled(fixture, "c.hipfb", "-compress"));
    append_aligned(&all, fixture, bundled(fixture, "b.hipfb", NULL));
    const char *fatbin = in_dir(fixture, "fatbin"), *assembly = in_dir(fixture, "host.s");
    assert_int_equal(file_write(fatbin, all.data, all.length, &err), STATUS_OK);
    text_release(&all);
    const char *text = arena_printf(&fixture->arena,
                                    ".globl main\nmain: ret\n.section .hip_fatbin,\"a\",@progbits\n.p2align 12\n"
                                    ".incbin \"%s\"\n",
                                    fatbin);
    assert_int_equal(file_write(assembly, text, strlen(text), &err), STATUS_OK);
    const char *object = in_dir(fixture, "host.o");
    run(fixture,
        (const char *[]){newest(fixture, "clang++"), "--target=x86_64-linux-gnu", "-c", assembly, "-o", object, NULL});
    expect_bundle(read_file(fixture, object), CODEOBJ_EXECUTABLE, 3);
}

/* Whatever is cut off or changed, the answer is an object or one sentence. */
static void test_damaged(void **state)
{
    struct fixture *fixture = *state;
    need(fixture, newest(fixture, "clang++"));
    need(fixture, newest(fixture, "clang-offload-bundler"));
    char *data = NULL;
    size_t size = 0;
    struct err err = {0};
    const char *path = bundled(fixture, "c.hipfb", NULL);
    assert_int_equal(file_read(&data, &size, path, FILE_LIMIT_BYTES, &fixture->arena, &err), STATUS_OK);
    for (size_t k = 0; k < 400; k++) {
        struct arena arena = {0};
        const struct codeobj_file *file = NULL;
        /* A copy of exactly this size, so that a sanitizer sees a read behind its end. */
        const size_t length = k % 2 ? size * k / 400 : size;
        char *copy = malloc(length + 1);
        memcpy(copy, data, length);
        if (k % 2 == 0)
            copy[(k * 7919 * 31) % size] ^= (char)(1 + k % 255);
        err.text[0] = '\0';
        if (codeobj_parse(&file, "made", copy, length, &arena, &err))
            assert_true(text_starts(err.text, "made: "));
        else
            assert_non_null(file);
        free(copy);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compiled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_registers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bundles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_executable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
