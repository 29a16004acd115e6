/* SPDX-License-Identifier: MIT
 *
 * Build: source + defines + target -> code object, on demand, in parallel, cached by a hash of everything that matters:
 * the source's bytes, the bytes of every header it includes (found by the compiler, -MD), flags, defines, target, wave
 * size and the compiler (real path, size, mtime, --version). A cached object is used only if all of these are
 * unchanged. Processes may share a cache: objects appear by rename, and a lock per key keeps two processes from
 * compiling the same object. Objects are reproducible: equal inputs give equal bytes, wherever the source is.
 *
 * A machine without a compiler for the target uses objects that another machine put into the cache. Then everything but
 * the compiler must match (its LLVM only needs to satisfy min_llvm); among the objects of several compilers, the one
 * stored last is used. This does not apply if a compiler was named (build_options, ROOFTILE_KERNEL_COMPILER).
 *
 * The cache folder holds <key>.inputs, a small text record (the object's name and SHA-256, its compiler, and every
 * included file with its hash), a copy of it as <key without the compiler>.prebuilt, the objects, whose names contain
 * their SHA-256, and `lock`, whose byte ranges are the locks. Everything in it may be deleted whenever no build runs.
 */
#ifndef ROOFTILE_BUILD_H
#define ROOFTILE_BUILD_H

#include "rooftile/base.h"

/* A compiler that was found and probed. */
struct compiler {
    const char *path;
    const char *version; /* first line of --version */
    unsigned llvm;       /* major version, 0 unknown */
    bool is_hipcc;       /* a wrapper that writes offload bundles */
    bool is_nvcc;
    const char *identity; /* hash of real path, size, mtime and all of --version */
    bool is_identified;   /* `identity` covers everything, including the program that a wrapper starts */
};

enum build_kind { BUILD_CPU, BUILD_AMD, BUILD_NVIDIA };

/* The target of a compilation. */
struct build_target {
    enum build_kind kind;
    const char *arch; /* "gfx942" "sm_90a"; CPU: the feature list of device_info.target */
    uint32_t wave;    /* 64 or 32 */
    bool cumode;      /* RDNA: CU mode; else WGP mode, LLVM's default. Other targets ignore it */
};

/* Returns the target for a GPU's name, in its usual mode. */
struct build_target build_target_of(const char *arch);

struct build_define {
    const char *name;
    const char *value;
};

struct build_request {
    const char *source; /* path; NULL: `image` is used unchanged, or nothing is built for a `library` */
    const char *image;
    const char *library; /* name of a library that the device opens: nothing is built, and there is no object */
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
    const char *object;  /* path of the code object; "" for a library */
    const char *library; /* for a request for a library: its name; else NULL */
    char sha256[65];     /* of the object */
    const char *message; /* BUILD_FAILED: the compiler's output; BUILD_SKIPPED: the reason (min_llvm, unknown target);
                          * for a library, a remark that it has no code to inspect */
    const char *command; /* the command line, quoted for a shell, for messages; NULL if none was made */
    const struct compiler *compiler; /* made the object; its path is "" if it is not on this machine. NULL for images */
    double compile_ns;               /* 0 if nothing was compiled for this request */
};

/* Finds the compiler for a target: only ROOFTILE_KERNEL_COMPILER if it is set (a hipcc: for AMD only), else the first
 * that knows the target and is not older than `min_llvm` (0: any). AMD: $ROCM_PATH/llvm/bin/amdclang++ (/opt/rocm
 * without ROCM_PATH), hipcc, then as for the CPU the newest LLVM of clang++ and clang++-25 down to clang++-14. NVIDIA:
 * $CUDA_HOME/bin/nvcc, the nvcc on PATH, without CUDA_HOME /usr/local/cuda/bin/nvcc, which write cubins; if none of
 * these knows the target, the same clangs from LLVM 19 on, which write PTX that the driver compiles when it loads it. A
 * compiler is probed by compiling an empty file. Success, or the finding that a compiler with is_identified does not
 * know the target, is stored in path_cache_dir()/compilers; other failures are remembered until the process ends (for
 * one thread at a time). ERR_BUILD names what was tried and what to install; ERR_UNSUPPORTED: there are compilers but
 * none knows the target ("never compiled: ..."), or all that do are too old. */
enum status build_find_compiler(struct compiler *compiler, const struct build_target *target, unsigned min_llvm,
                                struct arena *arena, struct err *err);

struct build_options {
    const char *compiler;    /* for the targets that it supports; NULL: as build_find_compiler() chooses */
    const char *cache_dir;   /* NULL: path_cache_dir()/objects */
    const char *include_dir; /* folder with portable.h; NULL: kernels/include of the catalog */
    unsigned jobs;           /* 0: all allowed cores */
    bool force;              /* compile even if cached */
    bool allow_flags;        /* accept all flags of the requests; else ERR_CONFIG for those that do more than compile */
    bool cached_only;        /* compile nothing: requests without a cached object stay BUILD_PENDING */
    /* Called in the calling thread after each request is settled, in that order; and, with `result` NULL, a few times a
     * second for one that is being compiled. */
    void (*progress)(void *context, size_t done, size_t total, const struct build_request *request,
                     const struct build_result *result);
    void *context;
    const volatile int *stop; /* becomes non-zero on Ctrl-C: no new compilation starts, and running ones are killed */
};

/* Settles every request; equal requests are compiled once (the first is BUILD_COMPILED, the others BUILD_CACHED).
 * Failures are data in results[]. If the cache cannot be written, it warns (W004) and uses a private folder below
 * $TMPDIR instead. Fails only if that cannot be written either, or with ERR_INTERRUPTED: the settled results are then
 * valid and the others are BUILD_PENDING. */
enum status build_all(struct build_result *results, const struct build_request *requests, size_t count,
                      const struct build_options *options, struct arena *arena, struct err *err);

/* Reads the file of a request for an image, and checks that the target can load it. ERR_UNSUPPORTED "X is for gfx942,
 * this device is gfx1100"; other errors as codeobj_read. *file is NULL for a CPU library without GPU code. */
struct codeobj_file;
enum status build_image(const struct codeobj_file **file, const struct build_request *request, struct arena *arena,
                        struct err *err);

/* Returns the optimised LLVM IR, as text, that the compiler generates for a request with exactly the command that
 * builds it. Not cached. ERR_UNSUPPORTED: the request is an image, or no compiler knows the target; ERR_BUILD: it does
 * not compile. */
enum status build_ir(char **ir, const struct build_request *request, const struct build_options *options,
                     struct arena *arena, struct err *err);

#endif
