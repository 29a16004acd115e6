/* SPDX-License-Identifier: MIT
 *
 * The GPU vendors' BLAS libraries behind device_ops.load_library; library.h documents the arguments of their function.
 * gpu_blas.c lists and opens the libraries, and converts a row-major product to BLAS's column-major one; gpu_blas_lt.c
 * calls cuBLASLt and hipBLASLt, whose interfaces differ only in names and numbers; gpu_blas_rocblas.c calls rocBLAS.
 * Prototypes are our own and use no library's names. All enumerations are int; all objects are handled by pointer.
 *
 * Products of f16, bf16 and 8-bit floats are summed in f32, and partial sums stay f32 even where a library could add
 * them up in the result's type. This makes them comparable with our kernels, within the same tolerance. f32 means f32
 * unless xf32 is requested. The library's workspace is allocated once, when it is opened, so that a launch allocates
 * nothing and can be captured in a graph. What a shape's first launch determines is cached for the next ones.
 */
#ifndef ROOFTILE_DEVICE_GPU_BLAS_H
#define ROOFTILE_DEVICE_GPU_BLAS_H

#include "gpu.h"

/* Element types. xf32 is f32 that matrix instructions may truncate to 10 bits of mantissa. */
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

struct blas_type_row {
    const char *name; /* as in manifests */
    uint32_t bytes;
    enum blas_type sum;     /* type of its products' sums, and of alpha and beta */
    enum blas_type outs[3]; /* the `out_count` result types of its products, which are named gemm_{in}_{out} */
    uint32_t out_count;
};
extern const struct blas_type_row blas_types[BLAS_TYPES];

/* Column-major: D (m x n) = alpha * op(A) * op(B) + beta * C, where op transposes if `ta` or `tb` is set. */
struct blas_product {
    /* The shape is compared as bytes and must have no padding. */
    enum blas_type in, out;
    uint32_t ta, tb;
    int64_t m, n, k, lda, ldb, ldd;        /* C is laid out as D */
    int64_t next_a, next_b, next_d, batch; /* in elements; C's stride is D's */
    const void *a, *b, *c;
    void *d;
    union blas_scalar { /* in the type of the sums */
        double f64;
        float f32;
        int32_t i32;
    } alpha, beta;
};
enum { BLAS_SHAPE_BYTES = offsetof(struct blas_product, a) };
_Static_assert(BLAS_SHAPE_BYTES == 4 * sizeof(uint32_t) + 10 * sizeof(int64_t), "a shape has no padding");

/* ---- a known library ---- */

struct gpu_library;

/* Encodes a type's number for a table whose empty rows are unknown types. */
#define BLAS_TYPE(number) ((number) + 1)
#define BLAS_NUMBER(row) ((row)-1)

enum { BLAS_OPERANDS = 4 };

/* Values of the library's enumerations. */
struct blas_numbers {
    int types[BLAS_TYPES]; /* BLAS_TYPE */
    int plain, transposed; /* operations on a matrix */
    int sum_f32, sum_xf32, sum_f64, sum_i32;
    int not_initialized, unsupported[2]; /* error codes; 0: none */
    int exact, xf32;                     /* rocBLAS: math modes */
    int transpose_a, transpose_b;        /* lt: int32_t attributes of an operation, */
    int batch_count, batch_stride;       /* ... of a layout, int32_t and int64_t in elements, */
    int workspace;                       /* ... of a preference: bytes, uint64_t, */
    int reductions;                      /* ... mask of schemes, uint32_t; 0: it has none, */
    int alignments[BLAS_OPERANDS];       /* ... of A, B, C and D in bytes, uint32_t; 0: none */
    int least;                           /* minimum version, in the library's own encoding; 0: any */
};

/* For cuBLASLt and hipBLASLt: types are those of cudaDataType. */
#define CUDA_TYPES                                                                                                     \
    [BLAS_F32] = BLAS_TYPE(0), [BLAS_XF32] = BLAS_TYPE(0), [BLAS_F64] = BLAS_TYPE(1), [BLAS_F16] = BLAS_TYPE(2),       \
    [BLAS_I8] = BLAS_TYPE(3), [BLAS_I32] = BLAS_TYPE(10), [BLAS_BF16] = BLAS_TYPE(14)
/* NVIDIA recommends 32 MiB for Hopper, more than for any other GPU (cuBLAS, "cublasSetWorkspace"); AMD recommends no
 * size. */
#define CUDA_WORKSPACE_BYTES ((uint64_t)32 << 20)
#define HIP_WORKSPACE_BYTES ((uint64_t)128 << 20)

struct gpu_blas {
    const char *backend;        /* the backend that it serves: "hip" */
    struct library_place place; /* symbol offsets refer to struct gpu_library */
    uint64_t workspace_bytes;
    const char *const *overrides; /* variables that change its results; NULL-terminated, reported if set */
    struct blas_numbers numbers;
    /* Optional. The handle was created on the current device. */
    enum status (*open)(struct gpu_library *library, struct err *err);
    enum status (*multiply)(struct gpu_library *library, const struct blas_product *product, struct gpu_stream *stream,
                            struct err *err);
};

extern const struct gpu_blas blas_cublaslt, blas_rocblas, blas_hipblaslt;

bool blas_knows(const struct gpu_blas *blas, enum blas_type type);

/* ---- an open library ---- */

/* gpu_blas_rocblas.c: the handle's state. */
struct blas_handle_state {
    bool has_stream; /* the last call's stream */
    struct gpu_stream *stream;
    bool xf32; /* its math mode */
};

/* gpu_blas_lt.c: the plan for products of one shape. */
struct blas_lt_plan {
    bool is_chosen;
    struct blas_product shape;
    uint32_t alignments[BLAS_OPERANDS];
    void *desc, *layouts[3], *preference; /* layouts of A, B, and of C and D */
    /* The heuristic's result, which begins with the algorithm: 64 bytes in cuBLASLt and 24 in hipBLASLt; 96 and 64 in
     * total. */
    uint64_t result[16];
};

/* Functions that a library lacks are NULL. */
struct gpu_library {
    struct gpu_library *next;
    const struct gpu_blas *blas;
    struct library_file file;
    void *workspace; /* device memory, blas->workspace_bytes; aligned to 256 bytes */
    void *handle;
    struct blas_handle_state state;
    struct blas_lt_plan plan;

    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*property)(int part, int *value);              /* cuBLASLt: 0, 1, 2 are major, minor, patch */
    int (*version_text)(char *text, size_t text_bytes); /* rocBLAS: "4.2.1.12ab34cd" */
    int (*version_number)(void *handle, int *version);  /* hipBLASLt: major * 100000 + minor * 100 + patch */
    const char *(*text)(int code);                      /* optional */

    int (*set_stream)(void *handle, void *stream);
    int (*set_workspace)(void *handle, void *memory, size_t size);
    int (*set_math)(void *handle, int mode);
    int (*gemm)(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int a_type,
                int lda, int64_t next_a, const void *b, int b_type, int ldb, int64_t next_b, const void *beta,
                const void *c, int c_type, int ldc, int64_t next_c, void *d, int d_type, int ldd, int64_t next_d,
                int batch, int sum_type, int algorithm, int32_t solution, uint32_t flags);

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
#define BLAS_SYMBOL(member, name, need) LIBRARY_SYMBOL(struct gpu_library, member, name, need)

/* Returns the status of an error code that the function at `offset` of struct gpu_library returned, and sets the
 * text. */
enum status blas_check(const struct gpu_library *library, int code, size_t offset, struct err *err);
#define BLAS_TRY(library, err, member, ...)                                                                            \
    blas_check((library), (library)->member(__VA_ARGS__), offsetof(struct gpu_library, member), (err))
int blas_operation(const struct gpu_library *library, bool transposed);
int blas_type_number(const struct gpu_library *library, enum blas_type type);
int blas_sum_number(const struct gpu_library *library, enum blas_type in);

/* Fills the plan except its algorithm. On failure, the caller releases the partial plan with blas_lt_forget. */
enum status blas_lt_describe(struct gpu_library *library, const struct blas_product *product, struct err *err);
void blas_lt_forget(struct gpu_library *library);

#endif
