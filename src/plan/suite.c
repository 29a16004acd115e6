/* SPDX-License-Identifier: MIT */
#include "rooftile/suite.h"

#include <string.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/text.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static enum status read_kernel_dirs(struct suite *suite, const struct json *root, struct arena *arena, struct err *err)
{
    const char *const *named = NULL;
    size_t count = 0;
    enum status status = suite_read_strings(&named, &count, root, "kernels", arena, err);
    if (status)
        return status;
    const char **dirs = arena_array(arena, count, sizeof(*dirs));
    const char *base = path_dir(arena, suite->path);
    for (size_t k = 0; k < count; k++) {
        dirs[k] = path_join(arena, base, named[k]);
        if (!file_is_dir(dirs[k]))
            return json_fail(json_at(json_member(root, "kernels"), k), err, "there is no folder %s", dirs[k]);
    }
    suite->kernel_dirs = dirs;
    suite->kernel_dir_count = count;
    return STATUS_OK;
}

static enum status read_defaults(struct suite_case *defaults, const struct json *root, struct arena *arena,
                                 struct err *err)
{
    static const char *const keys[] = {"params", "measure", "tags"};
    const struct json *object = NULL;
    enum status status = json_get_object(&object, root, "defaults", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    const struct json *params = NULL;
    struct param *read = NULL;
    status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_object(&params, object, "params", JSON_OPTIONAL, err);
    if (!status && params)
        status = suite_read_params(&read, &defaults->param_count, params, arena, err);
    if (!status && json_member(object, "measure"))
        status = measure_from_json(&defaults->measure, json_member(object, "measure"), err);
    if (!status)
        status = suite_read_strings(&defaults->tags, &defaults->tag_count, object, "tags", arena, err);
    defaults->params = read;
    return status;
}

/* One element of "cases": as many cases as it names shapes, or one. `total` grows by their combinations. */
static enum status read_case(struct suite *suite, size_t *total, const struct json *json,
                             const struct suite_case *defaults, struct arena *arena, struct err *err)
{
    const struct suite_shape *shapes = NULL;
    size_t shape_count = 0;
    struct suite_case read;
    enum status status = suite_read_case(&read, json, defaults, arena, err);
    if (!status)
        status = suite_read_shapes(&shapes, &shape_count, json, suite, arena, err);
    if (status)
        return status;
    const size_t count = shape_count ? shape_count : 1;
    *total += count * suite_case_combinations(&read);
    if (*total > SUITE_MAX_CASES)
        return json_fail(json, err, "up to here the suite expands to %zu cases, more than %u", *total, SUITE_MAX_CASES);
    struct suite_case *cases = arena_array(arena, suite->case_count + count, sizeof(*cases));
    for (size_t k = 0; k < suite->case_count; k++)
        cases[k] = suite->cases[k];
    cases[suite->case_count] = read;
    for (size_t k = 0; k < shape_count && !status; k++)
        status = suite_apply_shape(&cases[suite->case_count + k], &read, &shapes[k], arena, err);
    if (status)
        return status;
    suite->cases = cases;
    suite->case_count += count;
    return STATUS_OK;
}

static enum status read_cases(struct suite *suite, const struct json *root, const struct suite_case *defaults,
                              struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "cases", JSON_REQUIRED, err);
    if (status)
        return status;
    if (array->count == 0)
        return json_fail(array, err, "a suite needs at least one case");
    size_t total = 0;
    for (const struct json *child = array->first; child && !status; child = child->next)
        status = read_case(suite, &total, child, defaults, arena, err);
    return status;
}

enum status suite_parse(const struct suite **suite, const char *path, const char *data, size_t length,
                        const struct measure_options *base, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"name", "summary", "kernels", "defaults", "cases", "derive", "kpis"};
    const struct json *root = NULL;
    enum status status = json_parse(&root, path, data, length, arena, err);
    if (status)
        return status;
    struct suite *read = arena_alloc(arena, sizeof(*read));
    struct suite_case defaults = {.measure = *base};
    read->path = arena_strdup(arena, path);
    read->summary = "";
    hash_sha256(read->sha256, data, length);
    status = json_check_keys(root, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&read->name, root, "name", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&read->summary, root, "summary", JSON_OPTIONAL, err);
    if (!status)
        status = read_kernel_dirs(read, root, arena, err);
    if (!status)
        status = read_defaults(&defaults, root, arena, err);
    if (!status)
        status = read_cases(read, root, &defaults, arena, err);
    if (!status)
        status = suite_read_derives(read, root, arena, err);
    if (!status)
        status = suite_read_kpis(read, root, arena, err);
    if (!status)
        *suite = read;
    return status;
}

enum status suite_read(const struct suite **suite, const char *path, const struct measure_options *base,
                       struct arena *arena, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    enum status status = file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, err);
    return status ? status : suite_parse(suite, path, data, length, base, arena, err);
}

enum status suite_from_kernels(const struct suite **suite, const char *const *kernels, size_t count,
                               const struct measure_options *base, struct arena *arena, struct err *err)
{
    if (count == 0)
        return err_set(err, ERR_USAGE, "no kernel is named");
    struct suite *made = arena_alloc(arena, sizeof(*made));
    struct suite_case *cases = arena_array(arena, count, sizeof(*cases));
    struct text line = {0};
    for (size_t k = 0; k < count; k++) {
        cases[k].kernel = arena_strdup(arena, kernels[k]);
        cases[k].measure = *base;
        text_addf(&line, "%s%s", k ? " " : "", kernels[k]);
    }
    made->name = "command line";
    made->summary = arena_strdup(arena, line.data);
    made->path = "";
    hash_sha256(made->sha256, line.data, line.length);
    made->cases = cases;
    made->case_count = count;
    text_release(&line);
    *suite = made;
    return STATUS_OK;
}
