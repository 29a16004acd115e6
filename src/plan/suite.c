/* SPDX-License-Identifier: MIT */
#include "rooftile/suite.h"

#include <string.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/text.h"
#include "suite_internal.h"

/* ---- parameters, sweeps, measure options: of cases and of the suite's defaults ---- */

static enum status param_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    struct param *param = field;
    (void)key;
    *param = (struct param){.name = at->key, .at = at};
    return sweep_value_from_json(&param->value, at, into->arena, err);
}
const struct json_elements suite_params = {sizeof(struct param), param_parse, NULL};

/* Behind those of the defaults, so that a case's own value of the same name comes later and wins. */
static enum status join_params(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    struct suite_case *out = into->object;
    const struct param *before = out->params;
    const enum status status = json_into_members(field, at, key, into, err);
    if (status)
        return status;
    struct param *joined = arena_array(into->arena, out->default_count + out->param_count, sizeof(*joined));
    if (out->default_count)
        memcpy(joined, before, out->default_count * sizeof(*joined));
    if (out->param_count)
        memcpy(joined + out->default_count, out->params, out->param_count * sizeof(*joined));
    out->params = joined;
    out->param_count += out->default_count;
    return STATUS_OK;
}

static enum status join_tags(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    struct suite_case *out = into->object;
    const char *const *before = out->tags;
    const size_t count = out->tag_count;
    const enum status status = json_into_strings(field, at, key, into, err);
    if (status)
        return status;
    const char **tags = arena_array(into->arena, count + out->tag_count, sizeof(*tags));
    for (size_t k = 0; k < count; k++)
        tags[k] = before[k];
    for (size_t k = 0; k < out->tag_count; k++)
        tags[count + k] = out->tags[k];
    out->tags = tags;
    out->tag_count += count;
    return STATUS_OK;
}

static enum status sweep_parse_member(void *field, const struct json *at, const struct json_key *key,
                                      struct json_into *into, struct err *err)
{
    const struct suite_case *out = into->object;
    (void)key;
    if (json_member(json_member(out->at, "params"), at->key))
        return json_fail_key(at, err, "'%s' stands in params too", at->key);
    return sweep_from_json(field, at->key, at, into->arena, err);
}

static enum status into_measure(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    (void)key;
    (void)into;
    return measure_from_json(field, at, err);
}

/* ---- zipped parameters ---- */

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

static enum status into_zips(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    struct suite_case *out = into->object;
    const struct json *array = NULL;
    enum status status = json_into_array(&array, at, key, into, err);
    if (status)
        return status;
    const char *const **groups = arena_array(into->arena, array->count, sizeof(*groups));
    *(const char *const *const **)field = groups;
    for (const struct json *group = array->first; group; group = group->next) {
        const char **names = arena_array(into->arena, group->count + 1, sizeof(*names));
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

/* ---- one element of "cases" ---- */

static const struct json_elements sweep_elements = {sizeof(struct sweep), sweep_parse_member, NULL};
#define FIELD(name) offsetof(struct suite_case, name)
static const struct json_key case_keys[] = {
    {"kernel", json_into_string, FIELD(kernel), .need = JSON_REQUIRED},
    {"params", join_params, FIELD(params), .count = FIELD(param_count), .more = &suite_params},
    {"sweep", json_into_members, FIELD(sweeps), .count = FIELD(sweep_count), .more = &sweep_elements},
    {"zip", into_zips, .field = FIELD(zips)},
    {"exclude", json_into_strings, FIELD(excludes), .count = FIELD(exclude_count)},
    {"measure", into_measure, .field = FIELD(measure)},
    {"tags", join_tags, FIELD(tags), .count = FIELD(tag_count)},
    {"shapes", .read = NULL}, /* make several cases of it */
};
static const struct json_key default_keys[] = {
    {"params", json_into_members, FIELD(params), .count = FIELD(param_count), .more = &suite_params},
    {"measure", into_measure, .field = FIELD(measure)},
    {"tags", json_into_strings, FIELD(tags), .count = FIELD(tag_count)},
};
#undef FIELD

/* As many cases as it names shapes, or one. `total` grows by their combinations. */
static enum status read_case(struct suite *suite, size_t *total, const struct json *json,
                             const struct suite_case *defaults, struct json_into *into, struct err *err)
{
    const struct suite_shape *shapes = NULL;
    size_t shape_count = 0;
    struct suite_case read = *defaults;
    read.default_count = defaults->param_count;
    read.at = json;
    enum status status = json_read_table(&read, json, case_keys, JSON_KEYS(case_keys), into, err);
    if (!status && suite_case_combinations(&read) > SUITE_MAX_CASES)
        status = json_fail(json, err, "the sweeps expand to more than %u cases", SUITE_MAX_CASES);
    if (!status)
        status = suite_read_shapes(&shapes, &shape_count, json, suite, into->arena, err);
    if (status)
        return status;
    const size_t count = shape_count ? shape_count : 1;
    *total += count * suite_case_combinations(&read);
    if (*total > SUITE_MAX_CASES)
        return json_fail(json, err, "up to here the suite expands to %zu cases, more than %u", *total, SUITE_MAX_CASES);
    struct suite_case *cases = arena_array(into->arena, suite->case_count + count, sizeof(*cases));
    for (size_t k = 0; k < suite->case_count; k++)
        cases[k] = suite->cases[k];
    cases[suite->case_count] = read;
    for (size_t k = 0; k < shape_count && !status; k++)
        status = suite_apply_shape(&cases[suite->case_count + k], &read, &shapes[k], into->arena, err);
    if (status)
        return status;
    suite->cases = cases;
    suite->case_count += count;
    return STATUS_OK;
}

static enum status read_cases(struct suite *suite, const struct json *root, const struct suite_case *defaults,
                              struct json_into *into, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "cases", JSON_REQUIRED, err);
    if (!status && array->count == 0)
        status = json_fail(array, err, "a suite needs at least one case");
    size_t total = 0;
    for (const struct json *child = status ? NULL : array->first; child && !status; child = child->next)
        status = read_case(suite, &total, child, defaults, into, err);
    return status;
}

/* ---- the suite ---- */

static enum status into_kernel_dirs(void *field, const struct json *at, const struct json_key *key,
                                    struct json_into *into, struct err *err)
{
    struct suite *suite = into->object;
    const enum status status = json_into_strings(field, at, key, into, err);
    if (status)
        return status;
    const char **dirs = arena_array(into->arena, suite->kernel_dir_count, sizeof(*dirs));
    const char *base = path_dir(into->arena, suite->path);
    for (size_t k = 0; k < suite->kernel_dir_count; k++) {
        dirs[k] = path_join(into->arena, base, suite->kernel_dirs[k]);
        if (!file_is_dir(dirs[k]))
            return json_fail(json_at(at, k), err, "there is no folder %s", dirs[k]);
    }
    suite->kernel_dirs = dirs;
    return STATUS_OK;
}

/* "defaults" belong to the cases, which are read when the rest is known. */
static enum status into_defaults(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                 struct err *err)
{
    (void)field;
    (void)key;
    return json_read_table(into->context, at, default_keys, JSON_KEYS(default_keys), into, err);
}

#define FIELD(name) offsetof(struct suite, name)
static const struct json_key suite_keys[] = {
    {"name", json_into_string, FIELD(name), .need = JSON_REQUIRED},
    {"summary", json_into_string, .field = FIELD(summary)},
    {"kernels", into_kernel_dirs, FIELD(kernel_dirs), .count = FIELD(kernel_dir_count)},
    {"defaults", into_defaults, .field = 0},
    {"cases", .read = NULL},
    {"derive", json_into_items, FIELD(derives), .count = FIELD(derive_count), .more = &suite_derives},
    {"kpis", json_into_items, FIELD(kpis), .count = FIELD(kpi_count), .more = &suite_kpis},
};
#undef FIELD

enum status suite_parse(const struct suite **suite, const char *path, const char *data, size_t length,
                        const struct measure_options *base, struct arena *arena, struct err *err)
{
    const struct json *root = NULL;
    struct suite_case defaults = {.measure = *base};
    struct json_into into = {.arena = arena, .context = &defaults};
    enum status status = json_parse(&root, path, data, length, arena, err);
    if (status)
        return status;
    struct suite *read = arena_alloc(arena, sizeof(*read));
    read->path = arena_strdup(arena, path);
    read->summary = "";
    hash_sha256(read->sha256, data, length);
    status = json_read_table(read, root, suite_keys, JSON_KEYS(suite_keys), &into, err);
    if (!status)
        status = read_cases(read, root, &defaults, &into, err);
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
