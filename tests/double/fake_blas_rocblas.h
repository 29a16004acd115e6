/* SPDX-License-Identifier: MIT
 *
 * The functions of rocBLAS, for fake_blas.c.
 */
#ifndef FAKE_BLAS_ROCBLAS_H
#define FAKE_BLAS_ROCBLAS_H

static void *stream, *workspace;
static size_t workspace_bytes;
static int math;

static void note(int sum)
{
    state.stream = stream;
    state.workspace = workspace;
    state.workspace_bytes = workspace_bytes;
    state.math = math;
    state.sum = sum;
}

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
    stream = to;
    return 0;
}

int rocblas_set_workspace(void *handle, void *memory, size_t size)
{
    (void)handle;
    MAY_FAIL();
    workspace = memory;
    workspace_bytes = size;
    return 0;
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
