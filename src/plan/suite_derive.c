/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/text.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* What a derive may have besides name and method, and which methods have it. */
static const struct derive_key {
    const char *key;
    const char *methods[4]; /* that need it; NULL-terminated */
    bool others;            /* not these methods but all others */
} derive_keys[] = {
    {"kernel", {"shares"}, true}, {"x", {"shares", "ratio"}, true}, {"y", {"shares"}, true},
    {"rows", {"matrix"}, false},  {"to", {"ratio"}, false},         {"layers", {"shares"}, false},
    {"parts", {"shares"}, false},
};

static bool needs(const struct derive_key *key, const char *method)
{
    bool named = false;
    for (size_t k = 0; k < COUNT_OF(key->methods) && key->methods[k]; k++)
        named = named || strcmp(key->methods[k], method) == 0;
    return named != key->others;
}

static enum status check_keys(const struct json *json, const char *method, struct err *err)
{
    for (size_t k = 0; k < COUNT_OF(derive_keys); k++) {
        const struct json *member = json_member(json, derive_keys[k].key);
        const bool needed = needs(&derive_keys[k], method);
        if (needed && !member)
            return json_fail(json, err, "the key '%s' is missing: the method '%s' has it", derive_keys[k].key, method);
        if (!needed && member)
            return json_fail_key(member, err, "the method '%s' has no '%s'", method, derive_keys[k].key);
    }
    return STATUS_OK;
}

static enum status read_parts(struct suite_derive *derive, const struct json *json, struct arena *arena,
                              struct err *err)
{
    const struct json *object = NULL;
    enum status status = json_get_object(&object, json, "parts", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    struct suite_part *parts = arena_array(arena, object->count + 1, sizeof(*parts));
    for (const struct json *member = object->first; member; member = member->next) {
        if (strncmp(member->key, "//", 2) == 0)
            continue;
        struct suite_part *part = &parts[derive->part_count++];
        part->name = member->key;
        status = json_get_u64(&part->times, object, member->key, JSON_REQUIRED, err);
        if (status)
            return status;
        if (!part->times)
            return json_fail(member, err, "a part that is there 0 times is no part");
    }
    if (!derive->part_count)
        return json_fail(object, err, "has no parts");
    derive->parts = parts;
    return STATUS_OK;
}

static enum status read_derive(struct suite_derive *derive, const struct json *json, struct arena *arena,
                               struct err *err)
{
    static const char *const keys[] = {"name", "method", "kernel", "x", "y", "rows", "to", "layers", "group", "parts"};
    struct suite_derive read = {.at = json, .x = "", .y = "time_ns"};
    const char **const members[] = {&read.name, &read.method, &read.kernel, &read.x,
                                    &read.y,    &read.rows,   &read.to,     &read.layers}; /* as the first keys */
    enum status status = json_check_keys(json, keys, COUNT_OF(keys), err);
    for (size_t k = 0; k < COUNT_OF(members) && !status; k++)
        status = json_get_string(members[k], json, keys[k], k < 2 ? JSON_REQUIRED : JSON_OPTIONAL, err);
    if (!status)
        status = check_keys(json, read.method, err);
    if (!status)
        status = suite_read_strings(&read.group, &read.group_count, json, "group", arena, err);
    if (!status && read.layers && read.group_count)
        status = json_fail_key(json_member(json, "group"), err, "the method 'shares' has no 'group'");
    if (!status)
        status = read_parts(&read, json, arena, err);
    if (!status)
        *derive = read;
    return status;
}

enum status suite_read_derives(struct suite *suite, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "derive", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct suite_derive *derives = arena_array(arena, array->count, sizeof(*derives));
    size_t at = 0;
    for (const struct json *child = array->first; child; child = child->next, at++) {
        status = read_derive(&derives[at], child, arena, err);
        if (status)
            return status;
        for (size_t k = 0; k < at; k++)
            if (strcmp(derives[k].name, derives[at].name) == 0)
                return json_fail(json_member(child, "name"), err, "'%s' is derived twice", derives[at].name);
    }
    suite->derives = derives;
    suite->derive_count = array->count;
    return STATUS_OK;
}
