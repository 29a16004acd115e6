/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/cli/cli.h"

#define MOST_WORDS 16

static const struct command command = {
    .name = "try",
    .args = "THING...",
    .examples = "  rooftile try it   and see\n",
    .options = "device set seed quick out json arch jobs cache-mode budget alpha label names",
    .min_args = 1,
    .max_args = 3};

struct parsed {
    struct cli_options options;
    struct err err;
    struct arena arena;
    enum status status;
    char line[512];
    char *words[MOST_WORDS + 1];
};

/* Parses a line of words separated by blanks; "''" is an empty word. */
static void parse(struct parsed *parsed, const char *line)
{
    int count = 0;
    memset(parsed, 0, sizeof(*parsed));
    snprintf(parsed->line, sizeof(parsed->line), "rooftile %s", line);
    char *rest = parsed->line;
    for (char *word; (word = strsep(&rest, " "));) {
        if (!*word)
            continue;
        assert_true(count < MOST_WORDS);
        if (!strcmp(word, "''"))
            *word = '\0';
        parsed->words[count++] = word;
    }
    parsed->status = options_parse(&parsed->options, &command, count, parsed->words, &parsed->arena, &parsed->err);
}

static void wrong_lines_say_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"x --devise cpu", "unknown option '--devise'; did you mean '--device'?"},
        {"x --dev cpu", "unknown option '--dev'; did you mean '--device'?"},
        {"x --devise=cpu", "unknown option '--devise'; did you mean '--device'?"},
        {"x --zzzzzz",
         "unknown option '--zzzzzz'; try 'rooftile try --help', or --set zzzzzz=VALUE for a kernel's parameter"},
        {"x --strict", "'--strict' is an option of run, check, roofline, compare, fleet, aa, history, not of try"},
        {"x -device cpu", "unknown option '-device'; did you mean '--device'?"},
        {"x -vx", "unknown option '-x'; try 'rooftile try --help', or --set x=VALUE for a kernel's parameter"},
        {"x -?", "unknown option '-?'; did you mean '--help'?"},
        {"x --quick=yes", "option '--quick' takes no value"},
        {"x --out", "option '--out' needs a value: --out FILE"},
        {"x --out=", "option '--out' needs a value: --out FILE"},
        {"x --out ''", "option '--out' needs a value: --out FILE"},
        {"x -o", "option '--out' needs a value: --out FILE"},
        {"x --json --names", "option '--json' needs a value: --json FILE|- (next is the option '--names')"},
        {"x --json -q", "option '--json' needs a value: --json FILE|- (next is the option '-q')"},
        {"x --out -- y", "option '--out' needs a value: --out FILE (next is the option '--')"},
        {"x --seed 12x", "--seed 12x: expected a whole number from 0 to 18446744073709551615"},
        {"x --seed -1", "--seed -1: expected a whole number from 0 to 18446744073709551615"},
        {"x --seed 18446744073709551616",
         "--seed 18446744073709551616: expected a whole number from 0 to 18446744073709551615"},
        {"x --jobs 0", "--jobs 0: expected a whole number from 1 to 1024"},
        {"x -j1025", "--jobs 1025: expected a whole number from 1 to 1024"},
        {"x --color sometimes", "--color sometimes: expected one of auto, always, never"},
        {"x --color nevr", "--color nevr: unknown color; did you mean 'never'?"},
        {"x --cache-mode cool", "--cache-mode cool: unknown cache-mode; did you mean 'cold'?"},
        {"x --set n", "--set n: expected NAME=VALUES; as in --set n=1Mi or --set n=1Mi..64Mi*2"},
        {"x --set =4", "--set =4: expected NAME=VALUES; as in --set n=1Mi or --set n=1Mi..64Mi*2"},
        {"x --label a", "--label a: expected KEY=VALUE"},
        {"x --arch a,,b", "--arch a,,b: an element is empty"},
        {"x --arch a,", "--arch a,: an element is empty"},
        {"", "'rooftile try' expects at least 1 argument (THING...), got 0, as in 'rooftile try it'; try 'rooftile try "
             "--help'"},
        {"a b c d",
         "'rooftile try' expects at most 3 arguments (THING...), got 4, from 'd' on; try 'rooftile try --help'"},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct parsed parsed;
        parse(&parsed, cases[k].line);
        assert_string_equal(parsed.err.text, cases[k].message);
        assert_int_equal(parsed.status, ERR_USAGE);
        arena_release(&parsed.arena);
    }
}

static void defaults(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, "x");
    assert_int_equal(parsed.status, STATUS_OK);
    const struct cli_options *options = &parsed.options;
    assert_int_equal(options->seed, 1);
    assert_int_equal(options->jobs, 0);
    assert_int_equal(options->color, COLOR_AUTO);
    assert_int_equal(options->progress, PROGRESS_AUTO);
    assert_null(options->device);
    assert_null(options->out);
    assert_int_equal(options->set_count, 0);
    assert_false(options->quick);
    assert_int_equal(options->arg_count, 1);
    assert_string_equal(options->args[0], "x");
    arena_release(&parsed.arena);
}

/* Different spellings of the same line. */
static void spellings(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "x --device cpu:0 --out r.json --jobs 7 --quick --verbose --verbose",
        "--device=cpu:0 --out=r.json --jobs=7 x --quick -v -v",
        "-d cpu:0 -o r.json -j 7 --quick -vv x",
        "-dcpu:0 -or.json -j7 -vv --quick -- x",
        "-vvdcpu:0 x -vor.json --quick -j 7",
        "--device sim:mi300x -d cpu:0 x --out a -o r.json --jobs 3 -vv -j7 --quick",
    };
    for (size_t k = 0; k < COUNT_OF(lines); k++) {
        struct parsed parsed;
        parse(&parsed, lines[k]);
        assert_string_equal(parsed.err.text, "");
        assert_string_equal(parsed.options.device, "cpu:0");
        assert_string_equal(parsed.options.out, "r.json");
        assert_int_equal(parsed.options.jobs, 7);
        assert_true(parsed.options.quick);
        assert_true(parsed.options.verbose >= 2);
        assert_int_equal(parsed.options.arg_count, 1);
        assert_string_equal(parsed.options.args[0], "x");
        arena_release(&parsed.arena);
    }
}

static void values_that_look_odd(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, "--json - - --out=--names --seed 0x10 --color never --progress=always -- --quick");
    assert_string_equal(parsed.err.text, "");
    assert_string_equal(parsed.options.json, "-");
    assert_string_equal(parsed.options.out, "--names");
    assert_int_equal(parsed.options.seed, 16);
    assert_int_equal(parsed.options.color, COLOR_NEVER);
    assert_int_equal(parsed.options.progress, PROGRESS_ALWAYS);
    assert_false(parsed.options.quick);
    assert_int_equal(parsed.options.arg_count, 2);
    assert_string_equal(parsed.options.args[0], "-");
    assert_string_equal(parsed.options.args[1], "--quick");
    arena_release(&parsed.arena);
}

static void lists_grow_in_order(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, "x --set a=1 --set b=2,3 --arch gfx90a,gfx942 --set c=d=4 --arch gfx1100 --set a=5");
    static const char *const sets[] = {"a=1", "b=2,3", "c=d=4", "a=5"};
    static const char *const archs[] = {"gfx90a", "gfx942", "gfx1100"};
    assert_string_equal(parsed.err.text, "");
    assert_int_equal(parsed.options.set_count, COUNT_OF(sets));
    for (size_t k = 0; k < COUNT_OF(sets); k++)
        assert_string_equal(parsed.options.sets[k], sets[k]);
    assert_int_equal(parsed.options.arch_count, COUNT_OF(archs));
    for (size_t k = 0; k < COUNT_OF(archs); k++)
        assert_string_equal(parsed.options.archs[k], archs[k]);
    arena_release(&parsed.arena);
}

/* Options after arguments are parsed, whatever getopt would do then. */
static void posix_environment_changes_nothing(void **state)
{
    (void)state;
    struct parsed parsed;
    setenv("POSIXLY_CORRECT", "1", 1);
    parse(&parsed, "x --quick");
    unsetenv("POSIXLY_CORRECT");
    assert_true(parsed.options.quick);
    assert_int_equal(parsed.options.arg_count, 1);
    arena_release(&parsed.arena);
}

static void help_needs_no_arguments(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "-h", "a b c d --help"};
    for (size_t k = 0; k < COUNT_OF(lines); k++) {
        struct parsed parsed;
        parse(&parsed, lines[k]);
        assert_int_equal(parsed.status, STATUS_OK);
        assert_true(parsed.options.help);
        arena_release(&parsed.arena);
    }
}

static void failure_leaves_the_output_alone(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    char name[] = "rooftile", word[] = "--nonsense";
    char *words[] = {name, word, NULL};
    struct cli_options options = {.seed = 77};
    assert_int_equal(options_parse(&options, &command, 2, words, &arena, &err), ERR_USAGE);
    assert_int_equal(options.seed, 77);
    arena_release(&arena);
}

static void the_command_is_found_behind_common_options(void **state)
{
    (void)state;
    static const struct {
        const char *words[5];
        int index; /* -1: an error */
    } cases[] = {
        {{"rooftile", "run"}, 1},
        {{"rooftile", "-v", "run", "-q"}, 2},
        {{"rooftile", "--color", "never", "run"}, 3},
        {{"rooftile", "--color=never", "run", "x"}, 2},
        {{"rooftile", "-q"}, 2},
        {{"rooftile"}, 1},
        {{"rooftile", "--device", "cpu", "run"}, -1},
        {{"rooftile", "--color"}, -1},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct arena arena = {0};
        struct err err = {0};
        char *words[6] = {0};
        int count = 0, index = -1;
        for (; count < 5 && cases[k].words[count]; count++)
            words[count] = arena_strdup(&arena, cases[k].words[count]);
        const enum status status = options_first_argument(&index, count, words, &arena, &err);
        assert_int_equal(status, cases[k].index < 0 ? ERR_USAGE : STATUS_OK);
        assert_int_equal(index, cases[k].index);
        arena_release(&arena);
    }
}

/* The table is what parsing, help and completion rely on. */
static void rows_are_complete(void **state)
{
    (void)state;
    for (const struct option_row *row = option_table(); row->name; row++) {
        assert_non_null(row->help);
        assert_int_equal(row->kind == OPTION_FLAG || row->kind == OPTION_COUNT_UP, row->argument == NULL);
        const bool is_list = row->kind == OPTION_LIST || row->kind == OPTION_PAIRS || row->kind == OPTION_SPLIT;
        assert_int_equal(is_list, row->count_offset != 0);
        if (row->kind == OPTION_WORD || row->kind == OPTION_CHOICE)
            assert_non_null(row->choices);
        for (const struct option_row *other = option_table(); other < row; other++) {
            assert_true(strcmp(row->name, other->name) || (other->only && !row->only)); /* the special one first */
            assert_true(!row->key || row->key != other->key);
            assert_true(row->offset != other->offset);
        }
    }
}

/* What a command takes is a list of names, and each of them is a row. */
static void commands_take_options_that_are_there(void **state)
{
    (void)state;
    for (const struct command *one = command_table(); one->name; one++) {
        const struct option_row *rows[MOST_OPTIONS];
        const size_t count = options_of(rows, one);
        assert_true(count > COMMON_COUNT && count <= MOST_OPTIONS);
        for (size_t k = 0; k < count; k++)
            if (!rows[k])
                fail_msg("%s: option %zu of '%s' is none", one->name, k, one->options);
        assert_string_equal(rows[count - COMMON_COUNT]->name, "color");
        assert_string_equal(rows[count - 1]->name, "help");
    }
}

/* Times, fractions and choices are values when the command gets them. */
static void values_are_read_once(void **state)
{
    static const char *const wrong[] = {"x --budget 5", "x --budget -1s", "x --alpha 0", "x --alpha 1.5",
                                        "x --alpha 1%%"};
    (void)state;
    struct parsed parsed;
    parse(&parsed, "x");
    assert_null(parsed.options.budget.text);
    assert_int_equal(parsed.options.cache_mode, -1);
    arena_release(&parsed.arena);
    parse(&parsed, "x --cache-mode rotate --budget 2min --alpha 1%");
    assert_string_equal(parsed.err.text, "");
    assert_int_equal(parsed.options.cache_mode, 2);
    assert_string_equal(parsed.options.budget.text, "2min");
    assert_true(parsed.options.budget.ns == 120e9 && parsed.options.alpha == 0.01);
    arena_release(&parsed.arena);
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        parse(&parsed, wrong[k]);
        assert_int_equal(parsed.status, ERR_USAGE);
        arena_release(&parsed.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_lines_say_what_is_wrong),
        cmocka_unit_test(defaults),
        cmocka_unit_test(spellings),
        cmocka_unit_test(values_that_look_odd),
        cmocka_unit_test(lists_grow_in_order),
        cmocka_unit_test(posix_environment_changes_nothing),
        cmocka_unit_test(help_needs_no_arguments),
        cmocka_unit_test(failure_leaves_the_output_alone),
        cmocka_unit_test(the_command_is_found_behind_common_options),
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(commands_take_options_that_are_there),
        cmocka_unit_test(values_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
