/* SPDX-License-Identifier: MIT
 *
 * Build: source + defines + target -> code object, on demand, in parallel, cached by a hash of everything that matters:
 * the source's bytes, the bytes of every header it includes (found by the compiler, -MD), flags, defines, target, wave
 * size and the compiler (real path, size, mtime, --version). A cached object is used only when all of these still hold.
 * Two processes may share a cache: objects appear by rename, and a lock per key keeps two from compiling the same
 * thing. Objects are reproducible: equal inputs give equal bytes, wherever the source lies.
 *
 * The cache folder holds <key>.inputs, one small text record per key (the object's name and SHA-256, and every included
 * file with its hash), the objects, whose names have their SHA-256, and `lock`, whose byte ranges are the locks.
 * Everything in it may be deleted at any time when no build runs.
 */
#ifndef ROOFTILE_BUILD_H
#define ROOFTILE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"

/* A compiler that was found and probed. */
struct compiler {
    const char *path;
    const char *version;  /* first line of --version */
    unsigned llvm;        /* major version, 0 unknown */
    bool is_hipcc;        /* a wrapper that writes offload bundles */
    const char *identity; /* changes with the compiler: hash of real path, size, mtime and all of --version */
};

enum build_kind { BUILD_CPU, BUILD_AMD };

/* What to compile for. */
struct build_target {
    enum build_kind kind;
    const char *arch; /* "gfx942"; CPU: the feature list of device_info.target */
    uint32_t wave;    /* 64 or 32 */
};

struct build_define {
    const char *name;
    const char *value;
};

struct build_request {
    const char *source; /* path; NULL: `image` is used as it is */
    const char *image;
    const struct build_define *defines; /* sorted by name */
    size_t define_count;
    const char *const *flags;
    size_t flag_count;
    unsigned min_llvm;
    struct build_target target;
    const char *asked_by; /* id of the first case that needs it, for messages */
};

enum build_state { BUILD_PENDING, BUILD_CACHED, BUILD_COMPILED, BUILD_FAILED, BUILD_SKIPPED };
struct build_result {
    enum build_state state;
    const char *object; /* path of the code object */
    char sha256[65];    /* of the object */
    const char
        *message; /* BUILD_FAILED: the compiler's own words; BUILD_SKIPPED: the reason (min_llvm, unknown target) */
    const char
        *command;      /* the command line, quoted for a shell, for messages and -v; NULL when it never came to that */
    double compile_ns; /* 0 when nothing was compiled for this request */
};

/* Finds the compiler for a target: ROOFTILE_KERNEL_COMPILER alone when it is set, else of
 * $ROCM_PATH/llvm/bin/amdclang++
 * (/opt/rocm without ROCM_PATH) and hipcc for AMD, clang++, clang++-25 down to clang++-14 the newest LLVM that knows
 * the target, at a tie the first. Probed by compiling an empty file; what was learned is kept in
 * path_cache_dir()/compilers. ERR_BUILD names what was tried and what to install; ERR_UNSUPPORTED: there are compilers
 * but none knows the target. */
enum status build_find_compiler(struct compiler *compiler, const struct build_target *target, struct arena *arena,
                                struct err *err);

struct build_options {
    const char *cache_dir;   /* NULL: path_cache_dir()/objects */
    const char *include_dir; /* folder with portable.h; NULL: kernels/include of the catalog */
    unsigned jobs;           /* 0: all allowed cores */
    bool force;              /* compile even when cached */
    /* Called in the calling thread after each request is settled, in the order they settle. */
    void (*progress)(void *context, size_t done, size_t total, const struct build_request *request,
                     const struct build_result *result);
    void *context;
    const volatile int *stop; /* becomes non-zero on Ctrl-C: no new compilation starts, running ones are killed */
};

/* Settles every request; equal requests are compiled once (the first is BUILD_COMPILED, the others BUILD_CACHED).
 * Failures are data in results[]. A cache that cannot be written is warned about (W004), and a private folder below
 * $TMPDIR takes its place. The return value is an error only when that cannot be written either, or ERR_INTERRUPTED:
 * the settled results hold and the others are BUILD_PENDING. */
enum status build_all(struct build_result *results, const struct build_request *requests, size_t count,
                      const struct build_options *options, struct arena *arena, struct err *err);

#endif
