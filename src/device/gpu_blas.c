/* SPDX-License-Identifier: MIT */
#include "gpu_blas.h"

#include "gpu_collectives.h"

static const struct gpu_blas *const known[] = {&blas_cublaslt, &blas_rocblas, &blas_hipblaslt};

/* ---- for the adapters ---- */

const struct blas_type_row blas_types[BLAS_TYPES] = {
#define FLOAT8 1, BLAS_F32, {BLAS_F16, BLAS_BF16, BLAS_F32}, 3
    [BLAS_F64] = {"f64", 8, BLAS_F64, {BLAS_F64}, 1},
    [BLAS_F32] = {"f32", 4, BLAS_F32, {BLAS_F32}, 1},
    [BLAS_XF32] = {"xf32", 4, BLAS_F32, {BLAS_F32}, 1},
    [BLAS_F16] = {"f16", 2, BLAS_F32, {BLAS_F16, BLAS_F32}, 2},
    [BLAS_BF16] = {"bf16", 2, BLAS_F32, {BLAS_BF16, BLAS_F32}, 2},
    [BLAS_I8] = {"i8", 1, BLAS_I32, {BLAS_I32}, 1},
    [BLAS_I32] = {"i32", 4, BLAS_I32, {0}, 0},
    [BLAS_E4M3] = {"e4m3", FLOAT8},
    [BLAS_E5M2] = {"e5m2", FLOAT8},
    [BLAS_E4M3FNUZ] = {"e4m3fnuz", FLOAT8},
    [BLAS_E5M2FNUZ] = {"e5m2fnuz", FLOAT8},
};

int blas_sum_number(const struct gpu_library *library, enum blas_type in)
{
    const struct blas_numbers *numbers = &library->blas->numbers;
    return in == BLAS_F64    ? numbers->sum_f64
           : in == BLAS_I8   ? numbers->sum_i32
           : in == BLAS_XF32 ? numbers->sum_xf32
                             : numbers->sum_f32;
}

int blas_operation(const struct gpu_library *library, bool transposed)
{
    return transposed ? library->blas->numbers.transposed : library->blas->numbers.plain;
}

int blas_type_number(const struct gpu_library *library, enum blas_type type)
{
    return BLAS_NUMBER(library->blas->numbers.types[type]);
}

bool blas_knows(const struct gpu_blas *blas, enum blas_type type)
{
    return blas->numbers.types[type] != 0;
}

enum status blas_check(const struct gpu_library *library, int code, size_t offset, struct err *err)
{
    const struct blas_numbers *numbers = &library->blas->numbers;
    const struct library_symbol *symbol = library->blas->place.symbols;
    if (!code)
        return STATUS_OK;
    while (symbol->offset != offset)
        ++symbol;
    const bool lacks = code == numbers->unsupported[0] || code == numbers->unsupported[1];
    const char *text = library->text ? library->text(code) : NULL;
    return err_set(err, lacks ? ERR_UNSUPPORTED : ERR_DEVICE, "%s: %s (%d)", symbol->name, text ? text : "error", code);
}

/* Reports what the library itself calls unsupported, as a reason to skip a case. */
static enum status lacks(const char *what, const char *name, struct err *err)
{
    static const char *const begin = "the device has no ";
    if (err->status == ERR_UNSUPPORTED && !text_starts(err->text, begin))
        err_within(err, "%s%s %s", begin, what, name);
    return err->status;
}

/* ---- libraries ---- */

/* The file stays loaded, because the driver knows its kernels. */
static void close_library(struct gpu_library *library, struct gpu *gpu)
{
    blas_lt_forget(library);
    if (library->handle)
        library->destroy(library->handle);
    gpu_free(&gpu->device, library->workspace);
    free(library);
}

void gpu_blas_close(struct gpu *gpu)
{
    while (gpu->libraries) {
        struct gpu_library *library = gpu->libraries;
        gpu->libraries = library->next;
        close_library(library, gpu);
    }
}

/* Reads the version as text, in one of three ways, and checks that it is new enough. */
static enum status read_version(char *version, size_t size, const struct gpu_library *library, struct err *err)
{
    int parts[3] = {0}, packed = 0;
    if (library->version_text)
        return BLAS_TRY(library, err, version_text, version, size);
    if (library->version_number) {
        if (BLAS_TRY(library, err, version_number, library->handle, &packed))
            return err->status;
        parts[0] = packed / 100000;
        parts[1] = packed / 100 % 1000;
        parts[2] = packed % 100;
    } else {
        for (int i = 0; i < 3; ++i)
            if (BLAS_TRY(library, err, property, i, &parts[i]))
                return err->status;
        packed = parts[0] * 10000 + parts[1] * 100 + parts[2];
    }
    snprintf(version, size, "%d.%d.%d", parts[0], parts[1], parts[2]);
    if (packed < library->blas->numbers.least)
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s that is new enough: %s is version %s",
                       library->blas->place.name, library->file.path, version);
    return STATUS_OK;
}

static enum status prepare(struct gpu_library *library, struct gpu *gpu, struct err *err)
{
    const struct gpu_blas *blas = library->blas;
    char version[64] = "";
    if (library_open_named(&library->file, library, &blas->place, err) ||
        gpu_alloc(&library->workspace, &gpu->device, blas->workspace_bytes, SPACE_DEVICE, err))
        return err->status;
    const int code = library->create(&library->handle);
    /* A library that is too new for its driver, or does not support the device, fails here. */
    if (code) {
        library->handle = NULL;
        blas_check(library, code, offsetof(struct gpu_library, create), err);
        err->status = code == blas->numbers.not_initialized ? ERR_UNSUPPORTED : err->status;
    }
    if (code || read_version(version, sizeof(version), library, err) || (blas->open && blas->open(library, err)))
        return lacks("usable", blas->place.name, err);
    /* "cublaslt 13.1.0, /usr/local/cuda/lib64/libcublasLt.so.13, NVIDIA_TF32_OVERRIDE=1" */
    SCOPED(text_release) struct text says = {0};
    text_addf(&says, "%s %s, %s", library->blas->place.name, version, library->file.path);
    for (const char *const *name = library->blas->overrides; *name; ++name) {
        const char *value = getenv(*name);
        if (value && *value)
            text_addf(&says, ", %s=%s", *name, value);
    }
    SET_TEXT(library->file.says, "%s", says.data);
    return STATUS_OK;
}

/* ---- functions ---- */

static union blas_scalar scalar(double value, enum blas_type sum)
{
    if (sum == BLAS_F64)
        return (union blas_scalar){.f64 = value};
    if (sum == BLAS_I32)
        return (union blas_scalar){.i32 = (int32_t)value};
    return (union blas_scalar){.f32 = (float)value};
}

/* BLAS is column-major: there, a row-major matrix is its transpose, and D = A * B becomes D' = B' * A'. */
static struct blas_product by_columns(const struct library_gemm *gemm, enum blas_type in, enum blas_type out)
{
    const enum blas_type sum = blas_types[in].sum;
    return (struct blas_product){
        .in = in,
        .out = out,
        .ta = gemm->tb,
        .tb = gemm->ta,
        .m = gemm->n,
        .n = gemm->m,
        .k = gemm->k,
        .lda = gemm->ldb,
        .ldb = gemm->lda,
        .ldd = gemm->ldd,
        .next_a = (int64_t)gemm->next_b,
        .next_b = (int64_t)gemm->next_a,
        .next_d = (int64_t)gemm->next_d,
        .batch = gemm->batch,
        .a = gemm->b,
        .b = gemm->a,
        .c = gemm->beta != 0 ? gemm->c : gemm->d, /* with beta 0, C may be absent */
        .d = gemm->d,
        .alpha = scalar(gemm->alpha, sum),
        .beta = scalar(gemm->beta, sum),
    };
}

enum status gpu_blas_launch(const struct device_kernel *kernel, void *const *args, struct gpu_stream *stream,
                            struct err *err)
{
    struct gpu_library *library = kernel->module->library;
    struct library_gemm gemm;
    library_read_gemm(&gemm, args);
    const struct blas_product product = by_columns(&gemm, kernel->in, kernel->out);
    return library->blas->multiply(library, &product, stream, err)
               ? lacks("such product of", library->blas->place.name, err)
               : STATUS_OK;
}

/* Enumerates all functions, whether or not the library has them; start with *in = 0 and *nth = 0. */
static bool next_function(char symbol[static 32], enum blas_type *in, enum blas_type *out, uint32_t *nth)
{
    while (*in < BLAS_TYPES && *nth == blas_types[*in].out_count) {
        ++*in;
        *nth = 0;
    }
    if (*in == BLAS_TYPES)
        return false;
    *out = blas_types[*in].outs[(*nth)++];
    snprintf(symbol, 32, "gemm_%s_%s", blas_types[*in].name, blas_types[*out].name);
    return true;
}

enum status gpu_blas_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device_module *module,
                            const char *symbol, struct err *err)
{
    const struct gpu_library *library = module->library;
    const struct gpu_blas *blas = library->blas;
    SCOPED(text_release) struct text names = {0};
    enum blas_type in = 0, out = 0;
    uint32_t nth = 0;
    char name[32] = "";
    while (next_function(name, &in, &out, &nth) && strcmp(name, symbol) != 0)
        if (blas_knows(blas, in) && blas_knows(blas, out))
            text_addf(&names, "%s%s", names.length ? ", " : "", name);
    if (in == BLAS_TYPES)
        return err_set(err, ERR_DEVICE, "no function '%s' of %s; there are %s", symbol, blas->place.name, names.data);
    if (!blas_knows(blas, in) || !blas_knows(blas, out))
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s: %s knows no %s", symbol, blas->place.name,
                       blas_types[blas_knows(blas, in) ? out : in].name);
    library_describe_gemm(info, &library->file);
    *kernel = gpu_add_kernel(module, (struct device_kernel){.in = in, .out = out});
    return STATUS_OK;
}

enum status gpu_blas_load(struct device_module **module, struct device *device, const char *name, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    const struct gpu_blas *blas = NULL;
    bool is_collective = false;
    const enum status loaded = collectives_load(&is_collective, module, gpu, name, err);
    if (is_collective)
        return loaded;
    SCOPED(text_release) struct text names = {0}; /* the device's own libraries, for an error message */
    for (size_t i = 0; i < COUNT_OF(known) && !blas; ++i) {
        if (strcmp(known[i]->backend, device->ops->name) != 0)
            continue;
        text_addf(&names, "%s%s", names.length ? ", " : "", known[i]->place.name);
        blas = strcmp(known[i]->place.name, name) ? NULL : known[i];
    }
    if (!blas)
        return err_set(err, ERR_UNSUPPORTED, "the device has no library '%s'; it may have %s", name, names.data);
    struct gpu_library *library = gpu->libraries;
    while (library && library->blas != blas)
        library = library->next;
    if (!library) {
        library = new_zeroed(1, sizeof(*library));
        library->blas = blas;
        if (prepare(library, gpu, err)) {
            close_library(library, gpu);
            return err->status;
        }
        library->next = gpu->libraries;
        gpu->libraries = library;
    }
    *module = new_zeroed(1, sizeof(**module));
    (*module)->library = library;
    return STATUS_OK;
}
