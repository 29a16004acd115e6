/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/cli/cli.h"

#define MOST_WORDS 32

static void assert_fits(const char *what, const char *text)
{
    struct arena arena = {0};
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *copy = arena_strndup(&arena, line, length);
        if (text_columns(copy) > HELP_COLUMNS)
            fail_msg("%s: a line of %zu columns: %s", what, text_columns(copy), copy);
        assert_true(length == 0 || line[length - 1] != ' ');
        line += length + (line[length] == '\n');
    }
    arena_release(&arena);
}

static void help_fits_and_starts_with_examples(void **state)
{
    (void)state;
    for (const struct command *command = command_table(); command->name; command++) {
        struct text text = {0}, brief = {0};
        help_command(&text, command, &(struct report_options){.verbose = true});
        help_command(&brief, command, &(struct report_options){0});
        assert_true(text_starts(text.data, "Examples:\n  "));
        assert_true(text_starts(brief.data, "Examples:\n  "));
        assert_fits(command->name, text.data);
        assert_fits(command->name, brief.data);
        size_t lines = 0;
        for (const char *p = brief.data; *p; p++)
            lines += *p == '\n';
        assert_in_range(lines, 1, 40); /* a screen */
        const struct option_row *rows[MOST_OPTIONS];
        const size_t count = options_of(rows, command);
        for (size_t k = 0; k < count; k++) {
            char option[64];
            snprintf(option, sizeof(option), "--%s", rows[k]->name);
            assert_non_null(strstr(text.data, option));
            assert_non_null(strstr(brief.data, option));
        }
        text_release(&text);
        text_release(&brief);
    }
    struct text text = {0};
    help_overview(&text, &(struct report_options){0});
    assert_fits("overview", text.data);
    text_release(&text);
}

/* The words of an example up to its explanation or to a pipe; 0 when the line does not start with rooftile. */
static int words_of(char **words, char *line)
{
    char *gap = strstr(line + 2, "  ");
    int count = 0;
    if (gap)
        *gap = '\0';
    for (char *word; (word = strsep(&line, " ")) && !strpbrk(word, "|>");) {
        assert_true(count < MOST_WORDS);
        if (*word)
            words[count++] = word;
    }
    return count && !strcmp(words[0], "rooftile") ? count : 0;
}

static size_t check_examples(const char *examples)
{
    struct arena arena = {0};
    size_t checked = 0;
    for (const char *line = examples; *line;) {
        char *words[MOST_WORDS + 1] = {0};
        struct cli_options options;
        struct err err = {0};
        const size_t length = strcspn(line, "\n");
        const int count = words_of(words, arena_strndup(&arena, line, length));
        line += length + (line[length] == '\n');
        if (!count)
            continue;
        const struct command *command = command_find(words[1]);
        assert_non_null(command);
        if (options_parse(&options, command, count - 1, words + 1, &arena, &err))
            fail_msg("an example of %s does not parse: %s", command->name, err.text);
        checked++;
    }
    arena_release(&arena);
    return checked;
}

static void examples_parse(void **state)
{
    (void)state;
    assert_true(check_examples(overview_examples) >= 4);
    for (const struct command *command = command_table(); command->name; command++)
        assert_true(check_examples(command->examples) >= 1);
}

/* Every command with every one of its options is in the man page, and is what a shell is offered. */
static void man_page_and_completion_are_complete(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct call page = {.arena = &arena};
    assert_int_equal(cmd_man(&page, &err), STATUS_OK);
    assert_true(text_starts(page.out.data, ".\\\" SPDX"));
    for (const struct command *command = command_table(); command->name; command++) {
        const char *const words[] = {"words", command->name, "-"};
        const struct cli_options options = {.args = words, .arg_count = COUNT_OF(words)};
        struct call offered = {.options = &options, .arena = &arena};
        const struct option_row *rows[MOST_OPTIONS];
        const size_t count = options_of(rows, command);
        assert_int_equal(cmd_completion(&offered, &err), STATUS_OK);
        assert_non_null(strstr(page.out.data, arena_printf(&arena, ".Ss rooftile %s\n", command->name)));
        for (size_t k = 0; k < count; k++) {
            const char *name = arena_printf(&arena, "--%s", rows[k]->name);
            assert_true(text_has_word(offered.out.data, "\t\n", name, strlen(name)));
            SCOPED(text_release) struct text escaped = {0};
            text_add_escaped(&escaped, ESCAPE_ROFF, name);
            assert_non_null(strstr(page.out.data, escaped.data));
        }
        text_release(&offered.out);
    }
    text_release(&page.out);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_fits_and_starts_with_examples),
        cmocka_unit_test(examples_parse),
        cmocka_unit_test(man_page_and_completion_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
