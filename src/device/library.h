/* SPDX-License-Identifier: MIT
 *
 * Shared libraries that are opened if they are installed; none is linked. Some have functions that replace our kernels
 * (device_ops.load_library), for comparison. These functions, whose names contain the types of inputs and outputs:
 *
 *   gemm_{in}_{out}   D = alpha * A * B + beta * C, batch by batch; all matrices are row-major. Arguments: d, a, b, c;
 *                     u32 m, n, k, lda, ldb, ldd (row strides in elements; C is laid out as D); u64 batch strides of
 *                     a, b, d; f64 alpha, beta; u32 ta, tb (1: A is k x m, B is n x k), batch
 *
 *   {all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_recv}_{type}
 *                     collectives of devices 0 to `devices` - 1, as defined by MPI and nccl.h; send_recv passes data to
 *                     the next device in a ring. Arguments: out, in: the addresses of each device's part; u64 count,
 *                     the elements of one device's share (all data that is reduced or broadcast; when gathering,
 *                     scattering or exchanging, one of as many parts as there are devices); u32 devices, root,
 *                     reduction (enum library_reduction), in_place (1: `out` holds the input where nccl.h
 *                     requires it; `in` is ignored)
 *
 * cpu_library.c implements OpenBLAS for the CPU device, gpu_blas.c and gpu_collectives.c the GPU vendors' libraries.
 */
#ifndef ROOFTILE_DEVICE_LIBRARY_H
#define ROOFTILE_DEVICE_LIBRARY_H

#include "device_internal.h"
#include "rooftile/hash.h"

/* A function. A table of them ends with a NULL name. */
struct library_symbol {
    const char *name;
    size_t offset; /* of the function pointer in the filled structure */
    unsigned need; /* the feature that needs it; values from SYMBOL_FEATURES on are the table user's */
};
enum { SYMBOL_REQUIRED, SYMBOL_OPTIONAL, SYMBOL_FEATURES };
/* clang-format off */
#define LIBRARY_SYMBOL(type, member, name, need) {name, offsetof(type, member), SYMBOL_##need}
/* clang-format on */

/* Where a library is, and what identifies it. `files` are tried in order. Each is one of
 *
 *   libx.so.1          a name that the loader resolves, or a path
 *   /opt/x?/libx.so*   a shell pattern: the match with the highest version
 *   $FOLDERS/libx.so*  the same in each folder of this environment variable, in turn
 *   libx.so.{9..5}     each of these numbers, in turn */
struct library_place {
    const char *name;         /* its name in manifests and messages */
    const char *variable;     /* environment variable that names a file to open instead of these */
    const char *const *files; /* NULL-terminated */
    const struct library_symbol *symbols;
    int flags; /* for dlopen, in addition to RTLD_NOW */
};

struct library_file {
    void *handle; /* from dlopen; NULL: not open */
    char path[512];
    /* For libraries with functions for kernels: the hash of the file, and how the library describes itself. */
    char sha256[HASH_TEXT], says[DEVICE_LIBRARY_TEXT];
};

/* Opens the first file that can be opened and has all required functions, and fills `functions` with the functions it
 * has; the table's other pointers become NULL. ERR_UNSUPPORTED reports what was tried, or what is wrong with the files
 * found. */
enum status library_open(struct library_file *file, void *functions, const struct library_place *place,
                         struct err *err);
void library_close(struct library_file *file);
/* Returns NULL if there is no such function. */
void (*library_function(void *handle, const char *symbol))(void);

/* ---- gemm ---- */

/* X(type, argument), in argument order. */
/* clang-format off */
#define LIBRARY_GEMM(X)                                                                                                \
    X(void *, d) X(const void *, a) X(const void *, b) X(const void *, c)                                              \
    X(uint32_t, m) X(uint32_t, n) X(uint32_t, k) X(uint32_t, lda) X(uint32_t, ldb) X(uint32_t, ldd)                    \
    X(uint64_t, next_a) X(uint64_t, next_b) X(uint64_t, next_d) X(double, alpha) X(double, beta)                       \
    X(uint32_t, ta) X(uint32_t, tb) X(uint32_t, batch)
/* clang-format on */

#define LIBRARY_MEMBER(type, name) type name;
struct library_gemm {
    LIBRARY_GEMM(LIBRARY_MEMBER)
};
enum { LIBRARY_GEMM_ARGS = 18 };

/* Like library_open, for a library with functions for kernels; also hashes its file. ERR_UNSUPPORTED reports that the
 * device has none, and why. */
enum status library_open_named(struct library_file *file, void *functions, const struct library_place *place,
                               struct err *err);
void library_read_gemm(struct library_gemm *gemm, void *const *args);
/* Describes the function of an open library. */
void library_describe_gemm(struct kernel_info *info, const struct library_file *file);

/* ---- collectives ---- */

enum library_reduction { LIBRARY_SUM, LIBRARY_MAX };
/* clang-format off */
#define LIBRARY_COLLECTIVE(X)                                                                                          \
    X(void **, out) X(const void **, in) X(uint64_t, count) X(uint32_t, devices) X(uint32_t, root)                     \
    X(uint32_t, reduction) X(uint32_t, in_place)
/* clang-format on */
struct library_collective {
    LIBRARY_COLLECTIVE(LIBRARY_MEMBER)
};
void library_read_collective(struct library_collective *collective, void *const *args);
void library_describe_collective(struct kernel_info *info, const struct library_file *file);

#endif
