/* SPDX-License-Identifier: MIT
 *
 * cuBLAS and rocBLAS: one call per product, which finds its algorithm by itself. cuBLAS writes over its C: with beta C
 * is copied to D first, which is part of the time; rocBLAS has both.
 *
 * Numbers are those of cublas_api.h and library_types.h (CUDA 13.0; tests/unit/device/test_gpu_blas_numbers.c compares)
 * and of rocblas-types.h (ROCm 5.2 to 7.0).
 */
#include <stdio.h>

#include "gpu_blas.h"

#define EX(member, name, need)                                                                                         \
    {                                                                                                                  \
        name, offsetof(struct blas_ex, member), need                                                                   \
    }
static const struct library_symbol cuda_symbols[] = {
    EX(library.create, "cublasCreate_v2", SYMBOL_REQUIRED),
    EX(library.destroy, "cublasDestroy_v2", SYMBOL_REQUIRED),
    EX(library.property, "cublasGetProperty", SYMBOL_REQUIRED),
    EX(library.text, "cublasGetStatusString", SYMBOL_OPTIONAL),
    EX(set_stream, "cublasSetStream_v2", SYMBOL_REQUIRED),
    EX(set_workspace, "cublasSetWorkspace_v2", SYMBOL_REQUIRED),
    EX(set_math, "cublasSetMathMode", SYMBOL_REQUIRED),
    EX(cuda_gemm, "cublasGemmStridedBatchedEx", SYMBOL_REQUIRED),
    {NULL, 0, 0},
};
static const struct library_symbol hip_symbols[] = {
    EX(library.create, "rocblas_create_handle", SYMBOL_REQUIRED),
    EX(library.destroy, "rocblas_destroy_handle", SYMBOL_REQUIRED),
    EX(library.text, "rocblas_status_to_string", SYMBOL_OPTIONAL),
    EX(version, "rocblas_get_version_string", SYMBOL_REQUIRED),
    EX(set_stream, "rocblas_set_stream", SYMBOL_REQUIRED),
    EX(set_workspace, "rocblas_set_workspace", SYMBOL_REQUIRED),
    EX(set_math, "rocblas_set_math_mode", SYMBOL_OPTIONAL), /* since ROCm 5.7 */
    EX(hip_gemm, "rocblas_gemm_strided_batched_ex", SYMBOL_REQUIRED),
    {NULL, 0, 0},
};

#define EX_TRY(ex, err, member, ...)                                                                                   \
    blas_check(&(ex)->library, (ex)->member(__VA_ARGS__), offsetof(struct blas_ex, member), (err))

/* ---- opening ---- */

/* cublasSetStream puts the library's own memory in place of ours, so that comes after it. */
static enum status use_stream(struct blas_ex *ex, struct gpu_stream *stream, struct err *err)
{
    const struct gpu_library *library = &ex->library;
    if (ex->has_stream && ex->stream == stream)
        return STATUS_OK;
    ex->has_stream = false;
    enum status status = EX_TRY(ex, err, set_stream, library->handle, stream);
    if (!status)
        status = EX_TRY(ex, err, set_workspace, library->handle, library->workspace, library->blas->workspace_bytes);
    ex->has_stream = !status;
    ex->stream = stream;
    return status;
}

static enum status read_version(char *version, size_t version_bytes, const struct blas_ex *ex, struct err *err)
{
    int parts[3] = {0};
    if (ex->version)
        return EX_TRY(ex, err, version, version, version_bytes);
    const enum status status = blas_property_version(parts, &ex->library, err);
    if (!status)
        snprintf(version, version_bytes, "%d.%d.%d", parts[0], parts[1], parts[2]);
    return status;
}

static enum status open_ex(struct gpu_library *library, char *version, size_t version_bytes, struct err *err)
{
    struct blas_ex *ex = (struct blas_ex *)library;
    enum status status = STATUS_OK;
    if (ex->set_math)
        status = EX_TRY(ex, err, set_math, library->handle, library->blas->numbers.exact);
    if (!status) /* memory of its own, which it frees now, must not be freed while a stream is held back */
        status = use_stream(ex, NULL, err);
    return status ? status : read_version(version, version_bytes, ex, err);
}

/* ---- multiplying ---- */

static enum status use_math(struct blas_ex *ex, bool xf32, struct err *err)
{
    const struct gpu_blas *blas = ex->library.blas;
    if (xf32 == ex->xf32)
        return STATUS_OK;
    if (!ex->set_math)
        return err_set(err, ERR_UNSUPPORTED, "the device has no rocblas_set_math_mode: its %s lacks it",
                       blas->place.name);
    const enum status status =
        EX_TRY(ex, err, set_math, ex->library.handle, xf32 ? blas->numbers.xf32 : blas->numbers.exact);
    if (!status)
        ex->xf32 = xf32;
    return status;
}

static enum status cuda_multiply(struct gpu_library *library, struct gpu *gpu, const struct blas_product *p,
                                 struct gpu_stream *stream, struct err *err)
{
    enum { CUBLAS_GEMM_DEFAULT = -1 };
    static const uint8_t bytes[BLAS_TYPES] = {
        [BLAS_F64] = 8, [BLAS_F32] = 4, [BLAS_F16] = 2, [BLAS_BF16] = 2, [BLAS_I32] = 4};
    struct blas_ex *ex = (struct blas_ex *)library;
    const int in = blas_type_number(library, p->in);
    const uint64_t elements = (uint64_t)((p->batch - 1) * p->next_d + (p->n - 1) * p->ldd + p->m);
    enum status status = use_stream(ex, stream, err);
    if (!status && p->c != p->d)
        status = gpu->vendor->copy(gpu, p->d, p->c, elements * bytes[p->out], stream, false, err);
    if (status)
        return status;
    return EX_TRY(ex, err, cuda_gemm, library->handle, blas_operation(library, p->ta), blas_operation(library, p->tb),
                  (int)p->m, (int)p->n, (int)p->k, &p->alpha, p->a, in, (int)p->lda, p->next_a, p->b, in, (int)p->ldb,
                  p->next_b, &p->beta, p->d, blas_type_number(library, p->out), (int)p->ldd, p->next_d, (int)p->batch,
                  blas_sum_number(library, p->in), CUBLAS_GEMM_DEFAULT);
}

static enum status hip_multiply(struct gpu_library *library, struct gpu *gpu, const struct blas_product *p,
                                struct gpu_stream *stream, struct err *err)
{
    struct blas_ex *ex = (struct blas_ex *)library;
    const int in = blas_type_number(library, p->in), out = blas_type_number(library, p->out);
    (void)gpu;
    enum status status = use_stream(ex, stream, err);
    if (!status)
        status = use_math(ex, p->in == BLAS_XF32, err);
    if (status)
        return status;
    return EX_TRY(ex, err, hip_gemm, library->handle, blas_operation(library, p->ta), blas_operation(library, p->tb),
                  (int)p->m, (int)p->n, (int)p->k, &p->alpha, p->a, in, (int)p->lda, p->next_a, p->b, in, (int)p->ldb,
                  p->next_b, &p->beta, p->c, out, (int)p->ldd, p->next_d, p->d, out, (int)p->ldd, p->next_d,
                  (int)p->batch, blas_sum_number(library, p->in), 0, 0, 0);
}

/* ---- the rows ---- */

const struct gpu_blas blas_cublas = {
    .backend = "cuda",
    .place = {"cublas", "ROOFTILE_CUBLAS",
              (const char *const[]){"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                    "/usr/local/cuda/lib64/libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.12",
                                    "/usr/local/cuda/lib64/libcublas.so.11", NULL}},
    .workspace_bytes = CUDA_WORKSPACE_BYTES,
    .size_bytes = sizeof(struct blas_ex),
    .symbols = cuda_symbols,
    .numbers =
        {
            .types = {CUDA_TYPES},
            CUBLAS_NUMBERS,
            .exact = 16, /* CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION; the types of sums say the rest */
            .xf32 = 16,
        },
    .overrides = (const char *const[]){CUBLAS_OVERRIDES, NULL},
    .open = open_ex,
    .multiply = cuda_multiply,
};
const struct gpu_blas blas_rocblas = {
    .backend = "hip",
    .place = {"rocblas", "ROOFTILE_ROCBLAS",
              (const char *const[]){"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0",
                                    "/opt/rocm/lib/librocblas.so.5", "/opt/rocm/lib/librocblas.so.4",
                                    "/opt/rocm/lib/librocblas.so.3", "/opt/rocm/lib/librocblas.so.0", NULL}},
    .workspace_bytes = HIP_WORKSPACE_BYTES,
    .size_bytes = sizeof(struct blas_ex),
    .symbols = hip_symbols,
    .numbers =
        {
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
        },
    .overrides = (const char *const[]){"ROCBLAS_USE_HIPBLASLT", "ROCBLAS_TENSILE_LIBPATH", NULL},
    .open = open_ex,
    .multiply = hip_multiply,
};
