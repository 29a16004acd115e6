/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define MOST_JOBS 1024
#define LONG_KEY 0x1000 /* argp's key of an option without a short form: this plus its id */

struct parse {
    const struct command *command; /* NULL: the words before the command */
    enum option_id ids[OPT_COUNT];
    size_t id_count;
    int argc;
    char **argv;
    struct cli_options *options;
    const char **args; /* options->args while it is filled */
    struct arena *arena;
    struct err *err;
};

/* ---- the check of every word ---- */

static enum status fail_with_hint(const struct parse *parse, const char *what, const char *word, int length)
{
    const char *name = parse->command ? parse->command->name : NULL;
    return err_set(parse->err, ERR_USAGE, "%s '%.*s'%s; try 'rooftile %s%s--help'", what, length, word,
                   name ? "" : " before the command", name ? name : "", name ? " " : "");
}

static enum status unknown_long(const struct parse *parse, const char *word, size_t length)
{
    const char *names[OPT_COUNT];
    for (size_t k = 0; k < parse->id_count; k++)
        names[k] = option_rows[parse->ids[k]].name;
    const char *near = suggest(arena_strndup(parse->arena, word + 2, length - 2), names, parse->id_count);
    if (!near)
        return fail_with_hint(parse, "unknown option", word, (int)length);
    return err_set(parse->err, ERR_USAGE, "unknown option '%.*s'; did you mean '--%s'?", (int)length, word, near);
}

static const struct option_row *find_long(const struct parse *parse, const char *name, size_t length)
{
    for (size_t k = 0; k < parse->id_count; k++) {
        const struct option_row *row = &option_rows[parse->ids[k]];
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
            return row;
    }
    return NULL;
}

static const struct option_row *find_short(const struct parse *parse, char key)
{
    for (size_t k = 0; k < parse->id_count; k++)
        if (option_rows[parse->ids[k]].key == key)
            return &option_rows[parse->ids[k]];
    return NULL;
}

/* Would this word, found where a value belongs, be one of the command's options? */
static bool is_option(const struct parse *parse, const char *word)
{
    if (text_starts(word, "--"))
        return !word[2] || find_long(parse, word + 2, strcspn(word + 2, "="));
    return word[0] == '-' && word[1] && !word[2] && find_short(parse, word[1]);
}

static enum status check_value(const struct parse *parse, const struct option_row *row, const char *value)
{
    if (value && *value && !is_option(parse, value))
        return STATUS_OK;
    const bool taken = value && *value;
    return err_set(parse->err, ERR_USAGE, "option '--%s' needs a value: --%s %s%s%s%s", row->name, row->name,
                   row->argument, taken ? " (next is the option '" : "", taken ? value : "", taken ? "')" : "");
}

static enum status check_long(const struct parse *parse, int *index)
{
    const char *word = parse->argv[*index];
    const size_t length = strcspn(word, "=");
    const struct option_row *row = find_long(parse, word + 2, length - 2);
    if (!row)
        return unknown_long(parse, word, length);
    if (!row->argument && word[length])
        return err_set(parse->err, ERR_USAGE, "option '--%s' takes no value", row->name);
    if (!row->argument)
        return STATUS_OK;
    if (!word[length])
        return check_value(parse, row, ++*index < parse->argc ? parse->argv[*index] : NULL);
    return word[length + 1] ? STATUS_OK : check_value(parse, row, NULL);
}

static enum status check_short(const struct parse *parse, int *index)
{
    const char *word = parse->argv[*index];
    const struct option_row *meant = find_long(parse, word + 1, strcspn(word + 1, "="));
    if (meant)
        return err_set(parse->err, ERR_USAGE, "unknown option '%s'; did you mean '--%s'?", word, meant->name);
    for (const char *key = word + 1; *key; key++) {
        const struct option_row *row = find_short(parse, *key);
        if (!row)
            return fail_with_hint(parse, "unknown option", arena_printf(parse->arena, "-%c", *key), 2);
        if (row->argument && key[1])
            return STATUS_OK;
        if (row->argument)
            return check_value(parse, row, ++*index < parse->argc ? parse->argv[*index] : NULL);
    }
    return STATUS_OK;
}

/* Checks the option at *index and moves to its value where that is a word of its own. */
static enum status check_option(const struct parse *parse, int *index)
{
    return text_starts(parse->argv[*index], "--") ? check_long(parse, index) : check_short(parse, index);
}

static bool looks_like_option(const char *word)
{
    return word[0] == '-' && word[1];
}

static enum status check_words(const struct parse *parse)
{
    for (int k = 1; k < parse->argc && strcmp(parse->argv[k], "--") != 0; k++) {
        enum status status = looks_like_option(parse->argv[k]) ? check_option(parse, &k) : STATUS_OK;
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* ---- values ---- */

/* One more entry in a list whose capacity doubles with its count. */
static void append(const struct parse *parse, const struct option_row *row, const char *value)
{
    const char ***list = (void *)((char *)parse->options + row->offset);
    size_t *count = (void *)((char *)parse->options + row->count_offset);
    if ((*count & (*count - 1)) == 0) {
        const char **grown = arena_array(parse->arena, *count ? 2 * *count : 1, sizeof(*grown));
        if (*count)
            memcpy(grown, *list, *count * sizeof(*grown));
        *list = grown;
    }
    (*list)[(*count)++] = value;
}

static enum status append_split(const struct parse *parse, const struct option_row *row, const char *value)
{
    for (const char *at = value;; at++) {
        const size_t length = strcspn(at, ",");
        if (!length)
            return err_set(parse->err, ERR_USAGE, "--%s %s: an element is empty", row->name, value);
        append(parse, row, arena_strndup(parse->arena, at, length));
        at += length;
        if (!*at)
            return STATUS_OK;
    }
}

static enum status append_pair(const struct parse *parse, const struct option_row *row, const char *value)
{
    if (value[strcspn(value, "=")] != '=' || value[0] == '=')
        return err_set(parse->err, ERR_USAGE, "--%s %s: expected %s", row->name, value, row->argument);
    append(parse, row, value);
    return STATUS_OK;
}

static enum status parse_whole(uint64_t *number, const struct parse *parse, const struct option_row *row,
                               const char *value, uint64_t least, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    const int base = text_starts(value, "0x") ? 16 : 10;
    const unsigned long long parsed = strtoull(value, &end, base);
    if (value[0] < '0' || value[0] > '9' || *end || errno || parsed < least || parsed > most)
        return err_set(parse->err, ERR_USAGE, "--%s %s: expected a whole number from %llu to %llu", row->name, value,
                       (unsigned long long)least, (unsigned long long)most);
    *number = parsed;
    return STATUS_OK;
}

static enum status find_choice(int *choice, const struct parse *parse, const struct option_row *row, const char *value)
{
    size_t count = 0;
    struct text list = {0};
    for (; row->choices[count]; count++) {
        if (strcmp(row->choices[count], value) == 0) {
            *choice = (int)count;
            text_release(&list);
            return STATUS_OK;
        }
        text_addf(&list, "%s%s", count ? ", " : "", row->choices[count]);
    }
    const char *near = suggest(value, row->choices, count);
    if (near)
        err_set(parse->err, ERR_USAGE, "--%s %s: unknown %s; did you mean '%s'?", row->name, value, row->name, near);
    else
        err_set(parse->err, ERR_USAGE, "--%s %s: expected one of %s", row->name, value, list.data);
    text_release(&list);
    return ERR_USAGE;
}

static enum status store(const struct parse *parse, const struct option_row *row, const char *value)
{
    void *field = (char *)parse->options + row->offset;
    uint64_t number = 0;
    int choice = 0;
    enum status status = STATUS_OK;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_COUNT_UP:
        *(int *)field += *(int *)field < INT_MAX;
        break;
    case OPTION_STRING:
        *(const char **)field = value;
        break;
    case OPTION_WORD:
    case OPTION_CHOICE:
        status = find_choice(&choice, parse, row, value);
        if (row->kind == OPTION_WORD)
            *(const char **)field = value;
        else
            memcpy(field, &choice, sizeof(choice)); /* an enum of which only this table knows the type */
        break;
    case OPTION_LIST:
        append(parse, row, value);
        break;
    case OPTION_PAIRS:
        return append_pair(parse, row, value);
    case OPTION_SPLIT:
        return append_split(parse, row, value);
    case OPTION_U64:
        status = parse_whole(field, parse, row, value, 0, UINT64_MAX);
        break;
    case OPTION_UNSIGNED:
        status = parse_whole(&number, parse, row, value, 1, MOST_JOBS);
        *(unsigned *)field = (unsigned)number;
        break;
    }
    return status;
}

/* ---- argp ---- */

static error_t on_key(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    if (key == ARGP_KEY_ARG) {
        parse->args[parse->options->arg_count++] = arg;
        return 0;
    }
    if (key <= 0 || key >= LONG_KEY + OPT_COUNT)
        return ARGP_ERR_UNKNOWN; /* argp's own events */
    const struct option_row *row = key < LONG_KEY ? find_short(parse, (char)key) : &option_rows[key - LONG_KEY];
    return store(parse, row, arg) ? EINVAL : 0;
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

static enum status check_count(const struct parse *parse)
{
    const struct command *command = parse->command;
    const size_t count = parse->options->arg_count;
    if (parse->options->help)
        return STATUS_OK;
    if (count < command->min_args)
        return err_set(parse->err, ERR_USAGE, "'rooftile %s' needs %s; try 'rooftile %s --help'", command->name,
                       command->args, command->name);
    if (count > command->max_args) {
        const char *extra = parse->options->args[command->max_args];
        return fail_with_hint(parse, "unexpected argument", extra, (int)strnlen(extra, 200));
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
    enum status status = check_words(&parse);
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
    for (; k < argc && looks_like_option(argv[k]) && strcmp(argv[k], "--") != 0; k++) {
        enum status status = check_option(&parse, &k);
        if (status)
            return status;
    }
    *index = k < argc ? k : argc;
    return STATUS_OK;
}
