/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/text.h"
#include "suite_internal.h"

struct shape_file {
    const char *name, *summary;
    const struct suite_shape *shapes;
    size_t count;
};

#define FIELD(name) offsetof(struct suite_shape, name)
static const struct json_key shape_keys[] = {
    {"name", json_into_string, FIELD(name), .need = JSON_REQUIRED},
    {"summary", json_into_string, .field = FIELD(summary)},
    {"params", json_into_members, FIELD(params), JSON_REQUIRED, FIELD(param_count), &suite_params},
};
#undef FIELD

static enum status shape_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    struct suite_shape *shape = field;
    (void)key;
    const enum status status = json_read_table(shape, at, shape_keys, JSON_KEYS(shape_keys), into, err);
    if (status)
        return status;
    if (!*shape->name || strpbrk(shape->name, " *?[]!"))
        return json_fail(json_member(at, "name"), err, "a shape's name has no spaces and no * ? [ ] !");
    for (size_t k = 1; k <= at->index; k++)
        if (strcmp((shape - k)->name, shape->name) == 0)
            return json_fail(json_member(at, "name"), err, "a second shape of the name '%s'", shape->name);
    return STATUS_OK;
}

static const struct json_elements shape_elements = {sizeof(struct suite_shape), shape_parse, NULL};
static const struct json_key file_keys[] = {
    {"name", json_into_string, .field = offsetof(struct shape_file, name)},
    {"summary", json_into_string, .field = offsetof(struct shape_file, summary)},
    {"shapes", json_into_items, offsetof(struct shape_file, shapes), JSON_REQUIRED, offsetof(struct shape_file, count),
     &shape_elements},
};

/* All shapes of the file, whose content becomes part of the suite's hash. */
static enum status read_file(struct suite_shape **shapes, size_t *count, const char *path, char sha256[HASH_TEXT],
                             struct arena *arena, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    const struct json *root = NULL;
    struct shape_file file = {0};
    enum status status = file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, err);
    if (!status)
        status = json_parse(&root, path, data, length, arena, err);
    if (!status)
        status =
            json_read_table(&file, root, file_keys, JSON_KEYS(file_keys), &(struct json_into){.arena = arena}, err);
    if (status)
        return status;
    const char *joined = arena_printf(arena, "%s%s", sha256, data);
    hash_sha256(sha256, joined, strlen(joined));
    *shapes = arena_copy(arena, file.shapes, file.count * sizeof(*file.shapes));
    *count = file.count;
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

/* A case's "shapes". */
struct choice {
    const char *file;
    const char *const *globs;
    size_t glob_count;
};

enum status suite_read_shapes(const struct suite_shape **shapes, size_t *count, const struct json *json,
                              struct suite *suite, struct arena *arena, struct err *err)
{
    static const struct json_key keys[] = {
        {"file", json_into_string, offsetof(struct choice, file), .need = JSON_REQUIRED},
        {"names", json_into_strings, offsetof(struct choice, globs), .count = offsetof(struct choice, glob_count)},
    };
    struct choice chosen = {0};
    const struct json *object = json_member(json, "shapes");
    struct suite_shape *read = NULL;
    size_t read_count = 0;
    if (!object)
        return STATUS_OK;
    enum status status =
        json_read_table(&chosen, object, keys, JSON_KEYS(keys), &(struct json_into){.arena = arena}, err);
    if (status)
        return status;
    const char *path = path_join(arena, path_dir(arena, suite->path), chosen.file);
    status = read_file(&read, &read_count, path, suite->sha256, arena, err);
    if (!status)
        status = choose(read, &read_count, object, chosen.globs, chosen.glob_count, err);
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
