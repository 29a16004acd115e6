/* SPDX-License-Identifier: MIT
 *
 * OpenBLAS, which the CPU device opens if it is installed (library.h).
 *
 * BLAS overwrites its C: with a beta, C is first copied to D, which is part of the measured time. The library uses as
 * many threads as the device, on the same cores; the device's threads sleep meanwhile.
 */
#include <time.h>

#include "cpu.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* values of the CBLAS interface */

struct cpu_library {
    struct library_file file;
    void (*set_threads)(int threads);
    char *(*describe)(void);
    void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                  int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                  const double *b, int ldb, double beta, double *c, int ldc);
};

#define SYMBOL(member, name, need) LIBRARY_SYMBOL(struct cpu_library, member, name, need)
static const struct library_symbol symbols[] = {
    SYMBOL(set_threads, "openblas_set_num_threads", REQUIRED),
    SYMBOL(describe, "openblas_get_config", REQUIRED),
    SYMBOL(sgemm, "cblas_sgemm", OPTIONAL),
    SYMBOL(dgemm, "cblas_dgemm", OPTIONAL),
    {NULL, 0, 0},
};
static const struct library_place place = {
    .name = "openblas",
    .variable = "ROOFTILE_OPENBLAS",
    .files = (const char *const[]){"libopenblas.so.0", "libopenblas.so", NULL},
    .symbols = symbols,
};

/* ---- opening the library at first use; it stays open as long as the device ---- */

/* Threads inherit the caller's affinity, and a library counts its cores when it is loaded. */
static enum status open_library(struct cpu *cpu, struct err *err)
{
    const uint32_t threads = pool_threads(cpu->pool);
    struct cpu_library *library = cpu->library = new_zeroed(1, sizeof(*library));
    pool_release_caller(cpu->pool);
    const enum status status = library_open_named(&library->file, library, &place, err);
    if (!status) {
        library->set_threads((int)threads);
        SET_TEXT(library->file.says, "%s, %u thread%s", library->describe(), threads, text_s(threads));
    }
    pool_hold_caller(cpu->pool);
    if (status)
        cpu_library_close(cpu);
    return status;
}

void cpu_library_settle(struct cpu *cpu)
{
    /* OpenBLAS threads spin for 2^26 clocks of the time stamp counter (THREAD_TIMEOUT of its blas_server.c), 34 ms at
     * 2 GHz. */
    const struct timespec pause = {.tv_nsec = 50000000};
    if (cpu->library_ran)
        nanosleep(&pause, NULL);
    cpu->library_ran = false;
}

void cpu_library_close(struct cpu *cpu)
{
    if (cpu->library)
        library_close(&cpu->library->file);
    free(cpu->library);
    cpu->library = NULL;
}

/* ---- modules, kernels, launches ---- */

enum status cpu_library_load(struct device_module **loaded, struct device *device, const char *name, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    if (strcmp(name, place.name) != 0)
        return err_set(err, ERR_UNSUPPORTED, "the device has no library '%s'", name);
    if (!cpu->library && open_library(cpu, err))
        return err->status;
    struct device_module *module = new_zeroed(1, sizeof(*module));
    module->kernel_count = 2;
    module->kernels = new_zeroed(module->kernel_count, sizeof(*module->kernels));
    module->kernels[1].is_f64 = true;
    module->library = cpu->library;
    *loaded = module;
    return STATUS_OK;
}

enum status cpu_library_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err)
{
    const struct cpu_library *library = module->library;
    const bool is_f64 = strcmp(symbol, "gemm_f64_f64") == 0;
    if (!is_f64 && strcmp(symbol, "gemm_f32_f32") != 0)
        return err_set(err, ERR_DEVICE, "no function '%s' of %s; there are gemm_f32_f32, gemm_f64_f64", symbol,
                       place.name);
    if (is_f64 ? !library->dgemm : !library->sgemm)
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s: its %s lacks it",
                       is_f64 ? "cblas_dgemm" : "cblas_sgemm", place.name);
    library_describe_gemm(info, &library->file);
    *kernel = &module->kernels[is_f64];
    return STATUS_OK;
}

void cpu_library_launch(struct cpu *cpu, const struct device_launch *launch)
{
    const struct cpu_library *library = cpu->library;
    const bool is_f64 = launch->kernel->is_f64;
    const size_t bytes = is_f64 ? sizeof(double) : sizeof(float);
    struct library_gemm g;
    library_read_gemm(&g, launch->args);
    const int ta = g.ta ? TRANS : NO_TRANS, tb = g.tb ? TRANS : NO_TRANS;
    cpu->library_ran = true;
    for (uint32_t i = 0; i < g.batch; ++i) {
        const void *a = (const char *)g.a + i * g.next_a * bytes, *b = (const char *)g.b + i * g.next_b * bytes;
        void *d = (char *)g.d + i * g.next_d * bytes;
        if (g.beta != 0)
            memcpy(d, (const char *)g.c + i * g.next_d * bytes, (size_t)g.m * g.ldd * bytes);
        if (is_f64)
            library->dgemm(ROW_MAJOR, ta, tb, (int)g.m, (int)g.n, (int)g.k, g.alpha, a, (int)g.lda, b, (int)g.ldb,
                           g.beta, d, (int)g.ldd);
        else
            library->sgemm(ROW_MAJOR, ta, tb, (int)g.m, (int)g.n, (int)g.k, (float)g.alpha, a, (int)g.lda, b,
                           (int)g.ldb, (float)g.beta, d, (int)g.ldd);
    }
}
