/* SPDX-License-Identifier: MIT
 *
 * Libraries that the CPU device opens when they are installed (library.h). A library is a row of `known`, a function of
 * one a row of its `functions` with an adapter.
 *
 * BLAS writes over its C: with beta C is copied to D first, which is part of the time.
 *
 * The library's threads, as many as the device has, take the cores of the device's own, which sleep meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "library.h"

struct library_function {
    const char *symbol, *target; /* as manifests and as the library name it */
    void (*call)(void (*target)(void), void *const *args);
};

struct known_library {
    struct library_place place;
    const char *set_threads; /* void (int) */
    const char *describe;    /* char *(void) */
    const struct library_function *functions;
    size_t function_count;
};

struct cpu_library {
    struct cpu_library *next;
    const struct known_library *known;
    struct library_file file;
    char says[DEVICE_LIBRARY_TEXT];
};

/* ---- BLAS ---- */

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* of the CBLAS interface */

/* The operands of one product of the batch. */
struct operands {
    const void *a, *b, *c;
    void *d;
};

static struct operands product_at(const struct library_gemm *gemm, uint32_t i, size_t element_bytes)
{
    return (struct operands){
        .a = (const char *)gemm->a + i * gemm->next_a * element_bytes,
        .b = (const char *)gemm->b + i * gemm->next_b * element_bytes,
        .c = (const char *)gemm->c + i * gemm->next_d * element_bytes,
        .d = (char *)gemm->d + i * gemm->next_d * element_bytes,
    };
}

static void copy_c(const struct operands *operands, const struct library_gemm *gemm, size_t element_bytes)
{
    memcpy(operands->d, operands->c, (size_t)gemm->m * gemm->ldd * element_bytes);
}

static void gemm_f32(void (*target)(void), void *const *args)
{
    typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                       int);
    struct library_gemm gemm;
    library_read_gemm(&gemm, args);
    for (uint32_t i = 0; i < gemm.batch; ++i) {
        const struct operands of = product_at(&gemm, i, sizeof(float));
        if (gemm.beta != 0)
            copy_c(&of, &gemm, sizeof(float));
        ((sgemm *)target)(ROW_MAJOR, gemm.ta ? TRANS : NO_TRANS, gemm.tb ? TRANS : NO_TRANS, (int)gemm.m, (int)gemm.n,
                          (int)gemm.k, (float)gemm.alpha, of.a, (int)gemm.lda, of.b, (int)gemm.ldb, (float)gemm.beta,
                          of.d, (int)gemm.ldd);
    }
}

static void gemm_f64(void (*target)(void), void *const *args)
{
    typedef void dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                       int);
    struct library_gemm gemm;
    library_read_gemm(&gemm, args);
    for (uint32_t i = 0; i < gemm.batch; ++i) {
        const struct operands of = product_at(&gemm, i, sizeof(double));
        if (gemm.beta != 0)
            copy_c(&of, &gemm, sizeof(double));
        ((dgemm *)target)(ROW_MAJOR, gemm.ta ? TRANS : NO_TRANS, gemm.tb ? TRANS : NO_TRANS, (int)gemm.m, (int)gemm.n,
                          (int)gemm.k, gemm.alpha, of.a, (int)gemm.lda, of.b, (int)gemm.ldb, gemm.beta, of.d,
                          (int)gemm.ldd);
    }
}

static const struct library_function blas_functions[] = {
    {"gemm_f32_f32", "cblas_sgemm", gemm_f32},
    {"gemm_f64_f64", "cblas_dgemm", gemm_f64},
};

/* ---- the libraries ---- */

static const struct known_library known[] = {
    {{"openblas", "ROOFTILE_OPENBLAS", (const char *const[]){"libopenblas.so.0", "libopenblas.so", NULL}},
     "openblas_set_num_threads",
     "openblas_get_config",
     blas_functions,
     COUNT_OF(blas_functions)},
};

static const struct known_library *find_known(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(known); ++i)
        if (!strcmp(known[i].place.name, name))
            return &known[i];
    return NULL;
}

/* Its threads and its version. */
static enum status prepare(struct cpu_library *library, uint32_t threads, struct err *err)
{
    const struct known_library *row = library->known;
    void (*const set_threads)(void) = library_function(library->file.handle, row->set_threads);
    void (*const describe)(void) = library_function(library->file.handle, row->describe);
    if (!set_threads || !describe)
        return library_lacks(&row->place, set_threads ? row->describe : row->set_threads, err);
    ((void (*)(int))set_threads)((int)threads);
    snprintf(library->says, sizeof(library->says), "%s, %u thread%s", ((char *(*)(void))describe)(), threads,
             threads == 1 ? "" : "s");
    return STATUS_OK;
}

/* Threads inherit the caller's cores, and a library counts them when it is loaded. */
static enum status open_library(struct cpu_library **opened, struct cpu *cpu, const struct known_library *row,
                                struct err *err)
{
    struct cpu_library *library = new_zeroed(1, sizeof(*library));
    library->known = row;
    pool_release_caller(cpu->pool);
    enum status status = library_open(&library->file, &row->place, err);
    if (!status)
        status = prepare(library, pool_threads(cpu->pool), err);
    pool_hold_caller(cpu->pool);
    if (status) {
        library_close(&library->file);
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
        library_close(&library->file);
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
    struct device_module *module = new_zeroed(1, sizeof(*module));
    module->kernels = new_zeroed(row->function_count, sizeof(*module->kernels));
    for (size_t i = 0; i < row->function_count; ++i)
        module->kernels[i] =
            (struct device_kernel){.function = &row->functions[i],
                                   .target = library_function(library->file.handle, row->functions[i].target),
                                   .module = module};
    module->kernel_count = row->function_count;
    module->library = library;
    *loaded = module;
    return STATUS_OK;
}

enum status cpu_library_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err)
{
    const char *name = module->library->known->place.name;
    struct text names = {0};
    for (size_t i = 0; i < module->kernel_count; ++i) {
        const struct device_kernel *own = &module->kernels[i];
        text_addf(&names, "%s%s", i ? ", " : "", own->function->symbol);
        if (strcmp(own->function->symbol, symbol))
            continue;
        text_release(&names);
        if (!own->target)
            return err_set(err, ERR_UNSUPPORTED, "the device has no %s: its %s lacks it", own->function->target, name);
        library_describe_gemm(info, &module->library->file, module->library->says);
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
