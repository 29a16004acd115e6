/* SPDX-License-Identifier: MIT
 *
 * The real llvm-objdump on what the real compiler made, and stand-ins for tools that fail. Without a clang and an
 * objdump that know the target the tests that need them are skipped.
 */
#include "isa_program.h"

#include <stdio.h>
#include <unistd.h>

#include "rooftile/codeobj.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"

#define KERNELS 200u
#define TARGET "gfx90a"

struct fixture {
    struct arena arena;
    char dir[64];
    const struct codeobj *object; /* KERNELS kernels; NULL without a compiler */
    const char *objdump;
};

static const char *find(struct arena *arena, const char *const *names)
{
    for (; *names; names++) {
        const char *path = spawn_which(arena, *names);
        if (path)
            return path;
    }
    return NULL;
}

/* Kernel i stores i + 1 products: no two are alike. */
static void write_source(struct fixture *fixture, const char *path)
{
    struct text source = {0};
    struct err err = {0};
    text_add(&source, "#define KERNEL extern \"C\" __attribute__((global)) void\n");
    for (unsigned i = 0; i < KERNELS; i++) {
        text_addf(&source, "KERNEL k%u(float *out, float x) { ", i);
        for (unsigned p = 0; p <= i % 7; p++)
            text_addf(&source, "__builtin_nontemporal_store(x * %u.25f, out + %u); ", i + p, 8 * p);
        text_add(&source, "}\n");
    }
    assert_int_equal(file_write(path, source.data, source.length, &err), STATUS_OK);
    text_release(&source);
    (void)fixture;
}

static void compile(struct fixture *fixture)
{
    static const char *const compilers[] = {"clang++-22", "clang++-19", "clang++-18", "clang++-17",
                                            "clang++-15", "clang++-14", "clang++",    NULL};
    struct spawn_result ran = {0};
    struct err err = {0};
    const struct codeobj_file *file = NULL;
    const char *compiler = find(&fixture->arena, compilers);
    const char *source = path_join(&fixture->arena, fixture->dir, "many.hip");
    const char *out = path_join(&fixture->arena, fixture->dir, "many.co");
    if (!compiler)
        return;
    write_source(fixture, source);
    const char *const argv[] = {compiler,
                                "-x",
                                "hip",
                                "--cuda-device-only",
                                "--no-gpu-bundle-output",
                                "-nogpulib",
                                "-nogpuinc",
                                "--offload-arch=" TARGET,
                                "-O1",
                                source,
                                "-o",
                                out,
                                NULL};
    if (spawn_run(&ran, argv, NULL, 1 << 20, 0, &fixture->arena, &err) || ran.exit_code != 0)
        return;
    assert_int_equal(codeobj_read(&file, out, &fixture->arena, &err), STATUS_OK);
    fixture->object = &file->objects[0];
    assert_int_equal(fixture->object->kernel_count, KERNELS);
}

static int set_up(void **state)
{
    static const char *const objdumps[] = {"llvm-objdump-22", "llvm-objdump-19", "llvm-objdump-18", "llvm-objdump-17",
                                           "llvm-objdump-15", "llvm-objdump-14", "llvm-objdump",    NULL};
    static struct fixture fixture;
    snprintf(fixture.dir, sizeof(fixture.dir), "/tmp/rooftile-isa-XXXXXX");
    if (!mkdtemp(fixture.dir))
        return -1;
    fixture.objdump = find(&fixture.arena, objdumps);
    compile(&fixture);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"many.hip", "many.co", "tool", "count"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unlink(path_join(&fixture->arena, fixture->dir, names[i]));
    rmdir(fixture->dir);
    arena_release(&fixture->arena);
    return 0;
}

static int restore(void **state)
{
    (void)state;
    return unsetenv("ROOFTILE_OBJDUMP");
}

/* A program that takes the disassembler's place. */
static const char *use_tool(struct fixture *fixture, const char *script)
{
    struct err err = {0};
    const char *path = path_join(&fixture->arena, fixture->dir, "tool");
    assert_int_equal(file_write(path, script, strlen(script), &err), STATUS_OK);
    const char *const argv[] = {"chmod", "755", path, NULL};
    struct spawn_result ran = {0};
    assert_int_equal(spawn_run(&ran, argv, NULL, 1024, 0, &fixture->arena, &err), STATUS_OK);
    setenv("ROOFTILE_OBJDUMP", path, 1);
    return path;
}

static enum status read_bytes(struct fixture *fixture, const char *target, struct err *err)
{
    struct isa isa = {0};
    const struct codeobj_kernel kernel = {.name = "k", .code_address = 0x1000, .code_bytes = 8};
    const struct codeobj object = {.bytes = (const unsigned char *)"ELF", .size_bytes = 3, .target = target};
    return isa_read(&isa, &object, &kernel, 1, &fixture->arena, err);
}

static void test_all_kernels(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct isa isa = {0};
    if (!fixture->object || !fixture->objdump)
        skip();
    const enum status status =
        isa_read(&isa, fixture->object, fixture->object->kernels, fixture->object->kernel_count, &fixture->arena, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(isa.kernel_count, KERNELS);
    assert_non_null(isa.tool);
    for (unsigned i = 0; i < KERNELS; i++) {
        const struct isa_kernel *kernel = &isa.kernels[i];
        const unsigned number = (unsigned)strtoul(kernel->code.name + 1, NULL, 10);
        assert_int_equal(kernel->mix.traffic[ISA_GLOBAL].stores, number % 7 + 1);
        assert_int_equal(kernel->code.wave, 64);
        assert_string_equal(kernel->instructions[kernel->instruction_count - 1].mnemonic, "s_endpgm");
        assert_int_equal(kernel->unknown, 0);
    }
}

/* However many kernels and however often they are asked for: the tool runs once. And for one kernel, only that one is
 * disassembled. */
static void test_one_child(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct isa isa = {0};
    char *count = NULL;
    size_t length = 0;
    if (!fixture->object || !fixture->objdump)
        skip();
    const char *counter = path_join(&fixture->arena, fixture->dir, "count");
    use_tool(fixture,
             arena_printf(&fixture->arena, "#!/bin/sh\necho run >>%s\nexec %s \"$@\"\n", counter, fixture->objdump));
    assert_int_equal(
        isa_read(&isa, fixture->object, fixture->object->kernels, fixture->object->kernel_count, &fixture->arena, &err),
        STATUS_OK);
    assert_int_equal(isa.kernel_count, KERNELS);
    assert_int_equal(file_read(&count, &length, counter, 1024, &fixture->arena, &err), STATUS_OK);
    assert_string_equal(count, "run\n");
    assert_int_equal(
        isa_read(&isa, fixture->object, fixture->object->kernels, fixture->object->kernel_count, &fixture->arena, &err),
        STATUS_OK);
    assert_int_equal(isa.kernel_count, KERNELS);
    assert_int_equal(file_read(&count, &length, counter, 1024, &fixture->arena, &err), STATUS_OK);
    assert_string_equal(count, "run\n");
    const struct codeobj_kernel *only = &fixture->object->kernels[5];
    assert_int_equal(isa_read(&isa, fixture->object, only, 1, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(isa.kernel_count, 1);
    assert_string_equal(isa.kernels[0].code.name, only->name);
}

static void test_unknown_target(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    use_tool(fixture, "#!/bin/sh\necho 'LLVM ERROR: Disassembly not yet supported for subtarget' >&2\nkill -ABRT $$\n");
    assert_int_equal(read_bytes(fixture, "gfx950", &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "gfx950 is unknown to tool: its instructions need llvm-objdump of LLVM 20 or newer "
                                  "(ROOFTILE_OBJDUMP names one)");
    use_tool(fixture,
             "#!/bin/sh\necho \"llvm-objdump: error: 'x': can't find target: : unable to get target\" >&2\nexit 1\n");
    assert_int_equal(read_bytes(fixture, "gfx1250", &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "LLVM 22"));
}

static void test_failures(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    const char *path = use_tool(fixture, "#!/bin/sh\necho 'error: broken section' >&2\nexit 3\n");
    assert_int_equal(read_bytes(fixture, "gfx942", &err), ERR_IO);
    assert_string_equal(err.text, arena_printf(&fixture->arena, "%s: exit code 3: error: broken section", path));
    use_tool(fixture, "#!/bin/sh\nexit 0\n");
    assert_int_equal(read_bytes(fixture, "gfx942", &err), ERR_CONFIG);
    assert_string_equal(err.text, "k: the disassembly has no instruction at 0x1000");
    setenv("ROOFTILE_OBJDUMP", "/nowhere/objdump", 1);
    assert_int_equal(read_bytes(fixture, "gfx942", &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text,
                        "ROOFTILE_OBJDUMP: no program /nowhere/objdump; instructions of gfx942 need llvm-objdump of "
                        "LLVM 17 or newer");
}

/* The tool sees the bytes that it was given. */
static void test_image(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    use_tool(fixture, "#!/bin/sh\nfor file; do :; done\nif [ \"$(cat \"$file\")\" = ELF ]; then\n"
                      "printf '\\ts_endpgm // 000000001000: BF810000\\n'\nfi\n");
    assert_int_equal(read_bytes(fixture, "gfx906", &err), STATUS_OK);
}

static void test_llvm_needed(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *target;
        unsigned llvm;
    } cases[] = {
        {"gfx906", 0},   {"gfx90a:xnack-", 0}, {"gfx942", 17},  {"gfx942:sramecc+", 17}, {"gfx950", 20},
        {"gfx1030", 0},  {"gfx1100", 15},      {"gfx1150", 17}, {"gfx1151", 17},         {"gfx1200", 18},
        {"gfx1201", 18}, {"gfx1250", 22},      {"gfx9999", 0},
    };
    setenv("ROOFTILE_OBJDUMP", "/nowhere/objdump", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct err err = {0};
        const char *needed = cases[i].llvm ? arena_printf(&fixture->arena, " of LLVM %u or newer", cases[i].llvm) : "";
        assert_int_equal(read_bytes(fixture, cases[i].target, &err), ERR_UNSUPPORTED);
        assert_string_equal(err.text, arena_printf(&fixture->arena,
                                                   "ROOFTILE_OBJDUMP: no program /nowhere/objdump; instructions of %s "
                                                   "need llvm-objdump%s",
                                                   cases[i].target, needed));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kernels),
        cmocka_unit_test_teardown(test_one_child, restore),
        cmocka_unit_test_teardown(test_unknown_target, restore),
        cmocka_unit_test_teardown(test_failures, restore),
        cmocka_unit_test_teardown(test_image, restore),
        cmocka_unit_test_teardown(test_llvm_needed, restore),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
