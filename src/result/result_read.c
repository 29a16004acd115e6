/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "case_fields.h"
#include "rooftile/file.h"
#include "samples_file.h"

#define SCHEMA_MAJOR 1L /* of RESULT_SCHEMA_VERSION */

/* "1.4.2" is read, "2.0.0" is not: only the major version may break readers. */
static enum status check_version(const struct json *root, struct err *err)
{
    const char *version = "";
    const enum status status = json_get_string(&version, root, "schema_version", JSON_REQUIRED, err);
    if (status)
        return status;
    char *end;
    const long major = strtol(version, &end, 10);
    if (end == version || *end != '.')
        return json_fail(json_member(root, "schema_version"), err,
                         "'%s' is not a version such as " RESULT_SCHEMA_VERSION, version);
    if (major != SCHEMA_MAJOR)
        return json_fail(json_member(root, "schema_version"), err,
                         "results of format %ld cannot be read by this version, which knows format %ld", major,
                         SCHEMA_MAJOR);
    return STATUS_OK;
}

static enum status get_labels(const struct result_label **out, size_t *count, const struct json *parent,
                              const char *key, struct arena *arena, struct err *err)
{
    const struct json *object = NULL;
    if (!parent)
        return STATUS_OK;
    const enum status status = json_get_object(&object, parent, key, JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    struct result_label *labels = arena_array(arena, object->count + 1, sizeof(*labels));
    for (const struct json *item = object->first; item; item = item->next) {
        if (item->type != JSON_STRING)
            return json_fail(item, err, "must be a string");
        labels[*count].key = arena_strdup(arena, item->key);
        labels[(*count)++].value = arena_strdup(arena, item->string);
    }
    *out = labels;
    return STATUS_OK;
}

static enum status get_run(struct result *result, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *run = NULL;
    enum status status = json_get_object(&run, root, "run", JSON_REQUIRED, err);
    if (!status)
        status = group_read(result, &group_tool, json_member(root, "tool"), arena, err);
    if (!status)
        status = group_read(result, &group_run, run, arena, err);
    if (!status)
        status = group_read(result, &group_run_end, run, arena, err);
    if (!status)
        status = json_get_u64(&result->seed, run, "seed", JSON_OPTIONAL, err);
    if (!status)
        status = strings_read(&result->argv, &result->argc, run, "argv", arena, err);
    if (!status)
        status = get_labels(&result->labels, &result->label_count, run, "labels", arena, err);
    return status;
}

static enum status get_environment(struct result *result, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *environment = NULL;
    const char *fingerprint = NULL;
    enum status status = json_get_object(&environment, root, "environment", JSON_REQUIRED, err);
    if (status)
        return status;
    const struct json *software = json_member(environment, "software");
    const struct json *given = json_member(environment, "fingerprint");
    status = group_read(result, &group_host, environment, arena, err);
    if (!status)
        status = group_read(&result->device, &group_gpu, environment, arena, err);
    if (!status)
        status = group_read(result, &group_software, software, arena, err);
    if (!status)
        status = get_labels(&result->env, &result->env_count, software, "env", arena, err);
    if (!status && given && given->type != JSON_NULL)
        status = json_get_string(&fingerprint, environment, "fingerprint", JSON_OPTIONAL, err);
    if (!status && fingerprint && strlen(fingerprint) >= sizeof(result->fingerprint))
        return json_fail(given, err, "must be 64 hex digits");
    if (!status && fingerprint)
        memcpy(result->fingerprint, fingerprint, strlen(fingerprint) + 1);
    if (!status)
        status = strings_read(&result->warnings, &result->warning_count, environment, "warnings", arena, err);
    return status;
}

static enum status get_ext(struct result *result, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *ext = json_member(root, "ext"), *machine = json_member(ext, "machine");
    enum status status =
        group_read(&result->calibration, &group_calibration, json_member(root, "calibration"), arena, err);
    if (!status)
        status = group_read(&result->device, &group_device, json_member(ext, "device"), arena, err);
    if (!status && machine)
        status = machine_from_json(&result->machine, machine, true, err);
    return status;
}

static enum status get_cases(struct result *result, const struct json *root, const char *path, struct arena *arena,
                             struct err *err)
{
    struct arena scratch = {0};
    struct samples_file samples = {.folder = path_dir(&scratch, path)};
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "cases", JSON_REQUIRED, err);
    if (status)
        goto out;
    struct result_case *cases = arena_array(arena, array->count + 1, sizeof(*cases));
    for (const struct json *item = array->first; item && !status; item = item->next) {
        struct result_case *c = &cases[result->case_count++];
        status = case_from_json(c, item, arena, err);
        const struct json *file = status ? NULL : json_member(item, "samples_file");
        if (!file || file->type != JSON_OBJECT)
            continue;
        result->raw_samples = true;
        status = samples_file_read(&samples, c, file, arena, err);
    }
    result->cases = cases;
out:
    samples_file_release(&samples);
    arena_release(&scratch);
    return status;
}

/* ---- derived values: JSON in, JSON text kept ---- */

static void put_json(struct json_out *out, const char *key, const struct json *json)
{
    switch (json->type) {
    case JSON_NULL:
        json_out_null(out, key);
        return;
    case JSON_BOOL:
        json_out_bool(out, key, json->boolean);
        return;
    case JSON_NUMBER:
        json_out_number(out, key, json->number);
        return;
    case JSON_STRING:
        json_out_string(out, key, json->string);
        return;
    case JSON_ARRAY:
        json_out_array(out, key);
        break;
    case JSON_OBJECT:
        json_out_object(out, key);
        break;
    }
    for (const struct json *child = json->first; child; child = child->next)
        put_json(out, child->key, child);
    json_out_end(out);
}

static const char *json_text(const struct json *json, struct arena *arena)
{
    struct text text = {0};
    struct json_out *out = json->type == JSON_ARRAY ? json_out_new_array() : json_out_new();
    for (const struct json *child = json->first; child; child = child->next)
        put_json(out, child->key, child);
    json_out_finish(out, &text, false);
    json_out_free(out);
    const char *copy = arena_strdup(arena, text.data);
    text_release(&text);
    return copy;
}

static enum status get_derived(struct result *result, const struct json *root, struct arena *arena, struct err *err)
{
    static const struct field fields[] = {
        {"name", FIELD_STRING, offsetof(struct result_derived, name), 0, NULL},
        {"method", FIELD_STRING, offsetof(struct result_derived, method), 0, NULL},
        {"kernel", FIELD_STRING, offsetof(struct result_derived, kernel), 0, NULL},
        {"group", FIELD_STRING, offsetof(struct result_derived, group), 0, NULL},
    };
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "derived", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct result_derived *derived = arena_array(arena, array->count + 1, sizeof(*derived));
    for (const struct json *item = array->first; item && !status; item = item->next) {
        const struct json *value = json_member(item, "value");
        struct result_derived *out = &derived[result->derived_count++];
        status = fields_read(out, fields, FIELD_COUNT(fields), item, arena, err);
        if (!status && (!value || (value->type != JSON_OBJECT && value->type != JSON_ARRAY)))
            return json_fail(value ? value : item, err, "'value' must be an object or an array");
        if (!status)
            out->json = json_text(value, arena);
    }
    result->derived = derived;
    return status;
}

enum status result_read(const struct result **result, const char *path, struct arena *arena, struct err *err)
{
    struct arena scratch = {0};
    const struct json *root;
    struct result *read = arena_alloc(arena, sizeof(*read));
    enum status status = json_read(&root, path, &scratch, err);
    if (!status)
        status = check_version(root, err);
    if (!status)
        status = json_get_bool(&read->predicted, root, "predicted", JSON_OPTIONAL, err);
    if (!status)
        status = get_run(read, root, arena, err);
    if (!status)
        status = get_environment(read, root, arena, err);
    if (!status)
        status = get_ext(read, root, arena, err);
    if (!status)
        status = get_cases(read, root, path, arena, err);
    if (!status)
        status = get_derived(read, root, arena, err);
    arena_release(&scratch);
    if (!status)
        *result = read;
    return status;
}
