/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/cli/layout.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void items(void **state)
{
    (void)state;
    static const struct {
        const char *left, *right, *line;
    } cases[] = {
        {"a", "one two", "  a     one two\n"},
        {"a", "", "  a\n"},
        {"a", "one two three four", "  a     one two\n        three four\n"},
        {"abcd", "x", "  abcd  x\n"},
        {"abcde", "x", "  abcde\n        x\n"},
        {"a", "averyveryverylongword x", "  a     averyveryverylongword\n        x\n"},
        {"a", "one  two", "  a     one two\n"},
        {"ä", "µµµµµ µµµµµµ", "  ä     µµµµµ µµµµµµ\n"},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct text text = {0};
        layout_item(&text, 2, 8, 20, cases[k].left, cases[k].right);
        assert_string_equal(text.data, cases[k].line);
        text_release(&text);
    }
}

static void paragraphs_continue_at_their_indent(void **state)
{
    (void)state;
    struct text text = {0};
    layout_paragraph(&text, "one two three", 4, 12);
    assert_string_equal(text.data, "    one two\n    three\n");
    text_release(&text);
}

static void headings(void **state)
{
    (void)state;
    struct text text = {0};
    layout_heading(&text, "Plain", false);
    layout_heading(&text, "Bold", true);
    assert_string_equal(text.data, "Plain\n\033[1mBold\033[0m\n");
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items),
        cmocka_unit_test(paragraphs_continue_at_their_indent),
        cmocka_unit_test(headings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
