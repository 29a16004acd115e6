/* SPDX-License-Identifier: MIT
 *
 * BLAS libraries of the GPUs' vendors behind device_ops.load_library; library.h has what their function takes.
 * gpu_blas.c knows which there are and turns a row-by-row product into the column-by-column one that BLAS means;
 * gpu_blas_lt.c calls cuBLASLt and hipBLASLt, whose interfaces are the same but for names and numbers, gpu_blas_ex.c
 * cuBLAS and rocBLAS.
 *
 * Products of f16, bf16 and 8-bit floats are summed in f32, and partial sums stay f32 where a library would be free to
 * add them up in the type of the result: so they are comparable with our kernels, and within the same bound. f32 is f32
 * unless xf32 is asked for. Memory for the library's own use is allocated once, when it is opened, so that a launch
 * allocates nothing and may be captured in a graph. What a shape's first launch has to find out is kept for the next
 * ones.
 */
#ifndef ROOFTILE_DEVICE_GPU_BLAS_H
#define ROOFTILE_DEVICE_GPU_BLAS_H

#include "gpu.h"
#include "library.h"

/* Element types, with names as in manifests. xf32 is f32 that matrix instructions may cut to 10 bits of mantissa. */
enum blas_type {
    BLAS_F64,
    BLAS_F32,
    BLAS_XF32,
    BLAS_F16,
    BLAS_BF16,
    BLAS_I8,
    BLAS_I32,
    BLAS_E4M3,
    BLAS_E5M2,
    BLAS_E4M3FNUZ,
    BLAS_E5M2FNUZ,
    BLAS_TYPES
};
extern const char *const blas_type_names[BLAS_TYPES];
/* Of the sums, and so of alpha and beta: f64 of f64, i32 of i8, else f32. */
enum blas_type blas_sum_type(enum blas_type in);

/* Column by column: D (m x n) = alpha * op(A) * op(B) + beta * C, where op transposes when `ta`, `tb` say so. */
struct blas_product {
    enum blas_type in, out;
    bool ta, tb;
    int64_t m, n, k, lda, ldb, ldd;        /* C lies as D */
    int64_t next_a, next_b, next_d, batch; /* in elements; of C as of D */
    const void *a, *b, *c;
    void *d;
    double alpha, beta;
};

/* A library that is open. Adapters have it first in a structure of theirs. */
struct gpu_blas;
struct gpu_libraries {
    struct gpu_libraries *next;
    const struct gpu_blas *blas;
    struct library_file file;
    char says[DEVICE_LIBRARY_TEXT];
    void *workspace; /* of the device, blas->workspace_bytes; aligned to 256 bytes */
};

/* A library that is known. */
struct gpu_blas {
    const char *backend; /* that it is for: "hip" */
    struct library_place place;
    uint64_t workspace_bytes;
    size_t size_bytes;                   /* of the adapter's structure, which is zeroed before `open` */
    const struct vendor_symbol *symbols; /* into it */
    size_t symbol_count;
    const void *dialect;          /* the adapter's: names and numbers */
    const char *const *overrides; /* variables that change what it computes; NULL-terminated, told when they are set */
    /* Makes its handle on the current device, and writes its version. ERR_UNSUPPORTED: it is too old, or not for this
     * machine. */
    enum status (*open)(struct gpu_libraries *library, char *version, size_t version_bytes, struct err *err);
    bool (*knows)(const struct gpu_blas *blas, enum blas_type type);
    enum status (*multiply)(struct gpu_libraries *library, struct gpu *gpu, const struct blas_product *product,
                            struct gpu_stream *stream, struct err *err);
    void (*close)(struct gpu_libraries *library); /* after a failed open too */
};

extern const struct gpu_blas blas_cublas, blas_cublaslt, blas_rocblas, blas_hipblaslt;

/* ---- for the adapters ---- */

/* A type's number in a table whose empty rows are unknown types. */
#define BLAS_TYPE(number) ((number) + 1)
#define BLAS_NUMBER(row) ((row)-1)

/* alpha or beta as the sums' type has them. */
union blas_scalar {
    double f64;
    float f32;
    int32_t i32;
};
union blas_scalar blas_scalar(double value, enum blas_type sum);

/* What a library's error code says: "function: text (code)". The status is the caller's to choose. */
enum status blas_failed(enum status status, const char *function, const char *text, int code, struct err *err);

#endif
