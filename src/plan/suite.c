/* SPDX-License-Identifier: MIT */
#include "rooftile/suite.h"

#include "plan_internal.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"

/* ---- parameters, sweeps, measure options: for cases and for the suite's defaults ---- */

static enum status param_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct param *param = field;
    *param = (struct param){.name = at->string, .at = at};
    return sweep_value_from_json(&param->value, at, in->arena, err);
}
const struct record suite_params = {.size = sizeof(struct param), .get = param_parse};

static enum status sweep_parse_member(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct suite_case *out = in->object;
    if (json_member(json_member(out->at, "params"), at->string))
        return json_fail_key(at, err, "'%s' stands in params too", at->string);
    const enum status status = sweep_from_json(field, at->string, at, in->arena, err);
    size_t values = 0;
    for (const struct sweep *sweep = out->sweeps; !status && sweep <= (const struct sweep *)field; sweep++)
        values += sweep->count;
    /* Checked before more values are created: a sweep may be short to write but too large to store. */
    return values > SUITE_MAX_CASES ? json_fail(at, err, "the sweeps expand to more than %u cases", SUITE_MAX_CASES)
                                    : status;
}

static enum status into_measure(void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    return measure_from_json(field, at, err);
}

/* ---- shapes ---- */

struct suite_shape {
    const char *name, *summary;
    const struct param *params;
    size_t param_count;
};

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

static enum status shape_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
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

/* Reads the shapes that a case's "shapes" names, in file order; none if the member is missing. The file's content
 * becomes part of the suite's hash. */
static enum status read_shapes(const struct suite_shape **shapes, size_t *count, const cJSON *json, struct suite *suite,
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

/* Makes the case for one shape: adds the shape's parameters, and its name to the tags. ERR_CONFIG if the case already
 * sets one of them. */
static enum status apply_shape(struct suite_case *out, const struct suite_case *from, const struct suite_shape *shape,
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

/* ---- zipped parameters ---- */

static const struct sweep *find_sweep(const struct suite_case *suite_case, const char *param)
{
    return FIND_ROW(suite_case->sweeps, suite_case->sweep_count, param, param);
}

size_t suite_zip_of(const struct suite_case *suite_case, const char *param)
{
    for (size_t group = 0; group < suite_case->zip_count; group++)
        for (const char *const *name = suite_case->zips[group]; *name; name++)
            if (strcmp(*name, param) == 0)
                return group;
    return SIZE_MAX;
}

/* out->zips holds the groups before this one; `names` holds those checked so far. */
static enum status read_zip(const char **names, const struct suite_case *out, const cJSON *group, struct err *err)
{
    if (!cJSON_IsArray(group) || json_count(group) < 2)
        return json_fail(group, err, "a zip group is an array of at least two parameter names");
    size_t count = 0;
    for (const cJSON *child = group->child; child; child = child->next) {
        if (!cJSON_IsString(child))
            return json_fail(child, err, "expected a string, found %s", json_type_name(child));
        const struct sweep *sweep = find_sweep(out, child->valuestring);
        if (!sweep)
            return json_fail(child, err, "'%s' is not swept in this case", child->valuestring);
        if (suite_zip_of(out, child->valuestring) != SIZE_MAX || text_among(child->valuestring, names, count))
            return json_fail(child, err, "'%s' is zipped twice", child->valuestring);
        const size_t first = count ? find_sweep(out, names[0])->count : sweep->count;
        if (sweep->count != first)
            return json_fail(child, err, "'%s' takes %zu values but '%s' takes %zu: zipped parameters advance together",
                             child->valuestring, sweep->count, names[0], first);
        names[count++] = child->valuestring;
    }
    return STATUS_OK;
}

static enum status into_zips(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct suite_case *out = in->object;
    if (json_check_type(at, cJSON_Array, err))
        return err->status;
    const char *const **groups = arena_array(in->arena, json_count(at), sizeof(*groups));
    *(const char *const *const **)field = groups;
    for (const cJSON *group = at->child; group; group = group->next) {
        const char **names = arena_array(in->arena, json_count(group) + 1, sizeof(*names));
        if (read_zip(names, out, group, err))
            return err->status;
        groups[out->zip_count++] = names;
    }
    return STATUS_OK;
}

static size_t suite_case_combinations(const struct suite_case *suite_case)
{
    const size_t limit = (size_t)SUITE_MAX_CASES + 1;
    size_t total = 1;
    FOR_EACH(const struct sweep, sweep, suite_case->sweeps, suite_case->sweep_count) {
        const size_t group = suite_zip_of(suite_case, sweep->param);
        const bool counted = group == SIZE_MAX || strcmp(suite_case->zips[group][0], sweep->param) == 0;
        if (!counted)
            continue;
        if (sweep->count > limit / total)
            return limit;
        total *= sweep->count;
    }
    return total;
}

/* ---- one element of "cases" ---- */

#define RECORD_STRUCT struct suite_case
static const struct record sweep_elements = {.size = sizeof(struct sweep), .get = sweep_parse_member};
static const struct record_field case_rows[] = {
    FIELD_STRING("kernel", kernel, RECORD_REQUIRED),
    /* A case's own value comes after the default of the same name, and wins. */
    FIELD_MAP("params", params, param_count, suite_params, RECORD_APPEND),
    FIELD_MAP("sweep", sweeps, sweep_count, sweep_elements), FIELD_READ("zip", zips, into_zips),
    FIELD_LIST("exclude", excludes, exclude_count, record_word), FIELD_READ("measure", measure, into_measure),
    FIELD_LIST("tags", tags, tag_count, record_word, RECORD_APPEND), FIELD_F64("weight", weight, RECORD_POSITIVE),
    FIELD_F64("traced_ns", traced_ns, RECORD_POSITIVE), FIELD_COMMENT("shapes"), /* makes one case per shape */
};
static const struct record case_record = {RECORD_TABLE(case_rows)};
static const struct record_field default_rows[] = {
    FIELD_MAP("params", params, param_count, suite_params),
    FIELD_READ("measure", measure, into_measure),
    FIELD_LIST("tags", tags, tag_count, record_word),
};
static const struct record default_record = {RECORD_TABLE(default_rows)};
#undef RECORD_STRUCT

/* Adds one case per named shape, or one case. Adds its combinations to `total`. */
static enum status read_case(struct suite_case **cases, struct suite *suite, size_t *total, const cJSON *json,
                             const struct suite_case *defaults, struct record_in *in, struct err *err)
{
    const struct suite_shape *shapes = NULL;
    size_t shape_count = 0;
    struct suite_case read = *defaults;
    read.default_count = defaults->param_count;
    read.at = json;
    enum status status = STATUS_OK;
    if (record_parse(&read, &case_record, json, in, err))
        return err->status;
    if (suite_case_combinations(&read) > SUITE_MAX_CASES)
        return json_fail(json, err, "the sweeps expand to more than %u cases", SUITE_MAX_CASES);
    if (read_shapes(&shapes, &shape_count, json, suite, in->arena, err))
        return err->status;
    const size_t count = shape_count ? shape_count : 1;
    *total += count * suite_case_combinations(&read);
    if (*total > SUITE_MAX_CASES)
        return json_fail(json, err, "up to here the suite expands to %zu cases, more than %u", *total, SUITE_MAX_CASES);
    for (size_t k = 0; k < count && !status; k++) {
        struct suite_case made = read;
        if (shape_count)
            status = apply_shape(&made, &read, &shapes[k], in->arena, err);
        ARRAY_PUSH(*cases, suite->case_count, made);
    }
    return status;
}

/* ---- the suite ---- */

#define RECORD_STRUCT struct suite

static enum status into_kernel_dirs(UNUSED void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    static const struct record_field dirs_row = FIELD_LIST("kernels", kernel_dirs, kernel_dir_count, record_word);
    struct suite *suite = in->object;
    if (record_parse_row(suite, &dirs_row, at, in, err))
        return err->status;
    const char **dirs = arena_array(in->arena, suite->kernel_dir_count, sizeof(*dirs));
    const char *base = path_dir(in->arena, suite->path);
    for (size_t k = 0; k < suite->kernel_dir_count; k++) {
        dirs[k] = path_join(in->arena, base, suite->kernel_dirs[k]);
        if (!file_is_dir(dirs[k]))
            return json_fail(json_at(at, k), err, "there is no folder %s", dirs[k]);
    }
    suite->kernel_dirs = dirs;
    return STATUS_OK;
}

/* "defaults" belong to the cases, which are read after everything else. */
static enum status into_defaults(UNUSED void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    return record_parse(in->context, &default_record, at, in, err);
}

const char *const together_names[] = {"alone", "node", "both", NULL};

static const struct record_field suite_rows[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("summary", summary),
    FIELD_TIME("takes", takes_ns),
    FIELD_NAMED(RECORD_ENUM, "together", together, together_names, TOGETHER_BOTH + 1),
    FIELD_WHOLE("kernels", into_kernel_dirs),
    FIELD_WHOLE("defaults", into_defaults),
    FIELD_COMMENT("cases"),
    FIELD_LIST("derive", derives, derive_count, suite_derives),
    FIELD_LIST("kpis", kpis, kpi_count, suite_kpis),
    FIELD_F64("traced_ns", traced_ns, RECORD_POSITIVE),
    FIELD_STRING("traced_on", traced_on, RECORD_PLAIN),
};
static const struct record suite_record = {RECORD_TABLE(suite_rows)};
#undef RECORD_STRUCT

enum status suite_parse(const struct suite **suite, const char *path, const char *data, size_t length,
                        const struct measure_options *base, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    struct suite_case defaults = {.measure = *base};
    struct record_in in = {.arena = arena, .context = &defaults};
    if (json_parse(&root, path, data, length, arena, err))
        return err->status;
    struct suite *read = arena_alloc(arena, sizeof(*read));
    read->path = arena_strdup(arena, path);
    read->summary = "";
    hash_sha256(read->sha256, data, length);
    const cJSON *array = NULL;
    if (record_parse(read, &suite_record, root, &in, err) || json_get_array(&array, root, "cases", JSON_REQUIRED, err))
        return err->status;
    if (json_count(array) == 0)
        return json_fail(array, err, "a suite needs at least one case");
    size_t total = 0;
    struct suite_case *cases = NULL;
    enum status status = STATUS_OK;
    for (const cJSON *child = array->child; child && !status; child = child->next)
        status = read_case(&cases, read, &total, child, &defaults, &in, err);
    read->cases = arena_copy(arena, cases, read->case_count * sizeof(*cases));
    free(cases);
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
    SCOPED(text_release) struct text line = {0};
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
    *suite = made;
    return STATUS_OK;
}
