/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "options_internal.h"

#define LONG_KEY 0x1000 /* argp's key of an option without a short form: this plus its id */

static error_t on_key(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    if (key == ARGP_KEY_ARG) {
        parse->args[parse->options->arg_count++] = arg;
        return 0;
    }
    if (key <= 0 || key >= LONG_KEY + OPT_COUNT)
        return ARGP_ERR_UNKNOWN; /* argp's own events */
    const struct option_row *row = key < LONG_KEY ? parse_find_short(parse, (char)key) : &option_rows[key - LONG_KEY];
    if (row->kind == OPTION_TWO) /* there is a second word: parse_check_words has seen it */
        ((const char **)(void *)((char *)parse->options + row->offset))[1] = state->argv[state->next++];
    return parse_store(parse, row, arg) ? EINVAL : 0;
}

static enum status run_argp(struct parse *parse)
{
    struct argp_option rows[OPT_COUNT + 1] = {{0}};
    for (size_t k = 0; k < parse->id_count; k++) {
        const struct option_row *row = &option_rows[parse->ids[k]];
        rows[k] = (struct argp_option){
            .name = row->name, .key = row->key ? row->key : LONG_KEY + (int)parse->ids[k], .arg = row->argument};
    }
    const struct argp argp = {.options = rows, .parser = on_key};
    /* In order: whatever POSIXLY_CORRECT says, options may follow arguments. */
    const unsigned flags = ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER;
    if (!argp_parse(&argp, parse->argc, parse->argv, flags, NULL, parse) || parse->err->status)
        return parse->err->status;
    return err_set(parse->err, ERR_USAGE, "the command line cannot be parsed; try 'rooftile %s --help'",
                   parse->command->name);
}

/* The command line of an example, up to the gap before its explanation. */
static int example_length(const char *example)
{
    const char *gap = strstr(example, "  ");
    const size_t line = strcspn(example, "\n");
    return (int)(gap && (size_t)(gap - example) < line ? (size_t)(gap - example) : line);
}

static enum status check_count(const struct parse *parse)
{
    const struct command *command = parse->command;
    const size_t count = parse->options->arg_count;
    if (parse->options->help)
        return STATUS_OK;
    if (count < command->min_args)
        return err_set(parse->err, ERR_USAGE, "'rooftile %s' needs %s, as in '%.*s'; try 'rooftile %s --help'",
                       command->name, command->args, example_length(command->examples + 2), command->examples + 2,
                       command->name);
    if (count > command->max_args) {
        const char *extra = parse->options->args[command->max_args];
        return parse_fail(parse, "unexpected argument", extra, (int)strnlen(extra, 200));
    }
    return STATUS_OK;
}

enum status options_parse(struct cli_options *options, const struct command *command, int argc, char **argv,
                          struct arena *arena, struct err *err)
{
    struct cli_options parsed;
    struct parse parse = {
        .command = command, .argc = argc, .argv = argv, .options = &parsed, .arena = arena, .err = err};
    options_defaults(&parsed);
    parse.args = arena_array(arena, (size_t)argc + 1, sizeof(*parse.args));
    parsed.args = parse.args;
    parsed.argc = argc;
    parsed.argv = argv;
    parse.id_count = options_of(parse.ids, command);
    *err = (struct err){0};
    enum status status = parse_check_words(&parse);
    if (!status)
        status = run_argp(&parse);
    if (!status)
        status = check_count(&parse);
    if (!status)
        *options = parsed;
    return status;
}

enum status options_first_argument(int *index, int argc, char **argv, struct arena *arena, struct err *err)
{
    struct parse parse = {.id_count = COMMON_OPTIONS, .argc = argc, .argv = argv, .arena = arena, .err = err};
    memcpy(parse.ids, common_options, sizeof(common_options));
    int k = 1;
    for (; k < argc && parse_is_option(argv[k]) && strcmp(argv[k], "--") != 0; k++) {
        enum status status = parse_check_option(&parse, &k);
        if (status)
            return status;
    }
    *index = k < argc ? k : argc;
    return STATUS_OK;
}
