/* SPDX-License-Identifier: MIT
 *
 * A stand-in for OpenBLAS: the products as the textbook has them. FAKE_OPENBLAS_NO_DOUBLE leaves one function out.
 */
#include <stdio.h>

enum { ROW_MAJOR = 101, TRANS = 112 };

static int threads;

void openblas_set_num_threads(int count);
char *openblas_get_config(void);
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc);

void openblas_set_num_threads(int count)
{
    threads = count;
}

char *openblas_get_config(void)
{
    static char config[64];
    snprintf(config, sizeof(config), "FakeBLAS for %d", threads);
    return config;
}

/* clang-format off */
#define PRODUCT \
    for (long i = 0; order == ROW_MAJOR && i < m; i++) \
        for (long j = 0; j < n; j++) { \
            double sum = 0; \
            for (long t = 0; t < k; t++) \
                sum += (double)(ta == TRANS ? a[t * lda + i] : a[i * lda + t]) * \
                       (double)(tb == TRANS ? b[j * ldb + t] : b[t * ldb + j]); \
            c[i * ldc + j] = (beta != 0 ? beta * c[i * ldc + j] : 0) + alpha * NUMBER(sum); \
        }
/* clang-format on */

#define NUMBER (float)
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc)
{
    PRODUCT
}

#ifndef FAKE_OPENBLAS_NO_DOUBLE
#undef NUMBER
#define NUMBER (double)
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc)
{
    PRODUCT
}
#endif
