/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/device.h"
#include "rooftile/file.h"

enum { M = 3, N = 5, K = 4, GAP = 2, BATCH = 2, MOST = 64, ARGS = 18 };

struct rig {
    struct device *device;
    struct device_module *module;
    struct device_info info;
    struct err err;
};

static void open_rig(struct rig *rig)
{
    const struct device_request request = {.backend = "cpu", .threads = 1};
    *rig = (struct rig){0};
    assert_int_equal(device_cpu.open(&rig->device, &request, &rig->info, &rig->err), STATUS_OK);
}

static void close_rig(struct rig *rig)
{
    device_cpu.unload(rig->device, rig->module);
    device_cpu.close(rig->device);
}

/* A file; of tests/double where it is a name alone; with NULL what is installed. */
static void use(const char *file)
{
    struct arena arena = {0};
    if (!file)
        unsetenv("ROOFTILE_OPENBLAS");
    else if (strncmp(file, "fake_", 5) != 0)
        setenv("ROOFTILE_OPENBLAS", file, 1);
    else
        setenv("ROOFTILE_OPENBLAS", arena_printf(&arena, "%s/double/lib%s.so", path_self_dir(&arena), file), 1);
    arena_release(&arena);
}

static const struct {
    bool is_double;
    uint32_t ta, tb;
    double alpha, beta;
} products[] = {
    {false, 0, 0, 1, 0}, {false, 0, 1, 1, 0},     {false, 1, 0, 0.5, 0}, {false, 1, 1, -2, 0.25},
    {true, 0, 0, 1, 0},  {true, 0, 1, 0.5, -0.5}, {true, 1, 0, 1, 1},    {true, 1, 1, 2, 0},
};

/* Small whole numbers: exact in every type and order. */
static double operand(size_t i)
{
    return (double)((i * 7 + 3) % 11) - 5;
}

static void put(void *array, bool is_double, size_t i, double value)
{
    if (is_double)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static double get(const void *array, bool is_double, size_t i)
{
    return is_double ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static double expected(size_t which, size_t batch, size_t i, size_t j)
{
    const bool ta = products[which].ta, tb = products[which].tb;
    const size_t lda = (ta ? M : K) + GAP, ldb = (tb ? K : N) + GAP;
    const size_t a = batch * (ta ? K : M) * lda, b = batch * (tb ? N : K) * ldb, c = (batch * M + i) * N + j;
    double sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += operand(a + (ta ? k * lda + i : i * lda + k)) * operand(1 + b + (tb ? j * ldb + k : k * ldb + j));
    return products[which].alpha * sum + products[which].beta * operand(2 + c);
}

static void check_product(struct rig *rig, size_t which)
{
    const bool is_double = products[which].is_double;
    double d[MOST], a[MOST], b[MOST], c[MOST];
    void *pointers[] = {d, a, b, c};
    uint32_t ta = products[which].ta, tb = products[which].tb, batch = BATCH;
    uint32_t m = M, n = N, k = K, lda = (ta ? M : K) + GAP, ldb = (tb ? K : N) + GAP, ldd = N;
    uint64_t next_a = (ta ? K : M) * lda, next_b = (tb ? N : K) * ldb, next_d = M * N;
    double alpha = products[which].alpha, beta = products[which].beta;
    void *args[ARGS] = {
        &pointers[0], &pointers[1], &pointers[2], &pointers[3], &m,     &n,    &k,  &lda, &ldb,
        &ldd,         &next_a,      &next_b,      &next_d,      &alpha, &beta, &ta, &tb,  &batch,
    };
    struct device_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    struct kernel_info info = {0};
    for (size_t i = 0; i < MOST; i++) {
        put(d, is_double, i, NAN);
        put(a, is_double, i, operand(i));
        put(b, is_double, i, operand(1 + i));
        put(c, is_double, i, operand(2 + i));
    }
    assert_int_equal(device_cpu.kernel(&launch.kernel, &info, rig->device, rig->module,
                                       is_double ? "gemm_f64_f64" : "gemm_f32_f32", &rig->err),
                     STATUS_OK);
    assert_int_equal(info.arg_count, ARGS);
    assert_int_equal(info.args[13].size_bytes, 8);
    assert_int_equal(strlen(info.library_sha256), 64);
    assert_int_equal(device_cpu.launch(rig->device, &launch, &rig->err), STATUS_OK);
    for (size_t i = 0; i < (size_t)BATCH * M * N; i++)
        if (get(d, is_double, i) != expected(which, i / (M * N), i / N % M, i % N))
            fail_msg("product %zu, element %zu: %g, expected %g", which, i, get(d, is_double, i),
                     expected(which, i / (M * N), i / N % M, i % N));
    assert_true(isnan(get(d, is_double, (size_t)BATCH * M * N)));
}

static void multiplies(void **state)
{
    static const char *const files[] = {"fake_openblas", NULL};
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct rig rig;
        open_rig(&rig);
        use(files[f]);
        const enum status status = device_cpu.load_library(&rig.module, rig.device, "openblas", &rig.err);
        if (status && !files[f]) { /* not installed: then the message says so */
            assert_int_equal(status, ERR_UNSUPPORTED);
            assert_non_null(strstr(rig.err.text, "the device has no openblas (no libopenblas.so.0, libopenblas.so; "
                                                 "another place: ROOFTILE_OPENBLAS)"));
        } else {
            assert_int_equal(status, STATUS_OK);
            for (size_t k = 0; k < sizeof(products) / sizeof(products[0]); k++)
                check_product(&rig, k);
        }
        close_rig(&rig);
    }
}

static void says_what_it_is(void **state)
{
    struct rig rig;
    struct kernel_info info = {0};
    const struct device_kernel *kernel = NULL;
    struct device_module *again = NULL;
    (void)state;
    open_rig(&rig);
    use("fake_openblas");
    assert_int_equal(device_cpu.load_library(&rig.module, rig.device, "openblas", &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.load_library(&again, rig.device, "openblas", &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.kernel(&kernel, &info, rig.device, again, "gemm_f32_f32", &rig.err), STATUS_OK);
    assert_string_equal(info.library, "FakeBLAS for 1, 1 thread");
    assert_int_equal(device_cpu.kernel(&kernel, &info, rig.device, again, "gemv_f32", &rig.err), ERR_DEVICE);
    assert_string_equal(rig.err.text, "no function 'gemv_f32' of openblas; there are gemm_f32_f32, gemm_f64_f64");
    device_cpu.unload(rig.device, again);
    close_rig(&rig);
}

static void refuses(void **state)
{
    static const struct {
        const char *file, *name, *says;
    } cases[] = {
        {"/nowhere/libopenblas.so", "openblas", "the device has no openblas (/nowhere/libopenblas.so: "},
        {"libm.so.6", "openblas", "the device has no openblas (libm.so.6 lacks all functions of openblas)"},
        {NULL, "openblass", "the device has no library 'openblass'"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct rig rig;
        open_rig(&rig);
        use(cases[k].file);
        assert_int_equal(device_cpu.load_library(&rig.module, rig.device, cases[k].name, &rig.err), ERR_UNSUPPORTED);
        if (!strstr(rig.err.text, cases[k].says))
            fail_msg("'%s', expected '%s'", rig.err.text, cases[k].says);
        assert_null(rig.module);
        close_rig(&rig);
    }
}

static void knows_what_a_library_lacks(void **state)
{
    struct rig rig;
    struct kernel_info info = {0};
    const struct device_kernel *kernel = NULL;
    (void)state;
    open_rig(&rig);
    use("fake_openblas_f32");
    assert_int_equal(device_cpu.load_library(&rig.module, rig.device, "openblas", &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.kernel(&kernel, &info, rig.device, rig.module, "gemm_f64_f64", &rig.err),
                     ERR_UNSUPPORTED);
    assert_string_equal(rig.err.text, "the device has no cblas_dgemm: its openblas lacks it");
    close_rig(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplies),
        cmocka_unit_test(says_what_it_is),
        cmocka_unit_test(refuses),
        cmocka_unit_test(knows_what_a_library_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
