/* SPDX-License-Identifier: MIT */
#include "rooftile/noise_file.h"

#include "rooftile/file.h"
#include "rooftile/record.h"

enum status noise_file_path(const char **path, const struct result *result, bool make, struct arena *arena,
                            struct err *err)
{
    char *folder = NULL;
    enum status status = path_data_dir(&folder, make, arena, err);
    if (!status)
        *path = arena_printf(arena, "%s/noise/%s-%.16s.json", folder, result->device.backend, result->fingerprint);
    return status;
}

/* Checks the relative standard deviation of a case or class. */
static enum status check_sigma(UNUSED void *base, const cJSON *json, struct err *err)
{
    const cJSON *sigma = json_member(json, "sigma");
    return sigma->valuedouble > 0 && sigma->valuedouble < 10
               ? STATUS_OK
               : json_fail(sigma, err, "%g is no relative standard deviation", sigma->valuedouble);
}

#define RECORD_STRUCT struct noise_case
static const struct record_field case_fields[] = {
    FIELD_STRING("id", id, RECORD_REQUIRED),
    FIELD_STRING("class", class, RECORD_REQUIRED),
    FIELD_F64("sigma", sigma, RECORD_REQUIRED),
    FIELD_U64("trials", trials, RECORD_REQUIRED),
};
static const struct record case_record = {RECORD_TABLE(case_fields), .check = check_sigma};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct noise_class
static const struct record_field class_fields[] = {
    FIELD_STRING("class", name, RECORD_REQUIRED),
    FIELD_F64("sigma", sigma, RECORD_REQUIRED),
    FIELD_U64("cases", cases, RECORD_REQUIRED),
};
static const struct record class_record = {RECORD_TABLE(class_fields), .check = check_sigma};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct noise_file
static const struct record_field file_fields[] = {
    FIELD_CHARS("fingerprint", fingerprint, RECORD_REQUIRED),
    FIELD_STRING("device", device, RECORD_REQUIRED),
    FIELD_STRING("learned_at", learned_at, RECORD_REQUIRED),
    FIELD_LIST("classes", classes, class_count, class_record, RECORD_REQUIRED),
    FIELD_LIST("cases", cases, case_count, case_record, RECORD_REQUIRED),
};
static const struct record file_record = {RECORD_TABLE(file_fields)};
#undef RECORD_STRUCT

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct noise_case *)a)->id, ((const struct noise_case *)b)->id);
}

enum status noise_file_read(const struct noise_file **file, const char *path, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    const char *schema = NULL;
    if (!file_exists(path)) {
        *file = NULL;
        return STATUS_OK;
    }
    struct noise_file *read = arena_alloc(arena, sizeof(*read));
    enum status status = json_read(&root, path, arena, err);
    if (!status)
        status = json_get_string(&schema, root, "schema", JSON_REQUIRED, err);
    if (!status)
        status = strcmp(schema, NOISE_FILE_SCHEMA) != 0
                     ? json_fail(json_member(root, "schema"), err, "this is not a noise file of this version")
                     : record_get(read, &file_record, root, false, arena, err);
    if (status)
        return err_within(err, "the learned noise (remove the file or run 'rooftile aa' again)");
    struct noise_case *sorted = arena_copy(arena, read->cases, read->case_count * sizeof(*sorted));
    qsort(sorted, read->case_count, sizeof(*sorted), by_id);
    read->cases = sorted;
    read->path = arena_strdup(arena, path);
    *file = read;
    return STATUS_OK;
}

enum status noise_file_write(const struct noise_file *file, const char *path, struct err *err)
{
    struct json_out *out = json_out_new();
    SCOPED(text_release) struct text text = {0};
    SCOPED(arena_release) struct arena scratch = {0};
    json_out_string(out, "schema", NOISE_FILE_SCHEMA);
    record_put(out, &file_record, file);
    json_out_finish(out, &text, true);
    text_add(&text, "\n");
    if (file_make_dirs(path_dir(&scratch, path), err))
        return err->status;
    return file_write(path, text.data, text.length, err);
}

static const struct noise_case *find_case(const struct noise_file *file, size_t count, const char *id)
{
    const struct noise_case key = {.id = id};
    return count ? bsearch(&key, file->cases, count, sizeof(key), by_id) : NULL;
}

void noise_file_keep(struct noise_file *file, const struct noise_file *older, struct arena *arena)
{
    const size_t own_cases = file->case_count, own_classes = file->class_count;
    if (!older)
        return;
    struct noise_case *cases = arena_array(arena, own_cases + older->case_count + 1, sizeof(*cases));
    struct noise_class *classes = arena_array(arena, own_classes + older->class_count + 1, sizeof(*classes));
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
    for (size_t k = 0; k < older->class_count; k++)
        if (!FIND_ROW(classes, own_classes, name, older->classes[k].name))
            classes[file->class_count++] = older->classes[k];
    qsort(cases, file->case_count, sizeof(*cases), by_id);
}

struct shift_prior noise_file_prior(const struct noise_file *file, const struct result_case *c)
{
    if (!file)
        return (struct shift_prior){0};
    const struct noise_case *found = find_case(file, file->case_count, c->id);
    const struct noise_class *class = c->class ? FIND_ROW(file->classes, file->class_count, name, c->class) : NULL;
    return (struct shift_prior){.sigma_case = found ? found->sigma : 0,
                                .case_trials = found ? found->trials : 0,
                                .sigma_class = class ? class->sigma : 0};
}
