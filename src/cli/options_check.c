/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "options_internal.h"

enum status parse_fail(const struct parse *parse, const char *what, const char *word, int length)
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
        return parse_fail(parse, "unknown option", word, (int)length);
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

const struct option_row *parse_find_short(const struct parse *parse, char key)
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
    return word[0] == '-' && word[1] && !word[2] && parse_find_short(parse, word[1]);
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
    if (row->kind == OPTION_TWO) {
        if (word[length])
            return err_set(parse->err, ERR_USAGE, "option '--%s' takes two words: --%s %s", row->name, row->name,
                           row->argument);
        enum status status = check_value(parse, row, ++*index < parse->argc ? parse->argv[*index] : NULL);
        return status ? status : check_value(parse, row, ++*index < parse->argc ? parse->argv[*index] : NULL);
    }
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
        const struct option_row *row = parse_find_short(parse, *key);
        if (!row)
            return parse_fail(parse, "unknown option", arena_printf(parse->arena, "-%c", *key), 2);
        if (row->argument && key[1])
            return STATUS_OK;
        if (row->argument)
            return check_value(parse, row, ++*index < parse->argc ? parse->argv[*index] : NULL);
    }
    return STATUS_OK;
}

enum status parse_check_option(const struct parse *parse, int *index)
{
    return text_starts(parse->argv[*index], "--") ? check_long(parse, index) : check_short(parse, index);
}

bool parse_is_option(const char *word)
{
    return word[0] == '-' && word[1];
}

enum status parse_check_words(const struct parse *parse)
{
    for (int k = 1; k < parse->argc && strcmp(parse->argv[k], "--") != 0; k++) {
        enum status status = parse_is_option(parse->argv[k]) ? parse_check_option(parse, &k) : STATUS_OK;
        if (status)
            return status;
    }
    return STATUS_OK;
}
