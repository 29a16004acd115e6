/* SPDX-License-Identifier: MIT
 *
 * cuBLASLt and hipBLASLt: a product is described once (operation, layouts), the library's heuristic names its best
 * algorithm, and that runs. The first proposal is used, as in programs that do not tune.
 *
 * Numbers are those of cublasLt.h and cublas_api.h (CUDA 13.0; tests/unit/device/test_gpu_blas_numbers.c compares) and
 * of hipblaslt.h, hipblas-common.h and hip/library_types.h (ROCm 6.0 to 7.0).
 */
#include <dlfcn.h>

#include "gpu_blas.h"

#define SHARED(prefix)                                                                                                 \
    BLAS_SYMBOL(create, prefix "Create", REQUIRED), BLAS_SYMBOL(destroy, prefix "Destroy", REQUIRED),                  \
        BLAS_SYMBOL(desc_create, prefix "MatmulDescCreate", REQUIRED),                                                 \
        BLAS_SYMBOL(desc_destroy, prefix "MatmulDescDestroy", REQUIRED),                                               \
        BLAS_SYMBOL(desc_set, prefix "MatmulDescSetAttribute", REQUIRED),                                              \
        BLAS_SYMBOL(layout_create, prefix "MatrixLayoutCreate", REQUIRED),                                             \
        BLAS_SYMBOL(layout_destroy, prefix "MatrixLayoutDestroy", REQUIRED),                                           \
        BLAS_SYMBOL(layout_set, prefix "MatrixLayoutSetAttribute", REQUIRED),                                          \
        BLAS_SYMBOL(pref_create, prefix "MatmulPreferenceCreate", REQUIRED),                                           \
        BLAS_SYMBOL(pref_destroy, prefix "MatmulPreferenceDestroy", REQUIRED),                                         \
        BLAS_SYMBOL(pref_set, prefix "MatmulPreferenceSetAttribute", REQUIRED),                                        \
        BLAS_SYMBOL(heuristic, prefix "MatmulAlgoGetHeuristic", REQUIRED),                                             \
        BLAS_SYMBOL(matmul, prefix "Matmul", REQUIRED)

static const struct library_symbol cuda_symbols[] = {
    SHARED("cublasLt"),
    BLAS_SYMBOL(property, "cublasLtGetProperty", REQUIRED),
    BLAS_SYMBOL(text, "cublasLtGetStatusString", OPTIONAL),
    {NULL, 0, 0},
};
static const struct library_symbol hip_symbols[] = {
    SHARED("hipblasLt"),
    BLAS_SYMBOL(version_number, "hipblasLtGetVersion", REQUIRED),
    {NULL, 0, 0},
};

/* ---- what a product needs, determined once ---- */

void blas_lt_forget(struct gpu_library *library)
{
    struct blas_lt_plan *plan = &library->plan;
    if (plan->desc)
        library->desc_destroy(plan->desc);
    for (size_t i = 0; i < COUNT_OF(plan->layouts); ++i)
        if (plan->layouts[i])
            library->layout_destroy(plan->layouts[i]);
    if (plan->preference)
        library->pref_destroy(plan->preference);
    *plan = (struct blas_lt_plan){0};
}

static enum status describe_matrix(void **layout, const struct gpu_library *library, enum blas_type type, int64_t rows,
                                   int64_t columns, int64_t ld, int64_t next, int64_t batch, struct err *err)
{
    const struct blas_numbers *numbers = &library->blas->numbers;
    const int32_t count = (int32_t)batch;
    if (BLAS_TRY(library, err, layout_create, layout, blas_type_number(library, type), (uint64_t)rows,
                 (uint64_t)columns, ld) ||
        BLAS_TRY(library, err, layout_set, *layout, numbers->batch_count, &count, sizeof(count)))
        return err->status;
    return BLAS_TRY(library, err, layout_set, *layout, numbers->batch_stride, &next, sizeof(next));
}

/* Sets a preference; one that the library does not have (number 0) is ignored. */
static enum status wish(const struct gpu_library *library, int attribute, const void *value, size_t size,
                        struct err *err)
{
    return attribute ? BLAS_TRY(library, err, pref_set, library->plan.preference, attribute, value, size) : STATUS_OK;
}

static enum status describe_wishes(struct gpu_library *library, struct err *err)
{
    enum { NOT_IN_THE_RESULTS_TYPE = 3 }; /* CUBLASLT_REDUCTION_SCHEME_INPLACE | _COMPUTE_TYPE */
    const struct blas_numbers *numbers = &library->blas->numbers;
    const uint64_t workspace_bytes = library->blas->workspace_bytes;
    const uint32_t reductions = NOT_IN_THE_RESULTS_TYPE, *alignments = library->plan.alignments;
    if (BLAS_TRY(library, err, pref_create, &library->plan.preference) ||
        wish(library, numbers->workspace, &workspace_bytes, sizeof(workspace_bytes), err) ||
        wish(library, numbers->reductions, &reductions, sizeof(reductions), err))
        return err->status;
    for (size_t i = 0; i < BLAS_OPERANDS; ++i)
        if (wish(library, numbers->alignments[i], &alignments[i], sizeof(alignments[i]), err))
            return err->status;
    return STATUS_OK;
}

static void read_alignments(uint32_t alignments[static BLAS_OPERANDS], const struct blas_product *product)
{
    const void *const operands[BLAS_OPERANDS] = {product->a, product->b, product->c, product->d};
    for (size_t i = 0; i < BLAS_OPERANDS; ++i) {
        /* Computes the alignment of a pointer, as far as the libraries use it. */
        const uintptr_t most = 256, address = (uintptr_t)operands[i] | most;
        alignments[i] = (uint32_t)(address & (~address + 1));
    }
}

enum status blas_lt_describe(struct gpu_library *library, const struct blas_product *product, struct err *err)
{
    const struct blas_product *p = product;
    void **const layouts = library->plan.layouts;
    library->plan.shape = *p;
    read_alignments(library->plan.alignments, p);
    const struct blas_numbers *numbers = &library->blas->numbers;
    const int32_t ta = blas_operation(library, p->ta), tb = blas_operation(library, p->tb);
    void **desc = &library->plan.desc;
    if (BLAS_TRY(library, err, desc_create, desc, blas_sum_number(library, p->in),
                 blas_type_number(library, blas_types[p->in].sum)) ||
        BLAS_TRY(library, err, desc_set, *desc, numbers->transpose_a, &ta, sizeof(ta)) ||
        BLAS_TRY(library, err, desc_set, *desc, numbers->transpose_b, &tb, sizeof(tb)) ||
        describe_matrix(&layouts[0], library, p->in, p->ta ? p->k : p->m, p->ta ? p->m : p->k, p->lda, p->next_a,
                        p->batch, err) ||
        describe_matrix(&layouts[1], library, p->in, p->tb ? p->n : p->k, p->tb ? p->k : p->n, p->ldb, p->next_b,
                        p->batch, err) ||
        describe_matrix(&layouts[2], library, p->out, p->m, p->n, p->ldd, p->next_d, p->batch, err))
        return err->status;
    return describe_wishes(library, err);
}

static enum status choose(struct gpu_library *library, const struct blas_product *p, struct err *err)
{
    struct blas_lt_plan *plan = &library->plan;
    void **const layouts = plan->layouts;
    int count = 0;
    const enum status status = BLAS_TRY(library, err, heuristic, library->handle, plan->desc, layouts[0], layouts[1],
                                        layouts[2], layouts[2], plan->preference, 1, plan->result, &count);
    if (status == ERR_UNSUPPORTED || (!status && !count))
        return err_set(err, ERR_UNSUPPORTED,
                       "the device has no algorithm of %s for %s to %s, m %lld, n %lld, k %lld, rows of %lld, %lld and "
                       "%lld, TA %d, TB %d",
                       library->blas->place.name, blas_types[p->in].name, blas_types[p->out].name, (long long)p->n,
                       (long long)p->m, (long long)p->k, (long long)p->ldb, (long long)p->lda, (long long)p->ldd, p->tb,
                       p->ta);
    return status;
}

/* ---- multiplying ---- */

static enum status multiply(struct gpu_library *library, const struct blas_product *p, struct gpu_stream *stream,
                            struct err *err)
{
    struct blas_lt_plan *plan = &library->plan;
    void *const *layouts = plan->layouts;
    uint32_t alignments[BLAS_OPERANDS];
    read_alignments(alignments, p);
    /* The description and the choice of an algorithm depend on the shape and the alignments. */
    const bool is_planned = plan->is_chosen && !memcmp(p, &plan->shape, BLAS_SHAPE_BYTES) &&
                            !memcmp(alignments, plan->alignments, sizeof(alignments));
    if (!is_planned) {
        blas_lt_forget(library);
        if (blas_lt_describe(library, p, err) || choose(library, p, err))
            return err->status;
        plan->is_chosen = true;
    }
    return BLAS_TRY(library, err, matmul, library->handle, plan->desc, &p->alpha, p->a, layouts[0], p->b, layouts[1],
                    &p->beta, p->c, layouts[2], p->d, layouts[2], plan->result, library->workspace,
                    library->blas->workspace_bytes, stream);
}

/* ---- the libraries ---- */

const struct gpu_blas blas_cublaslt = {
    .backend = "cuda",
    .place = {"cublaslt", "ROOFTILE_CUBLASLT",
              (const char *const[]){"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11",
                                    "/usr/local/cuda/lib64/libcublasLt.so.13",
                                    "/usr/local/cuda/lib64/libcublasLt.so.12",
                                    "/usr/local/cuda/lib64/libcublasLt.so.11", NULL},
              cuda_symbols, RTLD_LOCAL},
    .workspace_bytes = CUDA_WORKSPACE_BYTES,
    .numbers =
        {
            .types = {CUDA_TYPES, [BLAS_E4M3] = BLAS_TYPE(28), [BLAS_E5M2] = BLAS_TYPE(29)},
            .plain = 0,
            .transposed = 1,
            .sum_f32 = 68,
            .sum_xf32 = 77,
            .sum_f64 = 70,
            .sum_i32 = 72,
            .not_initialized = 1,
            .unsupported = {15, 8}, /* NOT_SUPPORTED, ARCH_MISMATCH */
            .transpose_a = 3,
            .transpose_b = 4,
            .batch_count = 5,
            .batch_stride = 6,
            .workspace = 1,
            .reductions = 3,
            .alignments = {5, 6, 7, 8},
            .least = 110000,
        },
    .overrides = (const char *const[]){"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                       "CUBLAS_EMULATE_DOUBLE_PRECISION", NULL},
    .multiply = multiply,
};
const struct gpu_blas blas_hipblaslt = {
    .backend = "hip",
    .place = {"hipblaslt", "ROOFTILE_HIPBLASLT",
              (const char *const[]){"libhipblaslt.so.1", "libhipblaslt.so.0", "/opt/rocm/lib/libhipblaslt.so.1",
                                    "/opt/rocm/lib/libhipblaslt.so.0", NULL},
              hip_symbols, RTLD_LOCAL},
    .workspace_bytes = HIP_WORKSPACE_BYTES,
    .numbers =
        {
            .types = {CUDA_TYPES, [BLAS_E4M3] = BLAS_TYPE(28), [BLAS_E5M2] = BLAS_TYPE(29),
                      [BLAS_E4M3FNUZ] = BLAS_TYPE(1000), [BLAS_E5M2FNUZ] = BLAS_TYPE(1001)},
            .plain = 111,
            .transposed = 112,
            .sum_f32 = 2,
            .sum_xf32 = 6,
            .sum_f64 = 7,
            .sum_i32 = 9,
            .transpose_a = 0,
            .transpose_b = 1,
            .batch_count = 0,
            .batch_stride = 1,
            .workspace = 1,
            .not_initialized = 1,
            .unsupported = {7, 8}, /* NOT_SUPPORTED, ARCH_MISMATCH */
            .least = 600,          /* from ROCm 6.0, the first with these types */
        },
    .overrides = (const char *const[]){"HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32", "HIPBLASLT_TENSILE_LIBPATH", NULL},
    .multiply = multiply,
};
