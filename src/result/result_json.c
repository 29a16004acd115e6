/* SPDX-License-Identifier: MIT
 *
 * Writes and reads the whole document, with one case, derived value or key figure per line.
 */
#include <sys/stat.h>

#include "records.h"
#include "rooftile/file.h"
#include "rooftile/journal.h"
#include "rooftile/log.h"

#define SCHEMA_MAJOR 2L                           /* of RESULT_SCHEMA_VERSION */
#define RESULT_LIMIT_BYTES (500u * 1000u * 1000u) /* 10,000 cases with 512 samples and clocks each are 150 MB */

/* ---- writing ---- */

void result_head_json(struct text *text, const struct result *result, bool goes_on)
{
    struct json_out *out = json_out_new();
    json_out_string(out, "schema", RESULT_SCHEMA_ID);
    json_out_string(out, "schema_version", RESULT_SCHEMA_VERSION);
    record_put(out, &result_record, result);
    json_out_finish(out, text, goes_on);
    text->length -= goes_on ? strlen("\n}") : 0;
}

static void add_line(struct text *text, struct json_out *out, bool first)
{
    text_add(text, first ? "\n    " : ",\n    ");
    json_out_finish(out, text, false);
}

static void add_records(struct text *text, const char *key, const struct record *record, const void *records,
                        size_t count)
{
    text_addf(text, ",\n  \"%s\": [", key);
    for (size_t k = 0; k < count; k++) {
        struct json_out *out = json_out_new();
        record_put(out, record, (const char *)records + k * record->size);
        add_line(text, out, !k);
    }
    text_add(text, count ? "\n  ]" : "]");
}

static void add_document(struct text *text, const struct result *result, struct sidecar *sidecar)
{
    result_head_json(text, result, true);
    text_add(text, ",\n  \"cases\": [");
    for (size_t k = 0; k < result->case_count; k++) {
        struct json_out *out = json_out_new();
        case_json(out, &result->cases[k], sidecar);
        add_line(text, out, !k);
    }
    text_add(text, result->case_count ? "\n  ]" : "]");
    add_records(text, "derived", &derived_record, result->derived, result->derived_count);
    add_records(text, "kpis", &kpi_record, result->kpis, result->kpi_count);
    text_add(text, "\n}\n");
}

void result_document(struct text *out, const struct result *result)
{
    struct sidecar sidecar = {.inline_max = MEASUREMENT_MAX_SAMPLES};
    add_document(out, result, &sidecar);
}

void result_case_json(struct text *out, const struct result_case *result_case)
{
    struct sidecar sidecar = {.inline_max = SAMPLES_INLINE};
    struct json_out *json = json_out_new();
    case_json(json, result_case, &sidecar);
    json_out_finish(json, out, false);
}

void result_kpi_json(struct text *out, const struct result_kpi *kpi)
{
    struct json_out *json = json_out_new();
    record_put(json, &kpi_record, kpi);
    json_out_finish(json, out, false);
}

enum status result_write(const struct result *result, const char *path, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    SCOPED(text_release) struct text text = {0};
    enum status status = STATUS_OK;
    const bool is_stream = strcmp(path, "-") == 0;
    const char *side = arena_printf(&arena, "%s.samples.bin", path);
    struct sidecar sidecar = {.name = is_stream || !result->raw_samples ? NULL : path_base(side),
                              .inline_max = is_stream ? MEASUREMENT_MAX_SAMPLES : SAMPLES_INLINE};
    add_document(&text, result, &sidecar);
    /* The sidecar first: a result must never refer to missing samples. */
    if (sidecar.bytes.length)
        status = file_write(side, sidecar.bytes.data, sidecar.bytes.length, err);
    if (!status)
        status = file_write(path, text.data, text.length, err);
    text_release(&sidecar.bytes);
    return status;
}

/* ---- reading ---- */

/* "2.4.1" is accepted, "3.0.0" is not: only a new major version may break readers. */
static enum status check_version(const cJSON *root, struct err *err)
{
    const char *version = "";
    if (json_get_string(&version, root, "schema_version", JSON_REQUIRED, err))
        return err->status;
    char *end;
    const long major = strtol(version, &end, 10);
    if (end == version || *end != '.')
        return json_fail(json_member(root, "schema_version"), err,
                         "'%s' is not a version such as " RESULT_SCHEMA_VERSION, version);
    if (major != SCHEMA_MAJOR)
        return json_fail(json_member(root, "schema_version"), err,
                         "results of format %ld cannot be read by this version, which knows format %ld: measure again, "
                         "or use the version that wrote it",
                         major, SCHEMA_MAJOR);
    return STATUS_OK;
}

struct reading {
    const char *path; /* NULL: there is no sidecar */
    bool keep_samples;
    bool nested; /* the result is part of a document that was parsed as a whole */
    struct arena *arena;
    struct arena scratch; /* for the elements read last */
    struct samples_file samples;
};

static enum status get_cases(struct result *result, const cJSON *root, struct json_long *document,
                             struct reading *reading, struct err *err)
{
    const cJSON *array = NULL, *item = NULL;
    if (json_get_array(&array, root, "cases", JSON_REQUIRED, err))
        return err->status;
    struct result_case *cases = arena_array(reading->arena, json_count(array) + 1, sizeof(*cases));
    for (;;) {
        if (reading->nested)
            item = item ? item->next : array->child;
        else if (json_long_next(&item, document, &reading->scratch, err))
            return err->status;
        if (!item)
            break;
        struct result_case *c = &cases[result->case_count];
        const bool beside = cJSON_IsObject(json_member(item, "samples_file"));
        result->raw_samples |= beside;
        if (case_from_json(c, item, reading->arena, reading->keep_samples ? NULL : &reading->scratch, err) ||
            (beside && reading->path && reading->keep_samples &&
             (samples_file_read(&reading->samples, c, item, reading->arena, err) || case_check(c, item, err))))
            return err->status;
        if (c->trial_count && c->trials[c->trial_count - 1].index >= result->trials)
            return json_fail(json_member(item, "trials"), err, "a trial's index must be below run.trials = %u",
                             result->trials);
        result->case_count++;
        arena_reset(&reading->scratch); /* reuse keeps it in the cache */
    }
    result->cases = cases;
    return STATUS_OK;
}

#define RECORD_STRUCT struct result
static const struct record_field tail_fields[] = {
    FIELD_LIST("derived", derived, derived_count, derived_record),
    FIELD_LIST("kpis", kpis, kpi_count, kpi_record),
};
static const struct record tail_record = {RECORD_TABLE(tail_fields)};
#undef RECORD_STRUCT

static enum status get_all(const struct result **result, const cJSON *root, struct json_long *document,
                           struct reading *reading, struct err *err)
{
    struct result *read = arena_alloc(reading->arena, sizeof(*read));
    if (check_version(root, err) || record_get(read, &result_record, root, false, reading->arena, err))
        return err->status;
    read->device.predicted = read->predicted;
    if (read->part_count && read->part_count != read->trials)
        return json_fail(json_member(json_member(root, "run"), "parts"), err,
                         "must have as many entries as run.trials = %u", read->trials);
    if (get_cases(read, root, document, reading, err) ||
        record_get(read, &tail_record, root, false, reading->arena, err))
        return err->status;
    *result = read;
    return STATUS_OK;
}

/* ---- the document of scripts/gpu_check: the results of its steps, as one result ---- */

static enum status get_document(const struct result **result, const cJSON *root, struct json_long *document,
                                struct reading *reading, struct err *err)
{
    static const char *const steps[] = {"quick", "libraries"};
    const cJSON *documents = json_member(root, "documents");
    struct result *all = NULL;
    const struct result *one = NULL;
    if (!cJSON_IsObject(documents))
        return get_all(result, root, document, reading, err);
    reading->nested = true;
    for (size_t k = 0; k < COUNT_OF(steps); k++) {
        const cJSON *part = json_member(documents, steps[k]);
        if (!cJSON_IsObject(part))
            continue;
        if (get_all(&one, part, document, reading, err))
            return err->status;
        const size_t known = all ? all->case_count : 0;
        struct result_case *cases = arena_array(reading->arena, known + one->case_count + 1, sizeof(*cases));
        if (known)
            memcpy(cases, all->cases, known * sizeof(*cases));
        all = all ? all : arena_copy(reading->arena, one, sizeof(*one));
        all->cases = cases;
        all->case_count = known;
        FOR_EACH(const struct result_case, c, one->cases, one->case_count)
            if (!FIND_ROW(cases, known, id, c->id))
                cases[all->case_count++] = *c;
    }
    *result = all;
    return all ? STATUS_OK : json_fail(documents, err, "has no result of the steps quick and libraries");
}

static enum status get_text(const struct result **result, const char *name, const char *text, size_t length,
                            struct reading *reading, struct err *err)
{
    struct json_long *document = NULL;
    const cJSON *root;
    enum status status = json_long_parse(&document, &root, name, text, length, "cases", err);
    if (!status)
        status = get_all(result, root, document, reading, err);
    json_long_free(document);
    return status;
}

/* Reads the trials of a killed run as trials of one run. */
static enum status read_journal(const struct result **result, struct reading *reading, struct err *err)
{
    struct text *texts = NULL;
    size_t count = 0;
    struct arena arena = {0};
    enum status status = journal_read(&texts, &count, reading->path, RESULT_LIMIT_BYTES, &arena, err);
    const struct result **trials = arena_array(reading->arena, count + 1, sizeof(*trials));
    const char **names = arena_array(reading->arena, count + 1, sizeof(*names));
    reading->keep_samples |= count > 1; /* merging computes statistics from all samples */
    for (size_t k = 0; k < count; k++) {
        names[k] = reading->path;
        if (!status)
            status = get_text(&trials[k], reading->path, texts[k].data, texts[k].length, reading, err);
        text_release(&texts[k]);
    }
    arena_release(&arena);
    *result = status ? NULL : trials[0];
    if (status || count == 1)
        return status;
    struct result *merged = arena_alloc(reading->arena, sizeof(*merged));
    *result = merged;
    return result_merge(merged, trials, names, count, reading->arena, err);
}

/* A killed run leaves only a journal, or a journal newer than the result of an earlier run. */
static const char *path_or_journal(const char *path, struct arena *arena)
{
    const char *journal = journal_of(path, arena);
    struct stat result, newer;
    if (stat(journal, &newer))
        return path;
    if (stat(path, &result))
        return journal;
    if (newer.st_mtim.tv_sec > result.st_mtim.tv_sec ||
        (newer.st_mtim.tv_sec == result.st_mtim.tv_sec &&
         newer.st_mtim.tv_nsec >= result.st_mtim.tv_nsec)) /* file times have a resolution of milliseconds */
        log_warn("W017", "%s is older than %s, of a run that goes on or was killed: name that file to read it", path,
                 journal);
    return path;
}

static enum status read_file(const struct result **result, const char *path, bool keep_samples, struct arena *arena,
                             struct err *err)
{
    SCOPED(arena_release) struct arena folder = {0};
    path = path_or_journal(path, &folder);
    struct reading reading = {.path = path, .keep_samples = keep_samples, .arena = arena};
    struct json_long *document = NULL;
    const cJSON *root;
    reading.samples.folder = path_dir(&folder, path);
    const bool journal = text_ends(path, JOURNAL_SUFFIX);
    enum status status = journal ? read_journal(result, &reading, err)
                                 : json_long_open(&document, &root, path, RESULT_LIMIT_BYTES, "cases", err);
    if (!status && !journal)
        status = get_document(result, root, document, &reading, err);
    samples_file_release(&reading.samples);
    arena_release(&reading.scratch);
    json_long_free(document);
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
    const enum status status = get_text(result, name, text, length, &reading, err);
    arena_release(&reading.scratch);
    return status;
}
