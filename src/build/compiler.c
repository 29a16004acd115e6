/* SPDX-License-Identifier: MIT
 *
 * Chooses a compiler: which ones are installed, what they report about themselves, and whether they support a target.
 */
#include <sys/stat.h>

#include "build_internal.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"

/* Kernels need at least clang 14. */
#define CLANG_NEWEST 25u
#define CLANG_OLDEST 14u
#define MAX_CANDIDATES (CLANG_NEWEST - CLANG_OLDEST + 5u)

/* The oldest that writes PTX for a target that is not in the table. */
#define PTX_OLDEST 19u

#define OUTPUT_LIMIT_BYTES 16384u

#define COMPILER_HINT                                                                                                  \
    "install the newest clang and lld that there are (Debian: apt install clang-22 lld-22) or set "                    \
    "ROOFTILE_KERNEL_COMPILER"
#define NVIDIA_HINT                                                                                                    \
    "install CUDA's nvcc and set CUDA_HOME, or clang 19 or later (Debian: apt install clang-22), or set "              \
    "ROOFTILE_KERNEL_COMPILER to one of them"

/* Messages of compilers for a target that they do not know. */
static const char *const unknown_target[] = {
    "invalid target ID",    "nsupported HIP gpu architecture", "nsupported CUDA gpu architecture",
    "unknown target CPU",   "unknown argument: '-m",           "unsupported option '-m",
    "unsupported argument", "nsupported gpu architecture",     "is not defined for option 'gpu-architecture'",
};

struct search {
    struct arena *arena;
    const struct build_target *target;
    unsigned min_llvm;
    const char *memory;                    /* cache folder for findings of earlier runs */
    struct compiler found[MAX_CANDIDATES]; /* in the order of queries */
    size_t count;
    size_t asked; /* number already queried */
    /* Lists for messages, separated by ", "; NULL: empty. */
    const char *tried;   /* names without a compiler */
    const char *silent;  /* how the last of them ended if it printed nothing; NULL: it printed something */
    const char *unaware; /* compilers that do not know the target */
    const char *old;     /* compilers that know the target but are too old for the code */
    const char *failed;  /* compilers that fail for another reason, with their messages */
};

/* Messages of compilers that rejected a target. Each is asked only once per process, as some take seconds to refuse.
 * The next process asks again, because installing something may help, unless the compiler does not know the target. */
static struct {
    struct arena arena;
    struct refusal {
        const char *question; /* hash of the compiler's identity and of the command line */
        const char *words;
    } * items;
    size_t count;
} refusals;

static bool is_nvcc(const char *path)
{
    return strstr(path_base(path), "nvcc") != NULL;
}

static bool is_hipcc(const char *path)
{
    return strstr(path_base(path), "hipcc") != NULL;
}

static void add_to(const char **list, const char *item, struct arena *arena)
{
    *list = *list ? arena_printf(arena, "%s, %s", *list, item) : item;
}

static void remember(const char *path, const char *text)
{
    struct err err = {0};
    SCOPED(arena_release) struct arena arena = {0};
    /* If this cannot be written, only time is lost. */
    if (!file_make_dirs(path_dir(&arena, path), &err))
        file_write(path, text, strlen(text), &err);
}

static void hash_add_identity(struct hash *hash, const char *path, struct arena *arena)
{
    struct stat info;
    const char *real = path_real(arena, path);
    hash_add_string(hash, real);
    if (!real || stat(real, &info))
        return;
    const int64_t words[] = {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    hash_add(hash, words, sizeof(words));
}

static char *hash_text(struct hash *hash, struct arena *arena)
{
    char hex[HASH_TEXT];
    hash_hex(hash, hex);
    hash_free(hash);
    return arena_strdup(arena, hex);
}

/* Parses "Debian clang version 19.1.7", also after hipcc's own line. */
unsigned compiler_llvm(const char *version)
{
    const char *at = strstr(version, "clang version ");
    return at ? (unsigned)strtoul(at + strlen("clang version "), NULL, 10) : 0;
}

void compiler_describe(struct compiler *compiler, const char *path, const char *version, struct arena *arena)
{
    const char *cuda = strstr(version, "Cuda compilation tools, "); /* nvcc's first line is only its name */
    const char *installed = strstr(version, "InstalledDir: "), *line = cuda ? cuda : version;
    struct hash *hash = hash_new();
    hash_add_string(hash, version);
    hash_add_identity(hash, path, arena);
    *compiler = (struct compiler){
        .path = path,
        .version = arena_strndup(arena, line, strcspn(line, "\n")),
        .llvm = compiler_llvm(version),
        .is_hipcc = is_hipcc(path),
        .is_nvcc = is_nvcc(path),
        .is_identified = installed != NULL,
    };
    /* hipcc, amdclang++ and ccache start another program, which can change independently; Debian's hipcc starts
     * clang-15, whatever version clang is. */
    if (installed) {
        installed += strlen("InstalledDir: ");
        const int length = (int)strcspn(installed, "\n");
        hash_add_identity(hash, arena_printf(arena, "%.*s/clang", length, installed), arena);
        hash_add_identity(hash, arena_printf(arena, "%.*s/clang-%u", length, installed, compiler->llvm), arena);
    }
    compiler->identity = hash_text(hash, arena);
}

/* Restores what an earlier run learned, unless the compiler changed. The file holds its identity, a newline, and the
 * text. */
static bool recall_compiler(struct compiler *compiler, const char *file, const char *path, struct arena *arena)
{
    struct err err = {0};
    char *data = NULL;
    size_t length = 0;
    char *version = file_read(&data, &length, file, OUTPUT_LIMIT_BYTES, arena, &err) ? NULL : strchr(data, '\n');
    if (!version)
        return false;
    *version++ = '\0';
    compiler_describe(compiler, path, version, arena);
    return compiler->is_identified && strcmp(compiler->identity, data) == 0;
}

/* Queries the full output of `path --version`; false if it does not run. */
static bool ask_compiler(struct compiler *compiler, struct search *search, const char *path)
{
    /* The program that a wrapper starts depends on these variables. */
    static const char *const variables[] = {"PATH", "ROCM_PATH", "HIP_PATH", "HIP_CLANG_PATH"};
    struct arena *arena = search->arena;
    struct err err = {0};
    struct spawn_result ran = {0};
    struct hash *hash = hash_new();
    hash_add_string(hash, path);
    hash_add_identity(hash, path, arena);
    for (size_t i = 0; i < COUNT_OF(variables); i++)
        hash_add_string(hash, getenv(variables[i]));
    const char *file = arena_printf(arena, "%s/%s.version", search->memory, hash_text(hash, arena));
    if (recall_compiler(compiler, file, path, arena))
        return true;
    const char *const argv[] = {path, "--version", NULL};
    if (compiler_ask(&ran, "version", argv, OUTPUT_LIMIT_BYTES, arena, &err))
        return false;
    search->silent = compiler_silence(&ran, arena);
    if (search->silent || ran.exit_code != 0)
        return false;
    compiler_describe(compiler, path, ran.output, arena);
    if (compiler->is_identified)
        remember(file, arena_printf(arena, "%s\n%s", compiler->identity, ran.output));
    return true;
}

static void try_name(struct search *search, const char *name)
{
    struct compiler compiler;
    const char *path = spawn_which(search->arena, name);
    search->silent = NULL;
    if (!path || !ask_compiler(&compiler, search, path)) {
        const char *why = search->silent ? search->silent : "does not run";
        add_to(&search->tried, path ? arena_printf(search->arena, "%s (%s)", name, why) : name, search->arena);
        return;
    }
    /* Among those not queried yet, newer ones come first, and the earlier of equals; a compiler with two names is kept
     * once. */
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->found[i].identity, compiler.identity) == 0)
            return;
    if (search->count == MAX_CANDIDATES)
        return;
    size_t at = search->count++;
    for (; at > search->asked && search->found[at - 1].llvm < compiler.llvm; at--)
        search->found[at] = search->found[at - 1];
    search->found[at] = compiler;
}

static bool is_unknown_target(const char *errors)
{
    return COUNT_WHERE(words, unknown_target, COUNT_OF(unknown_target), strstr(errors, *words)) > 0;
}

static const char *name_of(const struct compiler *compiler, struct arena *arena)
{
    return compiler->is_nvcc ? arena_printf(arena, "%s (%s)", compiler->path, compiler->version)
                             : arena_printf(arena, "%s (LLVM %u)", compiler->path, compiler->llvm);
}

static void note_refusal(struct search *search, const struct compiler *compiler, const char *errors)
{
    static const char label[] = "error: ";
    const char *name = name_of(compiler, search->arena), *words = strstr(errors, label);
    words = words ? words + strlen(label) : errors;
    const int length = (int)strcspn(words, "\n");
    if (is_unknown_target(errors))
        add_to(&search->unaware, name, search->arena);
    else
        add_to(&search->failed,
               arena_printf(search->arena, "%s: %.*s", name, length ? length : INT_MAX,
                            length ? words : "failed without a word"),
               search->arena);
}

/* Compiles an empty file with the real command line, including the link step. */
static enum status probe(struct spawn_result *ran, struct argv *argv, const struct build_target *target,
                         struct err *err)
{
    char *scratch = NULL;
    if (scratch_make(&scratch, argv->arena, err))
        return err->status;
    const char *source = path_join(argv->arena, scratch, target->kind == BUILD_CPU ? "empty.cpp" : "empty.hip");
    argv_add_all(argv, (const char *const[]){"-o", path_join(argv->arena, scratch, "empty.o"), source}, 3);
    enum status status = file_write(source, "\n", 1, err);
    if (!status)
        status = compiler_ask(ran, "target", argv->items, OUTPUT_LIMIT_BYTES, argv->arena, err);
    scratch_remove(scratch);
    return status;
}

/* Returns the message with which it rejected the question, in this process or in an earlier run's file; NULL:
 * unknown. */
static const char *recall_refusal(const char *question, const char *file, struct arena *arena)
{
    struct err err = {0};
    char *words = NULL;
    size_t length = 0;
    for (size_t i = 0; i < refusals.count; i++)
        if (strcmp(refusals.items[i].question, question) == 0)
            return refusals.items[i].words;
    return file_read(&words, &length, file, OUTPUT_LIMIT_BYTES, arena, &err) ? NULL : words;
}

/* Asks the compiler unless the answer is known. */
static enum status knows_target(bool *ok, struct search *search, const struct compiler *compiler, struct err *err)
{
    struct argv argv = {.arena = search->arena};
    struct spawn_result ran = {0};
    if (command_for_target(&argv, compiler, search->target, err))
        return err->status;
    const char *command = argv_quote(&argv);
    struct hash *hash = hash_new();
    hash_add_string(hash, compiler->identity);
    for (size_t i = 0; i < argv.count; i++)
        hash_add_string(hash, argv.items[i]);
    const char *question = hash_text(hash, search->arena);
    const char *yes = arena_printf(search->arena, "%s/%s.target", search->memory, question);
    const char *no = arena_printf(search->arena, "%s/%s.unknown", search->memory, question);
    const char *refusal = NULL;
    *ok = file_exists(yes);
    if (!*ok && !(refusal = recall_refusal(question, no, search->arena))) {
        if (probe(&ran, &argv, search->target, err))
            return err->status;
        const char *silent = compiler_silence(&ran, search->arena);
        *ok = !silent && !ran.exit_code;
        if (*ok) {
            remember(yes, command);
            return STATUS_OK;
        }
        refusal = arena_strdup(&refusals.arena, silent ? silent : ran.errors);
        ARENA_PUSH(&refusals.arena, refusals.items, refusals.count,
                   (struct refusal){arena_strdup(&refusals.arena, question), refusal});
        /* No program that knows the target can be behind it later. */
        if (compiler->is_identified && is_unknown_target(refusal))
            remember(no, refusal);
    }
    if (!*ok)
        note_refusal(search, compiler, refusal);
    return STATUS_OK;
}

/* Queries the compilers found since the last call; sets the path of `compiler` if one of them supports the target. */
static enum status ask(struct compiler *compiler, struct search *search, struct err *err)
{
    while (search->asked < search->count && !compiler->path) {
        const struct compiler *next = &search->found[search->asked++];
        const struct target *known = target_find(search->target->arch);
        bool ok = false;
        /* An older clang accepts an empty file for an NVIDIA target for which it cannot compile our kernels. */
        if (search->target->kind == BUILD_NVIDIA && !next->is_nvcc && next->llvm < (known ? known->llvm : PTX_OLDEST)) {
            add_to(&search->unaware, name_of(next, search->arena), search->arena);
            continue;
        }
        if (knows_target(&ok, search, next, err))
            return err->status;
        if (ok && next->llvm && next->llvm < search->min_llvm)
            add_to(&search->old, name_of(next, search->arena), search->arena);
        else if (ok)
            *compiler = *next;
    }
    return STATUS_OK;
}

/* An installed ROCm or CUDA comes before the distribution's clang, because its compiler writes what its runtime
 * loads. */
static enum status choose(struct compiler *compiler, struct search *search, struct err *err)
{
    struct arena *arena = search->arena;
    const char *cuda = getenv("CUDA_HOME"), *rocm = getenv("ROCM_PATH");
    const bool has_cuda = cuda && *cuda;
    const struct {
        enum build_kind kind;
        const char *name;
    } vendors[] = {
        {BUILD_NVIDIA, has_cuda ? path_join(arena, cuda, "bin/nvcc") : "nvcc"},
        {BUILD_NVIDIA, has_cuda ? "nvcc" : "/usr/local/cuda/bin/nvcc"},
        {BUILD_AMD, path_join(arena, rocm && *rocm ? rocm : "/opt/rocm", "llvm/bin/amdclang++")},
        {BUILD_AMD, "hipcc"},
    };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(vendors) && !status && !compiler->path; k++) {
        if (vendors[k].kind != search->target->kind)
            continue;
        try_name(search, vendors[k].name);
        status = ask(compiler, search, err);
    }
    if (status || compiler->path)
        return status;
    try_name(search, "clang++");
    for (unsigned version = CLANG_NEWEST; version >= CLANG_OLDEST; version--)
        try_name(search, arena_printf(arena, "clang++-%u", version));
    return ask(compiler, search, err);
}

static const char *target_needs(const struct target *target, struct arena *arena)
{
    return target->cuda ? arena_printf(arena, "needs CUDA %s or LLVM %u", target->cuda, target->llvm)
                        : arena_printf(arena, "needs LLVM %u", target->llvm);
}

static enum status fail_search(const struct search *search, const char *named, bool by_user, struct err *err)
{
    const char *arch = search->target->arch;
    const struct target *known = search->target->kind == BUILD_CPU ? NULL : target_find(arch);
    const char *hint = search->target->kind == BUILD_NVIDIA ? NVIDIA_HINT : COMPILER_HINT;
    if (!search->count && named)
        return err_set(err, ERR_BUILD, "%s%s %s%s", by_user ? "ROOFTILE_KERNEL_COMPILER: " : "", named,
                       search->silent ? "--version: " : "is not a program that runs",
                       search->silent ? search->silent : "");
    if (!search->count)
        return err_set(err, ERR_BUILD, "no compiler found, tried %s; %s", search->tried, hint);
    if (search->failed)
        return err_set(err, ERR_BUILD, "no compiler here compiles for %s: %s; %s", arch, search->failed, hint);
    if (search->old)
        return err_set(err, ERR_UNSUPPORTED, "needs LLVM %u, but what compiles for %s here is %s", search->min_llvm,
                       arch, search->old);
    return err_set(err, ERR_UNSUPPORTED, "never compiled: no compiler at hand knows %s (%s%s); asked: %s", arch,
                   known ? target_needs(known, search->arena) : "no target that rooftile knows",
                   known ? "" : ": 'rooftile list --targets'", search->unaware);
}

const char *compiler_named(const char *own)
{
    const char *named = own ? own : getenv("ROOFTILE_KERNEL_COMPILER");
    return named && *named ? named : NULL;
}

enum status compiler_find(struct compiler *compiler, const char *own, const struct build_target *target,
                          unsigned min_llvm, struct arena *arena, struct err *err)
{
    const char *named = compiler_named(own);
    if (named && ((is_hipcc(named) && target->kind != BUILD_AMD) || (is_nvcc(named) && target->kind != BUILD_NVIDIA)))
        named = NULL;
    struct search search = {.arena = arena, .target = target, .min_llvm = min_llvm};
    struct compiler found = {0};
    struct err no_memory = {0};
    char *cache = NULL;
    search.memory = path_cache_dir(&cache, true, arena, &no_memory) ? "/dev/null" /* an empty folder */
                                                                    : path_join(arena, cache, "compilers");
    if (named)
        try_name(&search, named);
    enum status status = named ? ask(&found, &search, err) : choose(&found, &search, err);
    if (!status && !found.path)
        status = fail_search(&search, named, !own, err);
    if (!status)
        *compiler = found;
    return status;
}

enum status build_find_compiler(struct compiler *compiler, const struct build_target *target, unsigned min_llvm,
                                struct arena *arena, struct err *err)
{
    return compiler_find(compiler, NULL, target, min_llvm, arena, err);
}
