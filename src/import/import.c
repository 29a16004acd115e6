/* SPDX-License-Identifier: MIT
 *
 * Starts the program that reads the files, and parses its document.
 */
#include "rooftile/import.h"

#include "rooftile/file.h"
#include "rooftile/record.h"
#include "rooftile/spawn.h"
#include "rooftile/units.h"

#define MOST_BYTES ((size_t)1 << 30) /* maximum size of the document; a row takes about 2 KB */

/* ---- the document ---- */

#define RECORD_STRUCT struct import_argument
static const struct record_field argument_fields[] = {
    FIELD_STRING("dtype", dtype),
    FIELD_F64("elements", elements, RECORD_SIGNED),
    FIELD_STRING("value", value),
};
static const struct record argument_record = {RECORD_TABLE(argument_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_launch
static const struct record_field launch_fields[] = {
    FIELD_STRING("kernel", kernel),
    FIELD_STRING("hash", hash),
    FIELD_F64("warps", warps, RECORD_SIGNED),
    FIELD_F64("stages", stages, RECORD_SIGNED),
    FIELD_FIXED("grid", grid, record_number),
    FIELD_FIXED("block", block, record_number),
    FIELD_LIST("args", args, arg_count, argument_record),
};
static const struct record launch_record = {RECORD_TABLE(launch_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct described
static const struct record_field described_fields[] = {
    FIELD_STRING("family", family),
    FIELD_STRING("op", op),
    FIELD_STRING("type", type),
    FIELD_STRING("scales", scales),
    FIELD_STRING("kernel", kernel),
    FIELD_STRING("library", library),
    FIELD_F64("b", batch),
    FIELD_F64("m", m),
    FIELD_F64("n", n),
    FIELD_F64("k", k),
    FIELD_F64("in_bytes", in_bytes),
    FIELD_F64("out_bytes", out_bytes),
    FIELD_F64("rows", rows),
    FIELD_F64("columns", columns),
    FIELD_F64("operands", operands),
    FIELD_F64("images", images),
    FIELD_F64("channels_in", channels_in),
    FIELD_F64("channels_out", channels_out),
    FIELD_F64("groups", groups),
    FIELD_FIXED("in", in, record_number),
    FIELD_FIXED("out", out, record_number),
    FIELD_FIXED("filter", filter, record_number),
};
static const struct record described_record = {RECORD_TABLE(described_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_row
static const struct record_field row_fields[] = {
    FIELD_STRING("operator", operator),
    FIELD_STRING("short", short_name),
    FIELD_STRING("kind", kind),
    FIELD_STRING("source", source),
    FIELD_STRING("shape", shape),
    FIELD_BOOL("is_explained", is_explained),
    FIELD_STRING("dtype", dtype),
    FIELD_STRING("total", total),
    FIELD_STRING("layout", layout),
    FIELD_STRING("kernels", kernels),
    FIELD_STRING("traits", traits),
    FIELD_F64("calls", calls),
    FIELD_F64("total_ns", total_ns, RECORD_NAN),
    FIELD_F64("median_ns", median_ns, RECORD_NAN),
    FIELD_F64("min_ns", min_ns, RECORD_NAN),
    FIELD_F64("max_ns", max_ns, RECORD_NAN),
    FIELD_F64("share", share, RECORD_NAN),
    FIELD_STRING("kernel", kernel),
    FIELD_STRING("params", params),
    FIELD_STRING("other_params", other_params),
    FIELD_BOOL("is_fnuz", is_fnuz),
    FIELD_STRING("library", library),
    FIELD_STRING("library_params", library_params),
    FIELD_STRING("cpu_kernel", cpu_kernel),
    FIELD_STRING("cpu_params", cpu_params),
    FIELD_STRING("cpu_library", cpu_library),
    FIELD_STRING("cpu_exclude", cpu_exclude),
    FIELD_STRING("why", why),
    FIELD_F64("algorithm_bytes_per_s", algorithm_bytes_per_s, RECORD_NAN),
    FIELD_F64("bus_bytes_per_s", bus_bytes_per_s, RECORD_NAN),
    FIELD_F64("wrong_elements", wrong_elements, RECORD_NAN),
    FIELD_F64("flops", flops, RECORD_NAN),
    FIELD_OBJECT("described", described, described_record, RECORD_NULLABLE),
    FIELD_OBJECT("launch", launch, launch_record, RECORD_NULLABLE),
};
static const struct record row_record = {RECORD_TABLE(row_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_operator
static const struct record_field operator_fields[] = {
    FIELD_STRING("name", name),
    FIELD_STRING("short", short_name),
    FIELD_F64("calls", calls),
    FIELD_F64("total_ns", total_ns, RECORD_NAN),
    FIELD_F64("share", share, RECORD_NAN),
};
static const struct record operator_record = {RECORD_TABLE(operator_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_gap
static const struct record_field gap_fields[] = {
    FIELD_U32("device", device),       FIELD_F64("start_ns", start_ns, RECORD_SIGNED),
    FIELD_F64("length_ns", length_ns), FIELD_F64("host_ns", host_ns, RECORD_NAN),
    FIELD_STRING("after", after),      FIELD_STRING("before", before),
};
static const struct record gap_record = {RECORD_TABLE(gap_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_timeline
static const struct record_field timeline_fields[] = {
    FIELD_F64("compute_ns", compute_ns, RECORD_NAN),
    FIELD_F64("communication_ns", communication_ns, RECORD_NAN),
    FIELD_F64("copy_ns", copy_ns, RECORD_NAN),
    FIELD_F64("exposed_communication_ns", exposed_communication_ns, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("exposed_copy_ns", exposed_copy_ns, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("busy_ns", busy_ns, RECORD_NAN),
    FIELD_F64("idle_ns", idle_ns, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("span_ns", span_ns, RECORD_NAN),
    FIELD_F64("host_ns", host_ns, RECORD_NAN),
    FIELD_U64("devices", devices),
    FIELD_U64("gap_count", gap_count),
    FIELD_LIST("gaps", gaps, listed_gaps, gap_record),
};
static const struct record timeline_record = {RECORD_TABLE(timeline_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_note
static const struct record_field note_fields[] = {
    FIELD_STRING("text", text),
    FIELD_F64("time_ns", time_ns, RECORD_NAN),
    FIELD_U64("count", count),
};
static const struct record note_record = {RECORD_TABLE(note_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_file
static const struct record_field file_fields[] = {
    FIELD_STRING("path", path),
    FIELD_STRING("format", format),
};
static const struct record file_record = {RECORD_TABLE(file_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import
static const struct record_field import_fields[] = {
    FIELD_STRING("device", device),
    FIELD_STRING("arch", arch),
    FIELD_U32("cus", cus),
    FIELD_U64("events", event_count),
    FIELD_F64("total_ns", total_ns),
    FIELD_F64("explained_ns", explained_ns),
    FIELD_OBJECT("timeline", timeline, timeline_record),
    FIELD_LIST("rows", rows, row_count, row_record),
    FIELD_LIST("operators", operators, operator_count, operator_record),
    FIELD_LIST("kernels", kernels, kernel_count, operator_record),
    FIELD_LIST("notes", notes, note_count, note_record),
    FIELD_LIST("files", files, file_count, file_record),
};
static const struct record import_record = {RECORD_TABLE(import_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_counter
static const struct record_field counter_fields[] = {
    FIELD_STRING("kernel", kernel),
    FIELD_STRING("counter", counter),
    FIELD_F64("sum", sum, RECORD_SIGNED),
    FIELD_F64("launches", launches),
};
static const struct record counter_record = {RECORD_TABLE(counter_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct import_counters
static const struct record_field counters_fields[] = {
    FIELD_LIST("counters", items, count, counter_record),
};
static const struct record counters_record = {RECORD_TABLE(counters_fields)};
#undef RECORD_STRUCT

/* ---- Returns the JSON reader's error for an invalid file. The program, which has read the file, names it. ---- */

/* Reports invalid JSON. The message must not name a file, as the text comes from the program. */
static enum status damaged(const cJSON *root, struct arena *arena, struct err *err)
{
    const char *path = "", *text = "";
    const cJSON *ignored = NULL;
    if (json_get_string(&path, root, "damaged", JSON_REQUIRED, err) ||
        json_get_string(&text, root, "text", JSON_REQUIRED, err) ||
        json_parse(&ignored, path, text, strlen(text), arena, err) ||
        (strcmp(path, "-") != 0 && json_read(&ignored, path, arena, err)))
        return err->status;
    return err_set(err, ERR_CONFIG, "%s: it is no JSON in UTF-8", path);
}

static enum status ask(const cJSON **root, const char *const *argv, struct arena *arena, struct err *err)
{
    struct spawn_result ran;
    const char *error = NULL;
    if (!argv[0])
        return err_set(err, ERR_IO,
                       "files are read by Python 3.11 or later, and there is no python3 on PATH (Debian: "
                       "apt install python3)");
    if (spawn_run(&ran, argv, SPAWN_OWN_INPUT, MOST_BYTES, 0, arena, err))
        return err->status;
    if (ran.exit_code) { /* the last line explains the error */
        for (size_t length = strlen(ran.errors); length && ran.errors[length - 1] == '\n';)
            ran.errors[--length] = '\0';
        const char *feed = strrchr(ran.errors, '\n');
        return err_set(err, ERR_IO, "python3, which reads the files, ended with %d: %s", ran.exit_code,
                       feed ? feed + 1 : ran.errors);
    }
    if (json_parse(root, "what python3 read", ran.output, strlen(ran.output), arena, err) ||
        json_get_string(&error, *root, "error", JSON_OPTIONAL, err))
        return err->status;
    if (error)
        return err_set(err, ERR_CONFIG, "%s", error);
    return json_member(*root, "damaged") ? damaged(*root, arena, err) : STATUS_OK;
}

/* `more` may be NULL. */
static enum status run_reader(const cJSON **root, const char *const *paths, size_t count,
                              const struct import_options *options, const char *more, struct arena *arena,
                              struct err *err)
{
    const char *program = catalog_import_dir(arena);
    if (!program)
        return err_set(err, ERR_IO, "the program that reads the files is not there: ../share/rooftile/import");
    const char *const first[] = {
        spawn_which(arena, "python3"),
        "-ISB",
        program,
        arena_printf(arena, "--tokens=%llu", (unsigned long long)options->tokens),
        arena_printf(arena, "--batch=%u", options->batch),
        arena_printf(arena, "--tp=%u", options->tp),
        arena_printf(arena, "--demangler=%s", text_or_empty(options->demangler)),
    };
    const char **words = arena_array(arena, COUNT_OF(first) + options->shape_count + count + 4, sizeof(*words));
    size_t at = COUNT_OF(first);
    memcpy(words, first, sizeof(first));
    for (size_t k = 0; k < options->shape_count; k++)
        words[at++] = arena_printf(arena, "--shapes=%s", options->shapes[k]);
    if (options->decode)
        words[at++] = "--decode";
    if (more)
        words[at++] = more;
    words[at++] = "--";
    memcpy(words + at, paths, count * sizeof(*paths));
    return ask(root, words, arena, err);
}

/* ---- imports ---- */

/* Returns why the kernel's manifest does not accept its parameters; NULL if it does. */
static const char *refuses(const struct catalog *kernels, const char *kernel, const char *params, struct arena *arena)
{
    struct err err = {0};
    struct param_value value;
    const cJSON *root = NULL, *item = NULL;
    const struct manifest *manifest = *kernel ? catalog_find(kernels, kernel) : NULL;
    if (!manifest || json_parse(&root, kernel, params, strlen(params), arena, &err))
        return NULL;
    cJSON_ArrayForEach(item, root)
    {
        const int at = manifest_param(manifest, item->string);
        if (at < 0 || param_from_json(&value, item, arena, &err) || param_accepts(&manifest->params[at], &value, &err))
            return arena_printf(arena, "%s: %s", kernel, err.text);
    }
    return NULL;
}

static enum status read_import(struct import *out, const cJSON *json, const struct catalog *kernels,
                               struct arena *arena, struct err *err)
{
    static const char time[] = "{time}";
    struct import made = {0};
    if (record_get(&made, &import_record, json, false, arena, err))
        return err->status;
    FOR_EACH(struct import_row, row, made.rows, made.row_count) {
        row->rank = (size_t)(row - made.rows) + 1;
        row->lower_bound_ns = row->fraction = row->worth_ns = NAN;
        row->estimate_ns = row->estimate_low_ns = row->estimate_high_ns = NAN;
        row->described.family = row->described.family ?: "";
        row->bound = "";
        if (!kernels)
            continue;
        const char *why = refuses(kernels, row->kernel, row->params, arena);
        row->why = why ?: row->why;
        row->kernel = why ? "" : row->kernel;
        if (why || refuses(kernels, row->cpu_kernel, row->cpu_params, arena))
            row->cpu_kernel = row->cpu_library = "";
        if (*row->other_params && refuses(kernels, row->kernel, row->other_params, arena))
            row->other_params = "";
        if (refuses(kernels, row->library, row->library_params, arena))
            row->library = "";
    }
    FOR_EACH(struct import_note, note, made.notes, made.note_count) {
        const char *at = isnan(note->time_ns) ? NULL : strstr(note->text, time);
        if (at)
            note->text = arena_printf(arena, "%.*s%s%s", (int)(at - note->text), note->text,
                                      units_time((char[UNITS_TEXT]){0}, note->time_ns), at + strlen(time));
    }
    *out = made;
    return STATUS_OK;
}

enum status import_read(struct import *out, const char *const *paths, size_t count,
                        const struct import_options *options, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    if (run_reader(&root, paths, count, options, NULL, arena, err))
        return err->status;
    return read_import(out, json_at(json_member(root, "imports"), 0), options->kernels, arena, err);
}

enum status import_read_two(struct import_changes *out, const char *const paths[2],
                            const struct import_options *options, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL, *change = NULL;
    struct import_changes made = {0};
    if (run_reader(&root, paths, 2, options, "--diff", arena, err))
        return err->status;
    for (size_t k = 0; k < 2; k++)
        if (read_import(&made.sides[k], json_at(json_member(root, "imports"), k), NULL, arena, err))
            return err->status;
    cJSON_ArrayForEach(change, json_member(root, "changes"))
    {
        struct import_change one = {.change = NAN};
        const double before = json_member(change, "before")->valuedouble;
        const double after = json_member(change, "after")->valuedouble;
        const cJSON *relative = json_member(change, "change");
        one.before = before >= 0 ? &made.sides[0].rows[(size_t)before] : NULL;
        one.after = after >= 0 ? &made.sides[1].rows[(size_t)after] : NULL;
        one.difference_ns = json_member(change, "difference_ns")->valuedouble;
        one.change = cJSON_IsNumber(relative) ? relative->valuedouble : NAN;
        ARENA_PUSH(arena, made.items, made.count, one);
    }
    *out = made;
    return STATUS_OK;
}

/* ---- counters ---- */

enum status import_read_counters(struct import_counters *out, const char *path, struct arena *arena, struct err *err)
{
    static const struct import_options none;
    const cJSON *root = NULL;
    *out = (struct import_counters){0};
    if (run_reader(&root, &path, 1, &none, "--counters", arena, err))
        return err->status;
    return record_get(out, &counters_record, root, false, arena, err);
}

static bool is_symbol(const char *kernel, const char *symbol)
{
    const size_t length = strlen(symbol);
    return !strncmp(kernel, symbol, length) && (!kernel[length] || strchr("(.< ", kernel[length]));
}

double import_counter(const struct import_counters *counters, const char *symbol, const char *counter)
{
    double sum = 0, launches = 0;
    FOR_EACH(const struct import_counter, item, counters->items, counters->count) {
        if (strcmp(item->counter, counter) != 0 || !is_symbol(item->kernel, symbol))
            continue;
        sum += item->sum;
        launches += item->launches;
    }
    return launches > 0 ? sum / launches : NAN;
}
