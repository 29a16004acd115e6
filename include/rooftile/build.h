/* SPDX-License-Identifier: MIT
 *
 * Build: source + defines + target -> code object, on demand, in parallel, cached by a hash of everything that matters:
 * the source's bytes, the bytes of every header it includes (found by the compiler, -MD), flags, defines, target, wave
 * size and the compiler (real path, size, mtime, --version). A cached object is used only when all of these still hold.
 * Two processes may share a cache: objects appear by rename, and a lock per key keeps two from compiling the same
 * thing. Objects are reproducible: equal inputs give equal bytes, wherever the source lies.
 *
 * A machine without a compiler for the target uses what another machine put into the cache. Then everything but the
 * compiler must match (of that, only min_llvm), and of several compilers' objects the one stored last is taken. This is
 * not done when a compiler was named (build_options, ROOFTILE_KERNEL_COMPILER).
 *
 * The cache folder holds <key>.inputs, a small text record (the object's name and SHA-256, its compiler, and every
 * included file with its hash), a copy of it as <key without the compiler>.prebuilt, the objects, whose names contain
 * their SHA-256, and `lock`, whose byte ranges are the locks.
 * Everything in it may be deleted at any time when no build runs.
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
    const char *identity; /* changes with the compiler: hash of real path, size, mtime and all of --version */
    bool is_identified;   /* `identity` covers everything: of a wrapper also the program that it starts */
};

enum build_kind { BUILD_CPU, BUILD_AMD, BUILD_NVIDIA };

/* What to compile for. */
struct build_target {
    enum build_kind kind;
    const char *arch; /* "gfx942" "sm_90a"; CPU: the feature list of device_info.target */
    uint32_t wave;    /* 64 or 32 */
    bool cumode;      /* RDNA: CU mode; else WGP mode, LLVM's default. Other targets have no such choice */
};

/* The target of a GPU, by its name, in its usual mode. */
struct build_target build_target_of(const char *arch);

struct build_define {
    const char *name;
    const char *value;
};

struct build_request {
    const char *source; /* path; NULL: `image` is used as it is, or nothing is to be built for a `library` */
    const char *image;
    const char *library; /* name of a library that the device opens: there is nothing to build, and no object */
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
    const char *object;  /* path of the code object; "" of a library */
    const char *library; /* of a request for one: its name; else NULL */
    char sha256[65];     /* of the object */
    const char *message; /* BUILD_FAILED: the compiler's own words; BUILD_SKIPPED: the reason (min_llvm, unknown
                          * target); of a library, which has no code to look at, these words */
    const char *command; /* the command line, quoted for a shell, for messages; NULL when it never came to that */
    const struct compiler *compiler; /* that made the object; its path is "" when it is not here. NULL for images */
    double compile_ns;               /* 0 when nothing was compiled for this request */
};

/* Finds the compiler for a target: ROOFTILE_KERNEL_COMPILER alone when it is set (a hipcc: for AMD only), else the
 * first that knows the target and is no older than `min_llvm` (0: any). AMD: $ROCM_PATH/llvm/bin/amdclang++ (/opt/rocm
 * without ROCM_PATH), hipcc, then as for the CPU the newest LLVM of clang++ and clang++-25 down to clang++-14. NVIDIA:
 * $CUDA_HOME/bin/nvcc, the nvcc on PATH, without CUDA_HOME /usr/local/cuda/bin/nvcc, which write cubins; where there is
 * none that knows the target, the same clangs, from LLVM 19 on, which write PTX that the driver compiles when it loads
 * it. A compiler is probed by compiling an empty file. That it works, or that one which is_identified does not know the
 * target, is kept in path_cache_dir()/compilers; other failures are kept until the process ends (for one thread at a
 * time). ERR_BUILD names what was tried and what to install; ERR_UNSUPPORTED: there are compilers but none knows the
 * target ("never compiled: ..."), or all that do are too old. */
enum status build_find_compiler(struct compiler *compiler, const struct build_target *target, unsigned min_llvm,
                                struct arena *arena, struct err *err);

struct build_options {
    const char *compiler;    /* for the targets that it is for; NULL: as build_find_compiler() chooses */
    const char *cache_dir;   /* NULL: path_cache_dir()/objects */
    const char *include_dir; /* folder with portable.h; NULL: kernels/include of the catalog */
    unsigned jobs;           /* 0: all allowed cores */
    bool force;              /* compile even when cached */
    bool allow_flags;        /* any flags of the requests; else ERR_CONFIG for those that do more than compile */
    bool cached_only;        /* compile nothing: what is not in the cache stays BUILD_PENDING */
    /* Called in the calling thread after each request is settled, in the order they settle; and, `result` NULL, a few
     * times a second about one that is being compiled. */
    void (*progress)(void *context, size_t done, size_t total, const struct build_request *request,
                     const struct build_result *result);
    void *context;
    const volatile int *stop; /* becomes non-zero on Ctrl-C: no new compilation starts, running ones are killed */
};

/* Settles every request; equal requests are compiled once (the first is BUILD_COMPILED, the others BUILD_CACHED).
 * Failures are data in results[]. When the cache cannot be written, it warns (W004) and uses a private folder below
 * $TMPDIR instead. It returns an error only when that cannot be written either, or ERR_INTERRUPTED: then the settled
 * results are valid and the others are BUILD_PENDING. */
enum status build_all(struct build_result *results, const struct build_request *requests, size_t count,
                      const struct build_options *options, struct arena *arena, struct err *err);

/* Reads the file of a request for an image, and checks that the target can load it. ERR_UNSUPPORTED "X is for gfx942,
 * this device is gfx1100"; other errors as codeobj_read. *file is NULL for a CPU library without GPU code. */
struct codeobj_file;
enum status build_image(const struct codeobj_file **file, const struct build_request *request, struct arena *arena,
                        struct err *err);

/* The LLVM IR, as text, that the compiler makes of a request with the very command that builds it, after optimisation.
 * Not cached. ERR_UNSUPPORTED: the request is an image, or no compiler knows the target; ERR_BUILD: it does not
 * compile. */
enum status build_ir(char **ir, const struct build_request *request, const struct build_options *options,
                     struct arena *arena, struct err *err);

#endif
