/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "rooftile/json.h"
#include "rooftile/text.h"
#include "rooftile/units.h"

const struct json *json_member(const struct json *object, const char *key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    const struct json *member = object->first;
    while (member && strcmp(member->key, key) != 0)
        member = member->next;
    return member;
}

const struct json *json_at(const struct json *array, size_t index)
{
    if (!array || index >= array->count)
        return NULL;
    const struct json *element = array->first;
    while (index--)
        element = element->next;
    return element;
}

static bool is_known(const char *key, const char *const *keys, size_t count)
{
    if (text_starts(key, "$schema") || text_starts(key, "//"))
        return true;
    for (size_t k = 0; k < count; k++)
        if (strcmp(key, keys[k]) == 0)
            return true;
    return false;
}

static enum status fail_type(const struct json *value, enum json_type wanted, struct err *err)
{
    return json_fail(value, err, "must be %s, not %s", json_type_name(wanted), json_type_name(value->type));
}

enum status json_check_keys(const struct json *value, const char *const *keys, size_t count, struct err *err)
{
    if (value->type != JSON_OBJECT)
        return fail_type(value, JSON_OBJECT, err);
    for (const struct json *member = value->first; member; member = member->next) {
        if (is_known(member->key, keys, count))
            continue;
        const char *near = text_nearest(member->key, keys, count);
        if (near)
            return json_fail_key(member, err, "unknown key; did you mean '%s'?", near);
        return json_fail_key(member, err, "unknown key");
    }
    return STATUS_OK;
}

/* *member is NULL when an optional one is absent. */
static enum status get(const struct json **member, const struct json *object, const char *key, enum json_type type,
                       enum json_need need, struct err *err)
{
    if (object->type != JSON_OBJECT)
        return fail_type(object, JSON_OBJECT, err);
    *member = json_member(object, key);
    if (!*member)
        return need == JSON_REQUIRED ? json_fail(object, err, "the key '%s' is missing", key) : STATUS_OK;
    return (*member)->type == type ? STATUS_OK : fail_type(*member, type, err);
}

enum status json_get_string(const char **out, const struct json *object, const char *key, enum json_need need,
                            struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_STRING, need, err);
    if (!status && member)
        *out = member->string;
    return status;
}

enum status json_get_number(double *out, const struct json *object, const char *key, enum json_need need,
                            struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_NUMBER, need, err);
    if (!status && member)
        *out = member->number;
    return status;
}

enum status json_get_u64(uint64_t *out, const struct json *object, const char *key, enum json_need need,
                         struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_NUMBER, need, err);
    if (status || !member)
        return status;
    const double number = member->number;
    if (number < 0 || number > 0x1p53 || number != floor(number))
        return json_fail(member, err, "must be a whole number from 0 to 2^53, not %.17g", number);
    *out = (uint64_t)number;
    return STATUS_OK;
}

enum status json_get_bool(bool *out, const struct json *object, const char *key, enum json_need need, struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_BOOL, need, err);
    if (!status && member)
        *out = member->boolean;
    return status;
}

enum status json_get_object(const struct json **out, const struct json *object, const char *key, enum json_need need,
                            struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_OBJECT, need, err);
    if (!status && member)
        *out = member;
    return status;
}

enum status json_get_array(const struct json **out, const struct json *object, const char *key, enum json_need need,
                           struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_ARRAY, need, err);
    if (!status && member)
        *out = member;
    return status;
}

enum status json_get_time_ns(double *out, const struct json *object, const char *key, enum json_need need,
                             struct err *err)
{
    const struct json *member;
    enum status status = get(&member, object, key, JSON_STRING, need, err);
    if (status || !member)
        return status;
    double time_ns;
    if (!units_parse_time_ns(&time_ns, member->string))
        return json_fail(member, err, "must be a duration such as \"0.5 s\"");
    *out = time_ns;
    return STATUS_OK;
}
