/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "case_fields.h"
#include "rooftile/file.h"
#include "samples_file.h"

#define SCHEMA_MAJOR 1L                           /* of RESULT_SCHEMA_VERSION */
#define RESULT_LIMIT_BYTES (500u * 1000u * 1000u) /* 10,000 cases with 512 samples and clocks each are 150 MB */

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

static enum status get_parts(struct result *result, const struct json *run, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, run, "parts", JSON_OPTIONAL, err);
    if (status || !array || !array->count)
        return status;
    if (array->count != result->trials)
        return json_fail(array, err, "must have as many entries as run.trials = %u", result->trials);
    struct result_part *parts = arena_array(arena, array->count, sizeof(*parts));
    for (const struct json *item = array->first; item && !status; item = item->next)
        status = group_read(&parts[item->index], &group_part, item, arena, err);
    result->parts = parts;
    result->part_count = array->count;
    return status;
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
    if (!status)
        status = get_parts(result, run, arena, err);
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

struct reading {
    const char *path; /* NULL: no sidecar can stand beside it */
    bool keep_samples;
    struct arena *arena;
    struct arena scratch; /* of the elements read last */
    struct samples_file samples;
};

static enum status get_sidecar(struct reading *reading, struct result *result, struct result_case *c,
                               const struct json *json, struct err *err)
{
    const struct json *file = json_member(json, "samples_file");
    if (!file || file->type != JSON_OBJECT)
        return STATUS_OK;
    result->raw_samples = true;
    if (!reading->path || !reading->keep_samples)
        return STATUS_OK;
    const enum status status = samples_file_read(&reading->samples, c, json, reading->arena, err);
    return status ? status : case_check(c, json, err);
}

static enum status get_cases(struct result *result, const struct json *root, struct json_long *document,
                             struct reading *reading, struct err *err)
{
    const size_t scratch_bytes = 1 << 20; /* small enough for the cache, large enough for a few hundred cases */
    const struct json *array = NULL, *item = NULL;
    enum status status = json_get_array(&array, root, "cases", JSON_REQUIRED, err);
    if (status)
        return status;
    struct result_case *cases = arena_array(reading->arena, array->count + 1, sizeof(*cases));
    while (!(status = json_long_next(&item, document, &reading->scratch, err)) && item) {
        struct result_case *c = &cases[result->case_count];
        status = case_from_json(c, item, reading->arena, reading->keep_samples ? NULL : &reading->scratch, err);
        if (!status)
            status = get_sidecar(reading, result, c, item, err);
        if (status)
            return status;
        if (c->trial_count && c->trials[c->trial_count - 1].index >= result->trials)
            return json_fail(json_member(item, "trials"), err, "a trial's index must be below run.trials = %u",
                             result->trials);
        result->case_count++;
        if (reading->scratch.used_bytes > scratch_bytes)
            arena_release(&reading->scratch);
    }
    result->cases = cases;
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
        {"x", FIELD_STRING, offsetof(struct result_derived, x), 0, NULL},
        {"y", FIELD_STRING, offsetof(struct result_derived, y), 0, NULL},
        {"rows", FIELD_STRING, offsetof(struct result_derived, rows), 0, NULL},
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

static enum status get_all(struct result *read, const struct json *root, struct json_long *document,
                           struct reading *reading, struct err *err)
{
    enum status status = check_version(root, err);
    if (!status)
        status = json_get_bool(&read->predicted, root, "predicted", JSON_OPTIONAL, err);
    if (!status)
        status = get_run(read, root, reading->arena, err);
    if (!status)
        status = get_environment(read, root, reading->arena, err);
    if (!status)
        status = get_ext(read, root, reading->arena, err);
    if (!status)
        status = get_cases(read, root, document, reading, err);
    if (!status)
        status = get_derived(read, root, reading->arena, err);
    if (!status)
        status = kpis_read(read, root, reading->arena, err);
    return status;
}

static const char *const packed[] = {"samples_ns", "samples_hz", NULL};

static enum status read_file(const struct result **result, const char *path, bool keep_samples, struct arena *arena,
                             struct err *err)
{
    struct reading reading = {.path = path, .keep_samples = keep_samples, .arena = arena};
    struct arena folder = {0};
    struct json_long *document = NULL;
    const struct json *root;
    struct result *read = arena_alloc(arena, sizeof(*read));
    reading.samples.folder = path_dir(&folder, path);
    enum status status = json_long_open(&document, &root, path, RESULT_LIMIT_BYTES, "cases", packed, err);
    if (!status)
        status = get_all(read, root, document, &reading, err);
    samples_file_release(&reading.samples);
    arena_release(&reading.scratch);
    arena_release(&folder);
    json_long_free(document);
    if (!status)
        *result = read;
    return status;
}

enum status result_read(const struct result **result, const char *path, struct arena *arena, struct err *err)
{
    return read_file(result, path, true, arena, err);
}

enum status result_read_light(const struct result **result, const char *path, struct arena *arena, struct err *err)
{
    return read_file(result, path, false, arena, err);
}

enum status result_parse(const struct result **result, const char *name, const char *text, size_t length,
                         struct arena *arena, struct err *err)
{
    struct reading reading = {.keep_samples = true, .arena = arena};
    struct json_long *document = NULL;
    const struct json *root;
    struct result *read = arena_alloc(arena, sizeof(*read));
    enum status status = json_long_parse(&document, &root, name, text, length, "cases", packed, err);
    if (!status)
        status = get_all(read, root, document, &reading, err);
    arena_release(&reading.scratch);
    json_long_free(document);
    if (!status)
        *result = read;
    return status;
}
