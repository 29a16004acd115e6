/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "../../../src/report/page_data.h"
#include "../../../src/report/svg.h"
#include "rooftile/table.h"

static const struct svg_head head = {.id = "p", .title = "a <b>", .desc = "\"quoted\" & more", .alone = false};

static void test_ticks(void **state)
{
    (void)state;
    static const struct {
        struct chart_axis axis;
        size_t most, count;
        double first, last;
    } cases[] = {
        {{"", UNIT_FLOP_RATE, CHART_LOG, 1e9, 1e13, NULL, 0}, 8, 5, 1e9, 1e13},
        {{"", UNIT_FLOP_RATE, CHART_LOG, 1e9, 1e13, NULL, 0}, 2, 2, 1e10, 1e12},
        {{"", UNIT_FLOP_RATE, CHART_LOG, 1.5e9, 3e10, NULL, 0}, 8, 4, 2e9, 2e10},   /* 1, 2, 5 within decades */
        {{"", UNIT_BYTES, CHART_LOG, 1024, 1048576, NULL, 0}, 5, 6, 1024, 1048576}, /* powers of 4 */
        {{"", UNIT_TIME, CHART_LINEAR, 0, 10, NULL, 0}, 5, 6, 0, 10},
        {{"", UNIT_TIME, CHART_LOG, 0, 10, NULL, 0}, 5, 0, 0, 0}, /* no logarithm of 0 */
        {{"", UNIT_TIME, CHART_LINEAR, 3, 3, NULL, 0}, 5, 0, 0, 0},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        double ticks[SVG_MOST_TICKS] = {0};
        const size_t count = svg_ticks(ticks, &cases[k].axis, cases[k].most);
        if (count != cases[k].count)
            fail_msg("%zu: %zu ticks, the first %g", k, count, ticks[0]);
        if (count) {
            assert_true(fabs(ticks[0] - cases[k].first) <= 1e-6 * cases[k].first);
            assert_true(fabs(ticks[count - 1] - cases[k].last) <= 1e-6 * cases[k].last);
        }
    }
}

static void test_tick_words(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *unit, *words;
    } cases[] = {{1e12, UNIT_BYTE_RATE, "1 TB/s"}, {65536, UNIT_BYTES, "64 KiB"}, {2500, UNIT_TIME, "2.5 us"},
                 {0.1, UNIT_INTENSITY, "0.1"},     {100, UNIT_INTENSITY, "100"},  {1000, UNIT_INTENSITY, "1000"},
                 {0.02, UNIT_CHANGE, "+2 %"},      {0, UNIT_CHANGE, "0"}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        char words[32];
        svg_tick_words(words, cases[k].value, cases[k].unit);
        assert_string_equal(words, cases[k].words);
    }
}

static void test_scales(void **state)
{
    (void)state;
    struct svg svg = {.plot = {10, 20, 110, 220},
                      .x = {"", UNIT_BYTES, CHART_LOG, 1, 100, NULL, 0},
                      .y = {"", UNIT_TIME, CHART_LINEAR, 0, 50, NULL, 0}};
    assert_true(fabs(svg_x(&svg, 10) - 60) < 1e-9);
    assert_true(fabs(svg_y(&svg, 0) - 220) < 1e-9);
    assert_true(fabs(svg_y(&svg, 50) - 20) < 1e-9);
}

/* Nothing from elsewhere becomes an element or ends an attribute; a reader hears the title and what it says. */
static void test_escapes(void **state)
{
    (void)state;
    struct text out = {0};
    struct svg svg = {0};
    svg_open(&svg, &out, 100, 50, &head);
    svg_text(&svg, "label", SVG_START, 1, 2, "</text><script>");
    svg_marks(&svg, 99);
    svg_mark(&svg, 99, 3, 4, &(struct svg_tip){.said = "<x onload=\"1\">"});
    svg_group_end(&svg);
    svg_close(&svg);
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "<x"));
    assert_non_null(strstr(out.data, "role=\"img\" aria-labelledby=\"p-title p-desc\""));
    assert_non_null(strstr(out.data, "<title id=\"p-title\">a &lt;b&gt;</title>"));
    assert_non_null(strstr(out.data, "class=\"mark s7\""));
    text_release(&out);
}

/* Labels never stand on each other, or outside. */
static void test_labels(void **state)
{
    (void)state;
    struct text out = {0};
    struct svg svg = {0};
    const struct svg_place places[] = {{10, 20, SVG_START}, {10, 40, SVG_START}}, outside = {190, 20, SVG_START};
    svg_open(&svg, &out, 200, 100, &head);
    assert_true(svg_label(&svg, "label", "first", places, 2));
    assert_true(svg_label(&svg, "label", "second", places, 2));
    assert_false(svg_label(&svg, "label", "third", places, 2));
    assert_false(svg_label(&svg, "label", "outside", &outside, 1));
    assert_non_null(strstr(out.data, "y=\"40\">second"));
    assert_null(strstr(out.data, "third"));
    text_release(&out);
}

static void test_script_hash(void **state)
{
    (void)state;
    struct text out = {0};
    text_add_script_hash(&out, ""); /* SHA-256 of nothing, FIPS 180-4 */
    assert_string_equal(out.data, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ticks),  cmocka_unit_test(test_tick_words),
                                       cmocka_unit_test(test_scales), cmocka_unit_test(test_escapes),
                                       cmocka_unit_test(test_labels), cmocka_unit_test(test_script_hash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
