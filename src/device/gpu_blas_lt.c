/* SPDX-License-Identifier: MIT
 *
 * cuBLASLt and hipBLASLt: a product is described once (operation, layouts), a heuristic of the library's own names its
 * best algorithm for it, and that runs. The first of its proposals is taken, as programs do that do not tune.
 *
 * Numbers are those of cublasLt.h and cublas_api.h (CUDA 13.0; tests/unit/device/test_gpu_blas_numbers.c compares) and
 * of hipblaslt.h, hipblas-common.h and hip/library_types.h (ROCm 6.0 to 7.0).
 */
#include <stdio.h>
#include <string.h>

#include "gpu_blas.h"

#define LT(member, name, need)                                                                                         \
    {                                                                                                                  \
        name, offsetof(struct blas_lt, member), need                                                                   \
    }
#define SHARED(prefix)                                                                                                 \
    LT(library.create, prefix "Create", SYMBOL_REQUIRED), LT(library.destroy, prefix "Destroy", SYMBOL_REQUIRED),      \
        LT(desc_create, prefix "MatmulDescCreate", SYMBOL_REQUIRED),                                                   \
        LT(desc_destroy, prefix "MatmulDescDestroy", SYMBOL_REQUIRED),                                                 \
        LT(desc_set, prefix "MatmulDescSetAttribute", SYMBOL_REQUIRED),                                                \
        LT(layout_create, prefix "MatrixLayoutCreate", SYMBOL_REQUIRED),                                               \
        LT(layout_destroy, prefix "MatrixLayoutDestroy", SYMBOL_REQUIRED),                                             \
        LT(layout_set, prefix "MatrixLayoutSetAttribute", SYMBOL_REQUIRED),                                            \
        LT(pref_create, prefix "MatmulPreferenceCreate", SYMBOL_REQUIRED),                                             \
        LT(pref_destroy, prefix "MatmulPreferenceDestroy", SYMBOL_REQUIRED),                                           \
        LT(pref_set, prefix "MatmulPreferenceSetAttribute", SYMBOL_REQUIRED),                                          \
        LT(heuristic, prefix "MatmulAlgoGetHeuristic", SYMBOL_REQUIRED), LT(matmul, prefix "Matmul", SYMBOL_REQUIRED)

static const struct library_symbol cuda_symbols[] = {
    SHARED("cublasLt"),
    LT(library.property, "cublasLtGetProperty", SYMBOL_REQUIRED),
    LT(library.text, "cublasLtGetStatusString", SYMBOL_OPTIONAL),
    {NULL, 0, 0},
};
static const struct library_symbol hip_symbols[] = {
    SHARED("hipblasLt"),
    LT(version, "hipblasLtGetVersion", SYMBOL_REQUIRED),
    {NULL, 0, 0},
};

#define LT_TRY(lt, err, member, ...)                                                                                   \
    blas_check(&(lt)->library, (lt)->member(__VA_ARGS__), offsetof(struct blas_lt, member), (err))

/* ---- opening ---- */

static enum status open_lt(struct gpu_library *library, char *version, size_t version_bytes, struct err *err)
{
    struct blas_lt *lt = (struct blas_lt *)library;
    int parts[3] = {0}, packed = 0;
    enum status status = STATUS_OK;
    if (library->property) {
        status = blas_property_version(parts, library, err);
        packed = parts[0] * 10000 + parts[1] * 100 + parts[2];
    } else {
        status = LT_TRY(lt, err, version, library->handle, &packed);
        parts[0] = packed / 100000;
        parts[1] = packed / 100 % 1000;
        parts[2] = packed % 100;
    }
    if (status)
        return status;
    snprintf(version, version_bytes, "%d.%d.%d", parts[0], parts[1], parts[2]);
    if (packed < library->blas->numbers.least)
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s that is new enough: %s is version %s",
                       library->blas->place.name, library->file.path, version);
    return STATUS_OK;
}

/* ---- what a product needs, found out once ---- */

void blas_lt_forget(struct blas_lt *lt)
{
    struct blas_lt_plan *plan = &lt->plan;
    if (plan->desc)
        lt->desc_destroy(plan->desc);
    for (size_t i = 0; i < COUNT_OF(plan->layouts); ++i)
        if (plan->layouts[i])
            lt->layout_destroy(plan->layouts[i]);
    if (plan->preference)
        lt->pref_destroy(plan->preference);
    *plan = (struct blas_lt_plan){0};
}

static enum status describe_operation(struct blas_lt *lt, const struct blas_product *product, struct err *err)
{
    const struct gpu_library *library = &lt->library;
    const struct blas_numbers *numbers = &library->blas->numbers;
    const int32_t turns[] = {blas_operation(library, product->ta), blas_operation(library, product->tb)};
    void *const *desc = &lt->plan.desc;
    enum status status = LT_TRY(lt, err, desc_create, &lt->plan.desc, blas_sum_number(library, product->in),
                                blas_type_number(library, blas_sum_type(product->in)));
    if (!status)
        status = LT_TRY(lt, err, desc_set, *desc, numbers->turn_a, &turns[0], sizeof(turns[0]));
    return status ? status : LT_TRY(lt, err, desc_set, *desc, numbers->turn_b, &turns[1], sizeof(turns[1]));
}

static enum status describe_matrix(void **layout, const struct blas_lt *lt, enum blas_type type, int64_t rows,
                                   int64_t columns, int64_t ld, int64_t next, int64_t batch, struct err *err)
{
    const struct blas_numbers *numbers = &lt->library.blas->numbers;
    const int32_t count = (int32_t)batch;
    enum status status = LT_TRY(lt, err, layout_create, layout, blas_type_number(&lt->library, type), (uint64_t)rows,
                                (uint64_t)columns, ld);
    if (!status)
        status = LT_TRY(lt, err, layout_set, *layout, numbers->batch_count, &count, sizeof(count));
    return status ? status : LT_TRY(lt, err, layout_set, *layout, numbers->batch_stride, &next, sizeof(next));
}

static enum status describe_wishes(struct blas_lt *lt, struct err *err)
{
    enum { NOT_IN_THE_RESULTS_TYPE = 3 }; /* CUBLASLT_REDUCTION_SCHEME_INPLACE | _COMPUTE_TYPE */
    const struct blas_numbers *numbers = &lt->library.blas->numbers;
    const uint64_t workspace_bytes = lt->library.blas->workspace_bytes;
    const uint32_t reductions = NOT_IN_THE_RESULTS_TYPE;
    enum status status = LT_TRY(lt, err, pref_create, &lt->plan.preference);
    if (!status)
        status = LT_TRY(lt, err, pref_set, lt->plan.preference, numbers->workspace, &workspace_bytes,
                        sizeof(workspace_bytes));
    if (!status && numbers->reductions)
        status = LT_TRY(lt, err, pref_set, lt->plan.preference, numbers->reductions, &reductions, sizeof(reductions));
    for (size_t i = 0; i < BLAS_OPERANDS && numbers->alignments[i] && !status; ++i)
        status = LT_TRY(lt, err, pref_set, lt->plan.preference, numbers->alignments[i], &lt->plan.alignments[i],
                        sizeof(lt->plan.alignments[i]));
    return status;
}

/* What a pointer is aligned to, as far as the libraries care. */
static uint32_t alignment_of(const void *pointer)
{
    const uintptr_t most = 256, address = (uintptr_t)pointer | most;
    return (uint32_t)(address & (~address + 1));
}

static void read_alignments(uint32_t alignments[static BLAS_OPERANDS], const struct blas_product *product)
{
    const void *const operands[BLAS_OPERANDS] = {product->a, product->b, product->c, product->d};
    for (size_t i = 0; i < BLAS_OPERANDS; ++i)
        alignments[i] = alignment_of(operands[i]);
}

enum status blas_lt_describe(struct blas_lt *lt, const struct blas_product *product, struct err *err)
{
    const struct blas_product *p = product;
    void **const layouts = lt->plan.layouts;
    lt->plan.shape = *p;
    read_alignments(lt->plan.alignments, p);
    enum status status = describe_operation(lt, p, err);
    if (!status)
        status = describe_matrix(&layouts[0], lt, p->in, p->ta ? p->k : p->m, p->ta ? p->m : p->k, p->lda, p->next_a,
                                 p->batch, err);
    if (!status)
        status = describe_matrix(&layouts[1], lt, p->in, p->tb ? p->n : p->k, p->tb ? p->k : p->n, p->ldb, p->next_b,
                                 p->batch, err);
    if (!status)
        status = describe_matrix(&layouts[2], lt, p->out, p->m, p->n, p->ldd, p->next_d, p->batch, err);
    return status ? status : describe_wishes(lt, err);
}

static enum status choose(struct blas_lt *lt, const struct blas_product *p, struct err *err)
{
    struct blas_lt_plan *plan = &lt->plan;
    void **const layouts = plan->layouts;
    int count = 0;
    const enum status status = LT_TRY(lt, err, heuristic, lt->library.handle, plan->desc, layouts[0], layouts[1],
                                      layouts[2], layouts[2], plan->preference, 1, plan->result, &count);
    if (status == ERR_UNSUPPORTED || (!status && !count))
        return err_set(err, ERR_UNSUPPORTED,
                       "the device has no algorithm of %s for %s to %s, m %lld, n %lld, k %lld, rows of %lld, %lld and "
                       "%lld, TA %d, TB %d",
                       lt->library.blas->place.name, blas_type_names[p->in], blas_type_names[p->out], (long long)p->n,
                       (long long)p->m, (long long)p->k, (long long)p->ldb, (long long)p->lda, (long long)p->ldd, p->tb,
                       p->ta);
    return status;
}

/* By all that a description, and the choice of an algorithm, look at. */
static bool is_planned(const struct blas_lt_plan *plan, const struct blas_product *p)
{
    const struct blas_product *q = &plan->shape;
    uint32_t alignments[BLAS_OPERANDS];
    read_alignments(alignments, p);
    return plan->is_chosen && p->in == q->in && p->out == q->out && p->ta == q->ta && p->tb == q->tb && p->m == q->m &&
           p->n == q->n && p->k == q->k && p->lda == q->lda && p->ldb == q->ldb && p->ldd == q->ldd &&
           p->next_a == q->next_a && p->next_b == q->next_b && p->next_d == q->next_d && p->batch == q->batch &&
           !memcmp(alignments, plan->alignments, sizeof(alignments));
}

static enum status make_plan(struct blas_lt *lt, const struct blas_product *product, struct err *err)
{
    blas_lt_forget(lt);
    enum status status = blas_lt_describe(lt, product, err);
    if (!status)
        status = choose(lt, product, err);
    lt->plan.is_chosen = !status;
    return status;
}

/* ---- multiplying ---- */

static enum status multiply(struct gpu_library *library, struct gpu *gpu, const struct blas_product *p,
                            struct gpu_stream *stream, struct err *err)
{
    struct blas_lt *lt = (struct blas_lt *)library;
    const struct blas_lt_plan *plan = &lt->plan;
    void *const *layouts = plan->layouts;
    (void)gpu;
    if (!is_planned(plan, p) && make_plan(lt, p, err))
        return err->status;
    return LT_TRY(lt, err, matmul, library->handle, plan->desc, &p->alpha, p->a, layouts[0], p->b, layouts[1], &p->beta,
                  p->c, layouts[2], p->d, layouts[2], plan->result, library->workspace, library->blas->workspace_bytes,
                  stream);
}

static void close_lt(struct gpu_library *library)
{
    blas_lt_forget((struct blas_lt *)library);
}

/* ---- the rows ---- */

const struct gpu_blas blas_cublaslt = {
    .backend = "cuda",
    .place = {"cublaslt", "ROOFTILE_CUBLASLT",
              (const char *const[]){"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11",
                                    "/usr/local/cuda/lib64/libcublasLt.so.13",
                                    "/usr/local/cuda/lib64/libcublasLt.so.12",
                                    "/usr/local/cuda/lib64/libcublasLt.so.11", NULL}},
    .workspace_bytes = CUDA_WORKSPACE_BYTES,
    .size_bytes = sizeof(struct blas_lt),
    .symbols = cuda_symbols,
    .numbers =
        {
            .types = {CUDA_TYPES, [BLAS_E4M3] = BLAS_TYPE(28), [BLAS_E5M2] = BLAS_TYPE(29)},
            CUBLAS_NUMBERS,
            .turn_a = 3,
            .turn_b = 4,
            .batch_count = 5,
            .batch_stride = 6,
            .workspace = 1,
            .reductions = 3,
            .alignments = {5, 6, 7, 8},
            .least = 110000,
        },
    .overrides = (const char *const[]){CUBLAS_OVERRIDES, NULL},
    .open = open_lt,
    .multiply = multiply,
    .close = close_lt,
};
const struct gpu_blas blas_hipblaslt = {
    .backend = "hip",
    .place = {"hipblaslt", "ROOFTILE_HIPBLASLT",
              (const char *const[]){"libhipblaslt.so.1", "libhipblaslt.so.0", "/opt/rocm/lib/libhipblaslt.so.1",
                                    "/opt/rocm/lib/libhipblaslt.so.0", NULL}},
    .workspace_bytes = HIP_WORKSPACE_BYTES,
    .size_bytes = sizeof(struct blas_lt),
    .symbols = hip_symbols,
    .numbers =
        {
            .types = {CUDA_TYPES, [BLAS_E4M3] = BLAS_TYPE(28), [BLAS_E5M2] = BLAS_TYPE(29),
                      [BLAS_E4M3FNUZ] = BLAS_TYPE(1000), [BLAS_E5M2FNUZ] = BLAS_TYPE(1001)},
            .straight = 111,
            .turned = 112,
            .sum_f32 = 2,
            .sum_xf32 = 6,
            .sum_f64 = 7,
            .sum_i32 = 9,
            .turn_a = 0,
            .turn_b = 1,
            .batch_count = 0,
            .batch_stride = 1,
            .workspace = 1,
            .not_initialized = 1,
            .unsupported = {7, 8}, /* NOT_SUPPORTED, ARCH_MISMATCH */
            .least = 600,          /* of ROCm 6.0: the first with these types */
        },
    .overrides = (const char *const[]){"HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32", "HIPBLASLT_TENSILE_LIBPATH", NULL},
    .open = open_lt,
    .multiply = multiply,
    .close = close_lt,
};
