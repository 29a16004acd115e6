/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../result/fixture.h"
#include "rooftile/report.h"

static const char *report(struct text *out, const struct result *result, const char *format, unsigned columns)
{
    const struct report_options options = {.columns = columns};
    text_clear(out);
    report_write(out, report_format_find(format), result, &options);
    return out->data;
}

static const char *line_with(struct text *line, const char *report, const char *word)
{
    const char *at = strstr(report, word);
    if (!at)
        fail_msg("'%s' is missing in:\n%s", word, report);
    while (at > report && at[-1] != '\n')
        at--;
    text_clear(line);
    text_addn(line, at, strcspn(at, "\n"));
    return line->data;
}

static const char *last_lines(struct text *out, const struct result *result)
{
    const char *at = report(out, result, "table", 400), *last = at;
    for (; (at = strstr(at, "\n\n")); last = at += 2)
        ;
    return last;
}

/* The table of the fixture, exactly; the plot has its own tests. */
static const char table_text[] =
    "case      time  \u00b195 %       rate  FLOP/B  bound  % of roof  predicted  limited by  error  verified  flags\n"
    "copy\n"
    "  n=1  1.00 us  1.0 %  95.9 GB/s   0.167  DRAM        90 %   ~1.40 us  memory      +40 %  exact\n"
    "  n=2  1.00 us  1.0 %  95.9 GB/s   0.167  DRAM        90 %   ~1.40 us  memory      +40 %  exact     "
    "impossible, interference\n"
    "    impossible: 500 ns is 2 times as fast as DRAM's vendor peak of 10.0 GB/s allows\n"
    "  n=3  failed\n"
    "    c[17] is 3.5, expected 4\n"
    "  n=4  skipped\n"
    "    needs f64\n"
    "dot    crashed\n"
    "    SIGSEGV\n"
    "lone   timeout\n"
    "    no answer\n"
    "\n"
    "key figure     value\n"
    "copies      1.50 B/s  geomean of 2 cases\n"
    "slow        none: copy/n=3 failed\n"
    "\n"
    "derived from these cases\n"
    "  levels dtype=f32: changes between n 1 and 2.50: 30.0 GB/s, then 20.0 GB/s (confidence 97 %)\n"
    "  odd: none: no \"points\"\n"
    "\n"
    "predicted before they ran: 1 case, 0 from code, 1 by stated work (~); median error 40 %, 90th percentile 40 %, 0 "
    "% inside the 80 % interval\n"
    "impossible (1): faster than a physical peak allows, so the work, the peak or the clock is wrong\n"
    "interference (1): 1 of 2 cases was disturbed by a neighbour, or the clock moved: do not compare this run\n"
    "on A \"CPU\", 2 threads, wave 64; seed 7\n"
    "\n"
    "Roofline";

static void test_table(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    struct text out = {0};
    report(&out, &result, "table", 160);
    if (!text_starts(out.data, table_text))
        fail_msg("got:\n%s\nexpected:\n%s", out.data, table_text);
    assert_string_equal(last_lines(&out, &result),
                        "x on A \"CPU\", 6 cases: 2 measured, 2 verified, 1 failed, 1 skipped, 1 crashed, 1 timeout, 1 "
                        "impossible in 2 trials; copy at 90 % of DRAM; most time to win: copy n=1, 100 ns\n"
                        "look first at copy n=2: impossible\n");
    text_release(&out);
}

static void test_predicted(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    struct text out = {0};
    static const char banner[] = "PREDICTED: the sim device executes nothing; no time here was measured\n";
    result.predicted = true;
    report(&out, &result, "table", 100);
    assert_true(text_starts(out.data, banner));
    /* Whoever sees only the end of it must see it too. */
    assert_non_null(strstr(out.data, "\n\nPREDICTED (nothing was executed): x on A \"CPU\", 6 cases: 2 predicted,"));
    assert_non_null(strstr(out.data, "6 cases: 2 predicted,"));
    assert_non_null(strstr(report(&out, &result, "csv", 0), ",predicted,"));
    text_release(&out);
}

static void test_interrupted(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    struct text out = {0};
    result.status = "interrupted";
    assert_non_null(
        strstr(report(&out, &result, "table", 100), "interrupted: the same command with --resume RESULT goes on\n"));
    assert_non_null(
        strstr(report(&out, &result, "jsonl", 0), "{\"event\":\"end\",\"status\":\"interrupted\",\"cases\":6}\n"));
    text_release(&out);
}

/* ---- width ---- */

static void check_width(const char *report, unsigned columns)
{
    for (const char *line = report; *line;) {
        const size_t length = strcspn(line, "\n");
        char text[1024];
        snprintf(text, sizeof(text), "%.*s", (int)length, line);
        if (text_columns(text) > columns)
            fail_msg("%zu columns of %u: '%s'", text_columns(text), columns, text);
        if (length && line[length - 1] == ' ')
            fail_msg("a blank at the end: '%s'", text);
        line += length + (line[length] == '\n');
    }
}

static const char *const long_labels[] = {"gemm m=4096 n=4096 k=11008 dtype=bf16 layout=nt tile=256",
                                          "gemm m=8192 n=128 k=11008 dtype=f16 layout=nn tile=128",
                                          "gemm m=16 n=16 k=16 dtype=f64 layout=tt tile=8"};

static void test_widths(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    struct text out = {0}, line = {0};
    for (size_t k = 0; k < 3; k++) {
        cases[k] = fixture_ok("gemm/x;mode=hot", long_labels[k], "gemm");
        cases[k].flags = FLAG_INTERFERENCE | FLAG_LAUNCH_BOUND | (k ? FLAG_CEILING_RAISED : 0);
        snprintf(cases[k].lower_bound.bound, MACHINE_NAME, "vector_f32");
    }
    for (unsigned columns = 60; columns <= 160; columns += 4)
        check_width(report(&out, &result, "table", columns), columns);
    report(&out, &result, "table", 0); /* 0 is 100 */
    check_width(out.data, 100);
    /* Wide: words. Narrow: letters under a heading. Names have the parameters that tell them apart. */
    report(&out, &result, "table", 180);
    assert_non_null(strstr(out.data, "exact     ceiling_raised\n")); /* what all have is below the table only */
    assert_non_null(strstr(out.data, "\nceiling_raised (2): "));
    report(&out, &result, "table", 80);
    assert_null(strstr(out.data, "ceiling_raised,"));
    assert_non_null(strstr(out.data, "\ninterference (3): "));
    assert_non_null(strstr(out.data, "\n  m=4096 n=4096 dtype=bf16 layout=nt tile=256"));
    assert_non_null(strstr(line_with(&line, out.data, "m=16 "), "  ce"));
    assert_non_null(strstr(out.data, "flags\n"));
    /* A flag of all rows is a sentence below the table alone. */
    for (size_t k = 0; k < 3; k++)
        cases[k].flags = FLAG_INTERFERENCE;
    report(&out, &result, "table", 180);
    assert_null(strstr(out.data, "flags"));
    assert_non_null(strstr(out.data, "\ninterference (3): "));
    text_release(&out);
    text_release(&line);
}

static void test_reasons(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    struct text out = {0};
    char reason[600] = "";
    for (size_t k = 0; k < 100; k++)
        snprintf(reason + 5 * k, 6, "word ");
    for (size_t k = 0; k < 3; k++)
        cases[k] = fixture_unmeasured("x/a;mode=hot", "x", "x", CASE_ERROR,
                                      k < 2 ? reason : "does not compile:\n\n  a.hip:1: no\n");
    check_width(report(&out, &result, "table", 80), 80); /* one long line is wrapped */
    assert_non_null(strstr(out.data, "\n    for the same reason\n"));
    assert_non_null(strstr(out.data, "\n    does not compile:\n\n      a.hip:1: no\n")); /* several keep their layout */
    text_release(&out);
}

/* ---- grouping ---- */

static const struct {
    const char *labels[6];
    const char *want[9];
} groups[] = {
    {{"copy n=1", "copy n=2", "add n=1", "add n=2"}, {"copy", "  n=1", "  n=2", "add", "  n=1", "  n=2"}},
    {{"copy", "add"}, {"copy", "add"}},
    {{"t n=1 f64 hot", "t n=2 f64 hot", "t n=3 f64 hot", "t n=1 f64 cold", "t n=2 f64 cold"},
     {"t f64 hot", "  n=1", "  n=2", "  n=3", "t f64 cold", "  n=1", "  n=2"}},
    {{"g m=1 n=1", "g m=2 n=2", "g m=2 n=3"}, {"g", "  m=1 n=1", "  m=2 n=2", "  m=2 n=3"}},
    {{"a n=1", "a n=1 x=2"}, {"a n=1", "a n=1 x=2"}},
    {{"same n=1", "same n=1"}, {"same n=1", "same n=1"}},
};

static void test_groups(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(groups) / sizeof(groups[0]); k++) {
        struct result_case cases[6];
        struct result result = {.cases = cases};
        struct text out = {0}, firsts = {0}, want = {0};
        for (; result.case_count < 6 && groups[k].labels[result.case_count]; result.case_count++)
            cases[result.case_count] = fixture_ok("k/x;mode=hot", groups[k].labels[result.case_count], "k");
        report(&out, &result, "table", 100);
        const char *line = strchr(out.data, '\n') + 1;
        for (; *line != '\n'; line = strchr(line, '\n') + 1) {
            const char *figures = strstr(line, " 1.00 us");
            size_t length = strcspn(line, "\n");
            if (figures && figures < line + length)
                length = (size_t)(figures - line);
            while (length && line[length - 1] == ' ')
                length--;
            text_addn(&firsts, line, length);
            text_add(&firsts, "|");
        }
        for (size_t w = 0; w < 9 && groups[k].want[w]; w++)
            text_addf(&want, "%s|", groups[k].want[w]);
        assert_string_equal(firsts.data, want.data);
        text_release(&out);
        text_release(&firsts);
        text_release(&want);
    }
}

/* A result of an older or foreign writer has no labels; its ids are shown whole. */
static void test_no_label(void **state)
{
    (void)state;
    struct result_case c = fixture_ok("copy/n=1;mode=hot;timer=batch", "", "copy");
    const struct result result = {.cases = &c, .case_count = 1};
    struct text out = {0};
    assert_non_null(strstr(report(&out, &result, "table", 80), "\ncopy/n=1;mode=hot;timer=batch  "));
    text_release(&out);
}

/* ---- colour, and what must not reach a terminal ---- */

static void test_no_escapes(void **state)
{
    (void)state;
    static const char *const formats[] = {"table", "csv", "json", "jsonl"};
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    struct text out = {0};
    cases[0].label = cases[3].reason = "\033[31mred\a";
    cases[2].kernel = "\033]0;title\a";
    snprintf(result.device.name, sizeof(result.device.name),
             "\033[2Jcpu\xc2\x9b"
             "31m");
    for (size_t k = 0; k < 2; k++) {
        report(&out, &result, formats[k], 100);
        if (strchr(out.data, '\033') || strchr(out.data, '\a') || strstr(out.data, "\xc2\x9b"))
            fail_msg("%s lets escape codes through:\n%s", formats[k], out.data);
    }
    for (size_t k = 2; k < 4; k++)
        assert_null(strchr(report(&out, &result, formats[k], 100), '\033')); /* JSON has \u001b */
    text_release(&out);
}

static void test_colour(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    const struct report_options coloured = {.color = true, .columns = 100};
    struct text plain = {0}, colour = {0}, stripped = {0};
    report(&plain, &result, "table", 100);
    report_write(&colour, report_format_find("table"), &result, &coloured);
    for (const char *p = colour.data; *p;) {
        if (*p == '\033')
            p += strcspn(p, "m") + 1;
        else
            text_addn(&stripped, p++, 1);
    }
    assert_string_not_equal(colour.data, plain.data);
    assert_string_equal(stripped.data, plain.data);
    assert_non_null(strstr(colour.data, "\033[31mcrashed\033[0m"));
    text_release(&plain);
    text_release(&colour);
    text_release(&stripped);
}

/* ---- CSV ---- */

static void test_csv(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    struct text out = {0}, line = {0};
    cases[3].reason = "needs \"f64\", said the device";
    cases[4].reason = "line one\nline two";
    report(&out, &result, "csv", 0);
    assert_string_equal(line_with(&line, out.data, "copy/n=1;"),
                        "copy/n=1;mode=hot;timer=batch,copy,4096,nt,batch,ok,8,1001.3125,6,990,1010.25,990,1010.25,"
                        "9.58741652e+10,1.59790275e+10,,0.166666667,900,,,DRAM,0.9,1400,1200,1900,description,memory,0."
                        "4,500,pass,expect,0,,,measured,"
                        "\"A \"\"CPU\"\"\",\r");
    assert_true(text_starts(out.data, "id,kernel,param_n,param_layout,timer,status,"));
    assert_non_null(
        strstr(line_with(&line, out.data, "copy/n=4;"), "\"A \"\"CPU\"\"\",\"needs \"\"f64\"\", said the device\"\r"));
    assert_non_null(strstr(out.data, ",\"line one\nline two\"\r\n"));
    /* As many cells in every row as in the header. */
    size_t header = 0;
    for (const char *p = out.data, *start = p; *p; p++) {
        size_t cells = 1;
        for (bool quoted = false; *p && (quoted || *p != '\n'); p++) {
            quoted ^= *p == '"';
            cells += !quoted && *p == ',';
        }
        header = start == out.data && !header ? cells : header;
        assert_int_equal(cells, header);
    }
    assert_int_equal(header, 37);
    text_release(&out);
    text_release(&line);
}

/* ---- lines of a log ---- */

static void test_case_line(void **state)
{
    (void)state;
    struct result_case cases[FIXTURE_CASES];
    fixture_result(cases);
    struct text out = {0};
    report_case_line(&out, &cases[0], 3, 46);
    assert_string_equal(out.data, "[3/46] copy n=1: 1.00 us \u00b11.0 %, 95.9 GB/s, 90 % of DRAM, verified\n");
    text_clear(&out);
    report_case_line(&out, &cases[1], 4, 46);
    assert_true(text_ends(out.data, ", verified, impossible,interference\n"));
    text_clear(&out);
    report_case_line(&out, &cases[4], 5, 46);
    assert_string_equal(out.data, "[5/46] dot: crashed: SIGSEGV\n");
    text_clear(&out);
    cases[0].class = "latency"; /* bytes over time are no measure of a latency */
    cases[0].work.items = 1000;
    report_case_line(&out, &cases[0], 1, 1);
    assert_string_equal(out.data, "[1/1] copy n=1: 1.00 us \u00b11.0 %, 1.00 ns each, verified\n");
    text_clear(&out);
    cases[0].timer = TIMED_SIM;
    report_case_line(&out, &cases[0], 1, 1);
    assert_string_equal(out.data, "[1/1] copy n=1: ~1.40 us (1.20 .. 1.90 us), 1.40 ns each, predicted\n");
    text_clear(&out);
    memcpy(cases[0].work.item, "B", 2); /* items with a unit are a rate */
    cases[0].items_per_s = 1e9;
    report_case_line(&out, &cases[0], 1, 1);
    assert_string_equal(out.data, "[1/1] copy n=1: ~1.40 us (1.20 .. 1.90 us), 1.00 GB/s, predicted\n");
    text_release(&out);
}

/* ---- the last lines ---- */

static void the_last_lines_say_what_to_do(void **state)
{
    (void)state;
    static const char *const tags[] = {"quick", "memory"}, *const probe[] = {"quick", "peak"};
    static const char *const command[] = {"rooftile", "run", "quick", "-o", "out/r.json"};
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    struct text out = {0};
    for (size_t k = 0; k < 4; k++) {
        cases[k] = fixture_ok("copy/x;mode=hot", k ? "copy n=2" : "copy n=1", "copy");
        cases[k].tags = tags;
        cases[k].tag_count = 2;
    }
    cases[1].fraction = 0.25;
    cases[2].fraction = 0.1; /* a probe's time is its answer */
    cases[2].tags = probe;
    cases[3].fraction = 0.01; /* a time that says little about the kernel */
    cases[3].flags = FLAG_FIBERS;
    result = (struct result){.cases = cases, .case_count = 4, .machine = result.machine, .device = result.device};
    result.argv = command;
    result.argc = 5;
    assert_string_equal(last_lines(&out, &result),
                        "quick on A \"CPU\", 4 cases: 4 measured, 4 verified; copy at 90 % of DRAM; "
                        "most time to win: copy n=2, 751 ns\n"
                        "rooftile explain out/r.json --filter 'copy*' shows why\n");
    result.argc = 3;
    assert_non_null(strstr(last_lines(&out, &result), "\nrooftile explain copy shows why\n"));
    cases[1].kernel = "x'; rm"; /* never part of a command that somebody may paste */
    assert_non_null(strstr(last_lines(&out, &result), "\nrooftile explain RESULT shows why\n"));
    cases[0].flags = FLAG_INTERFERENCE;
    assert_non_null(strstr(last_lines(&out, &result),
                           "\n1 of 4 cases was disturbed by a neighbour, or the clock moved: do not compare this run; "
                           "run it again when the machine is quiet\n"));
    result.case_count = 0;
    assert_string_equal(last_lines(&out, &result), "quick on A \"CPU\", 0 cases: nothing to do\n");
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_lines_say_what_to_do),

        cmocka_unit_test(test_table),
        cmocka_unit_test(test_predicted),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_no_label),
        cmocka_unit_test(test_no_escapes),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_case_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
