/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "rooftile/render.h"
#include "rooftile/text.h"

/* name, time, share, count (verbose), flags, why */
static const struct table_column columns[] = {
    {.key = "name", .title = "case", .flags = COLUMN_GROUP},
    {.key = "median_ns", .title = "time", .unit = UNIT_TIME},
    {.key = "fraction", .title = "% of roof", .unit = UNIT_PERCENT, .drop = 2},
    {.key = "samples", .title = "samples", .unit = UNIT_COUNT, .flags = COLUMN_VERBOSE},
    {.key = "flags", .title = "", .flags = COLUMN_INITIALS, .drop = 1},
    {.title = "why", .flags = COLUMN_PROSE},
    {.key = "ratio_ci", .unit = UNIT_CHANGE},
};

static struct table *some_cases(struct arena *arena)
{
    struct table *table = TABLE(arena, columns);
    table_add(table, (struct cell[]){cell_text("copy n=1"), cell_number(1234.5), cell_number(0.9), cell_number(7),
                                     cell_toned("noisy,late", TONE_DOUBT), cell_text("one | two <three>"),
                                     cell_range(-0.01, 0.02)});
    table_add(table, (struct cell[]){cell_text("copy n=2"),
                                     cell_number(NAN),
                                     cell_unknown("no ceiling"),
                                     cell_number(8),
                                     cell_text(""),
                                     cell_text(""),
                                     {.kind = CELL_ABSENT}});
    struct table_row *row = table_add(table, NULL);
    row->cells[0] = cell_text("dot \033[2J\"x\",");
    row->instead = cell_toned("crashed", TONE_BAD);
    row->note = "it said:\n  SIGSEGV";
    return table;
}

static void check(const struct text *got, const char *want)
{
    if (!got->data || strcmp(got->data, want) != 0)
        fail_msg("got:\n%s\nexpected:\n%s", got->data, want);
}

static void check_text(const struct table *table, struct report_options options, const char *want)
{
    struct arena arena = {0};
    struct document document = {.arena = &arena};
    struct text out = {0};
    document_table(&document, NULL, NULL, table);
    render_text(&out, &document, &options);
    check(&out, want);
    text_release(&out);
    arena_release(&arena);
}

static void test_text(void **state)
{
    (void)state;
    struct arena arena = {0};
    check_text(some_cases(&arena), (struct report_options){0},
               "case             time  % of roof              why\n"
               "copy\n"
               "  n=1         1.23 us       90 %  noisy,late  one | two <three>\n"
               "  n=2               -          -\n"
               "dot ?[2J\"x\",  crashed\n"
               "    it said:\n"
               "      SIGSEGV\n");
    check_text(some_cases(&arena), (struct report_options){.columns = 37, .verbose = true},
               "case             time  samples\n"
               "copy\n"
               "  n=1         1.23 us        7  no,la\n"
               "    one | two <three>\n"
               "  n=2               -        8\n"
               "dot ?[2J\"x\",  crashed\n"
               "    it said:\n"
               "      SIGSEGV\n");
    /* What is left has no room beside the rest: it follows below. */
    check_text(some_cases(&arena), (struct report_options){.columns = 34, .verbose = true},
               "case             time  samples\n"
               "copy\n"
               "  n=1         1.23 us        7\n"
               "  n=2               -        8\n"
               "dot ?[2J\"x\",  crashed\n"
               "    it said:\n"
               "      SIGSEGV\n"
               "\n"
               "case\n"
               "copy\n"
               "  n=1         no,la\n"
               "    one | two <three>\n"
               "  n=2\n");
    arena_release(&arena);
}

static void test_color(void **state)
{
    (void)state;
    static const struct table_column one[] = {{.key = "a", .title = "a"},
                                              {.key = "b", .title = "b", .unit = UNIT_COUNT}};
    struct arena arena = {0};
    struct table *table = TABLE(&arena, one);
    table_add(table, (struct cell[]){cell_toned("x", TONE_GOOD), {.kind = CELL_NUMBER, .value = 1, .tone = TONE_BAD}});
    check_text(table, (struct report_options){.color = true},
               "\033[1ma\033[0m  \033[1mb\033[0m\n\033[32mx\033[0m  \033[31m1\033[0m\n");
    arena_release(&arena);
}

static void test_most_rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct table *list = table_list(&arena);
    for (int k = 0; k < 40; k++)
        table_item(list, arena_printf(&arena, "item %d", k));
    list->most_rows = 2;
    list->rest = "--format json has them all";
    check_text(list, (struct report_options){0}, "item 0\nitem 1\n... and 38 more; --format json has them all\n");
    arena_release(&arena);
}

static void test_cut(void **state)
{
    (void)state;
    static const struct table_column cut[] = {{.title = "#", .unit = UNIT_COUNT},
                                              {.title = "name", .flags = COLUMN_CUT},
                                              {.title = "time", .unit = UNIT_TIME, .drop = 5},
                                              {.key = "data"},
                                              {.title = "short", .flags = COLUMN_CUT}};
    struct arena arena = {0};
    struct table *table = TABLE(&arena, cut);
    table_add(table, (struct cell[]){cell_number(1), cell_text("0123456789abcdefghijklmnopqrstuvwxyz"), cell_number(5),
                                     cell_text(""), cell_text("x")});
    check_text(table, (struct report_options){.columns = 40},
               "#  name                      time  short\n"
               "1  0123456789..rstuvwxyz  5.00 ns  x\n");
    check_text(table, (struct report_options){.columns = 30},
               "#  name                  short\n"
               "1  012345678..rstuvwxyz  x\n");
    assert_string_equal(text_cut(&arena, "\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5", 5, ".."), "\u00b5\u00b5..\u00b5");
    assert_string_equal(text_cut(&arena, "12345", 5, ".."), "12345");
    assert_string_equal(text_listed(&arena, (const char *const[]){"a", "b", "c"}, 3, 3), "a, b, c");
    assert_string_equal(text_listed(&arena, (const char *const[]){"a", "b", "c"}, 3, 2), "a, b and 1 more");
    assert_string_equal(text_listed(&arena, NULL, 0, 2), "");
    arena_release(&arena);
}

/* A cell without meaning for programs may still say something to people. */
static void test_absent(void **state)
{
    (void)state;
    static const struct table_column two[] = {{.key = "a", .title = "a"},
                                              {.key = "b", .title = "b", .unit = UNIT_TIME}};
    struct arena arena = {0};
    struct text out = {0};
    struct table *table = TABLE(&arena, two);
    table_add(table, (struct cell[]){cell_text("x"), {.kind = CELL_ABSENT, .text = "1.00 us"}});
    check_text(table, (struct report_options){0}, "a        b\nx  1.00 us\n");
    render_json_table(&out, table);
    assert_null(strstr(out.data, "\"b\""));
    text_release(&out);
    arena_release(&arena);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *unit, *words;
    } wanted[] = {
        {1e6, UNIT_TIME, "1.00 ms"},      {1536, UNIT_BYTES, "1.50 KiB"},     {2e9, UNIT_BYTE_RATE, "2.00 GB/s"},
        {2e6, "row/s", "2.00 Mrow/s"},    {0.873, UNIT_PERCENT, "87 %"},      {0.0123, UNIT_PERCENT, "1.2 %"},
        {-0.0123, UNIT_CHANGE, "-1.2 %"}, {-0.0001, UNIT_CHANGE, "+0.0 %"},   {12345, UNIT_COUNT, "12345"},
        {65536, UNIT_SIZE, "64Ki"},       {1.0 / 6, UNIT_INTENSITY, "0.167"}, {33000, UNIT_INTENSITY, "33k"},
        {999600, UNIT_INTENSITY, "1M"},   {2.5e7, UNIT_INTENSITY, "25M"},     {3, "W", "3 W"},
        {0, UNIT_TIME, "0 ns"},           {1.25, UNIT_NUMBER, "1.25"},
    };
    struct arena arena = {0};
    for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted); k++) {
        const struct cell cell = cell_quantity(wanted[k].value, wanted[k].unit);
        assert_string_equal(cell_words(&cell, NULL, &arena), wanted[k].words);
    }
    const struct table_column bytes = {.unit = UNIT_BYTES}, change = {.unit = UNIT_CHANGE};
    const struct cell size = cell_range(96 * 1024, 128 * 1024), moved = cell_range(-0.01, 0.02);
    assert_string_equal(cell_words(&size, &bytes, &arena), "96.0 .. 128 KiB");
    assert_string_equal(cell_words(&moved, &change, &arena), "-1.0 .. +2.0 %");
    const struct cell unknown = cell_positive(0);
    assert_string_equal(cell_words(&unknown, &bytes, &arena), "-");
    arena_release(&arena);
}

static void test_csv(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    render_csv(&out, some_cases(&arena));
    check(&out, "name,median_ns,fraction,samples,flags,ratio_ci\r\n"
                "copy n=1,1234.5,0.9,7,\"noisy,late\",-0.01;0.02\r\n"
                "copy n=2,,,8,,\r\n"
                "\"dot ?[2J\"\"x\"\",\",,,,,\r\n");
    text_release(&out);
    arena_release(&arena);
}

/* ---- columns that are fields of an object ---- */

struct thing {
    const char *name;
    char code[8];
    double value, range[2];
    size_t count;
    uint32_t small;
    int whole;
    bool good;
};

static void test_fields(void **state)
{
    (void)state;
#define OF_THING(member) FIELD(struct thing, member)
    static const struct table_column fields[] = {{.key = "name", OF_THING(name)},
                                                 {.key = "code", .flags = COLUMN_OPTIONAL, OF_THING(code)},
                                                 {.key = "value", .flags = COLUMN_OPTIONAL, OF_THING(value)},
                                                 {.key = "range", OF_THING(range)},
                                                 {.key = "count", OF_THING(count)},
                                                 {.key = "small", OF_THING(small)},
                                                 {.key = "whole", OF_THING(whole)},
                                                 {.key = "good", OF_THING(good)},
                                                 {.key = "by hand"}};
    const struct thing things[] = {{"a", "x", 1.5, {1, 2}, 7, 8, -9, true}, {"b", "", 0, {NAN, 2}, 0, 0, 0, false}};
    struct arena arena = {0};
    struct text out = {0};
    struct table *table = TABLE(&arena, fields);
    for (size_t k = 0; k < 2; k++)
        table_add_object(table, &things[k]);
    render_csv(&out, table);
    check(&out, "name,code,value,range,count,small,whole,good,by hand\r\n"
                "a,x,1.5,1;2,7,8,-9,true,\r\nb,,,,0,0,0,false,\r\n");
    text_release(&out);
    arena_release(&arena);
}

/* A record begins with fields of an object and grows, also beyond its first room; JSON stands in it as it is. */
static void test_record(void **state)
{
    (void)state;
    static const struct table_column fields[] = {{.key = "name", OF_THING(name)}, {.key = "count", OF_THING(count)}};
    const struct thing thing = {.name = "a", .count = 7};
    struct arena arena = {0};
    struct text out = {0}, wanted = {0};
    struct table *record = RECORD_OF(&arena, fields, &thing);
    table_member(record, "json", NULL, cell_json("{\"x\":[1,2]}"));
    text_add(&wanted, "{\"name\":\"a\",\"count\":7,\"json\":{\"x\":[1,2]}");
    for (int k = 0; k < 40; k++) {
        table_member(record, arena_printf(&arena, "m%d", k), NULL, cell_number(k));
        text_addf(&wanted, ",\"m%d\":%d", k, k);
    }
    text_add(&wanted, "}\n");
    render_json_line(&out, record);
    check(&out, wanted.data);
    text_release(&out);
    text_release(&wanted);
    arena_release(&arena);
}

static void test_junit(void **state)
{
    (void)state;
    static const struct table_column tests[] = {{.key = "id", .flags = COLUMN_TEST},
                                                {.title = "took", .unit = UNIT_TIME},
                                                {.title = "verdict", .flags = COLUMN_VERDICT}};
    static const char *const wanted[] = {
        "<testsuite name=\"rooftile trial\" package=\"rooftile\" id=\"0\" timestamp=\"2026-01-31T12:00:00\"",
        " tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"",
        "<property name=\"device\" value=\"GPU &amp; co\"/>",
        "<testcase name=\"good\" classname=\"rooftile.trial\" time=\"0.000000\"/>",
        "<failure message=\"took 1.00 us, verdict SLOWER\" type=\"slower\">",
    };
    struct arena arena = {0};
    struct document document = {.arena = &arena, .name = "trial", .date = "2026-01-31T12:00:00Z"};
    struct table *table = TABLE(&arena, tests), *properties = table_record(&arena);
    struct text out = {0};
    table_add(table, (struct cell[]){cell_text("good"), cell_number(1), cell_toned("SAME", TONE_PLAIN)});
    table_add(table, (struct cell[]){cell_text("bad"), cell_number(1000), cell_toned("SLOWER", TONE_BAD)});
    table_add(table, (struct cell[]){cell_text("none"), cell_unknown(NULL), cell_toned("SKIPPED", TONE_DIM)});
    table_member(properties, "device", NULL, cell_text("GPU & co"));
    document_table(&document, NULL, NULL, properties)->show = SHOW_TESTS;
    document_table(&document, "cases", NULL, table);
    document_table(&document, NULL, NULL, table)->show = SHOW_TEXT; /* the same rows for people are no tests */
    document_table(&document, NULL, NULL, some_cases(&arena));      /* nor is what has no verdict */
    render_junit(&out, &document, &(struct report_options){0});
    for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted); k++)
        if (!strstr(out.data, wanted[k]))
            fail_msg("'%s' is missing in:\n%s", wanted[k], out.data);
    text_release(&out);
    arena_release(&arena);
}

static struct document a_page(struct arena *arena)
{
    struct document document = {.arena = arena, .title = "a <page>", .mark = cell_toned("pass", TONE_GOOD)};
    struct table *facts = table_record(arena), *tags = table_list(arena);
    table_item(tags, "a");
    table_item(tags, "b");
    table_member(facts, "device", "Device", cell_text("GPU & co"));
    table_member(facts, "watts", "Power", cell_unknown("no sensor"));
    table_member(facts, "tags", NULL, cell_table(tags));
    document_table(&document, NULL, NULL, facts);
    document_text(&document, 0, TONE_BAD, "%s is wrong", "all");
    document_text(&document, SHOW_TEXT, TONE_PLAIN, "for terminals");
    document_table(&document, "cases", "All cases", some_cases(arena))->folded = true;
    document_table(&document, "none", "Nothing", TABLE(arena, columns));
    return document;
}

static void test_markdown(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    const struct document document = a_page(&arena);
    render_markdown(&out, &document, &(struct report_options){0});
    check(&out, "### a \\<page\\> pass\n\n"
                "|  |  |\n|---|---|\n| Device | GPU &amp; co |\n| Power | - |\n\n"
                "**all is wrong**\n\n"
                "<details><summary>All cases</summary>\n\n"
                "| case | time | % of roof |  | why |\n|---|---:|---:|---|---|\n"
                "| copy n=1 | 1.23 us | 90 % | noisy,late | one \\| two \\<three\\> |\n"
                "| copy n=2 | - | - |  |  |\n"
                "| dot  \\[2J\"x\", | **crashed** |  |  | it said:   SIGSEGV |\n\n"
                "</details>\n\n");
    text_release(&out);
    arena_release(&arena);
}

static void test_markdown_limit(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    struct document document = {.arena = &arena};
    struct table *list = table_list(&arena);
    for (int k = 0; k < 10000; k++)
        table_item(list, "a row of a comment that is much too long");
    list->rest = "the file has them";
    document_table(&document, NULL, NULL, list);
    document_text(&document, 0, TONE_PLAIN, "behind it");
    render_markdown(&out, &document, &(struct report_options){0});
    assert_in_range(out.length, 60000, 65536);
    assert_non_null(strstr(out.data, " more; the file has them\n"));
    assert_true(text_ends(out.data, "1 more sections did not fit.\n"));
    text_release(&out);
    arena_release(&arena);
}

static void test_html(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    const struct document document = a_page(&arena);
    static const char *const wanted[] = {
        "<title>a &lt;page&gt;</title>",
        "<h1><bdi>a &lt;page&gt;</bdi> <span class=\"mark good\">pass</span></h1>",
        "<tr><th scope=\"row\">Device</th><td>GPU &amp; co</tr>",
        "<p><span class=\"bad\">all is wrong</span></p>",
        "<summary>All cases</summary>",
        "<tr><th scope=\"col\">case</th><th scope=\"col\" class=\"n\">time</th>",
        "<td class=n>1.23 us",
        "default-src 'none'",
        "script-src 'sha256-",
        "<td colspan=\"4\" class=\"long\"><span class=\"bad\">crashed</span> <span class=\"note\">it said:",
    };
    render_html(&out, &document, &(struct report_options){0});
    for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted); k++)
        if (!strstr(out.data, wanted[k]))
            fail_msg("'%s' is missing in:\n%s", wanted[k], out.data);
    assert_null(strstr(out.data, "for terminals"));
    assert_null(strstr(out.data, ">Nothing"));
    text_release(&out);
    arena_release(&arena);
}

static void test_json(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0}, tight = {0};
    const struct document document = a_page(&arena);
    render_json(&out, &document, &(struct report_options){0});
    for (const char *c = out.data; *c; c++)
        if (*c != '\n' && *c != ' ' && *c != '\t')
            text_addn(&tight, c, 1);
    check(&tight,
          "{\"device\":\"GPU&co\",\"watts\":null,\"watts_reason\":\"nosensor\",\"tags\":[\"a\",\"b\"],\"cases\":["
          "{\"name\":\"copyn=1\",\"median_ns\":1234.5,\"fraction\":0.9,\"samples\":7,\"flags\":\"noisy,late\","
          "\"ratio_ci\":[-0.01,0.02]},"
          "{\"name\":\"copyn=2\",\"median_ns\":null,\"fraction\":null,\"fraction_reason\":\"noceiling\",\"samples\":8,"
          "\"flags\":\"\"},"
          "{\"name\":\"dot\\u001b[2J\\\"x\\\",\"}],\"none\":[]}");
    text_release(&out);
    text_release(&tight);
    arena_release(&arena);
}

/* ---- rows that are made, and families of them ---- */

static void make_row(struct table_row *row, const struct table *table, size_t index)
{
    static const char *const notes[] = {
        NULL, "takes 2.00 GiB, of 1", "takes 512 B, of 1", "takes 4.00 KiB, of 1", "no space", "no space", "no space"};
    row->cells[0] = cell_text(arena_printf(table->arena, "row %zu", index));
    row->cells[1] = cell_number((double)index);
    row->note = notes[index];
    row->family = index < 1 ? NULL : index < 6 ? "copy" : "fill";
    if (index)
        row->instead = cell_text("skipped");
}

static void families_are_one_row_for_people(void **state)
{
    static const struct table_column made[] = {{.key = "name", .title = "row"},
                                               {.key = "n", .title = "n", .unit = UNIT_COUNT}};
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    struct document document = {.arena = &arena};
    const struct report_options options = {.columns = 60};
    struct table *table = table_making(&arena, made, 2, 7, make_row, NULL);
    document_table(&document, "rows", NULL, table);
    render_text(&out, &document, &options);
    assert_string_equal(out.data, "row                   n\n"
                                  "row 0                 0\n"
                                  "copy: 3 cases         skipped\n"
                                  "    takes 2.00 GiB, of 1; to: takes 4.00 KiB, of 1\n"
                                  "3 cases of 2 kernels  skipped\n"
                                  "    copy, fill: no space\n");
    text_clear(&out);
    render_csv(&out, table);
    assert_string_equal(out.data,
                        "name,n\r\nrow 0,0\r\nrow 1,1\r\nrow 2,2\r\nrow 3,3\r\nrow 4,4\r\nrow 5,5\r\nrow 6,6\r\n");
    assert_string_equal(table_at(table, 2)->note, "takes 512 B, of 1");
    text_release(&out);
    arena_release(&arena);
}

static void the_verdict_is_first_on_pages_and_last_in_a_terminal(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    const struct report_options options = {.columns = 40};
    struct document document = {.arena = &arena,
                                .title = "nightly",
                                .mark = cell_toned("slower", TONE_BAD),
                                .verdict = "1 of 2 is <slower>",
                                .action = "rooftile compare a.json b.json shows by how much"};
    document_text(&document, 0, TONE_PLAIN, "the rest");
    render_text(&out, &document, &options);
    assert_string_equal(out.data, "the rest\n"
                                  "\n"
                                  "1 of 2 is <slower>\n"
                                  "rooftile compare a.json b.json shows by\n"
                                  "how much\n");
    text_clear(&out);
    render_markdown(&out, &document, &options);
    assert_string_equal(out.data, "### nightly slower\n\n"
                                  "**1 of 2 is \\<slower\\>**\n\n"
                                  "rooftile compare a.json b.json shows by how much\n\n"
                                  "the rest\n\n");
    text_clear(&out);
    render_html(&out, &document, &options);
    assert_non_null(strstr(out.data, "<main id=\"content\" tabindex=\"-1\">\n<div class=\"verdict bad\">\n"
                                     "<p><span class=\"strong\">1 of 2 is &lt;slower&gt;</span></p>\n"
                                     "<p>rooftile compare a.json b.json shows by how much</p>\n</div>\n"));
    text_release(&out);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_is_first_on_pages_and_last_in_a_terminal),
        cmocka_unit_test(families_are_one_row_for_people),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_most_rows),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_markdown_limit),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_junit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
