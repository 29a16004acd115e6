/* SPDX-License-Identifier: MIT
 *
 * Libraries that the CPU device opens when they are installed: what they reach is what a kernel of ours is set against.
 * A library is a row of `known`, a function of one a row of its `functions` with an adapter. Nothing here is linked.
 *
 *   gemm_f32, gemm_f64   D = alpha * A * B + beta * C by cblas_?gemm, batch by batch. Arguments: d, a, b, c; u32 m, n,
 * k, lda, ldb, ldd (row to row); u64 from one batch to the next of a, b, c and d; alpha, beta; u32 TA, TB, batch. BLAS
 * writes over its C: with beta C is copied to D first, which is part of the time.
 *
 * The library's threads, as many as the device has, take the cores of the device's own, which sleep meanwhile.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "rooftile/hash.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct library_function {
    const char *symbol, *target; /* as manifests and as the library name it */
    void (*call)(void (*target)(void), void *const *args);
    const struct kernel_arg *args;
    uint32_t arg_count;
};

struct known_library {
    const char *name;
    const char *variable;     /* of the environment: a file to be opened in place of these */
    const char *const *files; /* what to try; NULL-terminated */
    const char *set_threads;  /* void (int) */
    const char *describe;     /* char *(void) */
    const struct library_function *functions;
    size_t function_count;
};

struct cpu_library {
    struct cpu_library *next;
    const struct known_library *known;
    void *handle;
    char says[DEVICE_LIBRARY_TEXT];
    char sha256[HASH_TEXT];
};

/* ---- BLAS ---- */

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* of the CBLAS interface */

struct gemm {
    const char *a, *b, *c;
    char *d;
    int m, n, k, lda, ldb, ldd, ta, tb;
    uint32_t batch;
    uint64_t next_a, next_b, next_d; /* in elements */
};

static void *pointer_at(void *const *args, size_t at)
{
    void *pointer;
    memcpy(&pointer, args[at], sizeof(pointer));
    return pointer;
}

static uint32_t u32_at(void *const *args, size_t at)
{
    uint32_t value;
    memcpy(&value, args[at], sizeof(value));
    return value;
}

static uint64_t u64_at(void *const *args, size_t at)
{
    uint64_t value;
    memcpy(&value, args[at], sizeof(value));
    return value;
}

static struct gemm read_gemm(void *const *args)
{
    return (struct gemm){
        .d = pointer_at(args, 0),
        .a = pointer_at(args, 1),
        .b = pointer_at(args, 2),
        .c = pointer_at(args, 3),
        .m = (int)u32_at(args, 4),
        .n = (int)u32_at(args, 5),
        .k = (int)u32_at(args, 6),
        .lda = (int)u32_at(args, 7),
        .ldb = (int)u32_at(args, 8),
        .ldd = (int)u32_at(args, 9),
        .next_a = u64_at(args, 10),
        .next_b = u64_at(args, 11),
        .next_d = u64_at(args, 12),
        .ta = u32_at(args, 15) ? TRANS : NO_TRANS,
        .tb = u32_at(args, 16) ? TRANS : NO_TRANS,
        .batch = u32_at(args, 17),
    };
}

/* Operands of the next product of the batch. */
static void next_product(struct gemm *gemm, size_t element_bytes)
{
    gemm->a += gemm->next_a * element_bytes;
    gemm->b += gemm->next_b * element_bytes;
    gemm->c += gemm->next_d * element_bytes;
    gemm->d += gemm->next_d * element_bytes;
}

static void copy_c(const struct gemm *gemm, size_t element_bytes)
{
    memcpy(gemm->d, gemm->c, (size_t)gemm->m * (size_t)gemm->ldd * element_bytes);
}

static void gemm_f32(void (*target)(void), void *const *args)
{
    typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                       int);
    struct gemm gemm = read_gemm(args);
    float alpha, beta;
    memcpy(&alpha, args[13], sizeof(alpha));
    memcpy(&beta, args[14], sizeof(beta));
    for (uint32_t i = 0; i < gemm.batch; ++i, next_product(&gemm, sizeof(alpha))) {
        if (beta != 0)
            copy_c(&gemm, sizeof(alpha));
        ((sgemm *)target)(ROW_MAJOR, gemm.ta, gemm.tb, gemm.m, gemm.n, gemm.k, alpha,
                          (const float *)(const void *)gemm.a, gemm.lda, (const float *)(const void *)gemm.b, gemm.ldb,
                          beta, (float *)(void *)gemm.d, gemm.ldd);
    }
}

static void gemm_f64(void (*target)(void), void *const *args)
{
    typedef void dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                       int);
    struct gemm gemm = read_gemm(args);
    double alpha, beta;
    memcpy(&alpha, args[13], sizeof(alpha));
    memcpy(&beta, args[14], sizeof(beta));
    for (uint32_t i = 0; i < gemm.batch; ++i, next_product(&gemm, sizeof(alpha))) {
        if (beta != 0)
            copy_c(&gemm, sizeof(alpha));
        ((dgemm *)target)(ROW_MAJOR, gemm.ta, gemm.tb, gemm.m, gemm.n, gemm.k, alpha,
                          (const double *)(const void *)gemm.a, gemm.lda, (const double *)(const void *)gemm.b,
                          gemm.ldb, beta, (double *)(void *)gemm.d, gemm.ldd);
    }
}

/* clang-format off */
#define GEMM_ARGS(scalar) { {8, true}, {8, true}, {8, true}, {8, true}, \
                            {4, false}, {4, false}, {4, false}, {4, false}, {4, false}, {4, false}, \
                            {8, false}, {8, false}, {8, false}, {scalar, false}, {scalar, false}, \
                            {4, false}, {4, false}, {4, false} }
/* clang-format on */
static const struct kernel_arg gemm_f32_args[] = GEMM_ARGS(sizeof(float));
static const struct kernel_arg gemm_f64_args[] = GEMM_ARGS(sizeof(double));

static const struct library_function blas_functions[] = {
    {"gemm_f32", "cblas_sgemm", gemm_f32, gemm_f32_args, COUNT_OF(gemm_f32_args)},
    {"gemm_f64", "cblas_dgemm", gemm_f64, gemm_f64_args, COUNT_OF(gemm_f64_args)},
};

/* ---- the libraries ---- */

static const char *const openblas_files[] = {"libopenblas.so.0", "libopenblas.so", NULL};

static const struct known_library known[] = {
    {"openblas", "ROOFTILE_OPENBLAS", openblas_files, "openblas_set_num_threads", "openblas_get_config", blas_functions,
     COUNT_OF(blas_functions)},
};

static const struct known_library *find_known(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(known); ++i)
        if (!strcmp(known[i].name, name))
            return &known[i];
    return NULL;
}

/* ISO C has no conversion from dlsym's pointer to a function's; POSIX has. */
static void (*find_function(void *handle, const char *symbol))(void)
{
    void *const found = dlsym(handle, symbol);
    void (*function)(void) = NULL;
    memcpy(&function, &found, sizeof(function));
    return function;
}

static void *open_files(const struct known_library *library, struct err *err)
{
    const char *asked = getenv(library->variable);
    const char *const own[] = {asked, NULL};
    const char *const *files = asked && *asked ? own : library->files;
    struct text tried = {0};
    void *handle = NULL;
    for (size_t i = 0; files[i] && !handle; ++i) {
        handle = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
        const char *why = handle ? NULL : dlerror();
        if (why)
            text_addf(&tried, "%s%s", tried.length ? "; " : "", why);
    }
    if (!handle)
        err_set(err, ERR_UNSUPPORTED, "the device has no %s (%s)", library->name, tried.data);
    text_release(&tried);
    return handle;
}

/* Its threads, its version, its file. */
static enum status prepare(struct cpu_library *library, uint32_t threads, struct err *err)
{
    void (*const set_threads)(void) = find_function(library->handle, library->known->set_threads);
    void (*const describe)(void) = find_function(library->handle, library->known->describe);
    const char *name = library->known->name;
    struct link_map *file = NULL;
    if (!set_threads || !describe)
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s: what was opened in its place lacks %s", name,
                       set_threads ? library->known->describe : library->known->set_threads);
    ((void (*)(int))set_threads)((int)threads);
    snprintf(library->says, sizeof(library->says), "%s, %u thread%s", ((char *(*)(void))describe)(), threads,
             threads == 1 ? "" : "s");
    if (dlinfo(library->handle, RTLD_DI_LINKMAP, &file))
        return err_set(err, ERR_DEVICE, "%s: %s", name, dlerror());
    return hash_sha256_file(library->sha256, file->l_name, err);
}

/* Threads inherit the caller's cores, and a library counts them when it is loaded. */
static enum status open_library(struct cpu_library **opened, struct cpu *cpu, const struct known_library *row,
                                struct err *err)
{
    struct cpu_library *library = calloc(1, sizeof(*library));
    enum status status = STATUS_OK;
    if (!library)
        arena_out_of_memory(sizeof(*library));
    library->known = row;
    pool_release_caller(cpu->pool);
    library->handle = open_files(row, err);
    status = library->handle ? prepare(library, pool_threads(cpu->pool), err) : err->status;
    pool_hold_caller(cpu->pool);
    if (status) {
        if (library->handle)
            dlclose(library->handle);
        free(library);
        return status;
    }
    library->next = cpu->libraries;
    *opened = cpu->libraries = library;
    return STATUS_OK;
}

void cpu_libraries_settle(struct cpu *cpu)
{
    /* OpenBLAS: 2^26 clocks of the time stamp counter (THREAD_TIMEOUT of its blas_server.c), 34 ms at 2 GHz. */
    const struct timespec pause = {.tv_nsec = 50000000};
    if (cpu->library_ran)
        nanosleep(&pause, NULL);
    cpu->library_ran = false;
}

void cpu_libraries_close(struct cpu *cpu)
{
    while (cpu->libraries) {
        struct cpu_library *library = cpu->libraries;
        cpu->libraries = library->next;
        dlclose(library->handle);
        free(library);
    }
}

/* ---- modules and kernels ---- */

enum status cpu_library_load(struct device_module **loaded, struct device *device, const char *name, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    const struct known_library *row = find_known(name);
    struct cpu_library *library = cpu->libraries;
    if (!row)
        return err_set(err, ERR_UNSUPPORTED, "the device has no library '%s'", name);
    while (library && library->known != row)
        library = library->next;
    enum status status = library ? STATUS_OK : open_library(&library, cpu, row, err);
    if (status)
        return status;
    struct device_module *module = calloc(1, sizeof(*module));
    if (!module)
        arena_out_of_memory(sizeof(*module));
    module->kernels = calloc(row->function_count, sizeof(*module->kernels));
    if (!module->kernels)
        arena_out_of_memory(row->function_count * sizeof(*module->kernels));
    for (size_t i = 0; i < row->function_count; ++i)
        module->kernels[i] = (struct device_kernel){.function = &row->functions[i],
                                                    .target = find_function(library->handle, row->functions[i].target),
                                                    .module = module};
    module->kernel_count = row->function_count;
    module->library = library;
    *loaded = module;
    return STATUS_OK;
}

static void describe_function(struct kernel_info *info, const struct library_function *function,
                              const struct cpu_library *library)
{
    *info = (struct kernel_info){.arg_count = function->arg_count};
    memcpy(info->args, function->args, function->arg_count * sizeof(*function->args));
    memcpy(info->library, library->says, sizeof(info->library));
    memcpy(info->library_sha256, library->sha256, sizeof(info->library_sha256));
}

enum status cpu_library_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err)
{
    const char *name = module->library->known->name;
    struct text names = {0};
    for (size_t i = 0; i < module->kernel_count; ++i) {
        const struct device_kernel *own = &module->kernels[i];
        text_addf(&names, "%s%s", i ? ", " : "", own->function->symbol);
        if (strcmp(own->function->symbol, symbol))
            continue;
        text_release(&names);
        if (!own->target)
            return err_set(err, ERR_UNSUPPORTED, "the device has no %s: its %s lacks it", own->function->target, name);
        describe_function(info, own->function, module->library);
        *kernel = own;
        return STATUS_OK;
    }
    err_set(err, ERR_DEVICE, "no function '%s' of %s; there are %s", symbol, name, names.data);
    text_release(&names);
    return ERR_DEVICE;
}

void cpu_library_launch(struct cpu *cpu, const struct device_launch *launch)
{
    cpu->library_ran = true;
    launch->kernel->function->call(launch->kernel->target, launch->args);
}
