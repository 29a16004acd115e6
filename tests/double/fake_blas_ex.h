/* SPDX-License-Identifier: MIT
 *
 * The functions of cuBLAS or of rocBLAS, for fake_blas.c.
 */
#ifndef FAKE_BLAS_EX_H
#define FAKE_BLAS_EX_H

static void *stream, *workspace;
static size_t workspace_bytes;
static int math;

/* The same steps whichever the names. */
static int use_stream(void *to)
{
    stream = to;
#ifdef FAKE_CUBLAS
    workspace = NULL;
#endif
    return 0;
}

static int use_workspace(void *memory, size_t size)
{
    workspace = memory;
    workspace_bytes = size;
    return 0;
}

static void note(int sum)
{
    state.stream = stream;
    state.workspace = workspace;
    state.workspace_bytes = workspace_bytes;
    state.math = math;
    state.sum = sum;
}

#ifdef FAKE_CUBLAS
enum { INVALID_VALUE = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };

int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSetStream_v2(void *handle, void *to);
int cublasSetWorkspace_v2(void *handle, void *memory, size_t size);
int cublasSetMathMode(void *handle, int mode);
int cublasGetProperty(int part, int *value);
const char *cublasGetStatusString(int code);
int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
                               int a_type, int lda, long long next_a, const void *b, int b_type, int ldb,
                               long long next_b, const void *beta, void *c, int c_type, int ldc, long long next_c,
                               int batch, int sum_type, int algorithm);

int cublasCreate_v2(void **handle)
{
    MAY_FAIL();
    return make(handle);
}

int cublasDestroy_v2(void *handle)
{
    return destroy(handle);
}

int cublasSetStream_v2(void *handle, void *to)
{
    (void)handle;
    MAY_FAIL();
    return use_stream(to);
}

int cublasSetWorkspace_v2(void *handle, void *memory, size_t size)
{
    (void)handle;
    MAY_FAIL();
    return use_workspace(memory, size);
}

#ifndef FAKE_BLAS_OLD
int cublasSetMathMode(void *handle, int mode)
{
    (void)handle;
    MAY_FAIL();
    math = mode;
    return 0;
}
#endif

int cublasGetProperty(int part, int *value)
{
    const int all = version(130100);
    MAY_FAIL();
    *value = part == 0 ? all / 10000 : part == 1 ? all / 100 % 100 : all % 100;
    return 0;
}

const char *cublasGetStatusString(int code)
{
    return code == NOT_SUPPORTED ? "the requested functionality is not supported" : "a fake error";
}

int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
                               int a_type, int lda, long long next_a, const void *b, int b_type, int ldb,
                               long long next_b, const void *beta, void *c, int c_type, int ldc, long long next_c,
                               int batch, int sum_type, int algorithm)
{
    const struct product product = {
        ta == 1, tb == 1, sum_of(sum_type), kind_of(a_type), kind_of(c_type), m, n, k, lda, ldb,   ldc, ldc,
        next_a,  next_b,  next_c,           next_c,          batch,           a, b, c, c,   alpha, beta};
    (void)handle;
    MAY_FAIL();
    if (!workspace)
        return INTERNAL_ERROR;
    if (a_type != b_type || !goes_together(&product))
        return NOT_SUPPORTED;
    if ((unsigned)ta > 1 || (unsigned)tb > 1 || algorithm != -1 || !fits(&product))
        return INVALID_VALUE;
    note(sum_type);
    multiply(&product);
    return 0;
}

#else
enum { NOT_IMPLEMENTED = 2, INVALID_SIZE = 4, INTERNAL_ERROR = 6, NO_TURN = 111, TURN = 112 };

int rocblas_create_handle(void **handle);
int rocblas_destroy_handle(void *handle);
int rocblas_set_stream(void *handle, void *to);
int rocblas_set_workspace(void *handle, void *memory, size_t size);
int rocblas_set_math_mode(void *handle, int mode);
int rocblas_get_version_string(char *text, size_t size);
const char *rocblas_status_to_string(int code);
int rocblas_gemm_strided_batched_ex(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
                                    int a_type, int lda, int64_t next_a, const void *b, int b_type, int ldb,
                                    int64_t next_b, const void *beta, const void *c, int c_type, int ldc,
                                    int64_t next_c, void *d, int d_type, int ldd, int64_t next_d, int batch,
                                    int sum_type, int algorithm, int32_t solution, uint32_t flags);

int rocblas_create_handle(void **handle)
{
    MAY_FAIL();
    return make(handle);
}

int rocblas_destroy_handle(void *handle)
{
    return destroy(handle);
}

int rocblas_set_stream(void *handle, void *to)
{
    (void)handle;
    MAY_FAIL();
    return use_stream(to);
}

int rocblas_set_workspace(void *handle, void *memory, size_t size)
{
    (void)handle;
    MAY_FAIL();
    return use_workspace(memory, size);
}

#ifndef FAKE_BLAS_OLD
int rocblas_set_math_mode(void *handle, int mode)
{
    (void)handle;
    MAY_FAIL();
    math = mode;
    return 0;
}
#endif

int rocblas_get_version_string(char *text, size_t size)
{
    MAY_FAIL();
    snprintf(text, size, "%d.2.1.fake", version(4));
    return 0;
}

const char *rocblas_status_to_string(int code)
{
    return code == NOT_IMPLEMENTED ? "rocblas_status_not_implemented" : "a fake error";
}

int rocblas_gemm_strided_batched_ex(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
                                    int a_type, int lda, int64_t next_a, const void *b, int b_type, int ldb,
                                    int64_t next_b, const void *beta, const void *c, int c_type, int ldc,
                                    int64_t next_c, void *d, int d_type, int ldd, int64_t next_d, int batch,
                                    int sum_type, int algorithm, int32_t solution, uint32_t flags)
{
    const enum sum sum = sum_type == 152         ? SUM_F64
                         : sum_type == 162       ? SUM_I32
                         : sum_type != 151       ? NO_SUM
                         : math && a_type == 151 ? SUM_XF32
                                                 : SUM_F32;
    const struct product product = {
        ta == TURN, tb == TURN, sum,    kind_of(a_type), kind_of(d_type), m, n, k, lda, ldb,   ldc, ldd,
        next_a,     next_b,     next_c, next_d,          batch,           a, b, c, d,   alpha, beta};
    (void)handle;
    MAY_FAIL();
    if (!workspace)
        return INTERNAL_ERROR;
    if (a_type != b_type || c_type != d_type || !goes_together(&product) || algorithm || solution || flags)
        return NOT_IMPLEMENTED;
    if ((ta != NO_TURN && ta != TURN) || (tb != NO_TURN && tb != TURN) || !fits(&product))
        return INVALID_SIZE;
    note(sum_type);
    multiply(&product);
    return 0;
}
#endif
#endif
