/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define MOST_JOBS 1024

struct parse {
    const struct command *command; /* NULL: the words before the command */
    enum option_id ids[OPT_COUNT];
    size_t id_count;
    int argc;
    char **argv;
    int at;                      /* the word being parsed */
    struct cli_options *options; /* to fill */
    const char **args;           /* options->args while it is filled; NULL: the first argument ends it */
    struct arena *arena;
    struct err *err;
};

/* ERR_USAGE "<what> '<word>'; try ...", with `length` bytes of the word. */
static enum status fail(const struct parse *parse, const char *what, const char *word, size_t length)
{
    const char *name = parse->command ? parse->command->name : NULL;
    return err_set(parse->err, ERR_USAGE, "%s '%.*s'%s; try 'rooftile %s%s--help'", what, (int)length, word,
                   name ? "" : " before the command", name ? name : "", name ? " " : "");
}

/* ---- values ---- */

/* One more entry in a list of which only this table knows the field. */
static void append(const struct parse *parse, const struct option_row *row, const char *value)
{
    void *field = (char *)parse->options + row->offset;
    size_t *count = (void *)((char *)parse->options + row->count_offset);
    const char **list;
    memcpy(&list, field, sizeof(list)); /* its entries are const to everybody else */
    ARENA_PUSH(parse->arena, list, *count, value);
    memcpy(field, &list, sizeof(list));
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
    for (; row->choices[count] && strcmp(row->choices[count], value) != 0; count++)
        text_addf(&list, "%s%s", count ? ", " : "", row->choices[count]);
    *choice = (int)count;
    if (!row->choices[count] && text_nearest(value, row->choices, count)) {
        err_set(parse->err, ERR_USAGE, "--%s %s: unknown %s", row->name, value, row->name);
        err_nearest(parse->err, value, row->choices, count, NULL);
    } else if (!row->choices[count]) {
        err_set(parse->err, ERR_USAGE, "--%s %s: expected one of %s", row->name, value, list.data);
    }
    text_release(&list);
    return row->choices[count] ? STATUS_OK : ERR_USAGE;
}

/* Puts a value into the field of its option. */
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
    case OPTION_TWO: /* take_two stores them */
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

/* ---- words ---- */

static enum status unknown_long(const struct parse *parse, const char *word, size_t length)
{
    const char *names[OPT_COUNT];
    for (size_t k = 0; k < parse->id_count; k++)
        names[k] = option_rows[parse->ids[k]].name;
    const char *near = text_nearest(arena_strndup(parse->arena, word + 2, length - 2), names, parse->id_count);
    if (!near)
        return fail(parse, "unknown option", word, length);
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
static bool names_option(const struct parse *parse, const char *word)
{
    if (text_starts(word, "--"))
        return !word[2] || find_long(parse, word + 2, strcspn(word + 2, "="));
    return word[0] == '-' && word[1] && !word[2] && find_short(parse, word[1]);
}

/* The next word, as a value of the option. */
static enum status next_value(const char **value, struct parse *parse, const struct option_row *row)
{
    const char *word = ++parse->at < parse->argc ? parse->argv[parse->at] : "";
    if (*word && !names_option(parse, word)) {
        *value = word;
        return STATUS_OK;
    }
    return err_set(parse->err, ERR_USAGE, "option '--%s' needs a value: --%s %s%s%s%s", row->name, row->name,
                   row->argument, *word ? " (next is the option '" : "", word, *word ? "')" : "");
}

static enum status take_two(struct parse *parse, const struct option_row *row)
{
    const char **field = (void *)((char *)parse->options + row->offset);
    const enum status status = next_value(&field[0], parse, row);
    return status ? status : next_value(&field[1], parse, row);
}

/* Stores the option with its value: `attached` to its own word, or (NULL) the next word. */
static enum status take(struct parse *parse, const struct option_row *row, const char *attached)
{
    const char *value = attached;
    if (!row->argument && attached)
        return err_set(parse->err, ERR_USAGE, "option '--%s' takes no value", row->name);
    if (row->kind == OPTION_TWO && attached)
        return err_set(parse->err, ERR_USAGE, "option '--%s' takes two words: --%s %s", row->name, row->name,
                       row->argument);
    if (row->kind == OPTION_TWO)
        return take_two(parse, row);
    if (attached && !*attached)
        return err_set(parse->err, ERR_USAGE, "option '--%s' needs a value: --%s %s", row->name, row->name,
                       row->argument);
    if (row->argument && !attached && next_value(&value, parse, row))
        return ERR_USAGE;
    return store(parse, row, value);
}

static enum status long_option(struct parse *parse, const char *word)
{
    const size_t length = strcspn(word, "=");
    const struct option_row *row = find_long(parse, word + 2, length - 2);
    return row ? take(parse, row, word[length] ? word + length + 1 : NULL) : unknown_long(parse, word, length);
}

/* Several may be joined; the rest of the word is the value of one that takes a value. */
static enum status short_options(struct parse *parse, const char *word)
{
    const struct option_row *meant = find_long(parse, word + 1, strcspn(word + 1, "="));
    if (meant)
        return err_set(parse->err, ERR_USAGE, "unknown option '%s'; did you mean '--%s'?", word, meant->name);
    for (const char *key = word + 1; *key; key++) {
        const struct option_row *row = find_short(parse, *key);
        if (!row)
            return fail(parse, "unknown option", arena_printf(parse->arena, "-%c", *key), 2);
        enum status status = take(parse, row, row->argument && key[1] ? key + 1 : NULL);
        if (status || row->argument)
            return status;
    }
    return STATUS_OK;
}

static enum status parse_words(struct parse *parse)
{
    bool options_end = false;
    for (parse->at = 1; parse->at < parse->argc; parse->at++) {
        const char *word = parse->argv[parse->at];
        const bool dashes = !options_end && strcmp(word, "--") == 0;
        enum status status = STATUS_OK;
        if (options_end || dashes || word[0] != '-' || !word[1]) {
            if (!parse->args)
                return STATUS_OK;
            if (!dashes)
                parse->args[parse->options->arg_count++] = word;
            options_end |= dashes;
            continue;
        }
        status = word[1] == '-' ? long_option(parse, word) : short_options(parse, word);
        if (status)
            return status;
    }
    return STATUS_OK;
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
        return fail(parse, "unexpected argument", extra, strnlen(extra, 200));
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
    enum status status = parse_words(&parse);
    if (!status)
        status = check_count(&parse);
    if (!status)
        *options = parsed;
    return status;
}

enum status options_first_argument(int *index, int argc, char **argv, struct arena *arena, struct err *err)
{
    struct cli_options common;
    struct parse parse = {
        .id_count = COMMON_OPTIONS, .argc = argc, .argv = argv, .options = &common, .arena = arena, .err = err};
    memcpy(parse.ids, common_options, sizeof(common_options));
    options_defaults(&common);
    enum status status = parse_words(&parse);
    if (!status)
        *index = parse.at;
    return status;
}
