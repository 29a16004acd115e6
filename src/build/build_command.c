/* SPDX-License-Identifier: MIT
 *
 * Command lines of compilers, compilers as child processes, and their output folder.
 */
#include <ctype.h>
#include <ftw.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_internal.h"
#include "rooftile/catalog.h"
#include "rooftile/clock.h"
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"

#define COMPILER_WORDS_BYTES 100000

/* The first errors of a compiler are the relevant ones; a compiler that keeps printing is killed. */
#define MESSAGE_LIMIT_BYTES 8192u
#define MESSAGE_MOST_BYTES ((size_t)1 << 24)

/* ---- argument vectors ---- */

static void argv_add(struct argv *argv, const char *item)
{
    ARENA_PUSH(argv->arena, argv->items, argv->count, item);
    argv->items = arena_grow(argv->arena, argv->items, argv->count, sizeof(*argv->items));
    argv->items[argv->count] = NULL;
}

__attribute__((format(printf, 2, 3))) static void argv_addf(struct argv *argv, const char *format, ...)
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

static void argv_add_words(struct argv *argv, const char *words)
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
    return text_take(&text, argv->arena);
}

/* ---- for a target ---- */

/* Includes the kernel source for the CPU; the comment at its top explains these flags. */
#define CPU_UNIT "cpu_unit.cpp"

/* Outputs must depend only on the inputs: no build id, and no HIP compilation-unit id, which is a hash of the path. */
static const char cpu_flags[] =
    "-std=c++17 -O3 -fPIC -shared -nostdlib++ -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden "
    "-fno-math-errno -ffp-contract=fast -fno-stack-protector -Wl,--build-id=none -ffile-compilation-dir=.";
static const char clang_amd_flags[] = "-x hip --cuda-device-only --no-gpu-bundle-output";
static const char amd_flags[] = "-nogpulib -nogpuinc -std=c++17 -O3 -fuse-cuid=none -ffile-compilation-dir=.";

/* Suppresses CUDA's own header; simt_nvidia.h includes the parts it needs. */
static const char nvcc_flags[] = "-x cu -cubin -std=c++17 -O3 -D__CUDA_RUNTIME_H__ --expt-relaxed-constexpr "
                                 "-frandom-seed=rooftile";

/* PTX as text. Nothing from an installed CUDA toolkit is used, so that every machine produces the same output. */
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
    if (modes.wave32 && modes.wave64) {
        argv_add(argv, target->wave == 64 ? "-mwavefrontsize64" : "-mno-wavefrontsize64");
        argv_addf(argv, "-DROOFTILE_WAVE=%uu", target->wave); /* LLVM 22 has no macro for it */
    }
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

struct build_target build_target_of(const char *arch)
{
    return (struct build_target){
        .kind = target_is_nvidia(arch) ? BUILD_NVIDIA : BUILD_AMD, .arch = arch, .wave = target_modes(arch).wave};
}

enum status command_for_target(struct argv *argv, const struct compiler *compiler, const struct build_target *target,
                               struct err *err)
{
    argv_add(argv, compiler->path);
    if (target->kind == BUILD_NVIDIA) {
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
        given = file_exists(path_join(arena, include, "portable.h")) ? include : NULL;
    }
    *dir = given ? path_real(arena, given) : NULL;
    return *dir ? STATUS_OK
                : err_set(err, ERR_CONFIG, "%s: no such folder", given ? given : "include/portable.h of the kernels");
}

/* Resolves links of the folder but not of the file: includes are searched for next to the name that was given. */
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

/* cpu_unit.cpp defines the variables that plain HIP declares as `extern __shared__ T name[]`; their names are passed to
 * it. */
static void add_dynamic_lds(struct argv *argv, const struct build_unit *unit)
{
    SCOPED(text_release) struct text names = {0};
    char *source = NULL;
    size_t length = 0;
    struct err unread = {0};
    if (file_read(&source, &length, unit->source, FILE_LIMIT_BYTES, argv->arena, &unread))
        return;
    for (const char *at = source; (at = strstr(at, "extern __shared__")) != NULL;) {
        const char *name = at += strcspn(at, "[;"), *end = at;
        while (isalnum((unsigned char)name[-1]) || name[-1] == '_')
            name--;
        if (*at == '[')
            text_addf(&names, "%sSIMT_DYNAMIC(%.*s)", names.length ? " " : "", (int)(end - name), name);
    }
    if (names.length)
        argv_addf(argv, "-DROOFTILE_DYNAMIC_LDS=%s", names.data);
}

enum status unit_prepare(struct build_unit *unit, const struct compiler *compiler, struct arena *arena, struct err *err)
{
    unit->compiler = compiler;
    unit->fixed = (struct argv){.arena = arena};
    unit->command = (struct argv){.arena = arena};
    if (command_for_target(&unit->fixed, compiler, &unit->request->target, err))
        return err->status;
    const struct build_request *request = unit->request;
    if (!compiler->is_nvcc) /* a manifest's flags are for clang */
        argv_add_all(&unit->fixed, request->flags, request->flag_count);
    for (size_t i = 0; i < request->define_count; i++)
        argv_addf(&unit->fixed, "-D%s=%s", request->defines[i].name, request->defines[i].value);
    argv_add_all(&unit->command, unit->fixed.items, unit->fixed.count);
    /* Names of our folders reach the object through __FILE__ and debug information, so they are mapped to fixed
     * words. */
    struct argv *argv = &unit->command;
    argv_addf(argv, "-I%s", unit->include_dir);
    if (!compiler->is_nvcc) {
        argv_addf(argv, "-ffile-prefix-map=%s=include", unit->include_dir);
        argv_addf(argv, "-ffile-prefix-map=%s=source", unit->source_dir);
    }
    if (request->target.kind == BUILD_CPU) {
        argv_addf(argv, "-DROOFTILE_SOURCE=\"%s\"", unit->source);
        add_dynamic_lds(argv, unit);
        argv_add(argv, path_join(argv->arena, unit->include_dir, CPU_UNIT));
    } else {
        argv_add(argv, unit->source);
    }
    return STATUS_OK;
}

static const char *stopped(const char *compiler, struct arena *arena)
{
    return arena_printf(arena, "%s was stopped after %d s (ROOFTILE_COMPILE_TIMEOUT)", compiler,
                        compile_limit_seconds());
}

enum status command_write_ir(const struct build_unit *unit, const char *output, struct err *err)
{
    struct arena *arena = unit->command.arena;
    struct argv argv = {.arena = arena};
    struct spawn_result result = {0};
    const char *path = unit->compiler->path;
    argv_add_all(&argv, unit->command.items, unit->command.count);
    if (unit->compiler->is_hipcc)
        argv_add(&argv, "--cuda-device-only"); /* --genco would produce a bundle, which cannot hold text */
    argv_add_words(&argv, "-S -emit-llvm -o");
    argv_add(&argv, output);
    if (spawn_run(&result, argv.items, NULL, COMPILER_WORDS_BYTES, compile_limit_seconds() * 1000, arena, err))
        return err->status;
    if (result.timed_out)
        return err_set(err, ERR_BUILD, "%s", stopped(path, arena));
    if (result.exit_code)
        return err_set(err, ERR_BUILD, "%s failed with %d:\n%s", path, result.exit_code, result.errors);
    return STATUS_OK;
}

/* ---- queries ---- */

/* An empty file compiles in 0.1 s; a slow file server may need much longer. */
#define PROBE_SECONDS 120

/* Compilers by question, for the lifetime of this process. A compiler that did not answer in time is not asked again.
 * One that ever finished a file does not hang; it may only fail on the present file. */
static struct known {
    struct arena arena;
    const char **keys;
    size_t count;
} hung, ended;

int compile_limit_seconds(void)
{
    return (int)text_env("ROOFTILE_COMPILE_TIMEOUT", 1, INT_MAX / 1000, COMPILE_SECONDS);
}

static int probe_seconds(void)
{
    return compile_limit_seconds() < PROBE_SECONDS ? compile_limit_seconds() : PROBE_SECONDS;
}

static void learn(struct known *known, const char *key)
{
    if (!text_among(key, known->keys, known->count))
        ARENA_PUSH(&known->arena, known->keys, known->count, arena_strdup(&known->arena, key));
}

enum status compiler_ask(struct spawn_result *ran, const char *kind, const char *const *argv, size_t limit_bytes,
                         struct arena *arena, struct err *err)
{
    *ran =
        (struct spawn_result){.timed_out = true, .output = arena_strdup(arena, ""), .errors = arena_strdup(arena, "")};
    const char *key = arena_printf(arena, "%s %s", argv[0], kind);
    if (text_among(key, hung.keys, hung.count))
        return STATUS_OK;
    if (spawn_run(ran, argv, NULL, limit_bytes, probe_seconds() * 1000, arena, err))
        return err->status;
    if (ran->timed_out)
        learn(&hung, key);
    return STATUS_OK;
}

const char *compiler_silence(const struct spawn_result *ran, struct arena *arena)
{
    if (ran->timed_out)
        return arena_printf(arena, "no answer within %d s", probe_seconds());
    if (ran->exit_code <= 128 || ran->exit_code >= 128 + 32 || ran->errors[0])
        return NULL;
    return arena_printf(arena, "killed by signal %d (%s)", ran->exit_code - 128, strsignal(ran->exit_code - 128));
}

/* ---- children ---- */

enum status scratch_make(char **dir, struct arena *arena, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char *made = arena_printf(arena, "%s/rooftile-build-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(made))
        return err_set(err, ERR_IO, "%s: cannot create a temporary folder: %s", made, strerror(errno));
    *dir = made;
    return STATUS_OK;
}

static int remove_entry(const char *path, UNUSED const struct stat *info, UNUSED int type, UNUSED struct FTW *where)
{
    remove(path);
    return 0;
}

void scratch_remove(const char *dir)
{
    if (dir)
        nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns our environment, except that the compiler's temporaries go to the scratch folder (a killed compiler leaves
 * them behind) and the date is fixed: objects must not depend on when they were made. */
static char *const *environment(const char *scratch, struct arena *arena)
{
    char **copy = NULL;
    size_t count = 0;
    for (char *const *variable = environ; *variable; variable++)
        if (!text_starts(*variable, "TMPDIR=") && !text_starts(*variable, "SOURCE_DATE_EPOCH="))
            ARENA_PUSH(arena, copy, count, *variable);
    ARENA_PUSH(arena, copy, count, arena_printf(arena, "TMPDIR=%s", scratch));
    ARENA_PUSH(arena, copy, count, arena_strdup(arena, "SOURCE_DATE_EPOCH=0"));
    ARENA_PUSH(arena, copy, count, NULL);
    return copy;
}

/* When compiling only for AMD GPUs, clang 22's driver ignores -MF with a warning; its front end still accepts it. */
static void add_outputs(struct argv *argv, const struct build_unit *unit, const struct build_child *child)
{
    const struct compiler *compiler = unit->compiler;
    const bool alone = unit->request->target.kind == BUILD_AMD && !compiler->is_hipcc && compiler->llvm >= 22;
    argv_add_words(argv, alone ? "-Xclang -sys-header-deps -Xclang -MT -Xclang object -Xclang -dependency-file -Xclang"
                               : "-MD -MT object -MF");
    argv_add_all(argv, (const char *const[]){child->depfile, "-o", child->object}, 3);
}

enum status child_start(struct build_child *child, const struct build_unit *unit, const char *scratch, size_t number,
                        struct arena *arena, struct err *err)
{
    struct argv argv = {.arena = arena};
    *child = (struct build_child){.compiler = unit->compiler->path};
    child->object = arena_printf(arena, "%s/%zu.o", scratch, number);
    child->depfile = arena_printf(arena, "%s/%zu.d", scratch, number);
    argv_add_all(&argv, unit->command.items, unit->command.count);
    add_outputs(&argv, unit, child);
    if (text_among(child->compiler, hung.keys, hung.count))
        return err_set(err, ERR_BUILD, "not tried: %s", stopped(child->compiler, arena));
    child->started_ns = clock_now_ns();
    if (spawn_begin(&child->process, argv.items, environment(scratch, arena), NULL, true, err)) {
        spawn_end(&child->process);
        return err_set(err, ERR_BUILD, "%s: %s", argv.items[0], err->text);
    }
    return STATUS_OK;
}

bool child_is_running(struct build_child *child)
{
    const uint64_t limit_ns = (uint64_t)compile_limit_seconds() * 1000000000u;
    if (!spawn_is_running(&child->process))
        return false;
    if (!child->timed_out &&
        (clock_now_ns() - child->started_ns >= limit_ns || spawn_written(&child->process, 1) >= MESSAGE_MOST_BYTES)) {
        child->timed_out = true;
        spawn_kill(&child->process);
    }
    return true;
}

/* Ends at a whole line, and states how much is missing. */
static char *message_of(const struct build_child *child, struct arena *arena)
{
    const size_t all = spawn_written(&child->process, 1),
                 length = all < MESSAGE_LIMIT_BYTES ? all : MESSAGE_LIMIT_BYTES;
    char *data = arena_alloc(arena, length + 1);
    fd_read_at(child->process.fds[1], data, length, 0);
    const char *end = all > length ? memrchr(data, '\n', length) : data + length;
    while (all == length && end > data && end[-1] == '\n')
        end--;
    const size_t kept = end ? (size_t)(end - data) : length;
    data[kept] = '\0';
    return all == length ? data
                         : arena_printf(arena, "%s\n... and %zu more bytes of compiler output", data, all - kept);
}

enum status child_finish(struct build_child *child, const char **message, struct arena *arena)
{
    const size_t written = spawn_written(&child->process, 1);
    const int state = child->process.state;
    const bool ok = WIFEXITED(state) && WEXITSTATUS(state) == 0;
    if (ok || !child->timed_out)
        learn(&ended, child->compiler);
    else if (!text_among(child->compiler, ended.keys, ended.count))
        learn(&hung, child->compiler);
    if (!ok && child->timed_out && written >= MESSAGE_MOST_BYTES)
        *message = arena_printf(arena, "%s was stopped, as its messages do not end:\n%s", child->compiler,
                                message_of(child, arena));
    else if (!ok && child->timed_out)
        *message = stopped(child->compiler, arena);
    else if (!ok && written > 0)
        *message = message_of(child, arena);
    else if (!ok && WIFSIGNALED(state))
        *message = arena_printf(arena, "the compiler was killed by signal %d (%s)", WTERMSIG(state),
                                strsignal(WTERMSIG(state)));
    else if (!ok)
        *message = arena_printf(arena, "the compiler ended with exit code %d and said nothing", WEXITSTATUS(state));
    spawn_end(&child->process);
    return ok ? STATUS_OK : ERR_BUILD;
}
