/* SPDX-License-Identifier: MIT
 *
 * The inside of gpu_blas_lt.c, for its tests: prototypes of our own, in the names of neither library, and what a
 * product is described by. Enumerations are int in both; all objects are handled by pointer.
 */
#ifndef ROOFTILE_DEVICE_GPU_BLAS_LT_H
#define ROOFTILE_DEVICE_GPU_BLAS_LT_H

#include "gpu_blas.h"

enum { BLAS_LT_OPERANDS = 4 };

struct blas_lt_api {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*property)(int part, int *value);      /* cuBLASLt: 0, 1, 2 are major, minor, patch */
    int (*version)(void *handle, int *version); /* hipBLASLt: major * 100000 + minor * 100 + patch */
    const char *(*text)(int code);
    int (*desc_create)(void **desc, int sum_type, int scale_type);
    int (*desc_destroy)(void *desc);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t size);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*layout_set)(void *layout, int attribute, const void *value, size_t size);
    int (*pref_create)(void **preference);
    int (*pref_destroy)(void *preference);
    int (*pref_set)(void *preference, int attribute, const void *value, size_t size);
    int (*heuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int wanted,
                     void *results, int *count);
    int (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                  void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                  const void *algorithm, void *workspace, size_t workspace_bytes, void *stream);
};

/* Numbers of the library's enumerations. */
struct blas_lt_dialect {
    const char *prefix;    /* of its functions, for messages */
    int types[BLAS_TYPES]; /* BLAS_TYPE; those of cudaDataType */
    int straight, turned;  /* operations on a matrix */
    int sum_f32, sum_xf32, sum_f64, sum_i32;
    int turn_a, turn_b;                  /* attributes of an operation, int32_t, */
    int batch_count, batch_stride;       /* of a layout, int32_t and int64_t in elements, */
    int workspace;                       /* of a preference: bytes, uint64_t, */
    int reductions;                      /* mask of schemes, uint32_t; 0: it has none, */
    int alignments[BLAS_LT_OPERANDS];    /* of A, B, C and D in bytes, uint32_t; 0: none */
    int not_initialized, unsupported[2]; /* error codes */
    int least;                           /* version */
};

/* For products of one shape. */
struct blas_lt_plan {
    bool is_chosen;
    struct blas_product shape;
    uint32_t alignments[BLAS_LT_OPERANDS];
    void *desc, *layouts[3], *preference; /* layouts of A, B, and of C and D */
    /* The heuristic's: begins with the algorithm, of 64 bytes in cuBLASLt and 24 in hipBLASLt; 96 and 64 in all. */
    uint64_t result[16];
};

struct blas_lt {
    struct gpu_libraries library; /* first */
    struct blas_lt_api api;
    void *handle;
    struct blas_lt_plan plan;
};

/* Fills the plan but for its algorithm. What was made of it when it fails, blas_lt_forget takes back. */
enum status blas_lt_describe(struct blas_lt *lt, const struct blas_product *product, struct err *err);
void blas_lt_forget(struct blas_lt *lt);

#endif
