/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../result/fixture.h"
#include "rooftile/report.h"

enum { KERNELS = 30, ROWS = 17 };

static const char *plot(struct text *out, const struct result *result, unsigned columns)
{
    const struct report_options options = {.columns = columns};
    text_clear(out);
    report_roofline_text(out, result, &options);
    return out->data;
}

static void check_width(const char *text, unsigned columns)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > columns) /* the plot is plain ASCII */
            fail_msg("%zu columns of %u: '%.*s'", length, columns, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static struct result_case point(const char *kernel, double intensity, double flops_per_s)
{
    struct result_case c = fixture_ok("k/x;mode=hot", kernel, kernel);
    c.lower_bound.intensity = intensity;
    c.flops_per_s = flops_per_s;
    return c;
}

/* The row of a letter from the top, -1 when it is not drawn; in the picture only, not in the legend. */
static int row_of(const char *text, char letter, int *column)
{
    const char *line = strchr(strstr(text, "Roofline"), '\n') + 1;
    for (int row = 0; row < ROWS; row++) {
        for (int k = 14; line[k] != '\n'; k++)
            if (line[k] == letter) {
                *column = k - 14;
                return row;
            }
        line = strchr(line, '\n') + 1;
    }
    return -1;
}

static void test_picture(void **state)
{
    (void)state;
    struct result_case fixture[FIXTURE_CASES];
    struct result result = fixture_result(fixture);
    struct result_case cases[] = {point("stream", 0.1, 1e10), point("stream", 0.2, 2e10), point("fma", 1000, 3.9e11)};
    struct text out = {0};
    int stream, fma;
    result.cases = cases;
    result.case_count = 3;
    plot(&out, &result, 100);
    assert_true(row_of(out.data, 'A', &stream) >
                row_of(out.data, 'B', &fma)); /* faster is higher, denser is to the right */
    assert_true(stream < fma);
    assert_non_null(strstr(out.data, "\n  A  stream  20.0 GFLOP/s     0.2       90 %  DRAM\n"));
    assert_non_null(strstr(out.data, "\n  B  fma      390 GFLOP/s    1000"));
    assert_non_null(
        strstr(out.data,
               "ceilings (measured): 1 L1 1.00 TB/s, 2 DRAM 107 GB/s (raised in this run), vector_f32 400 GFLOP/s\n"));
    assert_non_null(strstr(out.data, " vector_f32\n")); /* right of its line */
    assert_non_null(strstr(out.data, " DRAM"));
    text_release(&out);
}

static void test_no_ceilings(void **state)
{
    (void)state;
    struct result_case fixture[FIXTURE_CASES];
    struct result result = fixture_result(fixture);
    struct text out = {0};
    result.machine = (struct machine){0};
    assert_string_equal(plot(&out, &result, 80),
                        "\nno ceiling is known for this device; 'rooftile roofline' measures them\n");
    result = fixture_result(fixture);
    result.case_count = 0;
    assert_string_equal(plot(&out, &result, 80),
                        "\nceilings (measured): 1 L1 1.00 TB/s, 2 DRAM 107 GB/s (raised in this run)\n");
    result.machine.levels[0].bandwidth = result.machine.levels[1].bandwidth = (struct ceiling){0};
    assert_string_equal(plot(&out, &result, 80), "\n");
    text_release(&out);
}

static const struct {
    const char *what;
    double intensity[3], flops[3];
} extremes[] = {
    {"not a number", {NAN, 1, 2}, {1e9, NAN, 1e9}},
    {"only that", {NAN, NAN, NAN}, {NAN, NAN, NAN}},
    {"infinite", {INFINITY, 1, 2}, {1e9, INFINITY, 1e9}},
    {"zero and negative", {0, -1, 2}, {1e9, 1e9, -1}},
    {"all the same", {1, 1, 1}, {1e9, 1e9, 1e9}},
    {"tiny and huge", {1e-300, 1, 1e300}, {1e-300, 1, 1e300}},
    {"beyond every double's neighbour", {5e-324, 1.7e308, 1}, {5e-324, 1.7e308, 1}},
    {"huge first", {1e300, 1e-300, 1}, {1, 1e300, 1e-300}},
};

static void test_extremes(void **state)
{
    (void)state;
    struct result_case fixture[FIXTURE_CASES];
    struct text out = {0};
    for (size_t k = 0; k < sizeof(extremes) / sizeof(extremes[0]); k++) {
        for (unsigned machine = 0; machine < 4; machine++) {
            struct result result = fixture_result(fixture);
            struct result_case cases[3];
            for (size_t p = 0; p < 3; p++)
                cases[p] = point("k", extremes[k].intensity[p], extremes[k].flops[p]);
            result.cases = cases;
            result.case_count = 3;
            if (machine & 1)
                result.machine.unit_count = 0;
            if (machine & 2)
                result.machine.levels[0].bandwidth.measured = result.machine.levels[1].bandwidth.measured = 1e-200;
            check_width(plot(&out, &result, 80), 80);
        }
    }
    text_release(&out);
}

static void test_many_kernels(void **state)
{
    (void)state;
    static char names[KERNELS][16];
    struct result_case fixture[FIXTURE_CASES], cases[2 * KERNELS];
    struct result result = fixture_result(fixture);
    struct text out = {0};
    for (size_t k = 0; k < 2 * KERNELS; k++) {
        snprintf(names[k / 2], sizeof(names[0]), "kernel_%zu", k / 2);
        cases[k] = point(names[k / 2], 0.01 * (double)(k + 1), 1e9 * (double)(k + 1));
    }
    result.cases = cases;
    result.case_count = 2 * KERNELS;
    plot(&out, &result, 80);
    check_width(out.data, 80);
    assert_non_null(strstr(out.data, "\n  Z  kernel_25 "));
    assert_non_null(strstr(out.data, "\n  and 4 more kernels that are not drawn\n"));
    text_release(&out);
}

static void test_widths(void **state)
{
    (void)state;
    struct result_case fixture[FIXTURE_CASES];
    struct result result = fixture_result(fixture);
    struct text out = {0};
    for (unsigned columns = 80; columns < 300; columns += 20)
        check_width(plot(&out, &result, columns), columns);
    for (unsigned columns = 1; columns < 80; columns += 13)
        plot(&out, &result, columns); /* too narrow for it, but no crash */
    text_release(&out);
}

static void test_machine(void **state)
{
    (void)state;
    struct result_case fixture[FIXTURE_CASES];
    const struct result result = fixture_result(fixture);
    const struct report_options options = {.columns = 80};
    struct machine none = {0}, unsure = result.machine;
    struct text out = {0};
    report_machine(&out, &result.machine, &options);
    assert_true(text_starts(out.data, "A \"CPU\", 2 threads\n"));
    assert_non_null(strstr(out.data, "\nmemory  capacity  confidence  bandwidth  latency\n"
                                     "L1      64.0 KiB        99 %  1.00 TB/s        -\n"
                                     "DRAM           -           -   107 GB/s        -\n"));
    assert_non_null(strstr(out.data, "\nvector_f32  400 GFLOP/s  fma\n"));
    check_width(out.data, 80);
    assert_non_null(strstr(out.data, "an empty launch takes 500 ns\n"));
    assert_null(strchr(out.data, '\033'));
    text_clear(&out);
    report_machine(&out, &none, &options);
    assert_true(text_starts(out.data, "an unknown device, 0 threads\n"));
    text_clear(&out);
    unsure.levels[0].capacity_confidence = 0.9;
    snprintf(unsure.title, sizeof(unsure.title), "\033[31m");
    report_machine(&out, &unsure, &options);
    assert_non_null(strstr(out.data, "\nuncertain capacity boundaries: L1 (90 %)\n"));
    assert_null(strchr(out.data, '\033'));
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture),      cmocka_unit_test(test_no_ceilings), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_many_kernels), cmocka_unit_test(test_widths),      cmocka_unit_test(test_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
