/* SPDX-License-Identifier: MIT
 *
 * Each test runs for each library, whose rig is its state.
 */
#include "blas_rig.h"

static const struct {
    enum blas_type in, out;
} types[] = {
    {BLAS_F64, BLAS_F64},      {BLAS_F32, BLAS_F32},      {BLAS_XF32, BLAS_F32},      {BLAS_F16, BLAS_F16},
    {BLAS_F16, BLAS_F32},      {BLAS_BF16, BLAS_BF16},    {BLAS_BF16, BLAS_F32},      {BLAS_I8, BLAS_I32},
    {BLAS_E4M3, BLAS_F16},     {BLAS_E4M3, BLAS_BF16},    {BLAS_E4M3, BLAS_F32},      {BLAS_E5M2, BLAS_F16},
    {BLAS_E5M2, BLAS_BF16},    {BLAS_E5M2, BLAS_F32},     {BLAS_E4M3FNUZ, BLAS_F16},  {BLAS_E4M3FNUZ, BLAS_BF16},
    {BLAS_E4M3FNUZ, BLAS_F32}, {BLAS_E5M2FNUZ, BLAS_F16}, {BLAS_E5M2FNUZ, BLAS_BF16}, {BLAS_E5M2FNUZ, BLAS_F32},
};

static bool knows(const struct blas_rig *rig, size_t which)
{
    return blas_knows(rig->blas, types[which].in) && blas_knows(rig->blas, types[which].out);
}

static void check_product(struct loaded *loaded, struct device *device, size_t which, unsigned shape)
{
    const struct launch_args *args = &loaded->args;
    const enum blas_type out = types[which].out;
    const size_t bytes = blas_types[out].bytes;
    struct err err = {0};
    set_launch(loaded, types[which].in, out, shape & 1, shape & 2, shape & 4 ? -2 : 1, shape & 4 ? 1 : 0);
    if (device->ops->launch(device, &loaded->launch, &err))
        fail_msg("%s, shape %u: %s", blas_types[types[which].in].name, shape, err.text);
    for (size_t i = 0; i < (size_t)BATCH * M * N; i++) {
        const double got = get(loaded->memory[0], out, i), want = expected(args, i / (M * N), i / N % M, i % N);
        if (got != want)
            fail_msg("%s to %s, shape %u, element %zu: %g, expected %g", blas_types[types[which].in].name,
                     blas_types[out].name, shape, i, got, want);
    }
    assert_int_equal(((const uint8_t *)loaded->memory[0])[(size_t)BATCH * M * N * bytes], 0x5a);
}

/* All types, four layouts, with and without C, in two products with gaps behind rows. */
static void multiplies(void **state)
{
    const struct blas_rig *rig = *state;
    struct fake_blas_state *fake = fake_blas(rig->fake);
    struct device *device = open_blas(rig, rig->fake);
    size_t known = 0;
    for (size_t which = 0; which < COUNT_OF(types); which++) {
        struct loaded loaded;
        struct err err = {0};
        const enum status status = load_gemm(&loaded, device, rig, types[which].in, types[which].out, &err);
        if (!knows(rig, which)) {
            assert_int_equal(status, ERR_UNSUPPORTED);
            assert_says(err.text, rig->blas->place.name);
        }
        known += knows(rig, which);
        for (unsigned shape = 0; shape < 8 && knows(rig, which); shape++) {
            if (status)
                fail_msg("%s", err.text);
            check_product(&loaded, device, which, shape);
        }
        device->ops->unload(device, loaded.module);
    }
    assert_int_equal(fake->products, known * 8);
    assert_int_equal(fake->workspace_bytes, rig->blas->workspace_bytes);
    device->ops->close(device);
    assert_int_equal(fake->live, 0);
    nothing_is_left(fake_state(rig->gpu->full));
}

static void says_what_it_is(void **state)
{
    const struct blas_rig *rig = *state;
    struct device *device = open_blas(rig, rig->fake);
    struct fake_blas_state *fake = fake_blas(rig->fake);
    struct loaded loaded, again;
    struct err err = {0};
    setenv(rig->blas->overrides[0], "1", 1);
    assert_int_equal(load_gemm(&loaded, device, rig, BLAS_F16, BLAS_F32, &err), STATUS_OK);
    unsetenv(rig->blas->overrides[0]);
    assert_int_equal(loaded.info.arg_count, LIBRARY_GEMM_ARGS);
    assert_true(loaded.info.args[3].is_pointer);
    assert_int_equal(loaded.info.args[12].size_bytes, 8);
    assert_int_equal(loaded.info.args[17].size_bytes, 4);
    assert_int_equal(strncmp(loaded.info.library, rig->says, strlen(rig->says)), 0);
    assert_says(loaded.info.library, rig->fake);
    assert_says(loaded.info.library, rig->blas->overrides[0]);
    assert_int_equal(strlen(loaded.info.library_sha256), 64);
    const int live = fake->live;
    assert_int_equal(load_gemm(&again, device, rig, BLAS_F32, BLAS_F32, &err), STATUS_OK);
    assert_int_equal(fake->live, live); /* one handle serves all */
    assert_int_equal(device->ops->kernel(&again.launch.kernel, &again.info, device, again.module, "gemv_f32", &err),
                     ERR_DEVICE);
    assert_says(err.text, "no function 'gemv_f32' of ");
    assert_says(err.text, "there are gemm_f64_f64, gemm_f32_f32, gemm_xf32_f32, gemm_f16_f16, ");
    device->ops->unload(device, again.module);
    device->ops->unload(device, loaded.module);
    device->ops->close(device);
}

static void refuses(void **state)
{
    const struct blas_rig *rig = *state;
    const struct {
        const char *file, *name, *says;
    } cases[] = {
        {"/nowhere/blas.so", rig->blas->place.name, " (/nowhere/blas.so: "},
        {"libm.so.6", rig->blas->place.name, " (libm.so.6 lacks all functions of "},
        {rig->fake, "blass", "the device has no library 'blass'; it may have "},
        {rig->fake, "openblas", "the device has no library 'openblas'; it may have "},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct device *device = open_blas(rig, cases[k].file);
        struct device_module *module = NULL;
        struct err err = {0};
        assert_int_equal(device->ops->load_library(&module, device, cases[k].name, &err), ERR_UNSUPPORTED);
        assert_null(module);
        assert_int_equal(strncmp(err.text, "the device has no ", 18), 0);
        assert_says(err.text, cases[k].says);
        device->ops->close(device);
        nothing_is_left(fake_state(rig->gpu->full));
    }
}

/* Whatever fails, with whatever code, is told by its name, and leaves nothing behind. */
static void passes_errors_on(void **state)
{
    const struct blas_rig *rig = *state;
    struct fake_blas_state *fake = fake_blas(rig->fake);
    for (size_t k = 0; rig->functions[k]; k++)
        for (int lacks = 0; lacks < 2; lacks++) {
            struct device *device = open_blas(rig, rig->fake);
            struct loaded loaded;
            struct err err = {0};
            char told[96];
            snprintf(told, sizeof(told), "%s:1:%d", rig->functions[k], lacks ? rig->lacks : rig->failure);
            *fake = (struct fake_blas_state){.live = fake->live};
            setenv("FAKE_BLAS_FAIL", told, 1);
            enum status status = load_gemm(&loaded, device, rig, BLAS_F16, BLAS_F16, &err);
            if (!status) {
                set_launch(&loaded, BLAS_F16, BLAS_F16, false, true, 1, 0);
                status = device->ops->launch(device, &loaded.launch, &err);
            }
            if (status != (lacks ? ERR_UNSUPPORTED : ERR_DEVICE))
                fail_msg("%s: %d (%s)", told, status, err.text);
            if (!strstr(err.text, "the device has no algorithm"))
                assert_says(err.text, rig->functions[k]);
            if (lacks)
                assert_int_equal(strncmp(err.text, "the device has no ", 18), 0);
            unsetenv("FAKE_BLAS_FAIL");
            if (loaded.module) { /* and then it works */
                err = (struct err){0};
                if (device->ops->launch(device, &loaded.launch, &err))
                    fail_msg("after %s: %s", told, err.text);
            }
            device->ops->unload(device, loaded.module);
            device->ops->close(device);
            assert_int_equal(fake->live, 0);
            nothing_is_left(fake_state(rig->gpu->full));
        }
}

static void takes_streams_as_they_come(void **state)
{
    const struct blas_rig *rig = *state;
    struct fake_blas_state *fake = fake_blas(rig->fake);
    struct device *device = open_blas(rig, rig->fake);
    struct gpu *gpu = (struct gpu *)device;
    struct device_graph *graph = NULL;
    struct loaded loaded;
    struct err err = {0};
    double time_ns;
    assert_int_equal(load_gemm(&loaded, device, rig, BLAS_F32, BLAS_F32, &err), STATUS_OK);
    set_launch(&loaded, BLAS_F32, BLAS_F32, false, false, 1, 0);
    for (uint32_t stream = 0; stream < 3; stream++) {
        loaded.launch.stream = stream;
        assert_int_equal(device->ops->launch(device, &loaded.launch, &err), STATUS_OK);
        assert_ptr_equal(fake->stream, gpu->streams[stream]);
        assert_ptr_equal(fake->workspace, gpu->libraries->workspace);
    }
    assert_int_equal(device->ops->graph_make(&graph, device, &loaded.launch, 1, 4, &err), STATUS_OK);
    assert_ptr_equal(fake->stream, gpu->capture);
    assert_ptr_equal(fake->workspace, gpu->libraries->workspace);
    assert_int_equal(fake->products, 3 + 4);
    device->ops->graph_free(device, graph);
    /* Its times are those of events around it. */
    assert_int_equal(device->ops->event(device, 0, 0, &err), STATUS_OK);
    if (device->ops->launch_with_events)
        assert_int_equal(device->ops->launch_with_events(device, &loaded.launch, 0, 1, &err), ERR_UNSUPPORTED);
    assert_int_equal(device->ops->event(device, 1, 0, &err), STATUS_OK);
    assert_int_equal(device->ops->wait(device, &err), STATUS_OK);
    assert_int_equal(device->ops->elapsed(&time_ns, device, 0, 1, &err), STATUS_OK);
    device->ops->unload(device, loaded.module);
    device->ops->close(device);
    nothing_is_left(fake_state(rig->gpu->full));
}

/* 1 + 2^-12 squared: xf32 knows nothing of the 2^-12. */
static void cuts_to_xf32_when_asked(void **state)
{
    static const enum blas_type in[] = {BLAS_F32, BLAS_XF32, BLAS_F32};
    const struct blas_rig *rig = *state;
    fake_blas(rig->fake);
    struct device *device = open_blas(rig, rig->fake);
    const float odd = 1 + 0x1p-12f;
    for (size_t k = 0; k < COUNT_OF(in); k++) {
        struct loaded loaded;
        struct err err = {0};
        assert_int_equal(load_gemm(&loaded, device, rig, in[k], BLAS_F32, &err), STATUS_OK);
        set_launch(&loaded, in[k], BLAS_F32, false, false, 1, 0);
        loaded.args.m = loaded.args.n = loaded.args.k = 1;
        *(float *)loaded.memory[1] = *(float *)loaded.memory[2] = odd;
        assert_int_equal(device->ops->launch(device, &loaded.launch, &err), STATUS_OK);
        assert_true(*(float *)loaded.memory[0] == (in[k] == BLAS_XF32 ? 1 : odd * odd));
        device->ops->unload(device, loaded.module);
    }
    device->ops->close(device);
}

/* ---- of some ---- */

static void plans_a_shape_once(void **state)
{
    const struct blas_rig *rig = *state;
    struct fake_blas_state *fake = fake_blas(rig->fake);
    struct device *device = open_blas(rig, rig->fake);
    struct loaded loaded;
    struct err err = {0};
    assert_int_equal(load_gemm(&loaded, device, rig, BLAS_BF16, BLAS_F32, &err), STATUS_OK);
    set_launch(&loaded, BLAS_BF16, BLAS_F32, false, true, 1, 1);
    for (size_t i = 0; i < COUNT_OF(loaded.memory); i++) /* as real ones are aligned */
        loaded.args.pointers[i] = aligned_alloc(256, MOST * 8);
    memcpy(loaded.args.pointers[2], loaded.memory[2], MOST * 8);
    for (int i = 0; i < 3; i++) {
        loaded.args.beta = i;
        assert_int_equal(device->ops->launch(device, &loaded.launch, &err), STATUS_OK);
        assert_int_equal(fake->heuristics, 1);
    }
    loaded.args.m = 1;
    assert_int_equal(device->ops->launch(device, &loaded.launch, &err), STATUS_OK);
    assert_int_equal(fake->heuristics, 2);
    loaded.args.pointers[2] = (char *)loaded.args.pointers[2] + 16; /* our B is its A */
    assert_int_equal(device->ops->launch(device, &loaded.launch, &err), STATUS_OK);
    assert_int_equal(fake->heuristics, 3);
    if (rig->gpu == &cuda_rig) {
        const unsigned alignments[] = {16, 256, 256, 256};
        assert_memory_equal(fake->alignments, alignments, sizeof(alignments));
        assert_int_equal(fake->reductions, 3); /* none in the type of the result */
    }
    loaded.args.pointers[2] = (char *)loaded.args.pointers[2] - 16;
    for (size_t i = 0; i < COUNT_OF(loaded.memory); i++)
        free(loaded.args.pointers[i]);
    device->ops->unload(device, loaded.module);
    device->ops->close(device);
    assert_int_equal(fake->live, 0);
}

static void finds_no_algorithm(void **state)
{
    const struct blas_rig *rig = *state;
    struct device *device = open_blas(rig, rig->fake);
    struct loaded loaded;
    struct err err = {0};
    assert_int_equal(load_gemm(&loaded, device, rig, BLAS_E4M3, BLAS_F16, &err), STATUS_OK);
    set_launch(&loaded, BLAS_E4M3, BLAS_F16, false, true, 1, 0);
    setenv("FAKE_BLAS_NONE", "1", 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(device->ops->launch(device, &loaded.launch, &err), ERR_UNSUPPORTED);
        assert_says(err.text, "the device has no algorithm of ");
        assert_says(err.text, " for e4m3 to f16, m 3, n 5, k 4, rows of 6, 6 and 5, TA 0, TB 1");
    }
    device->ops->unload(device, loaded.module);
    device->ops->close(device);
}

static void wants_a_version(void **state)
{
    const struct blas_rig *rig = *state;
    const char *old = rig->gpu == &cuda_rig ? "100204" : "300";
    struct device *device = open_blas(rig, rig->fake);
    struct device_module *module = NULL;
    struct err err = {0};
    setenv("FAKE_BLAS_VERSION", old, 1);
    assert_int_equal(device->ops->load_library(&module, device, rig->blas->place.name, &err), ERR_UNSUPPORTED);
    assert_says(err.text, " that is new enough: ");
    assert_says(err.text, rig->gpu == &cuda_rig ? "is version 10.2.4" : "is version 0.3.0");
    device->ops->close(device);
}

/* A library that is too new for its driver. */
static void is_not_for_this_machine(void **state)
{
    const struct blas_rig *rig = *state;
    struct device *device = open_blas(rig, rig->fake);
    struct device_module *module = NULL;
    struct err err = {0};
    char told[64];
    fake_blas(rig->fake);
    snprintf(told, sizeof(told), "%s:1:1", rig->functions[0]);
    setenv("FAKE_BLAS_FAIL", told, 1);
    assert_int_equal(device->ops->load_library(&module, device, rig->blas->place.name, &err), ERR_UNSUPPORTED);
    assert_int_equal(strncmp(err.text, "the device has no usable cublas", 31), 0);
    device->ops->close(device);
}

static void knows_what_old_ones_lack(void **state)
{
    const struct blas_rig *rig = *state;
    struct device *device = open_blas(rig, "fake_rocblas_old");
    struct loaded loaded = {0};
    struct err err = {0};
    assert_int_equal(load_gemm(&loaded, device, rig, BLAS_XF32, BLAS_F32, &err), STATUS_OK);
    set_launch(&loaded, BLAS_XF32, BLAS_F32, false, false, 1, 0);
    assert_int_equal(device->ops->launch(device, &loaded.launch, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "the device has no rocblas_set_math_mode: its rocblas lacks it");
    device->ops->unload(device, loaded.module);
    device->ops->close(device);
}

enum { CUBLASLT, ROCBLAS, HIPBLASLT };
#define OF(library, test)                                                                                              \
    {                                                                                                                  \
#library ": " #test, test, NULL, NULL, (void *)(uintptr_t)&blas_rigs[library]                                  \
    }
#define OF_ALL(test) OF(CUBLASLT, test), OF(ROCBLAS, test), OF(HIPBLASLT, test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_ALL(multiplies),
        OF_ALL(says_what_it_is),
        OF_ALL(refuses),
        OF_ALL(passes_errors_on),
        OF_ALL(takes_streams_as_they_come),
        OF_ALL(cuts_to_xf32_when_asked),
        OF(CUBLASLT, plans_a_shape_once),
        OF(HIPBLASLT, plans_a_shape_once),
        OF(CUBLASLT, finds_no_algorithm),
        OF(HIPBLASLT, finds_no_algorithm),
        OF(CUBLASLT, wants_a_version),
        OF(HIPBLASLT, wants_a_version),
        OF(CUBLASLT, is_not_for_this_machine),
        OF(ROCBLAS, knows_what_old_ones_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
