/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "manifest_internal.h"
#include "rooftile/text.h"

static const struct json *skip_comments(const struct json *member)
{
    while (member && text_starts(member->key, "//"))
        member = member->next;
    return member;
}

const struct json *entry_first(const struct json *object)
{
    return skip_comments(object->first);
}

const struct json *entry_next(const struct json *member)
{
    return skip_comments(member->next);
}

size_t entry_count(const struct json *object)
{
    size_t count = 0;
    for (const struct json *member = entry_first(object); member; member = entry_next(member))
        count++;
    return count;
}

const char *const *entry_names(const struct json *object, struct arena *arena)
{
    const char **names = arena_array(arena, entry_count(object), sizeof(*names));
    size_t count = 0;
    for (const struct json *member = entry_first(object); member; member = entry_next(member))
        names[count++] = member->key;
    return names;
}

/* "; did you mean 'x'?", or "; known are a, b, c" when nothing is near and the list is short enough to help. */
static void add_hint(struct text *hint, const char *word, const char *const *candidates, size_t count)
{
    const size_t few = 24;
    const char *near = text_nearest(word, candidates, count);
    if (near) {
        text_addf(hint, "; did you mean '%s'?", near);
        return;
    }
    for (size_t i = 0; i < count && count <= few; i++)
        text_addf(hint, "%s%s", i ? ", " : "; known are ", candidates[i]);
}

enum status fail_unknown(const struct json *at, struct err *err, const char *problem, const char *word,
                         const char *const *candidates, size_t count)
{
    struct text hint = {0};
    text_add(&hint, "");
    add_hint(&hint, word, candidates, count);
    json_fail(at, err, "%s '%s'%s", problem, word, hint.data);
    text_release(&hint);
    return ERR_CONFIG;
}

enum status fail_unknown_key(const struct json *at, struct err *err, const char *problem, const char *const *candidates,
                             size_t count)
{
    struct text hint = {0};
    text_add(&hint, "");
    add_hint(&hint, at->key, candidates, count);
    json_fail_key(at, err, "%s '%s'%s", problem, at->key, hint.data);
    text_release(&hint);
    return ERR_CONFIG;
}

enum status get_choice(int *out, const struct json *object, const char *key, enum json_need need,
                       const char *const *names, size_t count, struct err *err)
{
    const char *word = NULL;
    const enum status status = json_get_string(&word, object, key, need, err);
    if (status || !word)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = (int)i;
            return STATUS_OK;
        }
    }
    struct text problem = {0};
    text_addf(&problem, "unknown %s", key);
    fail_unknown(json_member(object, key), err, problem.data, word, names, count);
    text_release(&problem);
    return ERR_CONFIG;
}

enum status get_strings(const char *const **out, size_t *count, const struct json *object, const char *key,
                        struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    const enum status status = json_get_array(&array, object, key, JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    const char **strings = arena_array(arena, array->count, sizeof(*strings));
    size_t filled = 0;
    for (const struct json *item = array->first; item; item = item->next) {
        if (item->type != JSON_STRING)
            return json_fail(item, err, "must be a string, not %s", json_type_name(item->type));
        if (!*item->string)
            return json_fail(item, err, "is empty");
        for (size_t i = 0; i < filled; i++)
            if (strcmp(strings[i], item->string) == 0)
                return json_fail(item, err, "'%s' stands here twice", item->string);
        strings[filled++] = item->string;
    }
    *out = strings;
    *count = filled;
    return STATUS_OK;
}

bool is_identifier(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text && strchr(letters, *text) && text[strspn(text, others)] == '\0';
}

enum status check_entry_names(const struct json *object, const char *what, struct err *err)
{
    for (const struct json *member = entry_first(object); member; member = entry_next(member))
        if (!is_identifier(member->key))
            return json_fail_key(member, err,
                                 "the name of a %s has letters, digits and '_' only and starts with no digit", what);
    return STATUS_OK;
}

enum status get_numbers(const double **out, size_t *count, const struct json *array, struct arena *arena,
                        struct err *err)
{
    if (array->type != JSON_ARRAY)
        return json_fail(array, err, "must be an array, not %s", json_type_name(array->type));
    if (array->count == 0)
        return json_fail(array, err, "the list is empty");
    double *numbers = arena_array(arena, array->count, sizeof(*numbers));
    size_t filled = 0;
    for (const struct json *item = array->first; item; item = item->next) {
        if (item->type != JSON_NUMBER)
            return json_fail(item, err, "must be a number, not %s", json_type_name(item->type));
        numbers[filled++] = item->number;
    }
    *out = numbers;
    *count = filled;
    return STATUS_OK;
}
