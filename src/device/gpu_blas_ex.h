/* SPDX-License-Identifier: MIT
 *
 * The inside of gpu_blas_ex.c, for its tests: prototypes of our own, in the names of neither library, and their
 * numbers. Enumerations are int in both.
 */
#ifndef ROOFTILE_DEVICE_GPU_BLAS_EX_H
#define ROOFTILE_DEVICE_GPU_BLAS_EX_H

#include "gpu_blas.h"

struct blas_ex_api {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*stream)(void *handle, void *stream);
    int (*workspace)(void *handle, void *memory, size_t size);
    int (*math)(void *handle, int mode);
    int (*property)(int part, int *value);         /* cuBLAS: 0, 1, 2 are major, minor, patch */
    int (*version)(char *text, size_t text_bytes); /* rocBLAS: "4.2.1.12ab34cd" */
    const char *(*text)(int code);
    int (*cuda_gemm)(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int a_type,
                     int lda, long long next_a, const void *b, int b_type, int ldb, long long next_b, const void *beta,
                     void *c, int c_type, int ldc, long long next_c, int batch, int sum_type, int algorithm);
    int (*hip_gemm)(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int a_type,
                    int lda, int64_t next_a, const void *b, int b_type, int ldb, int64_t next_b, const void *beta,
                    const void *c, int c_type, int ldc, int64_t next_c, void *d, int d_type, int ldd, int64_t next_d,
                    int batch, int sum_type, int algorithm, int32_t solution, uint32_t flags);
};

struct blas_ex {
    struct gpu_libraries library; /* first */
    struct blas_ex_api api;
    void *handle;
    bool has_stream; /* that of the last call */
    struct gpu_stream *stream;
    bool xf32; /* its mode of mathematics */
};

struct blas_ex_dialect {
    const char *create, *set_stream, *set_workspace, *set_math; /* names, for messages */
    int types[BLAS_TYPES];                                      /* BLAS_TYPE */
    int straight, turned;                                       /* operations on a matrix */
    int sum_f32, sum_xf32, sum_f64, sum_i32;
    int exact, xf32;     /* modes of mathematics */
    int not_initialized; /* error codes; 0: none */
    int unsupported[2];
};

#endif
