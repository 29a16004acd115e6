/* SPDX-License-Identifier: MIT
 *
 * cuBLAS and rocBLAS: one call per product, which finds its algorithm by itself. cuBLAS writes over its C: with beta C
 * is copied to D first, which is part of the time; rocBLAS has both.
 *
 * Numbers are those of cublas_api.h and library_types.h (CUDA 13.0; tests/unit/device/test_gpu_blas_numbers.c compares)
 * and of rocblas-types.h (ROCm 5.2 to 7.0).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_blas_ex.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* ---- the two of them ---- */

#define SYMBOL(member, name, required)                                                                                 \
    {                                                                                                                  \
        name, offsetof(struct blas_ex, api.member), required                                                           \
    }
static const struct vendor_symbol cuda_symbols[] = {
    SYMBOL(create, "cublasCreate_v2", true),      SYMBOL(destroy, "cublasDestroy_v2", true),
    SYMBOL(stream, "cublasSetStream_v2", true),   SYMBOL(workspace, "cublasSetWorkspace_v2", true),
    SYMBOL(math, "cublasSetMathMode", true),      SYMBOL(property, "cublasGetProperty", true),
    SYMBOL(text, "cublasGetStatusString", false), SYMBOL(cuda_gemm, "cublasGemmStridedBatchedEx", true),
};
static const struct vendor_symbol hip_symbols[] = {
    SYMBOL(create, "rocblas_create_handle", true),
    SYMBOL(destroy, "rocblas_destroy_handle", true),
    SYMBOL(stream, "rocblas_set_stream", true),
    SYMBOL(workspace, "rocblas_set_workspace", true),
    SYMBOL(math, "rocblas_set_math_mode", false), /* since ROCm 5.7 */
    SYMBOL(version, "rocblas_get_version_string", true),
    SYMBOL(text, "rocblas_status_to_string", false),
    SYMBOL(hip_gemm, "rocblas_gemm_strided_batched_ex", true),
};

static const struct blas_ex_dialect cuda_dialect = {
    .create = "cublasCreate",
    .set_stream = "cublasSetStream",
    .set_workspace = "cublasSetWorkspace",
    .set_math = "cublasSetMathMode",
    .types = {[BLAS_F32] = BLAS_TYPE(0),
              [BLAS_XF32] = BLAS_TYPE(0),
              [BLAS_F64] = BLAS_TYPE(1),
              [BLAS_F16] = BLAS_TYPE(2),
              [BLAS_I8] = BLAS_TYPE(3),
              [BLAS_I32] = BLAS_TYPE(10),
              [BLAS_BF16] = BLAS_TYPE(14)},
    .straight = 0,
    .turned = 1,
    .sum_f32 = 68,
    .sum_xf32 = 77,
    .sum_f64 = 70,
    .sum_i32 = 72,
    .exact = 16, /* CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION; the types of sums say the rest */
    .xf32 = 16,
    .not_initialized = 1,
    .unsupported = {15, 8}, /* NOT_SUPPORTED, ARCH_MISMATCH */
};
static const struct blas_ex_dialect hip_dialect = {
    .create = "rocblas_create_handle",
    .set_stream = "rocblas_set_stream",
    .set_workspace = "rocblas_set_workspace",
    .set_math = "rocblas_set_math_mode",
    .types = {[BLAS_F16] = BLAS_TYPE(150),
              [BLAS_F32] = BLAS_TYPE(151),
              [BLAS_XF32] = BLAS_TYPE(151),
              [BLAS_F64] = BLAS_TYPE(152),
              [BLAS_I8] = BLAS_TYPE(160),
              [BLAS_I32] = BLAS_TYPE(162),
              [BLAS_BF16] = BLAS_TYPE(168)},
    .straight = 111,
    .turned = 112,
    .sum_f32 = 151,
    .sum_xf32 = 151, /* by the mode of mathematics */
    .sum_f64 = 152,
    .sum_i32 = 162,
    .exact = 0,
    .xf32 = 1,              /* rocblas_xf32_xdl_math_op */
    .unsupported = {2, 15}, /* not_implemented, arch_mismatch */
};

static enum status check(const struct blas_ex *ex, int code, const char *function, struct err *err)
{
    const struct blas_ex_dialect *dialect = ex->library.blas->dialect;
    if (!code)
        return STATUS_OK;
    const bool lacks = code == dialect->unsupported[0] || code == dialect->unsupported[1];
    return blas_failed(lacks ? ERR_UNSUPPORTED : ERR_DEVICE, function, ex->api.text ? ex->api.text(code) : NULL, code,
                       err);
}

/* ---- opening ---- */

/* cublasSetStream puts the library's own memory in place of ours, so that comes after it. */
static enum status use_stream(struct blas_ex *ex, struct gpu_stream *stream, struct err *err)
{
    const struct gpu_blas *blas = ex->library.blas;
    const struct blas_ex_dialect *dialect = blas->dialect;
    if (ex->has_stream && ex->stream == stream)
        return STATUS_OK;
    ex->has_stream = false;
    enum status status = check(ex, ex->api.stream(ex->handle, stream), dialect->set_stream, err);
    if (!status)
        status = check(ex, ex->api.workspace(ex->handle, ex->library.workspace, blas->workspace_bytes),
                       dialect->set_workspace, err);
    ex->has_stream = !status;
    ex->stream = stream;
    return status;
}

static enum status read_version(char *version, size_t version_bytes, const struct blas_ex *ex, struct err *err)
{
    int parts[3] = {0};
    enum status status = STATUS_OK;
    if (ex->api.version)
        return check(ex, ex->api.version(version, version_bytes), "rocblas_get_version_string", err);
    for (int i = 0; i < 3 && !status; ++i)
        status = check(ex, ex->api.property(i, &parts[i]), "cublasGetProperty", err);
    if (!status)
        snprintf(version, version_bytes, "%d.%d.%d", parts[0], parts[1], parts[2]);
    return status;
}

/* A library that is too new for its driver says so here. */
static enum status open_ex(struct gpu_libraries *library, char *version, size_t version_bytes, struct err *err)
{
    struct blas_ex *ex = (struct blas_ex *)library;
    const struct blas_ex_dialect *dialect = library->blas->dialect;
    const int code = ex->api.create(&ex->handle);
    if (code)
        ex->handle = NULL;
    enum status status = check(ex, code, dialect->create, err);
    if (code && code == dialect->not_initialized)
        err->status = status = ERR_UNSUPPORTED;
    if (!status && ex->api.math)
        status = check(ex, ex->api.math(ex->handle, dialect->exact), dialect->set_math, err);
    if (!status) /* memory of its own, which it frees now, must not be freed while a stream is held back */
        status = use_stream(ex, NULL, err);
    return status ? status : read_version(version, version_bytes, ex, err);
}

static void close_ex(struct gpu_libraries *library)
{
    struct blas_ex *ex = (struct blas_ex *)library;
    if (ex->handle)
        ex->api.destroy(ex->handle);
}

static bool knows(const struct gpu_blas *blas, enum blas_type type)
{
    return ((const struct blas_ex_dialect *)blas->dialect)->types[type] != 0;
}

/* ---- multiplying ---- */

static enum status use_math(struct blas_ex *ex, bool xf32, struct err *err)
{
    const struct blas_ex_dialect *dialect = ex->library.blas->dialect;
    if (xf32 == ex->xf32)
        return STATUS_OK;
    if (!ex->api.math)
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s: its %s lacks it", dialect->set_math,
                       ex->library.blas->place.name);
    const enum status status =
        check(ex, ex->api.math(ex->handle, xf32 ? dialect->xf32 : dialect->exact), dialect->set_math, err);
    if (!status)
        ex->xf32 = xf32;
    return status;
}

static int turn_of(const struct blas_ex *ex, bool turned)
{
    const struct blas_ex_dialect *dialect = ex->library.blas->dialect;
    return turned ? dialect->turned : dialect->straight;
}

static int type_of(const struct blas_ex *ex, enum blas_type type)
{
    return BLAS_NUMBER(((const struct blas_ex_dialect *)ex->library.blas->dialect)->types[type]);
}

static int sum_of(const struct blas_ex *ex, enum blas_type in)
{
    const struct blas_ex_dialect *dialect = ex->library.blas->dialect;
    return in == BLAS_F64    ? dialect->sum_f64
           : in == BLAS_I8   ? dialect->sum_i32
           : in == BLAS_XF32 ? dialect->sum_xf32
                             : dialect->sum_f32;
}

static enum status cuda_multiply(struct gpu_libraries *library, struct gpu *gpu, const struct blas_product *p,
                                 struct gpu_stream *stream, struct err *err)
{
    enum { CUBLAS_GEMM_DEFAULT = -1 };
    struct blas_ex *ex = (struct blas_ex *)library;
    const enum blas_type sum = blas_sum_type(p->in);
    const union blas_scalar alpha = blas_scalar(p->alpha, sum), beta = blas_scalar(p->beta, sum);
    const int in = type_of(ex, p->in);
    static const uint8_t bytes[BLAS_TYPES] = {
        [BLAS_F64] = 8, [BLAS_F32] = 4, [BLAS_F16] = 2, [BLAS_BF16] = 2, [BLAS_I32] = 4};
    const uint64_t elements = (uint64_t)((p->batch - 1) * p->next_d + (p->n - 1) * p->ldd + p->m);
    enum status status = use_stream(ex, stream, err);
    if (!status && p->c != p->d)
        status = gpu->vendor->api->copy(gpu, p->d, p->c, elements * bytes[p->out], stream, err);
    if (status)
        return status;
    const int code = ex->api.cuda_gemm(ex->handle, turn_of(ex, p->ta), turn_of(ex, p->tb), (int)p->m, (int)p->n,
                                       (int)p->k, &alpha, p->a, in, (int)p->lda, p->next_a, p->b, in, (int)p->ldb,
                                       p->next_b, &beta, p->d, type_of(ex, p->out), (int)p->ldd, p->next_d,
                                       (int)p->batch, sum_of(ex, p->in), CUBLAS_GEMM_DEFAULT);
    return check(ex, code, "cublasGemmStridedBatchedEx", err);
}

static enum status hip_multiply(struct gpu_libraries *library, struct gpu *gpu, const struct blas_product *p,
                                struct gpu_stream *stream, struct err *err)
{
    struct blas_ex *ex = (struct blas_ex *)library;
    const enum blas_type sum = blas_sum_type(p->in);
    const union blas_scalar alpha = blas_scalar(p->alpha, sum), beta = blas_scalar(p->beta, sum);
    const int in = type_of(ex, p->in), out = type_of(ex, p->out);
    (void)gpu;
    enum status status = use_stream(ex, stream, err);
    if (!status)
        status = use_math(ex, p->in == BLAS_XF32, err);
    if (status)
        return status;
    const int code = ex->api.hip_gemm(ex->handle, turn_of(ex, p->ta), turn_of(ex, p->tb), (int)p->m, (int)p->n,
                                      (int)p->k, &alpha, p->a, in, (int)p->lda, p->next_a, p->b, in, (int)p->ldb,
                                      p->next_b, &beta, p->c, out, (int)p->ldd, p->next_d, p->d, out, (int)p->ldd,
                                      p->next_d, (int)p->batch, sum_of(ex, p->in), 0, 0, 0);
    return check(ex, code, "rocblas_gemm_strided_batched_ex", err);
}

/* ---- the rows ---- */

/* 32 MiB is what NVIDIA recommends for Hopper, the most of all (cuBLAS, "cublasSetWorkspace"); AMD recommends no size.
 */
const struct gpu_blas blas_cublas = {
    .backend = "cuda",
    .place = {"cublas", "ROOFTILE_CUBLAS",
              (const char *const[]){"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                    "/usr/local/cuda/lib64/libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.12",
                                    "/usr/local/cuda/lib64/libcublas.so.11", NULL}},
    .workspace_bytes = (uint64_t)32 << 20,
    .size_bytes = sizeof(struct blas_ex),
    .symbols = cuda_symbols,
    .symbol_count = COUNT_OF(cuda_symbols),
    .dialect = &cuda_dialect,
    .overrides = (const char *const[]){"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                       "CUBLAS_EMULATE_DOUBLE_PRECISION", NULL},
    .open = open_ex,
    .knows = knows,
    .multiply = cuda_multiply,
    .close = close_ex,
};
const struct gpu_blas blas_rocblas = {
    .backend = "hip",
    .place = {"rocblas", "ROOFTILE_ROCBLAS",
              (const char *const[]){"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0",
                                    "/opt/rocm/lib/librocblas.so.5", "/opt/rocm/lib/librocblas.so.4",
                                    "/opt/rocm/lib/librocblas.so.3", "/opt/rocm/lib/librocblas.so.0", NULL}},
    .workspace_bytes = (uint64_t)128 << 20,
    .size_bytes = sizeof(struct blas_ex),
    .symbols = hip_symbols,
    .symbol_count = COUNT_OF(hip_symbols),
    .dialect = &hip_dialect,
    .overrides = (const char *const[]){"ROCBLAS_USE_HIPBLASLT", "ROCBLAS_TENSILE_LIBPATH", NULL},
    .open = open_ex,
    .knows = knows,
    .multiply = hip_multiply,
    .close = close_ex,
};
