/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/text.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static enum status read_shape(struct suite_shape *shape, const struct json *json, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"name", "summary", "params"};
    struct suite_shape read = {0};
    const struct json *params = NULL;
    struct param *values = NULL;
    const char *summary = "";
    enum status status = json_check_keys(json, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&read.name, json, "name", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&summary, json, "summary", JSON_OPTIONAL, err);
    if (!status)
        status = json_get_object(&params, json, "params", JSON_REQUIRED, err);
    if (!status)
        status = suite_read_params(&values, &read.param_count, params, arena, err);
    if (status)
        return status;
    if (!*read.name || strpbrk(read.name, " *?[]!"))
        return json_fail(json_member(json, "name"), err, "a shape's name has no spaces and no * ? [ ] !");
    read.params = values;
    *shape = read;
    return STATUS_OK;
}

/* All shapes of the file, whose content becomes part of the suite's hash. */
static enum status read_file(struct suite_shape **shapes, size_t *count, const char *path, char sha256[HASH_TEXT],
                             struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"name", "summary", "shapes"};
    char *data = NULL;
    size_t length = 0;
    const struct json *root = NULL, *array = NULL;
    enum status status = file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, err);
    if (!status)
        status = json_parse(&root, path, data, length, arena, err);
    if (!status)
        status = json_check_keys(root, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_array(&array, root, "shapes", JSON_REQUIRED, err);
    if (status)
        return status;
    struct suite_shape *read = arena_array(arena, array->count, sizeof(*read));
    size_t at = 0;
    for (const struct json *child = array->first; child; child = child->next, at++) {
        status = read_shape(&read[at], child, arena, err);
        if (status)
            return status;
        for (size_t k = 0; k < at; k++)
            if (strcmp(read[k].name, read[at].name) == 0)
                return json_fail(json_member(child, "name"), err, "a second shape of the name '%s'", read[at].name);
    }
    const char *joined = arena_printf(arena, "%s%s", sha256, data);
    hash_sha256(sha256, joined, strlen(joined));
    *shapes = read;
    *count = array->count;
    return STATUS_OK;
}

/* Keeps those that a glob names, in the file's order. A glob that names none is a mistake. */
static enum status choose(struct suite_shape *shapes, size_t *count, const struct json *object,
                          const char *const *globs, size_t glob_count, struct err *err)
{
    for (size_t g = 0; g < glob_count; g++) {
        bool used = false;
        for (size_t k = 0; k < *count && !used; k++)
            used = text_matches(shapes[k].name, globs[g]);
        if (!used)
            return json_fail(json_at(json_member(object, "names"), g), err, "the file has no shape '%s'", globs[g]);
    }
    size_t kept = 0;
    for (size_t k = 0; k < *count; k++) {
        bool wanted = glob_count == 0;
        for (size_t g = 0; g < glob_count && !wanted; g++)
            wanted = text_matches(shapes[k].name, globs[g]);
        if (wanted)
            shapes[kept++] = shapes[k];
    }
    *count = kept;
    return STATUS_OK;
}

enum status suite_read_shapes(const struct suite_shape **shapes, size_t *count, const struct json *json,
                              struct suite *suite, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"file", "names"};
    const struct json *object = NULL;
    const char *file = NULL;
    const char *const *globs = NULL;
    size_t glob_count = 0;
    struct suite_shape *read = NULL;
    size_t read_count = 0;
    enum status status = json_get_object(&object, json, "shapes", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&file, object, "file", JSON_REQUIRED, err);
    if (!status)
        status = suite_read_strings(&globs, &glob_count, object, "names", arena, err);
    if (status)
        return status;
    const char *path = path_join(arena, path_dir(arena, suite->path), file);
    status = read_file(&read, &read_count, path, suite->sha256, arena, err);
    if (!status)
        status = choose(read, &read_count, object, globs, glob_count, err);
    if (!status && !read_count)
        status = json_fail(object, err, "%s has no shapes", path);
    if (status)
        return status;
    *shapes = read;
    *count = read_count;
    return STATUS_OK;
}

/* Does the case give the parameter a value of its own? */
static bool is_own(const struct suite_case *suite_case, const char *name)
{
    for (size_t k = suite_case->default_count; k < suite_case->param_count; k++)
        if (strcmp(suite_case->params[k].name, name) == 0)
            return true;
    for (size_t k = 0; k < suite_case->sweep_count; k++)
        if (strcmp(suite_case->sweeps[k].param, name) == 0)
            return true;
    return false;
}

enum status suite_apply_shape(struct suite_case *out, const struct suite_case *from, const struct suite_shape *shape,
                              struct arena *arena, struct err *err)
{
    struct suite_case made = *from;
    struct param *params = arena_array(arena, from->param_count + shape->param_count, sizeof(*params));
    const char **tags = arena_array(arena, from->tag_count + 1, sizeof(*tags));
    for (size_t k = 0; k < from->param_count; k++)
        params[k] = from->params[k];
    for (size_t k = 0; k < shape->param_count; k++) {
        if (is_own(from, shape->params[k].name))
            return json_fail(json_member(from->at, "shapes"), err, "the shape '%s' has '%s', which this case sets too",
                             shape->name, shape->params[k].name);
        params[from->param_count + k] = shape->params[k];
    }
    for (size_t k = 0; k < from->tag_count; k++)
        tags[k] = from->tags[k];
    tags[from->tag_count] = shape->name;
    made.params = params;
    made.param_count = from->param_count + shape->param_count;
    made.tags = tags;
    made.tag_count = from->tag_count + 1;
    made.shape = shape->name;
    *out = made;
    return STATUS_OK;
}
