/* SPDX-License-Identifier: MIT */
#include "rooftile/json_table.h"

#include <math.h>
#include <string.h>

#include "rooftile/text.h"
#include "rooftile/units.h"

/* Keys of one object; more are a mistake in the table. */
#define MAX_KEYS 64

enum status json_check_table(const struct json *at, const struct json_key *keys, size_t count, struct err *err)
{
    const char *names[MAX_KEYS];
    for (size_t k = 0; k < count && k < MAX_KEYS; k++)
        names[k] = keys[k].key;
    return json_check_keys(at, names, count, err);
}

enum status json_read_table(void *object, const struct json *at, const struct json_key *keys, size_t count,
                            struct json_into *into, struct err *err)
{
    enum status status = json_check_table(at, keys, count, err);
    for (size_t k = 0; k < count && !status; k++) {
        const struct json *member = json_member(at, keys[k].key);
        into->object = object;
        if (member && keys[k].read)
            status = keys[k].read((char *)object + keys[k].field, member, &keys[k], into, err);
        else if (!member && keys[k].need == JSON_REQUIRED)
            status = json_fail(at, err, "the key '%s' is missing", keys[k].key);
    }
    return status;
}

static enum status check_type(const struct json *at, enum json_type type, struct err *err)
{
    return at->type == type ? STATUS_OK
                            : json_fail(at, err, "must be %s, not %s", json_type_name(type), json_type_name(at->type));
}

enum status json_into_string(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    (void)key;
    (void)into;
    const enum status status = check_type(at, JSON_STRING, err);
    if (!status)
        *(const char **)field = at->string;
    return status;
}

enum status json_into_text(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                           struct err *err)
{
    if (at->type == JSON_STRING && !*at->string)
        return json_fail(at, err, "is empty");
    return json_into_string(field, at, key, into, err);
}

enum status json_into_number(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    (void)key;
    (void)into;
    const enum status status = check_type(at, JSON_NUMBER, err);
    if (!status)
        *(double *)field = at->number;
    return status;
}

enum status json_into_u64(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                          struct err *err)
{
    double number = 0;
    const enum status status = json_into_number(&number, at, key, into, err);
    if (status)
        return status;
    if (number < 0 || number > 0x1p53 || number != floor(number))
        return json_fail(at, err, "must be a whole number from 0 to 2^53, not %.17g", number);
    *(uint64_t *)field = (uint64_t)number;
    return STATUS_OK;
}

enum status json_into_bool(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                           struct err *err)
{
    (void)key;
    (void)into;
    const enum status status = check_type(at, JSON_BOOL, err);
    if (!status)
        *(bool *)field = at->boolean;
    return status;
}

enum status json_into_time_ns(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    const char *text = NULL;
    double time_ns = 0;
    const enum status status = json_into_string(&text, at, key, into, err);
    if (status)
        return status;
    if (!units_parse_time_ns(&time_ns, text))
        return json_fail(at, err, "must be a duration such as \"0.5 s\"");
    *(double *)field = time_ns;
    return STATUS_OK;
}

enum status json_into_array(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                            struct err *err)
{
    (void)key;
    (void)into;
    const enum status status = check_type(at, JSON_ARRAY, err);
    if (!status)
        *(const struct json **)field = at;
    return status;
}

/* ---- lists ---- */

static void set_list(void *field, const void *list, size_t count, const struct json_key *key, void *object)
{
    memcpy(field, &list, sizeof(list));
    *(size_t *)((char *)object + key->count) = count;
}

enum status json_into_strings(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    enum status status = check_type(at, JSON_ARRAY, err);
    if (status)
        return status;
    const char **list = arena_array(into->arena, at->count, sizeof(*list));
    size_t count = 0;
    for (const struct json *item = at->first; item; item = item->next) {
        status = json_into_text(&list[count], item, key, into, err);
        for (size_t k = 0; k < count && !status && key->more; k++)
            if (strcmp(list[k], item->string) == 0)
                status = json_fail(item, err, "'%s' stands here twice", item->string);
        if (status)
            return status;
        count++;
    }
    set_list(field, list, count, key, into->object);
    return STATUS_OK;
}

const struct json *json_entry(const struct json *member)
{
    while (member && text_starts(member->key, "//"))
        member = member->next;
    return member;
}

size_t json_entry_count(const struct json *object)
{
    size_t count = 0;
    for (const struct json *member = json_entry(object->first); member; member = json_entry(member->next))
        count++;
    return count;
}

bool json_is_identifier(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text && strchr(letters, *text) && text[strspn(text, others)] == '\0';
}

/* One list is as good as the other, but that members have keys and comments. */
static enum status read_elements(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                 struct err *err)
{
    const struct json_elements *elements = key->more;
    const bool members = at->type == JSON_OBJECT;
    const size_t count = members ? json_entry_count(at) : at->count;
    char *list = arena_array(into->arena, count + 1, elements->size);
    void *object = into->object;
    enum status status = STATUS_OK;
    size_t filled = 0;
    for (const struct json *item = members ? json_entry(at->first) : at->first; item && !status;
         item = members ? json_entry(item->next) : item->next) {
        if (members && elements->named && !json_is_identifier(item->key))
            return json_fail_key(item, err,
                                 "the name of a %s has letters, digits and '_' only and starts with no digit",
                                 elements->named);
        status = elements->read(list + elements->size * filled++, item, key, into, err);
    }
    if (!status)
        set_list(field, list, count, key, object);
    return status;
}

enum status json_into_items(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                            struct err *err)
{
    const enum status status = check_type(at, JSON_ARRAY, err);
    return status ? status : read_elements(field, at, key, into, err);
}

enum status json_into_members(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    const enum status status = check_type(at, JSON_OBJECT, err);
    return status ? status : read_elements(field, at, key, into, err);
}

/* ---- names ---- */

/* "; did you mean 'x'?", or "; known are a, b, c" when nothing is near and the list is short enough to help. */
static void add_hint(struct text *hint, const char *word, const char *const *candidates, size_t count)
{
    const size_t few = 24;
    const char *near = text_nearest(word, candidates, count);
    text_add(hint, "");
    if (near) {
        text_addf(hint, "; did you mean '%s'?", near);
        return;
    }
    for (size_t k = 0; k < count && count <= few; k++)
        text_addf(hint, "%s%s", k ? ", " : "; known are ", candidates[k]);
}

enum status json_fail_unknown(const struct json *at, struct err *err, const char *problem, const char *word,
                              const char *const *candidates, size_t count)
{
    struct text hint = {0};
    add_hint(&hint, word, candidates, count);
    json_fail(at, err, "%s '%s'%s", problem, word, hint.data);
    text_release(&hint);
    return ERR_CONFIG;
}

enum status json_fail_unknown_key(const struct json *at, struct err *err, const char *problem,
                                  const char *const *candidates, size_t count)
{
    struct text hint = {0};
    add_hint(&hint, at->key, candidates, count);
    json_fail_key(at, err, "%s '%s'%s", problem, at->key, hint.data);
    text_release(&hint);
    return ERR_CONFIG;
}

enum status json_choose(size_t *out, const struct json *at, const char *what, const char *const *names, size_t count,
                        struct err *err)
{
    enum status status = check_type(at, JSON_STRING, err);
    if (status)
        return status;
    for (size_t k = 0; k < count; k++) {
        if (strcmp(at->string, names[k]) == 0) {
            *out = k;
            return STATUS_OK;
        }
    }
    struct text problem = {0};
    text_addf(&problem, "unknown %s", what);
    status = json_fail_unknown(at, err, problem.data, at->string, names, count);
    text_release(&problem);
    return status;
}

enum status json_into_choice(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    (void)into;
    const char *const *names = key->more;
    size_t count = 0, choice = 0;
    while (names[count])
        count++;
    const enum status status = json_choose(&choice, at, key->key, names, count, err);
    if (!status)
        *(unsigned *)field = (unsigned)choice; /* what gcc and clang make of an enum without negative values */
    return status;
}
