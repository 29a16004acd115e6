/* SPDX-License-Identifier: MIT */
#include "rooftile/noise_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/json.h"
#include "rooftile/json_out.h"

char *noise_file_path(const struct result *result, struct arena *arena)
{
    return arena_printf(arena, "%s/noise/%s-%.16s.json", path_data_dir(arena), result->device.backend,
                        result->fingerprint);
}

/* ---- reading ---- */

/* The relative standard deviation of a case or class. */
static enum status get_sigma(double *sigma, const struct json *json, struct err *err)
{
    enum status status = json_get_number(sigma, json, "sigma", JSON_REQUIRED, err);
    if (!status && !(*sigma > 0 && *sigma < 10))
        return json_fail(json_member(json, "sigma"), err, "%g is no relative standard deviation", *sigma);
    return status;
}

static enum status get_count(size_t *count, const struct json *json, const char *key, struct err *err)
{
    uint64_t value = 0;
    enum status status = json_get_u64(&value, json, key, JSON_REQUIRED, err);
    *count = (size_t)value;
    return status;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct noise_file_case *)a)->id, ((const struct noise_file_case *)b)->id);
}

static enum status read_cases(struct noise_file *file, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "cases", JSON_REQUIRED, err);
    if (status)
        return status;
    struct noise_file_case *cases = arena_array(arena, array->count + 1, sizeof(*cases));
    size_t count = 0;
    for (const struct json *child = array->first; child && !status; child = child->next, count++) {
        status = json_get_string(&cases[count].id, child, "id", JSON_REQUIRED, err);
        if (!status)
            status = json_get_string(&cases[count].class, child, "class", JSON_REQUIRED, err);
        if (!status)
            status = get_sigma(&cases[count].sigma, child, err);
        if (!status)
            status = get_count(&cases[count].trials, child, "trials", err);
    }
    qsort(cases, count, sizeof(*cases), by_id);
    file->cases = cases;
    file->case_count = count;
    return status;
}

static enum status read_classes(struct noise_file *file, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "classes", JSON_REQUIRED, err);
    if (status)
        return status;
    struct noise_file_class *classes = arena_array(arena, array->count + 1, sizeof(*classes));
    size_t count = 0;
    for (const struct json *child = array->first; child && !status; child = child->next, count++) {
        status = json_get_string(&classes[count].name, child, "class", JSON_REQUIRED, err);
        if (!status)
            status = get_sigma(&classes[count].sigma, child, err);
        if (!status)
            status = get_count(&classes[count].cases, child, "cases", err);
    }
    file->classes = classes;
    file->class_count = count;
    return status;
}

enum status noise_file_read(const struct noise_file **file, const char *path, struct arena *arena, struct err *err)
{
    const struct json *root = NULL;
    const char *schema = NULL, *fingerprint = NULL;
    if (!file_exists(path)) {
        *file = NULL;
        return STATUS_OK;
    }
    struct noise_file *read = arena_alloc(arena, sizeof(*read));
    read->path = arena_strdup(arena, path);
    enum status status = json_read(&root, path, arena, err);
    if (!status)
        status = json_get_string(&schema, root, "schema", JSON_REQUIRED, err);
    if (!status && strcmp(schema, NOISE_FILE_SCHEMA) != 0)
        status = json_fail(json_member(root, "schema"), err, "this is not a noise file of this version");
    if (!status)
        status = json_get_string(&fingerprint, root, "fingerprint", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&read->device, root, "device", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&read->learned_at, root, "learned_at", JSON_REQUIRED, err);
    if (!status)
        status = read_classes(read, root, arena, err);
    if (!status)
        status = read_cases(read, root, arena, err);
    if (status)
        return err_within(err, "the learned noise (remove the file or run 'rooftile aa' again)");
    snprintf(read->fingerprint, sizeof(read->fingerprint), "%s", fingerprint);
    *file = read;
    return STATUS_OK;
}

/* ---- writing ---- */

enum status noise_file_write(const struct noise_file *file, const char *path, struct err *err)
{
    struct json_out *out = json_out_new();
    struct text text = {0};
    struct arena scratch = {0};
    json_out_string(out, "schema", NOISE_FILE_SCHEMA);
    json_out_string(out, "fingerprint", file->fingerprint);
    json_out_string(out, "device", file->device);
    json_out_string(out, "learned_at", file->learned_at);
    json_out_array(out, "classes");
    for (size_t k = 0; k < file->class_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "class", file->classes[k].name);
        json_out_number(out, "sigma", file->classes[k].sigma);
        json_out_number(out, "cases", (double)file->classes[k].cases);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_array(out, "cases");
    for (size_t k = 0; k < file->case_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "id", file->cases[k].id);
        json_out_string(out, "class", file->cases[k].class);
        json_out_number(out, "sigma", file->cases[k].sigma);
        json_out_number(out, "trials", (double)file->cases[k].trials);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_finish(out, &text, true);
    text_add(&text, "\n");
    json_out_free(out);
    enum status status = file_make_dirs(path_dir(&scratch, path), err);
    if (!status)
        status = file_write(path, text.data, text.length, err);
    text_release(&text);
    arena_release(&scratch);
    return status;
}

static const struct noise_file_case *find_case(const struct noise_file *file, size_t count, const char *id)
{
    const struct noise_file_case key = {.id = id};
    return count ? bsearch(&key, file->cases, count, sizeof(key), by_id) : NULL;
}

void noise_file_keep(struct noise_file *file, const struct noise_file *older, struct arena *arena)
{
    const size_t own_cases = file->case_count, own_classes = file->class_count;
    if (!older)
        return;
    struct noise_file_case *cases = arena_array(arena, own_cases + older->case_count + 1, sizeof(*cases));
    struct noise_file_class *classes = arena_array(arena, own_classes + older->class_count + 1, sizeof(*classes));
    if (own_cases)
        memcpy(cases, file->cases, own_cases * sizeof(*cases));
    if (own_classes)
        memcpy(classes, file->classes, own_classes * sizeof(*classes));
    qsort(cases, own_cases, sizeof(*cases), by_id);
    file->cases = cases;
    file->classes = classes;
    for (size_t k = 0; k < older->case_count; k++)
        if (!find_case(file, own_cases, older->cases[k].id))
            cases[file->case_count++] = older->cases[k];
    for (size_t k = 0; k < older->class_count; k++) {
        size_t n = 0;
        while (n < own_classes && strcmp(classes[n].name, older->classes[k].name) != 0)
            n++;
        if (n == own_classes)
            classes[file->class_count++] = older->classes[k];
    }
    qsort(cases, file->case_count, sizeof(*cases), by_id);
}

struct shift_prior noise_file_prior(const struct noise_file *file, const struct result_case *c)
{
    struct shift_prior prior = {0};
    if (!file)
        return prior;
    const struct noise_file_case *found = find_case(file, file->case_count, c->id);
    if (found) {
        prior.sigma_case = found->sigma;
        prior.case_trials = found->trials;
    }
    for (size_t k = 0; k < file->class_count; k++)
        if (c->class && !strcmp(file->classes[k].name, c->class))
            prior.sigma_class = file->classes[k].sigma;
    return prior;
}
