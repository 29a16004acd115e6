/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rooftile/text.h"

static void escapes(void **state)
{
    static const struct {
        enum escape escape;
        const char *from, *to;
    } rows[] = {
        {ESCAPE_XML, NULL, ""},
        {ESCAPE_XML, "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'"},
        {ESCAPE_XML, "x\ny\tz\r\001\x7f", "x&#10;y\tz???"},
        {ESCAPE_XML, "\xef\xbf\xbe.\xef\xbf\xbf.\xef\xbf\xbd", "?.?.\xef\xbf\xbd"},
        {ESCAPE_XML, "\xe2\x80\xaetxt\xe2\x81\xa6.\xe2\x80\xa6\xe2", "?txt?.\xe2\x80\xa6\xe2"},
        {ESCAPE_XML, "\xef\xbf", "\xef\xbf"},
        {ESCAPE_XML, "\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9 \xf0\x9f\x98\x80"},
        {ESCAPE_MARKDOWN, NULL, ""},
        {ESCAPE_MARKDOWN, "a|b\\c`d*e_f", "a\\|b\\\\c\\`d\\*e\\_f"},
        {ESCAPE_MARKDOWN, "<b>[x](y)\n# &lt;", "\\<b\\>\\[x\\](y) \\# &amp;lt;"},
        {ESCAPE_MARKDOWN, "~~s~~ {x}", "\\~\\~s\\~\\~ \\{x\\}"},
        {ESCAPE_CSV, NULL, ""},
        {ESCAPE_CSV, "plain text", "plain text"},
        {ESCAPE_CSV, "a,b \"c\"\nd", "\"a,b \"\"c\"\"\nd\""},
        {ESCAPE_CSV, "=1+1", "'=1+1"},
        {ESCAPE_CSV, "+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
        {ESCAPE_CSV, "@SUM(1,2)", "\"'@SUM(1,2)\""},
        {ESCAPE_CSV, "\t=1", "'\t=1"},
        {ESCAPE_CSV, "-2+3", "'-2+3"},
        {ESCAPE_CSV, "-2.5e3", "-2.5e3"},
        {ESCAPE_CSV, "a=1", "a=1"},
        {ESCAPE_CSV, "\033[31m\xc2\x9b\x7f", "?[31m??"},
        {ESCAPE_MARKDOWN, "\033[31m\xc2\x9b\x7f", " \\[31m  "},
        {ESCAPE_XML, "\xc2\x9b\xc2\xa9", "?\xc2\xa9"},
        {ESCAPE_LINES, "a\tb\n\033[31m\xc2\x9b\r", "a\tb\n?[31m??"},
        {ESCAPE_JSON, "\xc2\x9b", "\\u009b"},
        {ESCAPE_C, "\033[31m\xc2\x9b", "?[31m?"},
        {ESCAPE_PRINTABLE, NULL, ""},
        {ESCAPE_PRINTABLE, "a\nb\tc\033[31m\x7f", "a b c?[31m?"},
        {ESCAPE_PRINTABLE,
         "\xc2\x9b"
         "31m \xc2\xa9",
         "?31m \xc2\xa9"},
        {ESCAPE_PRINTABLE, "\xc2", "\xc2"},
        {ESCAPE_JSON, "a\"\\\n\033\x7f\xc3\xa9", "a\"\\\\u000a\\u001b\\u007f\xc3\xa9"},
        {ESCAPE_C, "a\\b \"c\"\nd\te", "a\\\\b \\\"c\\\"\\nd\te"},
        {ESCAPE_SHELL, NULL, "''"},
        {ESCAPE_SHELL, "", "''"},
        {ESCAPE_SHELL, "-DA=1,2:x/y.c@%_+", "-DA=1,2:x/y.c@%_+"},
        {ESCAPE_SHELL, "it's $HOME", "'it'\\''s $HOME'"},
        {ESCAPE_ROFF, "a-b \\ 'c' `d` ~ ^", "a\\-b \\e \\(aqc\\(aq \\(gad\\(ga \\(ti \\(ha"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct text text = {0};
        text_add(&text, "");
        text_add_escaped(&text, rows[k].escape, rows[k].from);
        assert_string_equal(text.data, rows[k].to);
        text_release(&text);
    }
}

static void wraps(void **state)
{
    static const struct {
        const char *prose;
        size_t at, indent, columns;
        const char *text;
    } rows[] = {
        {"", 0, 0, 10, ""},
        {"one two three", 0, 0, 80, "one two three"},
        {"one two three", 0, 0, 7, "one two\nthree"},
        {"one  two", 0, 0, 7, "one two"},
        {" one ", 4, 2, 80, " one"},
        {"one two three", 4, 2, 8, " one\n  two\n  three"},
        {"extraordinarily long", 0, 2, 8, "extraordinarily\n  long"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9 x", 0, 0, 5, "\xc3\xa9\xc3\xa9\xc3\xa9 x"},
        {"a b", 20, 4, 10, "\n    a b"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct text text = {0};
        text_add(&text, "");
        text_add_wrapped(&text, rows[k].prose, rows[k].at, rows[k].indent, rows[k].columns);
        assert_string_equal(text.data, rows[k].text);
        text_release(&text);
    }
}

static void filters(void **state)
{
    static const char *const none[] = {"copy*"}, *const id[] = {"*n=1;*"}, *const name[] = {"cop?"},
                             *const out[] = {"!*n=1;*"}, *const both[] = {"copy", "!*n=1;*"},
                             *const order[] = {"!copy", "copy"}, *const two[] = {"gemm", "copy"}, *const bang[] = {"!"};
    static const struct {
        const char *const *filters;
        size_t count;
        bool n1, n2; /* of copy/n=1 and copy/n=2 */
    } rows[] = {
        {NULL, 0, true, true},  {none, 1, true, true},  {id, 1, true, false},     {name, 1, true, true},
        {out, 1, false, true},  {both, 2, false, true}, {order, 2, false, false}, {two, 2, true, true},
        {two, 1, false, false}, {bang, 1, true, true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        if (text_filtered(rows[k].filters, rows[k].count, "copy/n=1;mode=hot", "copy") != rows[k].n1 ||
            text_filtered(rows[k].filters, rows[k].count, "copy/n=2;mode=hot", "copy") != rows[k].n2)
            fail_msg("row %zu", k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(escapes), cmocka_unit_test(wraps), cmocka_unit_test(filters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
