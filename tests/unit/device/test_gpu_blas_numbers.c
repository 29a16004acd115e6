/* SPDX-License-Identifier: MIT
 *
 * Our numbers of the BLAS libraries, and prototypes of NVIDIA's, against the vendors' headers and NVIDIA's libraries,
 * where they are installed, or lie in the folder that ROOFTILE_ROCM_INCLUDE names. Headers are read as text, because
 * they want a compiler of their own. AMD's prototypes: scripts/check_rocm.
 */
#include "blas_rig.h"

/* ---- headers ---- */

struct header {
    struct arena arena;
    char *text;
};

/* False, which skips the test: it is not installed. */
static bool read_header(struct header *header, const char *const *paths)
{
    struct err err = {0};
    size_t length;
    *header = (struct header){0};
    for (; *paths; paths++)
        if (!access(*paths, R_OK) && !file_read(&header->text, &length, *paths, FILE_LIMIT_BYTES, &header->arena, &err))
            return true;
    return false;
}

static bool is_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind the next whole `name` that `then` follows, blanks apart; NULL: there is none. */
static const char *behind(const char *text, const char *name, char then)
{
    for (const char *at = text; (at = strstr(at, name)); at++) {
        const char *end = at + strlen(name);
        if ((at > text && is_name(at[-1])) || is_name(*end))
            continue;
        end += strspn(end, " \t\n");
        if (*end == then)
            return end + 1;
    }
    return NULL;
}

static void is_number(const struct header *header, const char *name, int ours)
{
    const char *value = behind(header->text, name, '=');
    if (!value || strtol(value, NULL, 0) != ours)
        fail_msg("the header has no %s = %d", name, ours);
}

/* Comments speak of it, too, without any. */
static void has_parameters(const struct header *header, const char *name, int ours)
{
    for (const char *at = header->text; (at = behind(at, name, '('));) {
        int theirs = 1;
        for (; *at && *at != ')'; at++)
            theirs += *at == ',';
        if (theirs == ours)
            return;
    }
    fail_msg("the header has no %s with %d parameters", name, ours);
}

struct number {
    const char *name;
    int ours;
};

static void are_numbers(const char *const *paths, const struct number *numbers, size_t count)
{
    struct header header;
    if (!read_header(&header, paths))
        skip();
    for (size_t i = 0; i < count; i++)
        is_number(&header, numbers[i].name, numbers[i].ours);
    arena_release(&header.arena);
}

#define CUDA_HEADER(name)                                                                                              \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        "/usr/local/cuda/include/" name, "/usr/include/" name, NULL                                                    \
    }
#define HIP_HEADER(name)                                                                                               \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        in_folder(name), "/opt/rocm/include/" name, "/usr/include/" name, NULL                                         \
    }

static const char *in_folder(const char *name)
{
    static char path[4096];
    const char *folder = getenv("ROOFTILE_ROCM_INCLUDE");
    snprintf(path, sizeof(path), "%s/%s", folder ? folder : "/opt/rocm/include", name);
    return path;
}

#define TYPE(numbers, type) BLAS_NUMBER((numbers)->types[type])

static void cuda_types_agree(void **state)
{
    const struct blas_numbers *lt = &blas_cublaslt.numbers;
    const struct number numbers[] = {
        {"CUDA_R_64F", TYPE(lt, BLAS_F64)},      {"CUDA_R_32F", TYPE(lt, BLAS_F32)},
        {"CUDA_R_32F", TYPE(lt, BLAS_XF32)},     {"CUDA_R_16F", TYPE(lt, BLAS_F16)},
        {"CUDA_R_16BF", TYPE(lt, BLAS_BF16)},    {"CUDA_R_8I", TYPE(lt, BLAS_I8)},
        {"CUDA_R_32I", TYPE(lt, BLAS_I32)},      {"CUDA_R_8F_E4M3", TYPE(lt, BLAS_E4M3)},
        {"CUDA_R_8F_E5M2", TYPE(lt, BLAS_E5M2)},
    };
    (void)state;
    are_numbers(CUDA_HEADER("library_types.h"), numbers, COUNT_OF(numbers));
}

static void cublas_agrees(void **state)
{
    const struct blas_numbers *lt = &blas_cublaslt.numbers;
    const struct number numbers[] = {
        {"CUBLAS_OP_N", lt->plain},
        {"CUBLAS_OP_T", lt->transposed},
        {"CUBLAS_COMPUTE_32F", lt->sum_f32},
        {"CUBLAS_COMPUTE_32F_FAST_TF32", lt->sum_xf32},
        {"CUBLAS_COMPUTE_64F", lt->sum_f64},
        {"CUBLAS_COMPUTE_32I", lt->sum_i32},
        {"CUBLAS_STATUS_NOT_INITIALIZED", lt->not_initialized},
        {"CUBLAS_STATUS_NOT_SUPPORTED", lt->unsupported[0]},
        {"CUBLAS_STATUS_ARCH_MISMATCH", lt->unsupported[1]},
    };
    (void)state;
    are_numbers(CUDA_HEADER("cublas_api.h"), numbers, COUNT_OF(numbers));
}

static void cublaslt_agrees(void **state)
{
    const struct blas_numbers *lt = &blas_cublaslt.numbers;
    const struct number numbers[] = {
        {"CUBLASLT_MATMUL_DESC_TRANSA", lt->transpose_a},
        {"CUBLASLT_MATMUL_DESC_TRANSB", lt->transpose_b},
        {"CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT", lt->batch_count},
        {"CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET", lt->batch_stride},
        {"CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES", lt->workspace},
        {"CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK", lt->reductions},
        {"CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES", lt->alignments[0]},
        {"CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES", lt->alignments[1]},
        {"CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES", lt->alignments[2]},
        {"CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES", lt->alignments[3]},
        {"CUBLASLT_REDUCTION_SCHEME_INPLACE", 1},
        {"CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE", 2},
        {"CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE", 4},
    };
    struct header header;
    (void)state;
    are_numbers(CUDA_HEADER("cublasLt.h"), numbers, COUNT_OF(numbers));
    if (!read_header(&header, CUDA_HEADER("cublasLt.h")))
        skip();
    has_parameters(&header, "cublasLtMatmulDescCreate", 3);
    has_parameters(&header, "cublasLtMatrixLayoutCreate", 5);
    has_parameters(&header, "cublasLtMatmulPreferenceSetAttribute", 4);
    has_parameters(&header, "cublasLtMatmulAlgoGetHeuristic", 10);
    has_parameters(&header, "cublasLtMatmul", 16);
    arena_release(&header.arena);
}

static void rocblas_agrees(void **state)
{
    const struct blas_numbers *ex = &blas_rocblas.numbers;
    const struct number numbers[] = {
        {"rocblas_operation_none", ex->plain},
        {"rocblas_operation_transpose", ex->transposed},
        {"rocblas_datatype_f16_r", TYPE(ex, BLAS_F16)},
        {"rocblas_datatype_f32_r", TYPE(ex, BLAS_F32)},
        {"rocblas_datatype_f32_r", TYPE(ex, BLAS_XF32)},
        {"rocblas_datatype_f64_r", TYPE(ex, BLAS_F64)},
        {"rocblas_datatype_bf16_r", TYPE(ex, BLAS_BF16)},
        {"rocblas_datatype_i8_r", TYPE(ex, BLAS_I8)},
        {"rocblas_datatype_i32_r", TYPE(ex, BLAS_I32)},
        {"rocblas_datatype_f32_r", ex->sum_f32},
        {"rocblas_datatype_f64_r", ex->sum_f64},
        {"rocblas_datatype_i32_r", ex->sum_i32},
        {"rocblas_status_not_implemented", ex->unsupported[0]},
        {"rocblas_gemm_algo_standard", 0},
    };
    (void)state;
    are_numbers(HIP_HEADER("rocblas/internal/rocblas-types.h"), numbers, COUNT_OF(numbers));
}

static void hipblas_agrees(void **state)
{
    const struct blas_numbers *lt = &blas_hipblaslt.numbers;
    const struct number numbers[] = {
        {"HIPBLAS_OP_N", lt->plain},
        {"HIPBLAS_OP_T", lt->transposed},
        {"HIPBLAS_COMPUTE_32F", lt->sum_f32},
        {"HIPBLAS_COMPUTE_32F_FAST_TF32", lt->sum_xf32},
        {"HIPBLAS_COMPUTE_64F", lt->sum_f64},
        {"HIPBLAS_COMPUTE_32I", lt->sum_i32},
        {"HIPBLAS_STATUS_NOT_INITIALIZED", lt->not_initialized},
        {"HIPBLAS_STATUS_NOT_SUPPORTED", lt->unsupported[0]},
        {"HIPBLAS_STATUS_ARCH_MISMATCH", lt->unsupported[1]},
    };
    (void)state;
    are_numbers(HIP_HEADER("hipblas-common/hipblas-common.h"), numbers, COUNT_OF(numbers));
}

static void hipblaslt_agrees(void **state)
{
    const struct blas_numbers *lt = &blas_hipblaslt.numbers;
    const struct number numbers[] = {
        {"HIPBLASLT_MATMUL_DESC_TRANSA", lt->transpose_a},
        {"HIPBLASLT_MATMUL_DESC_TRANSB", lt->transpose_b},
        {"HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT", lt->batch_count},
        {"HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET", lt->batch_stride},
        {"HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES", lt->workspace},
    };
    (void)state;
    are_numbers(HIP_HEADER("hipblaslt/hipblaslt.h"), numbers, COUNT_OF(numbers));
}

/* The numbers are those of gpu_collectives.c, which keeps them to itself. */
static void rccl_agrees(void **state)
{
    const struct number numbers[] = {{"ncclInt8", 0},    {"ncclInt32", 2},    {"ncclFloat16", 6}, {"ncclFloat32", 7},
                                     {"ncclFloat64", 8}, {"ncclBfloat16", 9}, {"ncclSum", 0},     {"ncclMax", 2}};
    (void)state;
    are_numbers(HIP_HEADER("rccl/rccl.h"), numbers, COUNT_OF(numbers));
}

/* ---- libraries ---- */

/* What is installed where a run would find it, with its functions; its handle is needed for nothing here. */
static void open_installed(struct gpu_library *library, const struct gpu_blas *blas)
{
    struct err err = {0};
    library->blas = blas;
    if (!library_open(&library->file, library, &blas->place, &err))
        return;
    if (strstr(err.text, " lacks "))
        fail_msg("%s", err.text);
    skip();
}

/* Descriptions need no GPU: attributes that cuBLASLt does not know, or of another size, it refuses. */
static void cublaslt_takes_descriptions(void **state)
{
    static const struct {
        enum blas_type in, out;
    } types[] = {{BLAS_F64, BLAS_F64}, {BLAS_F32, BLAS_F32}, {BLAS_XF32, BLAS_F32},
                 {BLAS_F16, BLAS_F16}, {BLAS_I8, BLAS_I32},  {BLAS_E4M3, BLAS_BF16}};
    struct gpu_library lt = {0};
    struct err err = {0};
    int major = 0;
    (void)state;
    open_installed(&lt, &blas_cublaslt);
    assert_int_equal(lt.property(0, &major), 0);
    assert_in_range(major, 11, 99);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const struct blas_product product = {.in = types[i].in,
                                             .out = types[i].out,
                                             .ta = true,
                                             .m = 64,
                                             .n = 48,
                                             .k = 32,
                                             .lda = 32,
                                             .ldb = 32,
                                             .ldd = 64,
                                             .next_a = 2048,
                                             .next_b = 1536,
                                             .next_d = 3072,
                                             .batch = 2};
        if (blas_lt_describe(&lt, &product, &err))
            fail_msg("%s: %s", blas_types[types[i].in].name, err.text);
        blas_lt_forget(&lt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuda_types_agree), cmocka_unit_test(cublas_agrees),
        cmocka_unit_test(cublaslt_agrees),  cmocka_unit_test(rocblas_agrees),
        cmocka_unit_test(hipblas_agrees),   cmocka_unit_test(hipblaslt_agrees),
        cmocka_unit_test(rccl_agrees),      cmocka_unit_test(cublaslt_takes_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
