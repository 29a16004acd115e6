/* SPDX-License-Identifier: MIT */

#include "plan_internal.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"

struct shape_file {
    const struct shape_file *next;
    const char *path;
    const char *name, *summary;
    const struct suite_shape *shapes;
    size_t count;
};

#define RECORD_STRUCT struct suite_shape
static const struct record_field shape_rows[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("summary", summary),
    FIELD_MAP("params", params, param_count, suite_params, RECORD_REQUIRED),
};
static const struct record shape_record = {RECORD_TABLE(shape_rows)};
#undef RECORD_STRUCT

static enum status shape_parse(void *field, const cJSON *at, UNUSED const struct record_field *row,
                               struct record_in *in, struct err *err)
{
    struct suite_shape *shape = field;
    if (record_parse(shape, &shape_record, at, in, err))
        return err->status;
    if (!*shape->name || strpbrk(shape->name, " *?[]!"))
        return json_fail(json_member(at, "name"), err, "a shape's name has no spaces and no * ? [ ] !");
    for (size_t k = 1; k <= json_index(at); k++)
        if (strcmp((shape - k)->name, shape->name) == 0)
            return json_fail(json_member(at, "name"), err, "a second shape of the name '%s'", shape->name);
    return STATUS_OK;
}

static const struct record shape_elements = {.size = sizeof(struct suite_shape), .get = shape_parse};
#define RECORD_STRUCT struct shape_file
static const struct record_field file_rows[] = {
    FIELD_STRING("name", name),
    FIELD_STRING("summary", summary),
    FIELD_LIST("shapes", shapes, count, shape_elements, RECORD_REQUIRED),
};
static const struct record file_record = {RECORD_TABLE(file_rows)};
#undef RECORD_STRUCT

/* Reads each file only once, even if many cases name it, and adds its content to the suite's hash. */
static enum status read_file(const struct shape_file **found, struct suite *suite, const char *path,
                             struct arena *arena, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    const cJSON *root = NULL;
    for (*found = suite->shape_files; *found; *found = (*found)->next)
        if (!strcmp((*found)->path, path))
            return STATUS_OK;
    struct shape_file *file = arena_alloc(arena, sizeof(*file));
    if (file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, err) ||
        json_parse(&root, path, data, length, arena, err) ||
        record_parse(file, &file_record, root, &(struct record_in){.arena = arena}, err))
        return err->status;
    const char *joined = arena_printf(arena, "%s%s", suite->sha256, data);
    hash_sha256(suite->sha256, joined, strlen(joined));
    file->path = path;
    file->next = suite->shape_files;
    *found = suite->shape_files = file;
    return STATUS_OK;
}

/* Keeps the shapes that match a glob, in file order. A glob without a match is an error. */
static enum status choose(struct suite_shape *shapes, size_t *count, const cJSON *object, const char *const *globs,
                          size_t glob_count, struct err *err)
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

#define RECORD_STRUCT struct choice
static const struct record_field choice_rows[] = {
    FIELD_STRING("file", file, RECORD_REQUIRED),
    FIELD_LIST("names", globs, glob_count, record_word),
};
static const struct record choice_record = {RECORD_TABLE(choice_rows)};
#undef RECORD_STRUCT

enum status suite_read_shapes(const struct suite_shape **shapes, size_t *count, const cJSON *json, struct suite *suite,
                              struct arena *arena, struct err *err)
{
    struct choice chosen = {0};
    const cJSON *object = json_member(json, "shapes");
    const struct shape_file *file = NULL;
    if (!object)
        return STATUS_OK;
    if (record_parse(&chosen, &choice_record, object, &(struct record_in){.arena = arena}, err))
        return err->status;
    const char *path = path_join(arena, path_dir(arena, suite->path), chosen.file);
    if (read_file(&file, suite, path, arena, err))
        return err->status;
    struct suite_shape *read = arena_copy(arena, file->shapes, file->count * sizeof(*read));
    size_t read_count = file->count;
    if (choose(read, &read_count, object, chosen.globs, chosen.glob_count, err) ||
        (!read_count && json_fail(object, err, "%s has no shapes", path)))
        return err->status;
    *shapes = read;
    *count = read_count;
    return STATUS_OK;
}

enum status suite_apply_shape(struct suite_case *out, const struct suite_case *from, const struct suite_shape *shape,
                              struct arena *arena, struct err *err)
{
    struct suite_case made = *from;
    const size_t defaults = from->default_count;
    FOR_EACH(const struct param, param, shape->params, shape->param_count)
        if (FIND_ROW(from->params + defaults, from->param_count - defaults, name, param->name) ||
            FIND_ROW(from->sweeps, from->sweep_count, param, param->name))
            return json_fail(json_member(from->at, "shapes"), err, "the shape '%s' has '%s', which this case sets too",
                             shape->name, param->name);
    made.params =
        joined(arena, from->params, from->param_count, shape->params, shape->param_count, sizeof(*made.params));
    made.param_count += shape->param_count;
    made.tags = joined(arena, from->tags, made.tag_count++, &shape->name, 1, sizeof(*made.tags));
    made.shape = shape->name;
    *out = made;
    return STATUS_OK;
}
