/* SPDX-License-Identifier: MIT
 *
 * Shared libraries that are opened when they are installed; nothing of them is linked. And those among them whose
 * functions stand in for kernels of ours (device_ops.load_library): what such a library reaches is what a kernel is set
 * against. There is one function of theirs, whose name says the types of what goes in and of what comes out:
 *
 *   gemm_{in}_{out}   D = alpha * A * B + beta * C, batch by batch; all matrices lie row by row. Arguments: d, a, b, c;
 *                     u32 m, n, k, lda, ldb, ldd (from row to row, in elements; C lies as D); u64 from one batch to the
 *                     next of a, b, d; f64 alpha, beta; u32 ta, tb (1: A is k x m, B is n x k), batch
 *
 * cpu_library.c has OpenBLAS for the CPU device, gpu_blas.c those of the GPUs' vendors.
 */
#ifndef ROOFTILE_DEVICE_LIBRARY_H
#define ROOFTILE_DEVICE_LIBRARY_H

#include "device_internal.h"
#include "rooftile/hash.h"

/* ---- finding one ---- */

struct library_place {
    const char *name;         /* as manifests and messages have it */
    const char *variable;     /* of the environment: a file to be opened in place of these */
    const char *const *files; /* what to try, in this order; NULL-terminated */
};

struct library_file {
    void *handle; /* of dlopen; NULL: not open */
    char path[512];
    char sha256[HASH_TEXT];
};

/* Opens the first file that can be. ERR_UNSUPPORTED says that the device has none, and what was tried. */
enum status library_open(struct library_file *file, const struct library_place *place, struct err *err);
void library_close(struct library_file *file);
/* ERR_UNSUPPORTED: what was opened in the library's place lacks a function without which it is not that library. */
enum status library_lacks(const struct library_place *place, const char *symbol, struct err *err);

/* ---- functions ---- */

/* A table of them ends with a NULL name. */
struct library_symbol {
    const char *name;
    size_t offset; /* of the function pointer, in the structure that is filled */
    unsigned need; /* who needs it; what is SYMBOL_FEATURES or more, the table's user knows */
};
enum { SYMBOL_REQUIRED, SYMBOL_OPTIONAL, SYMBOL_FEATURES };

/* Fills `to` with what `handle` of dlopen has; other pointers of the table become NULL. False when required functions
 * are missing: `missing` gets their names, or "all functions of `whole`" where the library is quite another one. */
bool library_find_symbols(void *to, void *handle, const struct library_symbol *symbols, const char *whole,
                          struct text *missing);
/* NULL: there is none of this name. */
void (*library_function(void *handle, const char *symbol))(void);

/* ---- gemm ---- */

enum { LIBRARY_GEMM_ARGS = 18 };
struct library_gemm {
    void *d;
    const void *a, *b, *c;
    uint32_t m, n, k, lda, ldb, ldd;
    uint64_t next_a, next_b, next_d; /* in elements */
    double alpha, beta;
    bool ta, tb;
    uint32_t batch;
};

void library_read_gemm(struct library_gemm *gemm, void *const *args);
/* What is known of the function `file` has: its arguments, and what the library `says` it is. */
void library_describe_gemm(struct kernel_info *info, const struct library_file *file, const char *says);

#endif
