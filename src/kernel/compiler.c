/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "build_internal.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"

/* clang 14 is the oldest that kernels compile with. */
#define CLANG_NEWEST 25u
#define CLANG_OLDEST 14u
#define MAX_CANDIDATES (CLANG_NEWEST - CLANG_OLDEST + 4u)

/* An empty file compiles in 0.1 s; a cold file server may need much longer. */
#define PROBE_TIMEOUT_MS 120000
#define OUTPUT_LIMIT_BYTES 16384u

/* What compilers say about a target that they do not know. */
static const char *const unknown_target[] = {
    "invalid target ID",    "nsupported HIP gpu architecture", "nsupported CUDA gpu architecture",
    "unknown target CPU",   "unknown argument: '-m",           "unsupported option '-m",
    "unsupported argument",
};

struct search {
    struct arena *arena;
    const struct build_target *target;
    const char *memory; /* folder of what earlier runs learned */
    struct compiler found[MAX_CANDIDATES];
    size_t count;
    struct text tried;   /* names that led nowhere */
    struct text refused; /* compilers that do not compile for the target, with their words */
    bool is_broken;      /* one of them fails for another reason */
};

static void remember(const char *path, const char *text)
{
    struct err err = {0};
    struct arena arena = {0};
    /* Only time is lost when this cannot be written. */
    if (!file_make_dirs(path_dir(&arena, path), &err))
        file_write(path, text, strlen(text), &err);
    arena_release(&arena);
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

/* Is this the compiler itself? hipcc, amdclang++ and ccache start another program that can change without them. */
static bool is_direct(const char *path, struct arena *arena)
{
    const char *real = path_real(arena, path);
    return real && text_starts(path_base(real), "clang");
}

/* All of `path --version`; NULL when it does not run. */
static const char *ask_version(const struct search *search, const char *path)
{
    struct arena *arena = search->arena;
    struct err err = {0};
    struct spawn_result ran = {0};
    char *data = NULL;
    size_t length = 0;
    struct hash *hash = hash_new();
    hash_add_string(hash, path);
    hash_add_identity(hash, path, arena);
    const char *known = arena_printf(arena, "%s/%s.version", search->memory, hash_text(hash, arena));
    const bool direct = is_direct(path, arena);
    if (direct && !file_read(&data, &length, known, OUTPUT_LIMIT_BYTES, arena, &err) && length > 0)
        return data;
    const char *const argv[] = {path, "--version", NULL};
    if (spawn_run(&ran, argv, NULL, OUTPUT_LIMIT_BYTES, PROBE_TIMEOUT_MS, arena, &err) || ran.exit_code != 0)
        return NULL;
    if (direct)
        remember(known, ran.output);
    return ran.output;
}

/* "Debian clang version 19.1.7", also behind hipcc's own line. */
static unsigned llvm_of(const char *version)
{
    const char *at = strstr(version, "clang version ");
    return at ? (unsigned)strtoul(at + strlen("clang version "), NULL, 10) : 0;
}

static char *identity_of(const char *path, const char *version, struct arena *arena)
{
    static const char label[] = "InstalledDir: ";
    struct hash *hash = hash_new();
    hash_add_string(hash, version);
    hash_add_identity(hash, path, arena);
    const char *at = strstr(version, label);
    if (at) {
        at += strlen(label);
        hash_add_identity(hash, arena_printf(arena, "%.*s/clang", (int)strcspn(at, "\n"), at), arena);
    }
    return hash_text(hash, arena);
}

/* Keeps the newest first, and the earlier of equals; one compiler with two names is kept once. */
static void add_sorted(struct search *search, struct compiler compiler)
{
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->found[i].identity, compiler.identity) == 0)
            return;
    size_t at = search->count++;
    for (; at > 0 && search->found[at - 1].llvm < compiler.llvm; at--)
        search->found[at] = search->found[at - 1];
    search->found[at] = compiler;
}

static void try_name(struct search *search, const char *name)
{
    struct arena *arena = search->arena;
    const char *path = spawn_which(arena, name);
    const char *version = path ? ask_version(search, path) : NULL;
    if (search->count == MAX_CANDIDATES)
        return;
    if (!version) {
        text_addf(&search->tried, "%s%s%s", search->tried.length ? ", " : "", name, path ? " (does not run)" : "");
        return;
    }
    add_sorted(search, (struct compiler){
                           .path = path,
                           .version = arena_strndup(arena, version, strcspn(version, "\n")),
                           .llvm = llvm_of(version),
                           .is_hipcc = strstr(path_base(path), "hipcc") != NULL,
                           .identity = identity_of(path, version, arena),
                       });
}

static void try_all_names(struct search *search)
{
    struct arena *arena = search->arena;
    if (search->target->kind == BUILD_AMD) {
        const char *rocm = getenv("ROCM_PATH");
        try_name(search, path_join(arena, rocm && *rocm ? rocm : "/opt/rocm", "llvm/bin/amdclang++"));
        try_name(search, "hipcc");
    }
    try_name(search, "clang++");
    for (unsigned version = CLANG_NEWEST; version >= CLANG_OLDEST; version--)
        try_name(search, arena_printf(arena, "clang++-%u", version));
}

static bool is_unknown_target(const char *errors)
{
    for (size_t i = 0; i < sizeof(unknown_target) / sizeof(*unknown_target); i++)
        if (strstr(errors, unknown_target[i]))
            return true;
    return false;
}

static void note_refusal(struct search *search, const struct compiler *compiler, const char *errors)
{
    static const char label[] = "error: ";
    search->is_broken = search->is_broken || !is_unknown_target(errors);
    const char *words = strstr(errors, label);
    words = words ? words + strlen(label) : errors;
    const int length = (int)strcspn(words, "\n");
    text_addf(&search->refused, "%s%s (LLVM %u): %.*s", search->refused.length ? "; " : "", compiler->path,
              compiler->llvm, length ? length : INT_MAX, length ? words : "failed without a word");
}

/* Compiles an empty file with the real command line, link included. */
static enum status probe(bool *ok, struct search *search, const struct compiler *compiler, struct argv *argv,
                         struct err *err)
{
    const bool is_amd = search->target->kind == BUILD_AMD;
    struct spawn_result ran = {0};
    char *scratch = NULL;
    if (scratch_make(&scratch, search->arena, err))
        return err->status;
    const char *source = path_join(search->arena, scratch, is_amd ? "empty.hip" : "empty.cpp");
    argv_add_all(argv, (const char *const[]){"-o", path_join(search->arena, scratch, "empty.o"), source}, 3);
    enum status status = file_write(source, "\n", 1, err);
    if (!status)
        status = spawn_run(&ran, argv->items, NULL, OUTPUT_LIMIT_BYTES, PROBE_TIMEOUT_MS, search->arena, err);
    scratch_remove(scratch);
    if (status)
        return status;
    *ok = ran.exit_code == 0;
    if (!*ok)
        note_refusal(search, compiler, ran.timed_out ? "no answer within two minutes" : ran.errors);
    return STATUS_OK;
}

/* Only a yes is remembered: a no may be mended by installing something, and costs little to hear again. */
static enum status knows_target(bool *ok, struct search *search, const struct compiler *compiler, struct err *err)
{
    struct argv argv = {.arena = search->arena};
    if (command_for_target(&argv, compiler, search->target, err))
        return err->status;
    struct hash *hash = hash_new();
    hash_add_string(hash, compiler->identity);
    for (size_t i = 0; i < argv.count; i++)
        hash_add_string(hash, argv.items[i]);
    const char *known = arena_printf(search->arena, "%s/%s.target", search->memory, hash_text(hash, search->arena));
    *ok = file_exists(known);
    if (*ok)
        return STATUS_OK;
    if (probe(ok, search, compiler, &argv, err))
        return err->status;
    if (*ok)
        remember(known, argv_quote(&argv));
    return STATUS_OK;
}

static enum status choose(struct compiler *compiler, struct search *search, struct err *err)
{
    const char *own = getenv("ROOFTILE_KERNEL_COMPILER");
    const bool has_own = own && *own;
    if (has_own)
        try_name(search, own);
    else
        try_all_names(search);
    if (search->count == 0 && has_own)
        return err_set(err, ERR_BUILD, "ROOFTILE_KERNEL_COMPILER: %s is not a program that runs", own);
    if (search->count == 0)
        return err_set(err, ERR_BUILD, "no compiler found, tried %s; " COMPILER_HINT, search->tried.data);
    for (size_t i = 0; i < search->count; i++) {
        bool ok = false;
        if (knows_target(&ok, search, &search->found[i], err))
            return err->status;
        if (ok) {
            *compiler = search->found[i];
            return STATUS_OK;
        }
    }
    return err_set(err, search->is_broken ? ERR_BUILD : ERR_UNSUPPORTED, "no compiler here compiles for %s: %s%s",
                   search->target->arch, search->refused.data, search->is_broken ? "; " COMPILER_HINT : "");
}

enum status build_find_compiler(struct compiler *compiler, const struct build_target *target, struct arena *arena,
                                struct err *err)
{
    struct search search = {.arena = arena, .target = target};
    search.memory = path_join(arena, path_cache_dir(arena), "compilers");
    const enum status status = choose(compiler, &search, err);
    text_release(&search.tried);
    text_release(&search.refused);
    return status;
}
