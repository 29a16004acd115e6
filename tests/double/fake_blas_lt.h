/* SPDX-License-Identifier: MIT
 *
 * The functions of cuBLASLt or of hipBLASLt, for fake_blas.c. Sizes of attributes and of the heuristic's result are the
 * libraries' own.
 */
#ifndef FAKE_BLAS_LT_H
#define FAKE_BLAS_LT_H

#ifdef FAKE_CUBLASLT
#define NAME(name) cublasLt##name
enum { INVALID_VALUE = 7, NOT_SUPPORTED = 15, NO_TURN = 0, TURN = 1 };
enum { DESC_TURN_A = 3, DESC_TURN_B = 4, LAYOUT_BATCH = 5, LAYOUT_STRIDE = 6 };
enum { PREF_WORKSPACE = 1, PREF_REDUCTIONS = 3, PREF_ALIGNMENTS = 5, RESULT_BYTES = 96 };
#else
#define NAME(name) hipblasLt##name
enum { INVALID_VALUE = 3, NOT_SUPPORTED = 7, NO_TURN = 111, TURN = 112 };
enum { DESC_TURN_A = 0, DESC_TURN_B = 1, LAYOUT_BATCH = 0, LAYOUT_STRIDE = 1 };
enum { PREF_WORKSPACE = 1, PREF_REDUCTIONS = -1, RESULT_BYTES = 64 };
#endif
#define ALGORITHM 0x616c676f72697468u

struct desc {
    int sum, scale;
    int32_t ta, tb;
};
struct layout {
    int type;
    uint64_t rows, columns;
    int64_t ld, next;
    int32_t batch;
};
struct preference {
    uint64_t workspace_bytes;
    uint32_t reductions, alignments[4];
};

int NAME(Create)(void **handle);
int NAME(Destroy)(void *handle);
int NAME(MatmulDescCreate)(void **desc, int sum, int scale);
int NAME(MatmulDescDestroy)(void *desc);
int NAME(MatmulDescSetAttribute)(void *desc, int attribute, const void *value, size_t size);
int NAME(MatrixLayoutCreate)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
int NAME(MatrixLayoutDestroy)(void *layout);
int NAME(MatrixLayoutSetAttribute)(void *layout, int attribute, const void *value, size_t size);
int NAME(MatmulPreferenceCreate)(void **preference);
int NAME(MatmulPreferenceDestroy)(void *preference);
int NAME(MatmulPreferenceSetAttribute)(void *preference, int attribute, const void *value, size_t size);
int NAME(MatmulAlgoGetHeuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
                                 int wanted, void *results, int *count);
int NAME(Matmul)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                 void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                 const void *algorithm, void *workspace, size_t workspace_bytes, void *stream);

static int set(void *to, size_t wanted, const void *value, size_t size)
{
    if (wanted != size)
        return INVALID_VALUE;
    memcpy(to, value, size);
    return 0;
}

int NAME(Create)(void **handle)
{
    MAY_FAIL();
    return make(handle);
}

int NAME(Destroy)(void *handle)
{
    return destroy(handle);
}

#ifdef FAKE_CUBLASLT
int cublasLtGetProperty(int part, int *value);
const char *cublasLtGetStatusString(int code);

int cublasLtGetProperty(int part, int *value)
{
    const int all = version(130100);
    MAY_FAIL();
    *value = part == 0 ? all / 10000 : part == 1 ? all / 100 % 100 : all % 100;
    return 0;
}

const char *cublasLtGetStatusString(int code)
{
    return code == NOT_SUPPORTED ? "the requested functionality is not supported" : "a fake error";
}
#else
int hipblasLtGetVersion(void *handle, int *value);

int hipblasLtGetVersion(void *handle, int *value)
{
    (void)handle;
    MAY_FAIL();
    *value = version(100203);
    return 0;
}
#endif

int NAME(MatmulDescCreate)(void **desc, int sum, int scale)
{
    MAY_FAIL();
    make(desc);
    *(struct desc *)*desc = (struct desc){sum, scale, NO_TURN, NO_TURN};
    return 0;
}

int NAME(MatmulDescDestroy)(void *desc)
{
    return destroy(desc);
}

int NAME(MatmulDescSetAttribute)(void *desc, int attribute, const void *value, size_t size)
{
    struct desc *to = desc;
    MAY_FAIL();
    if (attribute == DESC_TURN_A)
        return set(&to->ta, sizeof(to->ta), value, size);
    return attribute == DESC_TURN_B ? set(&to->tb, sizeof(to->tb), value, size) : INVALID_VALUE;
}

int NAME(MatrixLayoutCreate)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
    MAY_FAIL();
    make(layout);
    *(struct layout *)*layout = (struct layout){type, rows, columns, ld, 0, 1};
    return 0;
}

int NAME(MatrixLayoutDestroy)(void *layout)
{
    return destroy(layout);
}

int NAME(MatrixLayoutSetAttribute)(void *layout, int attribute, const void *value, size_t size)
{
    struct layout *to = layout;
    MAY_FAIL();
    if (attribute == LAYOUT_BATCH)
        return set(&to->batch, sizeof(to->batch), value, size);
    return attribute == LAYOUT_STRIDE ? set(&to->next, sizeof(to->next), value, size) : INVALID_VALUE;
}

int NAME(MatmulPreferenceCreate)(void **preference)
{
    MAY_FAIL();
    make(preference);
    *(struct preference *)*preference = (struct preference){0, 7, {256, 256, 256, 256}};
    return 0;
}

int NAME(MatmulPreferenceDestroy)(void *preference)
{
    return destroy(preference);
}

int NAME(MatmulPreferenceSetAttribute)(void *preference, int attribute, const void *value, size_t size)
{
    struct preference *to = preference;
    MAY_FAIL();
    if (attribute == PREF_WORKSPACE)
        return set(&to->workspace_bytes, sizeof(to->workspace_bytes), value, size);
    if (attribute == PREF_REDUCTIONS)
        return set(&to->reductions, sizeof(to->reductions), value, size);
#ifdef FAKE_CUBLASLT
    if (attribute >= PREF_ALIGNMENTS && attribute < PREF_ALIGNMENTS + 4)
        return set(&to->alignments[attribute - PREF_ALIGNMENTS], sizeof(to->alignments[0]), value, size);
#endif
    return INVALID_VALUE;
}

/* What the description and the layouts say, without operands; 0 when they contradict each other. */
static int combine(struct product *p, const struct desc *desc, const struct layout *a, const struct layout *b,
                   const struct layout *c, const struct layout *d)
{
    const uint64_t k = desc->ta == TURN ? a->rows : a->columns;
    const int scale = sum_of(desc->sum) == SUM_F64 ? 1 : sum_of(desc->sum) == SUM_I32 ? 10 : 0;
    *p = (struct product){.ta = desc->ta == TURN,
                          .tb = desc->tb == TURN,
                          .sum = sum_of(desc->sum),
                          .in = kind_of(a->type),
                          .out = kind_of(d->type),
                          .m = (int64_t)d->rows,
                          .n = (int64_t)d->columns,
                          .k = (int64_t)k,
                          .lda = a->ld,
                          .ldb = b->ld,
                          .ldc = c->ld,
                          .ldd = d->ld,
                          .next_a = a->next,
                          .next_b = b->next,
                          .next_c = c->next,
                          .next_d = d->next,
                          .batch = d->batch};
    return a->type == b->type && c->type == d->type && desc->scale == scale && a->batch == d->batch &&
           b->batch == d->batch && c->batch == d->batch && d->rows == (p->ta ? a->columns : a->rows) &&
           d->columns == (p->tb ? b->rows : b->columns) && k == (p->tb ? b->columns : b->rows) &&
           (desc->ta == TURN || desc->ta == NO_TURN) && (desc->tb == TURN || desc->tb == NO_TURN) && fits(p);
}

int NAME(MatmulAlgoGetHeuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
                                 int wanted, void *results, int *count)
{
    const struct preference *wish = preference;
    struct product product;
    uint64_t result[RESULT_BYTES / 8] = {ALGORITHM, (uintptr_t)desc};
    (void)handle;
    MAY_FAIL();
    ++state.heuristics;
    state.reductions = wish->reductions;
    for (int i = 0; i < 4; ++i)
        state.alignments[i] = wish->alignments[i];
    if (wanted < 1 || !combine(&product, desc, a, b, c, d))
        return INVALID_VALUE;
    if (!goes_together(&product))
        return NOT_SUPPORTED;
    *count = !getenv("FAKE_BLAS_NONE");
    memcpy(results, result, sizeof(result));
    return 0;
}

int NAME(Matmul)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                 void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                 const void *algorithm, void *workspace, size_t workspace_bytes, void *stream)
{
    const uint64_t *chosen = algorithm;
    struct product product;
    (void)handle;
    MAY_FAIL();
    if (!chosen || chosen[0] != ALGORITHM || chosen[1] != (uintptr_t)desc || !workspace ||
        !combine(&product, desc, a_layout, b_layout, c_layout, d_layout))
        return INVALID_VALUE;
    product.a = a;
    product.b = b;
    product.c = c;
    product.d = d;
    product.alpha = alpha;
    product.beta = beta;
    state.stream = stream;
    state.workspace = workspace;
    state.workspace_bytes = workspace_bytes;
    state.sum = ((const struct desc *)desc)->sum;
    multiply(&product);
    return 0;
}
#endif
