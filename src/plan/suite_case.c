/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/text.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

enum status suite_read_params(struct param **params, size_t *count, const struct json *object, struct arena *arena,
                              struct err *err)
{
    struct param *read = arena_array(arena, object->count, sizeof(*read));
    size_t at = 0;
    for (const struct json *member = object->first; member; member = member->next, at++) {
        read[at].name = member->key;
        read[at].at = member;
        enum status status = sweep_value_from_json(&read[at].value, member, arena, err);
        if (status)
            return status;
    }
    *params = read;
    *count = object->count;
    return STATUS_OK;
}

enum status suite_read_strings(const char *const **strings, size_t *count, const struct json *object, const char *key,
                               struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, object, key, JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    const char **read = arena_array(arena, array->count, sizeof(*read));
    size_t at = 0;
    for (const struct json *child = array->first; child; child = child->next) {
        if (child->type != JSON_STRING)
            return json_fail(child, err, "expected a string, found %s", json_type_name(child->type));
        if (!*child->string)
            return json_fail(child, err, "an empty string");
        read[at++] = child->string;
    }
    *strings = read;
    *count = array->count;
    return STATUS_OK;
}

/* Defaults first, so that a case's own value of the same name comes later and wins. */
static enum status join_params(struct suite_case *out, const struct json *json, const struct suite_case *defaults,
                               struct arena *arena, struct err *err)
{
    const struct json *object = NULL;
    struct param *own = NULL;
    size_t own_count = 0;
    enum status status = json_get_object(&object, json, "params", JSON_OPTIONAL, err);
    if (!status && object)
        status = suite_read_params(&own, &own_count, object, arena, err);
    if (status)
        return status;
    out->default_count = defaults->param_count;
    out->param_count = defaults->param_count + own_count;
    struct param *joined = arena_array(arena, out->param_count, sizeof(*joined));
    if (defaults->param_count)
        memcpy(joined, defaults->params, defaults->param_count * sizeof(*joined));
    if (own_count)
        memcpy(joined + defaults->param_count, own, own_count * sizeof(*joined));
    out->params = joined;
    return STATUS_OK;
}

static enum status read_sweeps(struct suite_case *out, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *object = NULL;
    enum status status = json_get_object(&object, json, "sweep", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    const struct json *fixed = json_member(json, "params");
    struct sweep *sweeps = arena_array(arena, object->count, sizeof(*sweeps));
    size_t at = 0;
    for (const struct json *member = object->first; member; member = member->next) {
        if (json_member(fixed, member->key))
            return json_fail_key(member, err, "'%s' stands in params too", member->key);
        status = sweep_from_json(&sweeps[at++], member->key, member, arena, err);
        if (status)
            return status;
    }
    out->sweeps = sweeps;
    out->sweep_count = object->count;
    return STATUS_OK;
}

static const struct sweep *find_sweep(const struct suite_case *suite_case, const char *param)
{
    for (size_t k = 0; k < suite_case->sweep_count; k++)
        if (strcmp(suite_case->sweeps[k].param, param) == 0)
            return &suite_case->sweeps[k];
    return NULL;
}

/* The zip group that names the parameter, or SIZE_MAX. */
static size_t zip_of(const struct suite_case *suite_case, const char *param)
{
    for (size_t group = 0; group < suite_case->zip_count; group++)
        for (const char *const *name = suite_case->zips[group]; *name; name++)
            if (strcmp(*name, param) == 0)
                return group;
    return SIZE_MAX;
}

/* out->zips holds the groups before this one; `names` is filled as far as it is checked. */
static enum status read_zip(const char **names, const struct suite_case *out, const struct json *group, struct err *err)
{
    if (group->type != JSON_ARRAY || group->count < 2)
        return json_fail(group, err, "a zip group is an array of at least two parameter names");
    size_t count = 0;
    for (const struct json *child = group->first; child; child = child->next) {
        if (child->type != JSON_STRING)
            return json_fail(child, err, "expected a string, found %s", json_type_name(child->type));
        const struct sweep *sweep = find_sweep(out, child->string);
        if (!sweep)
            return json_fail(child, err, "'%s' is not swept in this case", child->string);
        bool twice = zip_of(out, child->string) != SIZE_MAX;
        for (size_t k = 0; k < count; k++)
            twice = twice || strcmp(names[k], child->string) == 0;
        if (twice)
            return json_fail(child, err, "'%s' is zipped twice", child->string);
        const size_t first = count ? find_sweep(out, names[0])->count : sweep->count;
        if (sweep->count != first)
            return json_fail(child, err, "'%s' takes %zu values but '%s' takes %zu: zipped parameters advance together",
                             child->string, sweep->count, names[0], first);
        names[count++] = child->string;
    }
    return STATUS_OK;
}

static enum status read_zips(struct suite_case *out, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, json, "zip", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    const char *const **groups = arena_array(arena, array->count, sizeof(*groups));
    out->zips = groups;
    for (const struct json *group = array->first; group; group = group->next) {
        const char **names = arena_array(arena, group->count + 1, sizeof(*names));
        status = read_zip(names, out, group, err);
        if (status)
            return status;
        groups[out->zip_count++] = names;
    }
    return STATUS_OK;
}

size_t suite_case_combinations(const struct suite_case *suite_case)
{
    const size_t limit = (size_t)SUITE_MAX_CASES + 1;
    size_t total = 1;
    for (size_t k = 0; k < suite_case->sweep_count; k++) {
        const struct sweep *sweep = &suite_case->sweeps[k];
        const size_t group = zip_of(suite_case, sweep->param);
        const bool counted = group == SIZE_MAX || strcmp(suite_case->zips[group][0], sweep->param) == 0;
        if (!counted)
            continue;
        if (sweep->count > limit / total)
            return limit;
        total *= sweep->count;
    }
    return total;
}

static enum status read_tags(struct suite_case *out, const struct json *json, const struct suite_case *defaults,
                             struct arena *arena, struct err *err)
{
    const char *const *own = NULL;
    size_t own_count = 0;
    enum status status = suite_read_strings(&own, &own_count, json, "tags", arena, err);
    if (status)
        return status;
    const char **tags = arena_array(arena, defaults->tag_count + own_count, sizeof(*tags));
    for (size_t k = 0; k < defaults->tag_count; k++)
        tags[k] = defaults->tags[k];
    for (size_t k = 0; k < own_count; k++)
        tags[defaults->tag_count + k] = own[k];
    out->tags = tags;
    out->tag_count = defaults->tag_count + own_count;
    return STATUS_OK;
}

enum status suite_read_case(struct suite_case *suite_case, const struct json *json, const struct suite_case *defaults,
                            struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"kernel", "params", "sweep", "zip", "exclude", "measure", "tags", "shapes"};
    struct suite_case read = {.measure = defaults->measure, .at = json};
    enum status status = json_check_keys(json, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&read.kernel, json, "kernel", JSON_REQUIRED, err);
    if (!status)
        status = join_params(&read, json, defaults, arena, err);
    if (!status)
        status = read_sweeps(&read, json, arena, err);
    if (!status)
        status = read_zips(&read, json, arena, err);
    if (!status)
        status = suite_read_strings(&read.excludes, &read.exclude_count, json, "exclude", arena, err);
    if (!status && json_member(json, "measure"))
        status = measure_from_json(&read.measure, json_member(json, "measure"), err);
    if (!status)
        status = read_tags(&read, json, defaults, arena, err);
    if (status)
        return status;
    if (suite_case_combinations(&read) > SUITE_MAX_CASES)
        return json_fail(json, err, "the sweeps expand to more than %u cases", SUITE_MAX_CASES);
    *suite_case = read;
    return STATUS_OK;
}
