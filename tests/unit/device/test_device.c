/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/device.h"

static void parses_requests(void **state)
{
    static const struct {
        const char *text;
        struct device_request request;
    } cases[] = {
        {"cpu", {.backend = "cpu"}},
        {"cpu:0", {.backend = "cpu"}},
        {"cpu:3", {.backend = "cpu", .index = 3}},
        {"cpu:wave=32", {.backend = "cpu", .wave = 32}},
        {"cpu:0,threads=1", {.backend = "cpu", .threads = 1}},
        {"cpu:level=x86-64-v3", {.backend = "cpu", .level = "x86-64-v3"}},
        {"cpu:wave=64,threads=2,pages=huge", {.backend = "cpu", .wave = 64, .threads = 2, .huge_pages = true}},
        {"cpu:pages=normal", {.backend = "cpu"}},
        {"sim:mi300x", {.backend = "sim", .model = "mi300x"}},
        {"hip", {.backend = "hip"}},
        {"hip:1", {.backend = "hip", .index = 1}},
        {"cuda:2", {.backend = "cuda", .index = 2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct device_request request = {0};
        struct err err = {0};
        assert_int_equal(device_parse(&request, cases[i].text, &err), STATUS_OK);
        assert_memory_equal(&request, &cases[i].request, sizeof(request));
    }
}

static void refuses_requests(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "unknown device ''"},
        {"cpi", "did you mean 'cpu'?"},
        {"vulkan", "this build has hip, cuda, cpu, sim"},
        {"cpu:", "unknown device option ''"},
        {"cpu:-1", "unknown device option '-1'"},
        {"cpu:wave=16", "wave=16: it takes 64 or 32"},
        {"cpu:wave", "wave=: it takes 64 or 32"},
        {"cpu:level=x86-64-v5", "level=x86-64-v5: it takes a level of the architecture, such as x86-64-v3"},
        {"cpu:level=", "level=: it takes a level"},
        {"cpu:threads=0", "it takes a number of cores"},
        {"cpu:threads=2x", "it takes a number of cores"},
        {"cpu:pages=big", "it takes huge or normal"},
        {"cpu:thread=2", "did you mean 'threads'?"},
        {"cpu:wave=32,", "unknown device option ''"},
        {"hip:x", "device hip:x: expected a number"},
        {"hip:0,wave=32", "device hip:wave=32: expected a number"},
        {"sim", "for example sim:mi300x"},
        {"sim:", "for example sim:mi300x"},
        {"sim:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "the name is too long"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct device_request request = {.seed = 7};
        const struct device_request before = request;
        struct err err = {0};
        assert_int_equal(device_parse(&request, cases[i].text, &err), ERR_USAGE);
        if (!strstr(err.text, cases[i].says))
            fail_msg("'%s' says \"%s\", not \"%s\"", cases[i].text, err.text, cases[i].says);
        assert_memory_equal(&request, &before, sizeof(request));
    }
}

static void chooses_the_cpu_without_a_gpu(void **state)
{
    struct device_request request;
    struct text reason = {0};
    (void)state;
    setenv("ROOFTILE_HIP_LIBRARY", "/nonexistent.so", 1);
    setenv("ROOFTILE_CUDA_LIBRARY", "/nonexistent.so", 1);
    device_default(&request, &reason);
    assert_string_equal(request.backend, "cpu");
    assert_non_null(strstr(reason.data, "cpu: "));
    text_release(&reason);
}

static void finds_backends_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(device_backend("cpu"), &device_cpu);
    assert_ptr_equal(device_backend("sim"), &device_sim);
    assert_null(device_backend("cp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_requests),
        cmocka_unit_test(refuses_requests),
        cmocka_unit_test(chooses_the_cpu_without_a_gpu),
        cmocka_unit_test(finds_backends_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
