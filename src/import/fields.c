/* SPDX-License-Identifier: MIT */
#include "fields.h"

const char *field(const struct fields *fields, const char *names)
{
    for (const char *at = names; *at; at += strspn(at, "|")) {
        const size_t length = strcspn(at, "|");
        for (size_t k = 0; k < fields->count; k++)
            if (strlen(fields->keys[k]) == length &&
                !(fields->any_case ? strncasecmp : strncmp)(fields->keys[k], at, length) && fields->values[k])
                return fields->values[k];
        at += length;
    }
    return fields->behind ? field(fields->behind, names) : NULL;
}

const char *field_or(const struct fields *fields, const char *names, const char *otherwise)
{
    const char *value = field(fields, names);
    return value && *value ? value : otherwise;
}

double field_number(const struct fields *fields, const char *names, double otherwise)
{
    const char *value = field(fields, names);
    char *end = NULL;
    const double number = value ? strtod(value, &end) : otherwise;
    return end == value ? otherwise : number;
}

/* ---- lines ---- */

size_t split_cells(const char *cells[static MOST_FIELDS], char *at)
{
    size_t count = 0;
    for (bool more = true; more && count < MOST_FIELDS; at++) {
        at += strspn(at, " \t");
        char *out = at, *end = at; /* end: behind the last that is no blank */
        cells[count++] = at;
        for (bool quoted = false; *at && (quoted || *at != ','); at++) {
            if (*at == '"' && !(quoted && at[1] == '"')) {
                quoted = !quoted;
                continue;
            }
            at += *at == '"';
            *out++ = *at;
            end = quoted || !isspace((unsigned char)*at) ? out : end;
        }
        more = *at == ',';
        *end = '\0';
    }
    return count;
}

static void add_field(struct fields *out, char *key, char *value)
{
    if (out->count == MOST_FIELDS)
        return;
    out->keys[out->count] = key;
    out->values[out->count++] = value;
}

void split_options(struct fields *out, char *line)
{
    char *place = NULL;
    for (char *word = strtok_r(line, " \t", &place); word; word = strtok_r(NULL, " \t", &place)) {
        if (word[0] == '-' && word[1] && !strchr("0123456789.", word[1]))
            add_field(out, word + strspn(word, "-"), word + strlen(word));
        else if (out->count && !out->values[out->count - 1][0])
            out->values[out->count - 1] = word;
        else if (!out->word)
            out->word = word;
    }
}

void split_pairs(struct fields *out, char *at)
{
    static const char around[] = " \t\r,{}()[]'\"";
    while (*(at += strspn(at, around))) {
        char *key = at, *value;
        at += strcspn(at, " \t,{}:=");
        value = *at == ':' || *at == '=' ? at + 1 : NULL;
        if (!value) /* a word */
            continue;
        *at = '\0';
        key[strcspn(key, "'\"")] = '\0';
        value += strspn(value, " \t");
        const char quote = *value == '\'' || *value == '"' ? *value : 0;
        value += quote != 0;
        at = value + (quote ? strcspn(value, (const char[]){quote, 0}) : strcspn(value, around));
        if (*at)
            *at++ = '\0';
        add_field(out, key + strspn(key, "-"), value);
    }
}
