/* SPDX-License-Identifier: MIT */
#include "fake_blas.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_blas_state state;

struct fake_blas_state *fake_blas_state(void)
{
    return &state;
}

#define FAKE_FAIL_VARIABLE "FAKE_BLAS_FAIL"
#include "fake_fail.h"

/* ---- elements ---- */

enum kind { NO_KIND, F64, F32, F16, BF16, I8, I32, E4M3, E5M2, E4M3FNUZ, E5M2FNUZ };

#if defined(FAKE_ROCBLAS)
static const struct {
    int number;
    enum kind kind;
} kinds[] = {{150, F16}, {151, F32}, {152, F64}, {160, I8}, {162, I32}, {168, BF16}};
#else
static const struct {
    int number;
    enum kind kind;
} kinds[] = {
    {0, F32},         {1, F64},         {2, F16}, {3, I8}, {10, I32}, {14, BF16},
#if defined(FAKE_CUBLASLT) || defined(FAKE_HIPBLASLT)
    {28, E4M3},       {29, E5M2},
#endif
#ifdef FAKE_HIPBLASLT
    {1000, E4M3FNUZ}, {1001, E5M2FNUZ},
#endif
};
#endif

static enum kind kind_of(int number)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i)
        if (kinds[i].number == number)
            return kinds[i].kind;
    return NO_KIND;
}

/* 8-bit floats: sign, exponent, `mantissa` bits; no infinities here. */
static double small_float(uint8_t bits, int mantissa, int bias)
{
    const int exponent = (bits & 0x7f) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    double value = exponent ? (1 << mantissa) + fraction : fraction;
    for (int e = (exponent ? exponent : 1) - bias - mantissa; e; e += e < 0 ? 1 : -1)
        value = e < 0 ? value / 2 : value * 2;
    return bits & 0x80 ? -value : value;
}

static double load(const void *base, enum kind kind, int64_t i)
{
    uint32_t bits;
    float wide;
    switch (kind) {
    case F64:
        return ((const double *)base)[i];
    case F32:
        return (double)((const float *)base)[i];
    case F16:
        return (double)((const _Float16 *)base)[i];
    case BF16:
        bits = (uint32_t)((const uint16_t *)base)[i] << 16;
        memcpy(&wide, &bits, sizeof(wide));
        return (double)wide;
    case I8:
        return ((const int8_t *)base)[i];
    case I32:
        return ((const int32_t *)base)[i];
    case E4M3:
        return small_float(((const uint8_t *)base)[i], 3, 7);
    case E5M2:
        return small_float(((const uint8_t *)base)[i], 2, 15);
    case E4M3FNUZ:
        return small_float(((const uint8_t *)base)[i], 3, 8);
    case E5M2FNUZ:
        return small_float(((const uint8_t *)base)[i], 2, 16);
    case NO_KIND:
        break;
    }
    return 0;
}

static void store(void *base, enum kind kind, int64_t i, double value)
{
    const float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof(bits));
    if (kind == F64)
        ((double *)base)[i] = value;
    else if (kind == F32)
        ((float *)base)[i] = wide;
    else if (kind == F16)
        ((_Float16 *)base)[i] = (_Float16)value;
    else if (kind == BF16) /* to nearest even */
        ((uint16_t *)base)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    else
        ((int32_t *)base)[i] = (int32_t)value;
}

/* Cut as matrix instructions that take xf32 cut it. */
static double cut(double value)
{
    const float wide = (float)value;
    uint32_t bits;
    float narrow;
    memcpy(&bits, &wide, sizeof(bits));
    bits &= ~0x1fffu;
    memcpy(&narrow, &bits, sizeof(narrow));
    return (double)narrow;
}

/* ---- products ---- */

enum sum { NO_SUM, SUM_F64, SUM_F32, SUM_XF32, SUM_I32 };

struct product {
    int ta, tb;
    enum sum sum;
    enum kind in, out;
    int64_t m, n, k, lda, ldb, ldc, ldd, next_a, next_b, next_c, next_d, batch;
    const void *a, *b, *c;
    void *d;
    const void *alpha, *beta;
};

static double scalar(const void *value, enum sum sum)
{
    return load(value, sum == SUM_F64 ? F64 : sum == SUM_I32 ? I32 : F32, 0);
}

static int goes_together(const struct product *p)
{
    if (p->in == F64)
        return p->sum == SUM_F64 && p->out == F64;
    if (p->in == I8)
        return p->sum == SUM_I32 && p->out == I32;
    if (p->in == F32)
        return (p->sum == SUM_F32 || p->sum == SUM_XF32) && p->out == F32;
    if (p->in == F16 || p->in == BF16)
        return p->sum == SUM_F32 && (p->out == p->in || p->out == F32);
    return p->sum == SUM_F32 && (p->out == F16 || p->out == BF16 || p->out == F32);
}

static int fits(const struct product *p)
{
    return p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0 && p->lda >= (p->ta ? p->k : p->m) &&
           p->ldb >= (p->tb ? p->n : p->k) && p->ldc >= p->m && p->ldd >= p->m;
}

static void multiply(const struct product *p)
{
    const double alpha = scalar(p->alpha, p->sum), beta = scalar(p->beta, p->sum);
    for (int64_t g = 0; g < p->batch; ++g)
        for (int64_t j = 0; j < p->n; ++j)
            for (int64_t i = 0; i < p->m; ++i) {
                double sum = 0;
                for (int64_t t = 0; t < p->k; ++t) {
                    const double a = load(p->a, p->in, g * p->next_a + (p->ta ? i * p->lda + t : t * p->lda + i));
                    const double b = load(p->b, p->in, g * p->next_b + (p->tb ? t * p->ldb + j : j * p->ldb + t));
                    sum += p->sum == SUM_XF32 ? cut(a) * cut(b) : a * b;
                }
                const double old = beta != 0 ? beta * load(p->c, p->out, g * p->next_c + j * p->ldc + i) : 0;
                store(p->d, p->out, g * p->next_d + j * p->ldd + i, alpha * sum + old);
            }
    ++state.products;
}

/* Numbers of cuBLAS and cuBLASLt, or of hipBLASLt. */
#if !defined(FAKE_ROCBLAS)
static enum sum sum_of(int number)
{
#ifdef FAKE_HIPBLASLT
    return number == 2 ? SUM_F32 : number == 6 ? SUM_XF32 : number == 7 ? SUM_F64 : number == 9 ? SUM_I32 : NO_SUM;
#else
    return number == 68 ? SUM_F32 : number == 77 ? SUM_XF32 : number == 70 ? SUM_F64 : number == 72 ? SUM_I32 : NO_SUM;
#endif
}
#endif

static int version(int usual)
{
    const char *told = getenv("FAKE_BLAS_VERSION");
    return told ? (int)strtol(told, NULL, 10) : usual;
}

static int make(void **out)
{
    *out = calloc(1, 512);
    ++state.live;
    return 0;
}

static int destroy(void *object)
{
    free(object);
    --state.live;
    return 0;
}

#ifdef FAKE_ROCBLAS
#include "fake_blas_rocblas.h"
#else
#include "fake_blas_lt.h"
#endif
