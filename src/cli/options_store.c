/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "options_internal.h"

#define MOST_JOBS 1024

/* One more entry in a list whose capacity doubles with its count. */
static void append(const struct parse *parse, const struct option_row *row, const char *value)
{
    void *field = (char *)parse->options + row->offset;
    size_t *count = (void *)((char *)parse->options + row->count_offset);
    const char **list;
    memcpy(&list, field, sizeof(list)); /* its entries are const to everybody else */
    if ((*count & (*count - 1)) == 0) {
        const char **grown = arena_array(parse->arena, *count ? 2 * *count : 1, sizeof(*grown));
        if (*count)
            memcpy(grown, list, *count * sizeof(*grown));
        list = grown;
        memcpy(field, &list, sizeof(list));
    }
    list[(*count)++] = value;
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

enum status parse_store(const struct parse *parse, const struct option_row *row, const char *value)
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
    case OPTION_TWO: /* the second word is on_key's */
        ((const char **)field)[0] = value;
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
