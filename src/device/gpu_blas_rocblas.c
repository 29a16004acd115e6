/* SPDX-License-Identifier: MIT
 *
 * rocBLAS: one call per product, which chooses its own algorithm. It is the only library for targets that hipBLASLt
 * does not support, such as gfx906 and gfx1030.
 *
 * Numbers are those of rocblas-types.h (ROCm 5.2 to 7.0; tests/unit/device/test_gpu_blas_numbers.c compares).
 */
#include <dlfcn.h>

#include "gpu_blas.h"

static const struct library_symbol symbols[] = {
    BLAS_SYMBOL(create, "rocblas_create_handle", REQUIRED),
    BLAS_SYMBOL(destroy, "rocblas_destroy_handle", REQUIRED),
    BLAS_SYMBOL(text, "rocblas_status_to_string", OPTIONAL),
    BLAS_SYMBOL(version_text, "rocblas_get_version_string", REQUIRED),
    BLAS_SYMBOL(set_stream, "rocblas_set_stream", REQUIRED),
    BLAS_SYMBOL(set_workspace, "rocblas_set_workspace", REQUIRED),
    BLAS_SYMBOL(set_math, "rocblas_set_math_mode", OPTIONAL), /* since ROCm 5.7 */
    BLAS_SYMBOL(gemm, "rocblas_gemm_strided_batched_ex", REQUIRED),
    {NULL, 0, 0},
};

static enum status use_stream(struct gpu_library *library, struct gpu_stream *stream, struct err *err)
{
    struct blas_handle_state *state = &library->state;
    if (state->has_stream && state->stream == stream)
        return STATUS_OK;
    state->has_stream = false;
    if (BLAS_TRY(library, err, set_stream, library->handle, stream) ||
        BLAS_TRY(library, err, set_workspace, library->handle, library->workspace, library->blas->workspace_bytes))
        return err->status;
    state->has_stream = true;
    state->stream = stream;
    return STATUS_OK;
}

static enum status open_handle(struct gpu_library *library, struct err *err)
{
    if (library->set_math && BLAS_TRY(library, err, set_math, library->handle, library->blas->numbers.exact))
        return err->status;
    /* rocBLAS now frees memory of its own, which must not happen while a kernel blocks a stream. */
    return use_stream(library, NULL, err);
}

static enum status multiply(struct gpu_library *library, const struct blas_product *p, struct gpu_stream *stream,
                            struct err *err)
{
    const struct blas_numbers *numbers = &library->blas->numbers;
    const int in = blas_type_number(library, p->in), out = blas_type_number(library, p->out);
    const bool xf32 = p->in == BLAS_XF32;
    if (use_stream(library, stream, err))
        return err->status;
    if (xf32 != library->state.xf32) {
        if (!library->set_math)
            return err_set(err, ERR_UNSUPPORTED, "the device has no rocblas_set_math_mode: its %s lacks it",
                           library->blas->place.name);
        if (BLAS_TRY(library, err, set_math, library->handle, xf32 ? numbers->xf32 : numbers->exact))
            return err->status;
        library->state.xf32 = xf32;
    }
    return BLAS_TRY(library, err, gemm, library->handle, blas_operation(library, p->ta), blas_operation(library, p->tb),
                    (int)p->m, (int)p->n, (int)p->k, &p->alpha, p->a, in, (int)p->lda, p->next_a, p->b, in, (int)p->ldb,
                    p->next_b, &p->beta, p->c, out, (int)p->ldd, p->next_d, p->d, out, (int)p->ldd, p->next_d,
                    (int)p->batch, blas_sum_number(library, p->in), 0, 0, 0);
}

const struct gpu_blas blas_rocblas = {
    .backend = "hip",
    .place = {"rocblas", "ROOFTILE_ROCBLAS",
              (const char *const[]){"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0",
                                    "/opt/rocm/lib/librocblas.so.5", "/opt/rocm/lib/librocblas.so.4",
                                    "/opt/rocm/lib/librocblas.so.3", "/opt/rocm/lib/librocblas.so.0", NULL},
              symbols, RTLD_LOCAL},
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
            .sum_xf32 = 151, /* set through the math mode */
            .sum_f64 = 152,
            .sum_i32 = 162,
            .exact = 0,
            .xf32 = 1,              /* rocblas_xf32_xdl_math_op */
            .unsupported = {2, 15}, /* not_implemented, arch_mismatch */
        },
    .overrides = (const char *const[]){"ROCBLAS_USE_HIPBLASLT", "ROCBLAS_TENSILE_LIBPATH", NULL},
    .open = open_handle,
    .multiply = multiply,
};
