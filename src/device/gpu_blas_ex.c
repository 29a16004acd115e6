/* SPDX-License-Identifier: MIT
 *
 * cuBLAS and rocBLAS: one call per product, which finds its algorithm by itself. cuBLAS writes over its C: with beta C
 * is copied to D first, which is part of the time; rocBLAS has both.
 *
 * Numbers are those of cublas_api.h and library_types.h (CUDA 13.0; tests/unit/device/test_gpu_blas_numbers.c compares)
 * and of rocblas-types.h (ROCm 5.2 to 7.0).
 */
#include <dlfcn.h>

#include "gpu_blas.h"

static const struct library_symbol cuda_symbols[] = {
    BLAS_SYMBOL(create, "cublasCreate_v2", REQUIRED),
    BLAS_SYMBOL(destroy, "cublasDestroy_v2", REQUIRED),
    BLAS_SYMBOL(property, "cublasGetProperty", REQUIRED),
    BLAS_SYMBOL(text, "cublasGetStatusString", OPTIONAL),
    BLAS_SYMBOL(set_stream, "cublasSetStream_v2", REQUIRED),
    BLAS_SYMBOL(set_workspace, "cublasSetWorkspace_v2", REQUIRED),
    BLAS_SYMBOL(set_math, "cublasSetMathMode", REQUIRED),
    BLAS_SYMBOL(cuda_gemm, "cublasGemmStridedBatchedEx", REQUIRED),
    {NULL, 0, 0},
};
static const struct library_symbol hip_symbols[] = {
    BLAS_SYMBOL(create, "rocblas_create_handle", REQUIRED),
    BLAS_SYMBOL(destroy, "rocblas_destroy_handle", REQUIRED),
    BLAS_SYMBOL(text, "rocblas_status_to_string", OPTIONAL),
    BLAS_SYMBOL(version_text, "rocblas_get_version_string", REQUIRED),
    BLAS_SYMBOL(set_stream, "rocblas_set_stream", REQUIRED),
    BLAS_SYMBOL(set_workspace, "rocblas_set_workspace", REQUIRED),
    BLAS_SYMBOL(set_math, "rocblas_set_math_mode", OPTIONAL), /* since ROCm 5.7 */
    BLAS_SYMBOL(hip_gemm, "rocblas_gemm_strided_batched_ex", REQUIRED),
    {NULL, 0, 0},
};

/* ---- opening ---- */

/* cublasSetStream puts the library's own memory in place of ours, so that comes after it. */
static enum status use_stream(struct gpu_library *library, struct gpu_stream *stream, struct err *err)
{
    struct blas_ex_state *state = &library->state;
    if (state->has_stream && state->stream == stream)
        return STATUS_OK;
    state->has_stream = false;
    enum status status = BLAS_TRY(library, err, set_stream, library->handle, stream);
    if (!status)
        status =
            BLAS_TRY(library, err, set_workspace, library->handle, library->workspace, library->blas->workspace_bytes);
    state->has_stream = !status;
    state->stream = stream;
    return status;
}

static enum status open_ex(struct gpu_library *library, struct err *err)
{
    if (library->set_math && BLAS_TRY(library, err, set_math, library->handle, library->blas->numbers.exact))
        return err->status;
    /* Memory of its own, which it frees now, must not be freed while a kernel blocks a stream. */
    return use_stream(library, NULL, err);
}

/* ---- multiplying ---- */

static enum status use_math(struct gpu_library *library, bool xf32, struct err *err)
{
    const struct gpu_blas *blas = library->blas;
    if (xf32 == library->state.xf32)
        return STATUS_OK;
    if (!library->set_math)
        return err_set(err, ERR_UNSUPPORTED, "the device has no rocblas_set_math_mode: its %s lacks it",
                       blas->place.name);
    const enum status status =
        BLAS_TRY(library, err, set_math, library->handle, xf32 ? blas->numbers.xf32 : blas->numbers.exact);
    if (!status)
        library->state.xf32 = xf32;
    return status;
}

static enum status cuda_multiply(struct gpu_library *library, struct gpu *gpu, const struct blas_product *p,
                                 struct gpu_stream *stream, struct err *err)
{
    enum { CUBLAS_GEMM_DEFAULT = -1 };
    const int in = blas_type_number(library, p->in);
    const uint64_t elements = (uint64_t)((p->batch - 1) * p->next_d + (p->n - 1) * p->ldd + p->m);
    if (use_stream(library, stream, err) ||
        (p->c != p->d && gpu->vendor->copy(gpu, p->d, p->c, elements * blas_types[p->out].bytes, stream, false, err)))
        return err->status;
    return BLAS_TRY(library, err, cuda_gemm, library->handle, blas_operation(library, p->ta),
                    blas_operation(library, p->tb), (int)p->m, (int)p->n, (int)p->k, &p->alpha, p->a, in, (int)p->lda,
                    p->next_a, p->b, in, (int)p->ldb, p->next_b, &p->beta, p->d, blas_type_number(library, p->out),
                    (int)p->ldd, p->next_d, (int)p->batch, blas_sum_number(library, p->in), CUBLAS_GEMM_DEFAULT);
}

static enum status hip_multiply(struct gpu_library *library, UNUSED struct gpu *gpu, const struct blas_product *p,
                                struct gpu_stream *stream, struct err *err)
{
    const int in = blas_type_number(library, p->in), out = blas_type_number(library, p->out);
    if (use_stream(library, stream, err) || use_math(library, p->in == BLAS_XF32, err))
        return err->status;
    return BLAS_TRY(library, err, hip_gemm, library->handle, blas_operation(library, p->ta),
                    blas_operation(library, p->tb), (int)p->m, (int)p->n, (int)p->k, &p->alpha, p->a, in, (int)p->lda,
                    p->next_a, p->b, in, (int)p->ldb, p->next_b, &p->beta, p->c, out, (int)p->ldd, p->next_d, p->d, out,
                    (int)p->ldd, p->next_d, (int)p->batch, blas_sum_number(library, p->in), 0, 0, 0);
}

/* ---- the rows ---- */

const struct gpu_blas blas_cublas = {
    .backend = "cuda",
    .place = {"cublas", "ROOFTILE_CUBLAS",
              (const char *const[]){"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                    "/usr/local/cuda/lib64/libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.12",
                                    "/usr/local/cuda/lib64/libcublas.so.11", NULL},
              cuda_symbols, RTLD_LOCAL},
    .workspace_bytes = CUDA_WORKSPACE_BYTES,
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
                                    "/opt/rocm/lib/librocblas.so.3", "/opt/rocm/lib/librocblas.so.0", NULL},
              hip_symbols, RTLD_LOCAL},
    .workspace_bytes = HIP_WORKSPACE_BYTES,
    .numbers =
        {
            .types = {[BLAS_F16] = BLAS_TYPE(150),
                      [BLAS_F32] = BLAS_TYPE(151),
                      [BLAS_XF32] = BLAS_TYPE(151),
                      [BLAS_F64] = BLAS_TYPE(152),
                      [BLAS_I8] = BLAS_TYPE(160),
                      [BLAS_I32] = BLAS_TYPE(162),
                      [BLAS_BF16] = BLAS_TYPE(168)},
            .plain = 111,
            .transposed = 112,
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
