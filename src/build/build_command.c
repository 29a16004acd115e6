/* SPDX-License-Identifier: MIT
 *
 * Command lines of compilers.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "build_internal.h"
#include "rooftile/catalog.h"
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"
#include "rooftile/targets.h"

#define COMPILER_WORDS_BYTES 100000

/* ---- argument vectors ---- */

void argv_add(struct argv *argv, const char *item)
{
    ARENA_PUSH(argv->arena, argv->items, argv->count, item);
    argv->items = arena_grow(argv->arena, argv->items, argv->count, sizeof(*argv->items));
    argv->items[argv->count] = NULL;
}

void argv_addf(struct argv *argv, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    argv_add(argv, arena_vprintf(argv->arena, format, args));
    va_end(args);
}

void argv_add_all(struct argv *argv, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        argv_add(argv, items[i]);
}

void argv_add_words(struct argv *argv, const char *words)
{
    for (const char *word = words; *word; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        argv_add(argv, arena_strndup(argv->arena, word, length));
        word += length;
    }
}

char *argv_quote(const struct argv *argv)
{
    struct text text = {0};
    for (size_t i = 0; i < argv->count; i++) {
        if (i)
            text_add(&text, " ");
        text_add_escaped(&text, ESCAPE_SHELL, argv->items[i]);
    }
    char *line = arena_strndup(argv->arena, text.data ? text.data : "", text.length);
    text_release(&text);
    return line;
}

/* ---- for a target ---- */

/* Includes the kernel source for the CPU; its head explains these flags. */
#define CPU_UNIT "cpu_unit.cpp"

/* Outputs must depend on nothing but the inputs: no build id, and no HIP compilation-unit id, which is a hash of the
 * path. */
static const char cpu_flags[] =
    "-std=c++17 -O3 -fPIC -shared -nostdlib++ -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden "
    "-fno-math-errno -ffp-contract=fast -fno-stack-protector -Wl,--build-id=none -ffile-compilation-dir=.";
static const char clang_amd_flags[] = "-x hip --cuda-device-only --no-gpu-bundle-output";
static const char amd_flags[] = "-nogpulib -nogpuinc -std=c++17 -O3 -fuse-cuid=none -ffile-compilation-dir=.";

/* CUDA's own header is said to be there already: simt_nvidia.h takes what it needs of it. */
static const char nvcc_flags[] = "-x cu -cubin -std=c++17 -O3 -D__CUDA_RUNTIME_H__ --expt-relaxed-constexpr "
                                 "-frandom-seed=rooftile";

/* PTX, as text: nothing of a CUDA toolkit that may be there is taken, so that every machine makes the same of it. */
static const char clang_nvidia_flags[] =
    "-x cuda --cuda-device-only -nocudainc -nocudalib -S -std=c++17 -fuse-cuid=none -ffile-compilation-dir=. "
    "-Wno-unknown-cuda-version -O3 -Xclang -fcuda-short-ptr -mllvm --nvptx-short-ptr";

static enum status add_amd(struct argv *argv, const struct compiler *compiler, const struct build_target *target,
                           struct err *err)
{
    const struct target_modes modes = target_modes(target->arch);
    if (target_check_modes(target->arch, target->wave, target->cumode, err))
        return err->status;
    argv_add_words(argv, compiler->is_hipcc ? "--genco" : clang_amd_flags);
    argv_add_words(argv, amd_flags);
    argv_addf(argv, "--offload-arch=%s", target->arch);
    if (modes.wave32 && modes.wave64)
        argv_add(argv, target->wave == 64 ? "-mwavefrontsize64" : "-mno-wavefrontsize64");
    if (modes.wgp)
        argv_add(argv, target->cumode ? "-mcumode" : "-mno-cumode");
    return STATUS_OK;
}

static enum status add_cpu(struct argv *argv, const struct build_target *target, struct err *err)
{
    const char **flags = NULL;
    size_t count = 0;
    if (target->wave != 64 && target->wave != 32)
        return err_set(err, ERR_UNSUPPORTED, "no device has waves of %u lanes", target->wave);
    if (cpu_target_flags(target->arch, &flags, &count, argv->arena, err))
        return err_within(err, "cpu");
    argv_add_words(argv, cpu_flags);
    argv_add_all(argv, flags, count);
    argv_addf(argv, "-DROOFTILE_WAVE=%u", target->wave);
    return STATUS_OK;
}

static enum status add_nvidia(struct argv *argv, const struct compiler *compiler, const struct build_target *target,
                              struct err *err)
{
    if (target_check_modes(target->arch, target->wave, target->cumode, err))
        return err->status;
    if (compiler->is_nvcc) {
        argv_add_words(argv, nvcc_flags);
        argv_addf(argv, "-arch=%s", target->arch);
        return STATUS_OK;
    }
    argv_add_words(argv, clang_nvidia_flags);
    argv_addf(argv, "--cuda-gpu-arch=%s", target->arch);
    argv_addf(argv, "--cuda-feature=+ptx%u", target_ptx(target->arch));
    return STATUS_OK;
}

struct build_target build_target_of(const char *arch)
{
    return (struct build_target){
        .kind = target_is_nvidia(arch) ? BUILD_NVIDIA : BUILD_AMD, .arch = arch, .wave = target_modes(arch).wave};
}

enum status command_for_target(struct argv *argv, const struct compiler *compiler, const struct build_target *target,
                               struct err *err)
{
    argv_add(argv, compiler->path);
    if (target->kind == BUILD_NVIDIA)
        return add_nvidia(argv, compiler, target, err);
    return target->kind == BUILD_AMD ? add_amd(argv, compiler, target, err) : add_cpu(argv, target, err);
}

/* ---- for a request ---- */

enum status command_include_dir(const char **dir, const char *given, struct arena *arena, struct err *err)
{
    const char *const *dirs = NULL;
    size_t count = 0;
    if (!given && catalog_default_dirs(&dirs, &count, arena, err))
        return err->status;
    for (size_t i = 0; !given && i < count; i++) {
        const char *include = path_join(arena, dirs[i], "include");
        if (file_exists(path_join(arena, include, "portable.h")))
            given = include;
    }
    const char *real = given ? path_real(arena, given) : NULL;
    if (!real)
        return err_set(err, ERR_CONFIG, "%s: no such folder", given ? given : "include/portable.h of the kernels");
    *dir = real;
    return STATUS_OK;
}

/* A manifest's flags are clang's. */
static void add_request(struct argv *argv, const struct compiler *compiler, const struct build_request *request)
{
    if (!compiler->is_nvcc)
        argv_add_all(argv, request->flags, request->flag_count);
    for (size_t i = 0; i < request->define_count; i++)
        argv_addf(argv, "-D%s=%s", request->defines[i].name, request->defines[i].value);
}

/* Names of our folders reach the object through __FILE__ and debug information; they are mapped to fixed words. */
static void add_paths(struct build_unit *unit)
{
    struct argv *argv = &unit->command;
    argv_addf(argv, "-I%s", unit->include_dir);
    if (!unit->compiler->is_nvcc) {
        argv_addf(argv, "-ffile-prefix-map=%s=include", unit->include_dir);
        argv_addf(argv, "-ffile-prefix-map=%s=source", unit->source_dir);
    }
    if (unit->request->target.kind == BUILD_CPU) {
        argv_addf(argv, "-DROOFTILE_SOURCE=\"%s\"", unit->source);
        argv_add(argv, path_join(argv->arena, unit->include_dir, CPU_UNIT));
    } else {
        argv_add(argv, unit->source);
    }
}

/* The folder's links are resolved but not the file's own: includes are searched beside the name that was given. */
enum status unit_locate(struct build_unit *unit, const char *include_dir, struct arena *arena, struct err *err)
{
    const char *source = unit->request->source;
    unit->include_dir = include_dir;
    unit->source_dir = path_real(arena, path_dir(arena, source));
    if (!unit->source_dir || !file_exists(source))
        return err_set(err, ERR_CONFIG, "%s: no such file", source);
    unit->source = path_join(arena, unit->source_dir, path_base(source));
    return STATUS_OK;
}

enum status unit_prepare(struct build_unit *unit, const struct compiler *compiler, struct arena *arena, struct err *err)
{
    unit->compiler = compiler;
    unit->fixed = (struct argv){.arena = arena};
    unit->command = (struct argv){.arena = arena};
    if (command_for_target(&unit->fixed, unit->compiler, &unit->request->target, err))
        return err->status;
    add_request(&unit->fixed, compiler, unit->request);
    argv_add_all(&unit->command, unit->fixed.items, unit->fixed.count);
    add_paths(unit);
    return STATUS_OK;
}

enum status command_write_ir(const struct build_unit *unit, const char *output, struct err *err)
{
    struct arena *arena = unit->command.arena;
    struct argv argv = {.arena = arena};
    struct spawn_result result = {0};
    argv_add_all(&argv, unit->command.items, unit->command.count);
    if (unit->compiler->is_hipcc)
        argv_add(&argv, "--cuda-device-only"); /* --genco would bundle, which text has no place for */
    argv_add_words(&argv, "-S -emit-llvm -o");
    argv_add(&argv, output);
    enum status status = spawn_run(&result, argv.items, NULL, COMPILER_WORDS_BYTES, 0, arena, err);
    if (!status && result.exit_code)
        status =
            err_set(err, ERR_BUILD, "%s failed with %d:\n%s", unit->compiler->path, result.exit_code, result.errors);
    return status;
}
