/* SPDX-License-Identifier: MIT
 *
 * What the tests of GPUs' BLAS libraries share: the stand-ins, and products of small whole numbers, which are exact in
 * every type and order.
 */
#ifndef ROOFTILE_TESTS_BLAS_RIG_H
#define ROOFTILE_TESTS_BLAS_RIG_H

#include "../../../src/device/gpu_blas.h"
#include "../../double/fake_blas.h"
#include "gpu_rig.h"

enum { M = 3, N = 5, K = 4, GAP = 2, BATCH = 2, MOST = 64 };

struct blas_rig {
    const struct gpu_rig *gpu;
    const struct gpu_blas *blas;
    const char *fake, *says;
    int failure, lacks; /* error codes: of something, and that it is not there */
    /* Every function that is called on the way to the first product. */
    const char *functions[16];
};

static const struct blas_rig blas_rigs[] = {
    {&cuda_rig,
     &blas_cublaslt,
     "fake_cublaslt",
     "cublaslt 13.1.0, ",
     14,
     15,
     {"cublasLtCreate", "cublasLtGetProperty", "cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute",
      "cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutSetAttribute", "cublasLtMatmulPreferenceCreate",
      "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"}},
    {&hip_rig,
     &blas_rocblas,
     "fake_rocblas",
     "rocblas 4.2.1.fake, ",
     6,
     2,
     {"rocblas_create_handle", "rocblas_set_math_mode", "rocblas_get_version_string", "rocblas_set_stream",
      "rocblas_set_workspace", "rocblas_gemm_strided_batched_ex"}},
    {&hip_rig,
     &blas_hipblaslt,
     "fake_hipblaslt",
     "hipblaslt 1.2.3, ",
     6,
     7,
     {"hipblasLtCreate", "hipblasLtGetVersion", "hipblasLtMatmulDescCreate", "hipblasLtMatmulDescSetAttribute",
      "hipblasLtMatrixLayoutCreate", "hipblasLtMatrixLayoutSetAttribute", "hipblasLtMatmulPreferenceCreate",
      "hipblasLtMatmulPreferenceSetAttribute", "hipblasLtMatmulAlgoGetHeuristic", "hipblasLtMatmul"}},
};

/* The inside of a stand-in; its counts begin anew. */
static inline struct fake_blas_state *fake_blas(const char *name)
{
    struct fake_blas_state *(*get)(void);
    void *handle = dlopen(fake_path(name), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *address = dlsym(handle, "fake_blas_state");
    memcpy(&get, &address, sizeof(get));
    *get() = (struct fake_blas_state){.live = get()->live};
    return get();
}

/* A device whose library is this file: a stand-in where it is a name alone. */
static inline struct device *open_blas(const struct blas_rig *rig, const char *file)
{
    struct device_info info;
    struct device *device = open_fake(rig->gpu, rig->gpu->full, &info);
    setenv(rig->blas->place.variable, strncmp(file, "fake_", 5) ? file : fake_path(file), 1);
    unsetenv("FAKE_BLAS_FAIL");
    unsetenv("FAKE_BLAS_VERSION");
    unsetenv("FAKE_BLAS_NONE");
    return device;
}

/* ---- elements: whole numbers from -3 to 3, and what products of them are ---- */

static inline void put(void *array, enum blas_type type, size_t i, int value)
{
    static const uint8_t small[BLAS_TYPES][4] = {
        [BLAS_E4M3] = {0, 0x38, 0x40, 0x44},
        [BLAS_E5M2] = {0, 0x3c, 0x40, 0x42},
        [BLAS_E4M3FNUZ] = {0, 0x40, 0x48, 0x4c},
        [BLAS_E5M2FNUZ] = {0, 0x40, 0x44, 0x46},
    };
    const float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof(bits));
    if (type == BLAS_F64)
        ((double *)array)[i] = value;
    else if (type == BLAS_F32 || type == BLAS_XF32)
        ((float *)array)[i] = wide;
    else if (type == BLAS_F16)
        ((_Float16 *)array)[i] = (_Float16)wide;
    else if (type == BLAS_BF16)
        ((uint16_t *)array)[i] = (uint16_t)(bits >> 16);
    else if (type == BLAS_I32)
        ((int32_t *)array)[i] = value;
    else if (type == BLAS_I8)
        ((int8_t *)array)[i] = (int8_t)value;
    else
        ((uint8_t *)array)[i] = (uint8_t)(small[type][abs(value)] | (value < 0 ? 0x80 : 0));
}

static inline double get(const void *array, enum blas_type type, size_t i)
{
    float wide;
    if (type == BLAS_F64)
        return ((const double *)array)[i];
    if (type == BLAS_F32)
        return (double)((const float *)array)[i];
    if (type == BLAS_F16)
        return (double)((const _Float16 *)array)[i];
    if (type == BLAS_I32)
        return ((const int32_t *)array)[i];
    const uint32_t bits = (uint32_t)((const uint16_t *)array)[i] << 16;
    memcpy(&wide, &bits, sizeof(wide));
    return (double)wide;
}

static inline int operand(size_t i)
{
    return (int)((i * 5 + 3) % 7) - 3;
}

/* ---- a launch ---- */

struct launch_args {
    void *pointers[4];
    uint32_t m, n, k, lda, ldb, ldd, ta, tb, batch;
    uint64_t next_a, next_b, next_d;
    double alpha, beta;
    void *args[LIBRARY_GEMM_ARGS];
};

static inline void set_args(struct launch_args *to, bool ta, bool tb, double alpha, double beta)
{
    *to = (struct launch_args){.m = M,
                               .n = N,
                               .k = K,
                               .lda = (ta ? M : K) + GAP,
                               .ldb = (tb ? K : N) + GAP,
                               .ldd = N,
                               .ta = ta,
                               .tb = tb,
                               .batch = BATCH,
                               .next_d = M * N,
                               .alpha = alpha,
                               .beta = beta};
    to->next_a = (ta ? K : M) * to->lda;
    to->next_b = (tb ? N : K) * to->ldb;
    void *args[] = {&to->pointers[0], &to->pointers[1], &to->pointers[2], &to->pointers[3], &to->m,      &to->n,
                    &to->k,           &to->lda,         &to->ldb,         &to->ldd,         &to->next_a, &to->next_b,
                    &to->next_d,      &to->alpha,       &to->beta,        &to->ta,          &to->tb,     &to->batch};
    memcpy(to->args, args, sizeof(args));
}

/* A library that is loaded, and its function of these types with arguments that are ready. */
struct loaded {
    struct device_module *module;
    struct kernel_info info;
    struct launch_args args;
    struct device_launch launch;
    void *memory[4]; /* d, a, b, c */
};

static inline enum status load_gemm(struct loaded *to, struct device *device, const struct blas_rig *rig,
                                    enum blas_type in, enum blas_type out, struct err *err)
{
    char symbol[64];
    snprintf(symbol, sizeof(symbol), "gemm_%s_%s", blas_types[in].name, blas_types[out].name);
    *to = (struct loaded){.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
    enum status status = device->ops->load_library(&to->module, device, rig->blas->place.name, err);
    if (!status)
        status = device->ops->kernel(&to->launch.kernel, &to->info, device, to->module, symbol, err);
    for (size_t i = 0; i < COUNT_OF(to->memory) && !status; i++)
        status = device->ops->alloc(&to->memory[i], device, MOST * 8, SPACE_DEVICE, err);
    return status;
}

static inline void set_launch(struct loaded *to, enum blas_type in, enum blas_type out, bool ta, bool tb, double alpha,
                              double beta)
{
    const enum blas_type types[] = {out, in, in, out};
    set_args(&to->args, ta, tb, alpha, beta);
    memcpy(to->args.pointers, to->memory, sizeof(to->memory));
    for (size_t i = 0; i < MOST; i++)
        for (size_t which = 1; which < COUNT_OF(types); which++)
            put(to->memory[which], types[which], i, operand(which + i));
    memset(to->memory[0], 0x5a, MOST * 8);
    to->launch.args = to->args.args;
}

static inline double expected(const struct launch_args *p, size_t batch, size_t i, size_t j)
{
    const size_t a = batch * p->next_a, b = batch * p->next_b, d = batch * p->next_d + i * p->ldd + j;
    double sum = 0;
    for (size_t k = 0; k < p->k; k++)
        sum += operand(1 + a + (p->ta ? k * p->lda + i : i * p->lda + k)) *
               operand(2 + b + (p->tb ? j * p->ldb + k : k * p->ldb + j));
    return p->alpha * sum + p->beta * operand(3 + d);
}

#endif
